"""Laws of the pass: valid calls are corrupted at random; what comes back is the call or nothing."""

import json
import re
from collections import Counter
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from kit import DATE, INTEGER, TEXT

from selfcorrect.model import ABSENT, Call, Safety
from selfcorrect.names import letters, words
from selfcorrect.pointer import apply
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.slot import Slot
from selfcorrect.values import choices, dates, units
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Allow

ALLOW = Allow(EVERY, frozenset({Safety.EXACT, Safety.INFERRED}))
NAMES = ("origin", "departure_date", "passengers", "amount", "recipient", "note", "tags", "address")
WORDS = st.sampled_from(["ann", "LHR", "blue whale", "a-1", "x", "river stone", "Ümit", "12"])
WHOLE = st.integers(-(2**60), 2**60)
REAL = st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 3))
CHOICES = ["economy", "premium economy", "business", "first"]
LEAVES = {
    "integer": (INTEGER, WHOLE),
    "number": ({"type": "number"}, REAL),
    "boolean": ({"type": "boolean"}, st.booleans()),
    "text": (TEXT, WORDS),
    "date": (DATE, st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(date.isoformat)),
    "choice": ({"enum": CHOICES}, st.sampled_from(CHOICES)),
}


@st.composite
def places(draw, depth=0):
    """Return a schema and a strategy for its values."""
    kinds = [*LEAVES, "list"] + (["object", "union"] if depth < 2 else [])
    kind = draw(st.sampled_from(kinds))
    if kind in LEAVES:
        return LEAVES[kind]
    if kind == "list":
        schema, values = LEAVES[draw(st.sampled_from(sorted(LEAVES)))]
        return {"type": "array", "items": schema}, st.lists(values, min_size=1, max_size=4)
    if kind == "union":
        schema, values = draw(places(depth + 1))
        return {"anyOf": [schema, {"type": "null"}]}, values
    return draw(objects(depth + 1))


@st.composite
def objects(draw, depth=0):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    inner = {name: draw(places(depth)) for name in names}
    required = [name for name in names if draw(st.booleans())]
    schema = {
        "type": "object",
        "properties": {name: each for name, (each, _) in inner.items()},
        "required": required,
        "additionalProperties": False,
    }
    return schema, st.fixed_dictionaries({name: values for name, (_, values) in inner.items()})


@st.composite
def calls(draw):
    schema, values = draw(objects())
    return schema, draw(values)


def retype(draw, args):
    """Write one value in another type that holds all of it."""
    key = draw(st.sampled_from(sorted(args)))
    value = args[key]
    ways = [[value], {"value": value}]
    if isinstance(value, str):
        ways += [f" {value} ", value.upper(), value.title()]
        ways += [written(value)] if value[4:5] == "-" else []
    elif isinstance(value, bool):
        ways += [str(value), "yes" if value else "no", int(value)]
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        ways += [", ".join(value), json.dumps(value), str(value)]
        ways += value if len(value) == 1 else []
    else:
        ways += [json.dumps(value), str(value)]
        ways += [f"{value:,}", float(value)] if isinstance(value, int) else []
    return {**args, key: draw(st.sampled_from(ways))}


def written(day):
    try:
        return f"{date.fromisoformat(day):%d/%m/%Y}"
    except ValueError:
        return day


def respell(draw, args):
    """Write one key with other letters."""
    key = draw(st.sampled_from(sorted(args)))
    at = draw(st.integers(1, max(1, len(key) - 2)))
    slip = key[:at] + key[at + 1 : at + 2] + key[at : at + 1] + key[at + 2 :]
    other = draw(st.sampled_from([key.upper(), key.replace("_", "-"), key.title(), slip]))
    return {other if name == key else name: value for name, value in args.items()}


def wrap(draw, args):
    word = draw(st.sampled_from(["arguments", "input", "refund", "value"]))
    inner = json.dumps(args) if draw(st.booleans()) else args
    return {word: inner}


def lose(draw, args):
    key = draw(st.sampled_from(sorted(args)))
    return {name: value for name, value in args.items() if name != key}


def add(draw, args):
    word = draw(st.sampled_from(["dry_run", "unless ann agrees", "amounts", "tag", "cancelled"]))
    return {**args, word: draw(st.sampled_from(["", 0, "yes", {"amount": 5}, True]))}


def say_more(draw, args):
    key = draw(st.sampled_from(sorted(args)))
    other = draw(st.sampled_from([f"not_{key}", f"{key}_cents", f"max_{key}", f"{key} if cheap"]))
    return {other if name == key else name: value for name, value in args.items()}


def shorten(draw, args):
    lists = sorted(key for key, value in args.items() if isinstance(value, list) and value)
    return {**args, (key := draw(st.sampled_from(lists))): args[key][:-1]} if lists else args


def swap(draw, args):
    one, other = draw(st.sampled_from(sorted(args))), draw(st.sampled_from(sorted(args)))
    return {**args, one: args[other], other: args[one]}


FORM = (retype, respell, wrap)
CONTENT = (lose, add, say_more, shorten, swap)
SEEN = Counter()


def is_empty(key, value):
    """Say whether leaving a key out loses nothing."""
    return " " not in key and value in ("", None)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(calls(), st.data())
def test_what_comes_back_is_what_was_meant_or_nothing(call, data):
    schema, args = call
    slot, meant = Slot.of(schema), args
    names = data.draw(st.lists(st.sampled_from(CONTENT), max_size=1))
    for corrupt in names:
        meant = corrupt(data.draw, meant) if meant else meant
    broken = meant
    for corrupt in data.draw(st.lists(st.sampled_from(FORM), min_size=1 - len(names), max_size=2)):
        broken = corrupt(data.draw, broken) if broken else broken
    if slot.accepts(broken):
        assert repair_arguments(broken, slot, ALLOW).args is broken
        return
    found = repair_arguments(broken, slot, ALLOW)
    assert apply(Call("t", broken), found.changes).args == found.args
    if found.problems:
        SEEN["refused"] += 1
        return
    assert slot.accepts(found.args)
    empty = {key: item for key, item in meant.items() if not is_empty(key, item)}
    if found.args in (meant, empty) or same(found.args, meant):
        SEEN["repaired"] += 1
    elif swap in names:
        # Each value fits its new place in another spelling: nobody can see the exchange.
        SEEN["values exchanged"] += 1
    else:
        SEEN[f"wrong: {meant} -> {broken} -> {found.args}"] += 1
        raise AssertionError((schema, meant, broken, found.args))


def same(found, meant):
    """Say whether two calls say the same, but for what a corruption of the text itself changed."""
    return json.dumps(found, sort_keys=True).casefold().replace('" ', '"').replace(
        ' "', '"'
    ) == json.dumps(meant, sort_keys=True).casefold().replace('" ', '"').replace(' "', '"')


def leaves(value):
    """Return every scalar of a value as text."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(calls(), st.data())
def test_every_written_leaf_is_used_once(call, data):
    schema, args = call
    broken = args
    for corrupt in data.draw(st.lists(st.sampled_from(FORM[:2]), min_size=1, max_size=3)):
        broken = corrupt(data.draw, broken)
    found = repair_arguments(broken, Slot.of(schema), ALLOW)
    if not found.problems:
        assert len(leaves(found.args)) == len(leaves(args))
        moved = [each for each in found.changes if each.after is ABSENT]
        assert moved == []


def read(schema, written, name="q"):
    """Read one value of a tool that acts; nothing where it is not read."""
    slot = Slot.of({"properties": {name: schema}, "required": [name]})
    found = repair_arguments({name: written}, slot, ALLOW)
    return ABSENT if found.problems else found.args[name]


FEW = settings(
    max_examples=150, deadline=None, derandomize=True, report_multiple_bugs=False, database=None
)
LISTED = st.sampled_from(
    ["include", "exclude", "business", "premium economy", "user account", "archive", "monthly"]
)


@FEW
@given(LISTED, LISTED, st.integers(0, 20), st.sampled_from("aeinrst"), st.integers(0, 3))
def letters_decide_nothing(meant, other, at, letter, way):
    """No listed value that a tool which acts gets differs from the written one in letters."""
    at %= len(meant)
    rest = ["", letter + meant[at:], letter + meant[at + 1 :], meant[at] + meant[at:]][way]
    written = meant[:at] + (rest or meant[at + 1 :])
    value = read({"enum": sorted({meant, other})}, written)
    is_same = value is not ABSENT and letters(value) == letters(written)
    shorter = value is not ABSENT and {*words(value)} <= {*words(written)}
    longer = value is not ABSENT and {*words(written)} <= {*words(value)}
    assert value is ABSENT or is_same or shorter or longer, (written, value)


HOUR = st.tuples(st.integers(0, 23), st.integers(0, 59))


@FEW
@given(HOUR, HOUR, st.sampled_from(["{:02}:{:02}", "{}:{:02}"]), st.sampled_from(["-", " -"]))
def no_span_is_an_offset(start, end, form, mark):
    """What stands behind a hyphen is no offset where the time before it has no seconds."""
    for behind in ("{:02}:{:02}", "{:02}{:02}"):
        span = form.format(*start) + mark + behind.format(*end)
        assert read({**TEXT, "format": "time"}, span) is ABSENT, span
        for day in ("2026-10-26 ", "2026-10-26T", "Oct 26, 2026 at "):
            assert read({**TEXT, "format": "date-time"}, day + span) is ABSENT, span


UNIT = st.sampled_from(["USD", "km", "seconds", "percent", "kilograms", "euros", "GB"])
BESIDE = st.sampled_from(["thousand", "total", "or miles", "per hour", "2", "equivalent", "k", "-"])


@FEW
@given(UNIT, BESIDE, st.sampled_from(["{}", "Size in {}", "Size ({})", "Size, {}"]), st.booleans())
def a_whole_phrase_is_the_unit(unit, beside, form, is_first):
    """A unit is read where a phrase is that unit, and not where the phrase says more."""
    phrase = f"{beside} {unit}" if is_first else f"{unit} {beside}"
    plain, more = ({**INTEGER, "description": form.format(each)} for each in (unit, phrase))
    assert read(plain, f"5 {unit}") == 5
    assert read(more, f"5 {unit}") is ABSENT, more


LAWS = [
    (
        letters_decide_nothing,
        *(choices, "_by_words"),
        lambda original: lambda text, slot: original(text, slot) or choices._by_slip(text, slot),
    ),
    (
        letters_decide_nothing,
        *(choices, "_says_more"),
        lambda _original: lambda more, less, _idle: choices._is_slip(*map(" ".join, (more, less))),
    ),
    (
        no_span_is_an_offset,
        *(dates, "_ZONE"),
        lambda _original: re.compile(r" ?([+-]\d\d:?\d\d)\Z"),
    ),
    (
        a_whole_phrase_is_the_unit,
        *(units, "_phrases"),
        lambda _original: (
            lambda text: ({row for row in map(units._known, re.split(r"\W+", text)) if row}, [])
        ),
    ),
    (a_whole_phrase_is_the_unit, units, "_IDLE", lambda _original: re.compile(r"\S+\s")),
]


@pytest.mark.parametrize("law", dict.fromkeys(law for law, *_ in LAWS))
def test_a_law_holds(law):
    law()


@pytest.mark.parametrize(("law", "owner", "name", "make"), LAWS)
def test_a_law_falls_with_its_primitive(law, owner, name, make, monkeypatch):
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    with pytest.raises(AssertionError):
        law()
