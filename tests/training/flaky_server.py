"""A server that fails on purpose, for what is called over a network: `python flaky_server.py SECONDS`.

Port 8971 answers HTTP: `/429` with that status, `/slow` after a while, `/drop` not at all, `/cut` with
half a body, `/html/503` with a page. 8972 accepts and says nothing, 8973 hangs up, 8974 speaks nonsense.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = {
    400: '{"error":"bad request"}',
    401: '{"error":"unauthorized"}',
    402: '{"error":"quota exceeded"}',
    403: '{"error":"forbidden"}',
    404: '{"error":"not found"}',
    408: '{"error":"request timeout"}',
    409: '{"error":"conflict"}',
    413: '{"error":"payload too large"}',
    422: '{"error":"unprocessable"}',
    423: '{"error":"locked"}',
    429: '{"error":"too many requests"}',
    500: '{"error":"internal error"}',
    501: '{"error":"not implemented"}',
    502: "bad gateway",
    503: "service unavailable",
    504: "gateway timeout",
    507: '{"error":"insufficient storage"}',
}


class Flaky(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        last = self.path.rsplit("/", 1)[-1]
        if last == "slow":
            time.sleep(6)
        if last == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status = int(last) if last.isdigit() else 200
        body = SAID.get(status, "{}").encode()
        if "html" in self.path:
            title = f"{status} {self.responses[status][0]}"
            body = f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>".encode()
        if last == "notjson":
            body = b"{'a': nope"
        self.send_response(status)
        self.send_header("content-type", "text/html" if "html" in self.path else "application/json")
        self.send_header("content-length", str(len(body) + (50 if last == "cut" else 0)))
        if last == "loop":
            self.send_header("location", "/loop")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_PROPFIND = do_GET

    def log_message(self, *_: Any) -> None:
        """Nothing: what it served is in the messages."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that gave up is what was wanted."""


def listen(port: int, say: bytes | None) -> None:
    """Accepts for ever; says nothing (None), hangs up (b""), or says the bytes."""
    listener = socket.create_server(("127.0.0.1", port))
    kept = []
    while True:
        link, _ = listener.accept()
        if say is None:
            kept.append(link)
            continue
        if say:
            link.sendall(say)
            time.sleep(0.2)
        link.close()


def main(seconds: str) -> None:
    for port, say in ((8972, None), (8973, b""), (8974, b"\x00\xff nonsense \x00\r\n" * 8)):
        threading.Thread(target=listen, args=(port, say), daemon=True).start()
    threading.Thread(target=Server(("127.0.0.1", 8971), Flaky).serve_forever, daemon=True).start()
    time.sleep(float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
