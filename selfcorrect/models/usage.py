"""What a model call costs: tokens from what the model says, money from the user's price table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.limits import Price

_CHARACTERS_PER_TOKEN: Final = 4
_MOST_TOKENS: Final = 10**9


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call."""

    input: int = 0
    output: int = 0
    total: int = 0


def usage_of(answer: Any) -> Usage:
    """The tokens that a message says it cost; zeros where it says nothing usable.

    >>> usage_of(object())
    Usage(input=0, output=0, total=0)
    """
    said = getattr(answer, "usage_metadata", None)
    if not isinstance(said, Mapping):
        return Usage()
    numbers = [said.get(key) for key in ("input_tokens", "output_tokens", "total_tokens")]
    into, out, total = (
        min(each, _MOST_TOKENS) if type(each) is int and each > 0 else 0 for each in numbers
    )
    return Usage(into, out, max(total, into + out))


def estimated(messages: Any) -> int:
    """Roughly how many tokens a prompt takes: a bound must hold before anything is paid."""
    size = 0
    for message in messages if isinstance(messages, list | tuple) else [messages]:
        content = message[1] if isinstance(message, tuple) else getattr(message, "content", message)
        size += len(content) if isinstance(content, str) else len(str(content))
    return size // _CHARACTERS_PER_TOKEN


def name_of(model: Any, answer: Any = None) -> str:
    """The model's name, as prices are listed by."""
    metadata = getattr(answer, "response_metadata", None)
    named = metadata.get("model_name") if isinstance(metadata, Mapping) else None
    for found in (named, getattr(model, "model_name", None), getattr(model, "model", None)):
        if isinstance(found, str) and found:
            return found
    return ""


def charge(
    counts: dict[str, Any], message: Any, prices: Mapping[str, Price], model: Any = None
) -> None:
    """Count what an answer cost: its tokens, and money where a price is listed."""
    usage = usage_of(message)
    money = price(usage, name_of(model, message), prices)
    for what, amount in (("tokens", usage.total), ("cost", money)):
        if amount:
            counts[what] = counts.get(what, 0) + amount


def price(usage: Usage, name: str, prices: Mapping[str, Price]) -> float:
    """Money for a call; the prices are per million tokens, `*` stands for every other model.

    >>> price(Usage(1_000_000, 500_000, 1_500_000), "m", {"*": Price(input=1, output=4)})
    3.0
    """
    listed = prices.get(name) or prices.get("*")
    if listed is None:
        return 0.0
    return (usage.input * listed.input + usage.output * listed.output) / 1_000_000
