"""correct-enum: takes the one listed value that is meant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.names import near_letters, same_words, words
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slot import subschema

_FILLERS: Final = frozenset({"class", "type", "mode", "level", "option", "the", "a"})
"""Words that name what is chosen; beside a listed value they say nothing more."""


@dataclass(frozen=True, slots=True)
class CorrectEnum:
    """Correct `" Business"` and `"business class"` to `"business"`.

    Gives up where two values are equally near, or none is.

    Attributes:
        synonyms: Listed values by the other words that they go by.
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        before = look(call, diagnosis.path)
        listed = _list_values(diagnosis, context)
        if not isinstance(before, str) or not listed:
            return GiveUp("there is no text, or the allowed values are unknown")
        after, safety = _meant(before, listed)
        synonym = self.synonyms.get("_".join(words(before)))
        if after is None and synonym in listed:
            after, safety = synonym, Safety.INFERRED
        if after is None:
            return GiveUp(f"{before!r:.60} is near none or several of {', '.join(listed)[:200]}")
        return Changed(Change(diagnosis.path, before, after, safety, "a listed value"))


def _list_values(diagnosis: Diagnosis, context: RepairContext) -> list[str]:
    """Return the listed values: those of the schema, else those that the error names."""
    schema = subschema(context.schema, keys_of(diagnosis.path))
    found = schema.get("enum") or diagnosis.constraint.get("enum")
    if found is None and "allowed" in diagnosis.captures:
        found = [
            each.strip(" '\"") for each in diagnosis.captures["allowed"].strip("[]()").split(",")
        ]
    return [each for each in found or () if isinstance(each, str)]


def _meant(text: str, listed: list[str]) -> tuple[str | None, Safety]:
    """Return the one value that is equal, near, or named beside words that say nothing more."""
    for is_alike, safety in (
        (same_words, Safety.EXACT),
        (near_letters, Safety.INFERRED),
        (_names, Safety.INFERRED),
    ):
        found = [each for each in listed if is_alike(text, each)]
        if found:
            return (found[0] if len(found) == 1 else None), safety
    return None, Safety.INFERRED


def _names(text: str, value: str) -> bool:
    wanted, said = words(value), words(text)
    return bool(wanted) and set(said) - set(wanted) <= _FILLERS and set(wanted) <= set(said)
