"""The one place where these tests touch the kernel: what they ask it, and what it answers."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from selfcorrect.kernel.changes import Step, judge, worst
from selfcorrect.kernel.verdicts import Heard
from selfcorrect.model import Call, Safety
from selfcorrect.schema.slots import slots_of
from selfcorrect.tools import ToolSpec

RUNS_UNASKED = frozenset({"exact", "inferred"})
"""The classes that run without anybody's word."""

Answer = tuple[str, tuple[str, ...]]
"""The class, and the reasons in words."""

Written = tuple[str, Any]
"""A tool's name and arguments, as an object or as a text."""


def ask(
    written: Written,
    runs: Written,
    tool: ToolSpec,
    tools: Sequence[ToolSpec] = (),
    *,
    at_once: bool = False,
    **facts: Any,
) -> Answer:
    """What the kernel says of running one call where the other was written.

    Arguments that are a text are judged as in a run: what was read in it, then what came of that;
    or both `at_once`.
    """
    name, args = written
    facts["heard"] = [Heard(said) for said in facts.pop("tainted", ())] or facts.get("heard", ())
    offered = [each.name for each in tools or (tool,)]
    for fact in facts.keys() & {"origins", "waived"}:
        facts[fact] = {place: Safety(level) for place, level in facts[fact].items()}
    calls = [Call(name, args) if isinstance(args, dict) else Call(name, {}, raw=_text(args))]
    read = None if isinstance(args, dict) or at_once else _read(args)
    calls += [Call(name, read)] if read is not None else []
    calls.append(Call(*runs))
    verdicts = [
        judge(Step(one, other, slots_of(tool.schema), offered, tool.effect, **facts))
        for one, other in itertools.pairwise(calls)
    ]
    level = worst(verdict.safety for verdict in verdicts)
    words = (reason.words for verdict in verdicts for reason in verdict.reasons)
    return level.value, tuple(filter(None, words))


def _text(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)


def _read(args: Any) -> dict[str, Any] | None:
    try:
        value = json.loads(args) if isinstance(args, str) else args
    except ValueError:
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None
