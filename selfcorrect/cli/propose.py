"""The command `propose`: a model suggests rules for undecided errors; what passes is kept."""

import argparse
import json
import re
import runpy
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from selfcorrect.cli.lines import take_lines
from selfcorrect.cli.lint import lint
from selfcorrect.cli.screen import InputError, say
from selfcorrect.context import run_sync
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.drawing.text import error_text
from selfcorrect.errors import MapError
from selfcorrect.lazy import load_table
from selfcorrect.limits import Limits, Spending
from selfcorrect.model import JSON, RETRYABLE, Category, ErrorKind, Finding, JsonDict, acts, frozen
from selfcorrect.models.port import ModelPort
from selfcorrect.names.letters import LONGEST, is_plain
from selfcorrect.patterns import compile_pattern
from selfcorrect.strategy_map.match import fits
from selfcorrect.strategy_map.registry import BUILT_IN
from selfcorrect.strategy_map.strategy_map import StrategyMap
from selfcorrect.text import bound, release


@frozen
class RecordedError:
    """An error of a recorded call.

    Attributes:
        tool: The tool.
        text: What the error says, without values.
        names: The parameters of the tool.
        effect: Its effect, as far as it is declared.
        finding: What the error shows.
    """

    tool: str
    text: str
    names: tuple[str, ...]
    effect: str
    finding: Finding


def propose(options: argparse.Namespace) -> int:
    """Ask a model for a rule for each sort of undecided error, and write those that pass."""
    out, base = Path(options.o), options.strategies or "default"
    if out.exists() or not out.parent.is_dir():
        raise InputError(f"{out} must be a new file, in a folder that exists; choose one by -o")
    if base.endswith(".toml") or "/" in base:
        base = str(Path(base).resolve())
    strategies, model = StrategyMap.load(base), _load_model(options.model)
    # A call that is sent again counts too.
    port = ModelPort(model, Spending(limits=Limits(model_calls=options.most, seconds=None)))
    # Errors of one cause share a tool and a masked text; those that a rule decides are None's.
    groups: dict[Any, list[RecordedError]] = defaultdict(list)

    def take(line: str) -> None:
        record = json.loads(line)
        text = record["message"] if "message" in record else record["error"]
        if text is not None:
            error = _error(record, text, strategies)
            is_decided = strategies.ask_rules(error.finding, error.tool).first is not None
            groups[None if is_decided else (error.tool, error.text)].append(error)

    take_lines(options.errors, take)
    written, passed = _TABLE["head"].format(base=json.dumps(base)), 0
    undecided = [own for key, own in groups.items() if key]
    for own in sorted(undecided, key=len, reverse=True)[: max(0, options.most)]:
        others = chain(*(group for group in groups.values() if group is not own))
        shown = f"{own[0].tool}: {bound(own[0].text, 80)} ({len(own)}): "
        try:
            reply = run_sync(port.ask_json(_TABLE["ask"], _prompt(own[0])))
            rule = _rule_in(reply or {}, own)
            text = written + _toml(rule, options.model, len(own))
            _check(rule, text, own, others)
        except Exception as error:
            # A model that fails costs its group only.
            say(f"{shown}refused: {error_text(error)}")
        else:
            written, passed = text, passed + 1
            say(f"{shown}proposed {rule['id']}")
    if not passed:
        say("nothing is proposed")
        return 1
    out.write_text(written, "utf-8")
    say(f"{out}: {passed} to be approved")
    return 0


_TABLE = load_table("cli/propose.toml")


def _load_model(reference: str) -> Any:
    place, _, name = reference.rpartition(":")
    try:
        return runpy.run_path(place)[name]
    except Exception as error:
        why = error_text(error)
        raise InputError(f"--model {reference}: write FILE.py:OBJECT ({why})") from error


def _error(record: JsonDict, text: JSON, strategies: StrategyMap) -> RecordedError:
    tool, arguments = record["tool"], record.get("arguments") or {}
    # Values are cut out by the arguments, and a name with other signs is a pattern for tools.
    is_usable = isinstance(arguments, Mapping) and is_plain(tool) and len(tool) <= LONGEST
    if not isinstance(text, str) or not is_usable:
        raise ValueError("an error has a text, a tool's plain name, and an object of arguments")
    schema = record.get("schema") or {}
    names = tuple(filter(_NAME.fullmatch, schema.get("properties") or arguments))
    rules = [rule.effect for name, rule in strategies.effects.items() if fits(tool, (name,))]
    effect = [*rules, record.get("effect") or ""][0]
    finding = recorded_finding(text, *map(record.get, ("exception", "status", "code")))
    return RecordedError(tool, mask_error(text, arguments, names), names, str(effect), finding)


_NAME = re.compile(r"[A-Za-z_][\w.-]{0,60}")


def _prompt(error: RecordedError) -> str:
    data: JsonDict = {
        "tool": error.tool,
        "parameters": error.names[:100],
        "error": error.text,
        "kinds": [*map(str, ErrorKind)],
        "categories": [*map(str, Category)],
        "strategies": [*BUILT_IN],
        "answer": {"rule": _TABLE["example"]},
    }
    return "\n".join(f"{key}: {json.dumps(item, ensure_ascii=False)}" for key, item in data.items())


_VALUES = re.compile("".join(_TABLE["values"]))


def mask_error(text: str, arguments: JSON, names: Sequence[str] = ()) -> str:
    """Return an error's text with marks for its values.

    >>> mask_error("Ann has no seat 12 on 'LH-7' at `day`", {"who": "ann"}, ["day"])
    '{text} has no seat {number} on {text} at `day`'
    """
    # What is cut off first may be a part of a value.
    text = release(text, 2 * len(text) + 100)
    low = text.lower()
    values = {value for value in _pieces(arguments) if value.lower() in low} - {*names}
    patterns = [
        # A short value may stand in a word by accident.
        re.escape(value) if len(value) > 3 else rf"(?<!\w){re.escape(value)}(?!\w)"
        for value in sorted(values, key=len, reverse=True)
    ]
    if patterns:
        text = re.sub("|".join(patterns), "{text}", text, flags=re.IGNORECASE)

    def mark(match: re.Match[str]) -> str:
        return match[0] if match[0].strip("\"'`") in names else f"{{{match.lastgroup}}}"

    return bound(_VALUES.sub(mark, text), 1_000)


def _pieces(value: JSON) -> Iterator[str]:
    """Yield what stands in arguments, the words of it, and all keys."""
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for item in value:
            yield from _pieces(item)
    elif not isinstance(value, bool | None) and str(value).strip():
        yield str(value).strip()
        yield from re.findall(r"\w{4,}", str(value))


def _rule_in(reply: JsonDict, own: Sequence[RecordedError]) -> JsonDict:
    """Return the rule of a model's reply, bound to the tool that it was asked for."""
    rule = reply.get("rule")
    if not rule or not isinstance(rule, dict):
        raise ValueError("the model proposes no rule")
    if more := rule.keys() - {"tool", *_TABLE["example"]}:
        raise ValueError(f"a proposal may not set {', '.join(sorted(more))}")
    if lacks := [key for key in _TABLE["example"] if key != "params" and not rule.get(key)]:
        raise ValueError(f"it lacks {', '.join(lacks)}")
    ladder = rule["repair"] if isinstance(rule["repair"], list) else [rule["repair"]]
    for name in ladder:
        if name not in BUILT_IN:
            raise ValueError(f"{name!r} is not a built-in strategy")
    is_repeated = rule["kind"] in RETRYABLE or "wait" in ladder
    if is_repeated and any(error.effect and acts(error.effect) for error in own):
        raise ValueError("a tool with side effects is not called again because of an error's words")
    return {**rule, "tool": [own[0].tool]}


def _toml(rule: JsonDict, model: str, count: int) -> str:
    """Return a rule as TOML, whose texts and lists are JSON's."""
    items = {key: json.dumps(item, ensure_ascii=False) for key, item in rule.items()}
    lines = [f"{key} = {text}".replace("\x7f", r"\u007f") for key, text in items.items()]
    top = f"# Proposed by {json.dumps(model)} from {count} errors."
    return "\n".join(["", top, "[[rule]]", *lines, ""])


def _check(
    rule: JsonDict, text: str, own: Iterable[RecordedError], others: Iterable[RecordedError]
) -> None:
    """Check a map with the proposed rule at its end.

    Raises:
        ValueError: If the rule decides too much, or too little.
        MapError: If the map does not load.
    """
    # Half a character cannot be written.
    document = tomllib.loads(text.encode().decode())
    rules, extends = document["rule"], document["extends"]
    loaded = StrategyMap(rules, name="proposed", extends=extends)
    if problems := lint(loaded):
        raise MapError(problems)
    key, pattern = f"proposed/{rule['id']}", compile_pattern(rule["match"])
    if any(pattern.search(probe) for probe in _TABLE["probes"]):
        raise ValueError("its pattern matches nearly everything")

    def matches(error: RecordedError) -> list[str]:
        return [placed.key for placed in loaded.matches(error.finding, error.tool)]

    if any(matches(error)[:1] != [key] for error in own):
        raise ValueError("it does not decide the errors that it was asked about")
    if any(key in matches(error) for error in others):
        raise ValueError("its pattern matches other errors too")
