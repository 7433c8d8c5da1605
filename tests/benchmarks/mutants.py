"""Rightly mended calls with one thing done to them: what the kernel would let run of that.

    python tests/benchmarks/mutants.py [--calls RECORDS.jsonl] [--own N] [--each N] [--show N]

Calls of this project's own making are broken and mended; where a file is given, its records are,
too: `tools`, `raw` or `call`, and the accepted calls under `truth`. Of what was mended rightly one
thing is changed, and the kernel is asked whether that is what was written. Prints how many are let
through, by what was done, and each of them; and which right calls the kernel would not let run.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "repairs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "kernel"))

from asking import RUNS_UNASKED, Answer, Written, ask
from corrupting import TOOLS, corrupted, schema_of, value_of
from hostile import text_of

from selfcorrect import Mender, ToolSpec
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.texts import read_calls

MAP = "local_model"
UNSET = object()


@dataclass(frozen=True, slots=True)
class Mended:
    """A call that was mended rightly.

    Attributes:
        at: Where it comes from.
        written: The call as it was written, or read.
        runs: The call as it would run.
        tools: The tools on offer.
        is_right: Whether other arguments would be right, too.
        at_once: The arguments are a text, and what was read in it is not asked about first.
    """

    at: str
    written: Written
    runs: Written
    tools: tuple[ToolSpec, ...]
    is_right: Callable[[dict[str, Any]], bool]
    at_once: bool = False

    def asked(self, runs: dict[str, Any], tool: ToolSpec) -> Answer:
        """What the kernel says of running this."""
        offered = (tool, *(each for each in self.tools if each.name != tool.name))
        return ask(self.written, (self.runs[0], runs), tool, offered, at_once=self.at_once)

    @property
    def tool(self) -> ToolSpec:
        return next(tool for tool in self.tools if tool.name == self.runs[0])


def main() -> None:
    """Mend, mutate, ask, and print."""
    parser = argparse.ArgumentParser(prog="mutants")
    parser.add_argument("--calls", type=Path, help="records of broken calls with accepted ones")
    parser.add_argument("--own", type=int, default=600, help="seeds of own breaks")
    parser.add_argument("--each", type=int, default=30, help="mutants of a call")
    parser.add_argument("--show", type=int, default=10_000, help="mutants shown")
    given = parser.parse_args()
    sources = {"own breaks": own(given.own)}
    if given.calls:
        sources["records"] = recorded(given.calls)
    for name, calls in sources.items():
        made = [*calls]
        report(name, made, given.each, given.show)
        texts = [as_text(mended, place) for place, mended in enumerate(made)]
        report(f"{name}, as read in a text", texts, given.each, given.show)


def report(name: str, calls: list[Mended], each: int, show: int) -> None:
    """The figures of one source."""
    tried, through, invalid, refused = Counter[str](), [], Counter[str](), []
    for number, mended in enumerate(calls):
        level, reasons = mended.asked(mended.runs[1], mended.tool)
        if level not in RUNS_UNASKED:
            refused.append((mended, level, reasons))
            continue
        rng = Random(f"{mended.at}/{number}")
        for kind, tool, runs in mutants(rng, mended, each):
            level, _ = mended.asked(runs, tool)
            tried[kind] += 1
            is_let = level in RUNS_UNASKED
            if is_let and tool.is_valid(runs):
                through.append((kind, level, mended, runs))
            elif is_let:
                invalid[kind] += 1
    print(f"\n{name}: {len(calls)} calls mended rightly, {len(refused)} of them not let run")
    for mended, level, reasons in refused[:show]:
        print(f"  not let run ({level}) {mended.at}: {dumped(mended.written)}")
        print(f"    -> {dumped(mended.runs)}", *reasons, sep="\n    ")
    total = tried.total()
    share = f"{len(through) / total:.2%}" if total else "-"
    print(f"{name}: {len(through)} of {total} mutants let through ({share})")
    bad = Counter(kind for kind, *_ in through)
    for kind, n in sorted(tried.items()):
        print(f"  {kind:22} {bad[kind]:5} of {n:6}; of those that fit no schema {invalid[kind]}")
    for kind, level, mended, runs in through[:show]:
        print(f"  [{kind}] {level} {mended.at}: {dumped(mended.written)}")
        print(f"    right  {dumped(mended.runs[1])}\n    mutant {dumped(runs)}")


def as_text(mended: Mended, seed: int) -> Mended:
    """The right arguments as a text, of which a reader may read nothing else."""
    written = (mended.runs[0], text_of(Random(seed), mended.runs[1]))
    return replace(mended, written=written, at_once=True)


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:700]


# --- what was mended rightly ------------------------------------------------------------------


def own(seeds: int) -> Iterator[Mended]:
    """Calls that fit, broken in the ways of models, and mended as they were."""
    for seed in range(seeds):
        rng = Random(seed)
        schema, name = schema_of(rng), rng.choice(TOOLS)
        effect: Any = rng.choice(["read_only", "mutating", "destructive", None])
        tool = ToolSpec.from_schema({"name": name, "parameters": schema}, effect=effect)
        args = value_of(rng, schema)
        broken = corrupted(rng, args, schema)
        if broken is None or tool.is_valid(broken):
            continue
        made = Mender([tool], strategies=MAP).call({"name": name, "args": broken})
        if [call.args for call in made.ready] == [args]:
            yield Mended(f"own {seed}", (name, broken), (name, args), (tool,), args.__eq__)


def recorded(path: Path) -> Iterator[Mended]:
    """The records of a file whose mended calls are the accepted ones."""
    for line in path.read_text(encoding="utf-8", errors="surrogatepass").splitlines():
        record = json.loads(line)
        if record.get("truth_mode") in ("one", "all") and record.get("truth"):
            yield from _recorded(record)


def _recorded(record: dict[str, Any]) -> Iterator[Mended]:
    try:
        mender = Mender(record["tools"], strategies=MAP)
    except Exception as error:
        print(f"{record['id']}: {error}")
        return
    given = _given(record)
    made = mender.call(given, request=record.get("prompt"))
    tools = tuple(mender.tools.values())
    if made.outcome != "repaired" or len(made.ready) != len(made.calls):
        return
    written = _written(given, mender.tools, record)
    if len(written) != len(made.ready):
        print(f"{record['id']}: {len(written)} calls read, {len(made.ready)} mended")
        return
    for place, (one, call) in enumerate(zip(written, made.ready, strict=True)):
        accepted = [truth for truth in record["truth"] if truth["name"] == call.name]
        offered = (mender.tools[call.name], *(t for t in tools if t.name != call.name))

        def is_right(args: dict[str, Any], accepted: Any = accepted) -> bool:
            return any(is_accepted(truth, args) for truth in accepted)

        if is_right(dict(call.args)):
            at = f"{record['id']}#{place}"
            yield Mended(at, one, (call.name, dict(call.args)), offered, is_right)


def _given(record: dict[str, Any]) -> Any:
    if record.get("raw_scope") == "call":
        if record.get("call_format") == "json-args":
            return {"name": record.get("raw_name"), "arguments": record["raw"]}
        if record.get("call"):
            return record["call"]
    return record["raw"]


def _written(given: Any, tools: Any, record: dict[str, Any]) -> list[Written]:
    if isinstance(given, dict):
        args = given.get("arguments")
        if isinstance(args, str) and isinstance(record.get("call"), dict):
            args = record["call"].get("arguments", args)
        return [(str(given.get("name") or ""), args)]
    policy = TextPolicy(text="edge")
    read = read_calls(given, tools, request=record.get("prompt"), policy=policy)
    return [(call.name, dict(call.args)) for call in read.calls if call.args is not None]


def is_accepted(truth: dict[str, Any], args: dict[str, Any]) -> bool:
    """Whether arguments are one of the accepted calls."""
    optional = truth.get("optional") or ()
    for name, values in truth["arguments"].items():
        if name not in args and (name in optional or "" in values):
            continue
        if name not in args or loose(args[name]) not in [loose(value) for value in values]:
            return False
    return all(name in truth["arguments"] for name in args)


# --- one thing done to it ---------------------------------------------------------------------

Path_ = tuple[Any, ...]


def loose(value: Any) -> Any:
    """Equal where values might mean the same."""
    match value:
        case bool() | None:
            return value
        case int() | float():
            return float(value)
        case str():
            return re.sub(r"[\W_]+", "", value).casefold()
        case list():
            return [loose(item) for item in value]
    return {key: loose(item) for key, item in value.items()}


def places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every place below some arguments."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        yield (*path, key), item
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def schema_at(schema: Any, path: Path_) -> dict[str, Any]:
    """What is declared for a place, where that is plain to see."""
    for key in path:
        below = (
            schema.get("items") if isinstance(key, int) else schema.get("properties", {}).get(key)
        )
        schema = below if isinstance(below, dict) else {}
    return schema


def mutants(
    rng: Random, mended: Mended, each: int
) -> Iterator[tuple[str, ToolSpec, dict[str, Any]]]:
    """Different ones, of every kind that the call allows."""
    seen = [loose(mended.runs[1])]
    for number in range(each * 3):
        do = KINDS[number % len(KINDS)]
        args = copy.deepcopy(mended.runs[1])
        tool = do(rng, args, mended)
        if tool is None or len(seen) > each:
            continue
        now = loose(args)
        if now not in seen and (tool is not mended.tool or not mended.is_right(args)):
            seen.append(now)
            yield do.__name__.replace("_", " "), tool, args


Kind = Callable[[Random, dict[str, Any], Mended], ToolSpec | None]


def a_value_changed(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    leaves = [p for p, v in places(args) if not isinstance(v, dict | list) and v is not None]
    if not leaves:
        return None
    path = rng.choice(leaves)
    at(args, path[:-1])[path[-1]] = _other(rng, at(args, path), schema_at(mended.tool.schema, path))
    return mended.tool


def _other(rng: Random, value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, bool):
        return not value
    listed = [each for each in schema.get("enum", ()) if each != value]
    if listed:
        return rng.choice(listed)
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, value * 10, -value, value + 100, value * 60])
    if isinstance(value, float):
        return rng.choice([value + 1, value / 10, value * 10, -value, round(value) + 0.25])
    dated = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value)
    if dated and dated[2] != dated[3] and int(dated[3]) <= 12:
        return f"{dated[1]}-{dated[3]}-{dated[2]}"
    digits = [match.start() for match in re.finditer(r"\d", value)]
    if digits and rng.random() < 0.5:
        place = rng.choice(digits)
        return f"{value[:place]}{(int(value[place]) + rng.randint(1, 9)) % 10}{value[place + 1 :]}"
    words = value.split()
    fewer = " ".join(words[:-1]) if len(words) > 1 else f"{value}s"
    place = rng.randrange(len(value) + 1)
    letters = f"{value[:place]}{rng.choice('abemnotxz')}{value[place:]}"
    return rng.choice([fewer, letters, f"not {value}", f"{value} or two", " ".join(words[::-1])])


def two_swapped(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    leaves = [p for p, v in places(args) if not isinstance(v, dict | list)]
    if len(leaves) < 2:
        return None
    one, other = rng.sample(leaves, 2)
    a, b = at(args, one), at(args, other)
    at(args, one[:-1])[one[-1]], at(args, other[:-1])[other[-1]] = b, a
    return mended.tool


def one_lost(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    found = [p for p, v in places(args) if isinstance(p[-1], str) and v not in (None, "", [], {})]
    schema = mended.tool.schema
    found = [p for p in found if schema_at(schema, p).get("default", UNSET) != at(args, p)]
    if not found:
        return None
    path = rng.choice(found)
    del at(args, path[:-1])[path[-1]]
    return mended.tool


def one_added(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    """A parameter that nobody wrote; not what the schema gives."""
    known = mended.tool.schema.get("properties", {})
    away = [key for key in known if key not in args]
    if not away:
        return None
    key = rng.choice(away)
    kind = known[key].get("type")
    made = {"integer": 7, "number": 7.5, "boolean": True, "array": [], "object": {}}
    value = rng.choice(known[key].get("enum") or [made.get(str(kind), "lumen")])
    if value == known[key].get("default", UNSET) or value == known[key].get("const", UNSET):
        return None
    args[key] = value
    return mended.tool


def an_item_added(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    lists = [p for p, v in places(args) if isinstance(v, list) and v]
    if not lists:
        return None
    items = at(args, rng.choice(lists))
    items.insert(rng.randint(0, len(items)), copy.deepcopy(rng.choice(items)))
    return mended.tool


def a_list_shortened(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    lists = [p for p, v in places(args) if isinstance(v, list) and len(v) > 1]
    if not lists:
        return None
    items = at(args, rng.choice(lists))
    items.pop(rng.choice([0, -1, rng.randrange(len(items))]))
    return mended.tool


def a_list_reordered(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    lists = [p for p, v in places(args) if isinstance(v, list) and len(v) > 1]
    if not lists:
        return None
    items = at(args, rng.choice(lists))
    rng.choice([items.reverse, lambda: rng.shuffle(items)])()
    return mended.tool


def a_key_exchanged(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    away = [key for key in mended.tool.schema.get("properties", {}) if key not in args]
    if not away or not args:
        return None
    args[rng.choice(away)] = args.pop(rng.choice([*args]))
    return mended.tool


def a_key_that_says_more(rng: Random, args: dict[str, Any], mended: Mended) -> ToolSpec | None:
    """The tool's parameter is `dry_to`, where `to` was written; of tools that act alone."""
    known = mended.tool.schema.get("properties", {})
    keys = [key for key in args if known.get(key, {}).get("default", UNSET) != args[key]]
    keys = [key for key in keys if key in known]
    if not keys or mended.tool.effect == "read_only":
        return None
    key = rng.choice(keys)
    new = rng.choice(["dry_{}", "no_{}", "{}_to_cancel", "exclude_{}", "old_{}"]).format(key)
    schema = copy.deepcopy(dict(mended.tool.schema))
    schema["properties"] = {new if k == key else k: v for k, v in known.items()}
    schema["required"] = [new if k == key else k for k in schema.get("required", ())]
    args[new] = args.pop(key)
    given = {"name": mended.tool.name, "parameters": schema}
    return ToolSpec.from_schema(given, effect=mended.tool.effect if mended.tool.declared else None)


KINDS: tuple[Kind, ...] = (
    *(a_value_changed, a_value_changed, a_value_changed, two_swapped, two_swapped, one_lost),
    *(one_added, an_item_added, a_list_shortened, a_list_reordered, a_key_exchanged),
    a_key_that_says_more,
)

if __name__ == "__main__":
    main()
