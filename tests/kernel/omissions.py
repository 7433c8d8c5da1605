"""Proposers that leave out what was written beside a right call: words, conditions, doubts."""

from __future__ import annotations

import json
from random import Random

from random_calls import LISTED, same, value_of
from spite import Draft, chosen, loose, step

SAYS_MORE = (
    *("cancelled", "refund", "dry_run", "draft", "unless", "if_approved", "example", "rejected"),
    *("do_not", "after_review", "proposal", "simulate", "undo", "void", "hypothetical", "previous"),
    *("storno", "nicht", "annulé", "取消", "не", "x", "pending", "instead_of", "maybe", "quoted"),
)


def a_word(rng: Random, draft: Draft) -> str:
    """A key that says something, and names nothing here."""
    letters = "".join(rng.choices("bcdfghklmnprstvw" + "aeiou", k=rng.randint(3, 9)))
    word = rng.choice([*SAYS_MORE, letters])
    known = {*draft.world.tool.schema["properties"], "details", "lines"}
    return f"{word}_case" if word in known else word


@step
def lifted_from_under_a_word(rng: Random, draft: Draft) -> str | None:
    """All of the arguments, or some of them, stood under a key."""
    if not isinstance(draft.written, dict) or not draft.written:
        return None
    word = a_word(rng, draft)
    keys = rng.sample([*draft.written], rng.choice([len(draft.written), 1]))
    inner = {key: draft.written.pop(key) for key in keys}
    draft.written[word] = rng.choice([inner, inner, json.dumps(inner), [inner]])
    return f"lifted from {word!r}"


@step
def a_value_lifted_from_under_a_word(rng: Random, draft: Draft) -> str | None:
    if not isinstance(draft.written, dict):
        return None
    found = [s for s in draft.spots() if s.path[0] in draft.written]
    spot = chosen(rng, [s for s in found if len(s.path) == 1])
    if spot is None or not spot.value or not same(draft.written[spot.path[0]], spot.value):
        return None
    word = a_word(rng, draft)
    draft.written[spot.path[0]] = {word: spot.value}
    return f"{spot.path} lifted from {word!r}"


@step
def a_condition_lost(rng: Random, draft: Draft) -> str | None:
    """A key beside the others, with content, that no parameter takes."""
    if not isinstance(draft.written, dict):
        return None
    word = a_word(rng, draft)
    draft.written[word] = rng.choice([True, False, "bob agrees", 3, ["finance"], {"by": "bob"}])
    return f"{word!r} lost"


@step
def two_values_for_one_key(rng: Random, draft: Draft) -> str | None:
    """The same words twice, with two values."""
    known = draft.world.tool.schema["properties"]
    keys = [key for key in draft.runs if key in draft.written or isinstance(draft.written, str)]
    if not keys or not isinstance(draft.written, dict):
        return None
    key = rng.choice(keys)
    other = rng.choice([key.upper(), key.title(), key.replace("_", "-")])
    value = value_of(rng, known[key]) if known[key]["type"] != "object" else {"z": 1}
    if other in draft.written or loose(value) == loose(draft.runs[key]):
        return None
    draft.written[other] = value
    return f"{other!r} beside {key!r}"


@step
def a_key_that_says_more(rng: Random, draft: Draft) -> str | None:
    """`run` was written, and `dry_run` would run; or another word stands in it."""
    keys = [key for key in draft.runs if "_" in key and key in draft.written]
    if not keys or not draft.acts or not isinstance(draft.written, dict):
        return None
    key = rng.choice(keys)
    first, _, rest = key.partition("_")
    other = rng.choice([rest, first, f"billing_{rest}", f"{first}_copy", f"no_{rest}"])
    if other in draft.world.tool.schema["properties"] or other in draft.written:
        return None
    draft.written[other] = draft.written.pop(key)
    return f"{other!r} as {key!r}"


@step
def a_name_that_says_more(rng: Random, draft: Draft) -> str | None:
    name = draft.name
    forms = [f"!{name}", f"{name}?", f"evil.{name}", f"do_not_{name}", f"cancel_{name}"]
    forms += [f"{name}_dry_run", f"{name}_draft", f"not {name}", f"{name}.undo", f"other/{name}"]
    written = rng.choice(forms)
    if written in [tool.name for tool in draft.world.tools]:
        return None
    draft.written_name = written
    return f"{written!r} as {name!r}"


@step
def an_item_of_a_text_lost(rng: Random, draft: Draft) -> str | None:
    """A list stood in one text, and one of its items does not run."""
    found = [s for s in draft.spots() if isinstance(s.value, list) and len(s.path) == 1]
    spot = chosen(rng, [s for s in found if all(isinstance(item, str) for item in s.value)])
    if spot is None or not isinstance(draft.written, dict) or spot.path[0] not in draft.written:
        return None
    items = [*spot.value, rng.choice(["lumen", "alpha"])]
    draft.written[spot.path[0]] = rng.choice([";", ", ", "\n", "|"]).join(map(str, items))
    return f"{items[-1]!r} lost"


@step
def a_unit_exchanged(rng: Random, draft: Draft) -> str | None:
    """The figure was of another unit or currency."""
    found = [s for s in draft.spots() if len(s.path) == 1 and "description" in s.schema]
    spot = chosen(rng, found)
    if spot is None or not isinstance(draft.written, dict) or spot.path[0] not in draft.written:
        return None
    value, said = spot.value, spot.schema["description"]
    if said == "In US dollars.":
        form = rng.choice(["€{}", "{} EUR", "{} yen", "{} CHF", "{}%", "{} cents"])
    else:
        form = rng.choice(["{} hours", "{} days", "{} ms", "{}%", "{} weeks", "between 1 and {}"])
    draft.written[spot.path[0]] = form.format(value)
    return f"{draft.written[spot.path[0]]!r} as {value} ({said})"


@step
def out_of_an_odd_text(rng: Random, draft: Draft) -> str | None:
    """A value of words around it, of two candidates, of an expression, or cut short."""
    found = [s for s in draft.spots() if len(s.path) == 1 and s.is_leaf and s.value is not None]
    spot = chosen(
        rng, [s for s in found if set(s.schema) != {"type"} or s.schema["type"] != "string"]
    )
    if spot is None or not isinstance(draft.written, dict) or spot.path[0] not in draft.written:
        return None
    shown = json.dumps(spot.value).strip('"')
    forms = ["not {}", "{} or else", "anything but {}", "{}x", "un{}", "{}?", "no {}", "ex-{}"]
    if isinstance(spot.value, int | float) and not isinstance(spot.value, bool):
        forms += ["{}..9", "{} or 8", "3*{}", "{}²", "~{}?", ">{}", "1/{}", "-{}", "{}-", "{}e3"]
    if "enum" in spot.schema:
        forms += ["{} or " + rng.choice(rng.choice(LISTED)), "{}ly", "{}ern"]
    written = rng.choice(forms).format(shown)
    if written in spot.schema.get("enum", ()):
        return None
    draft.written[spot.path[0]] = written
    return f"{written!r} as {spot.value!r}"
