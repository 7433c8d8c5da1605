"""Bodies of errors, by rows of a map that say where each form keeps what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from selfcorrect.evidence.waits.values import wait_of_value
from selfcorrect.mapping.bodies import BodyRow, row_of, values_at
from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

T = TypeVar("T")

_MOST: Final = 50
_LONGEST: Final = 120
_CODE: Final = re.compile(r"[\w.:/#-]+")
_NO_CODE: Final = ("about:blank", "rfc", "custom", "error")
"""What stands where a code does, and is none."""
_STATUS: Final = re.compile("[1-5][0-9]{2}")
_LEVEL: Final = re.compile(r"\A\[[A-Z]{3,8}\] ")
_HOSTS: Final = re.compile(r"https?://")


def read_by_rows(body: JSON, rows: Sequence[BodyRow]) -> tuple[Finding, ...]:
    """The findings of a body by the first row that knows it; none where no row does."""
    row = row_of(body, rows)
    return tuple(_findings(body, row))[:_MOST] if row is not None else ()


def _findings(body: JSON, row: BodyRow) -> Iterator[Finding]:
    body = body[0] if isinstance(body, list) else body
    lists = [value for place in row.each for value in values_at(body, place)]
    found = [finding for value in lists for finding in _listed(value, body, row)]
    yield from found or [_finding((body,), row)]


def _listed(value: JSON, body: JSON, row: BodyRow) -> Iterator[Finding]:
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
    path = next(filter(None, map(_as_path, fields)), None)
    return Finding(
        text=text
        or _first(_as_text, sources[:1], row.text)
        or (_words(own) if own and sources[1:] else None)
        or _first(_as_text, sources[1:], row.text)
        or _words(code or ""),
        status=_first(_as_status, sources, row.status),
        code=code,
        paths=(path,) if path else (),
        retry_after=_first(_as_wait, sources, row.wait),
    )


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


def _as_text(value: JSON) -> str | None:
    """A sentence, without the level of a log before it; a bare code is told in its words."""
    if not isinstance(value, str) or not value.strip():
        return None
    value = _LEVEL.sub("", value)
    return _words(value) if _as_code(value) and "_" in value else value


def _as_code(value: JSON) -> str | None:
    """A code as rules know it: of a qualified name or an address, its last part."""
    if not isinstance(value, str) or not _CODE.fullmatch(value[: _LONGEST + 1]):
        return None
    code = value.rpartition("#")[2] if "#" in value else value
    code = code.rstrip("/").rpartition("/")[2] if _HOSTS.match(value) else code.partition(":")[0]
    return code if 0 < len(code) <= _LONGEST and not code.startswith(_NO_CODE) else None


def _as_status(value: JSON) -> int | None:
    if isinstance(value, str):
        value = int(value) if _STATUS.fullmatch(value) else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 100 <= value <= 599 else None


def _as_path(value: JSON) -> str | None:
    if not isinstance(value, str) or not value.strip("#/"):
        return None
    value = value.lstrip("#")
    tokens = [token for token in re.split(r"[.\[\]$]+", value) if token]
    return value if value.startswith("/") else join(*tokens) if tokens else None


def _as_wait(value: JSON) -> float | None:
    return wait_of_value(value) if isinstance(value, str | int | float) else None
