"""The error-strategy map: which error means what, and which strategies may mend it, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from selfcorrect.errors import MapError, MapFault
from selfcorrect.mapping.binding import Binder, Code
from selfcorrect.mapping.captures import constraint_of, pointers_of, seconds_of
from selfcorrect.mapping.certainty import certainty, certainty_without_rule, rests_on_words
from selfcorrect.mapping.document import MapPolicy, MapReading, ToolEffect, ToolResults
from selfcorrect.mapping.files import Document, MapSource, find_map, read_document, read_map
from selfcorrect.mapping.matching import Conditions, Evidence, RuleIndex, entry_of
from selfcorrect.mapping.merging import MapRule, linked, merged_rules, merged_section
from selfcorrect.mapping.patterns import PatternError, compile_pattern
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.model import ErrorKind, Finding, Safety
from selfcorrect.protocols import Effect, Strategy, TextPolicy

OWN: Final = "own"
"""Name of a map that was made in Python and not given one."""


_OWN_CHECK: Final = ("InvalidArgs",)
_SHORT: Final = 300
_REMEMBERED: Final = 1_000
"""Texts of our own check, in each of which the same parameters are wrong in the same way."""

Met: TypeAlias = tuple[int, Mapping[str, str]]
"""The position of a rule that is met, and its captures."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A rule that was tried before the winner, and the first of its conditions that failed."""

    rule: str
    condition: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a map decided what it decided.

    Attributes:
        finding: The finding as it was decided; its `rule` won, or is None.
        matches: Every rule whose conditions hold, the winner first.
        missed: The rules that were tried before the winner.
    """

    finding: Finding
    matches: tuple[str, ...]
    missed: tuple[Missed, ...]


class StrategyMap:
    r"""An error-strategy map, ready for use. Immutable.

    What a TOML file says can be said in Python with the same words, and the other way round. A
    map does not extend the default one unless it says so.

    >>> strategies = StrategyMap(
    ...     [ErrorRule(id="busy", match="(?i)try again in (?P<seconds>\\d+) s", repair="pause")],
    ...     use={"pause": lambda call, diagnosis, context: None},
    ... )
    >>> finding = strategies.decide(Finding("Try again in 5 s"), "search")
    >>> finding.rule, finding.ladder, finding.retry_after
    ('own/busy', ('pause',), 5.0)

    Args:
        rules: The rules, in order; their `repair` may hold strategies as well as names.
        extends: Maps whose rules are tried after these: names or paths.
        disable: Rules of these maps to leave out, as `map/rule`.
        use: Strategies by the names that rules call them by: classes, functions or objects.
        policy: What runs unasked and what ends a run.
        effects: What calling a tool does, by name or glob.
        results: When a tool's value is an error, by name or glob.
        reading: Which calls in a text are made.
        limits: How much a run may cost.
        name: What its rules are called by: `name/rule`.
        allow_code: Whether maps in files may bring Python along with `[use]`.

    Raises:
        MapError: If anything is wrong; it lists every fault.
    """

    __slots__ = (
        "_binder",
        "_by_id",
        "_documents",
        "_effects",
        "_first_own",
        "_index",
        "_limits",
        "_policy",
        "_reading",
        "_results",
        "_rules",
        "_unchecked",
    )

    def __init__(
        self,
        rules: Sequence[ErrorRule] = (),
        *,
        extends: str | Sequence[str] = (),
        disable: str | Sequence[str] = (),
        use: Mapping[str, Callable[..., Any]] | None = None,
        policy: MapPolicy | Mapping[str, Any] | None = None,
        effects: Mapping[str, Effect | ToolEffect | Mapping[str, Any]] | None = None,
        results: Mapping[str, Any] | None = None,
        reading: MapReading | Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        name: str = OWN,
        allow_code: bool = True,
    ) -> None:
        raw = {
            "format": 1,
            "extends": extends,
            "disable": disable,
            "use": dict(use or {}),
            "policy": policy if policy is not None else {},
            "effects": dict(effects or {}),
            "results": dict(results or {}),
            "reading": reading if reading is not None else {},
            "limits": dict(limits or {}),
            "rule": list(rules),
        }
        content, faults = read_document(raw)
        root = Document(name, content, Path(), faults=tuple(faults))
        self._link(root, "run" if allow_code else "refuse")

    @classmethod
    def load(cls, source: MapSource, *, allow_code: bool = True) -> StrategyMap:
        """The map of this name, or in this file.

        >>> StrategyMap.load("default").rule("default/unknown-error").repair[-1]
        'give-up'

        Args:
            source: A bare name (`"strict"`), or the path of a file.
            allow_code: Whether maps may bring Python along with `[use]`.

        Raises:
            MapError: If there is no such map, or anything is wrong with it.
        """
        return cls.from_document(read_map(find_map(source)), allow_code=allow_code)

    @classmethod
    def from_document(cls, document: Document, *, allow_code: bool = True) -> StrategyMap:
        """The map of a document that was read already.

        Raises:
            MapError: If anything is wrong with it or with what it extends.
        """
        made = cls.__new__(cls)
        made._link(document, "run" if allow_code else "refuse")  # noqa: SLF001 -- its own
        return made

    @classmethod
    def read(cls, source: MapSource) -> StrategyMap:
        """The map of this name, or in this file, to be looked at and not to be used.

        No Python of it is imported or run: the options of its `[use]` strategies are checked
        against what the source shows, and `unchecked` names them.

        Raises:
            MapError: If there is no such map, or anything is wrong with it.
        """
        made = cls.__new__(cls)
        made._link(read_map(find_map(source, run_code=False)), "read")  # noqa: SLF001 -- its own
        return made

    @property
    def unchecked(self) -> Mapping[str, MapFault]:
        """The strategies that were read, but not run, by name."""
        return self._unchecked

    def _link(self, root: Document, code: Code) -> None:
        documents, faults = linked(root, _Loader(run_code=code != "read"))
        faults += [fault for document in documents for fault in document.faults]
        rules, wrong = merged_rules(documents)
        faults += wrong
        conditions, wrong = _compiled(rules)
        faults += wrong
        self._binder, wrong = Binder.of(rules, documents, code)
        faults += wrong
        if faults:
            raise MapError(list(dict.fromkeys(faults)))
        self._rules = tuple(rules)
        self._by_id = {rule.id: rule for rule in rules}
        self._index = RuleIndex(conditions)
        self._first_own = lru_cache(maxsize=_REMEMBERED)(partial(_first_own, self._index))
        sections = [document.content for document in documents]
        self._policy = MapPolicy(**merged_section([item.said_policy for item in sections]))
        self._reading = TextPolicy(**merged_section([item.said_reading for item in sections]))
        self._limits = MappingProxyType(merged_section([item.said_limits for item in sections]))
        self._effects: Mapping[str, Effect | ToolEffect] = MappingProxyType(
            merged_section([item.effects for item in sections])
        )
        self._results: Mapping[str, Any] = MappingProxyType(
            merged_section([item.results for item in sections])
        )
        self._documents = tuple(documents)
        self._unchecked = _not_run(documents) if code == "read" else {}

    @property
    def rules(self) -> tuple[MapRule, ...]:
        """Every rule, in the order in which they are tried."""
        return self._rules

    @property
    def policy(self) -> MapPolicy:
        """What runs unasked and what ends a run; None where no map says anything."""
        return self._policy

    @property
    def reading(self) -> TextPolicy:
        """Which calls in a text are made."""
        return self._reading

    @property
    def limits(self) -> Mapping[str, Any]:
        """The limits that this map sets; `Limits().merged(…)` puts them under the ceiling."""
        return self._limits

    @property
    def effects(self) -> Mapping[str, Effect | ToolEffect]:
        """What calling a tool does, by name or glob, the more specific map first."""
        return self._effects

    @property
    def documents(self) -> tuple[Document, ...]:
        """This map and all that it extends, as they were written, each before what it extends."""
        return self._documents

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that this map was read from, its own first."""
        return tuple(document.file for document in self._documents if document.file)

    def __repr__(self) -> str:
        where = self._documents[0].label or "Python"
        return f"<StrategyMap from {where}, {len(self._rules)} rules>"

    def rule(self, rule_id: str | None) -> ErrorRule | None:
        """The rule of this full id, or None."""
        placed = self._by_id.get(rule_id) if rule_id is not None else None
        return placed.rule if placed is not None else None

    def source(self, rule_id: str | None) -> tuple[Path, int] | None:
        """The file of the rule of this full id, and the line that names it; None if unknown."""
        placed = self._by_id.get(rule_id) if rule_id is not None else None
        if placed is None or placed.source.file is None:
            return None
        named = re.compile(rf"""\s*id\s*=\s*["']{re.escape(placed.rule.id)}["']""")
        lines = placed.source.file.read_text(encoding="utf-8").splitlines()
        found = (number for number, line in enumerate(lines, 1) if named.match(line))
        return placed.source.file, next(found, 1)

    def allowed(self, rule_id: str | None) -> frozenset[Safety]:
        """The classes of change that a rule allows beside the policy's own.

        A map that says what runs unasked says it for the rules of the maps that it extends, too:
        under `strict`, no rule of `default` widens anything.
        """
        placed = self._by_id.get(rule_id) if rule_id is not None else None
        if placed is None:
            return frozenset()
        classes = frozenset(placed.rule.allow)
        for document in self._documents:
            if document is placed.source:
                break
            if (said := document.content.said_policy.get("allow")) is not None:
                classes &= frozenset(said)
        return classes

    def is_told(self, rule_id: str | None) -> bool:
        """Whether a rule of a map of one's own, rather than a built-in one, says what kind it is.

        Whoever writes a rule for a tool knows what the tool does before it raises.
        """
        placed = self._by_id.get(rule_id) if rule_id is not None else None
        return placed is not None and not placed.source.built_in and placed.rule.kind is not None

    def rests_on_words(self, rule_id: str | None) -> bool:
        """Whether nothing but a phrase in the text decides, in a rule of a built-in map."""
        placed = self._by_id.get(rule_id) if rule_id is not None else None
        return placed is not None and rests_on_words(placed)

    def told_outcome(self, rule_id: str | None) -> Literal["not_done", "lost"] | None:
        """What a rule of a map of one's own says of what was done; built-in rules say nothing."""
        placed = self._by_id.get(rule_id) if rule_id is not None else None
        return None if placed is None or placed.source.built_in else placed.rule.outcome

    def effect_of(self, tool: str) -> Effect | None:
        """What the map says that calling a tool does, or None.

        A tool's exact name comes before globs; among globs the first that fits decides.
        """
        said = entry_of(self._effects, tool)
        return said.effect if isinstance(said, ToolEffect) else said

    def is_atomic(self, tool: str) -> bool:
        """Whether the map says that a tool takes one step."""
        said = entry_of(self._effects, tool)
        return isinstance(said, ToolEffect) and said.atomic

    def results_of(self, tool: str) -> ToolResults | None:
        """What the map says of a tool's values, or None."""
        said = entry_of(self._results, tool)
        return said if said is None or isinstance(said, ToolResults) else ToolResults(errors=said)

    def ladder(self, rule_id: str) -> tuple[str, ...]:
        """The names of the strategies on a rule's ladder, in order."""
        return self._binder.ladder(rule_id)

    def strategy(
        self, rule_id: str | None, name: str, options: Mapping[str, Any] | None = None
    ) -> Strategy:
        """The strategy on a rule's ladder, bound to the rule's options, or to these instead.

        Raises:
            StrategyNotFound: If there is no such rule, or its ladder has no such rung.
            MapError: If an option is unknown, missing or of the wrong type.
        """
        if options is None:
            return self._binder.strategy(rule_id, name)
        return self._binder.with_options(rule_id or "", name, options)

    def decide(self, finding: Finding, tool: str | None = None) -> Finding:
        """The finding with what the first matching rule says of it; unchanged where none matches.

        Args:
            finding: What is known of the error.
            tool: The tool that the call names.
        """
        found = self._first(finding, tool)
        if found is None:
            confidence, witness = certainty_without_rule(finding)
            undecided = replace(finding, confidence=confidence, witness=witness)
            return replace(undecided, rule=None, ladder=(), captures={})
        position, captures = found
        return self._decided(finding, self._rules[position], captures)

    def _first(self, finding: Finding, tool: str | None) -> Met | None:
        """The first rule that is met, and its captures; for our own check's words, remembered."""
        short = len(finding.text) <= _SHORT
        if short and finding.types == _OWN_CHECK and finding.status is None:
            return self._first_own(finding.text, finding.code, tool)
        return self._index.first(Evidence.of(finding, tool))

    def _decided(self, finding: Finding, placed: MapRule, captures: Mapping[str, str]) -> Finding:
        rule = placed.rule
        category = rule.category or finding.category
        paths = finding.paths
        if not paths:
            named = [captures["param"]] if captures.get("param") else []
            paths = pointers_of(named) or pointers_of(rule.params)
        retry_after = finding.retry_after
        if retry_after is None:
            retry_after = seconds_of(captures.get("seconds"))
        hint = captures.get("hint")
        kind = rule.kind or finding.kind
        if kind is ErrorKind.RATE_LIMIT and retry_after is None and str(finding.status) == "429":
            kind = ErrorKind(self._policy.bare_429 or kind)
        confidence, witness = certainty(finding, placed)
        return replace(
            finding,
            confidence=confidence,
            witness=witness,
            kind=kind,
            category=category,
            paths=paths,
            constraint=finding.constraint or constraint_of(captures, category),
            suggestions=finding.suggestions or ((hint,) if hint else ()),
            retry_after=retry_after,
            captures=dict(captures),
            rule=placed.id,
            ladder=self._binder.ladder(placed.id),
        )

    def explain(self, finding: Finding, tool: str | None = None) -> Explanation:
        """Why the map decides as it does: tries every rule, in order."""
        evidence = Evidence.of(finding, tool)
        matches: list[str] = []
        missed: list[Missed] = []
        for placed, met in zip(self._rules, self._index.each(evidence), strict=True):
            if not isinstance(met, str):
                matches.append(placed.id)
            elif not matches:
                missed.append(Missed(placed.id, met))
        return Explanation(self.decide(finding, tool), tuple(matches), tuple(missed))


class _Loader:
    """Reads the maps that others extend, each file once."""

    def __init__(self, *, run_code: bool) -> None:
        self._run_code = run_code
        self._read: dict[Path, Document] = {}

    def __call__(self, name: str, document: Document) -> Document | MapFault:
        try:
            path = find_map(name, document.folder, run_code=self._run_code)
        except MapError as error:
            fault = error.faults[0]
            message = f"{fault.file}: {fault.message}" if fault.file else fault.message
            return document.fault(message, key="extends", hint=fault.hint)
        key = path.resolve()
        if key not in self._read:
            self._read[key] = read_map(path)
        return self._read[key]


def _not_run(documents: Sequence[Document]) -> dict[str, MapFault]:
    used: dict[str, MapFault] = {}
    for document in documents:
        for name, place in document.content.use.items():
            why = f"{place} is not run; its options are checked as far as its source shows them"
            used.setdefault(name, document.fault(why, key=f"use.{name}"))
    return used


def _first_own(index: RuleIndex, text: str, code: str | None, tool: str | None) -> Met | None:
    return index.first(Evidence.of(Finding(text, _OWN_CHECK, code=code), tool))


def _compiled(rules: Sequence[MapRule]) -> tuple[list[Conditions], list[MapFault]]:
    """The conditions of every rule, and the patterns that cannot be used."""
    conditions, faults = [], []
    for placed in rules:
        pattern = None
        if placed.rule.match is not None:
            try:
                own = placed.source.built_in
                pattern = compile_pattern(placed.rule.match, built_in=own, tried=own)
            except PatternError as error:
                faults.append(placed.source.fault(str(error), rule=placed.rule.id, key="match"))
        conditions.append(Conditions.of(placed.rule, pattern))
    return conditions, faults
