"""RFC 9457 problem details, with the two common ways to list what is wrong with which member."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_LISTS: Final = ("errors", "invalid-params", "invalidParams", "invalid_params", "violations")
_MOST: Final = 50


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per listed member, or one for the problem; nothing for other bodies."""
    if not isinstance(body, Mapping) or not isinstance(body.get("title"), str):
        return ()
    if (
        not any(isinstance(body.get(key), str) for key in ("detail", "type"))
        and "status" not in body
    ):
        return ()
    status = body.get("status")
    status = status if isinstance(status, int) and not isinstance(status, bool) else None
    name = body.get("type")
    code = name.rstrip("/").rpartition("/")[2] if isinstance(name, str) else None
    code = None if code in ("", "about:blank", None) or (code and code.startswith("rfc")) else code
    members = tuple(_members(body, status, code))
    if members:
        return members[:_MOST]
    detail = body.get("detail")
    text = detail if isinstance(detail, str) and detail.strip() else body["title"]
    return (Finding(text=text, status=status, code=code),)


def _members(body: Mapping[str, JSON], status: int | None, code: str | None) -> Iterator[Finding]:
    for key in _LISTS:
        items = body.get(key)
        if isinstance(items, list):
            for item in items:
                if isinstance(item, Mapping) and (found := _member(item, status, code)):
                    yield found
        elif isinstance(items, Mapping):
            for name, texts in items.items():
                for text in texts if isinstance(texts, list) else [texts]:
                    if isinstance(text, str):
                        path = join(*name.replace("$.", "").split(".")) if name else ""
                        yield Finding(text, status=status, code=code, paths=(path,) if path else ())


def _member(item: Mapping[str, JSON], status: int | None, code: str | None) -> Finding | None:
    text = next(
        (item[k] for k in ("detail", "reason", "message", "title") if isinstance(item.get(k), str)),
        None,
    )
    if text is None:
        return None
    pointer = item.get("pointer")
    name = next((item[k] for k in ("name", "field", "parameter", "header") if item.get(k)), None)
    path: str | None = None
    if isinstance(pointer, str):
        path = pointer.lstrip("#") if pointer.lstrip("#").startswith("/") else join(pointer)
    elif isinstance(name, str):
        path = join(*name.split("."))
    own = item.get("code")
    return Finding(
        text=text,
        status=status,
        code=own if isinstance(own, str) else code,
        paths=(path,) if path else (),
    )
