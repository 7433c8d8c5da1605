"""Which changes run unasked. A strategy states the class of a change; here stands what may run."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
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
    values = [each for each in _leaves(change.after) if len(each) > 1]
    known = json.dumps(list(trusted), ensure_ascii=False, default=repr).casefold()
    doubtful = " ".join(untrusted).casefold()
    return any(_stands_in(each, doubtful) and not _stands_in(each, known) for each in values)


def _stands_in(value: str, text: str) -> bool:
    """Say whether a text holds a value as a whole: 50 does not stand in 500."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        around = text[start - 1 : start] + text[end : end + 1]
        if not any(char.isalnum() for char in around):
            return True
        start = text.find(value, start + 1)
    return False


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value).casefold()]
