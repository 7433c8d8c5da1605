"""Reads the marks that models put around calls: one grammar of openings, bodies and closings.

A mark is a tag without its namespace and bars: `<invoke>`, `<minimax:invoke>` and
`<|DSML|invoke>` are one. A call is an opening that holds a name, then a body, then a closing.
A body is an object, or elements with one argument each, or empty. The grammar is `markup.toml`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, JsonDict
from selfcorrect.reading.json_calls import CallTextError
from selfcorrect.reading.json_text import Scanner, inside, read_json_text
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.python_calls import NAME
from selfcorrect.reading.text_call import IsTool, Span, TextCall


def read_markup(text: str, start: int, is_tool: IsTool) -> Span | None:
    """Read the marked call that begins at `start`.

    >>> read_markup("<function=f><parameter=a>x</parameter></function>", 0, bool).calls[0].arguments
    {'a': 'x'}

    Raises:
        CallTextError: If a call is marked and its body cannot be read.
    """
    for form in _FORMS:
        opening = re.compile(form["opening"] % PATTERNS).match(text, start)
        if opening is None or (form.get("is_bare") and not is_tool(opening["name"])):
            continue
        groups = opening.groupdict()
        name = groups["name"]
        closing = form["closing"] % {**PATTERNS, "name": name}
        try:
            arguments, end, skipped = _body(
                text, opening.end(), closing, groups.get("mark") or name
            )
        except JsonTextError as error:
            raise CallTextError(name, error) from None
        return Span(start, end, (TextCall(name, arguments, (), skipped, groups.get("id")),))
    return None


def with_tags(text: str) -> str:
    """Return a text with the tokens of a form as the tags that mean the same; JSON stays."""
    if "<|open|>" not in text or text.lstrip()[:1] in _JSON:
        return text
    for token, tag in _TOKENS.items():
        text = re.sub(token, tag, text)
    return text


_JSON = ("{", "[", '"')


def _body(text: str, at: int, closing: str, own: str) -> tuple[JsonDict, int, tuple[str, ...]]:
    """Read a body and its closing; an object shows its own end."""
    lead = _LEAD.match(text, at)
    at = lead.end() if lead else at
    if text.startswith("{", at):
        scanner = Scanner(text, at)
        value: Any = scanner.value()
        end = re.compile(rf"\s*(?:```\s*)?(?:{closing})").match(text, scanner.at)
        return value, end.end() if end else scanner.at, inside(scanner.skipped)
    arguments, at, skipped = _elements(text, at, own)
    end = re.compile(rf"\s*(?:{closing})").match(text, at)
    if end is not None:
        return arguments, end.end(), skipped
    if arguments and not text[at:].strip():
        return arguments, len(text), (*skipped, "inner closer")
    raise JsonTextError(f"its end is missing (character {at})")


def _elements(text: str, at: int, own: str) -> tuple[JsonDict, int, tuple[str, ...]]:
    """Read one element for each argument; a text stays a text, and the schema says what it means.

    A tag of the call's own form inside a value is refused: what follows it may be an argument, or
    words of the value. Other tags are content.

    Args:
        text: The text.
        at: Where the first element begins.
        own: The name of the tag around all elements.
    """
    arguments: JsonDict = {}
    skipped: tuple[str, ...] = ()
    names: set[str] = set()
    sides, key = {""}, ""
    while opening := _ELEMENT.match(text, at):
        key = (opening["key"] or opening["glm"] or opening["tag"]).strip()
        name = opening["parameter"] or opening["tag"] or "arg_value"
        own = "arg_key" if opening["glm"] else own
        end = next(_tags(text, opening.end(), (name, own)), None)
        if end is None:
            raise JsonTextError(f"the value of `{key[:40]}` is not closed")
        if not end["close"] or end["name"] != name:
            raise _holds_tag(key, end[0])
        if key in arguments:
            raise JsonTextError(f"`{key[:40]}` is there twice, or a value holds a tag; {_ADVICE}")
        value = text[opening.end() : end.start()]
        arguments[key], doubts, side = _value(value, opening["type"])
        skipped += doubts
        if opening["glm"] and not opening["value"]:
            skipped += ("tag",)
        names.add(name)
        sides.add(side)
        at = end.end()
    for tag in _tags(text, at, {*names, own}):
        if not tag["close"]:
            break
        if tag["name"] != own:
            # Nothing opened it: it ends the value.
            raise _holds_tag(key, tag[0])
    if "odd" in sides or len(sides) > 2:
        raise JsonTextError(f"a line end may be layout, or part of a value; {_ADVICE}")
    return arguments, at, skipped


def _tags(text: str, at: int, names: Collection[str]) -> Iterator[re.Match[str]]:
    return (tag for tag in _ANY_TAG.finditer(text, at) if tag["name"] in names)


def _holds_tag(key: str, tag: str) -> JsonTextError:
    why = f"the value of `{key[:40]}` holds the tag {tag[:40]} of the call's own form"
    return JsonTextError(f"{why}; {_ADVICE}")


def _value(text: str, is_text: str | None) -> tuple[JSON, tuple[str, ...], str]:
    """Return the value of an element, what was skipped in it, and where its line ends stand."""
    if is_text == "false":
        read = read_json_text(text)
        return read.value, inside(read.skipped), ""
    lines = None if is_text else _LINES.fullmatch(text)
    if lines is None:
        return text, (), ""
    if lines["both"] is not None:
        text = lines["both"]
    return text, (), lines.lastgroup or ""


def _compose(rows: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return the patterns of a table, where each may name those above it."""
    patterns = {"NAME": NAME}
    for name, row in rows.items():
        patterns[name] = "".join(row) % patterns
    return patterns


_TABLE = load_table("reading/markup.toml")
_FORMS, _TOKENS = _TABLE["forms"], _TABLE["tokens"]
PATTERNS = _compose(_TABLE["patterns"])
TAG = re.compile(PATTERNS["tag"])
"""A fence or a tag that may stand beside a call and says nothing."""
THINKING = re.compile(PATTERNS["thinking"])
"""What a model writes for itself; a part that is not closed reaches to the end."""
_LEAD, _ELEMENT = re.compile(PATTERNS["lead"]), re.compile(PATTERNS["element"])
_ANY_TAG, _LINES = re.compile(PATTERNS["any_tag"]), re.compile(PATTERNS["lines"])
_ADVICE = "send the call as JSON, or the value without the tag"
