"""The arguments of a call that is not quite Python, told apart by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.model import JSON, Safety
from selfcorrect.protocols import Tool
from selfcorrect.reading import (
    MOST_MISSING,
    Deviation,
    Fault,
    JsonRead,
    parameters,
    read_json,
    surest,
)

BARE: Final = "text without quotes"
_PARAMETER: Final = re.compile(r"(?:\A|,)\s*+((?:\w|\\_)++)\s*+(=(?!=)|:)")
_JUNK: Final = re.compile(r"[ \t\r\n'\"\]};,`)]+")
_STRING_OVER: Final = {
    quote: re.compile(rf"{quote}(?:\s*+[,;]\s*+|\s++)(?:\w|\\_)++\s*+[:=]") for quote in "\"'"
}
"""The end of a string, and the next argument."""
_BARE_WORDS: Final = re.compile(r"[^\"=;\n(){}\[\]<>`\\|]{1,500}\Z")
_BARE_LIST: Final = re.compile(r"\[([^\"'=;\n(){}\[\]<>`\\|]{1,500})\]\Z")
_QUANTITY: Final = re.compile(r"[$\u20ac\u00a3]?\d[\d.,]{0,20}\s?(?:%|[A-Za-z\u00b0]{1,6})?\Z")
_CODE_NAME: Final = re.compile(r"[A-Za-z]\w*[_\d]\w*\Z|[a-z]+[A-Z]\w*\Z|_\w*\Z")
_NOT_TEXT: Final = re.compile(
    r"\A[A-Za-z]{1,2}'|\*\*|[+*%^&]|\.\.\.|\blambda\b|\b(?:or|and|not|if|for|in)\b.*['\"]"
)
_TOO_MANY: Final = "a closing bracket too many"


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


def by_name(
    text: str, tool: Tool, offset: int, request: str
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
    args: dict[str, JSON] = {}
    notes = [Deviation(offset, "colons before the values", Safety.INFERRED)] if colons else []
    last = next(reversed(slices))
    for name, (place, raw) in slices.items():
        said = None if quoted or colons else request
        read = _value(raw, known[name], place, said, last=name == last)
        if read is None:
            return None
        args[name], more = read
        if raw == name and any(each.what == BARE for each in more):
            return None
        notes += more
    return args, notes


def _value(
    raw: str, schema: object, place: int, request: str | None, *, last: bool
) -> tuple[JSON, list[Deviation]] | None:
    read = read_json(raw, closers=False, final_number=True, unwrap=False)
    if isinstance(read, JsonRead) and not raw[read.end :].strip("]} \t\r\n" if last else None):
        if _swallows(raw, read) or _lacks_opener(read, schema):
            return None
        value = surest(read, None)
        notes = [each._replace(offset=place + each.offset) for each in read.deviations]
        return None if isinstance(value, Fault) else (value, notes)
    note = [Deviation(place, BARE, Safety.INFERRED)]
    kinds = _types(schema)
    items = schema.get("items") if isinstance(schema, Mapping) else None
    of_text = kinds == {"array"} and _types(items) == {"string"}
    if _BARE_WORDS.match(raw) and (kinds == {"string"} or of_text) and _is_text(raw, request):
        return raw, note
    if isinstance(schema, Mapping) and raw in (schema.get("enum") or ()):
        return raw, note
    if kinds == {None} and request and _stands_in(raw, request) and _is_text(raw, request):
        return raw, note
    if _QUANTITY.match(raw):
        return raw, note
    listed = _BARE_LIST.match(raw)
    if listed and of_text:
        texts = [item.strip() for item in listed[1].split(",")]
        return (texts, note) if all(_is_text(item, request) for item in texts) else None
    return None


def _swallows(raw: str, read: JsonRead) -> bool:
    """Whether a text with quotes inside is rather two arguments, of which one is not known."""
    inside = any(each.what.startswith("quotes inside") for each in read.deviations)
    over = _STRING_OVER.get(raw[:1])
    return inside and over is not None and over.search(raw, 1) is not None


def _lacks_opener(read: JsonRead, schema: object) -> bool:
    """Whether a list with a closing bracket too many may lack an opening one: `[[1, 2], 3, 4]]`."""
    if not isinstance(read.value, list) or all(isinstance(item, list) for item in read.value):
        return False
    items = schema.get("items") if isinstance(schema, Mapping) else None
    too_many = any(each.what == _TOO_MANY for each in read.deviations)
    return too_many and not _types(items).isdisjoint({"array", None})


def _is_text(raw: str, request: str | None) -> bool:
    """Whether bare words are surely text, and no variable.

    In a call with quotes elsewhere (no `request`) a bare name is a variable. A name that only code
    has, like `my_data`, is text if the user wrote it so.
    """
    if request is None or not raw or raw[0] in "'," or _NOT_TEXT.search(raw):
        return False
    return not _CODE_NAME.match(raw) or (len(raw) > 2 and _stands_in(raw, request))


def _stands_in(raw: str, request: str) -> bool:
    """Whether the user wrote these words, and not only longer ones."""
    return re.search(rf"(?<!\w){re.escape(raw)}(?!\w)", request) is not None


def _types(schema: object) -> set[Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    kinds = set(kind) if isinstance(kind, list) else {kind}
    return kinds - {"null"}
