"""Loading error-strategy maps: by name, by path, or anew while a service runs."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from selfcorrect.errors import MapError, MapFault
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.mapping.files import MapSource, find_map, map_names, read_map, starter_dir
from selfcorrect.mapping.strategy_map import StrategyMap

__all__ = [
    "DEFAULT",
    "ENVIRONMENT",
    "built_in_bodies",
    "load_map",
    "map_names",
    "reload_map",
    "starter_dir",
]

DEFAULT: Final = "default"
ENVIRONMENT: Final = "SELFCORRECT_STRATEGIES"
"""Names the map that is used where the caller named none."""


def load_map(
    source: MapSource | StrategyMap | None = None, *, allow_code: bool = True
) -> StrategyMap:
    """The map that a caller means.

    A bare name is one of `selfcorrect/maps`, of the starter's `strategies/`, or of an installed
    package; it is never looked up in the working directory. A path is explicit: it has a
    separator, or ends with `.toml`.

    Args:
        source: A name, a path, or a map itself; None means the one that the environment variable
            `SELFCORRECT_STRATEGIES` names, or else `default`.
        allow_code: Whether maps may bring Python along with `[use]`.

    Raises:
        MapError: If there is no such map, or anything is wrong with it; it lists every fault.
    """
    if isinstance(source, StrategyMap):
        return source
    if source is None:
        source = os.environ.get(ENVIRONMENT) or DEFAULT
    given: object = source
    if not isinstance(given, str | os.PathLike):
        message = f"a map is given by name, by path or as a StrategyMap, not {given!r:.80}"
        raise MapError([MapFault(message)])
    return _default() if source == DEFAULT else StrategyMap.load(source, allow_code=allow_code)


@lru_cache(maxsize=1)
def _default() -> StrategyMap:
    """The default map; it ships with the package and is immutable, so one serves all."""
    return StrategyMap.load(DEFAULT)


def reload_map(
    current: StrategyMap, path: str | os.PathLike[str], *, allow_code: bool = True
) -> tuple[StrategyMap, MapError | None]:
    """The map of a file that may have changed; the current map where the file is not usable.

    A file that does not end with a line break is taken for half-written: what is missing could be
    a rule, and nothing else would tell.

    Args:
        current: The map in use.
        path: The file to read.
        allow_code: Whether maps may bring Python along with `[use]`.

    Returns:
        The new map and None, or the current map and what is wrong with the file.
    """
    try:
        new = StrategyMap.load(Path(path), allow_code=allow_code)
    except MapError as error:
        return current, error
    unfinished = [
        document.fault("does not end with a line break: half-written?")
        for document in new.documents
        if not document.complete
    ]
    return (current, MapError(unfinished)) if unfinished else (new, None)


@cache
def built_in_bodies() -> tuple[BodyRow, ...]:
    """The rows for bodies of errors that come along, which every map reads after its own."""
    return read_map(find_map("bodies")).content.body
