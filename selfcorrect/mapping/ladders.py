"""`[ladders]`: what is tried for errors of a kind or category, where a rule itself says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, TypeVar

from selfcorrect.kinds import Category, ErrorKind
from selfcorrect.mapping.files import Document, find_map, read_map
from selfcorrect.mapping.rules import ErrorRule, Rung

AnyRung = TypeVar("AnyRung")

AS_DIAGNOSED: Final = "as-diagnosed"
"""In place of a ladder: the one for the category or kind that an error turns out to have."""


def ladders_for(source: Document, documents: Sequence[Document]) -> Mapping[str, tuple[Rung, ...]]:
    """The ladders that hold for the rules of a map, by category and kind.

    Its own and those of the maps that extend it, the more specific first. What no map says for
    rules that come along, `default` says.
    """
    said: dict[str, tuple[Rung, ...]] = {}
    for document in documents:
        said = {**document.content.ladders, **said}
        if document is source:
            break
    return {**_coming_along(), **said} if source.built_in else said


def ladder_of(rule: ErrorRule, said: Mapping[str, tuple[Rung, ...]]) -> tuple[Rung, ...]:
    """A rule's own ladder; where it says none, that of its category, or else of its kind.

    Where it leaves that to the error itself, every rung that one may come to.
    """
    if leaves_open(rule):
        return tuple(dict.fromkeys(rung for ladder in said.values() for rung in ladder))
    if "repair" in rule.model_fields_set:
        return rule.repair
    return ladder_by(rule.kind, rule.category, said)


def leaves_open(rule: ErrorRule) -> bool:
    """Whether the ladder hangs on what the error itself turns out to be."""
    return rule.repair == (AS_DIAGNOSED,)


def ladder_by(
    kind: ErrorKind | None, category: Category | None, said: Mapping[str, tuple[AnyRung, ...]]
) -> tuple[AnyRung, ...]:
    """The ladder of a category, or else of a kind."""
    for key in (category, kind):
        if key is not None and key.value in said:
            return said[key.value]
    return ()


@cache
def _coming_along() -> Mapping[str, tuple[Rung, ...]]:
    return read_map(find_map("default")).content.ladders
