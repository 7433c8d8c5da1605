"""Keys that a deployment adds to the state, and how each is joined with what a node returns."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final, get_origin, get_type_hints, is_typeddict

from selfcorrect.errors import GraphSetupError
from selfcorrect.state import CorrectionState


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key that a deployment adds to the state.

    Attributes:
        hint: Its type, with what is annotated.
        reducer: Joins the value there is and the one that a node returns; None: the last wins.
        empty: What a reducer begins with, as the type says: `list` for `list[str]`.
    """

    hint: Any
    reducer: Callable[[Any, Any], Any] | None = None
    empty: Callable[[], Any] | None = None

    def joined(self, old: Any, new: Any) -> Any:
        """The value of the key after a node returned this one, as LangGraph joins them."""
        return new if self.reducer is None or old is None else self.reducer(old, new)


def own_keys(state: type[Any] | None) -> Mapping[str, OwnKey]:
    """The keys that a subclass of `CorrectionState` adds.

    Raises:
        GraphSetupError: If it is none, changes a key of ours, or a key cannot be kept.
    """
    if state is None:
        return {}
    base = get_type_hints(CorrectionState, include_extras=True)
    try:
        hints = get_type_hints(state, include_extras=True)
    except (NameError, TypeError) as error:
        raise GraphSetupError(
            f"the types of state={state!r:.80} cannot be read: {error}"
        ) from error
    if not is_typeddict(state) or not base.keys() <= hints.keys():
        raise GraphSetupError(f"state must be a subclass of CorrectionState, not {state!r:.80}")
    for key, hint in base.items():
        if hints[key] != hint:
            raise GraphSetupError(f"{state.__name__} changes {key!r}, a key of CorrectionState")
    return {key: _own_key(key, hint) for key, hint in hints.items() if key not in base}


_MADE_AS: Final[Mapping[Any, Any]] = {
    **dict.fromkeys((Sequence, MutableSequence), list),
    **dict.fromkeys((Mapping, MutableMapping), dict),
    **dict.fromkeys((AbstractSet, MutableSet), set),
}


def _own_key(key: str, hint: Any) -> OwnKey:
    last = getattr(hint, "__metadata__", (None,))[-1]
    if not callable(last):
        return OwnKey(hint)
    if isinstance(last, type) or len(signature(last).parameters) != 2:
        raise GraphSetupError(
            f"what is annotated at {key!r} must be a reducer of two values, not {last!r:.80}"
        )
    kind = get_origin(hint.__origin__) or hint.__origin__
    kind = _MADE_AS.get(kind, kind)
    try:
        kind()
    except Exception:
        return OwnKey(hint, last)
    return OwnKey(hint, last, kind)
