"""What the loop senses with, behind protocols: it imports no reader and no evidence itself.

`selfcorrect.loop.senses` has the ones that come along, each loaded when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from selfcorrect.effects import Outcome
from selfcorrect.model import JSON, Call, Category, ErrorKind, Finding, Repair
from selfcorrect.protocols import TextPolicy, Tool

if TYPE_CHECKING:
    from selfcorrect.weights import Weights


def _no_keys() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Beside:
    """What a reader may know beside what it reads.

    Attributes:
        request: What the user asked for.
        messages: The conversation, in any of the usual forms.
        finish_reason: Why the model stopped writing, if known.
        policy: Which calls in a text are made.
        keys: Gives the deployment's own names for the keys of a call, if it has any.
        whole: A call that was cut off is none at all.
        tool_choice: What the request says of calls, in any provider's form.
        answer: The form that the answer was to have, in any provider's form.
    """

    request: str | None = None
    messages: Sequence[Any] = ()
    finish_reason: str | None = None
    policy: TextPolicy = field(default_factory=TextPolicy)
    keys: Callable[[], object] = _no_keys
    whole: bool = False
    tool_choice: JSON = None
    answer: JSON = None


@dataclass(frozen=True, slots=True)
class ReadCall:
    """What was read.

    Attributes:
        call: The call; with `raw` where it, or its arguments, could not be read strictly.
        finding: What is wrong about how it was written.
        is_made: Whether the text is the call; if not, the finding says why it is handed on.
        reading: All that the reader made of the text, for who reads it again.
    """

    call: Call
    finding: Finding | None = None
    is_made: bool = True
    reading: object = None


class Reader(Protocol):
    """Reads one call out of an object or a text; changes nothing about it.

    Raises:
        UnusableInput: If it is neither a call nor a text.
    """

    def __call__(self, given: Any, tools: Mapping[str, Tool], beside: Beside, /) -> ReadCall: ...


@dataclass(frozen=True, slots=True)
class Ending:
    """How an execution ended that raised.

    Attributes:
        outcome: What is known of what it did.
        why: The evidence, in a few words.
        is_fault: The tool's own code is wrong: no argument is to blame.
        where: File and line of the tool's code that it came from, if known.
        is_firm: Nothing of it, its words included, speaks of a fault that passes.
    """

    outcome: Outcome
    why: str
    is_fault: bool = False
    where: str | None = None
    is_firm: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What an exception shows.

    Attributes:
        findings: Everything that it says is wrong; at least one.
        ending: What the execution did, from structure alone.
        reading: All that was read of it, for who decides what it means.
    """

    findings: tuple[Finding, ...]
    ending: Ending
    reading: object = None


class Witness(Protocol):
    """Says what an exception shows; never raises.

    `home` is the module of the tool's own code; `bodies` are a deployment's rows for error bodies.
    """

    def __call__(
        self, error: BaseException, call: Call, tool: Tool, home: str, bodies: Sequence[Any] = (), /
    ) -> Seen: ...


class Rules(Protocol):
    """What is asked of an error-strategy map about a finding."""

    def decide(self, finding: Finding, tool: str | None = None, /) -> Finding: ...

    def rests_on_words(self, rule_id: str | None, /) -> bool:
        """Whether nothing but a phrase in the text decides, in a rule of a built-in map."""
        ...

    @property
    def trained(self) -> Weights | None:
        """What the trained witness learned; None where a map switches it off."""
        ...


class Interpreter(Protocol):
    """Asks the map what findings mean, and settles which parameters are at fault.

    `reading` is what the witness read, where that is still at hand.
    """

    def __call__(
        self,
        findings: Sequence[Finding],
        rules: Rules,
        call: Call,
        tool: Tool | None,
        reading: object = None,
        /,
    ) -> Sequence[Finding]: ...


@dataclass(frozen=True, slots=True)
class Testimony:
    """What a trained witness and the rules together make of an error.

    Attributes:
        kind: What sort of failure it is.
        category: What is wrong with the input.
        confidence: How often such an answer is right, from 0 to 1: kind and category together.
        spoke: The words that spoke for it, with their weights, the heaviest first.
    """

    kind: ErrorKind
    category: Category
    confidence: float
    spoke: tuple[tuple[str, float], ...] = ()


class Open(NamedTuple):
    """What the rules of a map leave open of an error: its kind, its category."""

    kind: bool
    category: bool


class LastWitness(Protocol):
    """Reads the text of an error for which the rules of the map left something open.

    Asked where no rule speaks, where a rule of a built-in map read its word in the text, and where
    a validation has no category yet; never about what structure or a deployment's own rule says.
    It weighs its own reading against what a rule says, and how sure that one is.

    Args:
        part: What was read of the error before any rule, with its evidence (classes, status,
            code, constraint), and the call. What its text echoes of the arguments must not speak.
        decided: As the rules decided it.
        free: What may become another; what is not free is asked for its confidence alone.

    Returns:
        What it makes of the error, or None where it cannot tell. A kind that may be repeated only
        where the rules say that kind.
    """

    def __call__(self, part: Any, decided: Finding, free: Open, /) -> Testimony | None: ...


@dataclass(frozen=True, slots=True)
class Senses:
    """Everything with which a loop reads calls and errors.

    Attributes:
        read: Reads calls.
        witness: Says what an exception shows.
        interpret: Says what a finding means.
        answer: Reads what a person answered to a question about a finding, with its options.
        words: What an exception says to a person, without its stack.
    """

    read: Reader
    witness: Witness
    interpret: Interpreter
    answer: Callable[[JSON, Call, Finding, Sequence[JSON]], Repair]
    words: Callable[[BaseException], str]
