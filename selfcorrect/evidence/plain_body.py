"""Any other JSON error body: the usual names for message, code, status and field.

The last reader. It takes an object only if it looks like an error: a message or an error code; or
if it maps fields to sentences, as Django REST, Rails, Laravel, ASP.NET, marshmallow and mongoose do
it: `{"age": ["must be positive"], "items": {"0": {"qty": ["…"]}}}`, alone or in an envelope.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final

from selfcorrect.evidence.bodies import as_path, as_status
from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join
from selfcorrect.words import word_list

_TEXTS: Final = word_list("""
        message error_description errorMessage error_message detail details error msg err reason
        description title Message errorDescription statusText text stderr desc errmsg
        faultstring defaultMessage userPresentableMessage error_summary errorSummary exception""")
_CODES: Final = word_list("""
        code error_code errorCode errcode error errorType type reason name Code rule
        error_summary issue codeName category status""")
_STATUS: Final = word_list("""
        status statusCode status_code httpStatus http_status code cod error_code""")
_FIELDS: Final = word_list("""
        field param parameter path property propertyPath attribute pointer loc location key
        fieldName field_name argument name""")
_LISTS: Final = word_list("""
        errors details issues violations causes fieldErrors field_errors validationErrors
        validation_errors error detail failures problems messages message data errorMessages
        errorCauses extensions extra""")
_INNER: Final = word_list("""
        upstream upstream_error cause inner innerError inner_error innererror original
        original_error originalError root_cause source_error exception nested response body""")
"""Where a body that only passes an error on keeps the error itself."""
_DEEPEST: Final = 6
_MOST: Final = 50
_CODE: Final = re.compile(r"[A-Za-z][\w.:/-]{1,79}\Z")
_PHRASES: Final = "|".join(re.escape(status.phrase) for status in HTTPStatus if status >= 400)
_SUMMARY: Final = re.compile(
    rf"\W*(?:\d{{3}} )?(?:{_PHRASES}"
    r"|(?:\w+ ){0,3}(?:validation|arguments?|request|input|form body|body|data|parameters?)"
    r"(?: \w+){0,2} (?:failed|errors?|error occurred|errors occurred|invalid)"
    r"(?: for \S{1,80})?|(?:\w+ ){0,3}invalid (?:\w+ )?(?:request|form|input|body|data|parameters?)"
    r"(?: \w+)?|(?:an |one or more |multiple |some )?errors?(?: occurred)?|all shards failed)"
    r"(?:[.:(!]\s*(?:\(?error count:? \d+\)?)?)?\W*",
    re.IGNORECASE,
)
"""What only says that there are errors below."""


_WHOLE: Final = frozenset(
    {"non_field_errors", "_schema", "__all__", "base", "_form", "_errors", ""}
)
_ENVELOPES: Final = word_list("""
        errors fields messages validation_errors validationErrors fieldErrors field_errors
        details json nested""")
_NO_FIELDS: Final = frozenset(
    word_list("""
        error errors detail details data response body message messages errormessages
        error_messages reasons code status statuscode""")
)
_SELDOM_FIELDS: Final = _NO_FIELDS | frozenset(
    word_list("""
        description err error_description errormessage exception hint info msg name reason
        result statustext stderr stdout text title type url""")
)
"""Names that tell of the error rather than of a field, where one sentence stands under them."""
_LEAF: Final = frozenset(
    word_list("""
        message code type kind path value reason name properties rule msg""")
)
_SENTENCE: Final = re.compile(
    r"(?i)\b(?:required|missing|invalid|valid|must|should|cannot|not|too|expected|unknown|than|"
    r"unexpected|already|allowed|choice|format|range|least|most)\b"
)
"""What a text says that finds fault with its field."""


def read(body: JSON) -> tuple[Finding, ...]:
    """The findings at the bottom of the body, with code and status from above for want of own."""
    inside = [body.get(key) for key in _ENVELOPES] if isinstance(body, Mapping) else []
    for fields in (*inside, body):
        if isinstance(fields, Mapping) and (named := _named(fields, (), 0)):
            return tuple(named[:_MOST])
    return tuple(_walk(body, None, None, 0))[:_MOST]


def _named(value: JSON, path: tuple[str, ...], depth: int) -> list[Finding] | None:
    """A finding for each sentence below a field; None where the shape is something else."""
    if depth > _DEEPEST or not value:
        return None
    if isinstance(value, str):
        fault = depth == 1 and _SENTENCE.search(value[:300])
        return [_about(value, path)] if fault else None
    if isinstance(value, list) and path:
        parts = [_item(item, path, str(index), depth) for index, item in enumerate(value[:_MOST])]
    elif isinstance(value, Mapping) and path and value.keys() <= _LEAF and _text(value):
        parts = [_item(value, path, "", depth)]
    elif isinstance(value, Mapping):
        parts = [
            None
            if key.lower() in (_SELDOM_FIELDS if isinstance(child, str) else _NO_FIELDS)
            else _named(child, path if key in _WHOLE else (*path, key), depth + 1)
            for key, child in value.items()
        ]
    else:
        return None
    return None if None in parts else [each for part in parts for each in part or ()]


def _item(item: JSON, path: tuple[str, ...], index: str, depth: int) -> list[Finding] | None:
    """What one item of a field's list says: a sentence, an object with one, or fields again."""
    if isinstance(item, str):
        return [_about(item, path)]
    text = _text(item) if isinstance(item, Mapping) else None
    if text is None:
        return _named(item, (*path, index), depth + 1)
    return [_about(text, path, _code(item, text))]


def _about(text: str, path: tuple[str, ...], code: str | None = None) -> Finding:
    return Finding(text, code=code, paths=(join(*path),) if path else ())


def _walk(body: JSON, status: int | None, code: str | None, depth: int) -> Iterator[Finding]:
    if depth > _DEEPEST:
        return
    if isinstance(body, list):
        for item in body[:_MOST]:
            if isinstance(item, str) and item.strip():
                yield Finding(item, status=status, code=code)
            else:
                yield from _walk(item, status, code, depth + 1)
        return
    if not isinstance(body, Mapping):
        return
    status = _status(body) or status
    text = _text(body)
    code = _code(body, text) or code
    inner = tuple(_inner(body, status, depth))
    if inner:
        yield from inner
        return
    below = tuple(_below(body, status, code, depth))
    told = below and (text is None or _says_less(text, below))
    if told or any(finding.paths for finding in below):
        yield from below
    elif text is not None:
        yield Finding(text=text, status=status, code=code, paths=_paths(body))
    elif code is not None and ("error" in body or "code" in body or "errorCode" in body):
        yield Finding(re.sub(r"[_-]", " ", code), status=status, code=code, paths=_paths(body))


def _says_less(text: str, below: tuple[Finding, ...]) -> bool:
    """Whether a text only sums up what the findings below it say in sentences of their own."""
    if not all(" " in finding.text.strip() for finding in below):
        return False
    coded = all(finding.code and "_" in finding.code for finding in below)
    return coded or _SUMMARY.fullmatch(text[:300]) is not None


def _inner(body: Mapping[str, JSON], status: int | None, depth: int) -> Iterator[Finding]:
    for key in _INNER:
        value = body.get(key)
        if isinstance(value, str) and " " in value.strip():
            yield Finding(value, status=status)
        elif isinstance(value, Mapping) and (_text(body) is not None or len(body) <= 3):
            own = status if status is not None and status < 500 else None
            yield from _walk(value, own, None, depth + 1)
        elif isinstance(value, list) and key == "root_cause":
            yield from _walk(value[:1], status, None, depth + 1)


def _below(
    body: Mapping[str, JSON], status: int | None, code: str | None, depth: int
) -> Iterator[Finding]:
    for key in _LISTS:
        child = body.get(key)
        if isinstance(child, list | Mapping) and child:
            yield from _walk(child, status, code, depth + 1)


def _text(body: Mapping[str, JSON]) -> str | None:
    codes: list[str] = []
    for key in _TEXTS:
        value = body.get(key)
        if isinstance(value, Mapping) and isinstance(value.get("value"), str):
            value = value["value"]
        if isinstance(value, str) and value.strip():
            if " " in value.strip() or not _CODE.match(value):
                return value
            codes.append(value)
    return codes[0] if codes and body.get("message") == codes[0] else None


def _code(body: Mapping[str, JSON], text: str | None) -> str | None:
    for key in _CODES:
        value = body.get(key)
        if isinstance(value, str) and value != text and _CODE.match(value) and value != "error":
            return value
    return None


def _status(body: Mapping[str, JSON]) -> int | None:
    found = (as_status(body.get(key)) for key in _STATUS)
    return next((status for status in found if status is not None and status >= 400), None)


def _paths(body: Mapping[str, JSON]) -> tuple[str, ...]:
    for key in _FIELDS:
        value = body.get(key)
        if key == "name" and str(value)[:1].isupper():  # the error's own: `NotFound`, `BAD_INPUT`
            continue
        odd = isinstance(value, str) and (len(value) > 200 or " " in value or "://" in value)
        if not odd and (path := as_path(value)):
            return (path,)
    return ()
