"""Asking the person at the terminal; the end of input means that nobody answered."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from selfcorrect.batch.lines import parse
from selfcorrect.cli.screen import console, row, short
from selfcorrect.model import JSON

REJECT: Final = {"action": "reject"}


class Unanswered(Exception):
    """The input ended before anybody answered."""


def ask(question: JSON) -> JSON:
    """Show a question on stderr and read the answer from stdin, in the form of ask-human.

    What is typed is JSON, or else text: `2` is a number, `2024-10-26` and `"2"` are texts.

    Raises:
        Unanswered: If the input ends, or is closed.
    """
    asked = question if isinstance(question, Mapping) else {"question": str(question)}
    options = asked.get("options") or []
    screen = console(stderr=True)
    for told in _beside(asked):
        screen.print(told)
    if problem := asked.get("problem"):
        screen.print(row("not used", (f"the last answer: {problem}", "bold red")))
    screen.print(row("question", (str(asked.get("question", "")), "bold yellow")))
    for number, option in enumerate(options, 1):
        screen.print(row(f"#{number}", _shown(option)))
    how = "a value, #1 for the first option, or reject" if options else "a value, or reject"
    while True:
        screen.print(row("answer?", (f"{how}:", "dim")), end=" ")
        keys = sys.stdin
        line = "" if keys is None or keys.closed else keys.readline()
        if keys is None or not (line and keys.isatty()):
            screen.print()  # nobody pressed enter on this screen
        if not line:
            raise Unanswered
        if (answer := read(line.strip(), len(options))) is not None:
            return answer


def read(text: str, options: int) -> JSON:
    """The answer that a line means, or None where it means none.

    >>> read("#2", options=3)
    {'action': 'choose', 'choice': 1}
    >>> read("two", options=3), read("2", options=3)
    ({'action': 'answer', 'value': 'two'}, {'action': 'answer', 'value': 2})
    """
    if not text:
        return None
    if text.casefold() == "reject":
        return REJECT
    if text.startswith("#") and text[1:].isdecimal() and 1 <= int(text[1:]) <= options:
        return {"action": "choose", "choice": int(text[1:]) - 1}
    try:
        value = parse(text)
    except ValueError:
        value = text
    if value is None:
        return REJECT
    if isinstance(value, Mapping) and "action" in value:
        return value
    return {"action": "answer", "value": value}


def _beside(asked: Mapping[str, Any]) -> Iterator[Text]:
    """What a person needs to know before the question."""
    if request := asked.get("request"):
        yield row("request", str(request))
    for label, key in (("written", "original"), ("call", "call")):
        if isinstance(call := asked.get(key), Mapping):
            yield row(label, f"{call.get('name', '')} {short(call.get('args', {}), 300)}")
    if executions := asked.get("executions"):
        did = {"no": "did nothing", "refused": "refused", "maybe": "may have acted"}
        yield row("so far", f"executed {executions}×, {did.get(str(asked.get('acted')), '?')}")


def _shown(option: JSON) -> str:
    """An option; where it is a list of changes, what they would change."""
    if isinstance(option, list) and option and all(isinstance(item, Mapping) for item in option):
        return ", ".join(
            f"{item.get('path')}: {short(item.get('after', 'removed'))}" for item in option
        )
    return short(option)
