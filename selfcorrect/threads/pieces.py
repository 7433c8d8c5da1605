"""Calls that come in pieces: a stream joined as strictly as it was written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from selfcorrect.model import JSON
from selfcorrect.reading.call_object import strict_json
from selfcorrect.threads.forms import ThreadCall


@dataclass
class _Stream:
    """A call as it is streamed, or a piece of one; its arguments are a text still.

    Attributes:
        index: Its index in the turn, as the server says.
        id: Its id; empty where it has none.
        name: The name of its tool.
        texts: The pieces of its arguments.
        is_crowded: Whether it began beside a call that was not complete.
    """

    index: int | str | None
    id: str
    name: str
    texts: list[str]
    is_crowded: bool = False

    def args(self) -> JSON:
        """Return the arguments as an object; their text where it is not the JSON of one."""
        text = "".join(self.texts)
        value = strict_json(text) if text else {}
        return value if isinstance(value, dict) else text

    def is_whole(self) -> bool:
        """Say whether the arguments are complete, so that no more text belongs to them."""
        return any(self.texts) and isinstance(self.args(), dict)


def join_pieces(pieces: Iterable[Mapping[str, Any]]) -> list[ThreadCall]:
    """Return the calls that the pieces make up; what has no owner is one without a name.

    The arguments of a call are a text where they are not the JSON of an object.

    Some servers give no index, or one for all calls; some repeat the id or the name, or send an
    empty one.

    Args:
        pieces: Each holds `index`, `id`, `name` and `args`, as far as the server sends them.
    """
    calls: list[_Stream] = []
    is_torn = is_late = False
    for chunk in pieces:
        call_id, name = chunk.get("id") or "", chunk.get("name") or ""
        text = chunk.get("args") or ""
        if not (name or text or call_id) or (is_torn and not name):
            continue
        piece = _Stream(chunk.get("index"), call_id, name, [text])
        near = [call for call in calls if call.index == piece.index]
        own = [call for call in near if call.id == call_id or not (call.id and call_id)]
        if not own or _begins(piece, own[-1]):
            # Behind it, a piece without an id may belong to either.
            piece.is_crowded = not all(call.is_whole() for call in near)
            calls.append(piece)
            is_torn |= bool(text) and not name
        elif text and not call_id and own[-1].is_crowded:
            is_torn = True
        else:
            call = own[-1]
            # Behind the head of another call, its first text may be the other one's.
            is_late |= bool(text) and call is not calls[-1]
            call.id = call.id or call_id
            # A name that is repeated is not a piece of a name.
            call.name += name if name != call.name else ""
            call.texts.append(text)
    written = [ThreadCall(call.id, call.name, call.args()) for call in calls]
    ids, values = [call.id for call in written], [call.args for call in written]
    # A text that cannot be read may be the arguments of a call that shows none, or hold a part of
    # them, where calls share an id; and where one call has an id, one without may be a piece of it.
    if any(isinstance(value, str) for value in values):
        is_torn |= {} in values or len({*ids}) < len(ids)
    is_torn |= any(ids) and not all(ids)
    is_torn |= is_late and not all(any(call.texts) for call in calls)
    return [*written, ThreadCall("", "", "(pieces without a call)")] if is_torn else written


def _begins(piece: _Stream, call: _Stream) -> bool:
    """Say whether a piece begins another call; a head that is sent again says nothing new."""
    is_repeated = piece.name in ("", call.name) and not any(piece.texts)
    return bool(piece.name) and not is_repeated and call.is_whole()
