"""What may be called again: one table of outcome and effect.

| an execution ended, and the effect was | read_only | idempotent | mutating | destructive |
|---|---|---|---|---|
| `not_done`: surely not sent, or refused | again | again | again | again |
| `maybe`: sent, and nobody knows | again | again | never | never |
| `done`: surely done, its answer was lost | again | again | never | never |

`maybe` is an honest "nobody knows": a timeout after the request went out, a connection reset, an
error that says nothing, a process that died. "Never" ends the run as `unknown_outcome`, in the
state, the trail and the report, and the model is told not to call it again; nor is a changed call
of the same run executed, since it may do once more what was done. A tool that has a `verify` is
asked first: what it finds out takes the place of `maybe`. Which error leaves which outcome says
`selfcorrect.evidence.outcome_of`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from selfcorrect.protocols import Effect, Tool
from selfcorrect.text import tokens

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
    """What is known of an execution's effect."""

    NOT_DONE = "not_done"
    MAYBE = "maybe"
    DONE = "done"


MAY_CALL_AGAIN: Final = MappingProxyType(
    {
        (Outcome.NOT_DONE, "read_only"): True,
        (Outcome.NOT_DONE, "idempotent"): True,
        (Outcome.NOT_DONE, "mutating"): True,
        (Outcome.NOT_DONE, "destructive"): True,
        (Outcome.MAYBE, "read_only"): True,
        (Outcome.MAYBE, "idempotent"): True,
        (Outcome.MAYBE, "mutating"): False,
        (Outcome.MAYBE, "destructive"): False,
        (Outcome.DONE, "read_only"): True,
        (Outcome.DONE, "idempotent"): True,
        (Outcome.DONE, "mutating"): False,
        (Outcome.DONE, "destructive"): False,
    }
)


def may_call_again(outcome: Outcome, effect: Effect) -> bool:
    """Whether a tool of this effect may be called again after this outcome."""
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
