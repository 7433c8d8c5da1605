"""Whether a failed execution may already have acted, from what its error says.

`not_done` needs a reason to believe it: the other side refused the request, or it was never sent.
Everything else is `maybe`, which is the safe answer: a tool that changes things is then not called
again.

| error | outcome |
|---|---|
| validation, not_found, auth, quota, permanent | not_done: refused before anything was done |
| conflict | not_done: refused because of the present state |
| rate_limit with status 429 or a throttling code | not_done; without either, maybe |
| connection refused, name not resolved, no route, certificate refused | not_done: never sent |
| lock not obtained, serialisation failure, deadlock victim | not_done: rolled back |
| status 425, 503 with Retry-After | not_done: turned away at the door |
| timeout, reset, broken pipe, 5xx otherwise, cancelled, internal, unknown | maybe |
"""

from __future__ import annotations

from typing import Final

from selfcorrect.effects import Outcome
from selfcorrect.model import ErrorKind, Finding

_REFUSED: Final = frozenset(
    {
        ErrorKind.VALIDATION,
        ErrorKind.NOT_FOUND,
        ErrorKind.AUTH,
        ErrorKind.QUOTA,
        ErrorKind.CONFLICT,
        ErrorKind.PERMANENT,
    }
)
_NEVER_SENT_TYPES: Final = frozenset(
    {
        "ConnectionRefusedError",
        "socket.gaierror",
        "socket.herror",
        "ssl.SSLCertVerificationError",
        "httpx.ConnectError",
        "httpx.ConnectTimeout",
        "httpx.PoolTimeout",
        "requests.exceptions.ConnectTimeout",
        "aiohttp.client_exceptions.ClientConnectorError",
        "urllib3.exceptions.NewConnectionError",
        "urllib3.exceptions.ConnectTimeoutError",
        "UnknownTool",
        "InvalidArgs",
        "MalformedCall",
    }
)
_NEVER_DONE_CODES: Final = frozenset(
    {
        "ECONNREFUSED",
        "ENOTFOUND",
        "EAI_AGAIN",
        "EAI_NONAME",
        "ENETUNREACH",
        "EHOSTUNREACH",
        "EHOSTDOWN",
        "ENETDOWN",
        "SQLITE_BUSY",
        "SQLITE_LOCKED",
        "40001",
        "40P01",
        "55P03",
        "08001",
        "08004",
        "53300",
        "57P03",
        "UNAUTHENTICATED",
    }
)


def outcome_of(finding: Finding) -> Outcome:
    """Whether the execution that ended in this finding may have acted; `maybe` when in doubt.

    >>> outcome_of(Finding("read timed out", kind=ErrorKind.TIMEOUT))
    <Outcome.MAYBE: 'maybe'>
    """
    codes = {finding.code, finding.status if isinstance(finding.status, str) else None}
    if codes & _NEVER_DONE_CODES or not _NEVER_SENT_TYPES.isdisjoint(finding.types):
        return Outcome.NOT_DONE
    status = finding.status if isinstance(finding.status, int) else None
    if status is not None and 500 <= status < 600:
        turned_away = status == 503 and finding.retry_after is not None
        return Outcome.NOT_DONE if turned_away or status in (501, 505) else Outcome.MAYBE
    if status == 425 or (finding.kind is ErrorKind.RATE_LIMIT and (status == 429 or finding.code)):
        return Outcome.NOT_DONE
    return Outcome.NOT_DONE if finding.kind in _REFUSED else Outcome.MAYBE
