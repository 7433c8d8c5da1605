"""The arguments of a call that is not quite Python, told apart by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from selfcorrect.model import JSON
from selfcorrect.protocols import Tool
from selfcorrect.reading.arguments import surest
from selfcorrect.reading.code_extents import MOST_MISSING
from selfcorrect.reading.contract import Deviation, Fault, JsonRead, Oddity, has, parameters
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.schema.subschema import types_of
from selfcorrect.text import tokens

_PARAMETER: Final = re.compile(r"(?:\A|,)\s*+((?:\w|\\_)++)\s*+(=(?!=)|:)")
_JUNK: Final = re.compile(r"[ \t\r\n'\"\]};,`)]+")
_STRING_OVER: Final = {
    quote: re.compile(rf"{quote}(?:\s*+[,;]\s*+|\s++)(?:\w|\\_)++\s*+[:=]") for quote in "\"'"
}
"""The end of a string, and the next argument."""
_BARE_WORDS: Final = re.compile(r"[^\"=;\n(){}\[\]<>`\\|]{1,500}\Z")
_BARE_LIST: Final = re.compile(r"\[([^\"'=;\n(){}\[\]<>`\\|]{1,500})\]\Z")
_QUANTITY: Final = re.compile(r"[$\u20ac\u00a3]?\d[\d.,]{0,20}\s?(?:%|[A-Za-z\u00b0]{1,6})?\Z")
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?\Z|\d\d:\d\d(?::\d\d)?\Z"
)
"""A date or a time, which nobody means as the difference of its parts."""
_CODE_NAME: Final = re.compile(r"[A-Za-z]\w*[_\d]\w*\Z|[a-z]+[A-Z]\w*\Z|_\w*\Z")
_WORD: Final = re.compile(r"[^\W\d_]+\Z")
_WORDS: Final = re.compile(r"[^\W\d_]+ [^\W\d_]+")
_NOT_TEXT: Final = re.compile(
    r"\A[A-Za-z]{1,2}'|\*\*|[+*%^&]|\.\.\.|\blambda\b|\b(?:or|and|not|if|for|in)\b.*['\"]"
)


def ends_in(text: str, start: int, limit: int) -> list[int]:
    """Where the arguments that start here may end: brackets that only junk follows."""
    for run in _JUNK.finditer(text, start, limit):
        closing = [n for n in range(run.start(), run.end()) if text[n] == ")"]
        if not closing:
            continue
        first = text.find("\n", closing[0], run.end())
        if first < 0 and run.end() < limit:
            continue
        within = [n for n in closing if first < 0 or n < first]
        return within[: -MOST_MISSING - 1 : -1]
    return []


class _Said(NamedTuple):
    """What is known of bare words: what the user asked for, and what is surely no text.

    `unquoted` where another value of the call can only be text, so that none is a variable.
    """

    request: str
    variables: Collection[str]
    names: Collection[str]
    unquoted: bool


def by_name(
    text: str, tool: Tool, offset: int, request: str, variables: Collection[str] = ()
) -> tuple[dict[str, JSON], list[Deviation]] | None:
    """The arguments of a text like `city=New York, days=3`, split at the tool's parameters."""
    known = parameters(tool)
    marks = [found for found in _PARAMETER.finditer(text) if found[1].replace("\\_", "_") in known]
    if not marks or text[: marks[0].start()].strip() or len({mark[2] for mark in marks}) > 1:
        return None
    slices: dict[str, tuple[int, str]] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        name = mark[1].replace("\\_", "_")
        raw = text[mark.end() : following.start() if following else len(text)].strip().rstrip(",")
        if name in slices:
            return None
        slices[name] = (offset + mark.end(), raw)
    colons = marks[0][2] == ":"
    quoted = any(raw[:1] in "\"'" for _, raw in slices.values())
    unquoted = any(_is_no_code(raw, request) for _, raw in slices.values())
    args: dict[str, JSON] = {}
    notes = [Deviation(offset, "colons before the values")] if colons else []
    last = next(reversed(slices))
    for name, (place, raw) in slices.items():
        names = {*tokens(name), *tokens(tool.name)}
        said = None if quoted or colons else _Said(request, variables, names, unquoted)
        read = _value(raw, known[name], place, said, last=name == last)
        if read is None:
            return None
        args[name], more = read
        if raw == name and has(more, Oddity.BARE):
            return None
        notes += more
    return args, notes


def _value(
    raw: str, schema: object, place: int, said: _Said | None, *, last: bool
) -> tuple[JSON, list[Deviation]] | None:
    read = read_json(raw, unwrap=False)
    more = "]} \t\r\n" if last else None
    if isinstance(read, JsonRead) and not (read.unclosed or raw[read.end :].strip(more)):
        if _swallows(raw, read) or _lacks_opener(read, schema):
            return None
        value = surest(read, None)
        notes = [each._replace(offset=place + each.offset) for each in read.deviations]
        return None if isinstance(value, Fault) else (value, notes)
    note = [Deviation(place, "text without quotes", Oddity.BARE)]
    kinds = _types(schema)
    items = schema.get("items") if isinstance(schema, Mapping) else None
    of_text = kinds == {"array"} and _types(items) == {"string"}
    if _BARE_WORDS.match(raw) and (kinds == {"string"} or of_text) and _is_text(raw, said):
        return raw, note
    if _is_listed(raw, schema, said):
        return raw, note
    if not kinds and said and _stands_in(raw, said.request) and _is_text(raw, said):
        return raw, note
    if _QUANTITY.match(raw) or (kinds == {"string"} and _MOMENT.match(raw)):
        return raw, note
    listed = _BARE_LIST.match(raw)
    if listed and of_text:
        texts = [item.strip() for item in listed[1].split(",")]
        surely = all(_is_text(item, said) or _is_listed(item, items, said) for item in texts)
        return (texts, note) if surely else None
    return None


def _is_listed(raw: str, schema: object, said: _Said | None) -> bool:
    """Whether a bare word is one of the allowed values, and no variable."""
    if not isinstance(schema, Mapping) or raw not in (schema.get("enum") or ()):
        return False
    return said is None or raw not in said.variables


def _swallows(raw: str, read: JsonRead) -> bool:
    """Whether a text with quotes inside is rather two arguments, of which one is not known."""
    inside = has(read.deviations, Oddity.QUOTES_INSIDE)
    over = _STRING_OVER.get(raw[:1])
    return inside and over is not None and over.search(raw, 1) is not None


def _lacks_opener(read: JsonRead, schema: object) -> bool:
    """Whether a list with a closing bracket too many may lack an opening one: `[[1, 2], 3, 4]]`."""
    if not isinstance(read.value, list) or all(isinstance(item, list) for item in read.value):
        return False
    items = schema.get("items") if isinstance(schema, Mapping) else None
    too_many = has(read.deviations, Oddity.CLOSER_TOO_MANY)
    kinds = _types(items)
    return too_many and (not kinds or "array" in kinds)


def _is_text(raw: str, said: _Said | None) -> bool:
    """Whether bare words are surely text, and no variable.

    In a call with quotes elsewhere (nothing `said`) a bare name is a variable. A name that only
    code has, like `my_data`, is text if the user wrote it so; and so is a single word in lower
    case, which may also stand beside other text without quotes, and does not just name what it is
    for.
    """
    if said is None or not raw or raw[0] in "'," or _NOT_TEXT.search(raw):
        return False
    if raw in said.variables:
        return False
    if _WORD.match(raw) and raw.islower():
        wanted = said.unquoted or _stands_in(raw, said.request.lower())
        return wanted and raw not in said.names
    return not _CODE_NAME.match(raw) or (len(raw) > 2 and _stands_in(raw, said.request))


def _is_no_code(raw: str, request: str) -> bool:
    """Whether bare words can only be text: several in a row, or a name that the user wrote."""
    if not _BARE_WORDS.match(raw) or _NOT_TEXT.search(raw):
        return False
    return bool(_WORDS.match(raw)) or (raw[:1].isupper() and _stands_in(raw, request))


def _stands_in(raw: str, request: str) -> bool:
    """Whether the user wrote these words, and not only longer ones."""
    return re.search(rf"(?<!\w){re.escape(raw)}(?!\w)", request) is not None


def _types(schema: object) -> frozenset[str]:
    return types_of(schema) - {"null"} if isinstance(schema, Mapping) else frozenset()
