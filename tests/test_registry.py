"""Strategies by name, and their options bound to their signatures."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from typing import ClassVar, Literal

import pytest

from selfcorrect.errors import GraphSetupError, MapError, StrategyNotFound
from selfcorrect.mapping.registry import (
    STRATEGIES_GROUP,
    bind,
    built_in_names,
    class_name,
    fits,
    resolve,
    strategy,
)
from selfcorrect.model import Call, Diagnosis, Finding, GiveUp, Safety
from selfcorrect.protocols import RepairContext, Strategy
from selfcorrect.repairs.format_date import FormatDate

ASKED = (Call("search"), Diagnosis((Finding("no"),)), RepairContext())


@strategy("on-a-day", safety=["lossy"], needs="person")
def on_a_day(call, diagnosis, context, *, day: str = "Sunday", within: int = 3):
    return GiveUp(f"{day} {within}")


@dataclass(frozen=True, slots=True)
class NearestDate:
    name: ClassVar[str] = "nearest-date"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.LOSSY,)

    within_days: int = 3
    skip: tuple[str, ...] = ()

    def __post_init__(self):
        if self.within_days < 0:
            raise ValueError("within_days is negative")

    def __call__(self, call, diagnosis, context):
        return GiveUp(f"{self.within_days} {self.skip}")


def maker(*, size: int):
    """Makes a strategy from its options."""
    return lambda call, diagnosis, context: GiveUp(str(size))


def test_the_decorator_declares_and_changes_nothing_else():
    assert (on_a_day.name, on_a_day.safety, on_a_day.needs) == (
        "on-a-day",
        (Safety.LOSSY,),
        "person",
    )
    assert on_a_day(*ASKED) == GiveUp("Sunday 3")
    assert isinstance(on_a_day, Strategy)


def test_the_decorator_takes_classes():
    @strategy("other", needs="model")
    class Other:
        def __call__(self, call, diagnosis, context):
            return GiveUp("")

    assert (Other.name, Other.safety, Other().needs) == ("other", (), "model")


@pytest.mark.parametrize(
    ("name", "options"),
    [("Not Kebab", {}), ("", {}), ("a", {"needs": "luck"}), ("a", {"safety": ["certain"]})],
)
def test_the_decorator_refuses_what_cannot_be(name, options):
    with pytest.raises(GraphSetupError):
        strategy(name, **options)


def test_a_class_that_there_is_none_of_is_told_with_those_that_there_are():
    with pytest.raises(GraphSetupError, match=r"'exactly'.*; there are exact, inferred, "):
        strategy("x", safety=["exactly"])


@pytest.mark.parametrize(
    ("factory", "options", "says"),
    [
        (on_a_day, {}, "Sunday 3"),
        (on_a_day, {"day": "Monday"}, "Monday 3"),
        (NearestDate, {}, "3 ()"),
        (NearestDate, {"within_days": 5, "skip": ["a"]}, "5 ('a',)"),
        (NearestDate(7), {}, "7 ()"),
        (maker, {"size": 4}, "4"),
        (NearestDate(1).__call__, {}, "1 ()"),
    ],
)
def test_binding(factory, options, says):
    assert bind(factory, options)(*ASKED) == GiveUp(says)


def test_a_bound_function_still_says_what_it_is():
    bound = bind(on_a_day, {"day": "Monday"})
    assert (bound.name, bound.safety, bound.needs) == ("on-a-day", (Safety.LOSSY,), "person")


def test_a_bound_coroutine_function_is_still_one():
    async def later(call, diagnosis, context, *, times: int = 1):
        return GiveUp("")

    assert inspect.iscoroutinefunction(bind(later, {"times": 2}))


@pytest.mark.parametrize(
    ("factory", "options", "key", "words"),
    [
        (on_a_day, {"dya": "Monday"}, "dya", "did you mean 'day'?"),
        (on_a_day, {"zzz": 1}, "zzz", "it takes day, within"),
        (on_a_day, {"within": "3"}, "within", "should be int"),
        (on_a_day, {"within": True}, "within", "should be int"),
        (on_a_day, {"call": 1}, "call", "unknown option"),
        (NearestDate, {"within_day": 3}, "within_day", "did you mean 'within_days'?"),
        (NearestDate, {"name": "x"}, "name", "unknown option"),
        (FormatDate, {"relative": "yes"}, "relative", "should be bool"),
        (FormatDate, {"costs": 3}, "costs", "should be a table"),
        (NearestDate, {"skip": "abc"}, "skip", "should be"),
        (resolve("correct-enum"), {"synonyms": "coach"}, "synonyms", "a table, such as"),
        (resolve("rename-argument"), {"synonyms": ["class"]}, "synonyms", "a table, such as"),
        (NearestDate, {"within_days": -1}, None, "cannot be made: ValueError"),
        (NearestDate(), {"within_days": 3}, "within_days", "takes no options"),
        (maker, {}, "size", "has to be given"),
        (lambda *, x=1: 3, {}, None, "is no strategy"),
        (dict, {}, None, "is no strategy"),
    ],
)
def test_options_that_do_not_fit(factory, options, key, words):
    with pytest.raises(MapError) as caught:
        bind(factory, options)
    (fault,) = caught.value.faults
    assert fault.key == key
    assert words in str(fault)


def test_every_wrong_option_is_reported():
    with pytest.raises(MapError) as caught:
        bind(on_a_day, {"dya": 1, "within": "x"})
    assert [fault.key for fault in caught.value.faults] == ["dya", "within"]


class Color(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "hint", "fit"),
    [
        (1, float, True),
        (1.5, int, False),
        (None, int | None, True),
        ("red", Color, True),
        ("blue", Color, False),
        ("a", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        (1, Literal[True], False),
        (["a"], list[str], True),
        (["a", 1], list[str], False),
        ("abc", Sequence[str], False),
        (("a", 1), tuple[str, int], True),
        (("a",), tuple[str, int], False),
        ({"a": 1}, Mapping[str, int], True),
        ({"a": "1"}, dict[str, int], False),
        ({"a": 1}, dict, True),
        (3, "int", True),
        (object(), Strategy, True),
    ],
)
def test_values_against_annotations(value, hint, fit):
    assert fits(value, hint) is fit


def test_annotations_that_cannot_be_read_stop_nobody():
    def odd(call, diagnosis, context, *, x: "NoSuchName" = 1):  # noqa: F821
        return GiveUp("")

    assert bind(odd, {"x": "anything"})(*ASKED) == GiveUp("")


def test_names_and_classes_are_one_to_one():
    assert class_name("unwrap-arguments") == "UnwrapArguments"


@pytest.mark.parametrize("name", built_in_names())
def test_every_built_in_can_be_used_without_options(name):
    factory = resolve(name)
    made = bind(factory)
    assert made.name == name
    assert made.needs in ("nothing", "model", "person")
    assert all(isinstance(item, Safety) for item in made.safety)
    assert isinstance(made, Strategy)


def test_what_a_map_brings_along_comes_first():
    assert resolve("wait", extra={"wait": on_a_day}) is on_a_day


def test_an_unknown_name_has_near_ones():
    with pytest.raises(StrategyNotFound) as caught:
        resolve("nearest-dat", extra={"nearest-date": NearestDate})
    assert caught.value.near[0] == "nearest-date"


def installed(monkeypatch, value, name="plugged-in"):
    entry = metadata.EntryPoint(name, value, STRATEGIES_GROUP)
    real = metadata.entry_points

    def entry_points(**params):
        found = list(real(**params))
        if params.get("group") == STRATEGIES_GROUP and params.get("name", name) == name:
            found.append(entry)
        return found

    monkeypatch.setattr(metadata, "entry_points", entry_points)


def test_installed_strategies_come_last(monkeypatch):
    installed(monkeypatch, f"{__name__}:NearestDate")
    assert resolve("plugged-in") is NearestDate
    assert resolve("plugged-in", extra={"plugged-in": on_a_day}) is on_a_day


def test_an_installed_strategy_that_cannot_be_loaded_is_named(monkeypatch):
    installed(monkeypatch, "no_such_module_anywhere:X")
    with pytest.raises(MapError, match="'plugged-in' cannot be loaded: ModuleNotFoundError"):
        resolve("plugged-in")
