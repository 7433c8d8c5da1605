"""Finds what is probably wrong with a map that loads."""

from collections.abc import Iterator
from itertools import product

from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.model import Finding
from selfcorrect.strategy_map.document import ErrorRule, PlacedRule
from selfcorrect.strategy_map.strategy_map import StrategyMap


def lint(loaded: StrategyMap) -> list[str]:
    """Return one sentence for each thing in the map's own rules that looks like a mistake."""
    own = (placed for placed in loaded.rules if placed.is_own)
    return [problem for placed in own for problem in _problems(placed, loaded)]


def _problems(placed: PlacedRule, loaded: StrategyMap) -> Iterator[str]:
    rule = placed.rule
    if rule.match and not rule.example:
        yield f"{placed.key}: has a pattern and no example; add a text that it must match"
        return
    for text in rule.example or ("",):
        if (first := _decides(placed, loaded, text)) != placed.key:
            subject = f"its example {text!r}" if text else "every error that it matches"
            yield f"{placed.key}: {subject} is decided by {first or 'no rule'}"


def _decides(placed: PlacedRule, loaded: StrategyMap, text: str) -> str | None:
    """Return the rule that decides errors which meet a rule's conditions: itself if it can.

    None means that the rule matches none of them.
    """
    tools = placed.rule.tool or (None,)
    errors = product(example_findings(placed.rule, text), tools)
    matches = [loaded.matches(finding, tool and _one_of(tool)) for finding, tool in errors]
    met = [rules[0].key for rules in matches if placed in rules]
    return placed.key if placed.key in met else next(iter(met), None)


def example_findings(rule: ErrorRule, text: str) -> Iterator[Finding]:
    """Yield the errors that an example may stand for: `Class: text`, and the text alone."""
    name, colon, rest = text.partition(": ")
    for status, code, error in product(
        rule.status or (None,), rule.code or (None,), rule.error or (None,)
    ):
        # Of a class such as 4xx a member that hardly any rule names.
        member = status.replace("x", "8") if isinstance(status, str) else status
        says = [(text, error)]
        if colon and name.replace(".", "").isidentifier():
            says.append((rest, name))
        for sentence, exception in says:
            finding = recorded_finding(sentence, exception, member, code and _one_of(code))
            yield {**finding, "retry_after": 1.0 if rule.retry_after else None}


def _one_of(glob: str) -> str:
    return glob.replace("*", "x")
