"""Strip a message down to what its emitter wrote: no colours, markup, frames, stack or usage text.

Every step is one linear pass over at most the first and last 32 kB; the middle is never read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from selfcorrect.plain import INVISIBLE

WINDOW: Final = 32 * 1024
LONGEST: Final = 4 * 1024
"""A cleaned message is at most this long."""

_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]{0,20}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)?|.)"
)
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")
_FRAME: Final = dict.fromkeys((*range(9472, 9728), 8226), " ")
_HTML: Final = re.compile(
    r"<(?:[?]xml|!doctype html|html|head|body|title|h1|error|errorresponse)\b", re.IGNORECASE
)
_HIDDEN: Final = ("script", "style", "svg", "head")
_BLOCK: Final = re.compile(
    r"</?(?:p|div|h\d|li|tr|td|br|pre|title|table|ul|section|header)\b", re.IGNORECASE
)

_NOISE: Final = re.compile(
    r"\s*(?:"
    r"at \S.{0,300}[(:\d]|\.\.\. \d+ more|from \S{1,200}:\d+:in |#\d+ \S|\d+: 0x[0-9a-f]+ "
    r'|File "[^"]{0,300}", line \d+|in <module>|\[C\]: in |stack traceback:|stack backtrace:'
    r"|goroutine \d+ \[|note: run with `RUST_BACKTRACE|created by \S+ in goroutine"
    r"|(?-i:LINE) \d+: |\d{1,6} \|.*|\|.*|\\ No newline"
    r"|For (?:further|more) info(?:rmation)?\b.*|See https?://\S+\s*|(?:See|Try|Run) "
    r"['`\"‘].*(?:help|-h)\b.*"
    r"|.{0,20}complete log of this run can be found.*|\[notice\].*|Please fix (?:your|the) .*"
    r"|node:internal/\S+:\d+|throw (?:err|error|new )\S*;?\s*\Z|Node\.js v[\d.]+|Require "
    r"stack:|- /\S+\s*\Z|requireStack: .*"
    r"|code: '[A-Z_]+',?\s*\Z|\[eval\]:\d+|[\]}],?\s*\Z"
    r"|\[(?:SQL|parameters): .*|\(Background on this error.*"
    r"|RequestId:\S*|Time:\d{4}-\S*|Process exited with|npm (?:ERR!|error)\s*$"
    r"|npm (?:ERR!|error) +(?:at |A complete log|this is related|syscall|errno|path)\b.*"
    r")",
    re.IGNORECASE,
)
_GROUP: Final = "Exception Group Traceback"
_END: Final = re.compile(
    r"(?<!\d)[.!?](?=\s+\d)|[.!?](?=\s+[^\s\da-z])|[。！？]|(?<![:,;(\[{])\n"
    r"|(?<![:,;(\[{\d])(?<![:,;(\[{]\s)(?<!\d\.)(?=\s*(?:\d{1,2}[.)]|[\"'`“«>\[(]{1,2})\s*"
    r"(?:[A-Za-z]{2,8} [45]\d\d\b|[45]\d\d [A-Z]))"
)
"""Where a sentence ends: a small letter or a number goes on with it, and so does what a colon
announces. A code behind an ordinal or a quote begins another."""
WORD: Final = re.compile(r"[^\W\d_]{2,}")
_ENOUGH: Final = {"\n": 3}
"""Words enough to say what is wrong in a line, else two: `Error!` alone says nothing."""
_TREE: Final = re.compile(r"\A\s*(?:[|+]-?(?: ?[+-]+ ?\d{0,4} ?-*)?\s?)+")
_TAIL: Final = re.compile(
    r"(?:Traceback|Request (?:information|Method)|Stack trace|Environment|Switch to)\b",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(
    r"(?:Exception Value|Exception Message|Error Message)\s*: ?\S", re.IGNORECASE
)
_RAISED: Final = re.compile(r"[A-Za-z_][\w.]{0,100}(?:Error|Exception|Exit|Interrupt): \S")
_CARETS: Final = re.compile(r"[\s^~\-=*_+|.]*\Z")
_SECTION: Final = re.compile(
    r"(?:usage|flags|options|commands|arguments|examples?|aliases)\b.{0,200}", re.IGNORECASE
)
_MINOR: Final = re.compile(
    r"(?:\S{1,80}:\s*)?(?:warning|note|hint|info|notice)\s*[:\]]", re.IGNORECASE
)


def windowed(text: str) -> str:
    """At most the first and last 32 kB of a text."""
    return text if len(text) <= 2 * WINDOW else f"{text[:WINDOW]}\n{text[-WINDOW:]}"


def visible(text: str) -> str:
    """The text without colours, control, bidi and zero-width characters, with plain line ends."""
    text = windowed(text).replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if not text.isascii():
        text = text.translate(_FRAME)
    return _INVISIBLE.sub("", text)


def sentence(text: str) -> str:
    r"""What is left of a visible text when all that only surrounds the error is dropped.

    >>> sentence("usage: cut [-h]\n\ncut: error: no such option: --x")
    'cut: error: no such option: --x'
    """
    if _HTML.search(text[:4000]):
        text = page(text)
    if _GROUP in text:
        text = "\n".join(_TREE.sub("", line) for line in text.split("\n"))
    lines = [line.rstrip() for line in text.split("\n")]
    kept = _without_usage([line for line in lines if not _is_noise(line)])
    major = [line for line in kept if not _MINOR.match(line.lstrip()) or line.startswith("HINT")]
    chosen = [line for line in (major if any(map(str.strip, major)) else kept) if line.strip()]
    short = "\n".join(chosen or lines).strip()
    if len(short) > LONGEST:
        short = f"{short[: LONGEST - 1024]}\n{short[-1024:]}"
    return short


def openings(text: str) -> Iterator[str]:
    r"""The text up to the end of its first sentence, then of its second and third, then whole.

    What stands behind an error's own sentence is asked last: anybody may have put it there.

    >>> list(openings("No such user: bob. HTTP 503 Service Unavailable"))
    ['No such user: bob.', 'No such user: bob. HTTP 503 Service Unavailable']
    """
    for end in islice(_END.finditer(text), 3):
        opening = text[: end.end()].rstrip()
        if not opening.isascii() or len(WORD.findall(opening)) >= _ENOUGH.get(end[0], 2):
            yield opening
    yield text


def page(text: str) -> str:
    """The words of an HTML page: its title, then its text, at most 2,000 characters."""
    lowered = text.lower()
    title = _element(text, lowered, "title")
    for name in _HIDDEN:
        text, lowered = _drop(text, lowered, name)
    parts: list[str] = []
    position = 0
    while position < len(text):
        start = text.find("<", position)
        if start < 0:
            parts.append(text[position:])
            break
        parts.append(text[position:start])
        end = text.find(">", start)
        if end < 0:
            break
        parts.append("\n" if _BLOCK.match(text, start) else " ")
        position = end + 1
    words = html.unescape("".join(parts))
    lines = [" ".join(line.split()) for line in [title, *words.split("\n")]]
    kept = list(dict.fromkeys(line for line in lines if line))
    told = [line for line in kept if _TOLD.match(line)][:2]
    end = next((n for n, line in enumerate(kept) if n and _TAIL.match(line)), len(kept))
    raised = [line for line in kept[end + 1 :] if _RAISED.match(line)][-1:]
    if raised and kept[end].startswith("Traceback"):
        return raised[0][:1200]
    return "\n".join([*kept[: min(end, 12)], *told])[:1200]


def _element(text: str, lowered: str, name: str) -> str:
    start = lowered.find(f"<{name}")
    open_end = lowered.find(">", start) if start >= 0 else -1
    end = lowered.find(f"</{name}", open_end) if open_end >= 0 else -1
    return " ".join(html.unescape(text[open_end + 1 : end][:500]).split()) if end >= 0 else ""


def _drop(text: str, lowered: str, name: str) -> tuple[str, str]:
    parts: list[str] = []
    position = 0
    while True:
        start = lowered.find(f"<{name}", position)
        end = lowered.find(f"</{name}", start) if start >= 0 else -1
        if end < 0:
            break
        parts.append(text[position:start])
        position = end
    text = "".join([*parts, text[position:]])
    return text, text.lower()


def _is_noise(line: str) -> bool:
    if not line.strip():
        return False
    return bool(_CARETS.match(line) or _NOISE.match(line))


def _without_usage(lines: list[str]) -> list[str]:
    kept: list[str] = []
    inside = False
    for line in lines:
        if _SECTION.match(line) and (line.rstrip().endswith(":") or line[:6].lower() == "usage:"):
            inside = True
        elif inside and line.strip() and not line[0].isspace():
            inside = False
            kept.append(line)
        elif not inside:
            kept.append(line)
    return kept if any(map(str.strip, kept)) else lines
