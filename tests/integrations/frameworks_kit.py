"""The same twelve calls for every framework, and what became of them.

A scripted model writes the broken call once. To whatever it is told that is no success, it answers
with the call as it should have been: nobody can be more cooperative.
"""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import (
    Parameter,
    getattr_static,
    iscoroutine,
    iscoroutinefunction,
    isfunction,
    signature,
)
from typing import Any, Literal

from pydantic import BaseModel

GOOD: dict[str, Any] = {"to": "CDG", "day": "2026-10-26", "passengers": 2, "meals": ["vegan"]}
TEXT = json.dumps(GOOD)
MEANT = {**GOOD, "cabin": "economy"}
"""What is executed, if all is well."""


@dataclass(frozen=True)
class Case:
    """One call as a model writes it.

    Attributes:
        args: The arguments, or their text.
        name: The tool's name.
        said: The call stands in the text of the message instead.
        may_run: It can be mended without a question; else nothing may run before another turn.
    """

    args: Any
    name: str = "book_flight"
    said: str | None = None
    may_run: bool = True

    @property
    def text(self) -> str:
        return self.args if isinstance(self.args, str) else json.dumps(self.args)


CASES = {
    "a number as text": Case({**GOOD, "passengers": "2"}),
    "a number as a word": Case({**GOOD, "passengers": "two"}),
    "an enum in words": Case({**GOOD, "cabin": "Economy class"}),
    "a list as JSON text": Case({**GOOD, "meals": '["vegan"]'}),
    "a key misspelt": Case({**{k: v for k, v in GOOD.items() if k != "passengers"}, "pasengers": 2}),
    "all wrapped once more": Case({"arguments": GOOD}),
    "quotes of Python": Case(str(GOOD)),
    "a name misspelt": Case(GOOD, name="book_fligth"),
    "a name with a namespace": Case(GOOD, name="functions.book_flight"),
    "a call in the text": Case(GOOD, said=f'<tool_call>{{"name": "book_flight", "arguments": {TEXT}}}</tool_call>'),
    "two readings": Case({**GOOD, "passengers": "2 or 3"}, may_run=False),
    "cut off": Case(TEXT[: TEXT.index("vegan") + 3], may_run=False),
}  # fmt: skip
HEALTHY = Case(GOOD)
EACH = {"healthy": HEALTHY, **CASES}

Cabin = Literal["economy", "business"]


@dataclass
class World:
    """What was executed in one run, how often the model was asked, and how it ended."""

    ran: list[dict[str, Any]] = field(default_factory=list)
    turns: int = 0
    error: str = ""

    def book(self, to: Any, day: Any, passengers: Any, meals: Any, cabin: Any) -> str:
        """Write down one execution."""
        args = {"to": to, "day": day, "passengers": passengers, "meals": meals, "cabin": cabin}
        self.ran.append(args)
        return "booked"

    @property
    def is_mended(self) -> bool:
        """One execution, right, and no turn more than a healthy call takes."""
        return self.ran == [MEANT] and self.turns == 2 and not self.error

    @property
    def wrong(self) -> int:
        """Executions with other values than were meant."""
        return sum(one != MEANT for one in self.ran)

    @property
    def further(self) -> int:
        """Turns of the model beyond the two of a healthy call."""
        return max(0, self.turns - 2)


Run = Callable[..., World]


def check(run: Run, title: str, *, asks_again: frozenset[str] = frozenset()) -> None:
    """What has to hold of a framework with us: mended without a turn, or left to the model.

    Args:
        run: One run of the framework.
        title: Which call its model writes.
        asks_again: Which other calls cost a further turn there.
    """
    world, case = run(EACH[title], with_us=True), EACH[title]
    if case.may_run and title not in asks_again:
        assert world.is_mended, world
    else:
        assert not world.wrong, world
        assert len(world.ran) <= 1
        assert world.turns > 2 or world.error, world


class Action(BaseModel):
    """The form of an answer that looks like a call of `pay`."""

    action: str
    to: str
    amount: int


PAY = '{"name": "pay", "arguments": {"to": "ann", "amount": 5}}'
ANSWER = '{"action": "pay", "to": "ann", "amount": 5}'
FAULTY = '{"action": "pay", "to": "ann", "amount": "5"}'
CONDITION = "But only if Bob agrees."


@dataclass(frozen=True)
class Said:
    """What a model says in texts alone, and what its request allows.

    Attributes:
        texts: The parts of its one message.
        choice: The request's tool choice is none.
        form: The request asks for an `Action`.
        ended: The provider ends the answer: `filter`, or `refusal` where it marks one.
        pays: The amounts with which `pay` runs.
    """

    texts: tuple[str, ...]
    choice: bool = False
    form: bool = False
    ended: Literal["", "filter", "refusal"] = ""
    pays: tuple[int, ...] = ()


SAID = {
    "a call": Said((PAY,), pays=(5,)),
    "two calls in two parts": Said((PAY, PAY.replace("5", "6")), pays=(5, 6)),
    "a call in another form": Said((ANSWER,), pays=(5,)),
    "a condition in the second part": Said((PAY, CONDITION)),
    "a condition in the first part": Said((CONDITION, PAY)),
    "no tool to choose": Said((PAY,), choice=True),
    "a content filter": Said((PAY,), ended="filter"),
    "a refusal": Said((PAY,), ended="refusal"),
    "the answer that was asked for": Said((ANSWER,), form=True),
    "that answer, misspelt": Said((FAULTY,), form=True),
    "that answer in two parts": Said((ANSWER[:20], ANSWER[20:]), form=True),
}
"""A message of texts alone: no part vanishes, and what is no call becomes none."""


ARGS = '{"to": "ann", "amount": 5}'
WRITTEN = (
    *(PAY, ANSWER, f"[{PAY}]", f"```json\n{PAY}\n```", f"<tool_call>{PAY}</tool_call>"),
    *(
        f"[TOOL_CALLS][{PAY}]",
        f"<function=pay>{ARGS}</function>",
        f"Action: pay\nAction Input: {ARGS}",
    ),
    *(
        'pay(to="ann", amount=5)',
        f'{{"function": "pay", "parameters": {ARGS}}}',
        PAY.replace('"', "'"),
    ),
    '<invoke name="pay"><parameter name="to">ann</parameter><parameter name="amount">5</parameter></invoke>',
)
"""One call, in twelve ways: each is made where nothing stands around it."""
AROUND = (
    *(CONDITION, "Do not run this.", "That is what I would have called.", "Shall I?"),
    *("(after Bob has agreed)", "Example:", "If you say so:", "Nothing was paid yet."),
)
ANSWERS = (
    *(ANSWER, FAULTY, json.dumps(json.loads(ANSWER), indent=2), f"```json\n{ANSWER}\n```"),
    *(ANSWER.replace("5", '5, "why": "asked"'), '{"amount": 5, "to": "ann", "action": "pay"}'),
)


def attacks() -> dict[str, list[Said]]:
    """Messages in which no call may be seen, by what forbids it; and where nothing does."""
    pairs = [(call, words) for call in WRITTEN for words in AROUND]
    return {
        "nothing": [Said((call,), pays=(5,)) for call in WRITTEN],
        "words in a later part": [Said((call, words)) for call, words in pairs],
        "words in an earlier part": [Said((words, call)) for call, words in pairs],
        "words in the same part": [Said((f"{call}\n{words}",)) for call, words in pairs],
        "the tool choice": [Said((call,), choice=True) for call in WRITTEN],
        "a filter": [Said((call,), ended="filter") for call in WRITTEN],
        "a refusal": [Said((call,), ended="refusal") for call in WRITTEN],
        "the form of the answer": [Said((answer,), form=True) for answer in ANSWERS],
    }


ATTACKS = attacks()


def changed(before: Any, after: Any) -> dict[str, Any]:
    """What differs between two plain objects, by its path; what is gone, too."""
    if isinstance(before, list) and isinstance(after, list):
        before, after = (dict(enumerate(each)) for each in (before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        keys = before.keys() | after.keys()
        deeper = {key: changed(before.get(key), after.get(key)) for key in keys}
        return {f"/{key}{path}": each for key in keys for path, each in deeper[key].items()}
    return {} if before == after else {"": after}


def not_handed_on(
    wrap: Callable[[Any], Any], base: type, own: frozenset[str], **more: Any
) -> set[str]:
    """The public names of a class that do not reach the wrapped object through its wrapper.

    Args:
        wrap: Makes the wrapper around an object.
        base: The class of the objects that are wrapped.
        own: The names that the wrapper changes.
        more: Further members of the wrapped object's class.
    """
    told = {name: _tells(name, getattr_static(base, name)) for name in dir(base) if name[0] != "_"}
    wrapped = type("Watched", (base,), told | more)
    wrapped.__abstractmethods__ = frozenset()
    wrapper = wrap(wrapped.__new__(wrapped))
    return {name for name in told.keys() - own if _said(getattr(wrapper, name)) != name}


def _tells(name: str, member: Any) -> Any:
    """A member of the same kind, which says its name."""

    async def told_later(*_: Any, **__: Any) -> str:
        return name

    if iscoroutinefunction(member):
        return told_later
    if isfunction(member) or isinstance(member, classmethod):
        return lambda *_, **__: name
    return property(lambda _: name)


def _said(member: Any) -> Any:
    """What a member says; a method is called with nothing for all that it needs."""
    if not callable(member):
        return member
    kinds = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    needed = [
        each
        for each in signature(member).parameters.values()
        if each.default is Parameter.empty and each.kind not in kinds
    ]
    named = {each.name: None for each in needed if each.kind is Parameter.KEYWORD_ONLY}
    said = member(*[None] * (len(needed) - len(named)), **named)
    return asyncio.run(said) if iscoroutine(said) else said
