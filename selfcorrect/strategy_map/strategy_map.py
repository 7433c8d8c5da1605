"""`StrategyMap`: says what an error means and which repairs are tried for it."""

import os
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from selfcorrect.errors import MapError
from selfcorrect.model import Category, ErrorKind, Finding, JsonObject
from selfcorrect.strategy_map.document import (
    ErrorRule,
    MapPolicy,
    PlacedRule,
    ReadingPolicy,
)
from selfcorrect.strategy_map.load import Layer, parse_layers, read_layers, shipped_maps
from selfcorrect.strategy_map.merge import ladders_of, nearest, rules_of, strategies_of
from selfcorrect.strategy_map.registry import BoundStrategy

if TYPE_CHECKING:
    from selfcorrect.strategy_map.match import Matcher, Ruling

_NO_RULE = ErrorRule(id="none")


class StrategyMap:
    """An error-strategy map with all that it extends, merged.

    The tables are the keys of a map's file, such as `extends`, `use`, `policy` and `limits`. Here
    `repair` and `use` may hold functions, classes and objects too.

    Attributes:
        name: The map's name.
        rules: Every rule, in the order in which they are tried.
        ladders: Strategies by category or kind, for rules that name none.
        strategies: Those that the map brings along, and those that are bound.
        policy: What runs unasked, what ends a run, what is sensitive.
        limits: Bounds that the map sets; those of the caller stand over them.
        effects: Effects of tools by name or glob, the nearest map's first.
        reading: How texts become calls.

    Raises:
        MapError: If the map is unusable; each problem names map, rule and key.
    """

    def __init__(
        self,
        rules: Iterable[ErrorRule | JsonObject] = (),
        *,
        name: str = "own",
        **tables: object,
    ) -> None:
        problems: list[str] = []
        self._merge(parse_layers(name, {"rule": list(rules), **tables}, problems), problems)

    @classmethod
    def load(cls, source: str | Path = "default", *, allow_code: bool = True) -> Self:
        """Load a map by name (`default`, `strict`) or path.

        A path holds a slash or ends in `.toml`; a bare name means a shipped or installed map.

        Args:
            source: Name or path.
            allow_code: Whether maps may bring code along under `[use]`.

        Raises:
            MapError: If the map is unusable; each problem names file, rule and key.
        """
        problems: list[str] = []
        loaded = cls.__new__(cls)
        cls._merge(loaded, read_layers(source, problems), problems, allow_code=allow_code)
        return loaded

    def _merge(self, layers: list[Layer], problems: list[str], *, allow_code: bool = True) -> None:
        strategies = strategies_of(layers, problems, allow_code=allow_code)
        self.name = layers[0].name
        self.rules = rules_of(layers, strategies, problems)
        self.ladders = ladders_of(layers, strategies, problems)
        if problems:
            raise MapError(problems)
        tables = {"policy", "reading", "limits"}
        merged = nearest(
            layer.document.model_dump(include=tables, exclude_unset=True) for layer in layers
        )
        self.policy = MapPolicy(**merged.get("policy", {}))
        self.reading = ReadingPolicy(**merged.get("reading", {}))
        self.limits = merged.get("limits", {})
        self.effects = nearest(layer.document.effects for layer in layers)
        self.strategies = strategies
        self._by_key = {placed.key: placed.rule for placed in self.rules}

    def ask_rules(self, finding: Finding, tool: str | None = None) -> "Ruling":
        """Return what the rules that an error meets say together."""
        from selfcorrect.strategy_map.match import Ruling

        ruling = Ruling(paths=finding.get("paths") or [])
        for placed in self.matches(finding, tool):
            ruling = ruling.join(Ruling.of(placed, finding["text"]))
        return ruling

    def matches(self, finding: Finding, tool: str | None = None) -> Sequence[PlacedRule]:
        """Return every rule that an error meets, the deciding one first."""
        return self._matcher.matching(finding, tool)

    def rule(self, key: str | None) -> ErrorRule:
        """Return a rule by `map/id`, or an empty rule where no map has it."""
        return self._by_key.get(key or "", _NO_RULE)

    def strategy(self, rule: str | None, name: str) -> BoundStrategy:
        """Return a strategy with the options that a rule gives it.

        Raises:
            MapError: If there is no such strategy.
        """
        bound = self.strategies.bound
        if (rule, name) not in bound:
            options = self.rule(rule).options.get(name, {})
            try:
                bound[rule, name] = self.strategies.bind(rule, name, options)
            except ValueError as error:
                raise MapError(f"map {self.name!r}: rule {rule!r}: {name}: {error}") from None
        return bound[rule, name]

    @cached_property
    def _matcher(self) -> "Matcher":
        """The compiled rules; compiled when the first error comes."""
        from selfcorrect.strategy_map.match import Matcher

        return Matcher(self.rules)

    def ladder(self, placed: PlacedRule | None, kind: ErrorKind, category: Category) -> list[str]:
        """Return the strategies that a rule, or else the category or kind, names, in order."""
        if placed and placed.rule.repair is not None:
            return list(map(str, placed.rule.repair))
        return list(self.ladders.get(category) or self.ladders.get(kind, ()))


def load_default() -> StrategyMap:
    """Load the map that holds where nobody chose one.

    `SELFCORRECT_STRATEGIES` names it; without it that is `default`, which is loaded once.

    Raises:
        MapError: If the map is unusable.
    """
    source = os.environ.get("SELFCORRECT_STRATEGIES") or "default"
    return _load_shipped(source) if source in shipped_maps() else StrategyMap.load(source)


@cache
def _load_shipped(name: str) -> StrategyMap:
    return StrategyMap.load(name)
