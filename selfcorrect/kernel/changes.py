"""May this change run? The laws by which a changed call has its class, whoever changed it.

0. What fits is left alone. 1. Nothing is lost. 2. No key disappears. 3. Nothing is invented.
4. Nothing stands around. 5. The tool is the one that was named. What breaks 0, 1, 2, 4 or 5 is
lossy; what breaks 3 has the class of its origin. The worst law counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.kernel.covering import covers
from selfcorrect.kernel.inside import is_item, lists, size, unpacked
from selfcorrect.kernel.keys import asks_for_all, held, key_class, marks, tool_class
from selfcorrect.kernel.likeness import is_spelled
from selfcorrect.kernel.origins import about, is_blamed, taint
from selfcorrect.kernel.requests import asks_for
from selfcorrect.kernel.spellings import (
    EXACT,
    INFERRED,
    Slot,
    is_same_number,
    says_nothing,
    spelled,
)
from selfcorrect.kernel.texts import quoted
from selfcorrect.kernel.verdicts import WORST, Path, Reason, Step, Verdict, named, shown, worst
from selfcorrect.kernel.wrappers import in_order, is_as_spelled, unwrapped, value_in, without_schema
from selfcorrect.model import JSON, Safety
from selfcorrect.plain import equal, loaded
from selfcorrect.pointer import join

LOSSY: Final = Safety.LOSSY
_MOST_PAIRS: Final = 50
_MOST_COMPARED: Final = 400


def judge(step: Step) -> Verdict:
    """The class of a changed call, from what was written and what would run alone."""
    judging = _Judging(step)
    judging.tool()
    if step.written.raw is None:
        written, judging.reasons[:0] = unwrapped(step)
        # What stood in a wrapper is all arguments, not those of one object further down.
        judging.is_bare = written is step.written.args
        judging.compare(written, step.runs.args, ())
        judging.moves()
    else:
        judging.text(step.written.raw)
    return Verdict(tuple(judging.reasons))


@dataclass(slots=True)
class _Gone:
    """What was written, and does not stand there any more."""

    path: Path
    value: JSON
    is_paired: bool = False


class _Judging:
    """One judgement, with what it has found so far."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.reasons: list[Reason] = []
        self.gone: list[_Gone] = []
        self.come: list[tuple[Path, JSON]] = []
        self.compared = 0
        self.is_bare = True

    def say(self, safety: Safety, law: int, path: Path, words: str = "") -> None:
        self.reasons.append(Reason(safety, law, join("args", *path), words))

    # --- law 5: the tool is the one that was named ---

    def tool(self) -> None:
        written, runs = self.step.written.name, self.step.runs.name
        # Who asked for one tool has not asked for what a text or a slip makes of another.
        if written != runs and self.step.is_unasked:
            self.of_all(LOSSY, 5, asks_for(self.step.wanted))
        elif written != runs and (written or self.step.written.raw is None):
            self.renamed(written, runs)

    def renamed(self, written: str, runs: str) -> None:
        alike = tool_class(self.step)
        safety = alike or self.step.origins.get("/name") or LOSSY
        words = "" if alike else f"{named(written)} does not name the tool {named(runs)}"
        self.reasons.append(Reason(safety, 5, "/name", words))

    # --- law 4: nothing stands around ---

    def text(self, raw: str) -> None:
        """A text in place of arguments: what runs is all that it says."""
        step = self.step
        if (origin := step.origins.get("/args")) is not None:
            for key, value in step.runs.args.items():
                self.origin((key,), value)
            self.of_all(origin, 3)
            return
        if not raw.strip() and not step.runs.args:
            self.of_all(INFERRED, 4)
            return
        if step.written.name:
            found = covers(raw, step.runs.args, acts=step.acts, name=step.runs.name)
        else:
            from selfcorrect.kernel.calls import whole  # only a text needs the forms

            found = whole(step, raw)
        left = quoted(found.left, 40)
        words = "" if found.safety else f"the text says more than the call: {left}"
        self.of_all(found.safety or LOSSY, 4, words)

    def of_all(self, safety: Safety, law: int, words: str = "") -> None:
        """A reason that concerns every change: the text becomes the call as a whole."""
        self.reasons.append(Reason(safety, law, "", words))

    # --- laws 0 and 1: what stands at its key ---

    def compare(self, written: JSON, runs: JSON, path: Path) -> None:
        """Walk through both together; note what differs."""
        if isinstance(written, dict) and isinstance(runs, dict):
            inner = without_schema(self.step, written, runs, path)
            if inner is not written:
                self.say(INFERRED, 2, path)
            written = inner
            for key, value in runs.items():
                if key not in written:
                    self.come.append(((*path, key), value))
                elif written[key] is not value:  # asked here: each of a thousand changes asks all
                    self.compare(written[key], value, (*path, key))
            self.gone += [_Gone((*path, k), v) for k, v in written.items() if k not in runs]
        elif isinstance(written, list) and isinstance(runs, list) and len(written) == len(runs):
            for index, (before, after) in enumerate(zip(written, runs, strict=True)):
                if before is not after:
                    self.compare(before, after, (*path, index))
        elif not equal(written, runs):
            self.replaced(written, runs, path)

    def replaced(self, written: JSON, runs: JSON, path: Path) -> None:
        slot = self.step.slot(path)
        place = join("args", *path)
        origin = self.origin(path, runs)
        fits = slot.declared and slot.fits(written) and not is_same_number(written, runs)
        if origin is None and fits and not is_blamed(self.step, place):
            self.say(LOSSY, 0, path, f"{shown(path)} fits as it was written")
            return
        alike = self.spelling(written, runs, path, slot)
        if alike is not None and (origin is None or WORST[alike] <= WORST[origin]):
            self.say(alike, 1, path)
        elif origin in (None, Safety.LEARNED):
            # What was learnt from other runs says nothing of a value that was written in this one.
            self.say(LOSSY, 1, path, f"{shown(path)} would run with another value than was written")
        elif origin in (EXACT, INFERRED) and size(runs) < size(written):
            # Who answers for the values that he made does not answer for one that is gone.
            self.say(LOSSY, 1, path, f"{shown(path)} would lose something that was written")
        else:
            self.say(origin or LOSSY, 1, path)

    def spelling(self, written: JSON, runs: JSON, path: Path, slot: Slot) -> Safety | None:
        """How certain two values at one place say the same, whatever they are made of."""
        step = self.step
        if (safety := spelled(written, runs, slot, step.words)) is not None:
            return safety
        if is_as_spelled(written, runs, step.source):
            return EXACT
        if any(equal(runs, one) for one in step.suggested):
            # A tool's own suggestion may run where it is a slip of what was written; on a tool
            # that acts it must be what was written but for case: the slip may be the tool's.
            safety = spelled(written, runs, replace(slot, listed=step.suggested), step.words)
            return None if safety is INFERRED and step.acts else safety
        if isinstance(runs, dict | list) and isinstance(written, str):
            return self._from_text(written, runs, path)
        return self._wrapped(written, runs, path, slot)

    def _from_text(
        self, written: str, runs: dict[str, JSON] | list[JSON], path: Path
    ) -> Safety | None:
        """An object or list that was written into a text, or the one item that a text is."""
        item = self.step.slot((*path, 0))
        if (safety := unpacked(written, runs, item, acts=self.step.acts)) is not None:
            return safety
        inner = loaded(written)
        if isinstance(inner, dict | list):
            return self.within(inner, runs, path)
        if (safety := lists(written, runs, item, self.step.words)) is not None:
            return safety
        if isinstance(runs, dict) or len(runs) != 1 or not is_item(written, runs[0], item):
            return None
        return self.within(written, runs[0], (*path, 0))

    def _wrapped(self, written: JSON, runs: JSON, path: Path, slot: Slot) -> Safety | None:
        """A value in a list or a wrapper of its own, or one without the one around it."""
        if isinstance(runs, list) and not isinstance(written, list):
            if len(runs) == 1:
                return self.within(written, runs[0], (*path, 0))
            if (safety := in_order(written, runs, slot)) is not None:
                return safety
        inner = written[0] if isinstance(written, list) and len(written) == 1 else None
        if isinstance(written, dict):
            inner = value_in(written, slot)
        found = None if inner is None else self.within(inner, runs, path)
        return None if found is None else worst([found, INFERRED])

    def within(self, written: JSON, runs: JSON, path: Path) -> Safety | None:
        """How certain two values say the same by all laws; None where something is lossy."""
        judging = _Judging(self.step)
        slot = self.step.slot(path)
        if isinstance(written, dict | list) and type(written) is type(runs):
            judging.compare(written, runs, path)
            judging.moves()
        elif not equal(written, runs):
            return judging.spelling(written, runs, path, slot)
        safety = worst(one.safety for one in judging.reasons)
        return None if safety is LOSSY else safety

    # --- laws 2 and 3: what stands at another key, or nowhere ---

    def moves(self) -> None:
        """Pair what has gone with what has come, one to one; the rest is lost or invented."""
        self._pair()
        if self.gone and self.come:
            self._open()
            self._pair()
        for path, value in self.come:
            self._invented(path, value)
        for gone in self.gone:
            self._lost(gone)

    def _pair(self) -> None:
        waiting, self.come = self.come, []
        # Of many keys only those under which the same stands are compared: linear time.
        few = list(self.gone) if len(self.gone) <= _MOST_PAIRS else []
        alike: dict[str, list[_Gone]] = {}
        for gone in self.gone:
            for mark in marks(gone.path, gone.value):
                alike.setdefault(mark, []).append(gone)
        for path, value in waiting:
            near = [alike.get(mark, ()) for mark in marks(path, value)]
            found = next(filter(None, (self._partner(path, value, ones) for ones in near)), None)
            found = found or self._partner(path, value, few)
            if found is None:
                self.come.append((path, value))
            else:
                found.is_paired = True
        self.gone = [one for one in self.gone if not one.is_paired]

    def _open(self) -> None:
        """Look one level deeper: into an object that nobody wrote, and into one that has gone."""
        come: list[tuple[Path, JSON]] = []
        for path, value in self.come:
            is_level = self.is_bare and isinstance(value, dict) and value
            if is_level and self.step.slot(path).declared and self.origin(path, value) is None:
                self.say(INFERRED, 2, path)
                come += [((*path, key), inner) for key, inner in value.items()]
            else:
                come.append((path, value))
        self.come = come
        self.gone = [
            inner
            for gone in self.gone
            for inner in (
                [_Gone((*gone.path, key), value) for key, value in gone.value.items()]
                if isinstance(gone.value, dict) and gone.value
                else [gone]
            )
        ]

    def _partner(self, path: Path, value: JSON, among: Sequence[_Gone]) -> _Gone | None:
        """What was written and became this, by key and value together."""
        best: tuple[int, _Gone, list[Reason]] | None = None
        for gone in among:
            if gone.is_paired:
                continue
            key = key_class(self.step, gone.path, path, slips=self._may_compare())
            if key is None:
                continue
            judging = _Judging(self.step)
            judging.compare(gone.value, value, path)
            judging.moves()
            if not judging.reasons and gone.path != path and not equal(gone.value, value):
                continue
            safety = worst([key, *(one.safety for one in judging.reasons)])
            if best is None or WORST[safety] < best[0]:
                # One edit of two places: neither is surer than the other.
                moved = [Reason(key, 2, join("args", *path))]
                if gone.path != path:
                    moved.append(Reason(safety, 2, join("args", *gone.path)))
                best = (WORST[safety], gone, [*judging.reasons, *moved])
            if best[0] == 0:
                break
        if best is None or best[0] == WORST[LOSSY]:
            return None
        self.reasons += best[2]
        return best[1]

    def _may_compare(self) -> bool:
        """Whether a name is still compared by its letters: nobody makes more slips in a call."""
        self.compared += 1
        return self.compared <= _MOST_COMPARED

    def origin(self, path: Path, value: JSON) -> Safety | None:
        """The class of who made a value; lossy if it came in through what a tool said."""
        origin = about(self.step.origins, join("args", *path))
        if origin not in (Safety.MODEL, Safety.LEARNED):
            return origin
        field = next((token for token in reversed(path) if isinstance(token, str)), "")
        if not (source := taint(self.step, value, field)):
            return origin
        self.say(LOSSY, 3, path, f"the value of {shown(path)} comes from {source}")
        return LOSSY

    def _lost(self, gone: _Gone) -> None:
        place = join("args", *gone.path)
        slot = self.step.slot(gone.path)
        is_text = slot.declared and isinstance(gone.value, str)
        is_blank = is_text and not gone.value.strip()
        # A text may be "null"; and without an argument, more may be destroyed than is meant.
        is_safe = self.step.effect != "destructive" if is_blank else not slot.fits(gone.value)
        if says_nothing(gone.value) and not slot.required and (is_safe or not is_text):
            is_read = is_blank or (is_text and slot.gives(gone.value))
            self.say(INFERRED if is_read else EXACT, 1, gone.path)
        elif slot.declared and not slot.required and slot.gives(gone.value):
            self.say(INFERRED, 1, gone.path)
        elif self._is_said_again(gone):
            self.say(EXACT, 1, gone.path)
        elif (waiver := about(self.step.waived, place)) is not None:
            self.say(waiver, 1, gone.path)
        else:
            tool = named(self.step.runs.name)
            words = f"{shown(gone.path)} says something that {tool} has no place for"
            self.say(LOSSY, 2, gone.path, words)

    def _is_said_again(self, gone: _Gone) -> bool:
        """Whether the same value runs under another spelling of the key."""
        above = held(self.step.runs.args, gone.path[:-1])
        key, names = str(gone.path[-1]), above.keys() & self.step.slot(gone.path[:-1]).names
        return any(is_spelled(key, name) and equal(gone.value, above[name]) for name in names)

    def _invented(self, path: Path, value: JSON) -> None:
        slot = self.step.slot(path)
        if (origin := self.origin(path, value)) is not None:
            self.say(origin, 3, path)
        elif slot.gives(value) and asks_for_all(self.step.slot, self.step.runs.args, path[:-1]):
            self.say(INFERRED, 3, path)
        else:
            self.say(LOSSY, 3, path, f"nobody wrote a value for {shown(path)}")
