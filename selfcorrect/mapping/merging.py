"""One map out of several: `extends`, `disable`, `replaces`, and sections merged key by key.

Order-stable, and no rule is lost that is not disabled or replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from selfcorrect.errors import MapError, MapFault
from selfcorrect.hints import near
from selfcorrect.mapping.files import Document, find_map, read_map
from selfcorrect.mapping.ordering import circles, in_order
from selfcorrect.mapping.rules import ErrorRule

_MOST_HINTS: Final = 20
"""Near matches are looked for among all rules, which takes its time."""


@dataclass(frozen=True, slots=True, eq=False)
class MapRule:
    """One rule at its place in a merged map.

    Attributes:
        id: Its full name, `map/rule`.
        rule: The rule as it was written.
        source: The map it comes from.
    """

    id: str
    rule: ErrorRule
    source: Document


def linked(
    root: Document, load: Callable[[str, Document], Document | MapFault]
) -> tuple[list[Document], list[MapFault]]:
    """A map and all that it extends, each once, every map before those that it extends.

    Args:
        root: The map to start from.
        load: Reads a map that another one names in `extends`.

    Returns:
        The documents, and the faults of `extends`: missing maps and cycles.
    """
    seen: set[object] = set()
    done: list[Document] = []
    faults: list[MapFault] = []
    # A map is done after all that it extends; without recursion, so each entry knows its way.
    todo: list[tuple[Document, tuple[Document, ...], bool]] = [(root, (), False)]
    while todo:
        document, way, entered = todo.pop()
        if entered:
            done.append(document)
            continue
        key = _key(document)
        if key in seen:
            # Reached twice is once too often only where the way leads back to where it was.
            keys = [_key(each) for each in way]
            if key in keys:
                circle = " → ".join(each.name for each in (*way[keys.index(key) :], document))
                message = f"these maps extend each other: {circle}"
                faults.append(document.fault(message, key="extends"))
            continue
        seen.add(key)
        todo.append((document, way, True))
        for name in document.content.extends:
            found = load(name, document)
            if isinstance(found, MapFault):
                faults.append(found)
            else:
                todo.append((found, (*way, document), False))
    return done[::-1], faults


def _key(document: Document) -> object:
    """What makes two documents one map: the same file, under whatever path."""
    if document.file is None:
        return id(document)
    try:
        found = document.file.stat()
    except OSError:  # read a moment ago, and gone since
        return document.file
    return found.st_dev, found.st_ino


def load(name: str, document: Document, *, run_code: bool) -> Document | MapFault:
    """The map that another one names in `extends`, or what is wrong with that."""
    try:
        return read_map(find_map(name, document.folder, run_code=run_code))
    except MapError as error:
        fault = error.faults[0]
        message = f"{fault.file}: {fault.message}" if fault.file else fault.message
        return document.fault(message, key="extends", hint=fault.hint)


def not_run(documents: Sequence[Document]) -> dict[str, MapFault]:
    """The strategies that maps bring along, of which none was run."""
    used: dict[str, MapFault] = {}
    for document in documents:
        for name, place in document.content.use.items():
            why = f"{place} is not run; its options are checked as far as its source shows them"
            used.setdefault(name, document.fault(why, key=f"use.{name}"))
    return used


def line_of_rule(file: Path, rule: str) -> int:
    """The line of a map's file that names a rule of its own; 1 if none does."""
    named = re.compile(rf"""\s*id\s*=\s*["']{re.escape(rule)}["']""")
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if named.match(line)), 1)


def merged_rules(documents: Sequence[Document]) -> tuple[list[MapRule], list[MapFault]]:
    """The rules of all documents in the order in which they are tried, and what is wrong.

    By priority, then what `before` says, then each map before those that it extends, then the
    order of the file. A disabled rule is as if it were not there. A rule with `replaces` stands
    where the replaced one stood, before whatever that one stood before; its own priority counts.
    """
    placed, faults = _placed(documents)
    names = _Names(documents, {rule.id: rule for rule in placed}, faults)
    disabled = {
        found.id
        for document in documents
        for name in document.content.disable
        if (found := names.find(name, document, "disable")) is not None
    }
    alive = [rule for rule in placed if rule.id not in disabled]
    replaced_by = _replaced(alive, names)
    if faults:
        return placed, faults
    replacing = {target: rule.id for target, rule in replaced_by.items()}
    before = _before(alive, names, replacing)
    if faults:
        return placed, faults
    position = {rule.id: number for number, rule in enumerate(placed)}
    replaces = {rule: target for target, rule in replacing.items()}
    place = {rule.id: position[_end(rule.id, replaces)] for rule in alive}
    kept = [rule for rule in alive if rule.id not in replaced_by]
    kept.sort(key=lambda rule: (rule.rule.rank, place[rule.id]))
    return [names.known[name] for name in in_order([rule.id for rule in kept], before)], []


class _Names:
    """The rules that maps refer to by name, and what is wrong with that.

    Attributes:
        known: All rules, by their full ids.
        faults: What is wrong; grows.
    """

    def __init__(
        self, documents: Sequence[Document], known: Mapping[str, MapRule], faults: list[MapFault]
    ) -> None:
        self.known = known
        self.faults = faults
        self._maps = {document.name for document in documents}
        self._faulty = {document.name for document in documents if document.faults}

    def find(
        self, name: str, document: Document, key: str, rule: str | None = None
    ) -> MapRule | None:
        """The rule that a reference means; where there is none, that is noted as a fault."""
        full = name if "/" in name else f"{document.name}/{name}"
        if full in self.known:
            return self.known[full]
        source = full.rpartition("/")[0]
        # A built-in map may stand before rules of another one, which was not asked for here.
        is_elsewhere = key == "before" and document.built_in and source not in self._maps
        if source in self._faulty or is_elsewhere:  # the faults of that map come first
            return None
        hint = None
        if len(self.faults) < _MOST_HINTS:
            short = [each.removeprefix(f"{document.name}/") for each in self.known]
            hint = near(full, self.known) or near(name, short)
        message = f"there is no rule {name!r}"
        self.faults.append(document.fault(message, rule=rule, key=key, hint=hint))
        return None


def _before(
    rules: Sequence[MapRule], names: _Names, replacing: Mapping[str, str]
) -> dict[str, list[str]]:
    """What each rule stands before among those of its priority; one replaced lends its place."""
    before: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.rule.before:
            target = names.find(name, rule.source, "before", rule.rule.id)
            if target is None:
                continue
            here, there = (names.known[_end(each.id, replacing)] for each in (rule, target))
            if here.rule.rank == there.rule.rank:
                before.setdefault(here.id, []).append(there.id)
            elif rule.rule.rank > max(there.rule.rank, target.rule.rank):
                first, own = there.rule.priority, rule.rule.priority
                message = f"{there.id!r} comes first: its priority is {first}, not {own}"
                hint = f'write priority = "{first}" too'
                names.faults.append(_at(rule, message, "before", hint))
    for circle in circles(before):
        message = f"these rules stand before each other: {' → '.join(circle)}"
        names.faults.append(_at(names.known[circle[0]], message, "before"))
    return before


def _replaced(rules: Sequence[MapRule], names: _Names) -> dict[str, MapRule]:
    """The rule that takes the place of each replaced one."""
    by: dict[str, MapRule] = {}
    for rule in rules:
        name = rule.rule.replaces
        target = name and names.find(name, rule.source, "replaces", rule.rule.id)
        if not target:
            continue
        taken = by.setdefault(target.id, rule)
        if target is rule:
            message = "a rule cannot replace itself"
        elif taken is not rule:
            message = f"{target.id!r} is replaced by {taken.id!r} already"
        else:
            continue
        names.faults.append(_at(rule, message, "replaces"))
    for circle in circles({target: [rule.id] for target, rule in by.items() if target != rule.id}):
        message = f"these rules replace each other: {' → '.join(circle)}"
        names.faults.append(_at(by[circle[0]], message, "replaces"))
    return by


def _placed(documents: Sequence[Document]) -> tuple[list[MapRule], list[MapFault]]:
    faults = []
    rules = []
    for document in documents:
        count = Counter(rule.id for rule in document.content.rule)
        faults += [
            document.fault(f"{number} rules of this map have this id", rule=name, key="id")
            for name, number in count.items()
            if number > 1
        ]
        rules += [
            MapRule(f"{document.name}/{rule.id}", rule, document) for rule in document.content.rule
        ]
    first: dict[str, MapRule] = {}
    for rule in rules:
        known = first.setdefault(rule.id, rule)
        if known.source is not rule.source:
            message = f"{known.source.label or 'another map'} has a rule {rule.id!r} too"
            faults.append(_at(rule, message, "id", "rename the rule, or one of the files"))
    return rules, faults


def _at(rule: MapRule, message: str, key: str, hint: str | None = None) -> MapFault:
    return rule.source.fault(message, rule=rule.rule.id, key=key, hint=hint)


def _end(rule_id: str, following: Mapping[str, str]) -> str:
    """The last of the rules that replace one another, from this one on."""
    while rule_id in following:
        rule_id = following[rule_id]
    return rule_id


def merged_section(sections: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sections of a map and all that it extends, key by key; the more specific wins.

    Tables inside (`per_kind`, `per_strategy`) are merged key by key as well.

    >>> merged_section([{"a": 1, "t": {"x": 1}}, {"a": 2, "b": 3, "t": {"y": 2}}])
    {'a': 1, 't': {'x': 1, 'y': 2}, 'b': 3}
    """
    merged: dict[str, Any] = {}
    for section in sections:
        for key, value in section.items():
            said = merged.setdefault(key, value)
            if isinstance(said, Mapping) and isinstance(value, Mapping):
                merged[key] = {**said, **{k: v for k, v in value.items() if k not in said}}
    return merged
