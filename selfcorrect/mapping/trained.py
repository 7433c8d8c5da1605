"""The weights of the trained witness that a map asks for: the shipped ones, or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from selfcorrect.errors import MapFault
from selfcorrect.mapping.files import Document
from selfcorrect.weights import Weights, load, shipped

ON: Final = "on"
OFF: Final = "off"

Trained: TypeAlias = Callable[[], Weights | None]
"""Gives the weights: those that come along are read when they are first asked for."""


def trained_by(documents: Sequence[Document]) -> tuple[Trained, list[MapFault]]:
    """Gives the weights that the most specific map names, and what is wrong with its file.

    There are none where it says "off", or where no map says anything.
    """
    for document in documents:
        said = document.content.said("policy").get("witness")
        if said is None:
            continue
        if said == OFF:
            break
        if said == ON:
            return shipped, []
        try:
            weights = load(document.folder / said)
        except OSError as error:
            why = error.strerror or type(error).__name__
        except ValueError as error:
            why = str(error)
        else:
            return partial(_same, weights), []
        hint = '"on", "off" or a file that `selfcorrect train` wrote'
        return _none, [document.fault(f"witness {said!r}: {why}", key="policy.witness", hint=hint)]
    return _none, []


def _same(weights: Weights) -> Weights:
    return weights


def _none() -> None:
    return None
