"""All that the sentence of one finding says: wait, constraint, suggestions, kind and category."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from selfcorrect.evidence.clean import visible
from selfcorrect.evidence.constraints.stated import category_of_constraint, constraint_in
from selfcorrect.evidence.counts import category_of_counts
from selfcorrect.evidence.culprits import CLASSES, culprits
from selfcorrect.evidence.faults.place import Places, from_wire
from selfcorrect.evidence.kinds.facts import category_of, kind_of
from selfcorrect.evidence.masking import Masked, mask
from selfcorrect.evidence.messages import put_back
from selfcorrect.evidence.replies import reply_class
from selfcorrect.evidence.statuses import behind_a_gateway, status_in_text
from selfcorrect.evidence.suggestions import suggestions_in
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.model import ABSENT, JSON, Category, ErrorKind, Finding, JsonObject, Source
from selfcorrect.pointer import split

_GATEWAY: Final = 502


def complete(
    finding: Finding, arguments: JSON, schema: JsonObject, now: datetime | None
) -> Finding:
    """The finding with all that its sentence says, and the kind that its facts speak for."""
    hidden = mask(finding.text, arguments, visible)
    blind = hidden.masked(hidden.text)
    stated = category_of_constraint(finding.constraint)
    category = stated or category_of_counts(blind) or category_of(finding)
    place = Places(arguments, schema)
    placed = (from_wire(path, place) for path in finding.paths)
    status, wait = finding.status, finding.retry_after
    if not isinstance(status, str) and not (isinstance(status, int) and status >= 300):
        status = status_in_text(blind) or status
    if status == _GATEWAY:
        status = behind_a_gateway(blind) or status
    seen = finding.witness if status == finding.status else Source.NONE
    finding = replace(
        finding,
        witness=seen,
        paths=tuple(dict.fromkeys("/args" + path for path in placed if path)),
        status=status,
        constraint=finding.constraint or put_back(constraint_in(hidden.text), hidden),
        suggestions=finding.suggestions or tuple(map(hidden.raw, suggestions_in(hidden.text))),
        retry_after=wait if wait is not None else wait_in_text(blind, now),
        category=category,
    )
    number = finding.code if finding.code and len(finding.code) == 3 else ""
    reply = reply_class(f"{number} {blind}".lstrip(), finding.types)
    if reply is not None:
        finding = replace(finding, types=(reply, *finding.types), witness=Source.NONE)
    found = _culprits(finding, hidden, place)
    if found:
        kind, known = CLASSES[found[0]]
        types = (*found, *finding.types)
        return replace(finding, types=types, kind=kind, category=known, witness=Source.NONE)
    kind = ErrorKind.VALIDATION if stated else kind_of(finding)
    counted = category in (Category.MISSING_PARAM, Category.EXTRA_PARAM)
    if counted and kind is ErrorKind.INTERNAL:
        kind = ErrorKind.VALIDATION
    if kind is ErrorKind.INTERNAL:
        category = Category.NONE
    return replace(finding, kind=kind, category=category)


def _culprits(finding: Finding, hidden: Masked, place: Places) -> tuple[str, ...]:
    bare = hidden.text.strip(" \n\t'\"`.[]")
    echo = hidden.echo(bare) if len(bare) == 1 else None
    lacking = [split(path)[-1] for path in place.declared if place.value(path) is ABSENT]
    if echo is not None and echo.whole:
        return culprits("", finding.types, place.leaves, lacking, echoed=True)
    text = hidden.masked(hidden.text)
    return culprits(text, finding.types, place.leaves, lacking, echoed=False)
