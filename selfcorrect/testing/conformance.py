"""Try one repair strategy on one call, and check that a strategy keeps the common promises."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, get_args

from selfcorrect.json_forms import to_json
from selfcorrect.loop.judging import judged
from selfcorrect.loop.own_findings import unknown_tool
from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Category,
    Change,
    Changed,
    Diagnosis,
    Finding,
    JsonObject,
    Repair,
    Safety,
)
from selfcorrect.plain import problem
from selfcorrect.pointer import apply, look
from selfcorrect.protocols import Effect, RepairContext, Strategy
from selfcorrect.schema.places import faults
from selfcorrect.tools import ToolSpec

_SLOW: Final = 2.0
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NEEDS: Final = ("nothing", "model", "person")


@dataclass(frozen=True, slots=True)
class Case:
    """One call for a strategy to mend.

    Attributes:
        schema: JSON Schema of the arguments.
        args: The arguments.
        finding: What is wrong; None takes the first violation of the schema.
        name: The tool that the call names; any but `tool` is no tool.
    """

    schema: JsonObject
    args: JsonObject
    finding: Finding | None = None
    name: str = "tool"


def try_strategy(
    strategy: Strategy,
    schema: JsonObject,
    args: JsonObject,
    finding: Finding | None = None,
    *,
    effect: Effect = "mutating",
    description: str = "",
    **context: Any,
) -> Any:
    """What a strategy answers for one call, its changes of the class that the kernel gives them.

    Args:
        strategy: The strategy, bound to its options.
        schema: JSON Schema of the tool's arguments.
        args: The arguments of the call.
        finding: What is wrong; by default the first violation of the schema.
        effect: What the tool does to the world.
        description: The tool's description.
        **context: Further fields of `RepairContext`: `request`, `now`, `ask_model` …

    Raises:
        ValueError: If the arguments fit the schema and no finding is given.
    """
    tool = _tool(schema, effect, description)
    if finding is None:
        found = tool.violations(args) if not tool.is_valid(args) else ()
        if not found:
            raise ValueError("the arguments fit the schema: say with finding=… what is wrong")
        finding = found[0]
    given = RepairContext(tool=tool, **{"tools": {tool.name: tool}, **context})
    return _judged(strategy, Call("tool", args, "call-1"), finding, given)


def try_rename(
    strategy: Strategy, name: str, tools: Iterable[str | ToolSpec], args: JsonObject | None = None
) -> Any:
    """What a strategy answers for a call of a tool that does not exist, as `try_strategy` does.

    Args:
        strategy: The strategy, bound to its options.
        name: The name that the call asks for.
        tools: The tools on offer; a name stands for a tool without arguments.
        args: The arguments of the call.
    """
    nothing: JSON = {"type": "object", "properties": {}}
    specs = [
        ToolSpec.from_schema({"name": one, "parameters": nothing}) if isinstance(one, str) else one
        for one in tools
    ]
    offered = {spec.name: spec for spec in specs}
    finding = replace(unknown_tool(offered), category=Category.UNKNOWN_TOOL)
    context = RepairContext(tool=None, tools=offered)
    return _judged(strategy, Call(name, args or {}, "call-1"), finding, context)


def _judged(strategy: Strategy, call: Call, finding: Finding, context: RepairContext) -> Any:
    """What a strategy answers, its changes judged as a run judges them."""
    answer = _answer(strategy, call, Diagnosis((finding,)), context)
    if not isinstance(answer, Changed):
        return answer
    name = getattr(strategy, "name", "")
    made = [replace(one, strategy=name) for one in answer.changes]
    given = {"request": context.request, "messages": context.messages, "written": context.written}
    verdict = judged(
        call, apply(call, made), made, [finding], {name: strategy}, {"given": given}, context
    )
    return Changed(
        [
            replace(c, strategy=o.strategy)
            for c, o in zip(verdict.changes, answer.changes, strict=True)
        ]
    )


def check_strategy(strategy: Strategy, cases: Iterable[Case] = ()) -> None:
    """Check the promises that every strategy gives, on calls of many kinds, also hostile ones.

    The answer is a `Repair`, the same each time, soon, and without an exception; the call is left
    as it is; a change states what was there, is plain JSON, is of a class that the strategy
    declares, and makes nothing invalid; a valid call is left alone. Whether it mends what it is
    meant to mend, its own tests say.

    Args:
        strategy: The strategy, bound to its options.
        cases: Calls of your own, beside the built-in ones.

    Raises:
        AssertionError: Naming every promise that is broken.

    >>> from selfcorrect.repairs.convert_type import ConvertType
    >>> check_strategy(ConvertType())
    """
    broken = _broken_attributes(strategy)
    for case in (*_cases(), *cases):
        broken += [f"{why}, for {_shown(case)}" for why in _broken_by(strategy, case)]
    if broken:
        raise AssertionError("\n".join(dict.fromkeys(broken)))


def _shown(case: Case) -> str:
    text = repr(dict(case.args))
    text = text if len(text) <= 100 else f"{text[:100]}…"
    paths = _finding_of(case, _tool(case.schema)).paths
    return f"{text} with {', '.join(paths) or 'nothing'} at fault"


def _broken_attributes(strategy: Strategy) -> list[str]:
    broken = []
    name = getattr(strategy, "name", None)
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        broken.append(f"its name {name!r} is not in kebab-case")
    classes = getattr(strategy, "safety", ())
    if not isinstance(classes, tuple) or not all(isinstance(one, Safety) for one in classes):
        broken.append(f"its safety {classes!r} is not a tuple of Safety")
    if (needs := getattr(strategy, "needs", "nothing")) not in _NEEDS:
        broken.append(f"its needs {needs!r} is none of {', '.join(_NEEDS)}")
    return broken


def _broken_by(strategy: Strategy, case: Case) -> list[str]:
    tool = _tool(case.schema)
    call = Call(case.name, case.args, "call-1")
    valid = case.name == "tool" and tool.is_valid(case.args)
    finding = _finding_of(case, tool)
    known = tool if case.name == "tool" else None
    context = RepairContext(tool=known, tools={"tool": tool})
    before = copy.deepcopy(call)
    started = time.monotonic()
    try:
        answers = [_answer(strategy, call, Diagnosis((finding,)), context) for _ in range(2)]
    except Exception as error:
        return [f"it raised {type(error).__name__}"]
    broken = [] if time.monotonic() - started < _SLOW else [f"it took more than {_SLOW:g} s"]
    if call != before:
        broken.append("it changed the call in place")
    if not isinstance(answers[0], get_args(Repair)):
        return [*broken, f"it answered {type(answers[0]).__name__}, which is no Repair"]
    if answers[0] != answers[1]:
        broken.append("it answered differently the second time")
    if isinstance(answers[0], Changed):
        own = finding.types[:1] == ("InvalidArgs",)
        if valid and own:
            broken.append("it changed a valid call")
        broken += _broken_changes(strategy, answers[0].changes, call, tool)
    return broken


def _broken_changes(
    strategy: Strategy, changes: tuple[Change, ...], call: Call, tool: ToolSpec
) -> list[str]:
    broken = [] if changes else ["it answered with no changes"]
    classes = getattr(strategy, "safety", ())
    now = call
    for change in changes:
        if classes and change.safety not in classes:
            broken.append(f"it did not declare that it makes changes of class {change.safety}")
        if not change.reason:
            broken.append("a change has no reason")
        if change.after is not ABSENT and problem(to_json(change.after)) is not None:
            broken.append("a change is not plain JSON")
        if look(now, change.path) != change.before:
            broken.append(f"a change does not say what was at {change.path}")
        try:
            now = apply(now, (change,))
        except (LookupError, ValueError):
            return [*broken, f"a change names a place that cannot exist: {change.path}"]
    if now.name == "tool" and now.raw is None:
        places = tuple(change.path for change in changes)
        new = faults(tool.violations(now.args)) - faults(tool.violations(call.args))
        if any(not (path or "").startswith(places) for path, _ in new):
            broken.append("a change made something else invalid")
    return broken


def _answer(strategy: Strategy, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Any:
    answer = strategy(call, diagnosis, context)
    if not inspect.isawaitable(answer):
        return answer

    async def awaited() -> Any:
        return await answer

    return asyncio.run(awaited())


def _tool(schema: JsonObject, effect: Effect = "mutating", description: str = "") -> ToolSpec:
    return _compiled(json.dumps({"type": "object", **schema}), effect, description)


@lru_cache(maxsize=128)
def _compiled(parameters: str, effect: Effect, description: str) -> ToolSpec:
    whole = {"name": "tool", "description": description, "parameters": json.loads(parameters)}
    return ToolSpec.from_schema(whole, effect=effect)


def _finding_of(case: Case, tool: ToolSpec) -> Finding:
    """What is wrong; by default the first violation, and for valid arguments a stale one."""
    if case.finding is not None:
        return case.finding
    if not tool.is_valid(case.args):
        return tool.violations(case.args)[0]
    name = next(iter(case.args), "x")
    return Finding("an error of before", ("InvalidArgs",), code="type", paths=(f"/args/{name}",))


def _one(schema: JsonObject, *values: JSON, **rest: Any) -> list[Case]:
    return [Case({"properties": {"x": schema}, **rest}, {"x": value}) for value in values]


_HOSTILE: Final[tuple[JSON, ...]] = (
    *(
        "",
        " ",
        "\u202e",
        "\u0663",
        "1e400",
        "NaN",
        "0x10",
        "1_000",
        "5,5",
        "1/2",
        "-0",
        "x" * 200_000,
    ),
    *("[" * 5_000, '{"a":' * 500, "a" + "\u0301" * 20_000, ", " * 20_000, "_" * 10_000),
    *(10**400, -0.0, 1e308, True, None, [], {}, [[[[[]]]]], {"": {"": None}}, ["a", 1, None]),
)


@cache
def _cases() -> tuple[Case, ...]:
    """The calls that every strategy is tried on: hostile values everywhere, and `cases.json`."""
    read: Any = json.loads(files("selfcorrect.testing").joinpath("cases.json").read_text("utf-8"))
    schemas = read["schemas"]
    return (
        *(case for schema in schemas for case in _one(schema, *_HOSTILE)),
        *(case for schema in schemas for case in _one(schema, None, "", required=["x"])),
        *(_read(**case) for case in read["cases"]),
    )


def _read(finding: Any = None, **case: Any) -> Case:
    if finding is None:
        return Case(**case)
    types, paths = (tuple(finding.pop(key, ())) for key in ("types", "paths"))
    return Case(**case, finding=Finding(**finding, types=types, paths=paths))
