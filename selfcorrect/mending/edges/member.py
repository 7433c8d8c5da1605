"""The listed value that was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selfcorrect.kernel.likeness import meant_values
from selfcorrect.kernel.texts import quoted
from selfcorrect.mending.choice import Contested, Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import strings
from selfcorrect.text import LONGEST, Unclear, is_spelling_of, spelling


@dataclass(frozen=True, slots=True)
class Member:
    """The listed value that was meant.

    Attributes:
        synonyms: What else a listed value is called here.
    """

    synonyms: Mapping[str, JSON] = field(default_factory=dict)

    def __call__(self, value: JSON, want: Place) -> Iterator[Fit]:
        """Take the listed value that differs in spelling only, or in words that say nothing."""
        members = want.members
        said = _as_text(value)
        if not members:
            if said is not None and not want.own and said.strip() not in ("", said):
                yield candidate(said.strip(), "spelling", "white space around a value")
                return
            raise Unclear("the schema lists no values here")
        if said is None or len(said) > LONGEST:
            raise Unclear("the value is no short text")
        equal = [one for one in members if _is_spelled(one, said)]
        if equal:
            one = _only(equal)
            yield candidate(one, "spelling", "another spelling of a listed value")
            return
        known = {spelling(key): meant for key, meant in self.synonyms.items()}
        if (meant := known.get(spelling(said))) is not None and meant in members:
            yield candidate(meant, "synonym", "a synonym that the map gives")
            return
        found, slips = meant_values(said, strings(members), want.name, want.description)
        if found:
            reason = (
                "a listed value with a slip of the pen" if slips else "the words of a listed one"
            )
            yield candidate(_only(found), "slip" if slips else "same-words", reason)
            return
        shown = quoted(said, 60)
        raise Unclear(f"no listed value is meant with a clear margin by {shown}")


def _only(found: Sequence[JSON]) -> JSON:
    """The one value that was found.

    Raises:
        Contested: If there are more.
    """
    if len(found) > 1:
        listed = ", ".join(quoted(str(one), 40) for one in found[:5])
        raise Contested(f"several listed values are equally near: {listed}")
    return found[0]


def _as_text(value: JSON) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64:
        return str(value)
    return None


def _is_spelled(member: JSON, text: str) -> bool:
    member = _as_text(member)
    return member is not None and is_spelling_of(text, member)
