"""The sums and counts of a task's problems as a small blob, and back."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
from genbench.stats.scores import Floats, Ints

_HEAD = struct.Struct("<BBI")
"""Kind of the sums, kind of the counts, number of problems."""
_KINDS = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"), np.dtype("<f4"))
_FRACTIONS = 3
_EQUAL = 4
"""All counts are equal. One number follows."""
_MOST_PROBLEMS = 10_000_000


@dataclass(frozen=True, slots=True)
class Vector:
    """The scored samples of each problem of one task of one run.

    `sums` (n,) and `counts` (n,). A count of 0 is a problem without a scored sample. `squares` (n,) are sums
    of squared scores, None if every score is 0 or 1.
    """

    sums: Floats
    counts: Ints
    squares: Floats | None = None

    @property
    def means(self) -> Floats:
        """The mean score (n,) of each problem, NaN without a scored sample."""
        return problem_means(self.sums, self.counts)


def problem_means(sums: Floats, counts: Ints) -> Floats:
    """Return sums / counts of any shape, NaN for a problem without a scored sample."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def pack(vector: Vector) -> bytes:
    """Return a vector as bytes. Whole sums are exact, others are rounded to 32 bits."""
    kind, sums = _packed_sums(vector.sums)
    count_kind, counts = _packed_counts(vector.counts)
    squares = b"" if vector.squares is None else vector.squares.astype(_KINDS[_FRACTIONS]).tobytes()
    head = _HEAD.pack(kind, count_kind, len(vector.sums))
    return zlib.compress(head + counts + sums + squares, 9)


def unpack(data: bytes) -> Vector:
    """Return the vector of bytes that `pack` made.

    Raises:
        InputError: the bytes are damaged.
    """
    try:
        raw = zlib.decompress(data)
        kind, count_kind, n = _HEAD.unpack_from(raw)
        if n > _MOST_PROBLEMS:
            raise ValueError(f"{n} problems")
        place = _HEAD.size
        if count_kind == _EQUAL:
            counts = np.full(n, struct.unpack_from("<I", raw, place)[0], dtype=np.int64)
            place += 4
        else:
            counts = np.frombuffer(raw, _KINDS[count_kind], n, place).astype(np.int64)
            place += n * _KINDS[count_kind].itemsize
        sums = np.frombuffer(raw, _KINDS[kind], n, place).astype(np.float64)
        place += n * _KINDS[kind].itemsize
        squares = None
        if len(raw) > place:
            squares = np.frombuffer(raw, _KINDS[_FRACTIONS], n, place).astype(np.float64)
    except (zlib.error, struct.error, ValueError, IndexError) as error:
        raise InputError(
            f"the ledger has a damaged row ({error}); make it again with: genbench ledger rebuild"
        ) from error
    return Vector(sums, counts, squares)


def unpack_all(blobs: Sequence[bytes]) -> tuple[Floats | list[Floats], Ints | list[Ints]]:
    """Return the sums and the counts of each blob. Blobs of one form are read at once.

    The nights of a task have one form. The results are arrays (blobs, n) then, and lists of arrays otherwise.

    Raises:
        InputError: the bytes are damaged.
    """
    try:
        raws = [zlib.decompress(data) for data in blobs]
        kind, count_kind, n = _HEAD.unpack_from(raws[0])
        size = _HEAD.size + 4 + n * _KINDS[kind].itemsize
        head = raws[0][: _HEAD.size]
        alike = count_kind == _EQUAL and all(len(raw) == size and raw.startswith(head) for raw in raws)
    except (zlib.error, struct.error, IndexError):
        alike = False
    if not alike:
        vectors = [unpack(data) for data in blobs]
        return [vector.sums for vector in vectors], [vector.counts for vector in vectors]
    rows = np.frombuffer(b"".join(raws), np.uint8).reshape(len(raws), size)
    counts = rows[:, _HEAD.size : _HEAD.size + 4].copy().view("<u4").astype(np.int64)
    sums = rows[:, _HEAD.size + 4 :].copy().view(_KINDS[kind]).astype(np.float64)
    return sums, np.broadcast_to(counts, sums.shape)


def _packed_sums(sums: Floats) -> tuple[int, bytes]:
    if len(sums) and not np.array_equal(sums, np.rint(sums)):
        return _FRACTIONS, sums.astype(_KINDS[_FRACTIONS]).tobytes()
    kind = _smallest(sums)
    return kind, sums.astype(_KINDS[kind]).tobytes()


def _packed_counts(counts: Ints) -> tuple[int, bytes]:
    if len(counts) and counts.min() == counts.max():
        return _EQUAL, struct.pack("<I", int(counts[0]))
    kind = _smallest(counts)
    return kind, counts.astype(_KINDS[kind]).tobytes()


def _smallest(values: Floats | Ints) -> int:
    """Return the number of the smallest kind that has all whole values."""
    largest = float(values.max()) if len(values) else 0.0
    return next(number for number in range(_FRACTIONS) if largest < 256 ** _KINDS[number].itemsize)
