"""Debian's chromium through playwright, or the reason why there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def chromium() -> str:
    """The browser's path; a test that needs one is skipped where there is none."""
    pytest.importorskip("playwright", reason="needs playwright: pip install -e '.[dev]'")
    pytest.importorskip("anywidget", reason="needs the extra jupyter")
    named = os.environ.get("CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("needs chromium: apt-get install chromium")
    return found


@contextmanager
def launched() -> Iterator[Any]:
    """A running browser."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
