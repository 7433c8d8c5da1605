"""Strategies by name: the built-in ones, those of installed packages, and those of a map."""

import inspect
import json
import re
import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from selfcorrect.errors import near_name, unknown_name
from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, F, JsonObject, Needs, frozen
from selfcorrect.strategy_map.load import reason_of

Factory = Callable[..., Any]
"""A strategy before its options are bound: a function, a class or an object that is called."""

_IN_PASS = load_table("values/primitives.toml")
"""The strategies of the pass over arguments."""
_BY_MODULE = (
    "fix-json",
    "rename-tool",
    "clamp",
    "adjust-date",
    "wait",
    "give-up",
    "escalate",
)
"""A function or a class each, in a module of the same name."""
BUILT_IN: Mapping[str, Needs] = {
    **dict.fromkeys([*_IN_PASS, *_BY_MODULE], "nothing"),
    "ask-model": "model",
    "ask-human": "person",
}
"""The strategies of the package, and what each costs."""


@frozen
class BoundStrategy:
    """A strategy with its options bound.

    Attributes:
        repair: `(call, diagnosis, context) -> Repair`, sync or async.
        needs: What it costs: nothing, a model call, or a person.
    """

    repair: Callable[..., Any]
    needs: Needs = "nothing"


@frozen
class Mark:
    """What `strategy` writes on a function or class."""

    name: str
    needs: Needs = "nothing"


_MARK = "__selfcorrect_strategy__"
_INSTALLED = "selfcorrect.strategies"
"""The entry points by which packages offer strategies."""


def strategy(name: str, *, needs: Needs = "nothing") -> Callable[[F], F]:
    """Name a function `(call, diagnosis, context, *, options…)` or a class for use in maps.

    Nothing is registered: a map names it under `[use]`, or a rule holds it in `repair`.

    Args:
        name: How ladders and trails call it.
        needs: What it costs: `nothing`, `model` or `person`.
    """

    def write(factory: F) -> F:
        setattr(factory, _MARK, Mark(name, needs))
        return factory

    return write


def mark_of(factory: Factory) -> Mark:
    """Return what a strategy says of itself; its own name is the last resort.

    >>> class NearestDate: ...
    >>> mark_of(NearestDate).name
    'nearest-date'
    """
    if isinstance(mark := getattr(factory, _MARK, None), Mark):
        return mark
    name = getattr(factory, "__name__", type(factory).__name__).strip("_<>")
    return Mark(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", name).lower())


@dataclass
class Strategies:
    """The strategies of a map, by rule and name; the rule is None for those of the whole map.

    Attributes:
        own: Those that the map brings along.
        bound: Those that are bound to the options of their rule.
    """

    own: dict[tuple[str | None, str], Factory] = field(default_factory=dict)
    bound: dict[tuple[str | None, str], BoundStrategy] = field(default_factory=dict)

    def bind(self, rule: str | None, name: str, options: JsonObject) -> BoundStrategy:
        """Bind options to a strategy: the map's own, or else the built-in or installed one.

        Raises:
            ValueError: If there is none, it does not take an option, or refuses its value.
        """
        factory = self.own.get((rule, name)) or self.own.get((None, name))
        if factory is None and name in _IN_PASS:
            from selfcorrect.repairs.one_place import make_primitive

            return BoundStrategy(make_primitive(name, options))
        if factory is None and name in BUILT_IN:
            return BoundStrategy(_with_options(built_in(name), options), BUILT_IN[name])
        if factory is None:
            self.require(rule, name)
            factory = _installed()[name].load()
        return BoundStrategy(_with_options(factory, options), mark_of(factory).needs)

    def name_of(self, rule: str | None, rung: str | Factory) -> str:
        """Return the name of what stands on a ladder; keep anything else under a name of its own.

        Raises:
            ValueError: If there is no strategy of that name.
        """
        if isinstance(rung, str):
            self.require(rule, rung)
            return rung
        name = mark_of(rung).name
        while self.own.setdefault((rule, name), rung) is not rung:
            name += "-2"
        return name

    def require(self, rule: str | None, name: str) -> None:
        """Check that a rule may name a strategy.

        Raises:
            ValueError: If the map does not bring it along, and it is not built in or installed.
        """
        own = [own_name for owner, own_name in self.own if owner in (None, rule)]
        # Installed packages are looked through last, because that takes milliseconds.
        if name not in BUILT_IN and name not in own and name not in _installed():
            raise ValueError(unknown_name("strategy", name, [*own, *BUILT_IN, *_installed()]))


def built_in(name: str) -> Factory:
    """Import a built-in strategy, when a rule first needs it: a healthy call loads no repair."""
    word = name.replace("-", "_")
    names: dict[str, Factory] = vars(import_module(f"selfcorrect.repairs.{word}"))
    return names.get(word) or names[word.title().replace("_", "")]


def _installed() -> dict[str, EntryPoint]:
    """Return the strategies of installed packages, by name."""
    return {point.name: point for point in entry_points(group=_INSTALLED)}


def _with_options(factory: Factory, options: JsonObject) -> Callable[..., Any]:
    is_class = inspect.isclass(factory)
    taken = [
        parameter
        for parameter in inspect.signature(factory).parameters.values()
        if is_class or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
    ]
    names = [parameter.name for parameter in taken]
    kinds = [parameter.kind for parameter in taken]
    for key, value in options.items():
        if key not in names and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise ValueError(unknown_name("option", key, names or ["none"]))
        _check_value(factory, key, value)
    try:
        inspect.Signature(taken).bind(**options)
        if is_class:
            return factory(**options)  # type: ignore[no-any-return]
    except Exception as error:
        raise ValueError(f"refuses its options: {error}") from error
    return partial(factory, **options) if options else factory


def _check_value(factory: Factory, name: str, value: JSON) -> None:
    """Refuse a value that is not what the strategy's own signature says of it."""
    try:
        kind = inspect.signature(factory, eval_str=True).parameters[name].annotation
        TypeAdapter(kind).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise ValueError(f"{name}: {reason_of(error.errors()[0], (name,))}") from None
    except (KeyError, NameError, TypeError, PydanticUserError):
        # The option has no annotation, or JSON cannot hold its value.
        return


def import_strategy(reference: str, folder: Path) -> Factory:
    """Import `./file.py:Name`, relative to a folder, or `module:Name`.

    Raises:
        ValueError: If there is no such file, module or name, or it cannot be called.
    """
    place, colon, name = reference.rpartition(":")
    if not colon:
        raise ValueError(
            f"{reference!r} names no strategy; write './file.py:Name' or 'module:Name'"
        )
    try:
        is_file = place.endswith(".py")
        names = runpy.run_path(str(folder / place)) if is_file else vars(import_module(place))
    except Exception as error:
        raise ValueError(
            f"{place!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if callable(factory := names.get(name)):
        return factory  # type: ignore[no-any-return]
    raise ValueError(f"{place!r} has no function or class {name!r}{near_name(name, names)}")
