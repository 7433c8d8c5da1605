"""Messages over pipes, one a line: our own stdin and stdout, and a server's process.

Pipes are read and written by threads: that works for every kind of file, and nothing that blocks
stops the relay.
"""

from __future__ import annotations

import asyncio
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Final, cast

from selfcorrect.kernel.texts import visible
from selfcorrect.model import JSON
from selfcorrect.proxy.frames import Frame, frames
from selfcorrect.proxy.sides import Come, Disconnected, Inbox, split, until

_CHUNK: Final = 1 << 16
_WAITING: Final = 64
_GRACE: Final = 2.0
"""Seconds that a server has to end by itself, and again after it was told to."""
_SHOWN: Final = 200
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)


def lines_of(file: int) -> Iterator[bytes]:
    """The lines of a file, as they come; what follows the last line break is one, too.

    Raises:
        Disconnected: If a line is too long to be a message.
    """
    rest = bytearray()
    while chunk := _read(file):
        yield from split(rest, chunk)
    if rest:
        yield bytes(rest)


def _read(file: int) -> bytes:
    try:
        return os.read(file, _CHUNK)
    except OSError:
        return b""


class Pipe:
    """Two files with messages on them, one a line.

    Args:
        name: Whose lines they are, for what is told of those that are no messages.
        given: The file to read from.
        taken: The file to write to.
        is_client: Whether it is the client, whose messages must have one reading.
    """

    def __init__(self, name: str, given: int, taken: int, *, is_client: bool = False) -> None:
        self._name = name
        self._is_client = is_client
        self._files = (given, taken)
        self._loop = asyncio.get_running_loop()
        self.inbox = Inbox(_WAITING)
        self._out: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._order = asyncio.Lock()
        self._broken = False
        self._writer = self._thread("writer", self._write)
        self._thread("reader", self._read)

    def _thread(self, what: str, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, name=f"{self._name} {what}", daemon=True)
        thread.start()
        return thread

    def _read(self) -> None:
        try:
            for line in lines_of(self._files[0]):
                for frame in self._frames(line):
                    put = self.inbox.put(Come(frame))
                    asyncio.run_coroutine_threadsafe(put, self._loop).result()
        except Disconnected as error:
            _tell(f"{self._name}: {error}")
        except (RuntimeError, asyncio.CancelledError):
            return  # the relay has ended
        finally:
            self._end()

    def _end(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self.inbox.end)
        except RuntimeError:
            return

    def _frames(self, line: bytes) -> Sequence[Frame]:
        """What a line holds; what a server prints beside its messages goes to stderr."""
        if not line.strip():
            return ()
        try:
            return tuple(frames(line, checks=self._is_client))
        except ValueError as why:
            if self._is_client:  # a server may read a call in what we cannot read
                return (Frame(line, {}, fault=f"Parse error: {why}"),)
            shown = visible(line[:_SHOWN].decode("utf-8", "replace"))
            _tell(f"{self._name} wrote a line that is no message: {shown}")
            return ()

    def _write(self) -> None:
        file = self._files[1]
        try:
            while (line := self._out.get()) is not None:
                while line:
                    line = line[os.write(file, line) :]
        except OSError:
            self._broken = True
            while self._out.get() is not None:
                pass
        finally:
            os.close(file)

    async def send(self, frame: Frame, related: JSON = None) -> None:
        """Write a message.

        Raises:
            Disconnected: If nobody reads it any more.
        """
        del related  # there is one way only
        if self._broken:
            raise Disconnected(f"{self._name} reads no more")
        async with self._order:
            await until(lambda: not self._out.full())
            self._out.put_nowait(frame.raw + b"\n")

    async def close(self) -> None:
        """Close the file that is written to, once everything was written or the time is over."""
        if await until(lambda: not self._out.full(), _GRACE):
            self._out.put_nowait(None)
            await until(lambda: not self._writer.is_alive(), _GRACE)


def _tell(text: str) -> None:
    sys.stderr.write(f"selfcorrect proxy: {text}\n")
    sys.stderr.flush()


def own_pipe() -> Pipe:
    """The client on our own stdin and stdout: what anything else prints goes to stderr."""
    sys.stdout.flush()
    given, taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    # What a client writes is the server's to refuse.
    return Pipe("the client", given, taken, is_client=True)


@dataclass
class Process:
    """A server in a process of its own, on its stdin and stdout.

    Attributes:
        command: The program and its arguments.
        env: What its environment has beside our own.
        cwd: Where it runs.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None
    _process: subprocess.Popen[bytes] = field(init=False)
    _pipe: Pipe = field(init=False)

    async def start(self) -> None:
        """Start the process, in a group of its own: what reaches us does not reach it.

        Raises:
            Disconnected: If it cannot be started.
        """
        env = {**os.environ, **self.env}
        program = shutil.which(self.command[0], path=env.get("PATH")) or self.command[0]
        try:
            process = await asyncio.to_thread(
                lambda: subprocess.Popen(  # noqa: S603 -- what the user names is what runs
                    (program, *self.command[1:]),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=env,
                    cwd=self.cwd,
                    bufsize=0,
                    start_new_session=os.name == "posix",
                )
            )
        except (OSError, ValueError) as error:
            raise Disconnected(f"{self.command[0]} cannot be started: {error}") from error
        self._process = process
        given, taken = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stdin)
        self._pipe = Pipe("the server", given.fileno(), os.dup(taken.fileno()))
        taken.close()

    @property
    def inbox(self) -> Inbox:
        return self._pipe.inbox

    async def send(self, frame: Frame, related: JSON = None) -> None:
        await self._pipe.send(frame, related)

    async def _has_ended(self) -> bool:
        return await until(lambda: self._process.poll() is not None, _GRACE)

    async def ending(self) -> str:
        if not await self._has_ended():  # its output ends a moment before itself
            return "the server closed its output"
        code = self._process.returncode
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        return f"the server ended ({how})"

    async def close(self) -> None:
        """Close its stdin; if it does not end by that, tell it to, and then end it."""
        await self._pipe.close()
        for number in (signal.SIGTERM, _KILL):
            if await self._has_ended():
                break
            _signal(self._process, number)
        _signal(self._process, _KILL)  # what it left in its group
        await self._has_ended()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.send_signal(number)
    except (ProcessLookupError, PermissionError, OSError):
        return
