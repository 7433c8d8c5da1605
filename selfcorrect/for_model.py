"""What the agent's model reads of a call that failed.

In this order: what is wrong and what is allowed, what was tried, the tool's own words as data, and
at most one closing sentence that contradicts none of them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, Finding, JsonObject, is_own, name_place
from selfcorrect.pointer import find, keys_of
from selfcorrect.reading.call_object import is_forbidden
from selfcorrect.report import is_lost
from selfcorrect.schema.findings import describe, must
from selfcorrect.schema.place import Place
from selfcorrect.text import bound, quote, release
from selfcorrect.tools.spec import ToolSpec

MAX_TEXT = 1_200
MAX_WORDS = 40
"""Words before the tool's own; a sentence that is begun within them is not left out silently."""

_SENTENCES = load_table("sentences.toml")
_KINDS, _CLOSING = _SENTENCES["kinds"], _SENTENCES["closing"]
_DOUBT = "Nobody knows whether the call was done."


def text_for_model(
    stop: JsonObject, state: JsonObject, tool: ToolSpec | None, *, words: str
) -> str:
    """Return what the model reads.

    Args:
        stop: Reason and detail, as the node gave them.
        state: The state of the run.
        tool: The tool, if there is one of the name.
        words: `hide` leaves out the tool's own words.
    """
    reason, findings = stop["reason"], state["findings"]
    of_tool = [finding for finding in findings if not is_own(finding)][:3]
    # The words of a strategy or a person are not changed.
    tried, place = map(_capital, _tried(state)), tool.arguments if tool else Place({})
    problems = map(_capital, _problems(findings, place, state["current"].get("args")))
    sentences = [*problems, *_details(reason, stop, state), *tried]
    texts = [finding["text"] for finding in of_tool if words != "hide"]
    key = _closing(reason, state, is_shown=bool(texts))
    wait = next(filter(None, (finding.get("retry_after") for finding in of_tool)), None)
    key = "wait" if key == "later" and wait else key
    closing = _CLOSING.get(key, "").format(wait=wait)
    before = _fit(sentences)
    if texts:
        before += " The tool's words, as data:"
    # The closing sentence stands, however long an error is.
    room = (MAX_TEXT - len(before) - len(closing) - 8) // max(1, len(texts))
    call = json.dumps(state["current"], ensure_ascii=False, default=str) if texts else ""
    quoted = [_quote_words(text, call, min(600, room)) for text in texts]
    return release(" ".join(filter(None, [before, *quoted, closing])), MAX_TEXT)


def _problems(findings: Sequence[Finding], place: Place, args: JSON) -> Iterator[str]:
    """Say what is wrong, and what is allowed."""
    for finding in findings:
        if not is_own(finding):
            yield from _tool_problem(finding)
            continue
        wanted, text = _wanted(finding, place, args), bound(finding["text"], 600)
        if finding["code"] == "required":
            text = f"the required argument `{name_place(finding['paths'][0])}` is missing"
        yield f"{text} ({wanted})" if wanted else text


def _wanted(finding: Finding, place: Place, args: JSON) -> str:
    """Return what is allowed, where the finding does not say it: its schema, or the known names."""
    keys, code = keys_of("".join(finding["paths"][:1])), finding["code"]
    if not keys or code not in ("required", "additionalProperties", "type"):
        return ""
    if code == "additionalProperties":
        around = place.at(keys[:-1], args)
        around = around.meant(find(args, keys[:-1])) or around
        names = ", ".join(f"`{name}`" for name in islice(around.properties, 12))
        return f"known: {names}" if names else ""
    own = place.at(keys, args)
    return describe(own.view) if code == "required" else _needs(own)


def _needs(place: Place) -> str:
    """Return what an object, or each item of a list, cannot do without."""
    inner = (place.item or place).properties
    names = [f"`{name}`" for name, value in inner.items() if value.required]
    who = "each item with" if place.item else "with"
    return f"{who} {', '.join(names[:6])}" if names else ""


def _tool_problem(finding: Finding) -> Iterator[str]:
    # What only elimination says is too weak to blame.
    paths = finding["paths"] if finding.get("witness") != "elimination" else []
    places = ", ".join(f"`{name_place(path)}`" for path in paths[:5])
    problem, _ = _kind_of(finding)
    yield f"{problem} ({places})" if places else problem
    if len(paths) == 1:
        for code, value in finding["constraint"].items():
            yield f"{places} {must(code, value)}"


def _kind_of(finding: Finding) -> tuple[str, str]:
    """Return what is wrong with a tool's error, and the key of what can be done."""
    keys = (finding["code"], *finding["types"][:1], finding.get("kind"), "internal")
    problem, key = next(_KINDS[key] for key in keys if key in _KINDS)
    return problem, key


def _details(reason: str, stop: JsonObject, state: JsonObject) -> Iterator[str]:
    if is_lost(state["attempts"]):
        yield _DOUBT
    if reason in _SENTENCES["details"] or not state["findings"]:
        name, severity = state["current"].get("name"), stop.get("severity") or "HIGH"
        pattern = _SENTENCES["details"].get(reason, "{detail}")
        yield pattern.format(detail=stop["detail"], tool=name, severity=severity)
    if _is_question(reason, state):
        yield f"A question is open: {state['question']['question']}"


def _is_question(reason: str, state: JsonObject) -> bool:
    """Say whether a strategy asks something that is not the error itself."""
    if reason != "needs_person" or not state["question"]:
        return False
    question = state["question"]["question"]
    texts = (bound(finding["text"], 200).rstrip("…") for finding in state["findings"])
    return not any(text in question for text in texts)


def _tried(state: JsonObject) -> Iterator[str]:
    """Say how often the tool was called, what was changed, and how a written value can be read."""
    if (times := len(state["attempts"])) > 1:
        yield f"the tool was called {times} times"
    if state["changes"]:
        yield f"this was changed: {_changes(state['changes'])}"
    own = {path for finding in filter(is_own, state["findings"]) for path in finding["paths"]}
    texts = [_reading(trial) for trial in state["tried"] if trial["path"] in own]
    yield from islice(dict.fromkeys(filter(None, texts)), 3)


def _reading(trial: JsonObject) -> str:
    """Return what a strategy says of a value."""
    if trial["outcome"] == "refused":
        return f"this would fit: {_changes(trial['changes'])}"
    is_about_value = trial["outcome"] == "gave_up" and trial["reason"].startswith('"')
    return trial["reason"] if is_about_value else ""


def _changes(changes: Sequence[JsonObject]) -> str:
    """Return changes as places with their new values; what was taken out is named."""
    texts = []
    for change in changes[-3:]:
        place = f"`{name_place(change['path'])}`"
        texts.append(f"{place} = {quote(change['after'])}" if "after" in change else f"no {place}")
    return ", ".join(texts)


def _closing(reason: str, state: JsonObject, *, is_shown: bool) -> str:
    """Return the key of the closing sentence."""
    findings: list[Finding] = state["findings"]
    if reason in ("terminal_kind", "rejected", "no_call"):
        return "forbidden" if reason == "no_call" and is_forbidden(state["given"]) else reason
    if is_lost(state["attempts"]):
        return "lost"
    if reason in ("unknown_outcome", "escalated", "unavailable"):
        return reason
    if _is_question(reason, state):
        return "question"
    for finding in filter(is_own, findings):
        code = finding["code"] or ""
        return code if code in _CLOSING else finding["types"][0]
    if not findings:
        return "MalformedCall"
    _, key = _kind_of(findings[0])
    return f"{key} shown" if is_shown and f"{key} shown" in _CLOSING else key


def _fit(texts: Sequence[str]) -> str:
    """Return the sentences that fit; the first one always does, cut where it is too long."""
    sentences: list[str] = []
    left = MAX_WORDS
    unique = list(dict.fromkeys(map(_end, filter(None, texts))))
    for index, text in enumerate(unique):
        parts = text.split()
        if index and len(parts) > left:
            sentences.append(f"And {len(unique) - index} more.")
            break
        sentences.append(" ".join(parts) if len(parts) <= left else " ".join(parts[:left]) + "…")
        left -= len(parts)
    return bound(" ".join(sentences), 600)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _end(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _quote_words(text: str, call: str, most: int) -> str:
    """Return a tool's words as data: no page's markup, no stack, no path of the tool's machine."""
    seen = _STACK.sub("", _text_of_page(text)).strip() or text
    seen = _PATHS.sub(lambda path: path[0] if path[0] in call else path[1], seen)
    shown = _shorten(release(seen, 64_000), most)
    while len(data := json.dumps(shown, ensure_ascii=False)) > most:
        # A quotation mark or a line end takes two characters as data.
        shown = _shorten(shown, len(shown) * most // len(data))
    return data


def _shorten(text: str, most: int) -> str:
    """Leave out the middle: a long error names its cause at one of its ends."""
    if len(text) <= most:
        return text
    tail = max(0, most // 3)
    return f"{text[: max(0, most - tail - 3)]} … {text[len(text) - tail :]}"


def _text_of_page(text: str) -> str:
    """Return what a page of HTML shows; any other text is unchanged."""
    if not _PAGE.match(text):
        return text
    from selfcorrect.diagnosis.evidence import plain_text

    return " ".join(plain_text(text).split())


_PAGE = re.compile(r"\s{0,20}<(?:!doctype html|html)\b", re.IGNORECASE)
_STACK = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t].*\n?)+|\n[ \t]+at [^\n]+", re.MULTILINE
)
_PATHS = re.compile(
    r"(?<![\w/.])(?:/[\w.-]{1,80}){1,20}/([\w.-]{1,80}\.(?:py|js|ts|java|go|rb|rs|php|cs)\b)"
)
