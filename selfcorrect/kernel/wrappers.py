"""What stands around arguments or a value and says no more than that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.kernel.forms import WRAPPING
from selfcorrect.kernel.likeness import has_own_sign, is_spelled, tool_likeness
from selfcorrect.kernel.spellings import EXACT, INFERRED, Slot
from selfcorrect.kernel.verdicts import Path, Reason, Step, named
from selfcorrect.model import JSON, Safety
from selfcorrect.plain import equal, loaded
from selfcorrect.pointer import join
from selfcorrect.text import normal, spelling, tokens
from selfcorrect.words import SHORT_WORDS, singular

NAMERS: Final = ("name", "tool", "tool_name", "function", "function_name", "action")
_TYPES: Final = frozenset({"function", "object", "tool_use", "tool_call", "function_call", "dict"})
_VALUES: Final = frozenset({"value", "values", "item", "items", "element"})
_KINDS: Final = frozenset(
    {"array", "bool", "boolean", "dict", "double", "float", "int", "integer", "list", "number"}
    | {"object", "str", "string"}
)


_LEVELS: Final = 4
_MOST_TOLD: Final = 600


def unwrapped(step: Step) -> tuple[Mapping[str, JSON], list[Reason]]:
    """The written arguments without what is around all of them, and what was taken off."""
    args, reasons = step.written.args, list[Reason]()
    for _ in range(_LEVELS):
        gone = (key for key in args if key not in step.runs.args)
        wraps = [key for key in gone if _wraps(step, key, args[key])]
        if len(wraps) != 1:
            break
        content: Any = loaded(args[wraps[0]])
        beside = {k: v for k, v in args.items() if k != wraps[0]}
        said = {k: v for k, v in beside.items() if not _is_envelope(step, k, v)}
        if any(key in NAMERS and not step.slot((key,)).declared for key in said):
            break  # it names another tool
        for key in said.keys() & content.keys():
            words = f"two values were written for {named(key)}"
            reasons.append(Reason(Safety.LOSSY, 1, join("args", key), words))
        safety = INFERRED if beside else EXACT
        place = join("args") if beside else join("args", wraps[0])
        reasons.append(Reason(safety, 2, place))
        args = {**content, **said}
    return args, reasons


def _wraps(step: Step, key: str, value: JSON) -> bool:
    """Whether a key stands around all arguments: K1's, the tool's own name, or no name."""
    if not isinstance(loaded(value), dict):
        return False
    if any(is_spelled(key, name) for name in step.slot(()).names):
        return False  # a word that the schema declares is that parameter, and no wrapper
    names = (step.runs.name, step.written.name)
    is_own = any(spelling(key) == spelling(name) != "" for name in names)
    return spelling(key) in WRAPPING or is_own or (not normal(key) and not has_own_sign(key))


def _is_envelope(step: Step, key: str, value: JSON) -> bool:
    """Whether a key beside the wrapper belongs to it: the tool's name, a known type."""
    if step.slot((key,)).declared or not isinstance(value, str):
        return False
    if key in NAMERS:
        return tool_likeness(value, step.runs.name, step.offered) is EXACT
    return key == "type" and value in _TYPES


def without_schema(
    step: Step, written: dict[str, JSON], runs: dict[str, JSON], path: Path
) -> dict[str, JSON]:
    """An object without the schema's own words around it: `{"type", "properties": …}`."""
    inner = written.get("properties")
    # Another type than an object's is a word of its own: `{"type": "refund", "properties": …}`.
    is_known = str(written.get("type", "object")).lower() in _KINDS
    if not isinstance(inner, dict) or not is_known or not written.keys() <= {"type", "properties"}:
        return written
    is_own = "properties" in runs or step.slot((*path, "properties")).declared
    return written if is_own else inner


def value_in(written: Mapping[str, JSON], slot: Slot) -> JSON:
    """The value in a wrapper of its own: `{"value": 5}`, `{"type": "string", "value": "x"}`."""
    keys = [k for k, v in written.items() if not (k == "type" and str(v).lower() in _KINDS)]
    if len(keys) != 1 or keys[0] in slot.names:
        return None
    own = {singular(word) for word in tokens(slot.name)[-1:]}
    is_own = is_spelled(keys[0], slot.name) or singular(keys[0].lower()) in own
    return written[keys[0]] if keys[0] in _VALUES or is_own else None


def is_as_spelled(written: JSON, runs: JSON, source: str) -> bool:
    """Whether a text is the number as it stood in the text that was read: `1.10`, `+4930`."""
    if not source or not isinstance(runs, str) or type(written) not in (int, float):
        return False
    try:
        is_same = float(runs) == float(written)
    except ValueError:
        return False
    return is_same and re.search(rf"(?<![\w.+-]){re.escape(runs)}(?![\w.])", source) is not None


def in_order(written: JSON, runs: Sequence[JSON], slot: Slot) -> Safety | None:
    """An object as a list of its values, in the order in which the description tells its keys."""
    if not isinstance(written, dict) or len(written) != len(runs):
        return None
    listed = ordered(written, slot.said)
    return INFERRED if listed and all(map(equal, listed, runs)) else None


def ordered(written: Mapping[str, JSON], said: str) -> list[JSON]:
    """The values of an object in the order in which a text tells its keys; empty if it does not.

    >>> ordered({"longitude": 2, "lat": 1}, "Latitude and longitude of the place")
    [1, 2]
    """
    told = [singular(word) for piece in said[:_MOST_TOLD].split() for word in tokens(piece)]
    keys = [SHORT_WORDS.get(key.lower(), key.lower()) for key in written]
    places = [[i for i, word in enumerate(told) if _is_word(key, word)] for key in keys]
    if not all(places) or len({each[0] for each in places}) < len(places):
        return []
    first, last = ([each[end] for each in places] for end in (0, -1))
    order = sorted(range(len(keys)), key=first.__getitem__)
    if order != sorted(order, key=last.__getitem__):
        return []  # it tells them in two orders
    values = [*written.values()]
    return [values[i] for i in order]


def _is_word(key: str, word: str) -> bool:
    return word == singular(key) or (len(key) > 2 and word.startswith(key))
