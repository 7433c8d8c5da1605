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
from dataclasses import dataclass
from typing import Final

from selfcorrect.drawing.visible import visible
from selfcorrect.model import JSON
from selfcorrect.proxy.frames import Frame, frames
from selfcorrect.proxy.sides import Come, Disconnected, Inbox, until

_CHUNK: Final = 1 << 16
_LONGEST: Final = 256 * 1024 * 1024
"""Bytes of one message; what is longer ends the connection."""
_WAITING: Final = 64
_GRACE: Final = 2.0
"""Seconds that a server has to end by itself, and again after it was told to."""
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Streams:
    """Our own stdin and stdout, taken out of reach of everything else in the process."""

    given: int
    answers: int


def own_streams() -> Streams:
    """Take stdin and stdout for messages alone: what anything else prints goes to stderr."""
    sys.stdout.flush()
    taken = Streams(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return taken


def lines_of(file: int) -> Iterator[bytes]:
    """The lines of a file, as they come; what follows the last line break is one, too.

    Raises:
        Disconnected: If a line is too long to be a message.
    """
    rest: list[bytes] = []
    size = 0
    while chunk := _read(file):
        *whole, last = chunk.split(b"\n")
        for line in whole:
            yield b"".join((*rest, line))
            rest, size = [], 0
        size += len(last)
        if size > _LONGEST:
            raise Disconnected(f"it sent a message of more than {_LONGEST} bytes")
        if last:
            rest.append(last)
    if rest:
        yield b"".join(rest)


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

    async def send(self, frame: Frame) -> None:
        """Write a message.

        Raises:
            Disconnected: If nobody reads it any more.
        """
        if self._broken:
            raise Disconnected(f"{self._name} reads no more")
        async with self._order:
            await until(lambda: not self._out.full())
            self._out.put_nowait(frame.raw + b"\n")

    async def close(self, seconds: float) -> None:
        """Close the file that is written to, once everything was written or the time is over."""
        if await until(lambda: not self._out.full(), seconds):
            self._out.put_nowait(None)
            await until(lambda: not self._writer.is_alive(), seconds)


def _tell(text: str) -> None:
    sys.stderr.write(f"selfcorrect proxy: {text}\n")
    sys.stderr.flush()


class OwnPipe:
    """The client, on our own stdin and stdout."""

    def __init__(self, streams: Streams) -> None:
        # What a client writes is the server's to refuse.
        self._pipe = Pipe("the client", streams.given, streams.answers, is_client=True)

    async def receive(self) -> Come | None:
        return await self._pipe.inbox.get()

    async def send(self, frame: Frame, related: JSON = None) -> None:
        del related  # there is one way only
        await self._pipe.send(frame)

    async def close(self) -> None:
        """Write what is left."""
        await self._pipe.close(_GRACE)

    def end(self) -> None:
        """Take no more."""
        self._pipe.inbox.end()


class Process:
    """A server in a process of its own, on its stdin and stdout.

    Args:
        command: The program and its arguments.
        env: What its environment has beside our own.
        cwd: Where it runs.
    """

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> None:
        self._command = tuple(command)
        self._env = env
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Pipe | None = None

    async def start(self) -> None:
        """Start the process, in a group of its own: what reaches us does not reach it.

        Raises:
            Disconnected: If it cannot be started.
        """
        env = {**os.environ, **self._env}
        program = shutil.which(self._command[0], path=env.get("PATH")) or self._command[0]
        try:
            process = await asyncio.to_thread(
                lambda: subprocess.Popen(  # noqa: S603 -- what the user names is what runs
                    (program, *self._command[1:]),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=env,
                    cwd=self._cwd,
                    bufsize=0,
                    start_new_session=os.name == "posix",
                )
            )
        except (OSError, ValueError) as error:
            raise Disconnected(f"{self._command[0]} cannot be started: {error}") from error
        self._process = process
        given, taken = process.stdout, process.stdin
        if given is None or taken is None:
            raise Disconnected(f"{self._command[0]} has no pipes")
        self._pipe = Pipe("the server", given.fileno(), os.dup(taken.fileno()))
        taken.close()

    async def receive(self) -> Come | None:
        process, pipe = self._process, self._pipe
        if process is None or pipe is None:
            return None
        if (come := await pipe.inbox.get()) is None:  # its output ends a moment before itself
            await until(lambda: process.poll() is not None, _GRACE)
        return come

    async def send(self, frame: Frame, related: JSON = None) -> None:
        del related
        if self._pipe is None:
            raise Disconnected("the server was not started")
        await self._pipe.send(frame)

    @property
    def ending(self) -> str:
        code = None if self._process is None else self._process.poll()
        if code is None:
            return "the server closed its output"
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        return f"the server ended ({how})"

    async def close(self) -> None:
        """Close its stdin; if it does not end by that, tell it to, and then end it."""
        process, pipe = self._process, self._pipe
        if process is None or pipe is None:
            return
        await pipe.close(_GRACE)
        for number in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            if number is not None:
                _signal(process, number)
            if await until(lambda: process.poll() is not None, _GRACE):
                break
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # what it left in its group


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.send_signal(number)
    except (ProcessLookupError, PermissionError, OSError):
        return
