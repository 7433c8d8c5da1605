"""The error-strategy map: which error means what, and which strategies may mend it, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from selfcorrect.errors import MapError, MapFault
from selfcorrect.mapping.binding import Binder, Code, learnt_about
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.mapping.captures import constraint_of, pointers_of, seconds_of
from selfcorrect.mapping.certainty import certainty, certainty_without_rule, rests_on_words
from selfcorrect.mapping.document import (
    MapBreaker,
    MapPolicy,
    MapReading,
    ToolEffect,
    ToolResults,
)
from selfcorrect.mapping.explanation import Explanation, Missed
from selfcorrect.mapping.files import Document, MapSource, find_map, read_document, read_map
from selfcorrect.mapping.matching import Evidence, RuleIndex, compiled, entry_of
from selfcorrect.mapping.merging import (
    MapRule,
    line_of_rule,
    linked,
    load,
    merged_rules,
    merged_section,
    not_run,
)
from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.trained import trained_by
from selfcorrect.model import ErrorKind, Finding, Safety
from selfcorrect.protocols import Effect, Strategy, TextPolicy
from selfcorrect.weights import Weights

OWN: Final = "own"
"""Name of a map that was made in Python and not given one."""

_OWN_CHECK: Final = ("InvalidArgs",)
_SHORT: Final = 300
_REMEMBERED: Final = 1_000
"""Texts of our own check, in each of which the same parameters are wrong in the same way."""

Met: TypeAlias = tuple[int, Mapping[str, str]]
"""The position of a rule that is met, and its captures."""


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
        recall: What mended errors in recorded runs.
        body: Forms of error bodies, known before those that come along.
        breaker: When calls of a service that fails are held back; None: never.
        name: What its rules are called by: `name/rule`.
        allow_code: Whether maps in files may bring Python along with `[use]`.

    Raises:
        MapError: If anything is wrong; it lists every fault.
    """

    __slots__ = (
        "_binder",
        "_breaker",
        "_by_id",
        "_code",
        "_documents",
        "_effects",
        "_first_own",
        "_index",
        "_kinds",
        "_limits",
        "_policy",
        "_reading",
        "_results",
        "_rules",
        "_trained",
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
        ladders: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        recall: Sequence[RecallEntry | Mapping[str, Any]] = (),
        body: Sequence[BodyRow | Mapping[str, Any]] = (),
        breaker: MapBreaker | Mapping[str, Any] | None = None,
        name: str = OWN,
        allow_code: bool = True,
    ) -> None:
        given = {
            "extends": extends,
            "disable": disable,
            "use": use,
            "policy": policy,
            "effects": effects,
            "results": results,
            "reading": reading,
            "ladders": ladders,
            "limits": limits,
            "breaker": breaker,
        }
        said = {key: value for key, value in given.items() if value is not None}
        lists = {"rule": list(rules), "recall": list(recall), "body": list(body)}
        content, faults = read_document({"format": 1, **said, **lists})
        root = Document(name, content, Path(), faults=tuple(faults))
        self._link(root, "run" if allow_code else "refuse")

    @classmethod
    def load(cls, source: MapSource, *, allow_code: bool = True) -> StrategyMap:
        """The map of this name, or in this file.

        >>> StrategyMap.load("default").ladder("default/unknown-tool")
        ('rename-tool',)

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
        return cls._linked(document, "run" if allow_code else "refuse")

    @classmethod
    def read(cls, source: MapSource) -> StrategyMap:
        """The map of this name, or in this file, to be looked at and not to be used.

        No Python of it is imported or run: the options of its `[use]` strategies are checked
        against what the source shows, and `unchecked` names them.

        Raises:
            MapError: If there is no such map, or anything is wrong with it.
        """
        return cls._linked(read_map(find_map(source, run_code=False)), "read")

    @classmethod
    def _linked(cls, root: Document, code: Code) -> StrategyMap:
        made = cls.__new__(cls)
        made._link(root, code)  # noqa: SLF001 -- its own
        return made

    @property
    def unchecked(self) -> Mapping[str, MapFault]:
        """The strategies that were read, but not run, by name."""
        return self._unchecked

    def _link(self, root: Document, code: Code) -> None:
        documents, faults = linked(root, partial(load, run_code=code != "read"))
        self._assemble(documents, faults + [each for one in documents for each in one.faults], code)

    def __reduce__(self) -> tuple[Callable[..., StrategyMap], tuple[Any, ...]]:
        """Pickled as it was written; maps of the package, and Python, are found where it is read.

        That takes `[use]` files at their paths, and strategies that are importable.
        """
        if self._documents[0].built_in and self._code == "run":
            return StrategyMap.load, (self._documents[0].name,)
        written = [each.name if each.built_in else each for each in self._documents]
        return _from_written, (written, self._code)

    def _assemble(self, documents: Sequence[Document], faults: list[MapFault], code: Code) -> None:
        rules, wrong = merged_rules(documents)
        faults += wrong
        conditions, wrong = compiled(rules)
        faults += wrong
        self._binder, wrong = Binder.of(rules, documents, code)
        faults += wrong
        self._trained, wrong = trained_by(documents)
        faults += wrong
        if faults:
            raise MapError(list(dict.fromkeys(faults)))
        self._rules = tuple(rules)
        self._by_id: dict[str | None, MapRule] = {rule.id: rule for rule in rules}
        self._index = RuleIndex(conditions)
        self._kinds = {n: rule.rule.kind for n, rule in enumerate(rules) if rule.rule.kind}
        self._first_own = lru_cache(maxsize=_REMEMBERED)(partial(_first_own, self._index))
        said = {
            section: merged_section([each.content.said(section) for each in documents])
            for section in ("policy", "reading", "limits", "breaker", "effects", "results")
        }
        self._policy = MapPolicy(**said["policy"])
        self._reading = TextPolicy(**said["reading"])
        self._limits = MappingProxyType(said["limits"])
        has_breaker = any(each.content.breaker is not None for each in documents)
        self._breaker = MapBreaker(**said["breaker"]) if has_breaker else None
        self._effects: Mapping[str, ToolEffect] = said["effects"]
        self._results: Mapping[str, ToolResults] = said["results"]
        self._documents = tuple(documents)
        self._code = code
        self._unchecked = not_run(documents) if code == "read" else {}

    @property
    def rules(self) -> tuple[MapRule, ...]:
        """Every rule, in the order in which they are tried."""
        return self._rules

    @property
    def policy(self) -> MapPolicy:
        """What runs unasked and what ends a run; None where no map says anything."""
        return self._policy

    @property
    def trained(self) -> Weights | None:
        """What the trained witness learned; None where no map asks for one."""
        return self._trained()

    @property
    def reading(self) -> TextPolicy:
        """Which calls in a text are made."""
        return self._reading

    @property
    def limits(self) -> Mapping[str, Any]:
        """The limits that this map sets; `Limits().merged(…)` puts them under the ceiling."""
        return self._limits

    @property
    def breaker(self) -> MapBreaker | None:
        """When calls of a service that fails are held back; None: never."""
        return self._breaker

    @property
    def effects(self) -> Mapping[str, Effect | ToolEffect]:
        """What calling a tool does, by name or glob, the more specific map first."""
        return {name: said if said.atomic else said.effect for name, said in self._effects.items()}

    @property
    def bodies(self) -> tuple[BodyRow, ...]:
        """Forms of error bodies of maps of one's own, the more specific map first."""
        return tuple(b for d in self._documents if not d.built_in for b in d.content.body)

    @property
    def documents(self) -> tuple[Document, ...]:
        """This map and all that it extends, as they were written, each before what it extends."""
        return self._documents

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that this map was read from, its own first."""
        return tuple(document.file for document in self._documents if document.file)

    def __repr__(self) -> str:
        return (
            f"<StrategyMap from {self._documents[0].label or 'Python'}, {len(self._rules)} rules>"
        )

    def rule(self, rule_id: str | None) -> ErrorRule | None:
        """The rule of this full id, or None."""
        return None if (placed := self._by_id.get(rule_id)) is None else placed.rule

    def source(self, rule_id: str | None) -> tuple[Path, int] | None:
        """The file of the rule of this full id, and the line that names it; None if unknown."""
        placed = self._by_id.get(rule_id)
        if placed is None or placed.source.file is None:
            return None
        return placed.source.file, line_of_rule(placed.source.file, placed.rule.id)

    def allowed(self, rule_id: str | None) -> frozenset[Safety]:
        """The classes of change that a rule allows beside the policy's own.

        A map that says what runs unasked says it for the rules of the maps that it extends, too:
        under `strict`, no rule of `default` widens anything.
        """
        placed = self._by_id.get(rule_id)
        if placed is None:
            return frozenset()
        classes = frozenset(placed.rule.allow)
        for document in self._documents:
            if document is placed.source:
                break
            if (said := document.content.said("policy").get("allow")) is not None:
                classes &= frozenset(said)
        return classes

    def is_told(self, rule_id: str | None) -> bool:
        """Whether a rule of a map of one's own, rather than a built-in one, says what kind it is.

        Whoever writes a rule for a tool knows what the tool does before it raises.
        """
        placed = self._by_id.get(rule_id)
        return placed is not None and not placed.source.built_in and placed.rule.kind is not None

    def rests_on_words(self, rule_id: str | None) -> bool:
        """Whether nothing but a phrase in the text decides, in a rule of a built-in map."""
        placed = self._by_id.get(rule_id)
        return placed is not None and rests_on_words(placed)

    def told_outcome(self, rule_id: str | None) -> Literal["not_done", "lost"] | None:
        """What a rule of a map of one's own says of what was done; built-in rules say nothing."""
        placed = self._by_id.get(rule_id)
        return None if placed is None or placed.source.built_in else placed.rule.outcome

    def effect_of(self, tool: str) -> Effect | None:
        """What the map says that calling a tool does, or None.

        A tool's exact name comes before globs; among globs the first that fits decides.
        """
        said = entry_of(self._effects, tool)
        return None if said is None else said.effect

    def is_atomic(self, tool: str) -> bool:
        """Whether the map says that a tool takes one step."""
        said = entry_of(self._effects, tool)
        return said is not None and said.atomic

    def results_of(self, tool: str) -> ToolResults | None:
        """What the map says of a tool's values, or None."""
        return entry_of(self._results, tool)

    @property
    def recalls(self) -> tuple[RecallEntry, ...]:
        """What mended errors in recorded runs, the more specific map first."""
        return self._binder.recalls

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
        return self._binder.strategy(rule_id, name, options)

    def decide(self, finding: Finding, tool: str | None = None) -> Finding:
        """The finding with what the first matching rule says of it; unchanged where none matches.

        Args:
            finding: What is known of the error.
            tool: The tool that the call names.
        """
        found = self._first(finding, tool)
        if found is None:
            sure, by = certainty_without_rule(finding)
            bare = replace(finding, rule=None, captures={}, confidence=sure, witness=by)
            return replace(bare, ladder=self._binder.ladder(None, learnt_about(finding, tool)))
        placed, captures = self._rules[found[0]], found[1]
        says = placed.rule.kind or placed.source.built_in
        if not says and finding.kind is ErrorKind.INTERNAL:  # it leaves the kind to rules below
            below = self._index.first(Evidence.of(finding, tool), self._kinds)
            finding = replace(finding, kind=self._kinds[below[0]]) if below else finding
        return self._decided(finding, placed, captures, tool)

    def _first(self, finding: Finding, tool: str | None) -> Met | None:
        """The first rule that is met, and its captures; for our own check's words, remembered."""
        if len(finding.text) <= _SHORT and finding.types == _OWN_CHECK and finding.status is None:
            return self._first_own(finding.text, finding.code, tool)
        return self._index.first(Evidence.of(finding, tool))

    def _decided(
        self, finding: Finding, placed: MapRule, captures: Mapping[str, str], tool: str | None
    ) -> Finding:
        rule = placed.rule
        category = rule.category or finding.category
        named = pointers_of([captures.get("param", "")]) or pointers_of(rule.params)
        wait, hint = seconds_of(captures.get("seconds")), captures.get("hint")
        retry_after = wait if finding.retry_after is None else finding.retry_after
        kind = rule.kind or finding.kind
        if kind is ErrorKind.RATE_LIMIT and retry_after is None and str(finding.status) == "429":
            kind = ErrorKind(self._policy.bare_429 or kind)
        confidence, witness = certainty(finding, placed)
        decided = replace(
            finding,
            confidence=confidence,
            witness=witness,
            kind=kind,
            category=category,
            paths=finding.paths or named,
            constraint=finding.constraint or constraint_of(captures, category),
            suggestions=finding.suggestions or ((hint,) if hint else ()),
            retry_after=retry_after,
            captures=dict(captures),
            rule=placed.id,
        )
        ladder = self._binder.ladder(placed.id, learnt_about(finding, tool), decided)
        return replace(decided, ladder=() if rule.suggest else ladder)

    def explain(self, finding: Finding, tool: str | None = None) -> Explanation:
        """Why the map decides as it does: tries every rule, in order."""
        each = self._index.each(Evidence.of(finding, tool))
        matches, missed = list[str](), list[Missed]()
        for placed, met in zip(self._rules, each, strict=True):
            if not isinstance(met, str):
                matches.append(placed.id)
            elif not matches:
                missed.append(Missed(placed.id, met))
        return Explanation(self.decide(finding, tool), tuple(matches), tuple(missed))


def _from_written(written: Sequence[Document | str], code: Code) -> StrategyMap:
    """A map that was pickled; of maps of the package there are the names."""
    made = StrategyMap.__new__(StrategyMap)
    documents = [read_map(find_map(each)) if isinstance(each, str) else each for each in written]
    made._assemble(documents, [], code)  # noqa: SLF001 -- its own
    return made


def _first_own(index: RuleIndex, text: str, code: str | None, tool: str | None) -> Met | None:
    return index.first(Evidence.of(Finding(text, _OWN_CHECK, code=code), tool))
