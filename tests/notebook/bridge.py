"""A bare page with the real ES module, and the real widget behind it, over 127.0.0.1.

Stands in for Jupyter's comm only: what the page sends reaches the widget's own handler, and what
the widget's traits become reaches the page.
"""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>stepper</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
<style>body { margin: 0; padding: 16px; background: Canvas; }</style></head>
<body%s><textarea id="outside" aria-label="outside"></textarea><main id="cells"></main>
<script type="module">
import widget from "/widget.js";
class Model {
  constructor(number, traits) { this.number = number; this.traits = traits; this.heard = {}; }
  get(name) { return this.traits[name]; }
  on(event, callback) { (this.heard[event] ||= new Set()).add(callback); }
  off(event, callback) { this.heard[event]?.delete(callback); }
  fire(event, value) { for (const callback of this.heard[event] || []) callback(value); }
  send(message) {
    if (window.silent) return;
    fetch(`/send/${this.number}`, { method: "POST", body: JSON.stringify(message) });
  }
}
const models = [];
for (const [number, traits] of (await (await fetch("/traits")).json()).entries()) {
  const model = new Model(number, traits);
  models.push(model);
  const el = document.createElement("div");
  el.className = "cell";
  document.querySelector("#cells").append(el);
  const started = performance.now();
  widget.render({ model, el });
  window.paintedIn = performance.now() - started;
}
const events = new EventSource("/events");
events.onmessage = (event) => {
  const { number, view, message } = JSON.parse(event.data);
  if (view) { models[number].traits.view = view; models[number].fire("change:view"); }
  if (message) models[number].fire("msg:custom", message);
};
events.onopen = () => { document.body.dataset.ready = "yes"; };
</script></body></html>"""


class Bridge:
    """Serves the widgets of some steppers to a page."""

    def __init__(self, *steppers: Any, theme: str = "light") -> None:
        self.theme = theme
        self.listeners: list[queue.Queue[str | None]] = []
        self.saved: list[dict[str, Any]] = []
        self.widgets = [stepper.make_widget(f"test{n}") for n, stepper in enumerate(steppers)]
        for number, (widget, stepper) in enumerate(zip(self.widgets, steppers, strict=True)):
            stepper._widget, stepper._copies = widget, []
            widget.observe(lambda change, n=number: self._push(number=n, view=change.new), "view")
            widget.send = lambda message, n=number: self._message(n, message)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/"

    def close(self) -> None:
        for listener in self.listeners:
            listener.put(None)
        self.server.shutdown()
        self.server.server_close()

    def _push(self, **data: Any) -> None:
        for listener in self.listeners:
            listener.put(json.dumps(data))

    def _message(self, number: int, message: dict[str, Any]) -> None:
        self.saved.append(message)
        self._push(number=number, message=message)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        bridge = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/events":
                    self._stream()
                    return
                widget = bridge.widgets[0]
                theme = (
                    ' data-jp-theme-light="false"'
                    if bridge.theme == "dark"
                    else ' data-jp-theme-light="true"'
                )
                bodies = {
                    "/": ("text/html", PAGE % theme),
                    "/widget.js": ("text/javascript", str(widget._esm)),
                    "/style.css": ("text/css", str(widget._css)),
                    "/traits": (
                        "application/json",
                        json.dumps([traits(w) for w in bridge.widgets]),
                    ),
                }
                kind, body = bodies.get(self.path, ("text/plain", ""))
                self._answer(kind, body)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                widget = bridge.widgets[int(self.path.rpartition("/")[2])]
                widget._handle_custom_msg(json.loads(body), [])
                self._answer("text/plain", "")

            def _answer(self, kind: str, body: str) -> None:
                data = body.encode()
                self.send_response(200)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.flush()
                listener: queue.Queue[str | None] = queue.Queue()
                bridge.listeners.append(listener)
                while (item := listener.get()) is not None:
                    self.wfile.write(f"data: {item}\n\n".encode())
                    self.wfile.flush()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


def traits(widget: Any) -> dict[str, Any]:
    return {name: getattr(widget, name) for name in ("name", "graph", "view", "page")}
