"""Laws of schemas: no written value disappears at any depth, and a second validator agrees."""

from copy import deepcopy

import pytest
from hypothesis import Phase, example, given, settings, strategies as st
from jsonschema.validators import Draft202012Validator, validator_for
from kit import INTEGER, TEXT

from selfcorrect import Mender, ToolSpec
from selfcorrect.repairs import arguments
from selfcorrect.schema import findings, normal, place as places
from selfcorrect.schema.normal import normalize
from selfcorrect.schema.place import Place

FEW = settings(
    max_examples=100, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
)
NAMES = ("dry_run", "limit", "only_unpaid", "recipient", "window", "label", "address", "passengers")
UNKNOWN = ("simulate", "unless_ann_agrees", "!limit", "")


def a_slip(name):
    return name[:2] + name[3] + name[2] + name[4:]


SPELLINGS = (str.upper, str.title, lambda name: name.replace("_", "-"), a_slip)


def half(schema, at):
    """Return one of two parts that speak of the same places, each of half of their keys."""
    if "properties" not in schema:
        return schema
    names = sorted(schema["properties"])
    kept = (
        names
        if any("properties" in each for each in schema["properties"].values())
        else names[at::2]
    )
    properties = {name: half(schema["properties"][name], at) for name in kept}
    return {**schema, "properties": properties}


class Maker:
    """Makes a schema that is closed nowhere, with a value that fits; no leaf occurs twice."""

    def __init__(self, draw):
        self.draw = draw
        self.definitions = {}
        self.leaves = 0

    def tool(self):
        schema, args = self.an_object(0)
        whole = {**schema, "$defs": self.definitions} if self.definitions else schema
        return whole, args

    def a_place(self, depth):
        kinds = ["leaf"] if depth > 2 else ["leaf", *self.KINDS]
        made = getattr(self, f"a_{self.draw(st.sampled_from(kinds))}")(depth + 1)
        return self.behind_reference(made) if self.draw(st.integers(0, 3)) == 0 else made

    def a_leaf(self, _depth):
        self.leaves += 1
        texts = self.draw(st.booleans())
        return (TEXT, f"text {self.leaves}") if texts else (INTEGER, 1_000 + self.leaves)

    def an_object(self, depth, names=NAMES):
        chosen = self.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
        parts = {name: self.a_place(depth) for name in chosen}
        said = [name for name in chosen if self.draw(st.integers(0, 3))] or chosen
        required = [name for name in said if self.draw(st.booleans())]
        properties = {name: schema for name, (schema, _) in parts.items()}
        schema = {"type": "object", "properties": properties, "required": required}
        return self.told_twice(schema), {name: parts[name][1] for name in said}

    a_object = an_object

    def told_twice(self, schema):
        """Let several parts speak of the same keys."""
        way = self.draw(st.sampled_from(["", "", "all", "split", "halves", "if", "any"]))
        described = {name: {"description": "said twice"} for name in schema["properties"]}
        if way == "all":
            return {"type": "object", "allOf": [schema, {"properties": described}]}
        if way == "halves":
            return {"type": "object", "allOf": [half(schema, 0), half(schema, 1)]}
        if way == "split":
            pairs = list(schema["properties"].items())
            halves = [{"properties": dict(pairs[at::2])} for at in (0, 1)]
            return {"type": "object", "allOf": halves, "required": schema["required"]}
        if way == "if":
            return {**schema, "if": {"properties": described}, "then": {"minProperties": 0}}
        return {**schema, "anyOf": [{"properties": described}, {}]} if way == "any" else schema

    def a_list(self, depth):
        schema, value = self.a_place(depth)
        return {"type": "array", "items": schema}, [value]

    def a_tuple(self, depth):
        parts = [self.a_place(depth), self.a_leaf(depth)]
        first, last = (schema for schema, _ in parts)
        return {"type": "array", "prefixItems": [first], "items": last}, [v for _, v in parts]

    def a_map(self, depth):
        schema, value = self.a_place(depth)
        return {"type": "object", "additionalProperties": schema}, {"any key": value}

    def a_nullable(self, depth):
        schema, value = self.a_place(depth)
        return {"anyOf": [schema, {"type": "null"}]}, value

    def a_tagged(self, depth):
        (one, value), (other, _) = self.an_object(depth), self.an_object(depth)
        for name, each in (("left", one), ("right", other)):
            holder = each if "properties" in each else each["allOf"][0]
            holder["properties"]["kind"] = self.draw(
                st.sampled_from([{"const": name}, {"enum": [name]}])
            )
            each["required"] = [*each.get("required", ()), "kind"]
        return {"oneOf": [one, other]}, {"kind": "left", **value}

    def a_union(self, depth):
        one, value = self.an_object(depth, NAMES[:4])
        other, _ = self.an_object(depth, NAMES[4:])
        return {"anyOf": [one, other, {"type": "boolean"}]}, value

    KINDS = ("object", "list", "tuple", "map", "nullable", "tagged", "union")

    def behind_reference(self, made):
        name = f"part{len(self.definitions)}"
        self.definitions[name] = made[0]
        return {"$ref": f"#/$defs/{name}", "description": "elsewhere"}, made[1]


def objects_in(value, above=()):
    """Yield the objects whose keys a schema names, with the keys that lead there."""
    if isinstance(value, dict):
        if "any key" not in value:
            yield above, value
        for key, each in value.items():
            yield from objects_in(each, (*above, key))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from objects_in(each, (*above, str(at)))


@st.composite
def broken_calls(draw):
    """Return a schema, a valid call, the call with one other key, and where it stands."""
    schema, args = Maker(draw).tool()
    broken = deepcopy(args)
    above, place = draw(st.sampled_from(list(objects_in(broken))))
    if draw(st.booleans()):
        key = draw(st.sampled_from(UNKNOWN))
        place[key] = -1
    else:
        name = draw(st.sampled_from(sorted(place)))
        key = draw(st.sampled_from(SPELLINGS))(name)
        place[key] = place.pop(name)
    return schema, args, broken, (*above, key)


@FEW
@given(broken_calls(), st.sampled_from(["mutating", "destructive", "read_only"]))
def nothing_disappears(case, effect):
    """A value under a wrong key arrives under the right one, or the call is refused at the key."""
    schema, meant, broken, place = case
    tool = ToolSpec.from_schema({"name": "act", "parameters": schema}, effect=effect)
    assert tool.is_valid(meant), (schema, meant)
    found = Mender([tool]).call({"name": "act", "args": broken})
    if found.ready:
        assert found.ready[0].args == meant
    else:
        told = found.calls[0].for_model
        # A misspelt tag is told as the one that is missing, and an object that may mean two
        # alternatives as a whole.
        home = ".".join(place[:-1])
        assert f"`{home}`" in told or (f"`{home}." if home else "`") in told, (told, place)


# The plain keywords, and what closes an object said in the schema itself.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.sampled_from(["", "a", "ab", 0.5, -1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
TYPES = st.sampled_from(["integer", "number", "string", "boolean", "null", "array", "object"])
COUNT = st.integers(0, 3)
NEWEST = "https://json-schema.org/draft/2020-12/schema"
OLDER = "https://json-schema.org/draft/2019-09/schema"
SEVEN = "http://json-schema.org/draft-07/schema#"
FOUR = "http://json-schema.org/draft-04/schema#"
HOMES = {NEWEST: "$defs", OLDER: "$defs", SEVEN: "definitions", FOUR: "definitions"}


def keywords(draft, inner):
    """Return what a schema of a draft may say, by keyword."""
    many, some = st.lists(inner, min_size=1, max_size=2), st.sampled_from("abc")
    found = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=repr),
        "minimum": COUNT,
        "maximum": COUNT,
        "multipleOf": st.sampled_from([2, 0.5]),
        "minLength": COUNT,
        "pattern": st.sampled_from(["^a", "b$"]),
        "minItems": COUNT,
        "uniqueItems": st.booleans(),
        "maxProperties": COUNT,
        "required": st.lists(some, min_size=1, max_size=2, unique=True),
        "patternProperties": st.fixed_dictionaries({"^[ab]$": inner}),
        "additionalProperties": st.booleans() | inner,
        "allOf": many,
        "anyOf": many,
        "oneOf": many,
        "not": inner,
        "items": inner,
    }
    if draft == FOUR:
        found |= {"exclusiveMinimum": st.booleans(), "exclusiveMaximum": st.booleans()}
    else:
        found |= {
            "const": VALUES,
            "exclusiveMinimum": COUNT,
            "contains": inner,
            "propertyNames": st.fixed_dictionaries({"enum": st.just(["a", "b"])}),
            "if": inner,
            "then": inner,
            "else": inner,
        }
    if draft in (FOUR, SEVEN):
        found |= {"items": inner | many, "additionalItems": st.booleans() | inner}
        found["dependencies"] = st.fixed_dictionaries({"a": st.just(["b"]) | inner})
    else:
        found["dependentRequired"] = st.just({"a": ["b"]})
        found["dependentSchemas"] = st.fixed_dictionaries({"a": inner})
        found["maxContains"] = COUNT
    if draft == NEWEST:
        found["prefixItems"] = many
    return found


def schemas(draft):
    home = HOMES[draft]
    reference = st.sampled_from([f"#/{home}/p", "#/properties/b", "#"])

    def extend(inner):
        said = keywords(draft, inner)
        # An object that names its keys says whether others are allowed.
        said["properties"] = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)

        def make(words):
            chosen = {word: said[word] for word in words}
            if "properties" in words:
                chosen["additionalProperties"] = said["additionalProperties"]
            if draft == FOUR and "exclusiveMinimum" in words:
                chosen["minimum"] = COUNT
            if draft == FOUR and "exclusiveMaximum" in words:
                chosen["maximum"] = COUNT
            return st.fixed_dictionaries(chosen)

        often = [*sorted(said), *["properties"] * 6]
        words = st.lists(st.sampled_from(often), min_size=1, max_size=4, unique=True)
        return words.flatmap(make) | st.fixed_dictionaries({"$ref": reference})

    return st.recursive(st.fixed_dictionaries({"type": TYPES}), extend, max_leaves=6)


@st.composite
def checks(draw):
    draft = draw(st.sampled_from(sorted(HOMES)))
    inner = schemas(draft)
    properties = {name: draw(inner) for name in "ab"}
    schema = {"$schema": draft, "type": "object", "properties": properties}
    schema |= {"additionalProperties": False, HOMES[draft]: {"p": draw(inner)}}
    return schema, draw(st.lists(st.dictionaries(st.sampled_from("ab"), VALUES), max_size=8))


ENDS = []
"""The schemas that were compared."""


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}


@settings(FEW, max_examples=150, phases=[Phase.explicit, Phase.generate])
@given(checks())
@example(({"$schema": NEWEST, "type": "object", "properties": {"a": OPEN}}, [{"a": {"b": 1}}]))
def two_validators_agree(case):
    """What fits and what does not is what `jsonschema` says of the schema as it came."""
    schema, values = case
    kind = validator_for(schema)
    try:
        place = Place.of(schema)
    except ValueError:
        # A circle that no value ends is refused; `jsonschema` does not come back from it.
        return
    ENDS.append(schema)
    whole, root = normalize(schema)
    newest = {"type": "object", **whole, "$defs": root.definitions}
    for value in values:
        is_valid = place.accepts(value)
        assert is_valid is Draft202012Validator(newest).is_valid(value), (schema, value)
        assert is_valid is kind(schema).is_valid(value), (schema, value)


def instead(value):
    return lambda _original: value


def open_inside(word):
    """Return how places are written where those of one keyword are left open."""
    return lambda original: (
        lambda self, parts, *keys: None if keys[0] == word else original(self, parts, *keys)
    )


def alone(original):
    """Return the parts of a place without those that other schemas name."""
    return lambda self, schemas, _parts: original(self, schemas, {})


def unknown(_original):
    """Return what says of a place inside that no part of its object speaks of it."""
    return lambda _self, parts, *_keys: parts and {}


MUTANTS = [
    (nothing_disappears, normal, "_close", instead(lambda _made, _parts: None)),
    *(
        (nothing_disappears, normal._Normal, "inside", open_inside(word))
        for word in ("properties", "items", "prefixItems", "additionalProperties")
    ),
    (nothing_disappears, normal._Normal, "inside", unknown),
    (nothing_disappears, normal._Normal, "gather", alone),
    (
        nothing_disappears,
        *(arguments._Pass, "emptiness"),
        instead(lambda *_, **_named: arguments.Safety.EXACT),
    ),
    (nothing_disappears, findings, "_dot", instead(lambda place: str(place[-1:]))),
    (
        nothing_disappears,
        *(places.Place, "meant"),
        instead(lambda self, _value: (self.branches or [None])[-1]),
    ),
    (two_validators_agree, normal, "_update", instead(lambda schema: schema)),
    (two_validators_agree, normal, "_SPEAKS", instead(frozenset())),
    (two_validators_agree, normal, "_REFERENCES", instead(())),
    (two_validators_agree, normal._Normal, "target", instead(lambda *_: True)),
]


@pytest.mark.parametrize("law", dict.fromkeys(law for law, *_ in MUTANTS))
def test_a_law_holds(law):
    law()


def test_few_schemas_are_refused():
    ENDS.clear()
    two_validators_agree()
    assert len(ENDS) > 100


@pytest.mark.parametrize(("law", "owner", "name", "make"), MUTANTS)
def test_a_law_falls_with_what_it_needs(law, owner, name, make, monkeypatch):
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    with pytest.raises(AssertionError):
        law()
