from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder
from genbench.store.json_files import MOST_LINE_BYTES, lines_of, read_lines
from genbench.store.signature import is_sealed
from tests.cli.test_fuzz import outcome
from tests.ready_runs import RIGHT, WRONG, MakeRun

HOLE = 1 << 42
"""Bytes of a file that takes no space on the disk, and more memory than any machine has."""


def test_lines_are_numbered_and_the_last_may_be_open() -> None:
    assert list(lines_of(io.BytesIO(b"a\n\nb"), Path("f"))) == [(1, b"a\n"), (2, b"\n"), (3, b"b")]


@pytest.mark.slow
def test_a_line_without_an_end_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n')
    os.truncate(path, HOLE)
    with pytest.raises(RunFolderError, match=rf"lines\.jsonl:2: .*longer than {MOST_LINE_BYTES:,} bytes"):
        list(read_lines(path))


@pytest.mark.parametrize("name", ["manifest.json", "results.json"])
def test_a_file_with_a_hole_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{")
    os.truncate(tmp_path / name, HOLE)
    folder = RunFolder(tmp_path)
    with pytest.raises(RunFolderError, match=rf"{name}: is larger than"):
        folder.manifest() if name.startswith("m") else folder.results()


def test_a_seal_with_a_hole_is_none(make_run: MakeRun) -> None:
    run = make_run("run", lambda i: [RIGHT] * 4, n=2)
    os.truncate(run / "seal.json", HOLE)
    folder = RunFolder(run)
    assert not is_sealed(folder, folder.require_manifest())


@pytest.mark.slow
def test_commands_on_a_run_with_a_hole_have_one_message(make_run: MakeRun, tmp_path: Path) -> None:
    whole = make_run("whole", lambda i: [RIGHT, WRONG] * 2, n=3)
    run = make_run("copy", lambda i: [RIGHT, WRONG] * 2, n=3)
    os.truncate(run / "sums" / "completions.jsonl", HOLE)
    for command in (
        ("compare", whole, run),
        ("metrics", run),
        ("status", run),
        ("score", run, "--again"),
        ("export", run, "--to", "inspect", "--output", tmp_path / "logs"),
    ):
        assert "completions.jsonl:13: the line is longer than" in outcome(*command), command


@pytest.mark.slow
def test_scoring_changes_no_file_that_has_a_second_name_elsewhere(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("run", lambda i: [RIGHT, WRONG] * 2, n=3)
    verdicts = run / "sums" / "verdicts.jsonl"
    verdicts.write_text("".join(verdicts.read_text().splitlines(keepends=True)[:5]))
    (run / "owner.json").write_text("{}")
    kept = tmp_path / "kept"
    kept.mkdir()
    for number, path in enumerate(path for path in run.rglob("*") if path.is_file()):
        os.link(path, kept / str(number))
    before = {path: path.read_bytes() for path in kept.iterdir()}
    outcome("score", run)
    assert len(verdicts.read_text().splitlines()) == 12
    assert {path: path.read_bytes() for path in kept.iterdir()} == before
