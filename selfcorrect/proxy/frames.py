"""One JSON-RPC message as it came, and how our own are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.plain import TwoValues, one_value

CLOSED: Final = -32000
"""The connection was closed before an answer came."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
UNSUPPORTED_VERSION: Final = -32022
"""Of the revision 2026-07-28: the versions that are supported stand in the error's data."""

_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Frame:
    """One message.

    Attributes:
        raw: Its bytes as they came, on one line.
        data: What they say.
        headers: What goes with it over HTTP: a client's `authorization` on its way to the server, a
            server's `www-authenticate` on its way back.
        status: The HTTP status of an answer that stands for a refusal by HTTP.
        reached: Whether what it answers may have reached the server.
        fault: Why nobody can tell what it says.
    """

    raw: bytes
    data: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    reached: bool = True
    fault: str | None = None

    @property
    def method(self) -> str | None:
        """The method of a request or a notification."""
        method = self.data.get("method")
        return method if isinstance(method, str) else None

    @property
    def id(self) -> JSON:
        """The id of a request or an answer."""
        return self.data.get("id")

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.id is not None

    @property
    def is_answer(self) -> bool:
        return self.method is None and ("result" in self.data or "error" in self.data)

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters; empty where they are no object."""
        return mapping(self.data.get("params"))

    @property
    def meta(self) -> Mapping[str, Any]:
        """What stands beside the parameters, in `_meta`."""
        return mapping(self.params.get("_meta"))

    def saying(self, params: Mapping[str, Any]) -> Frame:
        """The same message with other parameters."""
        return made({**self.data, "params": params}, self.headers)

    def under(self, id: JSON) -> Frame:  # noqa: A002 -- as JSON-RPC calls it
        """The same message under another id; as it came, where it has this one."""
        if same_id(self.id, id):
            return self
        return replace(self, raw=dump({**self.data, "id": id}), data={**self.data, "id": id})


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else _EMPTY


def key_of(id: JSON) -> str:  # noqa: A002
    """An id as a key: `1` and `"1"` are two.

    >>> key_of(1), key_of("1")
    ('1', "'1'")
    """
    return repr(id)


def same_id(one: JSON, other: JSON) -> bool:
    """Whether two ids are one."""
    return key_of(one) == key_of(other)


def frames(
    raw: bytes, headers: Mapping[str, str] = _EMPTY, *, checks: bool = False
) -> Iterator[Frame]:
    r"""The messages in a text: one, or those of a batch; each on one line.

    Args:
        raw: The text.
        headers: What goes with it.
        checks: Whether two values of one key are a fault: one reader takes the first, another the
            last.

    Raises:
        ValueError: If the text is no JSON-RPC.

    >>> [frame.method for frame in frames(b'{"jsonrpc": "2.0",\n "method": "ping", "id": 1}')]
    ['ping']
    """
    try:
        data, fault = _read(raw) if checks else (json.loads(raw), None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(data, dict):
        # Line breaks of JSON can only stand between its tokens.
        line = raw.strip().replace(b"\r", b" ").replace(b"\n", b" ")
        yield Frame(line, data, headers, fault=fault)
        return
    if not isinstance(data, list) or not data or not all(isinstance(one, dict) for one in data):
        raise ValueError("it is neither an object nor a list of objects")
    for one in data:
        yield Frame(dump(one), one, headers, fault=fault)


def _read(raw: bytes) -> tuple[Any, str | None]:
    """What a text says, and which key of it says two things."""
    try:
        return json.loads(raw, object_pairs_hook=one_value), None
    except TwoValues as error:
        return json.loads(raw), str(error)


def dump(data: Mapping[str, Any]) -> bytes:
    """A message as bytes on one line."""
    return json.dumps(data, separators=(",", ":")).encode()


def made(data: Mapping[str, Any], headers: Mapping[str, str] = _EMPTY) -> Frame:
    """A message of our own."""
    return Frame(dump(data), data, headers)


def request(
    id: JSON,  # noqa: A002
    method: str,
    params: Mapping[str, Any],
    headers: Mapping[str, str] = _EMPTY,
) -> Frame:
    """A request of our own."""
    return made({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, headers)


def notification(method: str, params: Mapping[str, Any]) -> Frame:
    """A notification of our own."""
    return made({"jsonrpc": "2.0", "method": method, "params": params})


def result(id: JSON, value: Mapping[str, Any]) -> Frame:  # noqa: A002
    """An answer of our own."""
    return made({"jsonrpc": "2.0", "id": id, "result": value})


def error(id: JSON, code: int, message: str, data: JSON = None) -> Frame:  # noqa: A002
    """A refusal of our own."""
    told: dict[str, JSON] = {"code": code, "message": message}
    if data is not None:
        told["data"] = data
    return made({"jsonrpc": "2.0", "id": id, "error": told})
