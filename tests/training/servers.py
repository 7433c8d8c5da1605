"""Runs servers and asks them wrongly: `python servers.py breaks/servers.toml OUT.jsonl`.

A block gives the `files` it wants, how to `start` the server in a folder of its own, and cases like
those of shell.toml: [what is broken (labels.toml), command] or [.., .., arguments, parameters at fault].
What the command prints is the message; `HTTP 503` at its end is the status. The server ends with its block,
and then what `stop` says is run.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from rows import Rows
from shell import ran

_STATUS = re.compile(r"\n?HTTP (\d{3})$")


def asked(block: dict[str, Any], folder: Path) -> list[tuple[str, int | None]]:
    """What each case was answered, by a server that ends afterwards."""
    for name, text in block.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("{here}", str(folder)), "utf-8")
    server = subprocess.Popen(
        ["bash", "-c", block["start"]],
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    answers: list[tuple[str, int | None]] = []
    try:
        time.sleep(block.get("wait", 3))
        for case in block["cases"]:
            try:
                done = ran(case[1], folder)
                answers.append(((done.stdout + done.stderr).strip(), done.returncode))
            except subprocess.TimeoutExpired:
                answers.append(("", None))
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(8)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
        if stop := block.get("stop"):
            ran(stop, folder)
    return answers


def main(source: str, out: str) -> None:
    rows = Rows(out)
    for system, block in tomllib.loads(Path(source).read_text("utf-8")).items():
        with tempfile.TemporaryDirectory() as place:
            Path(place).chmod(0o777)
            answers = asked(block, Path(place))
        for case, (text, status) in zip(block["cases"], answers, strict=True):
            found = _STATUS.search(text)
            said = _STATUS.sub("", text).replace(place, "/srv/app").strip()
            if not said:
                rows.left_out(system, case[1], "said nothing")
                continue
            arguments = case[2] if len(case) > 2 else {"command": case[1]}
            rows.add(
                system,
                case[0],
                said,
                arguments,
                case[3] if len(case) > 3 else list(arguments),
                status=int(found[1]) if found else status,
            )
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
