"""The strategies of a map's rules: found and bound to their options while the map is linked.

Built-in strategies without options are only known to exist until they are first needed, so that
reading a map imports none of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from selfcorrect.errors import MapError, MapFault, StrategyNotFound
from selfcorrect.hints import close_names, near
from selfcorrect.mapping.files import Document, load_object
from selfcorrect.mapping.ladders import ladder_by, ladder_of, ladders_for, leaves_open
from selfcorrect.mapping.merging import MapRule
from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.registry import (
    Factory,
    bind,
    built_in_names,
    installed_names,
    resolve,
    strategy_names,
)
from selfcorrect.mapping.rules import STRATEGY_NAME, Rung
from selfcorrect.model import OWN_CHECKS, Finding
from selfcorrect.protocols import Strategy

Code: TypeAlias = Literal["run", "read", "refuse"]
"""What becomes of the Python that maps bring along."""

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+")
RECALL: Final = "recall"
"""The strategy that does what mended the same error in recorded runs."""
_ENDS: Final = ("give-up", "escalate")


class Binder:
    """The ladders of all rules, and their strategies."""

    def __init__(
        self, used: Mapping[str, Factory], recalls: tuple[RecallEntry, ...], *, run: bool
    ) -> None:
        self._used = used
        self._run = run
        self.recalls = recalls
        self._known = frozenset(entry.tool for entry in recalls)
        self._ladders: dict[str, tuple[str, ...]] = {}
        self._open: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._objects: dict[tuple[str, str], Factory] = {}
        self._bound: dict[tuple[str | None, str], Strategy] = {}
        self._absent: dict[str, MapFault] = {}

    @classmethod
    def of(
        cls, rules: Sequence[MapRule], documents: Sequence[Document], code: Code
    ) -> tuple[Binder, list[MapFault]]:
        """The strategies of these rules, and every fault in naming and binding them."""
        used, broken, faults = _brought_along(documents, code)
        recalls = tuple(entry for document in documents for entry in document.content.recall)
        binder = cls(used, recalls, run=code != "read")
        for document in documents:
            faults += binder._check_ladders(document, broken)
        said = {id(document): ladders_for(document, documents) for document in documents}
        for placed in rules:
            faults += binder._add(placed, said[id(placed.source)], broken)
        return binder, faults

    def ladder(
        self, rule_id: str | None, tool: str | None = None, decided: Finding | None = None
    ) -> tuple[str, ...]:
        """The names of a rule's strategies; of a tool that something was learnt about, that too.

        Where a rule leaves it open, those that are for what was decided.
        """
        own = self._ladders[rule_id] if rule_id is not None else ()
        if decided is not None and rule_id in self._open:
            own = ladder_by(decided.kind, decided.category, self._open[rule_id])
        return self._with_recall(rule_id, own) if tool in self._known else own

    def strategy(
        self, rule_id: str | None, name: str, options: Mapping[str, Any] | None = None
    ) -> Strategy:
        """The strategy on a rule's ladder; see `StrategyMap.strategy`."""
        ladder = self._ladders.get(rule_id or "", ())
        if name not in ladder and not (name == RECALL and self.recalls and options is None):
            raise StrategyNotFound(name, close_names(name, ladder))
        if options is not None:
            if name == RECALL:
                raise MapError([MapFault("its entries are those of the map: it takes no options")])
            given = self._objects.get((rule_id or "", name))
            return bind(given if given is not None else resolve(name, extra=self._used), options)
        bound = self._bound.get((rule_id, name)) or self._bound.get((None, name))
        if bound is None:
            own = {"entries": self.recalls} if name == RECALL else {}
            bound = self._bound[None, name] = bind(resolve(name, extra=self._used), own)
        return bound

    def _with_recall(self, rule_id: str | None, own: tuple[str, ...]) -> tuple[str, ...]:
        """A ladder with what was learnt behind what follows from the error alone."""
        if RECALL in own:
            return own
        at = 0
        while at < len(own) and own[at] not in _ENDS and self._is_free(rule_id, own[at]):
            at += 1
        return (*own[:at], RECALL, *own[at:])

    def _is_free(self, rule_id: str | None, name: str) -> bool:
        return getattr(self.strategy(rule_id, name), "needs", "nothing") == "nothing"

    def _check_ladders(self, document: Document, broken: set[str]) -> list[MapFault]:
        """The faults in what a map says of kinds and categories, told once and not by rule."""
        return [
            replace(fault, file=document.label, key=f"ladders.{said}")
            for said, ladder in document.content.ladders.items()
            for rung in ladder
            if isinstance(rung, str) and rung not in broken
            for fault in self._bind(None, rung, None, {})
        ]

    def _add(
        self, placed: MapRule, said: Mapping[str, tuple[Rung, ...]], broken: set[str]
    ) -> list[MapFault]:
        """Note a rule's ladder; the faults in it."""
        faults: list[MapFault] = []
        names = []
        options = placed.rule.options
        own = "repair" in placed.rule.model_fields_set
        for rung in ladder_of(placed.rule, said):
            name = _named(rung)
            if name in names:
                message = f"two strategies on the ladder are named {name!r}"
                faults.append(placed.source.fault(message, rule=placed.rule.id, key="repair"))
                continue
            names.append(name)
            if isinstance(rung, str) and name in broken:
                continue
            given = options.get(name, {})
            found = self._bind(placed.id, name, None if isinstance(rung, str) else rung, given)
            if own or given:
                faults += [self._placed(fault, placed, name) for fault in found]
        for name in options:
            if name not in names:
                message = f"options for {name!r}, which is not on the ladder"
                faults.append(
                    placed.source.fault(
                        message, rule=placed.rule.id, key=f"options.{name}", hint=near(name, names)
                    )
                )
        self._ladders[placed.id] = tuple(names)
        if leaves_open(placed.rule):
            self._open[placed.id] = {
                key: tuple(map(_named, ladder)) for key, ladder in said.items()
            }
        return faults

    def _bind(
        self, rule_id: str | None, name: str, rung: Factory | None, options: Mapping[str, Any]
    ) -> Sequence[MapFault]:
        shared = rung is None and not options
        if shared and ((None, name) in self._bound or self._is_plain_built_in(name)):
            return ()
        if rung is None and name in self._absent:
            return [self._absent[name]]
        try:
            if rung is not None:
                self._objects[rule_id or "", name] = rung
            factory = rung if rung is not None else self._found(name)
            self._bound[None if shared else rule_id, name] = bind(factory, options)
        except StrategyNotFound as error:
            hint = f"did you mean {' or '.join(map(repr, error.near))}?" if error.near else None
            self._absent[name] = MapFault(f"there is no repair strategy named {name!r}", hint=hint)
            return [self._absent[name]]
        except MapError as error:
            return error.faults
        except Exception as error:
            return [MapFault(f"{name!r} cannot be loaded: {type(error).__name__}: {error}")]
        return ()

    def _found(self, name: str) -> Factory:
        if not self._run and name not in (*self._used, *built_in_names()):
            if name in installed_names():
                from selfcorrect.mapping.source import stand_in

                return stand_in(name)
            raise StrategyNotFound(name, close_names(name, strategy_names(self._used)))
        return resolve(name, extra=self._used)

    def _is_plain_built_in(self, name: str) -> bool:
        return name not in self._used and name in built_in_names()

    @staticmethod
    def _placed(fault: MapFault, placed: MapRule, name: str) -> MapFault:
        """The fault of a strategy or an option, with its place in the map."""
        key = f"options.{name}.{fault.key}" if fault.key else "repair"
        message = fault.message
        if fault.key is None and not message.startswith(
            ("there is no", repr(name), "the installed")
        ):
            message = f"strategy {name!r} {message}"
        return replace(
            fault, message=message, file=placed.source.label, rule=placed.rule.id, key=key
        )


def _named(rung: Rung) -> str:
    return rung if isinstance(rung, str) else name_of(rung)


def name_of(strategy: Any) -> str:
    """What a strategy that is passed as an object is called: its own name, or its class's.

    >>> class NearestDate:
    ...     pass
    >>> name_of(NearestDate())
    'nearest-date'
    """
    own = getattr(strategy, "name", None)
    if isinstance(own, str) and own:
        return own
    function = strategy
    while hasattr(function, "func"):
        function = function.func
    named = function if inspect.isclass(function) or inspect.isroutine(function) else type(function)
    words = _CAMEL.sub("-", getattr(named, "__name__", "strategy")).strip("-").lower()
    return words if STRATEGY_NAME.fullmatch(words) else "strategy"


def _brought_along(
    documents: Sequence[Document], code: Code
) -> tuple[dict[str, Factory], set[str], list[MapFault]]:
    """What `[use]` of all documents names, the more specific first; names that failed; faults."""
    used: dict[str, Factory] = {}
    broken: set[str] = set()
    faults: list[MapFault] = []
    for document in documents:
        for name, value in document.content.use.items():
            if name in used or name in broken:
                continue
            wrong = _unusable(name, value, document, code)
            if wrong is None:
                try:
                    used[name] = _looked_up(value, document, code)
                except LookupError as error:
                    wrong = str(error.args[0])
                else:
                    wrong = None if callable(used[name]) else f"{value} cannot be called"
            if wrong is not None:
                used.pop(name, None)
                broken.add(name)
                faults.append(document.fault(wrong, key=f"use.{name}"))
    return used, broken, faults


def _looked_up(value: Any, document: Document, code: Code) -> Any:
    if not isinstance(value, str):
        return value
    if code == "read":
        from selfcorrect.mapping.source import read_object

        return read_object(value, document.folder)
    return load_object(value, document.folder)


def _unusable(name: str, value: Any, document: Document, code: Code) -> str | None:
    if not STRATEGY_NAME.fullmatch(name):
        return "a strategy's name is kebab-case"
    if isinstance(value, str):
        return None if code != "refuse" else "code is not allowed here, and [use] runs a file"
    if document.file is not None or not callable(value):
        return "write it as './file.py:Object'"
    return None


def learnt_about(finding: Finding, tool: str | None) -> str | None:
    """The tool of whose errors something may be learnt: what our own checks find is no such."""
    return tool if OWN_CHECKS.isdisjoint(finding.types) else None
