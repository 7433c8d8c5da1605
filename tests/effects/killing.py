"""Kills real processes at random moments, and starts new ones until the task has ended."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest
from effects.figures import show
from effects.worker import World, main, make

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["effects.worker"])
MOST_LIVES = 8
PATH = os.pathsep.join(str(Path(__file__).parents[up]) for up in (1, 2))


def come_up() -> None:
    """Start the process that all others are forked from; its environment says where to look."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", PATH)
        forkserver.ensure_running()


class Life:
    """One process at one task."""

    def __init__(self, kind: str, where: str, checkpoints: str, thread: str) -> None:
        come_up()
        self._here, there = PROCESSES.Pipe()
        arguments = (kind, where, checkpoints, thread, there)
        self._process: Any = PROCESSES.Process(target=main, args=arguments)
        self._process.start()
        there.close()
        assert self._here.poll(60), "the process never came up"
        assert self._here.recv() == "ready"
        self.started = time.monotonic()

    def kill(self) -> None:
        self._process.kill()

    def said(self) -> str | None:
        """What it said in the end; None if it died before."""
        try:
            return str(self._here.recv()) if self._here.poll(60) else "it hung"
        except EOFError:
            return None
        finally:
            self._process.join(60)
            self._here.close()


@dataclass(frozen=True, slots=True)
class Killed:
    """How a task ended that was killed on its way."""

    said: str
    effects: int
    lives: int

    @property
    def honest(self) -> bool:
        once = self.effects == 1 and not self.said.startswith("it ")
        return (once and self.said.startswith("2 for")) or (
            self.effects <= 1 and self.said == "unknown_outcome"
        )


def kill_at(kind: str, where: str, folder: Any, number: int, seconds: float) -> Killed:
    """One task: killed once after so many seconds, then taken up by new processes."""
    thread = f"task-{number}"
    checkpoints = str(folder / f"{thread}.db")
    life = Life(kind, where, checkpoints, thread)
    time.sleep(max(0.0, life.started + seconds - time.monotonic()))
    life.kill()
    said, lives = life.said(), 1
    while said is None and lives < MOST_LIVES:
        said, lives = Life(kind, where, checkpoints, thread).said(), lives + 1
    return Killed(said or "it never ended", effects_of(kind, where, thread), lives)


def campaign(kind: str, where: str, folder: Any, points: int) -> list[Killed]:
    """Kill at so many random moments of a run, and print what became of the tasks."""
    make(kind, where)
    drawn = random.Random(points)
    longest = 0.0
    for number in (-1, -2):
        calm = Life(kind, where, str(folder / f"calm{number}.db"), f"calm{number}")
        assert str(calm.said()).startswith("2 for")
        longest = time.monotonic() - calm.started
    ended = [
        kill_at(kind, where, folder, number, drawn.uniform(0, longest * 1.1))
        for number in range(points)
    ]
    told = Counter(
        ("done" if e.said.startswith("2 for") else e.said, e.effects, e.lives) for e in ended
    )
    show(f"{kind}: {points} kills in {longest * 1000:.0f} ms; said, effects, lives: {dict(told)}")
    return ended


def effects_of(kind: str, where: str, thread: str) -> int:
    """How often the effect of a task really happened."""
    mark = "?" if kind == "sqlite" else "%s"
    with closing(World(kind, where).connect()) as connection:
        cursor = connection.execute(
            f"SELECT count(*) FROM effects WHERE thread = {mark}", (thread,)
        )
        return int(cursor.fetchone()[0])
