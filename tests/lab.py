"""A JupyterLab or Notebook of its own, and a browser that reaches nothing but it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect, sync_playwright

OPTIONS = (
    "--no-browser",
    "--port=0",
    "--allow-root",
    "--IdentityProvider.token=",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
PAGE = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
LOCAL = ("http://localhost", "http://127.0.0.1", "ws://localhost", "ws://127.0.0.1")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])]),
}
"""What a kernel finds: these tests, and the package beside them."""


def write(path, *cells):
    """Write a notebook with cells of code."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "python3"}
    nbformat.write(made, path)


@contextmanager
def serve(folder, app="lab"):
    """Start `jupyter lab` or `jupyter notebook` on a folder, and yield its address."""
    home = folder / ".jupyter"
    own = {"HOME": home, "JUPYTER_CONFIG_DIR": home, "JUPYTER_RUNTIME_DIR": home / "run"}
    (home / "labconfig").mkdir(parents=True)
    (home / "labconfig" / "page_config.json").write_text(json.dumps(PAGE), "utf-8")
    environment = {**ENVIRONMENT, **{key: str(each) for key, each in own.items()}}
    command = [sys.executable, "-m", "jupyter", app, *OPTIONS, f"--ServerApp.root_dir={folder}"]
    log = (folder / "server.log").open("w")
    server = subprocess.Popen(
        command, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    try:
        yield _address(home / "run", server)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
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
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("a real browser is tested: install chromium")
    with sync_playwright() as playwright:
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


def open_notebook(browser, url, app, name, **options):
    """Open a notebook and run all its cells; return the page, with its `faults`."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000}, **options)
    page.faults = watch(page)
    page.goto(url + ("lab/tree/" if app == "lab" else "notebooks/") + name)
    return page


def run_all(page):
    """Run all cells, again where the page was not ready to hear it."""
    page.wait_for_selector(".jp-CodeCell", timeout=60_000)
    state = "() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status"
    page.wait_for_function(f"{state} === 'idle'", timeout=60_000)
    page.faults.clear()  # of what the application complains by itself, nothing is ours
    for _ in range(20):
        page.locator(".jp-CodeCell .jp-InputArea-editor").first.click()
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        prompts = page.locator(".jp-CodeCell .jp-InputPrompt")
        try:
            expect(prompts.first).to_have_text(re.compile(r"\[[\d*]+\]"), timeout=2_000)
        except AssertionError:
            continue
        expect(prompts.last).to_have_text(re.compile(r"\[\d+\]"), timeout=60_000)
        return
    raise RuntimeError("the cells do not run")
