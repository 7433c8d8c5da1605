"""JupyterLab and Notebook 7 on 127.0.0.1, with folders of their own and nothing from outside."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CELL = """import sys
from worlds import BROKEN, World, matching_map
from selfcorrect.notebook import Stepper

world = World()
stepper = Stepper(world.graph(), {"call": BROKEN}, title="a booking")
stepper"""


def notebook(path: Path) -> None:
    """A notebook whose first cell shows a stepper, and whose second counts what was booked."""
    import nbformat

    cells = [nbformat.v4.new_code_cell(CELL), nbformat.v4.new_code_cell("len(world.booked)")]
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(nbformat.writes(made), encoding="utf-8")


@contextmanager
def serving(command: str, folder: Path) -> Iterator[str]:
    """A server (`lab` or `notebook`) over a folder; its address."""
    home = folder / ".home"
    (home / "labconfig").mkdir(parents=True, exist_ok=True)
    quiet = {"@jupyterlab/apputils-extension:announcements": True}
    (home / "labconfig" / "page_config.json").write_text(
        json.dumps({"disabledExtensions": quiet}), encoding="utf-8"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    here = {f"JUPYTER_{name}": str(home if name == "CONFIG_DIR" else home / name) for name in names}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "notebook")])
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyter", command, "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="),
            *(f"--ServerApp.root_dir={folder}", "--ServerApp.disable_check_xsrf=True"),
            *("--LabApp.extension_manager=readonly", f"--LabApp.workspaces_dir={home / 'spaces'}"),
            f"--LabApp.user_settings_dir={home / 'settings'}",
        ],
        env={**os.environ, **here, "PYTHONPATH": paths, "IPYTHONDIR": str(home / "ipython")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise RuntimeError(f"jupyter {command} ended with {process.returncode}")
            try:
                api(f"{address}/api/status")
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        with suppress(OSError):
            api(f"{address}/api/shutdown", "POST")
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def api(url: str, method: str = "GET") -> Any:
    """What the server's own interface answers."""
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=10) as answer:
        text = answer.read()
    return json.loads(text) if text else None
