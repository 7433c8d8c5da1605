"""Which changes run unasked. A strategy states the class of a change; here stands what may run."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from selfcorrect.effects.effect import acts
from selfcorrect.model import JSON, Change, Safety, name_place
from selfcorrect.names import same_words
from selfcorrect.pointer import ARGS, keys_of
from selfcorrect.schema.slot import subschema
from selfcorrect.tools.spec import ToolSpec

DEFAULT_CLASSES: Final = frozenset({Safety.EXACT, Safety.INFERRED})


@dataclass(frozen=True, slots=True)
class SafetyPolicy:
    """Which changes run unasked.

    Attributes:
        allow: Classes of changes that run.
        sensitive: Arguments whose value only a person changes, but for its spelling.
    """

    allow: frozenset[Safety] = DEFAULT_CLASSES
    sensitive: tuple[str, ...] = ()

    def refusal(
        self, change: Change, tool: ToolSpec | None, more: Iterable[Safety] = ()
    ) -> str | None:
        """Say why a change may not run unasked, or return None.

        Args:
            change: The change.
            tool: The tool that would run; None if there is none of that name.
            more: Classes that the rule allows on tools that read.
        """
        safety, place = change.safety, name_place(change.path)
        if safety is Safety.HUMAN:
            return None
        effect = tool.effect if tool else ""
        if change.path == "/name" and effect == "destructive":
            return f"{change.after!r} is destructive: its name must be written exactly"
        if safety is not Safety.EXACT and self.is_sensitive(change, tool):
            return f"`{place}` is sensitive: only a person changes it"
        if safety in self.allow:
            # A model's or a memory's word is not enough where nothing can be undone.
            unsure = safety in (Safety.MODEL, Safety.MEMORY) and effect == "destructive"
            return f"no {safety} changes a destructive call" if unsure else None
        if safety in more and tool is not None and not acts(effect):
            return None
        return f"a change of class {safety} at `{place}` needs a person"

    def is_sensitive(self, change: Change, tool: ToolSpec | None) -> bool:
        """Say whether a change touches what only a person may change."""
        if change.path == ARGS:
            return bool(self.sensitive)
        schema = tool.parameters if tool else {}
        for path in filter(None, (change.path, change.moved_from)):
            keys = keys_of(path)
            # By words: a value must not lose its protection under another spelling of its name.
            if any(same_words(key, name) for key in keys for name in self.sensitive):
                return True
            if subschema(schema, keys).get("x-sensitive"):
                return True
        return False


def is_tainted(change: Change, untrusted: Iterable[str], trusted: Iterable[JSON]) -> bool:
    """Say whether a model took a value from an error's words and from nowhere else.

    Args:
        change: A change that a model made.
        untrusted: What errors and results said.
        trusted: The call, the schema and the user's words.
    """
    known = _Words(" ".join(leaf for each in trusted for leaf in _leaves(each)))
    told = _Words(" ".join(untrusted))
    parts = (part for leaf in _leaves(change.after) for part in _parts(leaf))
    return any(told.hold(part) and not known.hold(part) for part in parts)


class _Words:
    """The words of a text one behind the other, and where each begins and ends."""

    def __init__(self, text: str) -> None:
        words = _words(text)
        self.joined = "".join(words)
        self.edges = {0, *accumulate(map(len, words))}

    def hold(self, letters: str) -> bool:
        """Say whether whole words hold these letters: 50 does not stand in 500.

        >>> _Words("pay acct-99 11").hold("acct9911"), _Words("500").hold("50")
        (True, False)
        """
        at = self.joined.find(letters)
        while at >= 0:
            if {at, at + len(letters)} <= self.edges:
                return True
            at = self.joined.find(letters, at + 1)
        return False


def _parts(value: str) -> Iterator[str]:
    """Yield the letters of a value, and of each two words that a sign joins, as in an address."""
    yield from filter(None, ["".join(_words(value))])
    for chunk in value.split():
        words = _words(chunk)
        yield from (a + b for a, b in pairwise(words) if a.isalpha() and b.isalpha())


def _words(text: str) -> list[str]:
    # Other spellings of one value are equal, such as 1,000 and 1000.
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return _WORD.findall(folded)


_WORD: Final = re.compile(r"[^\W_]+")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, Mapping):
        return [*map(str, value), *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value)]
