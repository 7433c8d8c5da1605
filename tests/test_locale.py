"""The language of the process changes nothing: under a Turkish locale `I` is no capital `i`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = Path("/usr/share/i18n/locales/tr_TR")


@pytest.fixture(scope="module")
def turkish(tmp_path_factory):
    """The environment of a process that speaks Turkish."""
    if shutil.which("localedef") is None or not SOURCES.exists():
        pytest.skip("needs localedef and the sources of locales (Debian: locales)")
    folder = tmp_path_factory.mktemp("locales")
    made = folder / "tr_TR.UTF-8"
    subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", made], check=True)
    return {**os.environ, "LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(folder)}


BOARD = """
    from selfcorrect.ledger import SqliteLedger
    ledger = SqliteLedger(":memory:")
    print([ledger.swap("name", version, version) for version in (0, 0, 1)])
"""
TIME = """
    from selfcorrect import repair_call
    tool = {"name": "wake", "parameters": {"type": "object", "properties": {
        "at": {"type": "string", "pattern": r"^[01][0-9]:[0-5][0-9] [AP]M$"}}}}
    mended = repair_call({"name": "wake", "args": {"at": "15:30"}}, [tool])
    print(mended.ready[0].args["at"] if mended.ready else mended)
"""


@pytest.mark.parametrize(
    ("code", "said"), [(BOARD, "[True, False, True]"), (TIME, "03:30 PM")], ids=["board", "time"]
)
def test_a_turkish_process_does_the_same(turkish, code, said):
    speaking = 'import locale\nlocale.setlocale(locale.LC_ALL, "")\n'
    done = subprocess.run(
        [sys.executable, "-c", speaking + dedent(code)],
        cwd=ROOT,
        env=turkish,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == said
