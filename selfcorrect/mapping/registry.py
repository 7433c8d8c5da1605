"""Strategies by name: those that a map brings along, the built-in ones, installed plug-ins."""

from __future__ import annotations

import functools
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

from selfcorrect.errors import GraphSetupError, MapError, MapFault, StrategyNotFound
from selfcorrect.hints import close_names, near
from selfcorrect.mapping.rules import STRATEGY_NAME
from selfcorrect.model import Safety
from selfcorrect.protocols import Strategy

STRATEGIES_GROUP: Final = "selfcorrect.strategies"
NEEDS: Final = ("nothing", "model", "person")

Factory: TypeAlias = Callable[..., Any]
"""A strategy class, a strategy function, or a function that makes a strategy from its options."""

T = TypeVar("T", bound=Callable[..., Any])

_POSITIONAL: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def strategy(
    name: str, *, safety: Iterable[Safety | str] = (), needs: str = "nothing"
) -> Callable[[T], T]:
    """Say what a strategy is called, which classes of change it makes, and what it needs.

    For functions `(call, diagnosis, context, *, options…)` and for classes. Nothing is registered:
    a map names the strategy in `[use]`, or it is passed as an object.

    >>> from selfcorrect.model import GiveUp
    >>> @strategy("not-today", safety=["lossy"])
    ... def not_today(call, diagnosis, context, *, day="Sunday"):
    ...     return GiveUp(f"never on {day}")
    >>> bind(not_today, {"day": "Monday"})(None, None, None)
    GiveUp(reason='never on Monday')

    Args:
        name: Its name in maps, kebab-case.
        safety: The classes of change that it can make.
        needs: `nothing`, `model` or `person`.

    Raises:
        GraphSetupError: If one of these is not possible.
    """
    if not STRATEGY_NAME.fullmatch(name):
        raise GraphSetupError(f"a strategy's name is kebab-case, not {name!r}")
    if needs not in NEEDS:
        raise GraphSetupError(f"strategy {name!r} needs one of {', '.join(NEEDS)}, not {needs!r}")
    try:
        classes = tuple(Safety(item) for item in safety)
    except ValueError as error:
        known = ", ".join(Safety)
        raise GraphSetupError(f"strategy {name!r}: {error}; there are {known}") from None

    def declare(target: T) -> T:
        for key, value in (("name", name), ("safety", classes), ("needs", needs)):
            setattr(target, key, value)
        return target

    return declare


@functools.lru_cache(maxsize=1)
def built_in_names() -> tuple[str, ...]:
    """The names of the strategies in `selfcorrect/repairs`; nothing is imported."""
    folder = str(Path(__file__).parents[1] / "repairs")
    modules = (module.name for module in pkgutil.iter_modules([folder]))
    return tuple(name.replace("_", "-") for name in modules if not name.startswith("_"))


def installed_names() -> tuple[str, ...]:
    """The names of the strategies that installed packages offer; nothing is imported."""
    from importlib.metadata import entry_points

    return tuple(entry.name for entry in entry_points(group=STRATEGIES_GROUP))


def resolve(name: str, *, extra: Mapping[str, Factory] | None = None) -> Factory:
    """The strategy of this name, not yet bound to options.

    Args:
        name: Its name, kebab-case.
        extra: Strategies that a map brings along; they come first.

    Raises:
        StrategyNotFound: If nobody provides it; with close names.
        MapError: If an installed package offers it and cannot be loaded.
    """
    if extra and name in extra:
        return extra[name]
    if name in built_in_names():
        module = import_module(f"selfcorrect.repairs.{name.replace('-', '_')}")
        found: Factory = getattr(module, class_name(name))
        return found
    from importlib.metadata import entry_points

    for entry in entry_points(group=STRATEGIES_GROUP, name=name):
        try:
            loaded: Factory = entry.load()
        except Exception as error:
            message = f"the installed strategy {name!r} cannot be loaded"
            raise MapError([MapFault(f"{message}: {type(error).__name__}: {error}")]) from error
        return loaded
    raise StrategyNotFound(name, close_names(name, strategy_names(extra)))


def strategy_names(extra: Iterable[str] | None = None) -> tuple[str, ...]:
    """Every name that `resolve` knows."""
    return (*(extra or ()), *built_in_names(), *installed_names())


def class_name(name: str) -> str:
    """The class of a built-in strategy.

    >>> class_name("format-date")
    'FormatDate'
    """
    return "".join(part.capitalize() for part in name.split("-"))


def bind(factory: Factory, options: Mapping[str, Any] | None = None) -> Strategy:
    """Make a strategy ready to be called.

    A class is created with its options, a function `(call, diagnosis, context, *, options…)`
    keeps them, any other function is called with them and returns the strategy, and an object
    that is a strategy already takes none.

    Raises:
        MapError: If an option is unknown, missing or of the wrong type, or the strategy cannot
            be made; one fault for each, with the option as its key.
    """
    options = dict(options or {})
    made = inspect.isclass(factory) or not _takes_a_call(factory)
    if not inspect.isclass(factory) and not inspect.isroutine(factory) and not made:
        faults = [
            MapFault("this strategy is an object; it takes no options", key=key) for key in options
        ]
        if faults:
            raise MapError(faults)
        return cast("Strategy", factory)
    took = [p.name for p in _parameters(factory) or () if p.kind in _POSITIONAL]
    if made and inspect.isroutine(factory) and took[:1] == ["call"]:
        shown = ", ".join(took)
        raise MapError([MapFault(f"takes ({shown}); a strategy takes (call, diagnosis, context)")])
    faults, values = _checked(factory, options, skip=0 if made else 3)
    if faults:
        raise MapError(faults)
    if not made:
        if not values:
            return factory
        bound = functools.partial(factory, **values)
        functools.update_wrapper(bound, factory)
        return bound
    try:
        result: Any = factory(**values)
    except Exception as error:
        raise MapError([MapFault(f"cannot be made: {type(error).__name__}: {error}")]) from error
    if not callable(result) or not _takes_a_call(result):
        raise MapError([MapFault("is no strategy: it does not take (call, diagnosis, context)")])
    return cast("Strategy", result)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    """The parameters of what can be called; None where nobody can say."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _takes_a_call(function: Any) -> bool:
    """Whether it can be called with a call, a diagnosis and a context."""
    parameters = _parameters(function)
    if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    places = [p for p in parameters if p.kind in _POSITIONAL]
    return len(places) >= 3 and all(p.default is not p.empty for p in places[3:])


def _checked(
    factory: Factory, options: dict[str, Any], *, skip: int
) -> tuple[list[MapFault], dict[str, Any]]:
    """The faults of the options against the signature, and the options as they are passed on."""
    if (parameters := _parameters(factory)) is None:
        return [], options
    places = [p for p in parameters if p.kind in _POSITIONAL]
    known = {
        p.name: p
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
        or (p.kind is p.POSITIONAL_OR_KEYWORD and p not in places[:skip])
    }
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    hints = _hints(factory)
    faults, values = [], {}
    for key, value in options.items():
        if key not in known and not open_ended:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            faults.append(MapFault("unknown option", key=key, hint=near(key, known) or takes))
            continue
        hint = hints.get(key, Any)
        is_tuple = (typing.get_origin(hint) or hint) is tuple
        values[key] = tuple(value) if is_tuple and isinstance(value, list) else value
        if not fits(values[key], hint):
            faults.append(MapFault(f"should be {_words(hint)}, not {value!r:.80}", key=key))
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in options:
            faults.append(MapFault("this option has to be given", key=name))
    return faults, values


def _hints(factory: Factory) -> dict[str, Any]:
    target = factory
    # What a dataclass inherits is annotated in another module, under that module's names.
    if inspect.isclass(factory) and "__init__" in vars(factory) and not is_dataclass(factory):
        target = factory.__init__
    try:
        return typing.get_type_hints(target)
    except Exception:  # an annotation may name what only type checkers see
        return {}


def _words(hint: Any) -> str:
    """What an annotation asks for, as one writes it in a map."""
    origin = typing.get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return 'a table, such as { this = "that" }'
    return hint.__name__ if isinstance(hint, type) and origin is None else str(hint)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value agrees with an annotation, as far as the annotation is a plain one.

    >>> fits(3, int), fits(True, int), fits("x", int | None), fits([1], list[str])
    (True, False, False, False)
    """
    kind = typing.get_origin(hint) or hint
    if isinstance(hint, str | TypeVar) or getattr(kind, "_is_protocol", False):
        return True
    if kind is typing.Literal:  # True is not 1
        return any(value == one and type(value) is type(one) for one in typing.get_args(hint))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return value in [*kind, *(item.value for item in kind)]
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    as_written = ConfigDict(strict=True, arbitrary_types_allowed=True)
    try:
        TypeAdapter(hint, config=as_written).validate_python(value)
    except ValidationError:
        return False
    except Exception:  # an annotation may be one that nobody can check
        return True
    return True
