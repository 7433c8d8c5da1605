"""Messages: from the text of an error to its findings, through wrappers, bodies and lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.evidence import listing, plain_body
from selfcorrect.evidence.bodies import read_by_rows
from selfcorrect.evidence.clean import sentence, visible
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.json_text import find_json
from selfcorrect.evidence.masking import Masked, mask
from selfcorrect.evidence.waits.fields import wait_in_body
from selfcorrect.evidence.wrappers.unwrapping import unwrap
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.mapping.loading import built_in_bodies
from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import split

BODY_READERS: Final[tuple[Callable[[JSON], tuple[Finding, ...]], ...]] = (
    lambda body: read_by_rows(body, built_in_bodies()),
    plain_body.read,
)
"""Readers of JSON error bodies; the first that knows a body reads it."""

DEPTH: Final = 4
"""How deep an error inside an error's text is read."""

DEEPEST: Final = 60
"""Deepest JSON value that is compared with the arguments."""

MOST: Final = 50
"""Findings of one error."""

LONGEST: Final = 8 * 1024
"""Characters of one finding's text."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A message with its echoes taken out, and what they are echoes of."""

    hidden: Masked
    known: frozenset[str]
    place: Places
    bodies: Sequence[BodyRow]

    def is_echo(self, value: JSON) -> bool:
        """Whether a JSON value in a text is (a part of) the arguments themselves."""
        shown = put_back(value, self.hidden)
        return shown == self.place.arguments or any(
            shown == held for _, held in self.place.leaves if isinstance(held, dict | list)
        )


def read_text(
    message: str, place: Places, bodies: Sequence[BodyRow] = ()
) -> tuple[tuple[Finding, Masked], ...]:
    """The findings of a message: what its body lists, what its lines list, or its sentence.

    Each comes with its sentence masked. Paths are those of the wire; kind and category are left
    open. At least one finding.
    """
    hidden = mask(visible(message), place.arguments, visible)
    known = frozenset(
        token for path in (*(p for p, _ in place.leaves), *place.declared) for token in split(path)
    )
    source = _Source(hidden, known, place, bodies)
    found = tuple(_read(hidden.text, source, 0)) or (Finding(""),)
    return tuple((_shown(item, hidden), replace(hidden, text=item.text)) for item in found)


def _cut(text: str) -> str:
    """At most `LONGEST` characters, from both ends: an echo put back may be as long as it likes."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1024]}\n{text[-1024:]}"


def _shown(finding: Finding, hidden: Masked) -> Finding:
    """The finding with what was masked put back."""
    return replace(
        finding,
        text=_cut(hidden.raw(finding.text)),
        code=hidden.raw(finding.code) if finding.code else finding.code,
        paths=tuple(hidden.raw(path) for path in finding.paths),
        constraint={key: put_back(value, hidden) for key, value in finding.constraint.items()},
    )


def put_back(value: JSON, hidden: Masked, depth: int = 0) -> JSON:
    """A JSON value with the echoes in its texts put back."""
    if isinstance(value, str):
        return hidden.raw(value)
    if isinstance(value, dict) and depth < DEEPEST:
        return {hidden.raw(k): put_back(v, hidden, depth + 1) for k, v in value.items()}
    if isinstance(value, list) and depth < DEEPEST:
        return [put_back(item, hidden, depth + 1) for item in value]
    return value


_BARE_ECHO: Final = re.compile("(?<=[:\\[,])( ?)([\U000f0000-\U0010ffff])(?=\\s?[,}\\]])")
"""A value of a JSON body that stands for an object or a list of the arguments."""


def _read(text: str, source: _Source, depth: int) -> Iterator[Finding]:
    embedded = find_json(_BARE_ECHO.sub(r'\1"\2"', text)) if depth <= DEPTH else None
    if embedded is not None and not source.is_echo(embedded.value):
        found = read_body(embedded.value, source.bodies)
        if found and (found[0].text or found[0].code):
            outer = unwrap(embedded.before) if embedded.before else None
            for finding in found:
                inner = tuple(_read(finding.text, source, depth + 1))
                for item in inner:
                    joined = over(finding, item)
                    yield replace(joined, types=(*joined.types, *outer.types)) if outer else joined
            return
    yield from _read_prose(text, source, depth)


def _read_prose(text: str, source: _Source, depth: int) -> Iterator[Finding]:
    short = unwrap(sentence(text))
    outer = Finding(
        short.text,
        types=tuple(reversed(short.types)),
        code=next((code for code in reversed(short.codes)), None),
        status=short.status,
    )
    if depth <= DEPTH and short.text != text.strip() and find_json(short.text) is not None:
        yield from (over(outer, item) for item in _read(short.text, source, depth + 1))
        return
    lines = listing.read(short.text, source.known)
    if lines:
        yield from (over(outer, line) for line in lines)
        return
    yield outer


def read_body(body: JSON, bodies: Sequence[BodyRow] = ()) -> tuple[Finding, ...]:
    """The findings of a JSON body, by a deployment's own rows or the first reader that knows it."""
    for read in (lambda body: read_by_rows(body, bodies), *BODY_READERS):
        if found := read(body):
            wait = wait_in_body(body)
            return tuple(
                replace(item, retry_after=wait) if item.retry_after is None else item
                for item in found[:MOST]
            )
    return ()


def over(outer: Finding, inner: Finding) -> Finding:
    """The inner finding, with what only the outer one knows."""
    return replace(
        inner,
        text=inner.text or outer.text,
        types=(*inner.types, *(name for name in outer.types if name not in inner.types)),
        status=inner.status if inner.status is not None else outer.status,
        code=outer.code if inner.code is None else inner.code,
        paths=inner.paths or outer.paths,
        constraint=inner.constraint or outer.constraint,
        retry_after=inner.retry_after if inner.retry_after is not None else outer.retry_after,
    )
