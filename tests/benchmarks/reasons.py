"""How much of an error's reason the model reads: every error is raised by a tool inside the loop.

    python tests/benchmarks/reasons.py [ERRORS.jsonl] [--hide] [--show WHAT]

A line of the file is what `selfcorrect diagnose` takes, with `labels.constraint` where the message
holds one. Without a file, the examples of the default map's own rules are raised. A content word is
a word of the message, of four letters or more, that is in none of our own sentences; the tool's
effect is read_only, then mutating.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfcorrect.errors import SelfCorrectError
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.mapping.linting import example_finding
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.models import describing, telling
from selfcorrect.testing import VirtualTime
from selfcorrect.tools import ToolSpec

WORD = re.compile(r"[^\W\d_]{4,}")
OPEN = {"type": "object", "properties": {}, "additionalProperties": True}
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength")


def main() -> None:
    """Raise every error, and count what the model reads of it."""
    files = [Path(name) for name in sys.argv[1:] if name.endswith(".jsonl")]
    words: telling.ToolWords = "hide" if "--hide" in sys.argv else "show"
    asked = sys.argv[sys.argv.index("--show") + 1] if "--show" in sys.argv else None
    records = list(from_file(files[0]) if files else from_map())
    for effect in ("read_only", "mutating"):
        counts, longest = Counter[str](), 0
        for record in records:
            text = told(record, effect, words)
            longest = max(longest, len(text))
            for what, is_told in checks(record, text):
                counts[what] += 1
                counts[f"{what} told"] += is_told
                if asked == what and not is_told:
                    print(f"- {record['message'][:300]!r}\n  {text}")
        print(f"{effect}, {len(records)} errors, longest text {longest} characters")
        for what in ("word", "most words", "allowed", "bound"):
            if counts[what]:
                share = counts[f"{what} told"] / counts[what]
                print(f"  {what:12} {counts[f'{what} told']} of {counts[what]} ({share:.1%})")


def told(record: Mapping[str, Any], effect: Any, words: telling.ToolWords) -> str:
    """What the model reads when a tool fails with this error."""
    error = raised(record)

    def fail(**_: Any) -> None:
        raise error

    tool = tool_of(record, effect, fail)
    loop = assemble([tool], Options(time=VirtualTime(), tool_words=words))
    out = walk(loop, {"call": {"name": "tool", "args": record.get("arguments")}})
    return str(out["failure"]["for_model"])


def tool_of(record: Mapping[str, Any], effect: Any, call: Any) -> ToolSpec:
    """A tool with the record's schema, or with an open one where the call does not fit it."""
    args = record.get("arguments")
    for schema in (record.get("schema") or OPEN, OPEN):
        try:
            spec = {"name": "tool", "parameters": schema}
            tool = ToolSpec.from_schema(spec, call=call, effect=effect)
            if tool.is_valid(args):
                return tool
        except SelfCorrectError:
            continue
    raise AssertionError(args)


def raised(record: Mapping[str, Any]) -> Exception:
    """An exception of the record's class name and status, with its message."""
    module, _, name = str(record.get("exception") or "ToolFailed").rpartition(".")
    kind = type(re.sub(r"\W", "_", name), (Exception,), {"__module__": module or "builtins"})
    error: Any = kind(record["message"])
    if isinstance(record.get("status"), int):
        error.status_code = record["status"]
    return error  # type: ignore[no-any-return]


def checks(record: Mapping[str, Any], text: str) -> Iterator[tuple[str, bool]]:
    """What of the message should be told, and whether it is."""
    read = {word.lower() for word in WORD.findall(text)}
    content = [word.lower() for word in WORD.findall(record["message"][:400])]
    content = [word for word in dict.fromkeys(content) if word not in OURS]
    if content:
        yield "word", not read.isdisjoint(content)
        yield "most words", sum(word in read for word in content) * 2 >= len(content)
    constraint = (record.get("labels") or {}).get("constraint") or {}
    for key, value in constraint.items():
        if key == "enum" and all(str(item) in record["message"] for item in value):
            yield "allowed", all(str(item) in text for item in value)
        elif key in BOUNDS and str(value) in record["message"]:
            yield "bound", str(value) in text


def from_file(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file whose arguments are a known object."""
    for line in path.read_text(encoding="utf-8", errors="surrogatepass").splitlines():
        record = json.loads(line)
        if isinstance(record.get("arguments"), dict) and record["arguments"]:
            yield record


def from_map() -> Iterator[dict[str, Any]]:
    """The examples of the default map's rules."""
    for placed in StrategyMap.load("default").rules:
        for example in placed.rule.example:
            finding, _ = example_finding(placed.rule, example)
            yield {
                "message": finding.text,
                "exception": next(iter(finding.types), None),
                "status": finding.status,
                "arguments": {"value": 1},
            }


def ours() -> frozenset[str]:
    """The words of our own sentences."""
    constants = [vars(telling), vars(describing)]
    texts = [
        text
        for names in constants
        for value in names.values()
        for text in (value.values() if isinstance(value, Mapping) else [value])
        if isinstance(text, str)
    ]
    spoken = "the tool said check arguments reason given refused failed tried made call data known"
    return frozenset(word.lower() for word in WORD.findall(" ".join([*texts, spoken])))


OURS = ours()

if __name__ == "__main__":
    main()
