"""unwrap-arguments: what stands one level off moves to its place, if it then fits better."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import is_refused

from selfcorrect.model import Call, Changed, Finding
from selfcorrect.pointer import apply
from selfcorrect.repairs.unwrap_arguments import UnwrapArguments
from selfcorrect.testing.conformance import try_strategy

TEXT, INT = {"type": "string"}, {"type": "integer"}
BOOK = {"properties": {"city": TEXT, "nights": INT}, "required": ["city"]}
ADDRESS = {"type": "object", "properties": {"city": TEXT, "zip": TEXT}, "required": ["city"]}
NESTED = {"properties": {"name": TEXT, "address": ADDRESS}}
FLAT = {"properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat"]}
EMPTY = {"properties": {}}
INNER = {"city": "Oslo", "nights": 2}


def unwrapped(schema, args, finding=None):
    answer = try_strategy(UnwrapArguments(), schema, args, finding)
    if not isinstance(answer, Changed):
        assert answer.reason
        return None
    if is_refused(UnwrapArguments, answer.changes[0]):
        return None
    (safety,) = {change.safety.value for change in answer.changes}
    return apply(Call("tool", args), answer.changes).args, safety


@pytest.mark.parametrize(
    "args",
    [
        {"arguments": INNER},
        {"params": INNER},
        {"input": INNER},
        {"toolInput": INNER},
        {"tool": INNER},
        {"kwargs": json.dumps(INNER)},
        {"arguments": {"parameters": INNER}},
    ],
)
def test_a_wrapper_around_everything_is_exact(args):
    assert unwrapped(BOOK, args) == (INNER, "exact")


@pytest.mark.parametrize(
    ("schema", "args", "after"),
    [
        (EMPTY, {"arguments": {}}, {}),
        (BOOK, {"arguments": {"city": "Oslo", "nights": "2"}}, {"city": "Oslo", "nights": "2"}),
    ],
)
def test_what_is_left_to_mend_may_be_left(schema, args, after):
    assert unwrapped(schema, args) == (after, "exact")


@pytest.mark.parametrize(
    ("schema", "args", "after"),
    [
        (BOOK, {"arguments": {"city": "Oslo"}, "nights": 2}, INNER),
        (BOOK, {"city": {"value": "Oslo"}}, {"city": "Oslo"}),
        (BOOK, {"city": {"type": "string", "value": "Oslo"}}, {"city": "Oslo"}),
        (BOOK, {"city": {"city": "Oslo"}}, {"city": "Oslo"}),
        (BOOK, {"name": "tool", "arguments": INNER}, INNER),
        (BOOK, {"function": "tool", "type": "function", "parameters": INNER}, INNER),
        (BOOK, {"arguments": INNER, "verbose": True}, {"verbose": True, **INNER}),
        (BOOK, {"properties": INNER, "type": "object", "x": 1}, {"x": 1, **INNER}),
    ],
)
def test_other_levels_are_inferred(schema, args, after):
    assert unwrapped(schema, args) == (after, "inferred")


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (BOOK, {"arguments": {"town": "Oslo"}}),
        (BOOK, {"arguments": INNER, "city": "Bergen"}),
        (BOOK, {"arguments": INNER, "params": INNER}),
        (BOOK, {"name": "other_tool", "arguments": INNER}),
        (BOOK, {"arguments": [INNER]}),
        (BOOK, {"arguments": '{"city": "Os'}),
        (BOOK, {"arguments": {"arguments": {"arguments": {"arguments": {"arguments": INNER}}}}}),
        (BOOK, {"city": {"value": 5}}),
        (BOOK, {"city": {"value": "Oslo", "other": 1}}),
        (BOOK, {"city": {"country": "Norway"}}),
        (NESTED, {"name": "a", "address.city": "Oslo"}),
        (NESTED, {"address_city": "Oslo", "address_zip": "1"}),
        (NESTED, {"address[city]": "Oslo"}),
        (NESTED, {"addressCity": "Oslo"}),
        (NESTED, {"address": {"city": "x"}, "address.zip": "1"}),
        (NESTED, {"address.town": "Oslo"}),
        (NESTED, {"address": {"city": "x"}, "address.city": "y"}),
        (NESTED, {"address.city": "x", "address_city": "y"}),
        (FLAT, {"location": {"lat": 1.5, "height": 2}}),
        (FLAT, {"lat": 1, "location": {"lat": 2}}),
        (FLAT, {"location": {}}),
        (FLAT, {"location": {"lat": 1.5, "lon": 2}}),
        (BOOK, {"whatever": INNER}),
    ],
)
def test_refuses(schema, args):
    assert unwrapped(schema, args) is None


def test_a_declared_wrapper_is_none():
    schema = {"properties": {"arguments": {"type": "object", "properties": {"city": TEXT}}}}
    stale = Finding("?", ("InvalidArgs",), code="type", paths=("/args/arguments",))
    assert unwrapped(schema, {"arguments": {"city": "Oslo"}}, stale) is None


NUM = {"type": "number"}


def unknown(key):
    return Finding("?", ("InvalidArgs",), code="additionalProperties", paths=(f"/args/{key}",))


def obj(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


POINT = obj("lat", "lng", lat=NUM, lng=NUM)
HOME = obj("street", "city", "zip", street=TEXT, city=TEXT, zip=TEXT)
RECIPIENT = obj("name", "address", name=TEXT, address=HOME)
HOME_ARGS = {"street": "Dam 1", "city": "Edam", "zip": "1135"}
FIRST_LAST = obj("first", "last", first=TEXT, last=TEXT)
FILTERS = obj(brand=TEXT, price_max=NUM, in_stock={"type": "boolean"})
SEARCH = obj("q", q=TEXT, filters=FILTERS)
CONTACT = obj(name=TEXT, phone=TEXT, relation=TEXT)
DEEP = obj(b=obj(c=obj(deep=TEXT)))


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        # one object knows them
        (obj("location", location=POINT), {"lat": 1.5, "lng": 2}),
        (obj("location", location=POINT), {"location": {"lng": 2}, "lat": "1.5"}),
        (obj("n", n=FIRST_LAST), {"first": "L", "Last": "B"}),
        (obj("recipient", recipient=RECIPIENT), {"recipient": {"name": "Jan", **HOME_ARGS}}),
        (obj("recipient", recipient=RECIPIENT), {"recipient": {"name": "Jan"}, **HOME_ARGS}),
        (obj("recipient", recipient=RECIPIENT), {"name": "Jan", **HOME_ARGS}),
        (
            obj("customer", customer=obj("name", name=TEXT, email=TEXT)),
            {"name": "Ann", "email": "a@b.c"},
        ),
        # two objects know the key
        (obj("billing", billing=HOME, shipping=HOME), HOME_ARGS),
        (obj("billing", billing=HOME, shipping=HOME), {"billing": HOME_ARGS, **HOME_ARGS}),
        (
            obj(people={"type": "array", "items": obj(lat=NUM)}, location=POINT),
            {"lat": 1, "lng": 2},
        ),
        # its place is taken, or something else stands there
        (SEARCH, {"q": "x", "price_max": 900, "filters": {"price_max": 1200}}),
        (SEARCH, {"q": "x", "price_max": 900, "filters": "cheap"}),
        # another name
        (SEARCH, {"q": "x", "max_price": 900}),
        # an argument beside the objects may be meant
        (obj(location=POINT, latitude=NUM), {"lat": 1, "lng": 2}),
        (obj("address", address=HOME, departure_city=TEXT), HOME_ARGS),
        (obj(address=HOME, city=TEXT), {**HOME_ARGS, "City": "x", "city": "y"}),
        # something would still be missing, or of another shape
        (obj("location", location=POINT), {"lat": 1}),
        (obj("location", location=POINT), {"lat": 1, "lng": "east"}),
        # two keys for one place
        (obj("n", n=FIRST_LAST), {"first": "L", "last": "B", "First": "X"}),
        # nothing asks for the object
        (SEARCH, {"q": "x", "priceMax": 900}),
        (SEARCH, {"q": "x", "brand": "A", "filters": {"in_stock": True}}),
        (obj(options=obj(format=TEXT)), {"format": "pdf"}),
        (obj(a=DEEP), {"deep": "x"}),
        # what could be said of anybody, of one of several, or of what is left out
        (obj("id", id=INT, contact=CONTACT), {"id": 1, "phone": "5"}),
        (obj("id", id=INT, manager=CONTACT), {"id": 1, "name": "Ann", "phone": "5"}),
        (obj("id", id=INT, emergency_contact=CONTACT), {"id": 1, "phone": "5", "relation": "x"}),
        (obj("id", id=INT, old=CONTACT), {"id": 1, "relation": "x"}),
        (obj("q", q=TEXT, exclude=FILTERS), {"q": "x", "brand": "A"}),
        (obj("q", "no", q=TEXT, no=obj("brand", brand=TEXT)), {"q": "x", "brand": "A"}),
        (obj("item", item=obj("name", name=TEXT, size=INT), to=TEXT), {"name": "Ann", "to": "x"}),
        # too deep
        (obj(a=obj(x=DEEP)), {"deep": "x"}),
        # a list of objects
        (obj(people={"type": "array", "items": CONTACT}), {"name": "Ann", "relation": "x"}),
    ],
)
def test_keys_stay_where_they_are(schema, args):
    assert unwrapped(schema, args) is None
    for key in args:
        assert unwrapped(schema, args, unknown(key)) is None


def test_an_object_that_takes_any_key_keeps_its_own():
    schema = SEARCH | {"additionalProperties": True}
    told = Finding("?", ("InvalidArgs",), code="type", paths=("/args/brand",))
    assert unwrapped(schema, {"q": 5, "brand": "A"}, told) is None
    schema = obj("location", location=POINT) | {"additionalProperties": True}
    assert unwrapped(schema, {"lat": 1, "lng": 2}) is None


TEXTS, INTS = {"type": "array", "items": TEXT}, {"type": "array", "items": INT}
USERS = TEXTS | {"description": "ids of users"}


@pytest.mark.parametrize(
    ("name", "schema", "items", "after"),
    [
        (
            "ingredients",
            TEXTS,
            [{"ingredient": "beans"}, {"ingredient": "rice"}],
            ["beans", "rice"],
        ),
        ("cities", TEXTS, [{"city": "Oslo"}], ["Oslo"]),
        ("exclude_tags", TEXTS, [{"tag": "new"}], None),
        ("user_ids", INTS, [{"user_id": 5}, {"user_id": "6"}], None),
        ("tags", TEXTS, [{"name": "a"}, {"name": "b"}], None),
        ("tags", {"anyOf": [TEXT, TEXTS]}, [{"value": "a"}], ["a"]),
        ("tags", TEXTS, [{"tag": "a"}, {"name": "b"}], None),
        ("tags", TEXTS, [{"tag": "a", "weight": 5}], None),
        ("tags", TEXTS, [{"tag": "a"}, "b"], None),
        ("tags", TEXTS, [{"id": "a"}], None),
        ("tags", TEXTS, [{"not": "a"}], None),
        ("tags", TEXTS, [{"-tag": "a"}], None),
        ("tags", TEXTS, [{"tag": {"a": 1}}], None),
        ("tags", TEXTS, [{"tag": None}], None),
        ("user_ids", TEXTS, [{"name": "Ann"}], None),
        ("emails", TEXTS, [{"label": "Ann"}], None),
        ("users", USERS, [{"name": "Ann"}], None),
        ("user_ids", INTS, [{"user_id": 5.5}], None),
    ],
)
def test_items_of_one_key_each(name, schema, items, after):
    found = unwrapped(obj(name, **{name: schema}), {name: items})
    assert found == (({name: after}, "inferred") if after is not None else None)


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(["city", "nights", "x"]), st.sampled_from(["Oslo", 2]), max_size=3
    ),
    st.sampled_from(["arguments", "input", "tool", "city", "foo"]),
)
def test_nothing_is_lost(inner, key):
    args = {key: inner}
    finding = Finding("?", ("InvalidArgs",), code="additionalProperties", paths=(f"/args/{key}",))
    found = unwrapped(BOOK, args, finding)
    if found is not None:
        values = list(found[0].values())
        assert found[0] == inner or values == list(inner.values())
