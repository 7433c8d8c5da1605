"""What one execution did. Structure decides; a word of an error's text never makes a doubt smaller.

| outcome    | known by                                                                    |
|------------|-----------------------------------------------------------------------------|
| `done`     | a value that is not an error, with the receipt that the tool declares       |
| `not_done` | `NotDone`; a refusal of an atomic tool; the tool's `verify`; a person       |
| `refused`  | an answer that says so: a status 4xx, a code of SQL, gRPC or JSON-RPC,      |
|            | `ToolException`, an MCP server's `isError`; an error that the tool's own    |
|            | code raised on purpose. Of an undeclared tool: whatever is not lost         |
| `lost`     | of a tool that is declared to act: everything else. Of an undeclared one: a |
|            | timeout, a connection, 408, 499, any status but 4xx, a missing receipt, a   |
|            | fault of programming, a cancellation, more causes than are looked at        |
"""

from collections.abc import Iterable
from enum import StrEnum

from selfcorrect.model import ErrorKind


class Outcome(StrEnum):
    """What is known of what an execution did."""

    DONE = "done"
    NOT_DONE = "not_done"
    REFUSED = "refused"
    LOST = "lost"


def with_doubt(outcome: Outcome, kinds: Iterable[str]) -> Outcome:
    """Return the outcome once the kinds of the error are known: they only make it graver."""
    return outcome if _NO_ANSWER_KINDS.isdisjoint(kinds) else Outcome.LOST


_NO_ANSWER_KINDS = frozenset({ErrorKind.TIMEOUT, ErrorKind.TRANSIENT})
