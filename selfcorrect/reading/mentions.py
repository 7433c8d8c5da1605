"""Calls that a text only talks about: weighed, denied, quoted, already made, or an example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from selfcorrect.reading import Candidate

MARKUP: Final = re.compile(
    r"```[\w-]*|<\|(?:start|im_start|start_header_id)\|>\s*assistant"
    r"|\bprint\(|\bawait\b|^[ \t]*(?:Action|Action Input|Call):|\bfunctools\b"
    r"|<\|from\|>\s*assistant|\bfunction(?=<[|\uff5c]tool)|\u273f\w+\u273f:|"
    r"</?[\w:]+(?:[ =][^<>\n]{0,80})?/?>|<\|?/?[\w\u2581\uff5c|]{1,60}\|?>"
    r"|<[|\uff5c][^<>\n]{1,60}[|\uff5c]>|\[/?[A-Z_]{3,20}\]",
    re.MULTILINE,
)
"""What stands around calls and is no words."""
_WEIGHED: Final = re.compile(
    r"\b(?:could|might|may|maybe|perhaps|shall|should i|if|either|suppose|imagine|do you want"
    r"|would you like|consider(?:ed|ing)?|examples?|instance|e\.g\.|such as|something like"
    r"|instead of|rather than|previous(?:ly)?|earlier|already|last time|after|called|calling|tried"
    r"|used|ran|(?:result|output|response|answer)s? (?:of|from)|assert)(?!\w)",
    re.IGNORECASE,
)
"""Words of the sentence before a call that say that it is not made here and now."""
_NEGATED: Final = re.compile(r"\b(?:not|never|cannot|without)\b|n['\u2019]t\b", re.IGNORECASE)
_EXAMPLE: Final = re.compile(
    r"\b(?:examples?|instance|e\.g\.|usage|syntax|signature|schema|template|documentation)(?!\w)",
    re.IGNORECASE,
)
_MARKED: Final = re.compile(r"(?:(?<!\n)[>\]]|\bAction(?: Input)?:)[ \t]*\s*(?:```\w*\s*)?\Z")
"""A tag right before a call: it is made, whatever words stand before the tag."""
_SENTENCE: Final = re.compile(r"[.!?:]\s")
_FULL_STOP: Final = re.compile(r"[.!?]\s")
_CODE_BEFORE: Final = re.compile(
    r"\A\s*(?:[\w.,* \t]+=|return\b|await\b|\d+[.)]|[-*\u2022]|print\()"
)
_CLOSERS: Final = " \t\r)]}'\"`;,.!*_"
_ANSWERED: Final = re.compile(
    r"[\s)\]}'\"`;,.*]*(?:->|=>|\u2192|\?|(?:returns?|returned|fail(?:s|ed)|g[ai]ves?|sends?|was|were"
    r"|is|has|had|would|could|might|did|does)\b)"
)
"""What stands behind a call whose outcome is told, or that is asked about."""
_RETRACTED: Final = re.compile(
    r"[\s`)\]}'\";.]*+(?:(?:oh|oops|hm+|no)\b[\s,.!]*)?(?:wait\b|actually\b|correction\b|sorry\b|oops\b"
    r"|scratch that|never ?mind|on second thou?ght|ignore (?:that|this|the)|disregard\b"
    r"|that(?:'s| is| was) (?:wrong|incorrect|not right|a mistake)|no, (?:that|this|i)\b)",
    re.IGNORECASE,
)
"""What takes back the call before it."""
_FORBIDDEN: Final = re.compile(
    r"(?:\b(?:do|must|should|will|would|shall|can) ?not|\bnever|n['\u2019]t|\bnot? (?:need )?to)"
    r" (?:\w+ ){0,2}?"
    r"(?:call|do|execute|invoke|make|perform|run|send|submit|try|use)\b",
    re.IGNORECASE,
)
_PENDING: Final = re.compile(
    r"\A\W*(?:if|once|unless|previously|earlier)\b|\bconfirm(?:ed|ation|s)?\b|\bapprov(?:al|ed?)\b"
    r"|\bwould (?:be|look|call|run|send)\b|\A\W*to-?do\b",
    re.IGNORECASE,
)
"""Words of an announcement by which a call is not made yet, or no longer."""
_LABEL: Final = re.compile(
    r"(?:\A|[\n.])\W*+(?:(?:the|tool|your) )?"
    r"(?:alternative|bad|before|incorrect|invalid|old|option|output|wrong)"
    r"(?: \w{1,20})?[\s`*\"']*+:[\s`*\"']*+\Z",
    re.IGNORECASE,
)
"""What stands before a call that is shown for comparison."""
_CALLED_OFF: Final = re.compile(
    r"\b(?:avoid|cancel|cannot|can['\u2019]t|decline|delay|hold off|no need to|not to|never|do not"
    r"|don['\u2019]t|not yet|postpone|refused?|revert|skip|stop|undo)"
    r"(?: (?:a|call(?:ing)?|execut(?:e|ing)|on|run(?:ning)?|the|to|us(?:e|ing)))*[^\w.!?\n]*+\Z"
    r"|\b(?:or|otherwise)\W*+\Z",
    re.IGNORECASE,
)
"""Words right before a call by which it is not made."""
_ACT: Final = r"(?:call|continue|do (?:it|so|that|this)|execute|go|make|proceed|run|send)"
_ASKED: Final = re.compile(
    r"[\s`)\]}'\";,./#^*(-]*+"
    rf"(?:or\b|(?:shall|should|may|can) i {_ACT}|(?:do you want|would you like) me to {_ACT}"
    r"|please confirm|let me know (?:if|whether) i should"
    r"|pending\b|awaiting\b|hypothetical|not yet\b"
    r"|(?:this is |only |just |for )*(?:an? )?examples?(?: only)?\W*(?:\n|\Z))",
    re.IGNORECASE,
)
"""What behind a call says that it waits for an answer, or is one of two."""
_COMMENTED: Final = re.compile(r"(?:\A\s*+(?:#++|//)|<!--|~~)\s*+\Z")
_SHOWN: Final = re.compile(
    r"(?:<(?:tool_|function_)?(?:results?|responses?|outputs?|examples?|observations?|available_tools)>"
    r"|\[/?(?:TOOL_RESULTS|AVAILABLE_TOOLS)\])\s*+\Z",
    re.IGNORECASE,
)
"""A tag right before what is shown, not called."""
_BRANCH: Final = re.compile(
    r"^[ \t]*(?:if|elif|else|for|while|except)\b[^\n]*:[ \t]*$", re.MULTILINE
)
_JOINED: Final = re.compile(r"\b(?:or|else|lambda|if)\b[^\w\n]*+\Z", re.IGNORECASE)
_BEFORE: Final = 300
_BEHIND: Final = 120


def made(text: str, calls: Sequence[Candidate]) -> Iterator[Candidate]:
    """The calls that the text makes, in order, without those that it only talks about."""
    words = _without(text, calls)
    for index, call in enumerate(calls):
        last = _last_in_line(words, calls, index) if call.code else call
        if not _discussed(words, call, last.end):
            yield call


def _without(text: str, calls: Sequence[Candidate]) -> str:
    """The text with the calls made blank: what their arguments say is not about them."""
    parts: list[str] = []
    pos = 0
    for start, end in sorted({(call.start, call.end) for call in calls}):
        if end > pos:
            parts += [text[pos:start], " " * (end - max(start, pos))]
            pos = end
    return "".join([*parts, text[pos:]])


def _last_in_line(text: str, calls: Sequence[Candidate], index: int) -> Candidate:
    """The last of the calls that follow in the same line."""
    last = calls[index]
    for call in calls[index + 1 : index + 20]:
        if call.start - last.end > _BEHIND or "\n" in text[last.end : call.start]:
            break
        last = call
    return last


def _discussed(text: str, call: Candidate, end: int) -> bool:
    before = text[max(0, call.start - _BEFORE) : call.start]
    behind = text[end : end + _BEHIND]
    above, _, line = before.rpartition("\n")
    if line.lstrip().startswith("> ") or _COMMENTED.search(line) or _SHOWN.search(before):
        return True
    if _RETRACTED.match(behind) or _ASKED.match(behind):
        return True
    if call.tagged or _MARKED.search(before):
        return False
    inline = _WORD.search(MARKUP.sub(" ", line)) is not None
    if _put_off(before, line if inline else above, inline=inline, code=call.code):
        return True
    behind = behind.partition("\n")[0]
    if _FORBIDDEN.search(behind) or _ANSWERED.match(behind):
        return True
    return call.code and _in_talk(before, line, behind, inline=inline)


def _put_off(before: str, announced: str, *, inline: bool, code: bool) -> bool:
    """Whether the words before a call say that it is not made, or not now."""
    if _CALLED_OFF.search(before) or _LABEL.search(MARKUP.sub(" ", before)):
        return True
    if not inline:
        return _announces_no_call(announced)
    if _WEIGHED.search(_SENTENCE.split(announced)[-1]) or _FORBIDDEN.search(announced):
        return True
    return not code and _announces_no_call(announced)


def _in_talk(before: str, line: str, behind: str, *, inline: bool) -> bool:
    """Whether a call in code depends on a condition, or stands inside a sentence."""
    if line[:1] in (" ", "\t") and _BRANCH.search(before):
        return True
    if _NEGATED.search(line) or _JOINED.search(line):
        return True
    prose = inline and _CODE_BEFORE.match(line) is None
    return prose and _WORD.search(MARKUP.sub(" ", behind.lstrip(_CLOSERS))) is not None


def _announces_no_call(above: str) -> bool:
    """Whether the last line above says that an example follows, or a call not to be made now."""
    announced = MARKUP.sub(" ", above).rstrip(" `\n\t").rpartition("\n")[2]
    sentence = _FULL_STOP.split(announced)[-1]
    if _FORBIDDEN.search(sentence):
        return True
    return announced.endswith(":") and (
        _EXAMPLE.search(announced) is not None or _PENDING.search(sentence) is not None
    )


_WORD: Final = re.compile(r"\w")
