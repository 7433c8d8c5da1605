"""Moves an argument as a model or a person did before; a map names it under `[use]`."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from sqlite3 import connect
from threading import Lock
from typing import Any
from weakref import finalize

from selfcorrect.effects.equal import canonical
from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonObject,
    Repair,
    Safety,
    call_of,
)
from selfcorrect.names.letters import LONGEST, is_plain
from selfcorrect.pointer import pointer
from selfcorrect.protocols import RepairContext
from selfcorrect.redaction import names_secret
from selfcorrect.schema.place import Place
from selfcorrect.text import redact
from selfcorrect.tools.spec import ToolSpec
from selfcorrect.values.nothing import is_empty
from selfcorrect.values.readings import Permission, readings


class Remember:
    """Move an argument as a model or a person did before; only names are kept, never a value.

    Args:
        file: A SQLite file, for all processes of one machine; left out, the process forgets.

    Raises:
        sqlite3.DatabaseError: If the file is another one.
    """

    def __init__(self, file: str = ":memory:") -> None:
        self._lock = Lock()
        self._database = connect(file, timeout=5, isolation_level=None, check_same_thread=False)
        finalize(self, self._database.close)
        self._do(_TABLE)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        if (tool := context.tools.get(call.name)) is None:
            return GiveUp("no tool has this name")
        # What a model found out is repeated only where a model may be asked.
        makers = _MAKERS if context.model is not None else {Safety.HUMAN}
        rows = self._do(_FIND, call.name, _digest(tool))
        moves = {origin: target for origin, target, maker in rows if target and maker in makers}
        changes = _repeat(moves, call, diagnosis.path, tool.arguments)
        return Changed(changes) if changes else GiveUp("no such repair is remembered")

    def learn(
        self,
        original: JSON,
        call: Call,
        changes: Sequence[Change],
        tools: Mapping[str, ToolSpec],
    ) -> None:
        """Keep what a model or a person moved in a call that ended well.

        Args:
            original: The call as it came in.
            call: The call that ended well.
            changes: All that was changed.
            tools: The tools that are offered, by name.
        """
        tool, makers = tools.get(call.name), _MAKERS & {each.safety for each in changes}
        written: Any = original if isinstance(original, dict) else {}
        args = written.get("args")
        if tool is None or tool.effect == "destructive" or not makers or not isinstance(args, dict):
            return
        if call_of(written).name in tools.keys() - {call.name}:
            # Another tool was chosen: that is not a slip.
            return
        # What a rule moves by itself needs no memory.
        if any(each.moved_from and each.safety not in _MAKERS for each in changes):
            return
        if move := _move_between(args, call.args, tool):
            self._do(_KEEP, tool.name, _digest(tool), *move, max(makers).value)

    def _do(self, statement: str, *values: JSON) -> list[Any]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()


_MAKERS = frozenset({Safety.MODEL, Safety.HUMAN})
_TABLE = """
create table if not exists moves (
  tool text, schema text, origin text, target text, maker text,
  primary key (tool, schema, origin)
)
"""
_FIND = "select origin, target, maker from moves where tool = ? and schema = ?"
_KEEP = """
insert into moves values (?, ?, ?, ?, ?) on conflict do update set
target = case when target = excluded.target then target end, maker = min(maker, excluded.maker)
"""
"""Of a place that went to two others nothing is known from then on: its target is null.

What a person moved (`human`) stays a person's, though a model (`model`) moves it too.
"""


def _digest(tool: ToolSpec) -> str:
    """Return what changes with a tool's schema, and with what calling it does."""
    return sha256(canonical([tool.effect, tool.parameters]).encode()).hexdigest()


def _repeat(moves: Mapping[str, str], call: Call, path: str, place: Place) -> list[Change]:
    """Return the change that moves an unknown argument from, or to, the place that is at fault."""
    meant = {key: moves[key] for key in call.args if key in moves and key not in place.properties}
    # What is there already stays, and no place gets two values.
    free = {
        key: target
        for key, target in meant.items()
        if target not in call.args and [*meant.values()].count(target) == 1
    }
    return [
        Change(pointer(to), ABSENT, call.args[key], Safety.MEMORY, "moved as before", pointer(key))
        for key, to in free.items()
        if path in (pointer(key), pointer(to))
    ]


def _move_between(start: JsonObject, end: JsonObject, tool: ToolSpec) -> tuple[str, str] | None:
    """Return the argument that the schema did not take, and where it went; None if unsure.

    Nothing may be left out or written anew, and no other value may stand for this one.
    """
    # What is empty may have been dropped.
    before, after = (
        {key: value for key, value in args.items() if not is_empty(value)} for args in (start, end)
    )
    place = tool.arguments
    allow = Permission(acts=tool.acts)

    def means(origin: str, target: str) -> bool:
        values = [each.value for each in readings(before[origin], place.at([target]), allow)]
        return canonical(after[target]) in map(canonical, [before[origin], *values])

    new, gone = after.keys() - before.keys(), before.keys() - after.keys()
    if len(new) != 1 or len(gone) != 1:
        return None
    (origin,), (target,) = gone, new
    names, same = place.properties, before.keys() & after.keys()
    is_slip = target in names and origin not in names and not place.is_open
    is_sure = [key for key in before if means(key, target)] == [origin]
    if not (is_slip and is_sure and all(means(key, key) for key in same)):
        return None
    return (origin, target) if _is_name(origin) and _says_enough(after[target]) else None


def _is_name(key: str) -> bool:
    """Say whether a key is a name: several words may be content, and some keys are secrets."""
    is_plainly = is_plain(key) and " " not in key and len(key) <= LONGEST
    return is_plainly and not names_secret([key]) and redact(key) == key


def _says_enough(value: JSON) -> bool:
    """Say whether an equal value is not an accident: a truth value or one digit may well be."""
    return not isinstance(value, bool) and len(str(value)) > 1
