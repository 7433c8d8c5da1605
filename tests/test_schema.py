"""What fits a schema and what does not, what is said about it, and what no input can do."""

# ruff: noqa: E501 -- a row of a table is a line, and digits of other scripts are the point

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import jsonschema  # noqa: F401 -- where time is measured below, that of its import is not
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.schema import Checker
from selfcorrect.schema.formats import FORMATS
from selfcorrect.schema.patterns import compiled


def checker(schema, **options):
    return Checker(schema, "book", **options)


def of(**properties):
    return checker({"type": "object", "properties": properties})


def texts(check, args):
    return [finding.text for finding in check.violations(args)]


class TestFormats:
    @pytest.mark.parametrize(
        ("name", "good", "bad"),
        [
            (
                "date",
                ["2024-02-29", "0001-01-01"],
                ["2024-99-99", "2023-02-29", "20240229", "2024-W10-1", "2024-1-1", "２024-01-01"],
            ),
            (
                "time",
                ["10:00:00Z", "10:00:00.5z", "23:59:60Z", "00:59:60+01:00", "10:00:00-23:59"],
                ["10:00:00", "24:00:00Z", "10:00:60Z", "10:00Z", "10:00:00+0100", "１0:00:00Z"],
            ),
            (
                "date-time",
                ["2024-01-01T00:00:00Z", "2024-01-01t00:00:00.123+05:30"],
                ["2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", ""],
            ),
            (
                "local:date-time",
                ["2024-01-01T00:00:00", "2024-01-01 10:00", "2024-01-01T00:00:00+0100"],
                ["2024-01-01", "2024-01-01T25:00", "2024-99-01T10:00"],
            ),
            ("local:time", ["10:00", "10:00:00.5"], ["25:00", "10"]),
            (
                "email",
                ["a@b", "a.b+c@x.co", '"a b"@x.y', "a@[127.0.0.1]", "a@[IPv6:::1]"],
                ["a", "@b", ".a@b", "a..b@c", "a@-b", "a@b..c", "a b@c", "a@b.", "a" * 65 + "@b"],
            ),
            (
                "uuid",
                ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
                ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638"],
            ),
            (
                "uri",
                ["http://a", "mailto:x@y", "urn:a:b", "http://[::1]:80/x?q#f", "a:"],
                ["", "a", "//a", "http://h:abc", "http://[x]/", "http://a b", "a:%zz", "http://ü"],
            ),
            ("ipv4", ["0.0.0.0", "255.255.255.255"], ["256.1.1.1", "01.1.1.1", "1.1.1"]),
            ("ipv6", ["::", "1::", "::ffff:1.2.3.4"], ["1", "::1%eth0", "1:2:3:4:5:6:7:8:9"]),
        ],
    )
    def test_each_is_exact(self, name, good, bad):
        check = FORMATS[name]
        assert [text for text in good if not check(text)] == []
        assert [text for text in [*bad, *(f"{text}\n" for text in good)] if check(text)] == []

    @pytest.mark.parametrize("name", FORMATS)
    @given(st.text())
    def test_none_ever_raises(self, name, text):
        assert FORMATS[name](text) in (True, False)

    @pytest.mark.parametrize("name", FORMATS)
    @pytest.mark.parametrize("part", ["a", "1", "a.", "a:", "%41", "\\a", "1:"])
    def test_each_takes_linear_time(self, name, part):
        started = time.perf_counter()
        for start in ("", '"', "http://", "a@", "2024-01-01T10:00:00."):
            FORMATS[name](start + part * 50_000)
        assert time.perf_counter() - started < 5

    def test_others_are_annotations(self):
        assert of(a={"format": "hostname"}).is_valid({"a": "not a host"})

    def test_a_time_may_lack_its_offset_where_pydantic_made_the_schema(self):
        schema = {"properties": {"a": {"format": "date-time"}}}
        assert not checker(schema).is_valid({"a": "2024-01-01T10:00:00"})
        check = checker(schema, local_times=True)
        assert check.is_valid({"a": "2024-01-01T10:00:00"})
        (finding,) = check.violations({"a": "soon"})
        assert finding.text == "argument 'a': not a valid date-time"
        assert finding.constraint == {"format": "date-time"}


INTEGER = {"type": "integer"}
ONE_KEY = {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]}
CAT = {"type": "object", "properties": {"kind": {"const": "cat"}, "meow": INTEGER}}
DOG = {"type": "object", "properties": {"kind": {"const": "dog"}, "bark": {"type": "string"}}}
PETS = {"oneOf": [{**CAT, "required": ["kind"]}, {**DOG, "required": ["kind"]}]}


class TestFindings:
    @pytest.mark.parametrize(
        ("schema", "value", "text", "code", "constraint"),
        [
            (INTEGER, "5", "expected integer, got string", "type", INTEGER),
            (INTEGER, True, "expected integer, got boolean", "type", INTEGER),
            (INTEGER, 2.5, "expected integer, got number", "type", INTEGER),
            ({"type": "string"}, None, "expected string, got null", "type", {"type": "string"}),
            (
                {"type": ["array", "null"]},
                {},
                "expected array or null, got object",
                "type",
                {"type": ["array", "null"]},
            ),
            (
                {"type": "string", "enum": ["a"], "format": "date"},
                7,
                "expected string, got integer",
                "type",
                {"type": "string", "enum": ["a"], "format": "date"},
            ),
            (
                {"type": "string", "enum": ["a", "b"]},
                "c",
                "not one of the allowed values",
                "enum",
                {"type": "string", "enum": ["a", "b"]},
            ),
            ({"enum": [1]}, True, "not one of the allowed values", "enum", {"enum": [1]}),
            ({"const": 1}, 2, "not the required value", "const", {"const": 1}),
            (
                {"type": "string", "format": "date"},
                "2024-99-99",
                "not a valid date",
                "format",
                {"type": "string", "format": "date"},
            ),
            (
                {"pattern": "^a$"},
                "a\n",
                "does not match the required pattern",
                "pattern",
                {"pattern": "^a$"},
            ),
            (
                {"pattern": "^(?!a)"},
                "a",
                "does not match the required pattern",
                "pattern",
                {"pattern": "^(?!a)"},
            ),
            ({"minimum": 1}, 0, "less than the minimum 1", "minimum", {"minimum": 1}),
            ({"maximum": 9.5}, 10, "greater than the maximum 9.5", "maximum", {"maximum": 9.5}),
            ({"exclusiveMinimum": 0}, 0, "not greater than 0", "exclusiveMinimum", None),
            ({"exclusiveMaximum": 9}, 9, "not less than 9", "exclusiveMaximum", None),
            ({"multipleOf": 5}, 7, "not a multiple of 5", "multipleOf", {"multipleOf": 5}),
            ({"multipleOf": 0.1}, 0.35, "not a multiple of 0.1", "multipleOf", None),
            ({"minLength": 3}, "ab", "shorter than 3", "minLength", {"minLength": 3}),
            ({"maxLength": 1}, "ab", "longer than 1", "maxLength", {"maxLength": 1}),
            ({"minItems": 1}, [], "fewer than 1 items", "minItems", {"minItems": 1}),
            ({"maxItems": 0}, [1], "more than 0 items", "maxItems", {"maxItems": 0}),
            ({"uniqueItems": True}, [1, 1.0], "items are not unique", "uniqueItems", None),
            ({"minProperties": 1}, {}, "fewer than 1 properties", "minProperties", None),
            ({"maxProperties": 0}, {"a": 1}, "more than 0 properties", "maxProperties", None),
            (
                {"prefixItems": [{}], "items": False},
                [1, 2],
                "more items than allowed",
                "items",
                {"maxItems": 1},
            ),
            (
                {"contains": INTEGER},
                ["a"],
                "none of the items is what is required",
                "contains",
                None,
            ),
            ({"not": INTEGER}, 5, "not allowed here", "not", {"not": INTEGER}),
            (False, 5, "not allowed here", "not", {"not": {}}),
            (
                {"oneOf": [INTEGER, {"minimum": 2}]},
                5,
                "fits more than one of the alternatives (oneOf)",
                "oneOf",
                None,
            ),
        ],
    )
    def test_one_violation(self, schema, value, text, code, constraint):
        (finding,) = of(a=schema).violations({"a": value})
        assert finding.text == f"argument 'a': {text}"
        assert finding.types == ("InvalidArgs",)
        assert finding.code == code
        assert finding.paths == ("/args/a",)
        assert finding.constraint == ({code: schema[code]} if constraint is None else constraint)

    def test_all_at_once_with_one_finding_per_key(self):
        check = checker(
            {
                "type": "object",
                "properties": {"a": INTEGER, "n": ONE_KEY, "list": {"items": ONE_KEY}},
                "required": ["a", "b"],
            }
        )
        args = {"n": {"y": 1, "z~/": 2}, "list": [{"x": 1}, {"x": "1"}], "extra": None}
        found = {(finding.text, finding.code, finding.path) for finding in check.violations(args)}
        assert found == {
            ("missing required argument 'a'", "required", "/args/a"),
            ("missing required argument 'b'", "required", "/args/b"),
            ("missing required argument 'n.x'", "required", "/args/n/x"),
            ("unknown argument 'n.y'", "additionalProperties", "/args/n/y"),
            ("unknown argument 'n.z~/'", "additionalProperties", "/args/n/z~0~1"),
            ("argument 'list[1].x': expected integer, got string", "type", "/args/list/1/x"),
            ("unknown argument 'extra'", "additionalProperties", "/args/extra"),
        }
        assert len(check.violations(args)) == len(found)

    def test_what_fits_has_none(self):
        assert of(a=INTEGER).violations({"a": 1.0}) == ()

    @pytest.mark.parametrize(
        ("schema", "value", "expected"),
        [
            pytest.param(
                {"anyOf": [INTEGER, {"type": "null"}]},
                "5",
                [("a: expected integer or null, got string", {"type": ["integer", "null"]})],
                id="the types of all of them",
            ),
            pytest.param(
                {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]},
                5,
                [
                    (
                        "a: expected string or null, got integer",
                        {"type": ["string", "null"], "enum": ["x"]},
                    )
                ],
                id="what else the only real type asks for",
            ),
            pytest.param(
                {"anyOf": [{"type": "string", "format": "date"}, INTEGER]},
                "soon",
                [("a: not a valid date", {"type": "string", "format": "date"})],
                id="the one whose type fits",
            ),
            pytest.param(
                {"anyOf": [ONE_KEY, {"type": "null"}]},
                {"x": "1", "y": 2},
                [
                    ("a.x: expected integer, got string", INTEGER),
                    ("unknown a.y", {"additionalProperties": False}),
                ],
                id="inside the one whose type fits",
            ),
            pytest.param(
                PETS,
                {"kind": "dog", "bark": 1},
                [("a.bark: expected string, got integer", {"type": "string"})],
                id="the one that its kind names",
            ),
            pytest.param(
                {
                    "anyOf": [
                        {"properties": {"at": {"type": "string"}}, "required": ["at"]},
                        ONE_KEY,
                    ]
                },
                {"x": "1"},
                [("a.x: expected integer, got string", INTEGER)],
                id="the one of which nothing is missing",
            ),
            pytest.param(
                PETS,
                {"kind": "cow", "moo": 1},
                [
                    ("a.kind: not one of the allowed values", {"enum": ["cat", "dog"]}),
                    ("unknown a.moo", {"additionalProperties": False}),
                ],
                id="all kinds there are",
            ),
            pytest.param(
                PETS, {}, [("missing a.kind", {"required": ["kind"]})], id="what all of them miss"
            ),
            pytest.param(
                {"anyOf": [{"const": "x"}, {"const": "y"}]},
                "z",
                [("a: not one of the allowed values", {"enum": ["x", "y"]})],
                id="constants are an enum",
            ),
        ],
    )
    def test_alternatives_report_the_one_that_the_value_resembles(self, schema, value, expected):
        found = [
            (
                finding.text.replace("required argument ", "argument ")
                .replace("argument 'a'", "a")
                .replace("argument 'a.", "a.")
                .replace("'", ""),
                finding.constraint,
            )
            for finding in of(a=schema).violations({"a": value})
        ]
        assert found == expected

    def test_either_of_two_keys(self):
        either = [{"required": ["id"]}, {"required": ["name"]}]
        check = checker({"properties": {"id": {}, "name": {}}, "anyOf": either})
        (finding,) = check.violations({})
        assert finding.text == "missing one of these required arguments: 'id', 'name'"
        assert finding.code == "anyOf"
        assert finding.paths == ("/args/id", "/args/name")
        assert check.is_valid({"name": 1})

    def test_of_the_whole(self):
        assert texts(checker({"minProperties": 1, "properties": {"a": {}}}), {}) == [
            "the arguments: fewer than 1 properties"
        ]

    def test_they_are_bounded_and_so_are_their_texts(self):
        check = of(a={"type": "array", "items": INTEGER})
        assert len(check.violations({"a": ["x"] * 10_000})) == 1_000
        (finding,) = check.violations({"k" * 100_000: 1})
        assert len(finding.text) < 300

    @given(st.text(min_size=6, alphabet="ÄÖÜ§"))
    def test_they_never_repeat_a_value(self, value):
        check = of(a=INTEGER, b={"enum": ["x"]}, c={"format": "date"}, d={"maxLength": 1}, e=PETS)
        args = {"a": value, "b": value, "c": value, "d": value, "e": {"kind": value}}
        found = check.violations(args)
        assert len(found) == 5
        assert not [finding for finding in found if value in repr(finding)]


OPEN = {"type": "object", "properties": {"x": {}}, "additionalProperties": True}


class TestClosing:
    """An unknown argument is a violation unless the schema says otherwise in words."""

    @pytest.mark.parametrize(
        ("schema", "args", "unknown"),
        [
            ({}, {"z": 1}, ["z"]),
            ({"type": "object"}, {"z": 1}, ["z"]),
            ({"properties": {"a": {}}}, {"a": 1, "z": 1}, ["z"]),
            ({"properties": {"a": {}}, "additionalProperties": True}, {"z": 1}, []),
            ({"properties": {"a": {}}, "unevaluatedProperties": True}, {"z": 1}, []),
            ({"properties": {"a": {}}, "patternProperties": {"^x": {}}}, {"x1": 1, "z": 1}, []),
            ({"properties": {"a": ONE_KEY}}, {"a": {"x": 1, "z": 1}}, ["a.z"]),
            ({"properties": {"a": {"items": ONE_KEY}}}, {"a": [{"x": 1, "z": 1}]}, ["a[0].z"]),
            ({"properties": {"a": {"type": "object"}}}, {"a": {"z": 1}}, []),
            ({"properties": {"a": OPEN}}, {"a": {"z": 1}}, []),
            ({"additionalProperties": ONE_KEY}, {"k": {"x": 1, "z": 1}}, ["k.z"]),
            # One object, described in several places.
            ({"properties": {"a": {}}, "required": ["a"], "anyOf": [{"required": ["a"]}]}, {"a": 1, "z": 1}, ["z"]),
            ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"a": 1, "b": 1, "z": 1}, ["z"]),
            ({"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}, {"a": 1, "b": 1}, []),
            ({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"a": 1, "b": 1, "z": 1}, ["z"]),
            ({"properties": {"a": {}}, "allOf": [{"additionalProperties": True}]}, {"z": 1}, []),
            ({"properties": {"a": PETS}}, {"a": {"kind": "cat", "meow": 1}}, []),
            ({"properties": {"a": PETS}}, {"a": {"kind": "cat", "bark": "x"}}, ["a.bark"]),
            (
                {"properties": {"k": {}}, "if": {"properties": {"k": {"const": 1}}}, "then": {"properties": {"b": {}}}},
                {"k": 1, "b": 1, "z": 1},
                ["z"],
            ),
            (
                {"properties": {"k": {}}, "if": {"properties": {"k": {"const": 1}}}, "then": {"properties": {"b": {}}}},
                {"k": 2, "b": 1},
                ["b"],
            ),
            ({"properties": {"k": {}}, "dependentSchemas": {"k": {"properties": {"b": {}}}}}, {"k": 1, "b": 1}, []),
            # Through references, also where one description serves two objects.
            (
                {"$defs": {"M": ONE_KEY}, "properties": {"m": {"$ref": "#/$defs/M"}}},
                {"m": {"x": 1, "z": 1}},
                ["m.z"],
            ),
            (
                {
                    "$defs": {"M": {"properties": {"x": {}}}},
                    "properties": {
                        "m": {"$ref": "#/$defs/M"},
                        "w": {"allOf": [{"$ref": "#/$defs/M"}, {"properties": {"y": {}}}]},
                    },
                },
                {"m": {"x": 1, "y": 1}, "w": {"x": 1, "y": 1, "z": 1}},
                ["m.y", "w.z"],
            ),
            (
                {"properties": {"v": {}, "kids": {"items": {"$ref": "#"}}}},
                {"kids": [{"v": 1, "kids": [{"z": 1}]}]},
                ["kids[0].kids[0].z"],
            ),
            # A condition must not become stricter: the whole would become more lenient.
            ({"properties": {"a": {"not": {"properties": {"x": INTEGER}, "required": ["x"]}}}}, {"a": {"z": 1}}, []),
        ],
    )  # fmt: skip
    def test_unknown_keys(self, schema, args, unknown):
        found = checker(schema).violations(args)
        assert {finding.text for finding in found} == {
            f"unknown argument '{key}'" for key in unknown
        }
        assert {finding.code for finding in found} <= {"additionalProperties"}

    def test_keys_of_a_failed_alternative_are_not_unknown(self):
        assert texts(of(a=PETS), {"a": {"kind": "dog", "bark": 1, "z": 2}}) == [
            "argument 'a.bark': expected string, got integer",
            "unknown argument 'a.z'",
        ]
        either = {"anyOf": [ONE_KEY, {"properties": {"x": INTEGER, "y": INTEGER}}]}
        assert texts(of(a=either), {"a": {"x": 1, "y": "?"}}) == [
            "argument 'a.y': expected integer, got string"
        ]

    @pytest.mark.parametrize("others", [{}, INTEGER, {"$ref": "#/$defs/I"}, True, False])
    @pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "b", "c"]])
    @pytest.mark.parametrize("properties", [{}, {"a": {}, "b": {}, "c": {}}, {"c": {}}])
    def test_what_is_required_is_required_whatever_else_may_be_there(
        self, properties, names, others
    ):
        schema = {"properties": properties, "required": names, "additionalProperties": others}
        check = checker({**schema, "$defs": {"I": INTEGER}})
        missing = [f"missing required argument '{name}'" for name in names]
        assert not check.is_valid({})
        assert texts(check, {}) == missing
        assert not check.is_valid({"a": 1} if len(names) > 1 else {"z": 1})
        assert missing[0] not in texts(check, {"a": 1, "z": "?"})

    def test_under_not_nothing_is_closed(self):
        check = of(a={"not": {"properties": {"x": INTEGER}, "required": ["x"]}})
        assert not check.is_valid({"a": {"x": 1, "z": 1}})

    def test_the_schema_stays_as_it_is(self):
        schema = {"properties": {"a": ONE_KEY, "b": {"format": "hostname"}}, "$id": "x"}
        before = json.dumps(schema)
        checker(schema).is_valid({"a": {"x": 1}})
        assert json.dumps(schema) == before


class TestReferencesAndDrafts:
    @pytest.mark.parametrize(
        "schema",
        [
            {"$defs": {"I": INTEGER}, "properties": {"a": {"$ref": "#/$defs/I"}}},
            {"definitions": {"I": INTEGER}, "properties": {"a": {"$ref": "#/definitions/I"}}},
            {"$id": "http://x/y", "$defs": {"I": INTEGER}, "properties": {"a": {"$ref": "http://x/y#/$defs/I"}}},
            {"$defs": {"I": {"$anchor": "int", **INTEGER}}, "properties": {"a": {"$ref": "#int"}}},
            {"$defs": {"I": {"$id": "int", **INTEGER}}, "properties": {"a": {"$ref": "int"}}},
            {"$defs": {"I": {"$id": "#int", **INTEGER}}, "properties": {"a": {"$ref": "#int"}}},
            {"$defs": {"I": {"$dynamicAnchor": "T", **INTEGER}}, "properties": {"a": {"$dynamicRef": "#T"}}},
            {"$defs": {"a b/c~%": INTEGER}, "properties": {"a": {"$ref": "#/$defs/a%20b~1c~0%25"}}},
            {"components": {"schemas": {"I": INTEGER}}, "properties": {"a": {"$ref": "#/components/schemas/I"}}},
            {
                "$defs": {"R": {"$id": "r", "$defs": {"I": INTEGER}, "properties": {"i": {"$ref": "#/$defs/I"}}}},
                "properties": {"a": {"$ref": "r#/$defs/I"}},
            },
        ],
    )  # fmt: skip
    def test_local_references(self, schema):
        check = checker(schema)
        assert check.is_valid({"a": 1})
        assert texts(check, {"a": "1"}) == ["argument 'a': expected integer, got string"]

    @pytest.mark.parametrize(
        ("old", "good", "bad"),
        [
            ({"items": [INTEGER], "additionalItems": False}, [1], [1, 2]),
            ({"items": [INTEGER]}, [1, "x"], ["x"]),
            ({"minimum": 1, "exclusiveMinimum": True}, 2, 1),
            ({"maximum": 1, "exclusiveMaximum": False}, 1, 2),
            ({"dependencies": {"a": ["b"]}}, {"b": 1}, {"a": 1}),
            ({"dependencies": {"a": {"required": ["b"]}}}, {"a": 1, "b": 1}, {"a": 1}),
        ],
    )
    def test_older_drafts(self, old, good, bad):
        check = checker(
            {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": old}}
        )
        assert check.is_valid({"a": good})
        assert check.violations({"a": bad})

    @pytest.mark.parametrize(
        ("schema", "why"),
        [
            ("text", "it is a str, not an object"),
            (True, "it is a bool, not an object"),
            ({"type": "string"}, '"type": "object"'),
            ({"type": ["array", "null"]}, '"type": "object"'),
            ({"city": {"type": "string"}}, 'under "properties"'),
            ({"properties": {"a": {"$ref": "https://example.com/a.json"}}}, "nothing is fetched"),
            ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "nothing is fetched"),
            ({"properties": {"a": {"$ref": "other.json#/a"}}}, "nothing is fetched"),
            ({"$defs": {"unused": {"$ref": "http://x"}}}, "nothing is fetched"),
            ({"properties": {"a": {"$ref": "#/$defs/gone"}}}, "refers to nothing"),
            ({"properties": {"a": {"$ref": "#/properties/a"}}}, "without end"),
            ({"allOf": [{"$ref": "#"}]}, "without end"),
            ({"properties": {"a": {"type": "nope"}}}, "not JSON Schema 2020-12"),
            ({"properties": {"a": {"minLength": -1}}}, "(at /properties/a/minLength)"),
            ({"properties": 5}, "not JSON Schema 2020-12"),
            ({"required": "a"}, "not JSON Schema 2020-12"),
            ({"properties": {"a": {"pattern": "("}}}, "'(' is not a regular expression"),
            ({"patternProperties": {"^(?!a)": {}}}, "is not regular"),
            ({"properties": {"a": {"enum": [math.nan]}}}, "not JSON"),
            ({"properties": {"a": {"default": {1}}}}, "not JSON"),
            ({"properties": {1: {}}}, "not JSON"),
        ],
    )  # fmt: skip
    def test_what_is_refused_names_the_tool_and_the_reason(self, schema, why):
        with pytest.raises(ToolDefinitionError) as caught:
            checker(schema).compile()
        assert "tool 'book'" in str(caught.value)
        assert why in str(caught.value)

    def test_schemas_have_bounds(self):
        deep: dict = {"type": "object"}
        for _ in range(1_000):
            deep = {"properties": {"a": deep}}
        endless: dict = {}
        endless["properties"] = {"a": endless}
        wide = {"properties": {f"p{n}": {} for n in range(60_000)}}
        bomb: dict = {}
        for _ in range(40):
            bomb = {"anyOf": [bomb, bomb]}
        for schema in (deep, endless, wide, bomb):
            with pytest.raises(ToolDefinitionError, match="too large or too deep"):
                checker(schema)
        levels = {f"L{n}": {"allOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 2} for n in range(30)}
        with pytest.raises(ToolDefinitionError, match="too many alternatives"):
            checker({"$defs": {**levels, "L30": {}}, "$ref": "#/$defs/L0"})

    def test_patterns_and_properties_may_be_called_like_keywords(self):
        names = ["$ref", "properties", "type", "$id", "required", "items", "format", "default"]
        check = of(**dict.fromkeys(names, INTEGER))
        assert check.is_valid(dict.fromkeys(names, 1))
        assert len(check.violations(dict.fromkeys(names, "1"))) == len(names)


TREE = {
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "left": {"anyOf": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Leaf"}]},
                "op": {"enum": ["+", "-"]},
            },
            "required": ["left"],
        },
        "Leaf": {"anyOf": [INTEGER, {"$ref": "#/$defs/Node"}]},
    },
    "properties": {"tree": {"$ref": "#/$defs/Node"}, "free": {}, "text": {"type": "string"}},
}


def nested(depth, leaf):
    for _ in range(depth):
        leaf = {"left": leaf}
    return leaf


def as_lists(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


class TestHostileArguments:
    CHECK = checker(TREE)

    @pytest.mark.parametrize(
        ("args", "text"),
        [
            ({"free": math.nan}, "argument 'free': nan is not a JSON number"),
            ({"free": [1, math.inf]}, "argument 'free[1]': inf is not a JSON number"),
            ({"free": "\ud800"}, "argument 'free': text with a lone surrogate"),
            ({"free": {"\ud800": 1}}, "argument 'free': a key with a lone surrogate"),
            ({"free": {1: 1}}, "argument 'free': an object key of type int"),
            ({"free": (1,)}, "argument 'free': a value of type tuple, which is not JSON"),
            ({"free": {1, 2}}, "argument 'free': a value of type set, which is not JSON"),
            ({"free": object()}, "argument 'free': a value of type object, which is not JSON"),
            ({1: 2}, "the arguments: an object key of type int"),
            ({"free": as_lists(1_000)}, "argument 'free[0][0][0]': nested deeper than"),
            ({"free": as_lists(200_000)}, "argument 'free[0][0][0]': nested deeper than"),
            ({"tree": nested(1_000, 1)}, "argument 'tree.left.left.left': nested deeper than"),
        ],
        ids=lambda value: None if isinstance(value, str) else "args",
    )
    def test_what_is_not_json(self, args, text):
        assert not self.CHECK.is_valid(args)
        (finding,) = self.CHECK.violations(args)
        assert finding.text.startswith(text)
        assert finding.types == ("InvalidArgs",)
        assert finding.code == "json"

    def test_a_list_that_holds_itself(self):
        endless: list = []
        endless.append(endless)
        (finding,) = self.CHECK.violations({"free": endless})
        assert "nested deeper than" in finding.text

    @pytest.mark.parametrize("depth", [10, 40, 90])
    def test_nested_alternatives_do_not_explode(self, depth):
        started = time.perf_counter()
        assert self.CHECK.is_valid({"tree": nested(depth, 1)})
        (finding,) = self.CHECK.violations({"tree": nested(depth, "x")})
        assert time.perf_counter() - started < 2
        assert finding.path == "/args/tree" + "/left" * depth

    def test_the_stack_may_be_nearly_used_up(self):
        def deeper(levels):
            return deeper(levels - 1) if levels else self.CHECK.violations(args)

        args = {"tree": nested(90, "x")}
        room = sys.getrecursionlimit() - 300
        (finding,) = deeper(room - len(inspect.stack()))
        assert finding.types == ("InvalidArgs",)

    def test_a_megabyte(self):
        started = time.perf_counter()
        assert self.CHECK.is_valid({"text": "x" * 1_000_000})
        assert self.CHECK.violations({"text": ["x" * 10] * 100_000})
        assert self.CHECK.violations({f"k{n}": n for n in range(50_000)})
        check = of(
            a={"items": {"anyOf": [INTEGER, {"enum": [f"e{n}" for n in range(5_000)]}]}},
            b={"uniqueItems": True},
        )
        assert check.violations({"a": [f"z{n}" for n in range(50_000)]})
        assert check.violations({"b": [*({"k": n} for n in range(30_000)), {"k": 1}]})
        assert time.perf_counter() - started < 5

    @pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
    def test_patterns_take_linear_time(self, pattern):
        check = of(a={"pattern": pattern})
        for size in (30, 9_000, 1_000_000):
            assert not check.is_valid({"a": "a" * size + "!"})
            assert check.violations({"a": "a" * size + "!"})
        assert _growth(lambda size: check.is_valid({"a": "a" * size + "!"})) < 3

    @pytest.mark.parametrize(
        ("pattern", "text"),
        [
            ("(?=.*[0-9])b", "a"),
            (r"^(a|a)*\1$", "a"),
            ("^(?:a(?=.?)|a)+c$", "a"),
            ("(?:(?=(?:.*x)|)a)+$", "a"),
            (r"^(a+)+\1!$", "a"),
            ("^(?!.*(.).*\\1)[a-z]+$", "ab"),
        ],
    )
    def test_backtracking_is_bounded(self, pattern, text):
        check = of(a={"pattern": pattern})
        check.is_valid({"a": ""})
        # What a text costs stops to grow where the bound is reached.
        assert _growth(lambda size: check.is_valid({"a": text * size + "?"})) < 3

    @pytest.mark.parametrize(
        "text", ["a" * 40 + "b", "a" * 9_000 + "b", "a" * 1_000_000 + "b"], ids=len
    )
    def test_what_cannot_be_told_in_bounded_time_is_left_to_the_host_and_said_once(
        self, text, caplog
    ):
        caplog.set_level("INFO", logger="selfcorrect")
        pattern = f"^(?:a(?=.?)|a)+c{{1,{len(text) % 97}}}$"
        for _ in range(3):
            check = of(a={"pattern": pattern})
            assert check.is_valid({"a": text})
            assert check.violations({"a": text}) == ()
            assert not check.is_valid({"a": "b"})
        assert caplog.text.count("unchecked_pattern") == 1
        assert "the host's own validation decides" in caplog.text

    @pytest.mark.parametrize("pattern", ["((a{0,100}){0,100}){0,100}", "(a{1000}){1000}"])
    def test_a_pattern_too_large_to_compile_is_left_to_the_host(self, pattern):
        check = of(a={"pattern": pattern}, b=INTEGER)
        assert check.is_valid({"a": "a"})
        assert not check.is_valid({"b": "x"})

    def test_huge_numbers(self):
        check = of(a={"type": "integer", "minimum": 1}, b={"multipleOf": 0.5}, c={"enum": [1]})
        assert check.is_valid({"a": 10**4_000, "b": 10**400})
        found = check.violations({"a": -(10**4_000), "b": 10**4_000, "c": 10**4_000})
        assert {finding.path for finding in found} == {"/args/a", "/args/c"}

    def test_a_number_that_python_refuses_to_print(self):
        check = of(a={"type": "integer", "maximum": 1}, b={"type": "string"})
        assert check.violations({"a": 10**5_000})
        assert check.violations({"b": 10**5_000})

    def test_whole_and_other_numbers(self):
        check = of(a=INTEGER)
        assert check.is_valid({"a": 1.0})
        assert [check.is_valid({"a": value}) for value in (True, 1.5, "1", None)] == [False] * 4

    def test_a_mapping_will_do(self):
        assert of(a=INTEGER).is_valid(MappingProxyType({"a": 1}))
        assert texts(of(a=INTEGER), MappingProxyType({"a": "1"}))


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "text", "found"),
        [
            (r"^\d+$", "12", True),
            (r"^\d+$", "１２", False),
            (r"^\w+$", "é", False),
            (r"^a$", "a\n", False),
            (r"^\p{L}+$", "é", True),
            (r"\u0041", "A", True),
            (r"(?<year>\d{4})", "2024", True),
            (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abc1", True),
            (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abcd", False),
        ],
    )
    def test_they_are_those_of_ecma(self, pattern, text, found):
        assert compiled(pattern).search(text) is found
        assert of(a={"pattern": pattern}).is_valid({"a": text}) is found

    def test_only_look_around_and_the_like_need_backtracking(self):
        assert compiled("^(a+)+$").linear
        assert not compiled("^(?!a)").linear

    def test_threads_may_compile_at_once(self):
        for _ in range(20):
            check = of(**{f"p{n}": {"pattern": f"^(?!{n})"} for n in range(20)})
            with ThreadPoolExecutor(8) as pool:
                found = list(
                    pool.map(lambda n, check=check: check.is_valid({f"p{n}": str(n)}), range(8))
                )
            assert not any(found)


def _growth(run, small: int = 100_000, times: int = 4) -> float:
    """How much more each character costs where there are `times` as many."""

    def best(size: int) -> float:
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            run(size)
            seconds.append(time.perf_counter() - started)
        return min(seconds) / size

    run(small)
    return best(small * times) / best(small)
