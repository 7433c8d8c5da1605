"""Which changes run unasked. A strategy states the class of a change; here stands what may run."""

from collections.abc import Iterable

from selfcorrect.effects.effect import acts
from selfcorrect.model import Change, Safety, frozen, name_place
from selfcorrect.names import same_words
from selfcorrect.pointer import ARGS, keys_of
from selfcorrect.tools.spec import ToolSpec

DEFAULT_CLASSES = frozenset({Safety.EXACT, Safety.INFERRED, Safety.MEMORY})


@frozen
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
        for path in filter(None, (change.path, change.moved_from)):
            keys = keys_of(path)
            # By words: a value must not lose its protection under another spelling of its name.
            if any(same_words(key, name) for key in keys for name in self.sensitive):
                return True
            if tool and tool.slot.at(keys).view.get("x-sensitive"):
                return True
        return False
