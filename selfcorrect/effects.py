"""What may be called again: one table of outcome and effect.

| an execution ended, and it | is known by (structure only) | read_only, idempotent | mutating, destructive |
|---|---|---|---|
| `done` | a value that is no error | again | never |
| `not_done` | our own check; the host's check before the tool's body; `NotDone`; `verify`; a rule | again | again |
| `refused` | a status 4xx, a `raise` of the tool's own code, `isError` | again | never, but by the model or a person |
| `lost` | no answer, or it broke off: timeout, connection, 5xx, a fault in the tool's code, a kill | again | never |

"Never" holds for the runtime itself: a tool that acts is executed once, and what could be mended is
proposed. A tool declared *atomic* takes one step: what it refused, it did not do. After `lost` an
equal call is answered from memory, whoever asks for it, until `verify` or a person says otherwise.
Which error leaves which outcome says `selfcorrect.kernel.outcomes`.
"""  # noqa: E501 -- a table

from __future__ import annotations

import re
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from selfcorrect.protocols import Effect, Tool

EFFECTS: Final[tuple[Effect, ...]] = ("read_only", "idempotent", "mutating", "destructive")
UNDECLARED: Final[Effect] = "mutating"
"""What a tool is taken for that does not say."""
_DESTROYING: Final = frozenset(
    {"cancel", "deactivate", "decommission", "del", "delete", "deprovision", "destroy", "discard"}
    | {"drop", "erase", "expunge", "kill", "purge", "remove", "revoke", "rm", "rmdir", "shred"}
    | {"terminate", "truncate", "uninstall", "unlink", "wipe"}
)
_LONG: Final = tuple(sorted(verb for verb in _DESTROYING if len(verb) > 5))
_ENDINGS: Final = frozenset({"d", "ed", "led", "r", "rs", "er", "ers", "lation", "lations"})
"""What makes another word of a verb: `deleted`, `remover`, `cancellation`."""
_READING: Final = frozenset(
    {"count", "describe", "find", "get", "is", "list", "read", "search", "show", "view"}
)
_BORDER: Final = re.compile(r"[.:/]|__")


class Outcome(StrEnum):
    """What is known of what an execution did."""

    DONE = "done"
    NOT_DONE = "not_done"
    REFUSED = "refused"
    LOST = "lost"


_REPEATABLE: Final[tuple[Effect, ...]] = ("read_only", "idempotent")

MAY_CALL_AGAIN: Final = MappingProxyType(
    {
        (outcome, effect): outcome is Outcome.NOT_DONE or effect in _REPEATABLE
        for outcome in Outcome
        for effect in EFFECTS
    }
)


def may_call_again(outcome: Outcome, effect: Effect) -> bool:
    """Whether the runtime may call a tool of this effect again after this outcome."""
    return MAY_CALL_AGAIN[(outcome, effect)]


def acts(tool: Tool) -> bool:
    """Whether a call of a tool, made once more than is meant, would change something."""
    return not may_call_again(Outcome.DONE, tool.effect)


def destroys(tool: Tool) -> bool:
    """Whether a tool destroys something, as declared; or by its name, where nobody declared it.

    >>> from selfcorrect.tools import ToolSpec
    >>> def named(name, effect=None):
    ...     return ToolSpec.from_schema({"name": name, "parameters": {}}, effect=effect)
    >>> destroys(named("sql.delete_rows")), destroys(named("get_deleted_rows"))
    (True, False)
    >>> destroys(named("remove_background", "idempotent")), destroys(named("act", "destructive"))
    (False, True)
    """
    if tool.effect != UNDECLARED or getattr(tool, "declared", True):
        return tool.effect == "destructive"
    from selfcorrect.text import tokens  # only an undeclared tool is judged by its name

    words = tokens(_BORDER.split(tool.name)[-1])
    if words[:1] and words[0] in _READING and "and" not in words:
        return False
    return any(map(_is_destroying, tokens(tool.name)))


def _is_destroying(word: str) -> bool:
    """Whether a word is such a verb, or one that another word was written behind: `deleteuser`."""
    if word in _DESTROYING:
        return True
    verb = next((verb for verb in _LONG if word.startswith(verb)), "")
    return bool(verb) and word[len(verb) :] not in _ENDINGS
