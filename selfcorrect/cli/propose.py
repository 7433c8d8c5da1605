"""The command `propose`: a model suggests rules for undecided errors; what passes is kept."""

import argparse
import json
import re
import runpy
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
from selfcorrect.model import JSON, RETRYABLE, Category, ErrorKind, Finding, JsonDict, frozen
from selfcorrect.models.port import ModelPort
from selfcorrect.names.letters import is_plain
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
        finding: What the error shows.
    """

    tool: str
    text: str
    names: tuple[str, ...]
    finding: Finding


def propose(options: argparse.Namespace) -> int:
    """Ask a model for a rule for each sort of undecided error, and write those that pass."""
    out, base = Path(options.o), options.strategies or "default"
    if out.exists() or not out.parent.is_dir():
        raise InputError(f"{out} must be a new file, in a folder that exists; choose one by -o")
    if base.endswith(".toml") or "/" in base:
        base = str(Path(base).resolve())
    strategies, (place, _, name) = StrategyMap.load(base), options.model.rpartition(":")
    model = runpy.run_path(place)[name]
    # A call that is sent again counts too.
    port = ModelPort(model, Spending(limits=Limits(model_calls=options.most, seconds=None)))
    # Errors of one cause share a tool and a masked text; those that a rule decides are None's.
    groups: dict[Any, list[RecordedError]] = defaultdict(list)

    def take(line: str) -> None:
        record = json.loads(line)
        text = record["message"] if "message" in record else record["error"]
        if text is not None:
            error = _error(record, text)
            is_decided = strategies.ask_rules(error.finding, error.tool).first is not None
            groups[None if is_decided else (error.tool, error.text)].append(error)

    take_lines(options.errors, take)
    written, passed = _TABLE["head"].format(base=json.dumps(base)), 0
    undecided = [own for key, own in groups.items() if key]
    for own in sorted(undecided, key=len, reverse=True)[: max(0, options.most)]:
        shown = f"{own[0].tool}: {bound(own[0].text, 80)} ({len(own)}): "
        try:
            reply = run_sync(port.ask_json(_TABLE["ask"], _prompt(own[0])))
            rule = (reply or {}).get("rule") or {}
            rule["tool"] = [own[0].tool]
            text = written + _toml(rule, options.model, len(own))
            _check(rule, text, own, groups.values())
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


def _error(record: JsonDict, text: JSON) -> RecordedError:
    tool, arguments = record["tool"], record.get("arguments") or {}
    # A name with other signs is a pattern for tools.
    if not isinstance(text, str) or not is_plain(tool):
        raise ValueError("an error has a text and the plain name of a tool")
    schema = record.get("schema") or {}
    names = tuple(filter(is_plain, schema.get("properties") or arguments))
    finding = recorded_finding(text, *map(record.get, ("exception", "status", "code")))
    return RecordedError(tool, mask_error(text, arguments, names), names, finding)


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


_WORD = re.compile(r"""\"[^"]*"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|[^\s"`(){}\[\],;:=<>]+""")
"""A text in quotes, or a word."""
_PLAIN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*[.!?]?")


def mask_error(text: str, arguments: JSON, names: Sequence[str] = ()) -> str:
    """Return the first words of an error, with marks for those that may be values.

    >>> mask_error("Ann has no seat 12 on 'LH-7' at `day`", {"who": "ann"}, ["day"])
    '{value} has no seat {value} on {value} at `day`'
    """
    written = json.dumps(arguments, ensure_ascii=False).casefold()
    written = re.sub(r"\\(?:u\w{4}|.)", " ", written)
    parts = {*re.findall(r"\w+", written), *re.findall('"([^"]*)"', written)}
    parts -= {name.casefold() for name in names}

    def mark(match: re.Match[str]) -> str:
        word = match[0].casefold()
        # A short value may stand in a word by accident.
        is_written = any(part in word for part in parts if len(part) > 2)
        if is_written or not parts.isdisjoint(re.findall(r"\w+", word)):
            return "{value}"
        is_name = match[0].strip("\"'`") in names
        return match[0] if is_name or _PLAIN.fullmatch(match[0]) else "{value}"

    # What is cut off first may be a part of a value.
    words = release(text, 2 * len(text) + 100).split()
    return bound(_WORD.sub(mark, " ".join(words[:_MOST_WORDS])), 1_000)


_MOST_WORDS = 200


def _toml(rule: JsonDict, model: str, count: int) -> str:
    """Return a rule as TOML, whose texts and lists are JSON's."""
    items = {key: json.dumps(item, ensure_ascii=False) for key, item in rule.items()}
    lines = [f"{key} = {text}".replace("\x7f", r"\u007f") for key, text in items.items()]
    top = f"# Proposed by {json.dumps(model)} from {count} errors."
    return "\n".join(["", top, "[[rule]]", *lines, ""])


def _check(
    proposal: JsonDict,
    text: str,
    own: Sequence[RecordedError],
    groups: Iterable[Sequence[RecordedError]],
) -> None:
    """Check a map with a proposed rule at its end.

    Raises:
        ValueError: If the rule decides too much, or too little.
        MapError: If the map does not load.
    """
    if wrong := (proposal.keys() ^ _TABLE["example"].keys()) - {"params", "tool"}:
        raise ValueError(f"a rule lacks, or may not set: {', '.join(sorted(wrong))}")
    # Half a character cannot be written.
    document = tomllib.loads(text.encode().decode())
    loaded = StrategyMap(document["rule"], name="proposed", extends=document["extends"])
    if problems := lint(loaded):
        raise MapError(problems)
    key = f"proposed/{proposal['id']}"
    rule = loaded.rule(key)
    ladder = {*map(str, rule.repair or ())}
    if foreign := ladder - BUILT_IN.keys():
        raise ValueError(f"not a built-in strategy: {', '.join(foreign)}")
    if rule.kind in RETRYABLE or "wait" in ladder:
        raise ValueError("a model does not decide that a call may run again")

    def matches(finding: Finding, tool: str) -> bool:
        return key in (placed.key for placed in loaded.matches(finding, tool))

    if any(matches(recorded_finding(probe), own[0].tool) for probe in _TABLE["probes"]):
        raise ValueError("its pattern matches nearly everything")
    for group in groups:
        if any(matches(error.finding, error.tool) is not (group is own) for error in group):
            raise ValueError("it must match the errors that it was asked about, and no others")
