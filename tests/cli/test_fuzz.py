"""Random damage to every file that genbench reads: the answer is a result or a message, never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
from pathlib import Path
from typing import Any

import click
import pytest

from genbench.cli import app
from genbench.errors import GenbenchError
from genbench.suite.suitefile import read_suite
from tests.ready_runs import RIGHT, SUITE, WRONG, MakeRun

NASTY: list[Any] = [
    None,
    True,
    -1,
    10**30,
    float("inf"),
    "",
    "\ud800",
    "../../../../outside/pwn",
    [],
    {},
    [1],
    {"a": 1},
    "\x1b[2J",
    "9" * 50,
]
LINES = [b"", b"{}", b"null", b"[" * 3000 + b"]" * 3000, b"\xff\xfe", b'{"a":NaN}']
WORDS = ["~", "[]", "-1", "1e400", ".nan", '"\\0"', "!x y", "*a", "<<: *a", "? a", "9" * 5000, "[[[[[]]]]]"]
WORDS += ["os:system", "shipped:../../x", "/dev/null", "~nobody-here/x", "{question", "\x07", "2020-13-45"]


def places(node: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the place of every value in a record."""
    inner = list(node.items()) if isinstance(node, dict) else []
    inner = list(enumerate(node[:3])) if isinstance(node, list) else inner
    return [at] * bool(at) + [found for key, value in inner for found in places(value, (*at, key))]


def damaged(data: bytes, is_lines: bool, rng: random.Random) -> bytes:
    """Return a file with one value replaced, cut short, with a byte changed or a line inserted."""
    how = rng.randrange(6)
    if how == 0:
        return data[: rng.randrange(len(data))]
    if how == 1:
        place = rng.randrange(len(data))
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    lines = data.decode().split("\n")[:-1] if is_lines else [data.decode()]
    row = rng.randrange(len(lines))
    if how == 2 and is_lines:
        return b"\n".join([*(line.encode() for line in lines[:row]), rng.choice(LINES), b""])
    record = json.loads(lines[row])
    *above, last = rng.choice(places(record))
    node = record
    for key in above:
        node = node[key]
    node[last] = rng.choice(NASTY)
    lines[row] = json.dumps(record)
    return "\n".join([*lines, ""]).encode()


def outcome(*arguments: object) -> str:
    """Return what a command printed. Anything but success or a message ends the test."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            app([str(item) for item in arguments], standalone_mode=False)
        except (GenbenchError, click.ClickException, click.exceptions.Exit) as error:
            return out.getvalue() + str(error)
    return out.getvalue()


@pytest.mark.slow
def test_damaged_run_folder_is_a_result_or_a_message(make_run: MakeRun, tmp_path: Path) -> None:
    whole = make_run("whole", lambda i: [RIGHT, WRONG, RIGHT, RIGHT], n=6)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*.json*"))
    rng = random.Random(7)
    for number in range(30):
        run = tmp_path / "copy" / str(number)
        shutil.copytree(whole, run)
        file = run / rng.choice(files)
        file.write_bytes(damaged(file.read_bytes(), file.suffix == ".jsonl", rng))
        for command in (["show", run], ["show", run, "sums"], ["metrics", run], ["compare", whole, run]):
            assert "\x1b[2J" not in outcome(*command)
    assert not (tmp_path / "outside").exists()


@pytest.mark.slow
def test_damaged_score_file_is_a_result_or_a_message(tmp_path: Path) -> None:
    rows = [
        {"task": "t", "problem_id": f"p{i}", "sample_index": k, "score": (i + k) % 2, "answer": str(k)}
        for i in range(6)
        for k in range(2)
    ]
    whole = "".join(json.dumps(row) + "\n" for row in rows).encode()
    rng = random.Random(3)
    for _ in range(40):
        path = tmp_path / "scores.jsonl"
        path.write_bytes(damaged(whole, True, rng))
        outcome("metrics", path)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_suite_is_a_suite_or_a_message(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "suite.yaml"
    for _ in range(60):
        lines = SUITE.split("\n")
        row = rng.randrange(len(lines))
        key, colon, _ = lines[row].partition(":")
        cut = rng.randrange(len(lines[row]) + 1)
        lines[row] = rng.choice(
            [
                f"{key}{colon} {rng.choice(WORDS)}",
                lines[row][:cut] + rng.choice(WORDS) + lines[row][cut:],
                " " * rng.randrange(5) + lines[row].lstrip(),
                "",
            ]
        )
        path.write_text("\n".join(lines))
        with contextlib.suppress(GenbenchError):
            read_suite(path)
