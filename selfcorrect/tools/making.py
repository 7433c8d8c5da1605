"""What every maker of tools ends in: the parts checked and put together."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from selfcorrect.schema.checker import Checker
from selfcorrect.tools.declarations import (
    effect_of,
    refuse_unusable,
    stated,
    stated_effect,
    timeout_of,
)
from selfcorrect.tools.running import AsyncRun, Run

T = TypeVar("T")


def spec_of(
    cls: Callable[..., T],
    name: Any,
    description: Any,
    schema: Any,
    run: Run,
    *,
    effect: Any,
    timeout: float | None,
    is_async: bool,
    arun: AsyncRun | None = None,
    local_times: bool = False,
    atomic: bool,
    fails: Any,
    verify: Any,
    metadata: Mapping[str, Any],
    **said: Any,
) -> T:
    """A tool from its parts, each of them checked; `said` has its other attributes.

    What nobody said of its effect, of `verify` and `atomic` is taken from its metadata.
    """
    effect = stated_effect(metadata, name) if effect is None else effect
    verify = stated(metadata, "verify") if verify is None else verify
    refuse_unusable(name, atomic=atomic, fails=fails, verify=verify)
    checker = Checker(schema, name, local_times=local_times)
    known, declared = effect_of(effect, name)
    return cls(
        name=name,
        description=description if isinstance(description, str) else "",
        schema=copy.deepcopy(dict(schema)),
        effect=known,
        declared=declared,
        is_async=is_async,
        timeout=timeout_of(timeout, name),
        _run=run,
        _arun=arun or (run if is_async else None),
        _checker=checker,
        verify=verify,
        atomic=atomic or stated(metadata, "atomic") is True,
        server=str(stated(metadata, "server") or ""),
        fails=fails,
        **said,
    )
