"""How a run shows itself in a notebook, and what it can be saved as."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from selfcorrect.drawing import Shape
from selfcorrect.drawing.mermaid import mermaid
from selfcorrect.drawing.svg import picture
from selfcorrect.notebook.html import copy_of, replay_page
from selfcorrect.notebook.recorded import Recorded
from selfcorrect.notebook.terminal import told

HINT: Final = (
    "This is a static copy. Where the package anywidget is installed, it is stepped through"
    " in the cell: pip install 'selfcorrect[jupyter]'"
)
"""What is said beside the static copy, where nothing else can be shown."""

_HINT_HTML: Final = f'<p role="note">{escape(HINT)}</p>\n'


class Display(ABC):
    """What is shown of runs; whoever inherits says which runs and which shape."""

    _widget: Any = None
    _copies: Sequence[Any] = ()

    @abstractmethod
    def recorded(self) -> list[Recorded]:
        """The runs."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The picture that they are shown in."""

    @abstractmethod
    def make_widget(self, name: str) -> Any:
        """The live view; `name` marks the static copy that it hides."""

    def to_svg(self, path: str | Path | None = None, *, theme: str = "light", run: int = 0) -> str:
        """The graph with the path of a run as SVG; written to a file where one is named."""
        found = self.recorded()[run]
        return _written(picture(self.shape, found.marks(self.shape), theme=theme), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page that replays the run without a kernel and without a network."""
        return _written(replay_page(self.recorded(), self.shape), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """The run as JSON, as it is shown: masked and cut."""
        from selfcorrect.notebook.html import replay_data

        data = replay_data(self.recorded(), self.shape)
        return _written(json.dumps(data, ensure_ascii=False, indent=1) + "\n", path)

    def to_mermaid(self, path: str | Path | None = None, *, run: int = 0) -> str:
        """The graph with the path of a run as Mermaid text."""
        found = self.recorded()[run]
        return _written(mermaid(self.shape, found.marks(self.shape)) + "\n", path)

    def text(self) -> str:
        """The run as plain text."""
        return "\n\n".join(told(run) for run in self.recorded())

    def snapshot(self) -> Snapshot:
        """What there is to see now as a static picture and a table, for where no widget lives."""
        return self._copy("")

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self.snapshot()._repr_mimebundle_()

    def _ipython_display_(self) -> None:
        """Show the live view, and beside it a static copy that stays when no kernel is there."""
        from IPython import display as host

        display: Any = host.display
        if find_spec("anywidget") is None:
            display(Snapshot(_HINT_HTML + self.snapshot().html, f"{self.text()}\n\n{HINT}"))
            return
        if self._widget is None:
            self._widget = self.make_widget(uuid4().hex)
        display(self._widget)
        handle = display(self._copy(self._widget.name), display_id=True)
        self._copies = [*self._copies, handle]

    def refresh_copies(self) -> None:
        """Bring the static copies up to date."""
        for handle in self._copies:
            handle.update(self._copy(self._widget.name))

    def _copy(self, name: str) -> Snapshot:
        return Snapshot(
            "".join(copy_of(run, self.shape, name) for run in self.recorded()), self.text()
        )


class Snapshot:
    """A static picture and table, as HTML and as text."""

    def __init__(self, html: str, text: str) -> None:
        self.html = html
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/html": self.html, "text/plain": self.text}


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
