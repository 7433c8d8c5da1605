"""Reads one text, number or word as a model writes it: Python's, JSON's and other quotes."""

import json
import keyword
import re
from typing import NoReturn

from selfcorrect.model import JSON
from selfcorrect.reading.strict_json import real


class JsonTextError(ValueError):
    """The text is not a value, or its value is not certain; the message says why."""


def refuse(why: str, at: int) -> NoReturn:
    """Raise the reason with the place."""
    raise JsonTextError(f"{why} (character {at})")


def read_string(text: str, at: int, mark: str, skipped: list[str]) -> tuple[str, int]:
    """Return the text whose opening quote stands at `at`, and where it ends.

    Args:
        text: The whole text.
        at: Where the quote stands.
        mark: The quote.
        skipped: Takes what strict JSON would not allow, by kind.
    """
    start = at + len(mark)
    close = _QUOTES.get(mark, mark)
    end = _string_end(text, start, close, skipped)
    body = text[start : end - len(close)]
    if mark != '"':
        skipped.append("quote")
    if _CONTROL.search(body):
        skipped.append("control")
    if "\\" not in body or mark.startswith("<"):
        return body, end
    return _unescape(body, end, skipped), end


def read_word(text: str, at: int, skipped: list[str]) -> tuple[JSON, int]:
    """Return the number, the constant or the words that stand at `at`, and where they end."""
    if number := _NUMBER.match(text, at):
        digits = number[0]
        if _ZEROS.match(digits):
            refuse("a number begins with zeros", at)
        if not _JSON_NUMBER.fullmatch(digits):
            skipped.append("number")
        try:
            value = int(digits) if digits.lstrip("+-").isdigit() else real(digits)
        except ValueError:
            refuse(f"no float is the number {digits:.40}: it is too large or too long", at)
        return value, number.end()
    words = _WORDS.match(text, at)
    if words is None:
        refuse("no value stands here" if at < len(text) else "the text ends before a value", at)
    word = words[0]
    if word in _CONSTANTS:
        if word.istitle():
            skipped.append("word")
        return _CONSTANTS[word], words.end()
    if not _NO_TEXT.isdisjoint(re.split("[ -]", word)):
        refuse(f"{word[:40]!r} is not a value", at)
    skipped.append("bare text")
    return word, words.end()


def _string_end(text: str, at: int, close: str, skipped: list[str]) -> int:
    while quote := _ENDS[close].match(text, at):
        at = quote.end()
        if len(close) > 1:
            return at
        if _APOSTROPHE.match(text, at - 1):
            skipped.append("apostrophe")
        elif phrase := _PHRASE.match(text, at - 1):
            at = phrase.end()
            skipped.append("inner quote")
        else:
            return at
    refuse("a text is cut off", at)


def _unescape(body: str, at: int, skipped: list[str]) -> str:
    codes = {code[1] if len(code) == 2 else "u" for code in _ESCAPE.findall(body)}
    odd = codes - _ESCAPES.keys() - {"u"}
    # JSON's letters beside others: `C:\Users\new` has no certain reading.
    if _PYTHON_CODE.search(body) or (odd and codes & {*"bfnrtu\\"}):
        refuse("a backslash has no certain meaning", at)
    if codes & _ESCAPED_QUOTES:
        skipped.append("escape")
    if odd:
        skipped.append("backslash")
    return _ESCAPE.sub(_character, body)


def _character(escape: re.Match[str]) -> str:
    code = escape[0]
    if len(code) > 2:
        return str(json.loads(f'"{code}"'))
    return _ESCAPES.get(code[1], code)


_QUOTES = {"“": "”", "‘": "’"}
_ENDS = (
    {close: re.compile(rf"(?s)[^\\{close}]*+(?:\\.[^\\{close}]*+)*+{close}") for close in "\"'”’"}
    | {
        mark * 3: re.compile(rf"(?s)(?:[^\\{mark}]++|\\.|{mark}(?!{mark}{mark}))*+{mark * 3}")
        for mark in "\"'"
    }
    | {
        # In the forms of models a backslash is a character.
        mark: re.compile(rf"(?s).*?{re.escape(mark)}")
        for mark in ('<|"|>', "<escape>")
    }
)
_CONTROL = re.compile(r"[\x00-\x1f]")
# Between two letters, where neither an operator nor a second literal of Python follows.
_APOSTROPHE = re.compile(
    rf"(?<=[^\W\d_])['’](?!(?:{'|'.join(keyword.kwlist)})\b|[rbufRBUF]{{1,2}}['\"])[^\W\d_]"
)
# `say "hi" now`: quotes around words inside of a text, where nothing that follows ends a value.
_PHRASE = re.compile(r"""(?<=[\s(])"(?=[^\W_])[^"\\\n]{1,200}(?<=[^\s"])"(?=\s+[^\s"',:}\])])""")
_ESCAPE = re.compile(r"(?s)(?:\\u[0-9a-fA-F]{4})+|\\.")
_ESCAPED_QUOTES = frozenset("'’‘“”`")
_ESCAPES = dict(zip("bfnrt\"\\/'’‘“”`", "\b\f\n\r\t\"\\/'’‘“”`", strict=True))
_PYTHON_CODE = re.compile(
    r"(?s)(?<!\\)(?:\\\\)*\\(?:u(?![0-9a-fA-F]{4})|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{4}|N\{|[0-9\n])"
)
_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?(?![\w.])")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_ZEROS = re.compile(r"[-+]?0[0-9]")
_WORDS = re.compile(r"[^\W\d_][\w\-]*+(?: [\w\-]++)*+")
_CONSTANTS = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
_NO_TEXT = frozenset((*keyword.kwlist, "NaN", "Infinity", "nan", "inf", "undefined"))
