"""The command `proxy`: stands between an MCP client and the command of an MCP server."""

import argparse
import shutil
from contextlib import closing, nullcontext
from functools import partial

from selfcorrect.cli.ledger import ledger_at
from selfcorrect.cli.screen import InputError
from selfcorrect.effects.equal import digest
from selfcorrect.lazy import name_extra
from selfcorrect.ledger.memory import MemoryLedger


def proxy(options: argparse.Namespace) -> int:
    """Run until the client or the server ends; 1 if it was the server."""
    with name_extra():
        from selfcorrect.proxy.serve import serve_http, serve_stdio
        from selfcorrect.proxy.tool_calls import ToolCalls

    command = options.server
    if shutil.which(command[0]) is None:
        raise InputError(f"there is no command {command[0]!r}")
    # Another session with the same server must know of a lost call.
    scope = digest("proxy", *command)
    # Sessions over HTTP share what is remembered.
    kept = closing(ledger_at(options.ledger)) if options.ledger else nullcontext(MemoryLedger())
    with kept as ledger:
        make = partial(ToolCalls, ledger, scope, trust=options.trust)
        if options.http:
            serve_http(command, make, options.http)
            return 0
        return 0 if serve_stdio(command, make) else 1
