"""Files of JSON lines, also packed as `.gz` or `.zst`: opened, or refused before the first line."""

from __future__ import annotations

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from selfcorrect.batch.lines import Line, Raw
from selfcorrect.batch.lines import read as value_of
from selfcorrect.errors import MissingExtra, UnusableFile

LONGEST: Final = 1 << 26
"""Bytes of a line; what is longer is told, and not read."""
_HEAD: Final = 16
_MARK: Final = 4
"""Bytes at the start of a file by which formats are told apart."""
_COMPRESSED: Final = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"BZh": None,
    b"\xfd7zXZ": None,
    b"PK\x03\x04": None,
}
"""How packed files begin, and the ending of a name by which they are read."""
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_GZIP_LEVEL: Final = 6
_BLOCK: Final = 1 << 11
"""Bytes that are unpacked at once: they can be 32,768 times as many."""
BROKEN: Final = (EOFError, zlib.error)
"""What reading a packed file raises that was cut off."""


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of a file, each as it was read.

    Attributes:
        name: What messages call it.
        size: Its bytes on the disk; None where that is not known.
    """

    name: str
    size: int | None
    _stream: Any
    _file: Any

    def __iter__(self) -> Iterator[Raw]:
        number = 0
        while content := self._line():
            number += 1
            if cut := len(content) > LONGEST:
                content = content[:LONGEST]
                while (rest := self._line()) and not rest.endswith(b"\n"):
                    pass
            yield Raw(self.name, number, content, cut)

    def lines(self) -> Iterator[Line]:
        """What its lines hold; empty ones are left out."""
        return filter(None, map(value_of, self))

    def at(self) -> int:
        """How many of its bytes were read."""
        return 0 if self.size is None else int(self._file.tell())

    def _line(self) -> bytes:
        try:
            return bytes(self._stream.readline(LONGEST + 1))
        except (*BROKEN, OSError) as error:
            raise UnusableFile(f"{self.name}: cannot be read to its end: {error}") from error


@contextmanager
def source(path: str) -> Iterator[Source]:
    """A file of JSON lines (`-` is stdin), unpacked where its name ends in `.gz` or `.zst`.

    Raises:
        UnusableFile: If it cannot be opened, or is no text at all.
        MissingExtra: If it is packed, and what unpacks it is not installed.
    """
    if path == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise UnusableFile("-: stdin is closed; give a file, or pipe lines in")
        stream = sys.stdin.buffer
        _refuse_binary(stream, "<stdin>")
        yield Source("<stdin>", None, stream, stream)
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 -- see below
    except OSError as error:
        raise UnusableFile(f"{path}: {error.strerror or error}") from error
    with file:
        stream = _unpacked(file, path)
        _refuse_binary(stream, path)
        yield Source(path, Path(path).stat().st_size, stream, file)


@contextmanager
def target(path: str, read: str | None = None, *, append: bool = False) -> Iterator[IO[str]]:
    """A text file to write lines to (`-` is stdout), packed where its name says so.

    Args:
        path: The file.
        read: What is being read meanwhile, which is never written over.
        append: Whether to go on after what the file holds.

    Raises:
        UnusableFile: If it cannot be opened, or is the one that is being read.
        MissingExtra: If it is to be packed, and what packs it is not installed.
    """
    if path == "-":
        yield sys.stdout
        return
    apart(path, read)
    try:
        stream = _packing(path, "a" if append else "w")
    except OSError as error:
        raise UnusableFile(f"{path}: {error.strerror or error}") from error
    with stream:
        yield stream


def apart(path: str, read: str | None) -> None:
    """Refuse to write the file that is being read.

    Raises:
        UnusableFile: If it is the same one.
    """
    if path == "-" or read in (None, "-"):
        return
    written, given = Path(path), Path(str(read))
    if written.exists() and given.exists() and written.samefile(given):
        raise UnusableFile(f"{path}: cannot be read and written at the same time")


def is_packed(path: str) -> bool:
    """Whether a file of this name is written packed."""
    return path.endswith((".gz", ".zst"))


def _unpacked(file: BinaryIO, path: str) -> Any:
    if not is_packed(path):
        return file
    packed: Any = file
    is_gzip = path.endswith(".gz")
    stream: Any = gzip.GzipFile(fileobj=packed) if is_gzip else BufferedReader(_Frames(packed))
    try:
        stream.peek(1)
    except (*BROKEN, gzip.BadGzipFile) as error:
        raise UnusableFile(f"{path}: cannot be unpacked: {error}") from error
    return stream


class _Frames(RawIOBase):
    """The frames of a `.zst` file; one that is cut off is told, which its library does not."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._library = _zstandard()
        self._frame: Any = None
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any, /) -> int:
        while not (found := self._rest[: len(into)]):
            packed = self._file.read(_BLOCK)
            if not packed:
                if self._frame is not None:
                    raise EOFError("it ends within a frame")
                return 0
            self._rest = self._unpacked(packed)
        self._rest = self._rest[len(found) :]
        into[: len(found)] = found
        return len(found)

    def _unpacked(self, packed: bytes) -> bytes:
        parts = []
        while packed:
            if self._frame is None:
                unpacker = self._library.ZstdDecompressor(max_window_size=1 << 31)
                self._frame = unpacker.decompressobj()
            try:
                parts.append(self._frame.decompress(packed))
            except self._library.ZstdError as error:
                raise EOFError(str(error)) from error
            packed = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        return b"".join(parts)


def _packing(path: str, mode: str) -> IO[str]:
    if path.endswith(".gz"):
        packed: Any = gzip.GzipFile(path, mode, _GZIP_LEVEL)
    elif path.endswith(".zst"):
        packer = _zstandard()
        packed = packer.open(path, f"{mode}b", cctx=packer.ZstdCompressor())
    else:
        return Path(path).open(mode, encoding="utf-8", newline="\n")
    return TextIOWrapper(packed, encoding="utf-8", newline="\n")


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra("zst", "reading and writing .zst") from error
    return zstandard


def _refuse_binary(stream: Any, name: str) -> None:
    """Refuse what begins like no text at all: packed, an archive, UTF-16, a picture."""
    peek = getattr(stream, "peek", None)
    line = (bytes(peek(_HEAD))[:_HEAD] if peek is not None else b"").split(b"\n")[0]
    for mark, ending in _COMPRESSED.items():
        if line.startswith(mark):
            how = f"is read if its name ends in {ending}" if ending else "unpack it first"
            raise UnusableFile(f"{name}: packed; {how}")
    if line.startswith((b"{", b"[")):
        line = line[:_MARK]  # what is wrong further on is wrong with one line
    try:
        codecs.getincrementaldecoder("utf-8")().decode(line)
    except UnicodeDecodeError:
        raise UnusableFile(f"{name}: no text in UTF-8; lines of JSON are wanted") from None
    if _CONTROL.search(line):
        raise UnusableFile(f"{name}: no text, but binary data; lines of JSON are wanted")
