"""What models cost in one step: calls and tokens, and money where prices are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from selfcorrect.models.usage import usage_of

Prices: TypeAlias = Mapping[str, tuple[float, float]]
"""Money for a million tokens in and a million tokens out, by the start of a model's name."""

_COUNTED: Final = ("calls", "input", "output")


@dataclass(slots=True)
class Meter:
    """Counts what the models of one step used.

    Attributes:
        by_model: Calls, tokens in and tokens out, by the model's name.
    """

    prices: Prices = field(default_factory=dict)
    by_model: dict[str, Counter[str]] = field(default_factory=dict)

    def callback(self) -> Any:
        """A LangChain callback handler that feeds this meter."""
        from langchain_core.callbacks import BaseCallbackHandler

        meter = self

        class Handler(BaseCallbackHandler):
            def on_llm_end(self, response: Any, **_: Any) -> None:
                meter.take(response)

        return Handler()

    def take(self, response: Any) -> None:
        """Count one answer of a model."""
        message = None
        with suppress(AttributeError, IndexError):
            message = response.generations[0][0].message
        used = usage_of(message)
        metadata = getattr(message, "response_metadata", None) or {}
        name = str(metadata.get("model_name") or metadata.get("model") or "model")
        counts = self.by_model.setdefault(name, Counter())
        counts.update(calls=1, input=used.input, output=used.output)

    def read(self) -> dict[str, Any]:
        """What was counted since the last reading; empty if no model was asked."""
        used, self.by_model = self.by_model, {}
        if not used:
            return {}
        costs = [self._cost(name, counts) for name, counts in used.items()]
        known = [cost for cost in costs if cost is not None]
        return {
            **{key: sum(counts[key] for counts in used.values()) for key in _COUNTED},
            "models": sorted(used),
            "cost": round(sum(known), 6) if len(known) == len(costs) else None,
        }

    def _cost(self, name: str, counts: Counter[str]) -> float | None:
        found = [prefix for prefix in self.prices if name.startswith(prefix)]
        if not found:
            return None
        price_in, price_out = self.prices[max(found, key=len)]
        return (counts["input"] * price_in + counts["output"] * price_out) / 1_000_000
