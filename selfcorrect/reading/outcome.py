"""What reading a text comes to: its calls, or why it is refused; and refusals in words."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.model import Finding
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.contract import Candidate, Fault, Oddity, ToolCallKeys, place


@dataclass(frozen=True, slots=True)
class Asked:
    """How a text was read: equal where reading it again would give the same."""

    text: str
    finish_reason: str | None
    keys: ToolCallKeys
    request: str | None
    policy: TextPolicy
    in_context: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text holds.

    Attributes:
        calls: The calls, in order; empty where the text was refused.
        refusal: Why the text was refused, or None.
        strict: The text is exactly one strictly valid call object.
        wordy: Words stand around the calls.
        doubted: The calls of a text that was refused because it holds more than them.
        written: Every call in the text, also one that is written again.
        text: The text in which the calls stand.
        asked: How it was read, of a text that is not strictly one call.
    """

    calls: tuple[Candidate, ...]
    refusal: Finding | None = None
    strict: bool = False
    wordy: bool = False
    doubted: tuple[Candidate, ...] = ()
    written: tuple[Candidate, ...] = ()
    text: str = ""
    asked: Asked | None = None

    @property
    def finding(self) -> Finding | None:
        """What is wrong with the text, whether it could be read or not; None if it is strict."""
        if self.refusal is not None or self.strict:
            return self.refusal
        if len(self.calls) > 1:
            return malformed("several_calls", f"the text holds {len(self.calls)} calls")
        found = (each.code for call in self.calls for each in call.deviations)
        if any(code is not Oddity.WRAPPING for code in found):
            return malformed("malformed_json", "the call is not strictly valid JSON")
        return malformed("wrapped_text", "the text holds more than a call")


def malformed(code: str, text: str) -> Finding:
    """What a text that is no plain call is found to be."""
    return Finding(text=text, types=("MalformedCall",), code=code, paths=("/raw",))


def refusal_of(text: str, fault: Fault) -> str:
    """A fault in words, with its place."""
    return f"{fault.what} ({place(text, fault.offset)})"


def no_call_in(text: str) -> Finding:
    """That a text holds no call."""
    return malformed("no_call", "the text holds no call" if text.strip() else "the text is empty")


def broken_at(text: str, fault: Fault) -> Finding:
    """That the call in a text cannot be read, and where it breaks off or errs."""
    return malformed("cut" if fault.cut else "malformed_json", refusal_of(text, fault))
