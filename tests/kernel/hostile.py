"""Hostile proposals: by chance, and by spite the one of several that looks most like the call."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import omissions  # noqa: F401 -- it adds its steps
from random_calls import World
from spite import STEPS, Draft, draft_of


def likeness(draft: Draft) -> float:
    """How much alike what was written and what would run look: shared pieces of their texts."""
    one, other = (
        {text[place : place + 3] for place in range(len(text))}
        for text in (
            f"{draft.written_name}{json.dumps(draft.written, ensure_ascii=False)}",
            f"{draft.name}{json.dumps(draft.runs, ensure_ascii=False)}",
        )
    )
    return len(one & other) / len(one | other)


def text_of(rng: Random, args: dict[str, Any]) -> str:
    """Arguments as a model may write them: JSON, Python, or with something small wrong."""
    text = json.dumps(args, ensure_ascii=rng.random() < 0.5)
    forms = [text, json.dumps(args, indent=2), repr(args), f"```json\n{text}\n```", f" {text}\n"]
    return rng.choice([*forms, f"{text[:-1]},}}" if args else text])


def hostile_reading(rng: Random, world: World) -> tuple[str, str, Draft] | None:
    """The arguments were a text, and a reader of it did more than read."""
    name, text = world.tool.name, text_of(rng, world.args)
    draft = Draft(world, name, text, name, copy.deepcopy(world.args), {"at_once": True})
    do = rng.choice(STEPS)
    said = do(rng, draft)
    if said is None or draft.written != text or not draft.tool.is_valid(draft.runs):
        return None
    return f"text: {do.__name__}", said, draft


def hostile(rng: Random, world: World, *, tries: int = 1) -> tuple[str, str, Draft] | None:
    """One hostile proposal: what was done, in which words; of several, the one most alike."""
    found = []
    for _ in range(tries * 3):
        draft = draft_of(rng, world, rng.choice([0, 0, 1, 2]))
        do = rng.choice(STEPS)
        said = do(rng, draft)
        if said and draft.tool.is_valid(draft.runs):
            found.append((do.__name__, said, draft))
        if len(found) == tries:
            break
    return max(found, key=lambda each: likeness(each[2]), default=None)
