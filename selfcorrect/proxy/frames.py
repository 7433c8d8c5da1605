"""One JSON-RPC message as it came, how our own are written, and how the revisions of MCP differ.

Up to 2025-11-25 a client introduces itself with `initialize`, and a server asks it by requests of
its own. From 2026-07-28 on each request says who asks, and a server that needs something answers
with `input_required`; the client then makes the request again with what was wanted.
"""

from __future__ import annotations

import base64
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

HANDSHAKES: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with `initialize`."""
_RESERVED: Final = "io.modelcontextprotocol/"
_VERSION: Final = f"{_RESERVED}protocolVersion"
_CAPABILITIES: Final = f"{_RESERVED}clientCapabilities"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that stands in the header `Mcp-Name`, by method."""
_DEEPEST: Final = 32

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


def version_in(frame: Frame) -> str | None:
    """The revision that a request names itself; None where a handshake settled it."""
    version = frame.meta.get(_VERSION)
    return version if isinstance(version, str) else None


def capabilities_in(frame: Frame) -> Mapping[str, Any]:
    """What a client can do, as its request says."""
    return mapping(frame.meta.get(_CAPABILITIES))


def envelope_of(frame: Frame) -> dict[str, JSON]:
    """Who asks, for a request that is made on behalf of this one; nothing after a handshake."""
    own = {key: value for key, value in frame.meta.items() if str(key).startswith(_RESERVED)}
    return {"_meta": own} if _VERSION in own else {}


def complete(frame: Frame) -> dict[str, JSON]:
    """What every result to this request says beside itself."""
    return {"resultType": "complete"} if version_in(frame) else {}


def headers_of(frame: Frame, schema: Mapping[str, Any] | None) -> dict[str, str]:
    """What HTTP repeats of a request that comes by itself, so that it can be routed.

    Args:
        frame: The request.
        schema: Of a called tool's arguments: those marked `x-mcp-header` are repeated, too.
    """
    version = version_in(frame)
    if version is None:
        return {}
    headers = {"mcp-protocol-version": version, "mcp-method": frame.method or ""}
    named = frame.params.get(_NAMED.get(frame.method or "", ""))
    if isinstance(named, str):
        headers["mcp-name"] = _header(named)
    if schema is not None:
        headers |= dict(_repeated(schema, mapping(frame.params.get("arguments")), 0))
    return headers


def _repeated(
    schema: Mapping[str, Any], args: Mapping[str, Any], depth: int
) -> Iterator[tuple[str, str]]:
    for name, below in mapping(schema.get("properties")).items():
        own, value = mapping(below), args.get(name)
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _repeated(own, value, depth + 1)
        elif isinstance(token := own.get("x-mcp-header"), str) and value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"mcp-param-{token}", _header(text)


def _header(text: str) -> str:
    """A text as the value of a header; one that is not printable ASCII is wrapped."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
