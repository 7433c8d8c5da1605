"""The weights of a trained witness: a plain file that is checked when it is read.

A magic line; the length of a header, and the header as JSON; the number of features; their buckets,
two bytes each and ascending; for each bucket one signed byte per kind and category, these packed
with zlib; the SHA-256 of all that. Numbers are little-endian. Nothing in it is ever run.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from selfcorrect.kinds import Category, ErrorKind

MAGIC: Final = b"selfcorrect witness 2\n"
BUCKETS: Final = 1 << 16
"""Features are hashed into so many buckets."""
CLASSES: Final = (*ErrorKind, *Category)
"""What is told apart: every kind, then every category."""
SIGNS: Final = 33 + len(CLASSES)
"""Numbers that say how sure an answer is: one for each sign of it, and one more."""
MOST: Final = 250
"""Features of one finding: so many bytes can be added up in two."""
LARGEST: Final = 2_000_000
"""Bytes of a file."""
SHIPPED: Final = Path(__file__).parent / "evidence" / "trained" / "witness.bin"
_LANE: Final = 2
_MIDDLE: Final = 128
_HIGHEST: Final = 1000
_MALFORMED: Final = (struct.error, zlib.error, TypeError, KeyError, OverflowError, RecursionError)
_SIZES: Final = {"weigh_kind": 3, "weigh_category": 3, "sure": SIGNS}


@dataclass(frozen=True, eq=False)
class Weights:
    """What was learned: a linear model of kinds and categories over hashed features.

    Attributes:
        buckets: The features that have weights, ascending.
        table: One signed byte for each feature and class, feature by feature.
        scale: What a byte of each class is worth.
        bias: What each class starts with.
        weigh_kind: How what the model says of the kind, and how sure a rule is, count together: the
            power of its probability, then the factor and the summand of the rule's log-odds.
        weigh_category: The same for the category.
        sure: How the signs of an answer (margins, agreement, who spoke, what is said) make the
            log-odds that kind and category are right; last, the summand.
        origin: What it was made of.
    """

    buckets: tuple[int, ...]
    table: bytes
    scale: tuple[float, ...]
    bias: tuple[float, ...]
    weigh_kind: tuple[float, ...]
    weigh_category: tuple[float, ...]
    sure: tuple[float, ...]
    origin: str = ""

    def scores(self, buckets: Sequence[int]) -> list[float]:
        """What speaks for each kind and then each category, for the features of a finding."""
        rows = self._rows
        known = [rows[bucket] for bucket in buckets[:MOST] if bucket in rows]
        width = len(CLASSES)
        sums = struct.unpack(f"<{width}H", sum(known).to_bytes(width * _LANE, "little"))
        middle = _MIDDLE * len(known)
        return [
            bias + scale * (total - middle)
            for bias, scale, total in zip(self.bias, self.scale, sums, strict=True)
        ]

    def weight(self, bucket: int, number: int) -> float:
        """What a feature adds to a class, by the number of the class in `CLASSES`."""
        row = self._rows.get(bucket)
        if row is None:
            return 0.0
        lanes = row.to_bytes(len(CLASSES) * _LANE, "little")
        return self.scale[number] * (lanes[number * _LANE] - _MIDDLE)

    @cached_property
    def _rows(self) -> dict[int, int]:
        """Each feature's weights side by side in one number, so that adding adds all of them."""
        wide = bytearray(len(self.table) * _LANE)
        wide[::_LANE] = bytes(byte ^ _MIDDLE for byte in self.table)
        step = len(CLASSES) * _LANE
        return {
            bucket: int.from_bytes(wide[at : at + step], "little")
            for bucket, at in zip(self.buckets, range(0, len(wide), step), strict=True)
        }


def written(weights: Weights) -> bytes:
    """The file of these weights."""
    header = {
        "kinds": list(ErrorKind),
        "categories": list(Category),
        "hash": BUCKETS,
        "scale": weights.scale,
        "bias": weights.bias,
        **{name: getattr(weights, name) for name in _SIZES},
        "origin": weights.origin,
    }
    text = json.dumps(header, sort_keys=True).encode()
    number = len(weights.buckets)
    body = b"".join(
        [
            MAGIC,
            struct.pack("<I", len(text)),
            text,
            struct.pack("<I", number),
            struct.pack(f"<{number}H", *weights.buckets),
            zlib.compress(weights.table, 9),
        ]
    )
    return body + hashlib.sha256(body).digest()


def read(content: bytes) -> Weights:
    """The weights in a file's content.

    Raises:
        ValueError: If it is no such file, is damaged, or is for other kinds and categories; the
            message says which.
    """
    if len(content) > LARGEST:
        raise ValueError(f"larger than {LARGEST} bytes")
    if not content.startswith(MAGIC):
        raise ValueError("not the weights of a witness of this format")
    body, digest = content[:-32], content[-32:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError("damaged: its checksum is another")
    try:
        return _parts(body)
    except _MALFORMED as error:
        raise ValueError(f"malformed: {type(error).__name__}: {error}") from error


def _parts(body: bytes) -> Weights:
    at = len(MAGIC)
    (length,) = struct.unpack_from("<I", body, at)
    header = json.loads(body[at + 4 : at + 4 + length].decode())
    if not isinstance(header, Mapping):
        raise TypeError("its header is no object")
    if header["hash"] != BUCKETS or header["kinds"] + header["categories"] != list(CLASSES):
        raise ValueError("made for other kinds and categories: train it again")
    at += 4 + length
    (number,) = struct.unpack_from("<I", body, at)
    buckets = struct.unpack_from(f"<{number}H", body, at + 4)
    size = number * len(CLASSES)
    # No more is unpacked than there may be, however much the file holds.
    table = zlib.decompressobj().decompress(body[at + 4 + 2 * number :], size + 1)
    if len(table) != size:
        raise ValueError(f"malformed: {len(table)} bytes of weights for {number} features")
    if any(one >= two for one, two in pairwise(buckets)):
        raise ValueError("malformed: its features are not ascending")
    return Weights(
        buckets=buckets,
        table=table,
        scale=_numbers(header, "scale", len(CLASSES)),
        bias=_numbers(header, "bias", len(CLASSES)),
        **{name: _numbers(header, name, size) for name, size in _SIZES.items()},
        origin=str(header["origin"]),
    )


def _numbers(header: Mapping[str, Any], name: str, size: int) -> tuple[float, ...]:
    numbers = header[name]
    if not isinstance(numbers, list) or len(numbers) != size:
        raise ValueError(f"malformed: {name} must be {size} numbers")
    if not all(type(each) in (int, float) and abs(each) <= _HIGHEST for each in numbers):
        raise ValueError(f"malformed: {name} holds what is no number up to {_HIGHEST}")
    return tuple(map(float, numbers))


def load(path: Path) -> Weights:
    """The weights in a file.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it holds no such weights.
    """
    with path.open("rb") as stream:
        return read(stream.read(LARGEST + 1))


@cache
def shipped() -> Weights:
    """The weights that come along."""
    return load(SHIPPED)
