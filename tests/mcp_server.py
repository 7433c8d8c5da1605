"""A raw MCP server over stdio whose tools answer as they are named: mcp_server.py LOG PAGES."""

import json
import sys
from pathlib import Path

LOG, PAGES = (Path(sys.argv[1]), sys.argv[2]) if __name__ == "__main__" else (None, "all")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


ANSWERS = {
    "a_text": text("3 rows"),
    "an_object": text('{"rows": 3}'),
    "structured": {"structuredContent": {"rows": 3}},
    "both": text("3 rows", structuredContent={"rows": 3}),
    "copy": text('{"rows":3}', structuredContent={"rows": 3}),
    "misfit": text("3 rows", structuredContent={"rows": 3}),
    "blocks": {"content": [{"type": "text", "text": "3"}, {"type": "text", "text": "rows"}]},
    "widget": {"content": [{"type": "widget", "rows": 3}]},
    "unusual": {"rows": 3},
    "structured_blocks": {
        "content": [
            {"type": "text", "text": "3"},
            {"type": "image", "data": "", "mimeType": "image/png"},
        ],
        "structuredContent": {"rows": 0},
    },
    "structured_empty": text("3 rows", structuredContent={}),
    "empty": {"content": []},
    "nothing": {},
    "no_list": {"content": "3 rows"},
    "no_objects": {"content": ["3", None]},
    "a_null": {"content": [{"type": "text", "text": None}]},
    "refused": text("no such row", isError=True, structuredContent={"data": None}),
    "refused_word": text("no such row", isError="true"),
    "refused_mutely": {"content": [], "isError": True, "structuredContent": {"why": "no such row"}},
    "an_error_value": text('{"error": "no such row"}'),
    "bad_params": {"code": -32602, "message": "no such row"},
    "internal": {"code": -32603, "message": "no such row"},
    "invalid_request": {"code": -32600, "message": "no such row"},
    "no_session": {"code": 32600, "message": "no such row"},
    "an_own_code": {"code": -32050, "message": "no such row"},
}
HINTS = {
    "reads": {"readOnlyHint": True},
    "deletes": {"destructiveHint": True, "idempotentHint": True},
    "sets": {"idempotentHint": True, "title": "Sets"},
    "writes": {"destructiveHint": False},
    "claims": {"effect": "read_only", "atomic": True},
    "says_nothing": {},
}
SCHEMA = {"type": "object", "properties": {"q": {"type": "integer"}}, "required": ["q"]}
DATA = {"type": "object", "properties": {"data": {"type": "object"}}, "required": ["data"]}


def listed(name):
    tool = {"name": name, "description": name, "inputSchema": SCHEMA}
    if name in ("misfit", "refused"):
        tool["outputSchema"] = DATA
    return {**tool, "annotations": HINTS[name]} if name in HINTS else tool


TOOLS = [listed(name) for name in (*ANSWERS, *HINTS, "silent", "dies", "expires")]
EXPIRED = []
ODD = {"name": "odd", "description": "odd", "inputSchema": {"type": "object", "allOf": "any"}}


def page(cursor):
    at = int(cursor or 0)
    if PAGES in ("all", "odd"):
        return {"tools": [*([ODD] if PAGES == "odd" else []), *TOOLS]}
    shown = {"tools": TOOLS[at : at + 5] if PAGES == "pages" else TOOLS[:1]}
    more = {"pages": at + 5 < len(TOOLS), "endless": True, "same": True}[PAGES]
    following = "1" if PAGES == "same" else str(at + 5)
    return {**shown, "nextCursor": following} if more else shown


def call(number, name, args):
    with LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(args) + "\n")
    if name == "dies":
        sys.exit()
    if name == "silent":
        return None
    answer = ANSWERS.get(name, text("done"))
    if name == "expires" and not EXPIRED:
        # The session has ended; a client opens another one.
        EXPIRED.append(number)
        answer = ANSWERS["no_session"]
    return {"id": number, "error" if "code" in answer else "result": answer}


def serve():
    for line in sys.stdin:
        asked = json.loads(line)
        method, params, number = asked.get("method"), asked.get("params") or {}, asked.get("id")
        reply = None if number is None else {"id": number, "result": {}}
        if method == "initialize":
            about = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            reply["result"] = {**about, "serverInfo": {"name": "raw", "version": "1"}}
        elif method == "tools/list":
            reply["result"] = page(params.get("cursor"))
        elif method == "tools/call":
            reply = call(number, params["name"], params["arguments"])
        if reply is not None:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **reply}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    serve()
