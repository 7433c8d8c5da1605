"""The same twelve calls for every framework, and what became of them.

A scripted model writes the broken call once. To whatever it is told that is no success, it answers
with the call as it should have been: nobody can be more cooperative.
"""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

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
