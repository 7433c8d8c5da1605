"""Words before a call that say that it is not made: weighed, forbidden, shown, or not yet due."""

from __future__ import annotations

import re
from typing import Final

MARKUP: Final = re.compile(
    r"```[\w-]*|<\|(?:start|im_start|start_header_id)\|>\s*assistant"
    r"|\bprint\(|\bawait\b|^[ \t]*(?:Action|Action Input|Call):|\bfunctools\b"
    r"|<\|from\|>\s*assistant|\bfunction(?=<[|\uff5c]tool)|\u273f\w+\u273f:|"
    r"</?[\w:]+(?:[ =][^<>\n]{0,80})?/?>|<\|?/?[\w\u2581\uff5c|]{1,60}\|?>"
    r"|<[|\uff5c][^<>\n]{1,60}[|\uff5c]>|\[/?[A-Z_]{3,20}\]",
    re.MULTILINE,
)
"""What stands around calls and is no words."""
TAG_BEFORE: Final = re.compile(r"(?:(?<!\n)[>\]]\[?|\bAction(?: Input)?:)[ \t]*\s*(?:```\w*\s*)?\Z")
"""A tag right before a call."""
_WEIGHED: Final = re.compile(
    r"\b(?:could|might|may|maybe|perhaps|shall|should i|if|either|suppose|imagine|do you want"
    r"|would you like|consider(?:ed|ing)?|examples?|instance|e\.g\.|such as|something like"
    r"|instead of|rather than|previous(?:ly)?|earlier|already|last time|after|called|calling|tried"
    r"|used|ran|(?:result|output|response|answer)s? (?:of|from)|assert)(?!\w)"
    r"|(?:\A|[,;]\s)\W*(?:as soon as|in case|once|unless|until|when(?:ever)?)\b",
    re.IGNORECASE,
)
"""Words of the sentence before a call that say that it is not made here and now."""
_EXAMPLE: Final = re.compile(
    r"\b(?:examples?|instance|e\.g\.|usage|syntax|signature|schema|template|documentation)(?!\w)"
    r"|\A\W*(?:the|its|our|your) (?:\w+ ){0,2}format\b[^:]{0,40}\b(?:is|looks?)\b",
    re.IGNORECASE,
)
FORBIDDEN: Final = re.compile(
    r"(?:\b(?:do|must|should|will|would|shall|can) ?not|\bnever|n['\u2019]t|\bnot? (?:need )?to)"
    r" (?:\w+ ){0,2}?"
    r"(?:call|do|execute|invoke|make|perform|run|send|submit|try|use)\b",
    re.IGNORECASE,
)
_PENDING: Final = re.compile(
    r"\A\W*(?:if|once|unless|previously|earlier)\b|\bconfirm(?:ed|ation|s)?\b|\bapprov(?:al|ed?)\b"
    r"|\bwould (?:be|look|call|run|send)\b|\A\W*to-?do\b"
    r"|(?<!if )(?<!what )(?<!how )(?<!whether )\b(?:you|one|we|i|they) (?:could|might)\b"
    r"(?!.*\bbut\b)",
    re.IGNORECASE,
)
"""Words of an announcement by which a call is not made yet, or no longer."""
_DUE: Final = re.compile(
    r"\A(?!\W*(?:if|once|unless)\b).*(?:\bcalls?\b.{0,60}\bwould be\W*\Z"
    r"|\b(?:since|as|because|now that|thank\w*)\b.*\b(?:confirm|approv)"
    r"|\byou(?:['\u2019]ve| have)? (?:already )?(?:confirmed|approved)\b)",
    re.IGNORECASE,
)
"""What such words mean that do not put a call off: a polite form, or a thing that is settled."""
_LABEL: Final = re.compile(
    r"(?:\A|[\n.])\W*+(?:(?:the|tool|your"
    r"|(?:wait\W+|no\W+)?(?:it|that|this)(?:['\u2019]s| is| was)) )?"
    r"(?:alternative|bad|before|incorrect|invalid|old|option|output|wrong)"
    r"(?: \w{1,20})?[\s`*\"']*+:[\s`*\"']*+\Z",
    re.IGNORECASE,
)
"""What stands before a call that is shown for comparison."""
_CALLED_OFF: Final = re.compile(
    r"\b(?:avoid|cancel|cannot|can['\u2019]t|decline|delay|hold off|no need to|not to|never|do not"
    r"|don['\u2019]t|not yet|postpone|refused?|revert|skip|stop|undo)"
    r"(?: (?:a|call(?:ing)?|emit(?:ting)?|execut(?:e|ing)|mak(?:e|ing)|on|run(?:ning)?|send(?:ing)?"
    r"|the|to|us(?:e|ing)))*[^\w.!?\n]*+\Z"
    r"|\b(?:or|otherwise)\W*+\Z",
    re.IGNORECASE,
)
"""Words right before a call by which it is not made."""
_LIKENED: Final = re.compile(
    r"\b(?:equivalent|identical|similar|the same)\b[^.!?\n]{0,30}\b(?:to|as)\W*\Z", re.IGNORECASE
)
_REPORTED: Final = re.compile(
    r"\A(?!\W*(?:as|based|from|given|since|using|with)\b).*\b(?:user|customer|client|they|he|she|someone|page|document|docs?|file|e-?mail|message|log"
    r"|website)\b[^.:\n]{0,40}\b(?:contain(?:s|ed)|forwarded|included|pasted|posted|quoted|reads?|said"
    r"|says|sent|show(?:s|ed)|shared|typed|wrote)(?: (?!so\b|i\b|and\b|that\b)\w+){0,3}\W*\Z",
    re.IGNORECASE,
)
"""Whose words the call is, if they are not the model's own."""
_PAST: Final = (
    r"\b(?:i|we)(?:(?:['\u2019]ve| have)(?: already| just)?| already| just)?"
    r" (?:called|executed|invoked|ran|sent|tried|used)\b|\b(?:already|have|['\u2019]ve) run\b"
)
_LATER: Final = (
    r"(?:\A|[.!?\n])\W{0,9}(?:eventually|later|next (?:month|time|week|year)|tomorrow|tonight)"
    r"\W{1,9}(?:i|we)\b"
)
_NOT_NOW: Final = re.compile(
    r"(?:\A|[.!?:\n])\W{0,9}(?:so |then )?(?:(?:shall|should|may|can) i"
    r"|(?:do you want|would you like|want) me to) [^.!?\n]{1,60}\?\W*+\Z"
    rf"|(?:{_PAST}|{_LATER}|\bbefore (?:i|we|you|\w{{2,20}}ing)\b)[^.!?,;\n]{{0,60}}[^\w.!?]*+\Z"
    r"|\b(?:enter|paste|type|write)[^\w.!?]*+\Z",
    re.IGNORECASE,
)
"""Words right before a call that ask for leave, tell of the past, or leave it for later."""
_HEADING: Final = re.compile(r"\s*(?:#{2,6}[ \t]|\*\*[^*\n]{1,80}\*\*\W*\Z)")
_JUST_DENIED: Final = re.compile(
    r"(?:\b(?:not|never|cannot|refused?|declined?|avoid|forbidden|prohibited)\b|n['\u2019]t\b)"
    r"(?:\W+\w+){0,3}\W*\Z",
    re.IGNORECASE,
)
_SUGGESTED: Final = re.compile(
    r"\b(?:(?:you|one|we|i|they) (?:could|might)|(?:should|shall) i|do you want|would you like"
    r"|suppose|imagine|instead of|rather than|something like|such as|considered"
    r"|an? \w{1,20} like)\b(?:\W+\w+){0,3}\W*\Z",
    re.IGNORECASE,
)
_SAMPLE: Final = re.compile(
    r"\b(?:(?:previous|last|earlier|old) (?:tool )?call|examples?"
    r"|e\.g|for instance|usage|syntax|format is|format looks|looks? like)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!?:]\s")
_FULL_STOP: Final = re.compile(r"(?<!\b[eEiI]\.[gGeE])[.!?]\s")
_LONGEST_TAG: Final = 90
_TAG_AT_END: Final = re.compile(r"(?:\s|<[^<>\n]{1,80}>|\[[A-Z_]{3,20}\]|\[|```\w*)\Z")
_TAG_CLOSED: Final = re.compile(r"<\|[^<>\n]{1,60}\|>|</[^<>\n]{1,60}>")


def put_off(before: str, *, line: str, above: str, inline: bool, code: bool) -> bool:
    """Whether the words before a call say that it is not made, or not now.

    Args:
        before: The text before the call.
        line: That of its own line.
        above: That of the lines above.
        inline: Whether words stand before it in its own line.
        code: Whether it is written as a call in code.
    """
    words = MARKUP.sub(" ", before)
    if _CALLED_OFF.search(before) or _LABEL.search(words) or _NOT_NOW.search(words):
        return True
    if not inline:
        return announces_no_call(above)
    if _WEIGHED.search(_SENTENCE.split(line)[-1]) or FORBIDDEN.search(line):
        return True
    sentence = _FULL_STOP.split(line.rstrip(" `*\"'([{"))[-1]
    if _REPORTED.search(sentence):
        return True
    if code:
        asked = _PENDING.search(sentence) and not _DUE.search(sentence)
        return sentence.endswith(":") and (asked or _EXAMPLE.search(sentence)) is not None
    return announces_no_call(line)


def announces_no_call(above: str, *, tagged: bool = False) -> bool:
    """Whether the last line above says that an example follows, or a call not to be made now.

    Before a tag, that counts only of a line that surely is about it: with a colon at its end.
    """
    line = MARKUP.sub(" ", above).rstrip(" `\n\t").rpartition("\n")[2]
    if _HEADING.match(line):
        return _EXAMPLE.search(line) is not None
    announced = line.rstrip(" `*_")
    sentence = _FULL_STOP.split(announced)[-1]
    if not announced.endswith(":"):
        return not tagged and (FORBIDDEN.search(sentence) or _LIKENED.search(sentence)) is not None
    pending = _PENDING.search(sentence) is not None and not _DUE.search(sentence)
    shown = (_SAMPLE if tagged else _EXAMPLE).search(sentence) or _REPORTED.search(sentence)
    return pending or (shown or FORBIDDEN.search(sentence)) is not None


def denied_before_tag(before: str, *, inline: bool) -> bool:
    """Whether the words before a tag with a call in it say that it is not made.

    What a model thinks aloud before it writes a tag changes nothing; words right before it do.
    """
    words = before[: _tags_start(before)]
    if _LABEL.search(words) or _NOT_NOW.search(words):
        return True
    if not inline:
        return announces_no_call(words, tagged=True)
    line = _TAG_CLOSED.split(words.rpartition("\n")[2])[-1]
    sentence = _FULL_STOP.split(f"{line} ")[-1]
    if not sentence.strip():
        return False
    found = _JUST_DENIED.search(sentence) or _SUGGESTED.search(sentence)
    found = found or _SAMPLE.search(sentence) or _REPORTED.search(sentence)
    return found is not None or announces_no_call(sentence, tagged=True)


def _tags_start(before: str) -> int:
    """Where the tags begin that stand right before a call."""
    end = len(before)
    while (tag := _TAG_AT_END.search(before, max(0, end - _LONGEST_TAG), end)) is not None:
        end = tag.start()
    return end
