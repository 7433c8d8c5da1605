"""Says what is wrong with arguments: one finding for each place that a schema refuses."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from selfcorrect.errors import TooLargeError
from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, Finding, JsonObject, own_finding
from selfcorrect.pointer import ARGS, pointer
from selfcorrect.schema.place import Place
from selfcorrect.text import bound

MAX_WRONG = 1_000
"""Problems beyond which arguments are refused as a whole: no work is done for each of them."""
_LISTED = 200
"""Problems that become findings; the others are counted."""
_Ranked: TypeAlias = tuple[int, Finding]
"""A finding behind its rank."""


def findings_of(args: JsonObject, place: Place) -> list[Finding]:
    """Return one finding for each place where arguments do not fit.

    Raises:
        TooLargeError: If more is wrong than is looked at.
    """
    errors = list(islice(_errors(args, place, ()), MAX_WRONG + 1))
    if len(errors) > MAX_WRONG:
        raise TooLargeError(f"the arguments have more than {MAX_WRONG} problems")
    best: dict[str, _Ranked] = {}
    for rank, finding in errors:
        path = finding["paths"][0]
        if path not in best or rank < best[path][0]:
            best[path] = (rank, finding)
    findings = [finding for _, finding in best.values()]
    if not findings:
        # The library says no and names no place; what is invalid never passes.
        text = "the arguments do not fit the schema"
        return [own_finding("InvalidArgs", "schema", text, ARGS)]
    more = len(findings) - _LISTED
    del findings[_LISTED:]
    if more > 0:
        findings[-1]["text"] += f"; {more} more problems are not listed"
    return findings


def describe(schema: JsonObject) -> str:
    """Say what a schema wants of a value; empty where it wants nothing in particular.

    >>> describe({"type": "string", "format": "date"}), describe({"enum": ["a", "b"]}), describe({})
    ('a date such as 2026-10-26', 'one of "a", "b"', '')
    """
    for code in ("enum", "const", "format", "pattern", "type"):
        if code in schema:
            return must(code, schema[code]).removeprefix("must be ")
    return ""


def must(code: str, value: Any) -> str:
    """Say what a keyword of JSON Schema wants; `code` as in a finding."""
    listed = value if isinstance(value, list) else [value]
    if code == "type":
        # "null" comes last, as people say it.
        ordered = sorted(listed, key=lambda name: name == "null")
        return f"must be {' or '.join(_TYPES.get(name, str(name)) for name in ordered)}"
    if code in ("anyOf", "oneOf"):
        return f"must be {' or '.join(value)}" if value else "must fit exactly one alternative"
    if code == "enum":
        options = [_quote(item) for item in listed[:20]]
        rest = f" or {len(listed) - 20} more" if len(listed) > 20 else ""
        return f"must be one of {', '.join(options)}{rest}"
    if code.partition(".")[0] == "format":
        return f"must be {_FORMATS.get(value, f'in the format {value}')}"
    words = _WORDS["keywords"].get(code, f"breaks the rule {code!r} of the schema")
    sentence = words.format(value if code == "pattern" else _quote(value))
    # Only counts of characters, items and keys have a plural.
    return sentence.removesuffix("s") if value == 1 and code[3:] in _COUNTED else sentence


def _errors(value: JSON, place: Place, keys: Sequence[str | int]) -> Iterator[_Ranked]:
    """Yield what is wrong with the value at a place."""
    for error in place.validator.iter_errors(value):
        yield from _rank(error, place, keys)


def _rank(error: Any, place: Place, above: Sequence[str | int]) -> Iterator[_Ranked]:
    """Yield an error of jsonschema-rs as findings: one for each missing or unknown key, else one.

    A low rank speaks for its keys: a value of the wrong type is not also out of range.

    Args:
        error: The error.
        place: What was checked.
        above: The keys that lead there.
    """
    inner, code = error.instance_path, error.kind.name
    value: Any = _value(error)
    keys = [*above, *inner]
    if code in _OF_KEYS:
        for name in [value] if code == "required" else value:
            text = f"{_OF_KEYS[code]} `{_dot([*keys, name])}`"
            constraint = code == "required"
            yield 0, own_finding("InvalidArgs", code, text, pointer(*keys, name), constraint)
        return
    branches = getattr(error.kind, "context", ())
    # Where a branch has no errors, more than one of them fits.
    branches = branches if all(branches) else ()
    alternatives = [errors for errors in branches if not _is_null(errors, inner)]
    if len(alternatives) == 1:
        for own in alternatives[0]:
            yield from _rank(own, place, above)
        return
    wanted = value
    if alternatives:
        union = place.at([*map(str, inner)])
        meant = union.meant(error.instance)
        if meant is not None and not meant.accepts(error.instance):
            yield from _errors_of_branch(error.instance, meant, union, keys)
            return
        if union.tag is not None and isinstance(error.instance, dict):
            # What is wrong is the argument that tells the objects of the union apart.
            name = union.tag[0]
            tag = {"required": [name], "properties": {name: union.inner(name).view}}
            yield from _errors(error.instance, Place(tag), keys)
            return
        wanted = list(dict.fromkeys(map(_alternative, union.branches)))
    if code == "format":
        # "format" alone would send e-mail addresses and dates to one ladder.
        code = f"format.{str(value).removeprefix('naive-')}"
    text = f"{_name(keys)} {must(code, wanted)}"
    if code == "type" or (wanted and alternatives):
        # A value under the name of a secret is not shown.
        from selfcorrect.redaction import names_secret

        shown = "its value" if names_secret(keys) else _quote(error.instance)
        text += f"; {shown} is not"
    yield _RANKS.get(code, 3), own_finding("InvalidArgs", code, text, pointer(*keys), value)


def _errors_of_branch(
    value: JSON, meant: Place, union: Place, keys: Sequence[str | int]
) -> Iterator[_Ranked]:
    """Yield what is wrong with the branch of a union that a value means; name the others, too."""
    others = [_alternative(branch) for branch in union.branches if branch is not meant]
    for rank, finding in _errors(value, meant, keys):
        if finding["paths"] == [pointer(*keys)]:
            finding["text"] += f" (or {' or '.join(others)})"
        yield rank, finding


_RANKS = {"type": 0, "enum": 1, "const": 1}


def _value(error: Any) -> JSON:
    """Return the value of the keyword that an error is about, where it is plain JSON."""
    value = error.kind.value
    if isinstance(value, Exception) or hasattr(error.kind, "context"):
        return None
    return value[0] if error.kind.name == "type" and len(value) == 1 else value


def _is_null(errors: Iterable[Any], keys: Sequence[object]) -> bool:
    """Say whether errors are those of a branch that takes null alone."""
    return any(
        error.kind.name == "type" and error.instance_path == keys and _value(error) == "null"
        for error in errors
    )


def _alternative(branch: Place) -> str:
    """Say what an alternative of a union wants."""
    if keys := ", ".join(f"`{name}`" for name in islice(branch.properties, 20)):
        return f"an object of {keys}"
    return describe(branch.view) or "another value"


_WORDS: Mapping[str, Mapping[str, str]] = load_table("schema/sentences.toml")
_OF_KEYS, _TYPES, _FORMATS = _WORDS["keys"], _WORDS["types"], _WORDS["formats"]
_COUNTED = ("Length", "Items", "Properties")


def _name(keys: Sequence[object]) -> str:
    return f"`{_dot(keys)}`" if keys else "the arguments object"


def _dot(keys: Sequence[object]) -> str:
    return ".".join(map(str, keys))[:200]


def _quote(value: JSON) -> str:
    # Only as much of a long text is written as is shown.
    short = value[:60] if isinstance(value, str) else value
    return bound(json.dumps(short, ensure_ascii=False, default=repr), 60)
