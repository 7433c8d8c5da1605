"""`replay`: recorded runs as one page."""

import argparse
import json
from pathlib import Path

from selfcorrect.cli.lines import take_lines
from selfcorrect.cli.screen import InputError
from selfcorrect.drawing.html import page
from selfcorrect.drawing.recorded import views_of
from selfcorrect.drawing.view import View


def replay(options: argparse.Namespace) -> int:
    """Write a page of the runs that can be read; name the lines that cannot."""
    runs: list[list[View]] = []

    def take(line: str) -> None:
        run = json.loads(line)
        if not isinstance(run, dict) or not isinstance(run.get("trail"), list):
            raise InputError('the line must be an object with a "trail"')
        runs.append(views_of(run, title=f"{len(runs) + 1}. {run.get('title') or 'run'}"))

    failed = take_lines(options.trails, take)
    Path(options.html).write_text(page(*runs, title="Recorded runs"), "utf-8")
    return 1 if failed else 0
