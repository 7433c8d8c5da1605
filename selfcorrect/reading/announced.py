"""Which words may stand around a call of a tool that acts.

What a list of refusals does not know may say anything: that the call was made, is a draft, waits
for an answer. So before such a call stand no words, or words that surely announce it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from selfcorrect.reading import MARKUP, TAG_BEFORE, Candidate
from selfcorrect.words import is_english

_FIRST: Final = (
    r"(?:(?:ok(?:ay)?|sure|certainly|of course|alright|great|thanks?|so|thus|therefore|then|second"
    r"|firstly|first|third|next|now|finally|and|step \d{1,3}|\d{1,3})\b\W*)*+"
)
_DOING: Final = (
    r"(?:call|do|execut|invok|mak|perform|proceed|run|send|start|submit|us)(?:e|ing|ning|ting)?\b"
)
_ANNOUNCED: Final = re.compile(
    rf"\W*{_FIRST}(?:to [^,]{{1,120}}, (?=(?:here|i|let|we)\b))?(?:\Z|"
    r"(?:i|we)(?: am| are|['\u2019](?:ll|m|re)| can| shall| will)?"
    rf" (?:(?:also|first|going to|have to|just|need to|next|now|then|want to) )*{_DOING}"
    r"|(?:i|we) (?!\w+ed\b)\w+ (?:\w+ ){0,4}?now\b"
    r"|(?:correct(?:ed|ion)|fixed|new|revised|updated)(?: \w+){0,2}\W*:\s*\Z"
    r"|let(?:['\u2019]s| me| us)\b|here(?:['\u2019]s| is| are| you go)\b|this is\b"
    r"|(?!assum|await|consider|draft|follow|mock|pend|plan|pretend|propos|regard|simulat|suggest"
    r"|test|wait|wonder)\w+ing\b"
    rf"|{_DOING}|action\b|(?:final )?answer\b|output\b|response\b"
    r"|(?:as requested|json|request)\W*:\s*\Z"
    r"|(?:(?:my|the|your) )?(?:\w+ ){0,3}?"
    r"(?:calls?|code|command|function|invocation|json|query|tool)\b"
    r")|.*\b(?:arguments?|calls?|code|functions?|follows|parameters?|tools?)\W*:\s*\Z"
    r"|.*\bfollowing (?:api |function |tool )?(?:call|code|command|json|query)\b.*:\s*\Z"
    r"|\W*(?:step \d{1,3}\b|\d{1,3}[.)])\W.*|\W*(?:ai|assistant|bot|model)\s*:\s*\Z"
    r"|\W*(?:(?:and|finally|first|next|now|second|then) ?)+"
    r"(?:\b(?:the|an?|my|your) [^:]{1,60})?:\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""What a sentence says in which the call that follows is announced."""
_DOUBTED: Final = re.compile(
    r"\b(?:after|bad|been|before|could|did|draft|dry|examples?|failed|had|has|have sent|if"
    r"|incorrect|invalid|later|might|mock|never|not|old|once|previous|should|test|tomorrow|undo|unless"
    r"|until|was|were|what i|would(?! be\W*\Z)|wrong)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
_REVISED: Final = re.compile(
    r"\b(?:better|corrected|correction|fixed|improved|instead|or|revised|updated|versus|vs)\b",
    re.IGNORECASE,
)
"""What makes a call another form of the one before it."""
_CODE: Final = re.compile(
    r"\s*(?:[\w.,* \t:]+=|(?:return|await|const|let|var)\b|\d{1,3}[.)]|[-*+\u2022>$#]+|print\()*+"
    r"[\s\[({'\"`*]*\Z"
)
"""What stands before a call in its line and is no words."""
_IN_CALL: Final = re.compile(
    r"(?:^|\s)[\w.]+\((?:[^()\n]*,)?\s*(?:f[\"'][^\"'\n]*\{)?\Z|\w\s*=[^=].*\Z"
    r"|[\"'](?:answer|content|function_calls?|output|response|result|text|tool_calls?)[\"']"
    r"\s*:\s*[\"'\[]*\Z"
)
_CODE_LINE: Final = re.compile(
    r"\s*(?:(?:async )?(?:with|for)\b.*:|try:|import\b.*|from\b.* import\b.*|[\w., ]+=(?!=).*"
    r"|[\w.]+\(.*)\s*\Z"
)
"""A line above a call that is code as well."""
_LANGUAGE: Final = re.compile(r"\s*(?:python|javascript|json|tool_code|\\begin\{\w+\})\s*\Z")
_ASIDE: Final = re.compile(
    r"<(?:analysis|blockquote|context|del|details|document|draft|example|history|log|note|plan|quote"
    r"|scratchpad|strike|summary)\b[^<>\n]{0,80}>(?:<summary>[^<>\n]{0,80}</summary>)?\s*\Z"
    r"|^\s*--[ \t]*\Z|^[ \t]*- [^\n]*\n[ \t]*\+ \Z",
    re.IGNORECASE | re.MULTILINE,
)
"""What stands before what is quoted, thought about, struck out, or a line of a change to a file."""
_REMARK: Final = re.compile(r"\s*(?:#|//)[^\n]*")
_TAIL: Final = re.compile(
    r"\[(?:'[^'\n]{0,60}'|\"[^\"\n]{0,60}\"|-?\d{1,6})\]|\.\w{1,40}"
    r"|[-+*/%<>=!]{1,3}\s*[\w.'\"]{1,40}[\])\s]*\Z"
)
"""What code does with the result of a call."""
_SENTENCE: Final = re.compile(r"(?<=[^\d][.!?])\s|, (?:so|therefore) ")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = re.compile(r"\w*[._]\w+(?:[._]\w+)*|`[^`\n]{0,80}`|'[^'\n]{0,80}'|\"[^\"\n]{0,80}\"")
_SHARE: Final = 0.6
"""Of the words of three letters and more: how many are English in an English text."""
_TECHNICAL: Final = frozenset(
    {"api", "args", "json", "params", "python", "sql", "url", "xml", "yaml"}
)
_IN_CODE: Final = re.compile(r"[=(){}\[\]\"#@:]")
_ROLE: Final = re.compile(r"(?:assistant|human|system|tool|user)\b\W*\Z", re.IGNORECASE)
_CLOSING: Final = " `\n\t,)]}'\";"
_NEAR: Final = 400


def is_announced(text: str, calls: Sequence[Candidate], index: int) -> bool:
    """Whether the words around one of the calls of a text say nothing but that it is made."""
    call = calls[index]
    near = text[max(0, call.start - _NEAR) : call.start]
    if _ASIDE.search(near):
        return False
    if call.tagged or TAG_BEFORE.search(near):
        return True
    start = calls[index - 1].end if index else 0
    end = calls[index + 1].start if index + 1 < len(calls) else len(text)
    before = MARKUP.sub(" ", text[max(start, call.start - _NEAR) : call.start])
    behind = MARKUP.sub(" ", text[call.end : min(end, call.end + _NEAR)])
    return _leads_to_it(before, rival=index > 0, code=call.code) and _leaves_it(behind)


def _leads_to_it(before: str, *, rival: bool, code: bool) -> bool:
    above, _, line = before.rpartition("\n")
    if code and _IN_CALL.search(line):
        return True
    if not _CODE.match(line):
        return _announces(_SENTENCE.split(line)[-1], rival=rival)
    announced = above.rstrip(" `\n\t[(").rpartition("\n")[2]
    if _LANGUAGE.match(announced) or (code and _CODE_LINE.match(announced)):
        return True
    if _REMARK.match(announced) or announced.rstrip(" *_)").endswith((".", "!")):
        return _is_readable(announced)
    return _announces(_SENTENCE.split(announced.strip())[-1], rival=rival)


def _leaves_it(behind: str) -> bool:
    """Whether what follows in the line says nothing, and no sentence goes on below it."""
    line, _, below = behind.partition("\n")
    remark = _REMARK.search(line)
    if _WORD.search(_TAIL.sub(" ", line[: remark.start() if remark else None])):
        return False
    if remark and (not _is_readable(remark[0]) or _DOUBTED.search(remark[0])):
        return False
    following = below.lstrip(_CLOSING).partition("\n")[0].rstrip()
    if _IN_CODE.search(following) or _ROLE.match(following):
        return True
    return _is_readable(following) and not following[:1].islower() and following[-1:] != "?"


def _announces(sentence: str, *, rival: bool) -> bool:
    if not _WORD.search(sentence):
        return True
    plain = _NAME.sub("it", sentence)
    if not _is_readable(plain) or _DOUBTED.search(plain) or (rival and _REVISED.search(plain)):
        return False
    return _ANNOUNCED.match(plain) is not None


def _is_readable(words: str) -> bool:
    """Whether words are English, as far as one can tell; names in the middle do not count."""
    found = [
        word for word in _WORD.findall(_NAME.sub(" ", words)) if not word.isascii() or len(word) > 2
    ]
    counted = found[:1] + [word for word in found[1:] if not word[0].isupper()]
    known = sum(is_english(word) or word in _TECHNICAL for word in map(str.lower, counted))
    return known >= _SHARE * len(counted)
