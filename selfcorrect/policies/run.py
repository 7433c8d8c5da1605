"""What a deployment decides of a run: which changes run unasked, what ends it, who listens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from selfcorrect.model import (
    Change,
    ErrorKind,
    Safety,
    acts,
    frozen,
    name_place,
)
from selfcorrect.names.letters import same_words
from selfcorrect.pointer import ARGS, keys_of
from selfcorrect.text import release
from selfcorrect.tools.spec import ToolSpec

DEFAULT_CLASSES = frozenset({Safety.EXACT, Safety.INFERRED, Safety.MEMORY})


@frozen
class SafetyPolicy:
    """Which changes run unasked.

    Attributes:
        allow: Classes of changes that run.
        sensitive: Arguments whose value only a person changes, but for its spelling.
    """

    allow: frozenset[Safety] = DEFAULT_CLASSES
    sensitive: tuple[str, ...] = ()

    def refusal(
        self, change: Change, tool: ToolSpec | None, more: Iterable[Safety] = ()
    ) -> str | None:
        """Say why a change may not run unasked, or return None.

        Args:
            change: The change.
            tool: The tool that would run; None if no tool has the name.
            more: Classes that the rule allows on tools that read.
        """
        safety, place = change.safety, name_place(change.path)
        if safety is Safety.HUMAN:
            return None
        effect = tool.effect if tool else ""
        if change.path == "/name" and effect == "destructive":
            return f"{change.after!r} is destructive: its name must be written exactly"
        if safety is not Safety.EXACT and self.is_sensitive(change, tool):
            return f"`{place}` is sensitive: only a person changes it"
        if safety in self.allow:
            # A model's or a memory's word is not enough where nothing can be undone.
            unsure = safety in (Safety.MODEL, Safety.MEMORY) and effect == "destructive"
            return f"no {safety} changes a destructive call" if unsure else None
        if safety in more and tool is not None and not acts(effect):
            return None
        return f"a change of class {safety} at `{place}` needs a person"

    def is_sensitive(self, change: Change, tool: ToolSpec | None) -> bool:
        """Say whether a change touches what only a person may change."""
        if change.path == ARGS:
            return bool(self.sensitive)
        for path in filter(None, (change.path, change.moved_from)):
            keys = keys_of(path)
            # By words: a value must not lose its protection under another spelling of its name.
            pairs = product(keys, self.sensitive)
            if any(same_words(key, name) or fnmatchcase(key, name) for key, name in pairs):
                return True
            if tool and tool.arguments.at(keys).view.get("x-sensitive"):
                return True
        return False


@frozen
class ToolErrorPolicy:
    """The kinds of error that end a run at once; none by default. Immutable.

    Attributes:
        terminal: The kinds.
        per_tool: Policies of single tools; each stands in place of this one.
    """

    terminal: frozenset[ErrorKind] = frozenset()
    per_tool: Mapping[str, ToolErrorPolicy] = field(default_factory=dict)

    @classmethod
    def of(cls, kinds: Iterable[ErrorKind | str]) -> ToolErrorPolicy:
        """Return the policy with these kinds."""
        return cls(frozenset(map(ErrorKind, kinds)))

    @classmethod
    def operator_safe(cls) -> ToolErrorPolicy:
        """Return the policy for production: auth, quota and permanent end a run."""
        return cls.of([ErrorKind.AUTH, ErrorKind.QUOTA, ErrorKind.PERMANENT])

    def add_terminal_kind(self, kind: ErrorKind | str) -> ToolErrorPolicy:
        """Return a policy with one more kind."""
        return replace(self, terminal=self.terminal | {ErrorKind(kind)})

    def for_tool(self, name: str, policy: ToolErrorPolicy) -> ToolErrorPolicy:
        """Return a policy in which one tool has its own."""
        return replace(self, per_tool={**self.per_tool, name: policy})

    def classifies_terminal(self, kind: ErrorKind | str, tool: str = "") -> bool:
        """Say whether an error of this kind ends the run."""
        policy = self.per_tool.get(tool, self)
        return kind in policy.terminal


@dataclass
class PolicySource:
    """Holds a policy that may be swapped while runs go on; a run keeps the one it started with.

    Attributes:
        current: The policy of runs that start now.
    """

    current: ToolErrorPolicy

    def swap(self, policy: ToolErrorPolicy) -> None:
        """Give every run that starts from now on another policy."""
        self.current = policy


Listener = Callable[..., object]
_LOG = logging.getLogger("selfcorrect")


@frozen
class Hooks:
    """Plain functions that are called as a run goes on. They never recover it, nor break it.

    Attributes:
        on_tool_use: Called with name, arguments and result of each call that succeeds; the result
            of one that escalates is what the model reads.
        on_error: Called once for each call that fails, with its name and its report.
        on_threshold: Called once when a run has used much of a budget, with the budget's name,
            what is used, and the bound.
        threshold: How much is much, as a part of the bound.
    """

    on_tool_use: Listener | None = None
    on_error: Listener | None = None
    on_threshold: Listener | None = None
    threshold: float = 0.8


def notify(listener: Listener | None, *args: Any) -> None:
    """Call a listener, if there is one; what it raises is logged and goes no further."""
    if listener is None:
        return
    try:
        listener(*args)
    except Exception as error:
        name = getattr(listener, "__name__", type(listener).__name__)
        if _LOG.hasHandlers():  # otherwise Python prints it
            _LOG.warning("The listener %s raised %s", name, release(repr(error)))
