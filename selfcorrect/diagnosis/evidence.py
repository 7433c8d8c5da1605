"""Gathers all that one error shows, once, before anything decides what it is.

Its own sentence stands without wrappers, traces, usage texts, and what stands behind it.
"""

import errno
import html
import re
from collections.abc import Iterator
from dataclasses import replace

from selfcorrect.diagnosis.body import Body, Fault, body_of
from selfcorrect.diagnosis.demands import constraint_of, wait_in_fields, wait_in_words
from selfcorrect.diagnosis.parameters import MARK, Places, Subject, mask, subject_of
from selfcorrect.lazy import load_table
from selfcorrect.model import RETRYABLE, ErrorKind, Finding, JsonDict, frozen
from selfcorrect.patterns import compile_pattern, window

FAULTLESS = RETRYABLE | {ErrorKind.QUOTA, ErrorKind.CANCELLED, ErrorKind.INTERNAL}
"""Kinds of errors for which no argument is at fault: they have no category."""
_READ = 2_000
"""Characters of a sentence, and of the lines in which it stands, that are read."""


@frozen
class Evidence:
    """What an error shows.

    Attributes:
        sentence: The error's own sentence, with the values of the call masked.
        spoken: The same with the values of the call, as the tool wrote it.
        places: The arguments of the call and of the schema.
        subject: The arguments at fault.
        status: The status that the exception carries, or its body says.
        codes: Codes: the exception's, the body's, those before the sentence.
        classes: Classes of exceptions, also those that the text names.
        constraint: What the sentence demands.
        wait: Seconds that the exception, or a field of its body, asks to wait.
        spoken_wait: Seconds that only words ask to wait.
        is_success: Whether the exception carries the status of a success, and the body no fault.
        hints: Kinds and categories that the map's hints say.
    """

    sentence: "Sentence"
    spoken: str
    places: Places
    subject: Subject
    status: int | str | None
    codes: tuple[str, ...]
    classes: tuple[str, ...]
    constraint: JsonDict
    wait: float | None
    spoken_wait: float | None
    is_success: bool
    hints: tuple[tuple[str, str], ...] = ()


def evidence_of(finding: Finding, places: Places) -> Evidence:
    """Gather what an error of a call shows."""
    text = plain_text(finding.get("text", ""))
    body = body_of(text)
    fault = body.faults[0] if body.faults else Fault(text)
    masked = mask(plain_text(fault.sentence), places)
    sentence = sentence_of(masked.text)
    spoken = _unmask(sentence.text, fault.sentence)
    shown = f"{sentence.front} {sentence.text}"[:_READ]
    codes = dict.fromkeys(filter(None, _codes(finding, body, shown)))
    own = replace(masked, text=sentence.text)
    wait = finding.get("retry_after")
    return Evidence(
        sentence=sentence,
        spoken=spoken,
        places=places,
        subject=subject_of(body.faults, own, places),
        status=_status(finding, body, spoken),
        codes=tuple(codes)[:6],
        classes=tuple(dict.fromkeys((*finding.get("types", ()), *sentence.classes))),
        constraint=finding.get("constraint") or constraint_of(spoken[:_READ]),
        wait=wait_in_fields(body.fields) if wait is None else wait,
        spoken_wait=wait_in_words(sentence.text + " " + sentence.behind[:200]),
        is_success=finding.get("is_success", False) and not body.faults,
    )


def _status(finding: Finding, body: Body, spoken: str) -> int | str | None:
    """Return the status; where only an exit code is known, body or sentence may say one."""
    status = finding.get("status")
    if status is not None and not (isinstance(status, int) and abs(status) < 100):
        return status
    mention = _STATUS.search(spoken[:_READ])
    return body.status or (mention[1] if mention else status)


_STATUS = re.compile(
    # An HTTP status, or a SQLSTATE as drivers and MySQL write it.
    r"(?i)\b(?:(?:error|status|code)[ :=(]{1,3}(?=[45]\d\d\b)|SQLSTATE\W{1,3}|error \d{4} \()"
    r"(\d\d[\dA-Z](?:[\dA-Z]{2})?)\b"
)


def _codes(finding: Finding, body: Body, text: str) -> Iterator[str | None]:
    yield from (finding.get("code"), *(fault.code for fault in body.faults[:3]))
    yield from (name or _ERRNO.get(number) for name, number in _CODES.findall(text))
    lower = text.lower()
    yield from (name for words, name in _WORDS_OF_SYSTEMS.items() if words in lower)


_CODES = re.compile(
    r"\(([A-Z][a-z]\w{3,60}(?:\.\w{1,60})?)\)(?= when)"
    r"|(?:\[Errno |\(os error |\b(?=E))(\d{1,3}|E[A-Z\d_]{3,15})\b",
    re.ASCII,
)
_TABLE = load_table("diagnosis/words.toml")
_WORDS_OF_SYSTEMS = {words: name for name, rows in _TABLE["errno"].items() for words in rows}
_ERRNO = {word: name for number, name in errno.errorcode.items() for word in (str(number), name)}


def _unmask(sentence: str, text: str) -> str:
    """Put the values of a text back into its sentence."""
    first, *parts = sentence.split(MARK)
    start = text.find(first)
    end = start + len(first)
    for part in parts:
        end = text.find(part, end + 1) + len(part) if part else end + 1
        if start < 0 or end < start:
            return sentence.replace(MARK, "…")
    return text[start:end] if parts and parts[-1] else sentence.replace(MARK, "…")


@frozen
class Sentence:
    """What an error says.

    Attributes:
        text: The sentence that is the error.
        front: What stands before it: classes, wrappers, codes.
        behind: What stands behind it: advice, links, hints. It decides nothing.
        classes: Classes of exceptions that stand before it, as in `ValueError: `, or caused it.
    """

    text: str
    front: str = ""
    behind: str = ""
    classes: tuple[str, ...] = ()


def openings_of(evidence: Evidence) -> list[str]:
    """Return an error up to the ends of its clauses but the last: the first three, and the last."""
    text = evidence.spoken[:_READ]
    clauses = [text[: end.start()] for end in _CLAUSE_END.finditer(text)]
    # "Error - service unavailable": the first clause says nothing yet.
    openings = [
        evidence.sentence.front + each for each in clauses if has_words(_FAILURE.sub("", each))
    ]
    return openings if len(openings) < 4 else [*openings[:3], openings[-1]]


_CLAUSE_END = re.compile(
    # A bracket with words or a status begins a clause, and a status, unless a colon introduces it.
    r"[;|,.!?] | [-\u2013\u2014/] |(?<![:,])\n"
    r"|(?<!:) (?=[(\[](?:[^)\]]*[^\W\d_]{4}|[45]\d\d\b)"
    r"|(?:HTTP |(?:status|code)\W{1,2})?[45]\d\d\b)"
)
_FAILURE = re.compile(r"(?i)\b(?:error|fail(?:ed|ure)|fatal|http)\b")


def has_words(text: str) -> bool:
    """Say whether a text holds a word of any language."""
    return _WORD.search(text) is not None


def plain_text(text: str) -> str:
    """Return both ends of a text without colours and tags."""
    text = _BOX.sub(" ", _ANSI.sub("", window(text)))
    if "</" in text or "<br" in text.lower():
        text = _TAG.sub("\n", compile_pattern(_HIDDEN).sub("\n", text))
        lines = (" ".join(line.split()) for line in html.unescape(text).split("\n"))
        # A page says its title twice.
        text = "\n".join(dict.fromkeys(line for line in lines if line))
    return text.strip()


_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BOX = re.compile("[\u2500-\u257f]+")
_HIDDEN = r"(?is)<style\b.*?</style>|<script\b.*?</script>|<!--.*?-->"
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,300}>")


def sentence_of(text: str) -> Sentence:
    """Find the sentence that is the error in a text without colours and tags.

    >>> sentence_of("ValueError: no seat is left. Please try again in 5 s.").text
    'no seat is left.'
    """
    block = _block(text.split("\n"))[:_READ]
    start, classes = 0, []
    while front := next(filter(None, (each.match(block, start) for each in _FRONTS)), None):
        if front.re is _CLASS:
            classes.append(front[1])
        start = front.end()
    end = _END.search(block, start)
    while end and not _WORD.search(block, start, end.start()):
        # Only a number or a path so far: it introduces the sentence.
        end = _END.search(block, end.end())
    own, behind = (block, "") if end is None else (block[: end.start()], block[end.end() :])
    classes += _CAUSE.findall(own)
    return Sentence(own[start:].strip(), block[:start], behind.strip(), tuple(classes))


_CLASS = re.compile(
    r"(?:Uncaught |Caused by: |E +)?([A-Za-z_][\w.]{0,150}(?:Error|Exception|Warning|Exit|Fault))"
    r"(?: \[\w{1,60}\])?:\s+"
)
_CAUSE = re.compile(r"\bCaused by (\w{3,80})\(")
_PART = r"(?:[\w '\"`()\[\]/-]|\.(?!\s))"
"""A character of a wrapper, which ends with its sentence at the latest."""
_WRAPPER = re.compile(
    r"(?i)(?:error (?:executing|invoking|calling) [^\n]{0,600}? with error:|e:|err:"
    rf"|{_PART}{{0,60}}?\b(?:error|exception|failed|failure|fatal|abort)\b{_PART}{{0,90}}:)"
    r"\s+(?=\S+[ \t]+\S)"
)
_PROGRAM = re.compile(r"[a-z][\w./-]{0,40}: (?=\(?\d|line \d|\()(?:line \d+: )?")
_FRONTS = (_CLASS, _WRAPPER, _PROGRAM)
_WORD = re.compile(r"[^\W\d_]{3}|[\u2e80-\uffff]{2}|\ue000")
_END = re.compile("".join(_TABLE["end"]))


def _block(lines: list[str]) -> str:
    """Return the lines of the error: behind a trace, or from the one that is marked as one."""
    lines = [line for line in lines if not _NOTICE.search(line)] or lines
    if not any(map(_FRAME.match, lines)):
        first = next((at for at, line in enumerate(lines) if _MARKED.match(line)), 0)
        return "\n".join(lines[first:])
    kept = [line for line in lines if " " in line.strip() and not _FRAME.match(line)]
    raised = [at for at, line in enumerate(kept) if _CLASS.match(line.lstrip(" |+-"))]
    flush = [line for line in kept if not line[0].isspace()]
    chosen = kept[raised[-1] :] if raised else flush or kept
    return "\n".join(line.lstrip(" |+-") if raised else line for line in chosen)


_FRAME = re.compile(
    r"^[\s|]*(?:at |File \"|[\^~]+$|Traceback |\.\.\. \d+ more|During handling|The above exc)"
)
_NOTICE = re.compile(
    r"(?i)^\W*(?:(?:\w+ )?warning|notice|deprecated|note|info|debug)\b|\[?\bNOTICE\b"
    r"|^[\w .-]{1,40} version v?\d|^copyright\b"
    r"|^\s*(?:usage:|try ['\"]|type .{1,60} for help|for help|see )"
)
"""Lines that tell of something else than the error."""
_MARKED = re.compile(r"^(?:[\w./-]{1,60}: )?(?:fatal|[Ee]rror|ERROR|abort|E|ERR) ?(?:\[\w+\])?:")
