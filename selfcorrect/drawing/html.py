"""Writes runs as one page that needs nothing beside it, and works without scripts."""

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from selfcorrect.drawing.svg import draw, img, label_of, markup, note_of
from selfcorrect.drawing.text import moment_text
from selfcorrect.drawing.view import View
from selfcorrect.model import JsonDict

_COLUMNS = ("place", "before", "after", "strategy", "safety", "rule")


def page(*runs: Sequence[View], title: str) -> str:
    """Return runs, each as its views, as an HTML document.

    Without scripts it shows each run's last picture, its steps, changes and end. With its own
    script a person steps through the views.
    """
    parts = [_run(run, is_open=not number) for number, run in enumerate(runs)]
    return document(title, "".join(parts), static("paint.js") + static("page.js"))


def document(title: str, body: str, script: str = "") -> str:
    """Return an HTML document that needs nothing beside it, and runs no other script."""
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}; img-src data:">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{markup(title, 200)}</title>\n",
            f"<style>\n{static('style.css')}</style>\n</head>\n",
            '<body class="selfcorrect">\n',
            f"<h1>{markup(title, 200)}</h1>\n{body}",
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def static(name: str) -> str:
    """Return a file that pages and widgets carry."""
    return (files("selfcorrect.drawing") / "static" / name).read_text("utf-8")


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table, all texts escaped; nothing where it has no rows."""
    body = "".join(f"<tr>{_cells('td', row)}</tr>\n" for row in rows)
    head = f"<thead><tr>{_cells('th', names)}</tr></thead>\n" if names else ""
    return body and f"<table>{head}{body}</table>\n"


def still(view: View) -> str:
    """Return a view as HTML that needs no style and no script: for outputs that are kept."""
    return f"<p><b>{markup(view['title'])}</b></p>\n{_inside(view, img(draw(view['picture'])))}"


def brief(view: View) -> JsonDict:
    """Return a view for a script: of the picture, what differs from one view to the next."""
    picture = view["picture"]
    nodes = [{**node, "note": note_of(node)} for node in picture["nodes"]]
    edges = [{"count": edge["count"], "label": label_of(edge)} for edge in picture["edges"]]
    return {**view, "picture": {"nodes": nodes, "edges": edges}}


def _run(views: Sequence[View], *, is_open: bool) -> str:
    data = [{**brief(view), "timeline": _head(view), "changes": ()} for view in views]
    # No text can end the element that holds the data.
    shown = json.dumps(data).replace("<", "\\u003c")
    parts = [
        f"<details class='run'{' open' if is_open else ''}>",
        f"<summary>{markup(views[-1]['title'])}</summary>\n<article>\n",
        _inside(views[-1], draw(views[-1]["picture"])),
        f'<script type="application/json">{shown}</script>\n</article></details>\n',
    ]
    return "".join(parts)


def _inside(view: View, picture: str) -> str:
    steps = "".join(f"<li>{markup(moment_text(step))}</li>\n" for step in view["timeline"])
    changes: list[Any] = view["changes"]
    rows = [[change[name] for name in _COLUMNS] for change in changes]
    question: Any = view["question"] or {}
    ends = [(name, str(question[name])) for name in ("question", "options") if question.get(name)]
    ends += view["outcome"].items()
    parts = [
        f'<p class="status" role="status">{markup(view["sentence"])}</p>\n',
        f'<div class="keys"></div>\n<div class="picture">{picture}</div>\n',
        f'<div><div class="step"></div>\n<h2>Steps</h2>\n<ol class="steps">\n{steps}</ol></div>\n',
        f"<div class='end'><h2>All changes</h2>\n{table(_COLUMNS, rows) or '<p>none</p>'}",
        f"<h2>End</h2>\n{table((), ends)}</div>\n",
    ]
    return "".join(parts)


def _head(view: View) -> int:
    return next((at for at, step in enumerate(view["timeline"]) if step["is_head"]), -1)


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{markup(text)}</{tag}>" for text in texts)
