"""The status of live, finished, stopped and killed runs, read without a lock and without a write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]

from genbench.reports.terminal.show import status_text
from genbench.runs.stored.status import RunProgress, RunsStatus, status
from genbench.store.folder import RunFolder
from tests import warm
from tests.known import known
from tests.manifests import manifest

SUITE = """\
models:
  m: {path: ./none}
tasks:
  - name: slow
    kind: code
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: {fn_name: fn, tests: tests}}}
    prompt: "{question}"
    k: 2
    verifier: {wall_s: 5}
verify: {workers: 1}
"""
N = 12


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a suite whose programs sleep, so that there is time to read its status."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"p{i}", "question": "?", "fn": "f", "tests": [{"input": "1", "output": "1"}]}
        for i in range(N)
    ]
    text = "```python\nimport time\ndef f(x):\n    time.sleep(0.3)\n    return x\n```"
    answers = [
        {"task": "slow", "problem_id": f"p{i}", "sample_index": j, "text": text}
        for i in range(N)
        for j in range(2)
    ]
    for name, records in (("rows", rows), ("r", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def start(place: Path, *more: str) -> subprocess.Popen[str]:
    words = ("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out")
    return warm.Popen(
        [*words, *more],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_verifying(place: Path, process: subprocess.Popen[str]) -> RunProgress:
    end = time.monotonic() + 120
    while True:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        if (place / "out/m/manifest.json").exists():
            run = status(place / "out").runs[0]
            if run.state == "verifying" and run.verified:
                return run
        time.sleep(0.02)


def end(process: subprocess.Popen[str], number: signal.Signals) -> str:
    if process.poll() is not None:
        return process.communicate()[1]
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    warm.wait_for_the_end(family)
    return err


def schema_errors(found: RunsStatus) -> list[str]:
    schema = json.loads((Path(__file__).resolve().parents[2] / "docs" / "json.schema.json").read_text())
    checker = Draft202012Validator({**schema, "$ref": "#/$defs/status"})
    return [f"{error.json_path}: {error.message}" for error in checker.iter_errors(found.to_json())]


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.slow
def test_a_live_run_is_seen_while_its_writer_holds_the_lock(place: Path) -> None:
    process = start(place)
    try:
        run = until_verifying(place, process)
        assert (run.done, run.total) == (2 * N, 2 * N)
        assert 0 < run.verified < run.total
        assert run.tasks["slow"].status_counts == {"correct": run.verified}
        assert known(run.writer).pid == process.pid
        assert known(run.writer).alive is True
        shown = status_text(status(place / "out/m"))
        assert "verifying, attempt 1, pid" in shown
        assert "(alive)" in shown
        assert schema_errors(status(place / "out")) == []
    finally:
        end(process, signal.SIGKILL)
    assert schema_errors(status(place / "out")) == []
    killed = status(place / "out").runs[0]
    assert killed.state == "killed"
    assert known(killed.writer).alive is False
    assert killed.done == 2 * N
    before = files(place / "out")
    status(place / "out")
    assert files(place / "out") == before


@pytest.mark.slow
def test_a_run_that_was_stopped_says_by_what_and_one_that_ended_is_finished(place: Path) -> None:
    process = start(place)
    until_verifying(place, process)
    assert "Continue with: genbench run suite.yaml" in end(process, signal.SIGTERM)
    assert process.returncode == 130
    run = status(place / "out").runs[0]
    assert (run.state, run.stopped_by, run.writer) == ("stopped", "SIGTERM", None)
    process = start(place)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    run = status(place / "out").runs[0]
    assert (run.state, run.verified, run.attempt) == ("finished", 2 * N, 2)


@pytest.mark.slow
def test_a_time_limit_stops_as_a_signal_does_and_the_same_command_goes_on(place: Path) -> None:
    process = start(place, "--max-hours", str(5 / 3600))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "stopped by the limit of 0.00138889 hours (--max-hours); everything finished is in out/m" in err
    assert "--max-hours" in err.split("Continue with: genbench run suite.yaml")[1]
    run = status(place / "out").runs[0]
    assert run.state == "stopped"
    assert run.verified < run.total


def test_an_engine_that_loads_in_words_of_its_own_is_loading(tmp_path: Path) -> None:
    live = {"state": "reading r.jsonl", "at": "12:00", "elapsed_s": 1.0, "drawn": 0, "tokens": 0}
    with RunFolder.writer(tmp_path / "m") as folder:
        folder.write_manifest(manifest())
        folder.write_live({**live, "tokens_per_s": None, "left_s": None, "tasks": {}})
        (run,) = status(tmp_path).runs
    assert (run.state, run.elapsed_s) == ("loading the engine", 1.0)


def test_looking_at_a_run_from_its_own_process_keeps_its_lock(tmp_path: Path) -> None:
    """Closing any descriptor of the lock's file would release a POSIX lock."""
    with RunFolder.writer(tmp_path / "m") as folder:
        folder.write_manifest(manifest())
        assert known(status(tmp_path).runs[0].writer).pid == os.getpid()
        other = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from pathlib import Path; from genbench.store.lock import FolderLock; "
                "FolderLock(Path(sys.argv[1]))",
                str(tmp_path / "m"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "RunLockedError" in other.stderr
