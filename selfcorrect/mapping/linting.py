"""Checks of a map that can be loaded: what is legal in it, and most likely not meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Final

from selfcorrect.echoes import leaves
from selfcorrect.errors import MapError, MapFault, StrategyNotFound
from selfcorrect.kernel.texts import redact
from selfcorrect.mapping.bodies import row_of
from selfcorrect.mapping.files import Document, MapSource
from selfcorrect.mapping.matching import status_names
from selfcorrect.mapping.merging import MapRule
from selfcorrect.mapping.overruling import overruled_by
from selfcorrect.mapping.placing import line_in_front
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ErrorKind, Finding, Safety
from selfcorrect.pointer import join, split

_WITHOUT_A_CURE: Final = frozenset(
    {
        ErrorKind.AUTH,
        ErrorKind.QUOTA,
        ErrorKind.PERMANENT,
        ErrorKind.INTERNAL,
        ErrorKind.CANCELLED,
    }
)
_RAISED: Final = re.compile(r"([^\W\d][\w.]*): (.*)", re.DOTALL)
_CLASS_ENDINGS: Final = ("Error", "Exception", "Warning", "Exit", "Timeout", "Expired", "Fault")
_TOSSED: Final = 0.5
_DEFAULT_ALLOW: Final = (Safety.EXACT, Safety.INFERRED, Safety.LEARNED)


@dataclass(frozen=True, slots=True)
class LintFault(MapFault):
    """One thing that is most likely not meant.

    Attributes:
        level: `error`, `warning`, `unchecked`, or `note` for what is meant as a rule.
    """

    level: str = "error"


def check_map(source: MapSource, *, allow_code: bool = True) -> list[MapFault]:
    """Everything that is wrong with a map: why it cannot be loaded, or else what `lint` finds.

    Args:
        source: A name, or the path of a file.
        allow_code: Whether the Python that it brings along is run; else its strategies are
            looked up in the source, and each is named with the level `unchecked`.
    """
    try:
        strategies = StrategyMap.load(source) if allow_code else StrategyMap.read(source)
        read = strategies.unchecked.values()
        told = [LintFault(one.message, one.file, key=one.key, level="unchecked") for one in read]
        return [*lint(strategies), *told]
    except MapError as error:
        return list(error.faults)


def lint(strategies: StrategyMap) -> list[LintFault]:
    """What is most likely not meant in a map.

    Examples that their rule does not win, rules that can never be reached, ladders that end in
    nothing, outcomes that hang on words alone, and secrets. A rule of an extended map that a more
    specific map overrules is a note, since that is what extending is for; a warning where the error
    is then taken for something else.
    """
    return [
        *_lost_examples(strategies),
        *_unreachable(strategies),
        *_hopeless(strategies),
        *_told_by_words(strategies),
        *_unsure(strategies),
        *_unread(strategies),
        *_secrets(strategies),
    ]


def example_finding(rule: ErrorRule, example: str) -> tuple[Finding, str | None]:
    """The error that an example of a rule stands for, and the tool that raised it.

    The example is `ClassName: text`, or the text alone. What else the rule asks for (tool, status,
    code) is taken from its own conditions, the first of each.

    >>> rule = ErrorRule(id="gone", error="LookupError", status=404, repair="give-up")
    >>> example_finding(rule, "KeyError: no such flight")[0].types
    ('KeyError', 'LookupError')
    """
    text, types = example, rule.error[:1]
    raised = _RAISED.fullmatch(example)
    if raised is not None and _is_class(raised[1], rule):
        text = raised[2]
        types = tuple(dict.fromkeys((raised[1], *types)))
    status = rule.status[0] if rule.status else None
    if isinstance(status, str):
        status = status.replace("xx", "00").replace("x", "0")
        status = int(status) if status.isdecimal() and len(status) == 3 else status
    tool = rule.tool[0].replace("*", "x").replace("?", "x") if rule.tool else None
    return Finding(text, types, status, rule.code[0] if rule.code else None), tool


def _is_class(name: str, rule: ErrorRule) -> bool:
    last = name.rpartition(".")[2]
    known = {error.rpartition(".")[2] for error in rule.error}
    return last in known or (last[:1].isupper() and last.endswith(_CLASS_ENDINGS))


def _fault(placed: MapRule, message: str, key: str, level: str) -> LintFault:
    return LintFault(message, placed.source.label, placed.rule.id, key, level=level)


def _lost_examples(strategies: StrategyMap) -> Iterator[LintFault]:
    by_id = {placed.id: placed for placed in strategies.rules}
    level = {id(document): number for number, document in enumerate(strategies.documents)}
    taken: dict[str, dict[str, tuple[MapRule, Finding]]] = {}
    for placed in strategies.rules:
        lost: list[tuple[str, list[MapRule]]] = []
        for example in placed.rule.example:
            finding, tool = example_finding(placed.rule, example)
            matches = strategies.explain(finding, tool).matches
            if placed.id not in matches:
                message = f"the rule does not match its own example {example!r:.100}"
                yield _fault(placed, message, "example", "error")
                continue
            earlier = [by_id[found] for found in matches[: matches.index(placed.id)]]
            if not earlier or _is_meant(placed, earlier[0]):
                continue
            if level[id(earlier[0].source)] < level[id(placed.source)]:
                taken.setdefault(earlier[0].id, {}).setdefault(placed.id, (placed, finding))
            else:
                lost.append((example, earlier))
        if lost:
            yield from _placed(strategies, placed, lost)
    for name, losers in taken.items():
        winner = by_id[name]
        for told, message in overruled_by(winner, losers, _shown_by(strategies, winner)):
            yield _fault(winner, message, "match", told)


def _shown_by(strategies: StrategyMap, placed: MapRule) -> frozenset[str]:
    """The rules that match an example of this one."""
    shown = [example_finding(placed.rule, example) for example in placed.rule.example]
    return frozenset(chain.from_iterable(strategies.explain(*each).matches for each in shown))


def _is_meant(placed: MapRule, winner: MapRule) -> bool:
    """The built-in maps are made for one another: each is checked on its own."""
    built_in = placed.source.built_in and winner.source.built_in
    return built_in and placed.source is not winner.source


def _placed(
    strategies: StrategyMap, placed: MapRule, lost: Sequence[tuple[str, Sequence[MapRule]]]
) -> Iterator[LintFault]:
    """Which neighbours take a rule's examples, and the line that puts it in front of them."""
    neighbours = list(dict.fromkeys(each for _, earlier in lost for each in earlier))
    line = line_in_front(strategies.documents, placed, neighbours)
    hint = f"write {line}" if line else None
    for neighbour in neighbours:
        if (theirs := _also_matched(strategies, placed, neighbour)) is not None:
            hint = f"narrow one of them: this rule matches its example {theirs!r:.100} too"
    for example, earlier in lost:
        message = f"its example {example!r:.100} is decided by {earlier[0].id!r}"
        yield replace(_fault(placed, message, "example", "error"), hint=hint)


def _also_matched(strategies: StrategyMap, placed: MapRule, other: MapRule) -> str | None:
    """An example that the other rule decides, and that this one would take from it."""
    for example in other.rule.example:
        matches = strategies.explain(*example_finding(other.rule, example)).matches
        if matches[:1] == (other.id,) and placed.id in matches:
            return example
    return None


def _unreachable(strategies: StrategyMap) -> Iterator[LintFault]:
    by_pattern: dict[str | None, list[MapRule]] = {}
    for placed in strategies.rules:
        pattern = placed.rule.match
        earlier = by_pattern.get(None, [])
        if pattern is not None:
            earlier = earlier + by_pattern.get(pattern, [])
        cover = next((item for item in earlier if covers(item.rule, placed.rule)), None)
        if cover is None:
            by_pattern.setdefault(pattern, []).append(placed)
        elif cover.source is placed.source or placed.source is strategies.documents[0]:
            message = f"can never be reached: {cover.id!r} comes first and matches whatever it does"
            yield _fault(placed, message, "id", "error")


def covers(general: ErrorRule, special: ErrorRule) -> bool:
    """Whether every error that meets `special` surely meets `general`."""
    return (
        (general.match is None or general.match == special.match)
        and _all_in(special.tool, general.tool, _glob_covers)
        and _all_in(special.error, general.error, _error_covers)
        and _all_in(special.status, general.status, _status_covers)
        and _all_in(special.code, general.code, str.__eq__)
    )


def _all_in(special: Sequence[Any], general: Sequence[Any], covers_: Any) -> bool:
    if not general:
        return True
    return bool(special) and all(any(covers_(g, s) for g in general) for s in special)


def _glob_covers(general: str, special: str) -> bool:
    if general in ("*", special):
        return True
    return not any(sign in special for sign in "*?[") and fnmatchcase(special, general)


def _error_covers(general: str, special: str) -> bool:
    return special == general or special.endswith(f".{general}")


def _status_covers(general: int | str, special: int | str) -> bool:
    return str(general) in status_names(special) or general == special


def _hopeless(strategies: StrategyMap) -> Iterator[LintFault]:
    allowed = {*(strategies.policy.allow or _DEFAULT_ALLOW), Safety.HUMAN}
    no_model = strategies.limits.get("model_calls") == 0
    if not no_model:
        allowed.add(Safety.MODEL)
    for placed in strategies.rules:
        rule = placed.rule
        if not strategies.ladder(placed.id):
            if rule.kind not in _WITHOUT_A_CURE:
                yield _fault(placed, "has no ladder: nothing will be tried", "repair", "warning")
            continue
        reasons = []
        for name in strategies.ladder(placed.id):
            why = _useless(strategies, placed, name, allowed | set(rule.allow), no_model=no_model)
            if why is None:
                break
            reasons.append(f"{name}: {why}")
        else:
            message = f"its ladder ends in nothing ({'; '.join(reasons)})"
            yield _fault(placed, message, "repair", "warning")


def _useless(
    strategies: StrategyMap, placed: MapRule, name: str, allowed: set[Safety], *, no_model: bool
) -> str | None:
    """Why this rung can never do anything under the map's own policy, or None."""
    try:
        strategy = strategies.strategy(placed.id, name)
    except (MapError, StrategyNotFound) as error:
        return str(error)
    if no_model and getattr(strategy, "needs", "nothing") == "model":
        return "no model may be called"
    classes = {Safety(item) for item in getattr(strategy, "safety", ())}
    if classes and classes.isdisjoint(allowed):
        return f"changes of class {', '.join(sorted(classes))} do not run unasked"
    return None


def _told_by_words(strategies: StrategyMap) -> Iterator[LintFault]:
    """Rules that take what was done from a text, which anybody may have written."""
    for placed in strategies.rules:
        rule = placed.rule
        if rule.outcome is not None and not (rule.tool or rule.error or rule.status or rule.code):
            message = f"words alone say {rule.outcome!r}: add tool, error, status or code"
            yield _fault(placed, message, "outcome", "warning")


def _unsure(strategies: StrategyMap) -> Iterator[LintFault]:
    """Maps that let a diagnosis change a call which is as likely wrong as right."""
    for document in strategies.documents:
        sure = document.content.policy.sure
        if sure is not None and sure < _TOSSED:
            message = f"a diagnosis that is wrong as often as right changes calls: {sure:g}"
            yield LintFault(message, document.label, None, "policy.sure", level="warning")


def _unread(strategies: StrategyMap) -> Iterator[LintFault]:
    """Rows of bodies whose own example they do not read."""
    rows = [(row, document) for document in strategies.documents for row in document.content.body]
    for row, document in rows:
        try:
            found = row_of(json.loads(row.example), [each for each, _ in rows])
        except ValueError as error:
            message: str | None = f"its example is not JSON: {error}"
        else:
            other = "no row" if found is None else f"the row {found.id!r}"
            message = None if found is row else f"{other} reads its example"
        if message is not None:
            yield LintFault(message, document.label, row.id, "body.example")


def _secrets(strategies: StrategyMap) -> Iterator[LintFault]:
    for document in strategies.documents:
        if document.built_in:
            continue
        found = [(rule, key) for rule, key, text in _texts(document) if redact(text) != text]
        for rule, key in dict.fromkeys(found):
            yield LintFault("holds what looks like a secret", document.label, rule, key)


def _texts(document: Document) -> Iterator[tuple[str | None, str, str]]:
    """Every text of a map, with the rule and the key where it stands."""
    content = document.content
    for rule in content.rule:
        for key, value in rule:
            yield from ((rule.id, key, text) for text in _strings(key, value))
    for key, value in content:
        if key != "rule":
            yield from ((None, key, text) for text in _strings(key, value))


def _strings(key: str, value: Any) -> Iterator[str]:
    """The texts in a value; those of a table with their key, which may say that it is a secret."""
    for path, leaf in leaves(value, join(key)):
        names = [name for name in split(path) if not name.isdecimal()]
        yield from names[1:]
        if isinstance(leaf, str):
            yield from (leaf, f'{names[-1]} = "{leaf}"')
