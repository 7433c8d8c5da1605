"""A JupyterLab or Notebook of its own, and a browser that reaches nothing but it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

OPTIONS = (
    "--no-browser",
    "--port=0",
    "--allow-root",
    "--IdentityProvider.token=",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
LOCAL = ("http://localhost", "http://127.0.0.1", "ws://localhost", "ws://127.0.0.1")


def write(path, *cells):
    """Write a notebook with cells of code."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "python3"}
    nbformat.write(made, path)


@contextmanager
def serve(folder, app="lab"):
    """Start `jupyter lab` or `jupyter notebook` on a folder, and yield its address."""
    home = folder / ".jupyter"
    own = {"HOME": home, "JUPYTER_RUNTIME_DIR": home / "run", "IPYTHONDIR": home / "ipython"}
    environment = {**os.environ, **{key: str(each) for key, each in own.items()}}
    command = [sys.executable, "-m", "jupyter", app, *OPTIONS, f"--ServerApp.root_dir={folder}"]
    log = (folder / "server.log").open("w")
    server = subprocess.Popen(
        command, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    try:
        yield _address(home / "run", server)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)
        log.close()


def _address(runtime, server):
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text("utf-8"))["url"]
            except ValueError:
                break
        time.sleep(0.1)
    raise RuntimeError(f"no server: {(Path(runtime).parents[1] / 'server.log').read_text('utf-8')}")


@contextmanager
def browse():
    """Yield a browser."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def watch(page):
    """Return a list that fills with what a page asks of others, and with its errors."""
    faults = []

    def hear(message):
        if message.type == "error":
            faults.append(message.text)

    def refuse(route):
        faults.append(route.request.url)
        route.abort()

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route(lambda url: not url.startswith((*LOCAL, "data:", "blob:", "file:")), refuse)
    return faults
