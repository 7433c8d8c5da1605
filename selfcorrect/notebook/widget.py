"""The live view in a notebook: the view model out, commands in. Needs the extra `jupyter`."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from selfcorrect.errors import GraphSetupError, MissingExtra
from selfcorrect.notebook.commands import command_of, export_of
from selfcorrect.notebook.html import asset, module
from selfcorrect.notebook.view_model import graph_of, view_of

_OFTEN: Final = 0.08
"""Seconds between two pictures of a run that goes on."""


def stepper_widget(live: Any, name: str) -> Any:
    """A widget that paints a stepper and does what is pressed, in a thread of its own."""
    at = live.standing
    widget = _widget_class()(name=name, graph=graph_of(at.parts.shape), view=view_of(at))
    last = [0.0]

    def paint() -> None:
        busy = live.running is not None
        now = time.monotonic()
        if busy and now - last[0] < _OFTEN:
            return
        last[0] = now
        widget.view = {**view_of(live.standing), "serial": widget.view.get("serial", 0) + 1}
        if not busy:
            live.refresh_copies()

    def take(_: Any, message: Any, __: Any) -> None:
        if isinstance(message, Mapping):
            _start(lambda: _obey(live, message, widget.send, paint))

    live.listen(paint)
    widget.on_msg(take)
    return widget


def replay_widget(name: str, page: Mapping[str, Any]) -> Any:
    """A widget that replays runs; it has nothing to ask Python for."""
    return _widget_class()(name=name, page=dict(page))


def _obey(
    live: Any,
    message: Mapping[str, Any],
    send: Callable[[Any], None],
    paint: Callable[[], None],
) -> None:
    """Do what was pressed; what is wrong with it is shown, never raised."""
    try:
        if message.get("do") == "export":
            export = export_of(str(message.get("form")))
            text = getattr(live, export.method)()
            send({"save": export.name, "mime": export.mime, "text": text})
            return
        command = command_of(message, live.standing)
        getattr(live, command.method)(*command.value, **command.options)
    except Exception as error:  # a thread has nobody else to tell
        ours = isinstance(error, GraphSetupError | ValueError)
        live.alert = str(error) if ours else f"{type(error).__name__}: {error}"
        paint()


def _start(work: Callable[[], None]) -> None:
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), daemon=True, name="stepper").start()


def _widget_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError:
        raise MissingExtra("jupyter", "the stepper's widget") from None

    class StepperWidget(anywidget.AnyWidget):
        """What the module in the page reads."""

        _esm = module()
        _css = asset("style.css")
        name = traitlets.Unicode().tag(sync=True)
        graph = traitlets.Dict().tag(sync=True)
        view = traitlets.Dict().tag(sync=True)
        page = traitlets.Dict().tag(sync=True)

        def __repr__(self) -> str:
            return "A live view; its static copy follows."

    return StepperWidget
