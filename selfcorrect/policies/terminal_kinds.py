"""Which kinds of error end a run at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, final

from selfcorrect.mapping.document import MapPolicy
from selfcorrect.mapping.matching import entry_of
from selfcorrect.model import ErrorKind


@final
@dataclass(frozen=True, slots=True)
class ToolErrorPolicy:
    """The kinds of settled error that end a run; empty by default. Immutable.

    Retrying sits inside, this policy outside: a kind that may succeed when repeated is repeated
    first, within the limits.

    >>> policy = ToolErrorPolicy.operator_safe()
    >>> policy.classifies_terminal(ErrorKind.AUTH), policy.classifies_terminal(ErrorKind.INTERNAL)
    (True, False)
    >>> policy.add_terminal_kind("internal").classifies_terminal(ErrorKind.INTERNAL)
    True

    Attributes:
        terminal: The kinds.
        per_tool: Policies that hold instead, by the tool's name or a glob. An exact name comes
            before globs; among globs the first that fits decides.
    """

    terminal: frozenset[ErrorKind] = frozenset()
    per_tool: Mapping[str, ToolErrorPolicy] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[Any, ...]:
        return ToolErrorPolicy.from_data, (self.as_data(),)

    @classmethod
    def of(cls, kinds: Iterable[ErrorKind | str]) -> ToolErrorPolicy:
        """A policy of these kinds.

        Raises:
            ValueError: If a name is not an error kind.
        """
        return cls(frozenset(map(ErrorKind, kinds)))

    @classmethod
    def of_map(cls, said: MapPolicy) -> ToolErrorPolicy:
        """The policy that a map's `[policy]` states with `terminal` and `per_tool`."""
        own = {tool: cls.of(kinds) for tool, kinds in (said.per_tool or {}).items()}
        return replace(cls.of(said.terminal or ()), per_tool=MappingProxyType(own))

    @classmethod
    def operator_safe(cls) -> ToolErrorPolicy:
        """Ends a run for auth, quota and permanent: what an operator, not a model, must settle."""
        return cls.of(("auth", "quota", "permanent"))

    def add_terminal_kind(self, kind: ErrorKind | str) -> ToolErrorPolicy:
        """A policy that ends a run for this kind, too."""
        return replace(self, terminal=self.terminal | {ErrorKind(kind)})

    def joined(self, other: ToolErrorPolicy, tools: Iterable[str]) -> ToolErrorPolicy:
        """A policy that ends a run wherever one of the two does, for each of these tools.

        >>> lenient = ToolErrorPolicy.operator_safe().for_tool("ping", ToolErrorPolicy())
        >>> both = lenient.joined(ToolErrorPolicy.of(["auth"]), ["ping", "pay"])
        >>> both.classifies_terminal(ErrorKind.AUTH, "ping")
        True
        >>> both.classifies_terminal(ErrorKind.QUOTA, "ping")
        False
        """
        if other == ToolErrorPolicy():
            return self
        terminal = self.terminal | other.terminal
        own = {tool: self._for(tool).terminal | other._for(tool).terminal for tool in tools}
        differ = {tool: ToolErrorPolicy(kinds) for tool, kinds in own.items() if kinds != terminal}
        return ToolErrorPolicy(terminal, MappingProxyType(differ))

    def for_tool(self, tool: str, policy: ToolErrorPolicy) -> ToolErrorPolicy:
        """A policy that uses another one, whole, for one tool, or for those that fit a glob."""
        return replace(self, per_tool=MappingProxyType({**self.per_tool, tool: policy}))

    def classifies_terminal(self, kind: ErrorKind, tool: str | None = None) -> bool:
        """Whether a settled error of this kind ends the run."""
        return kind in self._for(tool).terminal

    def _for(self, tool: str | None) -> ToolErrorPolicy:
        own = entry_of(self.per_tool, tool) if tool and self.per_tool else None
        return self if own is None else own

    def as_data(self) -> dict[str, Any]:
        """This policy as plain JSON, so that a run can carry it.

        >>> ToolErrorPolicy.of(["auth"]).as_data()
        {'terminal': ['auth'], 'per_tool': {}}
        """
        return {
            "terminal": sorted(kind.value for kind in self.terminal),
            "per_tool": {
                tool: sorted(kind.value for kind in policy.terminal)
                for tool, policy in self.per_tool.items()
            },
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ToolErrorPolicy:
        """The policy that `as_data` wrote down.

        Raises:
            ValueError: If it names a kind of error that does not exist.
        """
        own = {tool: cls.of(kinds) for tool, kinds in data["per_tool"].items()}
        return cls(frozenset(map(ErrorKind, data["terminal"])), MappingProxyType(own))
