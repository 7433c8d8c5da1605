"""remember: moves a value, or renames a tool, as a model or a person did it before."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
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
    Repair,
    Safety,
    call_json,
    call_of,
)
from selfcorrect.names.letters import LONGEST, is_plain
from selfcorrect.pointer import apply, find, keys_of, pointer
from selfcorrect.protocols import RepairContext
from selfcorrect.redaction import names_secret
from selfcorrect.schema.place import Place
from selfcorrect.text import redact
from selfcorrect.tools.spec import ToolSpec
from selfcorrect.values.nothing import is_empty
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Permission, readings


class Remember:
    """Move an argument as a model or a person did before; only names are kept, never a value.

    Args:
        file: A SQLite file, for all processes of one machine; left out, the process forgets.

    Raises:
        ValueError: If the file is no memory of repairs; it is left as it is.
    """

    def __init__(self, file: str = ":memory:") -> None:
        self._lock, self._database = Lock(), _open(file)
        finalize(self, self._database.close)

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
        made: Call,
        changes: Sequence[Change],
        tools: Mapping[str, ToolSpec],
    ) -> None:
        """Keep what a model or a person moved in a call that ended well.

        Args:
            original: The call as it came in.
            made: The call that ended well.
            changes: All that was changed.
            tools: The tools that are offered, by name.
        """
        tool, makers = tools.get(made.name), _MAKERS & {each.safety for each in changes}
        if tool is None or tool.effect == "destructive" or not makers:
            return
        if not isinstance(original, dict) or not isinstance(original.get("args"), dict):
            return
        start = _without_makers(call_of(original), changes)
        moves = _compare(start, made, tool)
        if moves is None or (start.name != made.name and start.name in tools):
            # Something was dropped or added, or another tool was chosen: that is no slip.
            return
        rows = [(made.name, origin, target) for origin, target in moves.items()]
        if start.name not in tools and _is_name(start.name):
            rows.append((start.name, _NAME, made.name))
        for name, origin, target in rows:
            self._do(_KEEP, name, _digest(tool), origin, target, max(makers).value)

    def _do(self, statement: str, *values: JSON) -> list[Any]:
        with self._lock:
            return self._database.execute(statement, values).fetchall()


_NAME = "/name"
_MAKERS = frozenset({Safety.MODEL, Safety.HUMAN})
_MOST = 20
"""Values that one run may have moved: what moves more is no slip of a name."""
_MARK = 0x53435232
"""`application_id` of a file of this format."""
_STATE = """
select application_id, (select count(*) from sqlite_master) from pragma_application_id
"""
_TABLE = files("selfcorrect.repairs").joinpath("remember.sql").read_text("utf-8")
_FIND = "select schema, origin, target, maker from moves where tool = ?"
_KEEP = """
insert into moves values (?, ?, ?, ?, ?) on conflict do update set
target = case when target = excluded.target then target end, maker = min(maker, excluded.maker)
"""
"""Of a place that went to two others nothing is known from then on: its target is null.

What a person moved (`human`) stays a person's, though a model (`model`) moves it too.
"""


def _open(file: str) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        # One statement: another process may be making the table.
        mark, tables = database.execute(_STATE).fetchone()
        if not mark and not tables:
            mark, _ = _MARK, database.executescript(_TABLE.format(mark=_MARK))
        problem = "" if mark == _MARK else "another program or version wrote it"
    except sqlite3.Error as error:
        problem = str(error)
    if problem:
        database.close()
        raise ValueError(f"{file} is no memory of repairs: {problem}; it was not changed")
    return database


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
    made = "moved as before"
    return [
        Change(pointer(to), ABSENT, call.args[key], Safety.MEMORY, made, pointer(key))
        for key, to in free.items()
        if path in (pointer(key), pointer(to))
    ]


def _without_makers(call: Call, changes: Iterable[Change]) -> Call:
    """Return the call as rules and memory alone would have changed it: that is not learnt."""
    for each in changes:
        if each.safety not in _MAKERS and _applies(each, call):
            call = apply(call, [each])
    return call


def _applies(change: Change, call: Call) -> bool:
    """Say whether a change finds what it was made for; behind a maker's change it may not."""
    places = {change.path: change.before}
    if change.moved_from is not None:
        places[change.moved_from] = change.after
    found = {each: find(call_json(call), keys_of(each, "")) for each in places}
    return canonical(found) == canonical(places)


def _compare(start: Call, made: Call, tool: ToolSpec) -> dict[str, str] | None:
    """Return where each argument went that the schema did not take; None if not all can be told.

    Nothing may be left out or written anew, and no value may stand for two.
    """
    before, after, known = start.args, made.args, tool.arguments.properties
    allow = Permission(EVERY, acts=tool.acts)

    def means(origin: str, target: str) -> bool:
        value = before[origin]
        ways = [
            value,
            *(each.value for each in readings(value, tool.arguments.at([target]), allow)),
        ]
        return canonical(after[target]) in map(canonical, ways)

    new, gone = after.keys() - before.keys(), before.keys() - after.keys()
    if len(new) > _MOST or not all(means(each, each) for each in before.keys() & after.keys()):
        return None
    pairs = [(origin, target) for target in new for origin in before if means(origin, target)]
    moves = dict(pairs)
    is_slip = (
        new <= known.keys() and gone.isdisjoint(known) and not (gone and tool.arguments.is_open)
    )
    if not (is_slip and moves.keys() == gone and len(pairs) == len(new) == len(gone)):
        return None
    return {
        origin: target
        for origin, target in moves.items()
        if _is_name(origin) and _is_telling(after[target])
    }


def _is_name(key: str) -> bool:
    """Say whether a key is a name: several words may be content, and some keys are secrets."""
    is_plainly = is_plain(key) and " " not in key and len(key) <= LONGEST
    return is_plainly and not names_secret([key]) and redact(key) == key


def _is_telling(value: JSON) -> bool:
    """Say whether an equal value is no accident: a truth value or one digit may well be."""
    return not isinstance(value, bool) and not is_empty(value) and len(str(value)) > 1
