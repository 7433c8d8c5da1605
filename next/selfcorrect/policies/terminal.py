"""Which kinds of error end a run at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from selfcorrect.errors import GraphSetupError
from selfcorrect.model import ErrorKind, frozen


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


class PolicySource:
    """Holds a policy that may be swapped while runs go on; a run keeps the one it started with.

    Attributes:
        current: The policy of runs that start now.
    """

    def __init__(self, policy: ToolErrorPolicy) -> None:
        self.swap(policy)

    @property
    def current(self) -> ToolErrorPolicy:
        return self._current

    def swap(self, policy: ToolErrorPolicy) -> None:
        """Give every run that starts from now on another policy."""
        if not isinstance(policy, ToolErrorPolicy):
            raise GraphSetupError(f"a policy must be a ToolErrorPolicy, not {policy!r:.80}")
        # One assignment: a thread that reads meanwhile gets the old policy or the new one.
        self._current = policy
