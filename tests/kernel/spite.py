"""Proposers that mean harm: each does one thing to a right call that nobody wrote.

A step changes a draft in place and says what it did, or gives None where it finds nothing to do.
What it did is wrong by construction: content that was written is lost, exchanged, moved or
invented. So no kernel may call it exact or inferred.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any

from random_calls import TEXTS, Spot, World, at, put, remove, spots, value_of
from respelling import respelled

from selfcorrect.tools import ToolSpec


@dataclass(slots=True)
class Draft:
    """What was written, and what is proposed to run."""

    world: World
    written_name: str
    written: Any
    name: str
    runs: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def tool(self) -> ToolSpec:
        return next(each for each in self.world.tools if each.name == self.name)

    @property
    def acts(self) -> bool:
        return self.tool.effect != "read_only"

    def spots(self) -> list[Spot]:
        return [*spots(self.runs, self.world.tool.schema)]


Step = Callable[[Random, Draft], str | None]
STEPS: list[Step] = []


def step(make: Step) -> Step:
    STEPS.append(make)
    return make


def draft_of(rng: Random, world: World, respellings: int) -> Draft:
    """The right call, written in another spelling."""
    name, written, _ = respelled(rng, world, respellings)
    return Draft(world, name, written, world.tool.name, copy.deepcopy(world.args))


def chosen(rng: Random, found: list[Spot]) -> Spot | None:
    return rng.choice(found) if found else None


def loose(value: Any) -> str:
    """A value without its spelling: equal ones might be the same thing."""
    return re.sub(r"[\W_]+", "", json.dumps(value, ensure_ascii=False)).casefold()


def replaced(rng: Random, draft: Draft, spot: Spot, new: Any) -> str | None:
    """Put another value in a place; None where it might be the same value."""
    if loose(new) == loose(spot.value):
        return None
    put(draft.runs, spot.path, new)
    return f"{spot.path}: {new!r} for {spot.value!r}"


# --- values that are lost, exchanged, moved ---------------------------------------------------


@step
def a_value_lost(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if isinstance(s.path[-1], str) and not s.required])
    if spot is None or spot.value in (None, "", [], {}):
        return None
    remove(draft.runs, spot.path)
    return f"{spot.path} lost"


@step
def two_values_swapped(rng: Random, draft: Draft) -> str | None:
    leaves = [s for s in draft.spots() if s.is_leaf]
    if len(leaves) < 2:
        return None
    one, other = rng.sample(leaves, 2)
    if loose(one.value) == loose(other.value):
        return None
    put(draft.runs, one.path, other.value)
    put(draft.runs, other.path, one.value)
    return f"{one.path} and {other.path} swapped"


@step
def two_near_keys_swapped(rng: Random, draft: Draft) -> str | None:
    """Among the keys of one object, those that look most alike."""
    pairs = [
        (-len(set(_trigrams(a)) & set(_trigrams(b))), a, b)
        for a in draft.runs
        for b in draft.runs
        if a < b and loose(draft.runs[a]) != loose(draft.runs[b])
    ]
    if not pairs:
        return None
    _, one, other = min(pairs, key=lambda pair: pair[0])
    draft.runs[one], draft.runs[other] = draft.runs[other], draft.runs[one]
    return f"{one} and {other} swapped"


@step
def a_key_renamed(rng: Random, draft: Draft) -> str | None:
    away = [key for key in draft.world.tool.schema["properties"] if key not in draft.runs]
    if not away or not draft.runs:
        return None
    key = rng.choice([*draft.runs])
    new = max(away, key=lambda each: len(set(_trigrams(each)) & set(_trigrams(key))))
    draft.runs[new] = draft.runs.pop(key)
    return f"{key} as {new}"


def _trigrams(text: str) -> Iterator[str]:
    return (text[place : place + 2] for place in range(len(text) - 1))


@step
def the_tool_renamed(rng: Random, draft: Draft) -> str | None:
    others = [tool.name for tool in draft.world.tools if tool.name != draft.name]
    draft.name = rng.choice(others)
    return f"{draft.world.tool.name} as {draft.name}"


@step
def two_values_merged(rng: Random, draft: Draft) -> str | None:
    texts = [s for s in draft.spots() if isinstance(s.value, str) and set(s.schema) == {"type"}]
    free = [s for s in texts if isinstance(s.path[-1], int) or not s.required]
    if len(texts) < 2 or not free:
        return None
    lost = rng.choice(free)
    kept = rng.choice([s for s in texts if s is not lost])
    put(
        draft.runs,
        kept.path,
        rng.choice(["{} {}", "{}, {}", "{}{}"]).format(kept.value, lost.value),
    )
    remove(draft.runs, lost.path)
    return f"{lost.path} into {kept.path}"


@step
def a_value_split(rng: Random, draft: Draft) -> str | None:
    found = [s for s in draft.spots() if isinstance(s.path[-1], int) and isinstance(s.value, str)]
    found = [s for s in found if re.search(r"[ ,;]", s.value.strip()) and set(s.schema) == {"type"}]
    spot = chosen(rng, found)
    if spot is None:
        return None
    head, tail = re.split(r"[ ,;]+", spot.value, maxsplit=1)
    items = at(draft.runs, spot.path[:-1])
    if len(items) == 1:
        return None  # where it was written without the list around it, it may be two
    items[spot.path[-1] : spot.path[-1] + 1] = [head, tail]
    return f"{spot.path} split"


@step
def moved_to_another_level(rng: Random, draft: Draft) -> str | None:
    inner = draft.runs.get("details")
    known = draft.world.tool.schema["properties"]
    if not isinstance(inner, dict):
        return None
    below = known["details"]["properties"]
    down = [key for key in draft.runs if key in below and key not in inner]
    up = [key for key in inner if key in known and key not in draft.runs]
    if not down and not up:
        return None
    key = rng.choice(down + up)
    if key in down:
        inner[key] = draft.runs.pop(key)
    else:
        draft.runs[key] = inner.pop(key)
    return f"{key} on another level"


@step
def moved_to_another_item(rng: Random, draft: Draft) -> str | None:
    items = draft.runs.get("lines")
    if not isinstance(items, list) or len(items) < 2:
        return None
    one, other = rng.sample(items, 2)
    keys = [key for key in one if loose(one[key]) != loose(other.get(key, "<away>"))]
    if not keys:
        return None
    key = rng.choice(keys)
    value, before = one.pop(key), other.get(key)
    if key in other:
        one[key] = before
    other[key] = value
    return f"{key} of another item"


# --- values that nobody wrote -----------------------------------------------------------------


@step
def a_value_invented(rng: Random, draft: Draft) -> str | None:
    known = draft.world.tool.schema["properties"]
    away = [key for key in known if key not in draft.runs]
    if not away:
        return None
    key = rng.choice(away)
    draft.runs[key] = value_of(rng, known[key])
    return f"{key} = {draft.runs[key]!r}"


@step
def a_container_invented(rng: Random, draft: Draft) -> str | None:
    known = draft.world.tool.schema["properties"]
    empty = {"array": [], "object": {}}
    away = [
        key for key in known if key not in draft.runs and known[key]["type"] in ("array", "object")
    ]
    if not away:
        return None
    key = rng.choice(away)
    draft.runs[key] = empty[known[key]["type"]]
    return f"{key} = {draft.runs[key]!r}"


@step
def an_item_invented(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if isinstance(s.value, list)])
    if spot is None:
        return None
    new = rng.choice([value_of(rng, spot.schema["items"]), spot.value[0]])
    at(draft.runs, spot.path).insert(rng.randint(0, len(spot.value)), new)
    return f"{new!r} into {spot.path}"


@step
def a_value_of_an_error(rng: Random, draft: Draft) -> str | None:
    """The proposer read it in an error's text; the runtime knows that."""
    spot = chosen(rng, [s for s in draft.spots() if s.is_leaf])
    if spot is None:
        return None
    said = replaced(rng, draft, spot, value_of(rng, spot.schema))
    if said and rng.random() < 0.5:
        draft.facts["origins"] = {"/args/" + "/".join(map(str, spot.path)): "lossy"}
    return said


# --- values that are changed ------------------------------------------------------------------


@step
def a_fitting_value_replaced(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if s.is_leaf])
    return spot and replaced(rng, draft, spot, value_of(rng, spot.schema))


@step
def retyped(rng: Random, draft: Draft) -> str | None:
    """Another value of another type, where the schema takes both."""
    spot = chosen(rng, [s for s in draft.spots() if isinstance(s.schema.get("type"), list)])
    return spot and replaced(rng, draft, spot, None)


@step
def a_number_changed(rng: Random, draft: Draft) -> str | None:
    found = [s for s in draft.spots() if isinstance(s.value, int | float)]
    spot = chosen(rng, [s for s in found if not isinstance(s.value, bool)])
    if spot is None:
        return None
    value, whole = spot.value, isinstance(spot.value, int)
    forms = [-value, value * 10, value * 100, value * 1000, value + 1, value - 1, value * 60, 0]
    forms += (
        [int(str(value)[::-1])] if whole and value > 9 else [value / 10, round(value), int(value)]
    )
    new = rng.choice(forms)
    if new == value:
        return None
    put(draft.runs, spot.path, new)
    return f"{spot.path}: {new!r} for {value!r}"


@step
def a_date_changed(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if s.schema.get("format") == "date"])
    if spot is None:
        return None
    year, month, day = map(int, spot.value.split("-"))
    forms = [(date.fromisoformat(spot.value) + timedelta(rng.choice([-1, 1, 7, 30]))).isoformat()]
    if day <= 12 and day != month:
        forms += [f"{year}-{day:02}-{month:02}"] * 4
    forms += [f"{year + 10}-{month:02}-{min(day, 28):02}", f"{year}-{month:02}-{(day % 28) + 1:02}"]
    return replaced(rng, draft, spot, rng.choice(forms))


@step
def another_listed_value(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if "enum" in s.schema])
    if spot is None:
        return None
    others = [each for each in spot.schema["enum"] if each != spot.value]
    put(draft.runs, spot.path, rng.choice(others))
    return f"{spot.path}: another than {spot.value!r}"


@step
def a_boolean_negated(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if isinstance(s.value, bool)])
    if spot is None:
        return None
    put(draft.runs, spot.path, not spot.value)
    return f"{spot.path}: not {spot.value}"


@step
def a_text_changed(rng: Random, draft: Draft) -> str | None:
    found = [s for s in draft.spots() if isinstance(s.value, str) and set(s.schema) == {"type"}]
    spot = chosen(rng, found)
    if spot is None:
        return None
    text = spot.value
    place = rng.randrange(len(text))
    forms = [
        text[:place] + text[place + 1 :],
        text[:place] + "x" + text[place:],
        text[: place or 1],
    ]
    forms += [text.rpartition(" ")[0], f"{text} {rng.choice(TEXTS)}", text.swapcase(), text[::-1]]
    forms += [text.replace("com", "org"), text.replace("8", "7"), f"not {text}", text + text[-1]]
    forms += [text.casefold(), text.replace("don't ", ""), text.replace("/", "")]
    new = rng.choice(forms)
    if new.strip() == text.strip():
        return None
    put(draft.runs, spot.path, new)
    return f"{spot.path}: {new!r} for {text!r}"


@step
def changed_inside_a_json_text(rng: Random, draft: Draft) -> str | None:
    found = [s for s in draft.spots() if isinstance(s.value, str) and s.value.startswith("{")]
    spot = chosen(rng, found)
    if spot is None:
        return None
    inner = json.loads(spot.value)
    if rng.random() < 0.5:
        inner["amount"] = inner["amount"] * 10
    else:
        inner["to"] = rng.choice([each for each in TEXTS if each != inner["to"]])
    put(draft.runs, spot.path, json.dumps(inner))
    return f"{spot.path}: {inner}"


@step
def an_item_lost(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if isinstance(s.value, list) and len(s.value) > 1])
    if spot is None:
        return None
    at(draft.runs, spot.path).pop(rng.choice([0, -1, rng.randrange(len(spot.value))]))
    return f"an item of {spot.path} lost"


@step
def items_reordered(rng: Random, draft: Draft) -> str | None:
    spot = chosen(rng, [s for s in draft.spots() if isinstance(s.value, list) and len(s.value) > 1])
    if spot is None:
        return None
    items = at(draft.runs, spot.path)
    before = copy.deepcopy(items)
    rng.choice([items.reverse, lambda: rng.shuffle(items)])()
    return None if [*map(loose, items)] == [*map(loose, before)] else f"{spot.path} reordered"
