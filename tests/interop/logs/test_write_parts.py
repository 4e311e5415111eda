"""Files that appear under their name only when they are complete."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from genbench.interop.logs.export import write_parts


def failing() -> Iterator[bytes]:
    yield b"first"
    raise OSError(28, "No space left on device")


def test_nothing_stays_of_a_file_that_was_not_finished(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_bytes(b"before")
    with pytest.raises(OSError, match="No space left"):
        write_parts(tmp_path / "out.jsonl", failing())
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert (tmp_path / "out.jsonl").read_bytes() == b"before"
