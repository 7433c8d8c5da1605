"""Merges a map with all that it extends, and checks what only the whole shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from selfcorrect.errors import near_name
from selfcorrect.model import GiveUp, JsonDict, JsonObject
from selfcorrect.strategy_map.document import PRIORITIES, ErrorRule, PlacedRule
from selfcorrect.strategy_map.load import Layer, collect
from selfcorrect.strategy_map.registry import (
    BoundStrategy,
    Factory,
    bind,
    import_strategy,
    mark_of,
    require,
)


@dataclass
class Strategies:
    """The strategies of a map: those that it brings along, and all that are bound so far.

    Both tables are by rule and name; the rule is None for what the whole map brings along.
    """

    factories: dict[tuple[str | None, str], Factory] = field(default_factory=dict)
    bound: dict[tuple[str | None, str], BoundStrategy] = field(default_factory=dict)

    def bind(self, rule: str | None, name: str, options: JsonObject) -> BoundStrategy:
        """Bind the options that a rule gives to a strategy, once.

        Raises:
            ValueError: If there is none of that name, or it cannot use the options.
        """
        bound = self.bound[rule, name] = bind(name, self.factory(rule, name), options)
        return bound

    def name_of(self, rule: str | None, rung: str | Factory) -> str:
        """Return the name of what stands on a ladder; keep what is no name, numbered if it must be.

        Raises:
            ValueError: If there is no strategy of that name.
        """
        if isinstance(rung, str):
            require(rung, [name for owner, name in self.factories if owner in (None, rule)])
            return rung
        number, name = 1, mark_of(rung).name
        free = name
        while self.factories.setdefault((rule, free), rung) is not rung:
            number += 1
            free = f"{name}-{number}"
        return free

    def factory(self, rule: str | None, name: str) -> Factory | None:
        """Return a strategy that the map brings along, or None."""
        return self.factories.get((rule, name)) or self.factories.get((None, name))


def strategies_of(
    layers: Iterable[Layer], problems: list[str], *, allow_code: bool = True
) -> Strategies:
    """Import what maps bring along under `[use]`; of one name the nearest map's."""
    found = Strategies()
    for layer in layers:
        for name, reference in layer.document.use.items():
            factory: Factory = _unusable
            with collect(problems, layer.label, "use", name):
                if not isinstance(reference, str):
                    factory = reference
                elif allow_code:
                    factory = import_strategy(reference, layer.path.parent)
                else:
                    raise ValueError("brings code along, and allow_code is False")
            found.factories.setdefault((None, name), factory)
    return found


def _unusable(*_: Any, **__: Any) -> GiveUp:
    """Stands for a strategy with a problem, so that the rules that name it have none."""
    return GiveUp("the strategy cannot be used")


def rules_of(
    layers: Sequence[Layer], strategies: Strategies, problems: list[str]
) -> tuple[PlacedRule, ...]:
    """Return every rule that holds, in the order in which they are tried."""
    placed: dict[str, PlacedRule] = {}
    for layer in layers:
        for rule in layer.document.rule:
            key = f"{layer.name}/{rule.id}"
            with collect(problems, layer.label, f"rule {rule.id!r}", "id"):
                if key in placed:
                    raise ValueError(f"another rule is {key!r} too; rename one of them or its map")
            named = _name_rungs(key, rule, layer.label, strategies, problems)
            placed[key] = PlacedRule(key, named, layer is layers[0])
    for layer in layers:
        for key in layer.document.disable:
            with collect(problems, layer.label, "disable"):
                # A typo would leave the rule in force, and nobody would notice.
                if key not in placed:
                    raise ValueError(f"there is no rule {key!r}{near_name(key, placed)}")
    disabled = {key for layer in layers for key in layer.document.disable}
    rules = [each for each in placed.values() if each.key not in disabled]
    return tuple(sorted(rules, key=lambda each: PRIORITIES.index(each.rule.priority)))


def _name_rungs(
    key: str, rule: ErrorRule, label: str, strategies: Strategies, problems: list[str]
) -> ErrorRule:
    """Check a rule's strategies and options; return it with names only in its ladder."""
    where = (label, f"rule {rule.id!r}")
    names = []
    for rung in rule.repair or ():
        with collect(problems, *where, "repair"):
            names.append(strategies.name_of(key, rung))
    for name, options in rule.options.items():
        with collect(problems, *where, "options", name):
            strategies.bind(key, strategies.name_of(key, name), options)
    return rule if rule.repair is None else rule.model_copy(update={"repair": tuple(names)})


def ladders_of(
    layers: Iterable[Layer], strategies: Strategies, problems: list[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return the ladders by category and kind, the nearest map's."""
    ladders: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        for cause, ladder in layer.document.ladders.items():
            with collect(problems, layer.label, "ladders", cause):
                ladders.setdefault(cause, tuple(strategies.name_of(None, each) for each in ladder))
    return ladders


def nearest(tables: Iterable[JsonObject]) -> JsonDict:
    """Merge tables key by key, and tables in them too; the first that has a key wins."""
    merged: JsonDict = {}
    for table in tables:
        for key, item in table.items():
            known = merged.setdefault(key, item)
            if isinstance(known, Mapping) and isinstance(item, Mapping):
                merged[key] = nearest([known, item])
    return merged
