"""Merges a map with all that it extends, and checks what only the whole shows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from selfcorrect.errors import near_name
from selfcorrect.model import GiveUp, JsonDict, JsonObject
from selfcorrect.strategy_map.document import PRIORITIES, ErrorRule, PlacedRule
from selfcorrect.strategy_map.load import Layer, collect
from selfcorrect.strategy_map.registry import Factory, Strategies, import_strategy


def strategies_of(
    layers: Iterable[Layer], problems: list[str], *, allow_code: bool = True
) -> Strategies:
    """Import what maps bring along under `[use]`; of one name the nearest map's."""
    strategies = Strategies()
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
            strategies.own.setdefault((None, name), factory)
    return strategies


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
    rules = [rule for rule in placed.values() if rule.key not in disabled]
    return tuple(sorted(rules, key=lambda rule: PRIORITIES.index(rule.rule.priority)))


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
            strategies.require(key, name)
            strategies.bound[key, name] = strategies.bind(key, name, options)
    return rule if rule.repair is None else rule.model_copy(update={"repair": tuple(names)})


def ladders_of(
    layers: Iterable[Layer], strategies: Strategies, problems: list[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return the ladders by category and kind, the nearest map's."""
    ladders: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        for cause, ladder in layer.document.ladders.items():
            with collect(problems, layer.label, "ladders", cause):
                ladders.setdefault(cause, tuple(strategies.name_of(None, rung) for rung in ladder))
    return ladders


def nearest(tables: Iterable[JsonObject]) -> JsonDict:
    """Merge tables key by key, and tables in them too; the first that has a key wins."""
    merged: JsonDict = {}
    for table in tables:
        for key, item in table.items():
            near = merged.setdefault(key, item)
            if isinstance(near, Mapping) and isinstance(item, Mapping):
                merged[key] = nearest([near, item])
    return merged
