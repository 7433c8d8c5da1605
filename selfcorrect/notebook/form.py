"""What can be edited here, as text; secrets stay masked on screen and whole in the state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.kernel.texts import safe
from selfcorrect.notebook.editing import ladder_of, options_of
from selfcorrect.notebook.recorder import is_start
from selfcorrect.notebook.standing import Standing
from selfcorrect.plain import problem

_LONGEST: Final = 20_000
"""Characters of a form; larger states are edited with `Stepper.edit` in a cell."""


def form_of(at: Standing) -> dict[str, Any] | None:
    """The form for an edit here; None where nothing can be edited."""
    if not at.here.next:
        return None
    subject, values = editable(at)
    text = _text(values)
    if len(text) > _LONGEST:
        text = ""
    ladder = ladder_of(at.parts, at.values) if "repair" in at.here.next else []
    selected = at.values.get("selected") or [{}]
    chosen = selected[0].get("strategy", "") if ladder else ""
    return {
        "subject": subject,
        "text": text,
        "strategies": ladder,
        "strategy": chosen,
        "options": {name: _text(options_of(at.parts, at.values, name)) for name in ladder},
    }


def editable(at: Standing) -> tuple[str, Any]:
    """What a form is about (`args` or `state`), and its value now."""
    values = at.values
    if at.parts.loop is None:
        keys = [key for key in at.parts.editable if key in values]
        return "state", {key: values[key] for key in keys if problem(values[key]) is None}
    call = values.get("call") if is_start(at.here) else values.get("current")
    args = call.get("args") if isinstance(call, Mapping) else None
    return "args", args if isinstance(args, Mapping) else {}


def edit_from(
    at: Standing, text: str, strategy: str | None, options: str | None = None
) -> dict[str, Any]:
    """The edit that a filled form means.

    Raises:
        ValueError: If a text is no JSON object.
    """
    subject, old = editable(at)
    wanted: dict[str, Any] = {}
    if text.strip():
        new = unmasked(_object(text, ""), old)
        if subject == "state":
            wanted = {
                key: value for key, value in new.items() if key not in old or value != old[key]
            }
        elif new != old:
            wanted = {"args": new}
    form = form_of(at) or {}
    before = str(form.get("strategy") or "")
    name = strategy or before
    if name != before:
        wanted["strategy"] = name
    if options is not None and name in form.get("options", {}):
        known = options_of(at.parts, at.values, name)
        chosen = unmasked(_object(options.strip() or "{}", "options: "), known)
        if chosen != known:
            wanted["options"] = chosen
    if not wanted:
        raise ValueError("nothing was changed")
    return wanted


def _text(values: Any) -> str:
    return json.dumps(safe(values), ensure_ascii=False, indent=2, default=str)


def _object(text: str, place: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(f"{place}nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{place}{error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{place}a JSON object is needed")  # noqa: TRY004 -- as for no JSON
    return found


def unmasked(new: Any, old: Any, key: Any = "") -> Any:
    """The new value, with what is still masked in it as it was before."""
    if isinstance(new, dict) and isinstance(old, Mapping):
        names = {safe(name): name for name in old}
        if len(names) < len(old):
            raise ValueError("two names hold secrets and cannot be told apart here")
        known = [(names.get(name, name), item) for name, item in new.items()]
        return {name: unmasked(item, old.get(name), name) for name, item in known}
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [unmasked(a, b, key) for a, b in zip(new, old, strict=True)]
    if isinstance(new, str) and new == safe(old, key):
        return old
    return new
