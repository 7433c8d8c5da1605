"""Where a rule belongs whose example another rule takes: the line that puts it in front."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from selfcorrect.mapping.files import Document
from selfcorrect.mapping.merging import MapRule, merged_rules
from selfcorrect.mapping.rules import PRIORITIES


def line_in_front(
    documents: Sequence[Document], rule: MapRule, others: Sequence[MapRule]
) -> str | None:
    """What to write into a rule so that it is tried before others; None where nothing does it.

    Args:
        documents: The whole map, in which the rules stand.
        rule: The rule that comes too late.
        others: The rules that it has to come before.
    """
    for said in _proposals(rule, others):
        changed = [_with(document, rule, said) for document in documents]
        order, faults = merged_rules(changed)
        place = {each.id: number for number, each in enumerate(order)}
        if not faults and all(place[rule.id] < place[each.id] for each in others):
            return " and ".join(f"{key} = {_toml(value)}" for key, value in said.items())
    return None


def _proposals(rule: MapRule, others: Sequence[MapRule]) -> Iterator[Mapping[str, Any]]:
    """The least first: another priority, `before`, both."""
    highest = min(rule.rule.rank, *(each.rule.rank for each in others))
    priority = {"priority": PRIORITIES[highest]} if highest < rule.rule.rank else {}
    near = [each for each in others if each.rule.rank == highest]
    beside = [each.rule.id if each.source is rule.source else each.id for each in near]
    before = {"before": tuple(dict.fromkeys((*rule.rule.before, *beside)))}
    if priority:
        yield priority
    yield {**priority, **before}


def _with(document: Document, rule: MapRule, said: Mapping[str, Any]) -> Document:
    """The map with this said in addition by the rule, where it is that rule's map."""
    if document is not rule.source:
        return document
    content = document.content
    rules = tuple(
        each.model_copy(update=said) if each is rule.rule else each for each in content.rule
    )
    return replace(document, content=content.model_copy(update={"rule": rules}))


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        value = value[0] if len(value) == 1 else list(value)
    return json.dumps(value, ensure_ascii=False)
