"""What an earlier version of genbench stored is opened, and says what it said then.

tests/stored_before has run folders, a score file, a ledger, its notes and a queue (on SQLite and PostgreSQL,
as SQL), and in expected/ the JSON that the version which wrote them made of them. The folder answers/ has the
same of a later version, for tasks whose answers are read out of texts, with the suite and the responses.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import genbench
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.listing import list_ledger
from genbench.nights.trend.compose import trend
from genbench.team.queue.database import open_queue
from genbench.team.queue.jobs import get_job, job_events, list_jobs, retry_job
from genbench.team.queue.schedules import list_schedules
from tests.nights.ledger.postgres import postgres_server
from tests.ready_runs import as_another_run

STORED = Path(__file__).resolve().parents[1] / "stored_before"
RUNS = ("night2/m", "night10/m", "tickets/tuned")
ANSWERS = STORED / "answers"
CORRECTED: dict[tuple[str, str, str, int], float] = {
    ("base", "sums", "s0", 1): 1.0,  # "70,000 dollars" for 70000
    ("tuned", "sums", "s0", 0): 1.0,
    ("base", "words", "w2", 0): 1.0,  # "1,200 people" for 1200
    ("tuned", "words", "w2", 1): 1.0,
    ("base", "words", "w3", 0): 1.0,  # "**Yes.** Ice is frozen water."
    ("tuned", "words", "w3", 1): 1.0,
}
"""(model, task, problem, sample) of answers/ -> the right score, if the verifiers have corrected it since."""


def expected(name: str, folder: Path = STORED) -> Any:
    return json.loads((folder / "expected" / f"{name}.json").read_text(encoding="utf-8"))


def lacks(found: Any, wanted: Any, where: str = "") -> list[str]:
    """Return where `found` does not say what `wanted` says. Keys that were added since are no difference."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [
            line for key in wanted for line in lacks(found.get(key, "absent"), wanted[key], f"{where}.{key}")
        ]
    if isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        pairs = enumerate(zip(found, wanted, strict=True))
        return [line for i, (own, other) in pairs for line in lacks(own, other, f"{where}[{i}]")]
    if isinstance(wanted, float) and isinstance(found, float):
        return [] if found == pytest.approx(wanted, abs=1e-12) else [f"{where}: {found} != {wanted}"]
    return [] if found == wanted else [f"{where}: {found} != {wanted}"]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A copy of the stored run folders."""
    shutil.copytree(STORED / "runs", tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The stored databases of one kind: where the ledger is, and its notes."""
    kind = "" if request.param == "sqlite" else "postgresql."
    notes = tmp_path / "ledger.notes.jsonl"
    shutil.copy(STORED / (f"{kind}notes.jsonl" if kind else "ledger.notes.jsonl"), notes)
    if not kind:
        for name, file in (("ledger.sql", "ledger.sqlite3"), ("queue.sql", "ledger.queue.sqlite3")):
            with sqlite3.connect(tmp_path / file) as connection:
                connection.executescript((STORED / name).read_text(encoding="utf-8"))
        yield str(tmp_path / "ledger.sqlite3"), notes
        return
    with postgres_server() as url:
        parts = urlsplit(url)
        place = ["-h", parse_qs(parts.query)["host"][0], "-U", str(parts.username), "postgres"]
        command = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(STORED / "postgresql.sql"), *place]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        yield url, notes


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_run_folder_that_was_stored_before_is_read_and_reported(runs: Path, name: str) -> None:
    results = genbench.latest_results(runs / name)
    stored = json.loads((runs / name / "results.json").read_text(encoding="utf-8"))
    assert lacks(results.to_json(), stored) == []
    assert genbench.report(runs / name)
    for task in stored["tasks"]:
        assert genbench.task_rows(runs / name, task)


def test_two_stored_runs_compare_as_they_did() -> None:
    record = genbench.compare(STORED / "runs/night2/m", STORED / "runs/night10/m")
    wanted = expected("compare")
    for key in ("base", "tuned", "notes", "rechecked"):
        del wanted[key]  # paths of folders, and answers that the command verified again
    for part in wanted["tasks"]["sums"]["causes"]["parts"]:
        del part["part"], part["ci"]  # what moves between statuses without credit is left out since
    assert lacks(record.to_json(), wanted) == []


def test_a_stored_score_file_has_the_estimates_that_it_had() -> None:
    wanted = expected("estimate")
    found = genbench.estimate(STORED / "scores.jsonl").to_json()
    assert lacks(found["tasks"], wanted["tasks"]) == []


def test_a_stored_ledger_lists_its_runs_and_shows_its_trend(ledger: tuple[str, Path]) -> None:
    where, notes = ledger
    of_sqlite = where.endswith(".sqlite3")
    with open_ledger(where, notes, create=False) as opened:
        listed = list_ledger(opened, "nightly", runs=True).to_json()
        record = trend(opened, "nightly", since="2026-10-02").to_json()
    wanted = expected("trend")
    if of_sqlite:  # the other ledger has its own uids, base and changes, from the same runs
        for key in ("tracks", "runs"):
            assert lacks(listed[key], expected("list")[key], key) == []
        for key in ("tasks", "changes", "budget", "base", "newest", "runs"):
            assert lacks(record[key], wanted[key], key) == []
    assert [run["label"] for run in listed["runs"]] == [run["label"] for run in expected("list")["runs"]]
    assert [(c["task"], c["state"], c["size"]) for c in record["changes"]] == [
        (c["task"], c["state"], c["size"]) for c in wanted["changes"]
    ]
    assert record["tasks"][0]["points"]["value"] == wanted["tasks"][0]["points"]["value"]


def test_a_run_that_a_stored_ledger_knows_is_not_added_twice(ledger: tuple[str, Path], runs: Path) -> None:
    where, notes = ledger
    with open_ledger(where, notes, create=False) as opened:
        done = add(opened, [runs / "night2"], by="ada")
        assert [item.outcome for item in done] == ["moved"]
        assert len(list_ledger(opened, "nightly", runs=True).runs or ()) == len(expected("list")["runs"])


def test_a_stored_queue_has_its_jobs_events_and_schedules_and_takes_new_work(
    ledger: tuple[str, Path],
) -> None:
    where, _ = ledger
    with open_queue(where, create=False) as queue:
        found = [job.to_json() for job in list_jobs(queue)]
        keys = ("id", "state", "track", "label", "spec", "priority", "slots", "requested_by")
        wanted = [{key: job[key] for key in keys} for job in expected("jobs")["jobs"]]
        assert lacks(found, wanted) == []
        assert [event.what for event in job_events(queue, 1)] == [
            e["what"] for e in expected("job")["events"]
        ]
        assert [schedule.name for schedule in list_schedules(queue)] == ["tickets"]
        assert retry_job(queue, 3, by="ada").state == "queued"
        assert get_job(queue, 3).spec.options().max_hours == 2.0


def stored_scores(folder: Path, model: str) -> dict[tuple[str, str, str, int], float]:
    return {
        (model, row["task"], row["problem_id"], row["sample_index"]): row["score"]
        for path in sorted(folder.glob("*/verdicts.jsonl"))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }


def test_stored_answers_compare_as_they_did() -> None:
    record = genbench.compare(ANSWERS / "runs/pair/base", ANSWERS / "runs/pair/tuned")
    assert lacks(record.to_json(), expected("compare", ANSWERS)) == []


@pytest.mark.slow
def test_stored_answers_are_scored_again_and_reported(tmp_path: Path) -> None:
    """The suite's folder has moved. Its old place is in the manifest, which the results have a digest of."""
    shutil.copytree(ANSWERS, tmp_path / "answers")

    def moved(manifest: dict[str, Any]) -> None:
        text = json.dumps(manifest).replace("/srv/eval/answers", str(tmp_path / "answers"))
        manifest.update(json.loads(text))

    for model in ("base", "tuned"):
        run = as_another_run(tmp_path / "answers/runs/pair" / model, moved)
        before = stored_scores(run, model)
        genbench.score(run, again=True, quiet=True, trust=["code", "files"])
        found = stored_scores(run, model)
        changed = {key: found.get(key) for key, score in before.items() if found.get(key) != score}
        assert changed == {key: score for key, score in CORRECTED.items() if key[0] == model}
        assert genbench.report(run)
    genbench.compare(tmp_path / "answers/runs/pair/base", tmp_path / "answers/runs/pair/tuned")


def test_a_ledger_and_a_queue_of_stored_answers_are_opened(tmp_path: Path) -> None:
    shutil.copy(ANSWERS / "ledger.notes.jsonl", tmp_path)
    for name, file in (("ledger.sql", "ledger.sqlite3"), ("queue.sql", "ledger.queue.sqlite3")):
        with sqlite3.connect(tmp_path / file) as connection:
            connection.executescript((ANSWERS / name).read_text(encoding="utf-8"))
    where = str(tmp_path / "ledger.sqlite3")
    with open_ledger(where, tmp_path / "ledger.notes.jsonl", create=False) as ledger:
        record = trend(ledger, "nightly", since="2026-11-01").to_json()
    assert lacks(record, expected("trend", ANSWERS)) == []
    with open_queue(where, create=False) as queue:
        assert [(job.label, job.state) for job in list_jobs(queue)] == [
            ("2026-11-08", "queued"),
            ("2026-11-07", "queued"),
        ]
