"""Bodies of errors, by rows of a map that say where each form keeps what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final, TypeVar

from selfcorrect.evidence.keywords import FORMATS, TYPES
from selfcorrect.evidence.waits.values import wait_of_value
from selfcorrect.mapping.bodies import BodyRow, listed, row_of, values_at, whole
from selfcorrect.mapping.captures import allowed_of
from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

T = TypeVar("T")

FRAMES: Final = frozenset({"if", "anyOf", "oneOf", "allOf"})
"""Keywords of JSON Schema whose violation only sums up others."""
_MOST: Final = 50
_LONGEST: Final = 120
_MOST_ASKED: Final = 300
"""Characters of a code and of what its meaning depends on."""
_DEEPEST: Final = 3
_CODE: Final = re.compile(r"[\w.:/#-]+")
_NO_CODE: Final = ("about:blank", "rfc", "custom", "error")
"""What stands where a code does, and is none."""
_STATUS: Final = re.compile("[1-5][0-9]{2}")
_LEVEL: Final = re.compile(r"\A\[[A-Z]{3,8}\] ")
_HOSTS: Final = re.compile(r"https?://")


def read_by_rows(body: JSON, rows: Sequence[BodyRow], depth: int = 0) -> tuple[Finding, ...]:
    """The findings of a body by the first row that knows it; none where no row does."""
    row = row_of(body, rows)
    if row is None:
        return ()
    found = tuple(_findings(body, row))[:_MOST]
    inner = _inside(found[0], body, row, rows, depth) if depth < _DEEPEST else ()
    return tuple(inner) or found


def _inside(
    outer: Finding, body: JSON, row: BodyRow, rows: Sequence[BodyRow], depth: int
) -> Iterator[Finding]:
    """What is passed on, in a form of its own or as a sentence; the outer code for want of one."""
    for value in _values((whole(body),), row.inside):
        if not isinstance(value, str):
            for item in read_by_rows(value, rows, depth + 1):
                yield item if item.code else replace(item, code=outer.code)
        elif value.strip() and value not in outer.text:
            yield replace(outer, text=f"{outer.text}: {value}")


def _findings(body: JSON, row: BodyRow) -> Iterator[Finding]:
    values = listed(body, row)
    body = whole(body)
    found = [finding for value in values for finding in _each(value, body, row)]
    leaves = [finding for finding in found if finding.code not in FRAMES]
    yield from leaves or found or [_finding((body,), row)]


def _each(value: JSON, body: JSON, row: BodyRow) -> Iterator[Finding]:
    """The single errors of a list, or of a table of field to sentences."""
    if isinstance(value, list):
        for item in value[:_MOST]:
            if isinstance(item, Mapping):
                yield _finding((item, body), row)
            elif isinstance(item, str) and item.strip():
                yield _finding((body,), row, text=item)
    elif isinstance(value, Mapping):
        for name, said in list(value.items())[:_MOST]:
            for text in said[:_MOST] if isinstance(said, list) else [said]:
                if isinstance(text, str):
                    yield _finding((body,), row, text=text, field=name)


def _finding(
    sources: Sequence[JSON], row: BodyRow, *, text: str | None = None, field: str | None = None
) -> Finding:
    own = _first(_as_code, sources[:1], row.code)
    code = own or _first(_as_code, sources[1:], row.code)
    fields = (field,) if field is not None else _values(sources[:1], row.field)
    path = next(filter(None, map(as_path, fields)), "")
    members = [name for value in _values(sources[:1], row.member) for name in _as_names(value)]
    paths = [path + join(name) for name in members] or [path]
    return Finding(
        text=text
        or _as_sentence(sources[:1], row.text)
        or (_words(own) if own and sources[1:] else None)
        or _as_sentence(sources[1:], row.text)
        or _words(code or ""),
        status=_first(as_status, sources, row.status),
        code=code,
        paths=tuple(filter(None, paths)),
        constraint=_demanded(sources[0], code or "", row),
        retry_after=_first(_as_wait, sources, row.wait),
    )


def _demanded(item: JSON, code: str, row: BodyRow) -> dict[str, JSON]:
    """What a code says was violated, in words of JSON Schema."""
    told = [v for v in _values((item,), row.by) if isinstance(v, str | bool)]
    asked = [f"{code}.{v if isinstance(v, str) else str(v).lower()}"[:_MOST_ASKED] for v in told]
    for name in (*asked, code):
        fits = {
            form: said
            for forms, said in row.demands.items()
            for form in forms.split("|")
            if fnmatchcase(name, form)
        }
        if fits:
            said = {code if key == "*" else key: v for key, v in fits[max(fits, key=len)].items()}
            values = {key: _value(item, key, v) for key, v in said.items()}
            return {key: value for key, value in values.items() if value is not None}
    return {}


def _value(item: JSON, keyword: str, said: JSON) -> JSON:
    """A value, or what the item holds at the first of its places, in the form of its keyword."""
    places = [said] if isinstance(said, str) else said
    if isinstance(places, list) and any(str(place).startswith("/") for place in places):
        said = next(_values((item,), places), None)
    if keyword == "type" and isinstance(said, str):
        return TYPES.get(said)
    if keyword == "format" and isinstance(said, str):
        return FORMATS.get(said, said)
    if keyword == "enum" and isinstance(said, str):
        return allowed_of(said) or []
    if keyword in ("enum", "required") and not isinstance(said, list):
        return [] if said is None else [said]
    return said


def _words(code: str) -> str:
    return re.sub(r"[_-]", " ", code)


def _first(
    read: Callable[[JSON], T | None], sources: Sequence[JSON], places: Sequence[str]
) -> T | None:
    """The first value that can be read as what is looked for."""
    found = (read(value) for value in _values(sources, places))
    return next((value for value in found if value is not None), None)


def _values(sources: Sequence[JSON], places: Sequence[str]) -> Iterator[JSON]:
    return (value for source in sources for place in places for value in values_at(source, place))


def _as_sentence(sources: Sequence[JSON], places: Sequence[str]) -> str | None:
    """The first text, or all that a `*` stands for, a line each."""
    for place in places:
        found = [text for each in _values(sources, (place,)) if (text := _as_text(each))]
        if found:
            return "\n".join(found)
    return None


def _as_text(value: JSON) -> str | None:
    """A sentence, without the level of a log before it; a bare code is told in its words."""
    if not isinstance(value, str) or not value.strip():
        return None
    value = _LEVEL.sub("", value)
    return _words(value) if _as_code(value) and "_" in value else value


def _as_code(value: JSON) -> str | None:
    """A code as rules know it: of a qualified name or an address, its last part."""
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        return str(value)  # JSON-RPC 2.0, section 5.1
    if not isinstance(value, str) or not _CODE.fullmatch(value[: _LONGEST + 1]):
        return None
    code = value.rpartition("#")[2].rstrip("/").rpartition("/")[2]
    code = code if _HOSTS.match(value) else code.partition(":")[0]
    return code if 0 < len(code) <= _LONGEST and not code.startswith(_NO_CODE) else None


def as_status(value: JSON) -> int | None:
    """An HTTP status, as a number or in figures."""
    if isinstance(value, str):
        value = int(value) if _STATUS.fullmatch(value) else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 100 <= value <= 599 else None


def as_path(value: JSON) -> str | None:
    """The pointer of a place: a list of steps, a pointer, or dotted and bracketed."""
    if isinstance(value, list):
        steps = [step.get("key") if isinstance(step, Mapping) else step for step in value]
        return join(*(step for step in steps if isinstance(step, str | int)))
    if not isinstance(value, str) or not value.strip("#/"):
        return None
    value = value.lstrip("#")
    tokens = [token for token in re.split(r"[.\[\]$'\"]+", value) if token]
    return value if value.startswith("/") else join(*tokens) if tokens else None


def _as_names(value: JSON) -> list[str]:
    names = value[:_MOST] if isinstance(value, list) else [value]
    return [name.strip("'") for name in names if isinstance(name, str)]


def _as_wait(value: JSON) -> float | None:
    return wait_of_value(value) if isinstance(value, str | int | float) else None
