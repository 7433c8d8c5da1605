"""Whatever comes in whatever order: no call is made twice, and no doubt is forgotten."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from memory_kit import DAY, SEAMS, SKEWS, VERDICTS, Lost, Refused, Store, Truth, dose, skewed

from selfcorrect import ToolSpec, build_graph, resume
from selfcorrect.loop.context import AGAIN

THREADS, IDS = st.sampled_from(["t", "u"]), st.sampled_from(["c1", "c2", None])
AMOUNTS = st.sampled_from([5, "5", 6])
MESSAGES = st.sampled_from([None, None, "m1", "m2"])
GIVEN = st.tuples(THREADS, IDS, AMOUNTS, MESSAGES)
NIGHT = int(os.environ.get("NIGHT", "500"))
COLUMNS = st.sampled_from(["status", "scope", "doubt", "value", "holder", "about", "checksum"])


class Memory(RuleBasedStateMachine):
    """Calls of two threads, against what may be made at most, and must be at least."""

    def __init__(self, dsn: str | None = None, *, saved: bool = True) -> None:
        super().__init__()
        self.store, self.truth, self.saved = Store(dsn), Truth(), saved
        self.given: list[tuple[Any, ...]] = []
        self.ending: type[BaseException] | None = None
        self.refusals = 0
        self.builds()

    def pay(self, amount: int) -> str:
        """Pay."""
        if self.ending is Refused:
            self.refusals += 1
            raise Refused("not today")
        made = self.store.act(amount)
        if self.ending is not None:
            raise self.ending("no answer")
        return made

    def builds(self) -> None:
        tool = ToolSpec.from_function(self.pay, effect="mutating")
        saver = self.store.saver if self.saved else None
        self.graph = build_graph([tool], ledger=self.store.ledger, checkpointer=saver)

    @rule()
    def restarts(self) -> None:
        """Another process takes over the ledger and the checkpoints."""
        self.store.closes()
        self.store.opens()
        self.builds()

    @rule(
        given=GIVEN,
        ending=st.sampled_from([None, None, Lost, Refused, KeyboardInterrupt]),
        again=st.booleans(),
        skew=st.sampled_from(SKEWS),
    )
    def calls(self, given: Any, ending: Any, again: bool, skew: float) -> None:
        """A call, as new or as one that a person lets be made again."""
        number, config = self._numbered(given)
        config["configurable"][AGAIN] = again
        with skewed(skew):
            asked = self._asked(given)
            self._made(number, lambda: self.graph.invoke(asked, config), ending, again=again)

    @rule(given=GIVEN, again=st.booleans())
    def is_taken_up(self, given: Any, again: bool) -> None:
        """`resume`: the rest of what was begun, the answer of what is done, else the call."""
        number, config = self._numbered(given)
        if self.saved:
            known = self.graph.get_state(config)
            if known.tasks:
                number, config = self._labelled(known)
            if known.interrupts or (known.values and not known.tasks and not again):
                # What waits for a person's answer goes on waiting.
                before = self.store.count
                out = resume(self.graph, self._asked(given), config, again=again)
                assert known.interrupts or out == known.values
                assert self.store.count == before
                return
        asked = self._asked(given)
        work = lambda: resume(self.graph, asked, config, again=again)  # noqa: E731
        self._made(number, work, None, again=again)

    @rule(given=GIVEN, seam=st.sampled_from(SEAMS), again=st.booleans())
    def is_killed(self, given: Any, seam: str, again: bool) -> None:
        """The process dies over a call."""
        number, config = self._numbered(given)
        config["configurable"][AGAIN] = again

        def work() -> None:
            self.builds()
            self.graph.invoke(self._asked(given), config)

        self._dies(number, seam, work, again=again)

    @rule(thread=THREADS, place=st.integers(0, 30), seam=st.sampled_from([None, None, *SEAMS]))
    def goes_back(self, thread: str, place: int, seam: str | None) -> None:
        """Time travel to any checkpoint, and on from there."""
        if (there := self._past(thread, place)) is None:
            return
        number, config = self._labelled(there)
        config["configurable"] |= there.config["configurable"]

        def work() -> Any:
            if seam is not None:
                self.builds()
            return self.graph.invoke(None, config)

        if seam is None:
            self._made(number, work, None, again=False)
        else:
            self._dies(number, seam, work, again=False)

    @rule(given=GIVEN, place=st.integers(0, 30))
    def forks(self, given: Any, place: int) -> None:
        """From a checkpoint another call is made, or the same."""
        if (there := self._past(given[0], place)) is None:
            return
        number, config = self._numbered(given)
        labelled = there.config | {"metadata": config["metadata"]}
        forked = self.graph.update_state(labelled, self._asked(given), as_node="__start__")
        config["configurable"] |= forked["configurable"]
        self._made(number, lambda: self.graph.invoke(None, config), None, again=False)

    @rule(column=COLUMNS, value=st.sampled_from([None, "", "done", "not_done", "7"]))
    def is_hit(self, column: str, value: str | None) -> None:
        """A row in doubt is damaged; from then on more may be in doubt, and nothing less."""
        where = "(SELECT key FROM selfcorrect_intents WHERE doubt IS NOT NULL LIMIT 1)"
        statement = f"UPDATE selfcorrect_intents SET {column} = ? WHERE key = {where}"
        try:
            self.truth.is_damaged |= self.store.statement(statement, (value,)) > 0
        except Exception as error:
            if "null" not in str(error).lower():  # the database itself refuses it
                raise

    @rule(skew=st.sampled_from(SKEWS))
    def forgets(self, skew: float) -> None:
        """What is older than any run here; a machine's clock that is off makes nothing old."""
        with skewed(skew):
            self.store.ledger.forget(10 * DAY if self.store.dsn is None else DAY)

    @rule(verdict=st.sampled_from(VERDICTS))
    def is_settled(self, verdict: str) -> None:
        self.truth.is_settled(self.store, verdict)

    def _asked(self, given: Any) -> dict[str, Any]:
        _, call_id, amount, message = given
        call = {"name": "pay", "args": {"amount": amount}}
        said = [] if message is None else [{"role": "ai", "content": "so be it", "id": message}]
        return {"call": call | ({} if call_id is None else {"id": call_id}), "messages": said}

    def _numbered(self, given: Any) -> tuple[int, Any]:
        """Its checkpoints name the call that they belong to."""
        self.given.append(given)
        number = len(self.given) - 1
        return number, self._config(number)

    def _config(self, number: int) -> Any:
        thread = self.given[number][0]
        return {"configurable": {"thread_id": thread}, "metadata": {"number": number}}

    def _labelled(self, there: Any) -> tuple[int, Any]:
        number = there.metadata["number"]
        return number, self._config(number)

    def _past(self, thread: str, place: int) -> Any:
        if not self.saved:
            return None
        config: Any = {"configurable": {"thread_id": thread}}
        past = [each for each in self.graph.get_state_history(config) if each.next]
        return past[place % len(past)] if past else None

    def _names(self, number: int) -> tuple[Any, Any]:
        thread, call_id, amount, message = self.given[number]
        return (thread, message, call_id, int(amount)), (thread, int(amount))

    def _made(self, number: int, work: Any, ending: Any, *, again: bool) -> None:
        (this, equal), truth, before = self._names(number), self.truth, self.store.count
        refusals = self.refusals
        may, must = (each(this, equal, again=again) for each in (truth.may, truth.must))
        self.ending, out = ending, {}
        try:
            out = work()
        except KeyboardInterrupt:
            assert ending is KeyboardInterrupt
        finally:
            self.ending = None
        made = self.store.count - before
        assert made <= int(may), "made twice, or a doubt was forgotten"
        assert made >= int(must and ending is not Refused), (
            f"nothing stood against it: {out.get('failure')}"
        )
        if again and this not in truth.done:
            truth.lifted(equal)
            if self.refusals > refusals:
                truth.own.pop(this, None)  # it was the one that a person let be made again
        truth.unsure.discard(this) if made else None
        if made and ending is not None:
            truth.was_lost(this, equal)
        elif made:
            assert out["result"] == f"paid {equal[1]} as number {self.store.count}"
            truth.was_done(this, out["result"])
        elif this in truth.done and not out.get("failure"):
            assert out.get("result") == truth.done[this]
        if ending is Refused:
            truth.unsure.add(equal)  # what fails again and again is not made for ever
        assert out.get("failure") is None or not made or ending

    def _dies(self, number: int, seam: str, work: Any, *, again: bool) -> None:
        (this, equal), truth = self._names(number), self.truth
        before, past = self.store.count, len(self.store.told("settled"))
        may = truth.may(this, equal, again=again)
        self.store.dies(seam, work)
        self.builds()
        made = self.store.count - before
        settled = {each["status"] for each in self.store.told("settled")[past:]}
        assert made <= int(may), "made twice, or a doubt was forgotten"
        if "lifted" in settled:
            truth.lifted(equal)
        truth.unsure |= {this, equal}
        if "done" in settled:
            truth.was_done(this, f"paid {equal[1]} as number {self.store.count}")
        elif made:
            truth.was_lost(this, equal)

    @invariant()
    def every_doubt_is_listed(self) -> None:
        """What a person has to settle can be found."""
        if self.truth.lost:
            assert self.store.ledger.intents(most=100, in_doubt=True)

    def teardown(self) -> None:
        self.store.ends()


@pytest.mark.parametrize("saved", [True, False])
def test_in_a_graph_nothing_is_made_twice_or_forgotten(saved):
    run_state_machine_as_test(lambda: Memory(saved=saved), settings=dose(8))


def test_in_a_graph_with_postgres_nothing_is_made_twice_or_forgotten(postgres):
    run_state_machine_as_test(lambda: Memory(postgres), settings=dose(4))


@pytest.mark.nightly
@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_in_a_graph_all_night(kind, saved, request):
    dsn = request.getfixturevalue("postgres") if kind == "postgres" else None
    run_state_machine_as_test(lambda: Memory(dsn, saved=saved), settings=dose(NIGHT))
