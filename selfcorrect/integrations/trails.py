"""Trails: what a run changed; and as JSON lines, as `selfcorrect run --record` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from selfcorrect.model import JSON
from selfcorrect.plain import as_text


class TrailFile:
    """Appends records to a file; give it to a drop-in as `on_trail`, or call it with an output.

    A record holds the arguments of the call: keep the file as you keep those.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "trails.jsonl"
    >>> keep = TrailFile(path)
    >>> keep({"result": 1, "trail": []})
    >>> path.read_text().strip()
    '{"result": 1, "trail": []}'

    Args:
        path: The file; its folder must exist.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = Lock()

    def __call__(self, record: Mapping[str, JSON]) -> None:
        """Append one record."""
        line = json.dumps(dict(record), ensure_ascii=False, default=as_text)
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029") + "\n")


def changes_in(out: Mapping[str, Any]) -> list[JSON]:
    """What a run changed, in order."""
    changes = (out.get("failure") or {}).get("changes")
    trail = out.get("trail") or ()
    return list(changes or (each for event in trail for each in event.get("changes") or ()))
