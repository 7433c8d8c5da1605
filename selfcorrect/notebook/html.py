"""Pages: a replay that needs no kernel and no network, and a static copy for a cell."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from selfcorrect.drawing import Shape
from selfcorrect.drawing.svg import described, image, picture
from selfcorrect.notebook.history import label
from selfcorrect.notebook.recorded import Recorded, milliseconds
from selfcorrect.notebook.shown import cut
from selfcorrect.notebook.view_model import FORMAT, graph_of

_MOST_ROWS: Final = 60
_MOST_COPIES: Final = 5
_START: Final = (
    '\nreplay(document.querySelector("#run"),'
    ' JSON.parse(document.querySelector("#data").textContent));\n'
)


@cache
def asset(name: str) -> str:
    """A file of the page, as text."""
    return files("selfcorrect.notebook").joinpath("static", name).read_text(encoding="utf-8")


def module() -> str:
    """The ES module: what paints, and what replays."""
    return asset("panels.js") + asset("widget.js") + asset("replay.js")


def replay_data(runs: Sequence[Recorded], shape: Shape) -> dict[str, Any]:
    """The view model of a replay: the picture once, every run, and each row of a state once."""
    rows: dict[tuple[str, ...], int] = {}
    listed = []
    for run in runs:
        data = run.as_json()
        for frame in data["frames"]:
            frame["state"] = [rows.setdefault(tuple(row), len(rows)) for row in frame["state"]]
        listed.append(data)
    return {
        "format": FORMAT,
        "kind": "replay",
        "graph": graph_of(shape),
        "runs": listed,
        "rows": [list(row) for row in rows],
    }


def replay_page(runs: Sequence[Recorded], shape: Shape) -> str:
    """A page of its own, with its own policy: nothing is fetched, only its own script runs."""
    script = module() + _START
    title = runs[0].title if len(runs) == 1 else f"{len(runs)} runs"
    # Inside a script element nothing but `<` could end it.
    data = json.dumps(replay_data(runs, shape), ensure_ascii=False).replace("<", "\\u003c")
    still = _contents(runs) + "\n".join(copy_of(run, shape) for run in runs[:_MOST_COPIES])
    head = "Recorded run" if len(runs) == 1 else f"{len(runs):,} recorded runs"
    body = (
        f'<main>\n<h1>{head}</h1>\n<div id="run">{still}</div>\n</main>\n'
        f'<script type="application/json" id="data">{data}</script>\n'
    )
    return page(escape(title), asset("style.css") + asset("page.css"), body, script)


def page(title: str, style: str, body: str, script: str = "") -> str:
    """A page with a policy of its own: nothing is fetched, and no other script runs."""
    runs = f" script-src 'sha256-{_hash(script)}';" if script else ""
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}';{runs} img-src data:; base-uri"
        " 'none'; form-action 'none'"
    )
    own = f'<script type="module">{script}</script>\n' if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}{own}</body>\n</html>\n"
    )


def copy_of(run: Recorded, shape: Shape, name: str = "") -> str:
    """A picture and a table of steps, for where nothing runs."""
    marks = run.marks(shape)
    start = max(0, len(run.frames) - _MOST_ROWS)
    head = f"<p>… {start:,} earlier steps</p>" if start else ""
    line = set(run.history.line())
    rows = "".join(
        _row(number, run, left=number not in line) for number in range(start, len(run.frames))
    )
    return (
        f'<div class="sc-copy{f" sc-copy-{name}" if name else ""}">'
        f"<p><strong>{escape(cut(run.title, 120))}</strong> · {escape(run.status['text'])}</p>\n"
        f"{image(picture(shape, marks), described(shape, marks))}\n{head}"
        "<table><thead><tr><th>step</th><th>node</th><th>what happened</th><th>time</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></div>\n"
    )


def _contents(runs: Sequence[Recorded]) -> str:
    """The table that a page of several runs begins with."""
    if len(runs) < 2:
        return ""
    rows = "".join(
        f"<tr><td>{escape(cut(run.title, 120))}</td><td>{escape(run.status['text'])}</td>"
        f"<td>{len(run.history.changes())}</td>"
        f"<td>{milliseconds(run.history.seconds())}</td></tr>"
        for run in runs
    )
    return (
        "<table><thead><tr><th>run</th><th>outcome</th><th>changes</th><th>time</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>\n"
    )


def _row(number: int, run: Recorded, *, left: bool) -> str:
    frame = run.frames[number]
    changes = "".join(
        f"<br><code>{escape(change['path'])}</code> <del>{escape(change['before'])}</del> →"
        f" <ins>{escape(change['after'])}</ins>"
        for change in frame.changes
    )
    name = escape(label(frame))
    name = f"<s>{name}</s>" if left else name
    name = f"<strong>{name}</strong>" if number == run.history.head else name
    error = "error: " if frame.tone == "error" else ""
    return (
        f"<tr><td>{number}</td><td>{name}</td><td>{error}{escape(frame.title)}{changes}</td>"
        f"<td>{milliseconds(frame.seconds)}</td></tr>"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
