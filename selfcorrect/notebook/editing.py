"""Edits by hand: what may be written where, checked before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.drawing import START
from selfcorrect.errors import GraphSetupError, MapError, StrategyNotFound
from selfcorrect.hints import near
from selfcorrect.json_forms import to_json
from selfcorrect.model import ABSENT, Change, JsonObject, Safety
from selfcorrect.notebook.parts import Steppable
from selfcorrect.plain import digest, problem
from selfcorrect.pointer import join
from selfcorrect.state import INPUT_KEYS

CALL_KEYS: Final = ("name", "args", "strategy", "options")
_CHOICE: Final = ("rule", "strategy", "path", "options")
_BEFORE_VALIDATE: Final = ("diagnose", "select_strategy", "repair", "report_failure")


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be written, and as which node.

    Attributes:
        values: A mapping of state keys, or a `Command` that also says what runs next.
    """

    values: Any
    as_node: str


def edit_of(
    parts: Steppable,
    wanted: Mapping[str, Any],
    values: Mapping[str, Any],
    ran: Sequence[str],
    following: Sequence[str],
) -> Edit:
    """The edit that a person asks for.

    Args:
        parts: The graph.
        wanted: Keys and their new values; for a loop `args`, `name` and `strategy` as well.
        values: The state as it is.
        ran: The nodes that made this state.
        following: The nodes that run next.

    Raises:
        GraphSetupError: If it cannot be written; nothing has been.
    """
    if not isinstance(wanted, Mapping) or not wanted:
        raise GraphSetupError("an edit is an object of keys and their new values")
    if not following:
        raise GraphSetupError("the run is over: go back to the step that you want to change")
    if len(set(ran)) != 1:
        raise GraphSetupError("several nodes ran at once here: edit before or after them")
    _known_keys(parts, wanted)
    if parts.loop is None:
        return _generic(parts, dict(wanted), ran[0], following)
    for key, value in wanted.items():
        if (wrong := problem(value)) is not None:
            raise GraphSetupError(f"{key}{wrong[0]}: {wrong[1]}")
    if ran[0] == START:
        return Edit(_input(wanted, values), START)
    return _loop(parts, wanted, values, ran[0], list(following))


def _known_keys(parts: Steppable, wanted: Mapping[str, Any]) -> None:
    known = [*(CALL_KEYS if parts.loop is not None else ()), *parts.editable]
    for key in wanted:
        if key not in known:
            hint = near(str(key), known) or f"there are {', '.join(known[:12])}"
            raise GraphSetupError(f"there is no key {str(key)!r:.80}; {hint}")


def _generic(
    parts: Steppable, wanted: dict[str, Any], as_node: str, following: Sequence[str]
) -> Edit:
    from langgraph.channels.binop import BinaryOperatorAggregate
    from langgraph.types import Command, Overwrite

    for key, value in wanted.items():
        if isinstance(parts.graph.channels[key], BinaryOperatorAggregate):
            # What is typed is what shall stand there, not something to append.
            wanted[key] = Overwrite(value)
    if as_node == START or _has_own_ways(parts.graph.builder, as_node):
        return Edit(wanted, as_node)
    return Edit(Command(update=wanted, goto=list(dict.fromkeys(following))), as_node)


def _has_own_ways(builder: Any, node: str) -> bool:
    """Whether edges lead on from a node, so that LangGraph itself finds what runs next."""
    waiting = any(node in starts for starts, _ in builder.waiting_edges)
    return waiting or node in builder.branches or any(start == node for start, _ in builder.edges)


def _input(wanted: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a run that has not begun; all of it, since it lasts for one step only."""
    given = {key: values[key] for key in INPUT_KEYS if values.get(key) is not None}
    if wanted.keys() & {"strategy", "options"}:
        raise GraphSetupError("a strategy can be chosen where repair is next")
    given |= {key: value for key, value in wanted.items() if key in INPUT_KEYS}
    if "name" in wanted or "args" in wanted:
        old = given.get("call")
        old = old if isinstance(old, Mapping) else {}
        call = _call(wanted, {"name": old.get("name"), "args": old.get("args"), **old})
        given.pop("raw", None)
        given["call"] = call
    if unknown := [key for key in wanted if key not in {*INPUT_KEYS, "name", "args"}]:
        raise GraphSetupError(f"before the start there is no {unknown[0]!r} yet")
    return given


def _loop(
    parts: Steppable,
    wanted: Mapping[str, Any],
    values: Mapping[str, Any],
    as_node: str,
    following: list[str],
) -> Edit:
    from langgraph.types import Command, Overwrite

    update: dict[str, Any] = {key: wanted[key] for key in wanted if key not in CALL_KEYS}
    if isinstance(update.get("trail"), list):
        update["trail"] = Overwrite(update["trail"])
    changes: list[dict[str, Any]] = []
    if "current" in wanted:
        update["current"] = _call(wanted["current"], {})
        changes = _changes(values.get("current") or {}, update["current"])
    if "name" in wanted or "args" in wanted:
        old = values.get("current") or {}
        update["current"] = _call(wanted, old)
        changes = _changes(old, update["current"])
    if "strategy" in wanted or "options" in wanted:
        update["selected"] = _selected(parts, wanted, values, following)
    if changes:
        update["changes"] = [*(values.get("changes") or ()), *changes]
        # What was found wrong was found in another call.
        update |= {"pending": [], "question": None, "stop": None}
        is_early = following[0].removeprefix("before_") in _BEFORE_VALIDATE
        following = ["validate"] if is_early else following
    if parts.loop is not None:  # what was written, the guard of what is next has not seen
        following = [parts.loop.table.into(node) for node in following]
    if "trail" not in update:
        step = len(values.get("trail") or ()) or 1
        event = {"step": step, "node": "edit", "next": following[0], "changes": changes}
        if "selected" in update:
            first = update["selected"][0]
            event["selected"] = [{key: first[key] for key in _CHOICE if key in first}]
        update["trail"] = [event]
    return Edit(Command(update=update, goto=following), as_node)


def _call(wanted: Any, old: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(wanted, Mapping):
        raise GraphSetupError("a call is an object with name and args")
    name, args = wanted.get("name", old.get("name")), wanted.get("args", old.get("args"))
    if not isinstance(name, str) or not name.strip():
        raise GraphSetupError("the name of the call must be text")
    if not isinstance(args, dict):
        raise GraphSetupError("the arguments must be an object")
    return {"name": name, "args": args, **({"id": old["id"]} if old.get("id") else {})}


def _changes(old: JsonObject, new: JsonObject) -> list[dict[str, Any]]:
    """What a person changed, as changes of class human."""
    pairs = [("/name", old.get("name", ABSENT), new["name"])]
    held = old.get("args")
    before: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    keys: list[str] = list(dict.fromkeys([*before, *new["args"]]))
    pairs += [
        (f"/args{join(key)}", before.get(key, ABSENT), new["args"].get(key, ABSENT)) for key in keys
    ]
    return [
        to_json(Change(path, was, now, Safety.HUMAN, "edited by hand", "edit"))
        for path, was, now in pairs
        if _fingerprint(was) != _fingerprint(now)
    ]


def _fingerprint(value: Any) -> str:
    return "" if value is ABSENT else digest(value)


def _selected(
    parts: Steppable,
    wanted: Mapping[str, Any],
    values: Mapping[str, Any],
    following: Sequence[str],
) -> list[dict[str, Any]]:
    selected = values.get("selected") or []
    if parts.loop is None or "repair" not in following or not selected:
        raise GraphSetupError("a strategy can be chosen where repair is next")
    first = selected[0]
    rule = first.get("rule") or ""
    name = wanted.get("strategy", first.get("strategy"))
    ladder = ladder_of(parts, values)
    options = wanted.get("options")
    if options is not None and not isinstance(options, Mapping):
        raise GraphSetupError("the options of a strategy are an object")
    try:
        parts.loop.context.strategies.strategy(rule, name, options)
    except MapError as error:
        told = "; ".join(
            str(replace(fault, key=f"options.{fault.key}" if fault.key else None))
            for fault in error.faults
        )
        raise GraphSetupError(f"strategy {name!r:.80}: {told}") from None
    except (StrategyNotFound, KeyError, TypeError):
        hint = near(str(name), ladder) or f"its ladder has {', '.join(ladder)}"
        raise GraphSetupError(f"rule {rule!r} has no strategy {name!r:.80}; {hint}") from None
    chosen = {key: value for key, value in first.items() if key != "question"}
    if options is not None:
        chosen["options"] = {**(first.get("options") or {}), name: dict(options)}
    return [{**chosen, "strategy": name}, *selected[1:]]


def ladder_of(parts: Steppable, values: Mapping[str, Any]) -> list[str]:
    """The strategies among which a person may choose for what is repaired next."""
    selected = values.get("selected") or []
    if parts.loop is None or not selected:
        return []
    try:
        return list(parts.loop.context.strategies.ladder(selected[0].get("rule") or ""))
    except (KeyError, StrategyNotFound):
        return []


def options_of(parts: Steppable, values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The options of a strategy on the ladder of what is repaired next."""
    selected = values.get("selected") or []
    if parts.loop is None or not selected:
        return {}
    chosen = (selected[0].get("options") or {}).get(name)
    rule = parts.loop.context.strategies.rule(selected[0].get("rule") or "")
    found = chosen if chosen is not None else rule.options.get(name) if rule is not None else None
    return found or {}
