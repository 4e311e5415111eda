"""Rendering of a definition's rows in a process of its own, which is killed if a template hangs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row

_START_S = 60.0
ROW_S = 5.0
"""Seconds for one row. Rendering takes a tenth of a millisecond."""
_PATIENCE = 4
"""A process that says nothing for so many times the limit of a row is killed."""
_MOST_KILLED = 3
"""Rows that may kill their process. A definition with more of them is refused."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """The rows of a task as its definition renders them, by their place. `refused` says why others failed."""

    rows: Mapping[int, dict[str, Any]]
    refused: Mapping[int, str]


def render_rows(
    config: Mapping[str, Any],
    rows: Sequence[Row],
    *,
    exemplars: Sequence[Row] = (),
    same_split: bool = False,
    patterns: Sequence[str] = (),
    row_s: float = ROW_S,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Rendering:
    """Return what a definition makes of each row.

    Args:
        config: the resolved definition, without functions.
        exemplars: the rows that exemplars are drawn from.
        same_split: whether these are the rows that are asked.
        patterns: regular expressions of the definition, which are compiled under the same limits.
        row_s: seconds for one row.
        tell: is called with the number of rows done and of all.

    Raises:
        DataError: a pattern is wrong, no row can be rendered, or too many rows kill their process.
    """
    order = {
        "config": config,
        "columns": list(dict.fromkeys(name for row in rows[:1] for name in row)),
        "exemplars": list(exemplars),
        "same_split": same_split,
        "patterns": list(patterns),
        "row_s": row_s,
        "rows": list(rows),
    }
    found: dict[int, dict[str, Any]] = {}
    refused: dict[int, str] = {}
    killed = 0
    while len(found) + len(refused) < len(rows):
        todo = [place for place in range(len(rows)) if place not in found and place not in refused]
        done = [*found, *refused]
        answers = _answers(json.dumps(order | {"skip": done}, default=str).encode(), row_s)
        count = 0
        for place, answer in zip(todo, answers, strict=False):
            count += 1
            if "failed" in answer:
                refused[place] = answer["failed"]
            else:
                found[place] = answer
            tell(len(found) + len(refused), len(rows))
        if count < len(todo):
            killed += 1
            refused[todo[count]] = "its process was killed: it took too long or too much memory"
        if killed > _MOST_KILLED:
            raise DataError(f"{killed} rows killed the process that renders them; row {todo[count] + 1} did")
    if not found:
        place = min(refused)
        raise DataError(f"no row can be rendered; row {place + 1}: {refused[place]}")
    return Rendering(found, refused)


def _answers(order: bytes, row_s: float) -> Iterator[dict[str, Any]]:
    """Yield the answers of one process until it ends, hangs or is killed.

    Raises:
        DataError: it refuses the definition, or cannot start.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "genbench.interop.tasks.programs.render_templates"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(order)
        process.stdin.close()
        lines = _lines(process.stdout.fileno(), _PATIENCE * row_s)
        ready = next(lines, None)
        if ready is None or not ready["ready"]:
            raise DataError(ready["why"] if ready else "the process that renders templates did not start")
        yield from lines
    except BrokenPipeError:
        raise DataError("the process that renders templates ended before it was given its rows") from None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _lines(fd: int, patience_s: float) -> Iterator[dict[str, Any]]:
    """Yield JSON lines from a pipe until its end, or until nothing comes for too long."""
    kept = b""
    patience = _START_S
    while select.select([fd], [], [], patience)[0]:
        piece = os.read(fd, 1 << 16)
        if not piece:
            return
        *whole, kept = (kept + piece).split(b"\n")
        patience = patience_s
        for line in whole:
            yield json.loads(line)
