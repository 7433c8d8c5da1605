"""An MCP server of the standard library alone, which writes down every byte that reaches it.

`python proxy_raw_server.py LOG [stubborn]`: a stubborn one does not end when its stdin does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

TOOLS = [
    {
        "name": "echo",
        "description": "Give back what it got.",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {"type": "object", "properties": {"value": {}, "note": {"type": "string"}}},
    },
    {
        "name": "pay",
        "inputSchema": {
            "type": "object",
            "properties": {
                "amount": {"type": "number"},
                "to": {"type": "string"},
                "day": {"type": "string", "format": "date"},
                "how": {"enum": ["card", "cash"]},
                "token": {"type": "string", "x-sensitive": True},
            },
            "required": ["amount", "to"],
        },
    },
    {
        "name": "wait",
        "inputSchema": {"type": "object", "properties": {"seconds": {"type": "number"}}},
    },
    {"name": "die", "inputSchema": {"type": "object"}},
    {"name": "odd", "inputSchema": {"type": "object", "properties": {"a": {"type": "nonsense"}}}},
]


def say(message: dict) -> None:
    with lock:
        sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def text(value: object) -> dict:
    return {"content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}]}


def answer(message: dict) -> None:
    params = message.setdefault("params", {})
    name, args = params.get("name"), params.get("arguments", {})
    match message["method"]:
        case "initialize":
            told = {
                "protocolVersion": message["params"].get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
            say({"jsonrpc": "2.0", "id": message["id"], "result": told})
        case "tools/list":
            first = "cursor" not in message["params"]
            told = {"tools": TOOLS[:2], "nextCursor": "2"} if first else {"tools": TOOLS[2:]}
            say({"jsonrpc": "2.0", "id": message["id"], "result": told})
        case "tools/call" if name == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "tools/call" if name == "wait":
            time.sleep(args.get("seconds", 30))
            say({"jsonrpc": "2.0", "id": message["id"], "result": text(args)})
        case "tools/call" if name == "pay" and args.get("to") == "nobody":
            told = {"content": [{"type": "text", "text": "no such account"}], "isError": True}
            say({"jsonrpc": "2.0", "id": message["id"], "result": told})
        case "tools/call":
            say({"jsonrpc": "2.0", "id": message["id"], "result": text(args)})
        case "noise":
            sys.stdout.write("Server ready!\n")
            sys.stdout.flush()
            say({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        case _:
            error = {"code": -32601, "message": "Method not found"}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})


lock = threading.Lock()
with Path(sys.argv[1]).open("ab") as log:
    for line in sys.stdin.buffer:
        log.write(line)
        log.flush()
        try:
            message = json.loads(line)
        except ValueError:
            error = {"code": -32700, "message": "Parse error"}
            say({"jsonrpc": "2.0", "id": None, "error": error})
            continue
        if "id" in message and "method" in message:
            slow = message.get("params", {}).get("name") == "wait"
            if slow:
                threading.Thread(target=answer, args=(message,), daemon=True).start()
            else:
                answer(message)
if sys.argv[2:] == ["stubborn"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
