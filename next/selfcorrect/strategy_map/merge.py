"""Merges a map with all that it extends, and checks what only the whole shows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from selfcorrect.errors import MapError, near_name, unknown_name
from selfcorrect.model import GiveUp, JsonDict, JsonObject
from selfcorrect.strategy_map.document import (
    PRIORITIES,
    ErrorRule,
    MapPolicy,
    Reading,
    ToolEffect,
)
from selfcorrect.strategy_map.load import Layer
from selfcorrect.strategy_map.match import PlacedRule
from selfcorrect.strategy_map.registry import (
    BoundStrategy,
    Factory,
    bind,
    import_strategy,
    is_known,
    known_names,
    mark_of,
)


class Owner(NamedTuple):
    """A strategy as one rule sees it; `rule` is None for what the whole map sees."""

    rule: str | None
    strategy: str


@dataclass
class Strategies:
    """The strategies of a map: those that it brings along, and all that are bound so far."""

    factories: dict[Owner, Factory] = field(default_factory=dict)
    bound: dict[Owner, BoundStrategy] = field(default_factory=dict)

    def get(self, owner: Owner, options: JsonObject) -> BoundStrategy:
        """Return a strategy with its options bound, from the second time on from memory.

        Raises:
            ValueError: If it does not take the options.
        """
        if owner not in self.bound:
            self.bound[owner] = bind(owner.strategy, self.factory(owner), options)
        return self.bound[owner]

    def factory(self, owner: Owner) -> Factory | None:
        """Return the rule's own strategy of a name, else the map's, else None."""
        return self.factories.get(owner) or self.factories.get(Owner(None, owner.strategy))

    def add(self, rule: str | None, name: str, factory: Factory) -> str:
        """Keep a strategy that a map brings along; return its name, numbered if it is taken."""
        number, free = 1, name
        while self.factories.setdefault(Owner(rule, free), factory) is not factory:
            number += 1
            free = f"{name}-{number}"
        return free

    def near(self, name: str) -> str:
        """Return the sentence for a strategy that does not exist."""
        own = [each.strategy for each in self.factories]
        return unknown_name("strategy", name, [*own, *known_names()])


@dataclass(frozen=True)
class Merged:
    """Maps merged into one: what `StrategyMap` answers from."""

    rules: tuple[PlacedRule, ...]
    ladders: Mapping[str, tuple[str, ...]]
    policy: MapPolicy
    limits: JsonObject
    effects: Mapping[str, ToolEffect]
    reading: Reading
    strategies: Strategies


def merge(layers: Sequence[Layer], problems: list[str], *, allow_code: bool) -> Merged:
    """Merge maps key by key; the first that has a key wins.

    Raises:
        MapError: If there is any problem, in these or from before.
    """
    if not layers:
        raise MapError(problems)
    strategies = Strategies()
    documents = [each.document for each in layers]
    for layer in layers:
        problems += _import(layer, strategies, allow_code=allow_code)
    problems += _name_problems(layers)
    placed: dict[str, PlacedRule] = {}
    ladders: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        for cause, ladder in layer.document.ladders.items():
            where = f"{layer.label}: ladders: {cause}: "
            names = _names(ladder, None, strategies, where, problems)
            ladders.setdefault(cause, names)
        for rule in layer.document.rule:
            key = f"{layer.name}/{rule.id}"
            usable = _checked(rule, key, layer.label, strategies, problems)
            placed.setdefault(key, PlacedRule(key, usable, layer is layers[0]))
    disabled = _disabled(layers, placed, problems)
    rules = [each for each in placed.values() if each.key not in disabled]
    if problems:
        raise MapError(problems)
    return Merged(
        tuple(sorted(rules, key=lambda each: PRIORITIES.index(each.rule.priority))),
        ladders,
        MapPolicy(**_nearest(each.policy.model_dump(exclude_none=True) for each in documents)),
        _nearest(each.limits for each in documents),
        _nearest(each.effects for each in documents),
        Reading(**_nearest(each.reading.model_dump(exclude_unset=True) for each in documents)),
        strategies,
    )


def _import(layer: Layer, strategies: Strategies, *, allow_code: bool) -> Iterator[str]:
    """Import what a map brings along; yield a sentence for each problem."""
    for name, reference in layer.document.use.items():
        where = f"{layer.label}: use: {name}: "
        factory: Factory = _unusable
        if not isinstance(reference, str):
            factory = reference
        elif not allow_code:
            yield f"{where}brings code along, and allow_code is False"
        else:
            try:
                factory = import_strategy(reference, layer.path.parent)
            except ValueError as error:
                yield f"{where}{error}"
        strategies.factories.setdefault(Owner(None, name), factory)


def _unusable(*_: Any, **__: Any) -> GiveUp:
    """Stands for a strategy that has its problem already, so that its rules have none more."""
    return GiveUp("the strategy cannot be used")


def _name_problems(layers: Sequence[Layer]) -> Iterator[str]:
    """Yield a sentence for each name of a map or rule that is taken."""
    names: dict[str, Layer] = {}
    for layer in layers:
        other = names.setdefault(layer.name, layer)
        if other is not layer:
            yield f"{layer.path}: another map is named {layer.name!r} ({other.path}); rename one"
        ids = [rule.id for rule in layer.document.rule]
        for each in sorted({each for each in ids if ids.count(each) > 1}):
            yield f"{layer.label}: rule {each!r}: id: {ids.count(each)} rules have it; rename one"


def _checked(
    rule: ErrorRule, key: str, label: str, strategies: Strategies, problems: list[str]
) -> ErrorRule:
    """Check a rule's strategies and options; return the rule with plain names in its ladder."""
    where = f"{label}: rule {rule.id!r}: "
    names = _names(rule.repair or (), key, strategies, f"{where}repair: ", problems)
    for name, options in rule.options.items():
        owner = Owner(key, name)
        if name not in names and strategies.factory(owner) is None and not is_known(name):
            problems.append(f"{where}options: {strategies.near(name)}")
            continue
        try:
            strategies.get(owner, options)
        except ValueError as error:
            problems.append(f"{where}options: {name}: {error}")
    if rule.repair is None or names == rule.repair:
        return rule
    return rule.model_copy(update={"repair": names})


def _names(
    ladder: Iterable[Any], rule: str | None, strategies: Strategies, where: str, problems: list[str]
) -> tuple[str, ...]:
    """Return the names of a ladder; callables on it become strategies of the rule."""
    names = []
    for rung in ladder:
        if not isinstance(rung, str):
            names.append(strategies.add(rule, mark_of(rung).name, rung))
            continue
        names.append(rung)
        if strategies.factory(Owner(rule, rung)) is None and not is_known(rung):
            problems.append(f"{where}{strategies.near(rung)}")
    return tuple(names)


def _disabled(
    layers: Sequence[Layer], placed: Mapping[str, PlacedRule], problems: list[str]
) -> set[str]:
    """Return the keys of rules that do not hold; a typo would leave one in force unnoticed."""
    disabled = set()
    for layer in layers:
        for key in layer.document.disable:
            disabled.add(key)
            if key not in placed:
                problems.append(
                    f"{layer.label}: disable: there is no rule {key!r}{near_name(key, placed)}"
                )
    return disabled


def _nearest(tables: Iterable[JsonObject]) -> JsonDict:
    """Merge tables key by key, and tables in them too; the first that has a key wins."""
    merged: JsonDict = {}
    for table in tables:
        for key, item in table.items():
            known = merged.setdefault(key, item)
            if isinstance(known, Mapping) and isinstance(item, Mapping):
                merged[key] = {**item, **known}
    return merged
