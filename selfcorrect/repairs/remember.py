"""remember: moves a value, or renames a tool, as a model or a person did it before."""

from collections.abc import Iterable, Mapping, Sequence
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
        # What a model found out is repeated only where a model may be asked.
        makers = _MAKERS if context.model is not None else {Safety.HUMAN}
        rows = [each for each in self._do(_FIND, call.name) if each[-1] in makers]
        if (tool := context.tools.get(call.name)) is None:
            changes = _rename(rows, call, context.tools)
        else:
            own = _digest(tool)
            moves = {origin: to for digest, origin, to, _ in rows if to and digest == own}
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
        if tool is None or tool.effect == "destructive" or not makers:
            return
        if not isinstance(original, dict) or not isinstance(original.get("args"), dict):
            return
        name = call_of(original).name
        moves = _compare(original["args"], call.args, tool)
        if moves is None or (name != call.name and name in tools):
            # Something was dropped or added, or another tool was chosen: that is not a slip.
            return
        # What a rule moves by itself needs no memory.
        by_rule = {each.moved_from for each in changes if each.safety not in _MAKERS}
        rows = [
            (call.name, origin, target)
            for origin, target in moves.items()
            if pointer(origin) not in by_rule
        ]
        if any(each.path == _NAME and each.safety in _MAKERS for each in changes):
            rows += [(name, _NAME, call.name)] if _is_name(name) else []
        for tool_name, origin, target in rows:
            self._do(_KEEP, tool_name, _digest(tool), origin, target, max(makers).value)

    def _do(self, statement: str, *values: JSON) -> list[Any]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()


_NAME = "/name"
_MAKERS = frozenset({Safety.MODEL, Safety.HUMAN})
_MOST = 20
"""Values that one run may have moved: what moves more is not a slip of a name."""
_TABLE = """
create table if not exists moves (
  tool text, schema text, origin text, target text, maker text,
  primary key (tool, schema, origin)
)
"""
_FIND = "select schema, origin, target, maker from moves where tool = ?"
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


def _rename(
    rows: Iterable[Sequence[str]], call: Call, tools: Mapping[str, ToolSpec]
) -> list[Change]:
    """Return the change of a tool's name, if every time the same tool was meant."""
    digests = {digest: target for digest, origin, target, _ in rows if origin == _NAME}
    names = {*digests.values()}
    if len(names) != 1 or (name := names.pop()) not in tools or _digest(tools[name]) not in digests:
        return []
    return [Change(_NAME, call.name, name, Safety.MEMORY, "the tool that was meant before")]


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


def _compare(start: JsonObject, end: JsonObject, tool: ToolSpec) -> dict[str, str] | None:
    """Return where each argument went that the schema did not take; None if not all can be told.

    Nothing may be left out or written anew, and no value may stand for two.
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
    is_slip = len(new) == len(gone) <= _MOST and new <= place.properties.keys()
    if not is_slip or not gone.isdisjoint(place.properties) or (gone and place.is_open):
        return None
    pairs = [(origin, target) for target in new for origin in before if means(origin, target)]
    moves = dict(pairs)
    is_whole = all(means(name, name) for name in before.keys() & after.keys())
    if not (is_whole and moves.keys() == gone and len(pairs) == len(gone)):
        return None
    return {
        origin: target
        for origin, target in moves.items()
        if _is_name(origin) and _says_enough(after[target])
    }


def _is_name(key: str) -> bool:
    """Say whether a key is a name: several words may be content, and some keys are secrets."""
    is_plainly = is_plain(key) and " " not in key and len(key) <= LONGEST
    return is_plainly and not names_secret([key]) and redact(key) == key


def _says_enough(value: JSON) -> bool:
    """Say whether an equal value is not an accident: a truth value or one digit may well be."""
    return not isinstance(value, bool) and len(str(value)) > 1
