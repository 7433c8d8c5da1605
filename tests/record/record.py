"""The record of behaviour: what comes of a few thousand broken calls, texts, errors and runs.

Made through what stays when walls move: the command line, maps and tool specs, and one run.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import lines
import runs

from selfcorrect import StrategyMap, ToolSpec
from selfcorrect.mapping.linting import example_finding

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "golden.jsonl.gz"
LONGEST = 160
"""Characters of a value that are kept; of a longer one, its beginning and its hash."""

Entry = dict[str, Any]
Record = dict[str, Entry]


def made(folder: Path) -> Record:
    """The record as the code makes it now; `folder` takes the files of the command line."""
    calls = dict(chain(lines.calls(), lines.names(), lines.rejected()))
    texts = dict(chain(lines.texts(), lines.forms()))
    strict, errors = dict(lines.strict()), dict(lines.errors())
    before = _diagnoses(calls)
    out = {
        name: entry | before.get(name, {})
        for given, options in (({**calls, **texts}, ()), (strict, ("--strategies", "strict")))
        for name, entry in _repaired(given, folder, *options)
    }
    out |= _diagnosed(errors, folder)
    out |= _examples()
    return out | dict(_runs())


def stored() -> Record:
    """The record as it was kept."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return {item.pop("id"): item for item in map(json.loads, file)}


def store(record: Mapping[str, Entry]) -> None:
    """Keep a record; equal records make equal files."""
    text = "".join(f"{_dumped({'id': name, **entry})}\n" for name, entry in record.items())
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def differences(before: Mapping[str, Entry], now: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """What differs, as group and a few readable lines; entries in the order of the record."""
    for name in dict.fromkeys((*before, *now)):
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            yield ("new cases" if old is None else "cases that are gone"), name
        elif old.get("case") != new.get("case"):
            yield "another case than before (its generator changed)", name
        elif old != new:
            keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            shown = [f"  {key}: {_shown(old, key)}\n    -> {_shown(new, key)}" for key in keys]
            yield _group(keys, old, new), "\n".join([name, *shown])


def _group(keys: list[str], old: Entry, new: Entry) -> str:
    if "outcome" in keys:
        return f"outcome: {old.get('outcome')} -> {new.get('outcome')}"
    if "executions" in keys:
        return "how often a tool was entered"
    if keys == ["diagnosis"] and len(old["diagnosis"]) == len(new["diagnosis"]):
        pairs = zip(old["diagnosis"], new["diagnosis"], strict=True)
        parts = {key for one, other in pairs for key in one if one[key] != other.get(key)}
        return f"diagnosis: {', '.join(sorted(parts))}"
    return ", ".join(keys)


def _shown(entry: Entry, key: str) -> str:
    return _dumped(entry[key])[:600] if key in entry else "(nothing)"


def _repaired(given: Mapping[str, Any], folder: Path, *options: str) -> Iterator[tuple[str, Entry]]:
    for answer in _asked("repair", given, folder, "--processes", "1", *options):
        entry = {"case": _hash(given[answer["id"]]), "outcome": answer["outcome"]}
        if "reason" in answer:
            entry["reason"] = answer["reason"]
        if answer["calls"]:
            entry["calls"] = _short(answer["calls"])
        if answer["changes"]:
            entry["changes"] = [_change(change) for change in answer["changes"]]
        yield answer["id"], entry


def _diagnosed(given: Mapping[str, Any], folder: Path) -> Record:
    keys = ("kind", "category", "params", "rule", "retryable", "retry_after_s", "constraint")
    return {
        answer["id"]: {
            "case": _hash(given[answer["id"]]),
            "diagnosis": [{key: answer[key] for key in keys if answer.get(key) is not None}],
        }
        for answer in _asked("diagnose", given, folder)
    }


def _asked(
    command: str, given: Mapping[str, Any], folder: Path, *options: str
) -> Iterable[dict[str, Any]]:
    """The command's answers, one for each line that is given."""
    asked, answers = folder / f"{command}.in.jsonl", folder / f"{command}.out.jsonl"
    text = "".join(f"{_dumped({'id': name, **line})}\n" for name, line in given.items())
    asked.write_text(text, encoding="utf-8")
    files = ("--jsonl", str(asked), "--out", str(answers))
    done = subprocess.run(
        [sys.executable, "-m", "selfcorrect", command, *files, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


def _diagnoses(calls: Mapping[str, Any]) -> Record:
    """What is wrong with each call that is an object, before anything is mended."""
    strategies = StrategyMap.load("default")
    out = {}
    for name, line in calls.items():
        tools = {tool["name"]: tool for tool in line["tools"]}
        tool = tools.get(line["call"]["name"])
        if tool is not None:
            spec = ToolSpec.from_schema({k: v for k, v in tool.items() if k != "effect"})
            found = [strategies.decide(f) for f in spec.violations(line["call"]["arguments"])]
            if found:
                out[name] = {"diagnosis": [_finding(item) for item in found]}
    return out


def _examples() -> Record:
    """What each map says of the examples of its rules, its own and those of the built-in maps."""
    out: Record = {}
    deployed = sorted((ROOT / "strategies").glob("*.toml"))
    for source in ("default", *deployed):
        strategies = StrategyMap.load(source)
        own = strategies.documents if source == "default" else strategies.documents[:1]
        for placed in strategies.rules:
            if placed.source in own:
                for number, example in enumerate(placed.rule.example):
                    finding, tool = example_finding(placed.rule, example)
                    decided = strategies.decide(finding, tool)
                    name = source if source == "default" else source.stem
                    out[f"example {name}: {placed.id} {number}"] = {
                        "case": _hash(example),
                        "diagnosis": [_finding(decided) | {"ladder": list(decided.ladder)}],
                    }
    return out


def _runs() -> Iterator[tuple[str, Entry]]:
    for name, run in runs.runs():
        out, entered = runs.ran(run)
        failure = out.get("failure") or {}
        findings = next((e["findings"] for e in out["trail"] if e.get("findings")), [])
        changes = [change for event in out["trail"] for change in event.get("changes") or ()]
        entry: Entry = {
            "case": _hash(run),
            "outcome": failure.get("reason", "done"),
            "executions": entered,
            "path": " ".join(event["node"] for event in out["trail"]),
            "diagnosis": [
                {key: item[key] for key in ("kind", "category", "paths", "rule") if key in item}
                for item in findings
            ],
        }
        if attempts := failure.get("attempts"):
            entry["attempts"] = [[each["outcome"], each.get("retryable")] for each in attempts]
        if changes:
            entry["changes"] = [_change(change) for change in changes]
        yield name, entry


def _finding(finding: Any) -> Entry:
    said = {
        "kind": finding.kind.value,
        "category": finding.category.value,
        "params": list(finding.params),
        "rule": finding.rule,
        "retry_after_s": finding.retry_after,
    }
    return {key: value for key, value in said.items() if value is not None}


def _change(change: Mapping[str, Any]) -> list[Any]:
    before, after = (_short(change[key]) if key in change else [] for key in ("before", "after"))
    return [change["path"], before, after, change["safety"], change.get("strategy")]


def _short(value: Any) -> Any:
    text = _dumped(value)
    return value if len(text) <= LONGEST else f"{text[:LONGEST]}… {_hash(value)}"


def _hash(value: Any) -> str:
    return sha256(_dumped(value).encode()).hexdigest()[:8]


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
