"""JSON:API 1.1 error objects: https://jsonapi.org/format/#error-objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_OWN: Final = ("source", "title", "detail", "status")


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per error object; nothing if the body is something else."""
    items = body.get("errors") if isinstance(body, Mapping) else None
    if not isinstance(items, list) or not items:
        return ()
    if not all(isinstance(item, Mapping) and _is_error(item) for item in items):
        return ()
    return tuple(_finding(item) for item in items[:_MOST])


def _is_error(item: Mapping[str, JSON]) -> bool:
    has_text = isinstance(item.get("title"), str) or isinstance(item.get("detail"), str)
    return has_text and sum(key in item for key in _OWN) >= 2


def _finding(item: Mapping[str, JSON]) -> Finding:
    source = item.get("source")
    path: str | None = None
    if isinstance(source, Mapping):
        pointer, parameter = source.get("pointer"), source.get("parameter") or source.get("header")
        if isinstance(pointer, str) and pointer.strip("/"):
            path = pointer if pointer.startswith("/") else join(*pointer.split("."))
        elif isinstance(parameter, str):
            path = join(*[part for part in parameter.replace("]", "").split("[") if part])
    named = item.get("parameter") or item.get("field")
    if path is None and isinstance(named, str) and named:
        path = join(*named.split("."))
    detail = item.get("detail")
    status, code = item.get("status"), item.get("code") or _spelt(item.get("title"))
    status = int(status) if isinstance(status, str) and status.isdigit() else status
    return Finding(
        text=detail if isinstance(detail, str) and detail.strip() else str(item.get("title")),
        status=status if isinstance(status, int) and 100 <= status <= 599 else None,
        code=code if isinstance(code, str) else None,
        paths=(path,) if path else (),
    )


def _spelt(title: JSON) -> str | None:
    """A title in capitals as the code that it is: `INVALID DATE`."""
    return title.replace(" ", "_") if isinstance(title, str) and title.isupper() else None
