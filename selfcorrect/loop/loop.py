"""A loop that is ready to run; `selfcorrect.loop.setup` puts it together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from selfcorrect.log import sink
from selfcorrect.loop.context import Node, RunContext
from selfcorrect.loop.own_keys import OwnKey
from selfcorrect.routing import Table


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that is ready to run: the nodes, the ways between them, and what they share.

    Attributes:
        nodes: The eight nodes, and the caller's own, by name.
        table: Which node follows which outcome.
        context: What every run starts with; each run gets its own copy.
        own: Keys of the state that the caller added.
        foreign: Names of the nodes that are not ours: they get copies, and are checked.
        forgets: Nothing is checkpointed, even inside a parent that is: nobody can be asked.
    """

    nodes: Mapping[str, Node]
    table: Table
    context: RunContext
    own: Mapping[str, OwnKey] = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()
    forgets: bool = False

    def start(self, **changes: Any) -> RunContext:
        """The context of one run."""
        emit = sink()
        if emit is None and not changes:
            return self.context
        return replace(self.context, emit=emit, **changes)
