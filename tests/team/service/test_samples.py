"""Samples of all runs: what is found, one problem in one or two runs, and the newest of a job that runs."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.ingest import add
from genbench.reports.browse import SampleSearch, find_samples, newest_samples
from genbench.store.folder import RunFolder
from genbench.team.queue.jobs import submit
from genbench.team.service.context import Service
from tests.ready_runs import OPEN, RIGHT, SILENT, WRONG, MakeRun, drawn_runs, make_run
from tests.team.queue.killing import placed

__all__ = ["drawn_runs", "make_run"]
pytestmark = pytest.mark.slow
FOUND = re.compile(r'<a href="(/runs/[^"]+/samples[^"]+)">([^<]+)</a>')


@pytest.fixture
def folders(service: Service, make_run: MakeRun) -> list[Path]:
    """Two runs of 12 problems with 4 samples: all right, and one problem wrong in three ways."""
    answers = (lambda _: [RIGHT] * 4, lambda i: [WRONG, SILENT, OPEN, RIGHT] if i == 3 else [RIGHT] * 4)
    made = [make_run(name, answer) for name, answer in zip(("one", "two"), answers, strict=True)]
    add(service.ledger, made)
    return made


def found(client: TestClient, **query: str) -> list[str]:
    """The samples that the page shows for a search, such as p03/0."""
    return [name for _, name in FOUND.findall(client.get("/samples", params=query).text)]


def test_samples_are_found_over_all_runs(client: TestClient, folders: list[Path]) -> None:
    assert found(client, status="wrong") == ["p03/0"]
    assert found(client, problem="p03", task="sums") == [f"p03/{n % 4}" for n in range(8)]
    assert found(client, text="NO IDEA") == ["p03/1"]
    assert found(client, problem="p03", status="unclosed_trace", model="m") == ["p03/2"]
    assert found(client, task="none") == found(client, model="none") == found(client, track="nightly") == []
    assert client.get("/samples", params={"status": "bad"}).status_code == 422
    assert client.get("/samples", params={"after": "x"}).status_code == 422


def test_a_search_goes_on_until_every_sample_was_shown(client: TestClient, folders: list[Path]) -> None:
    shown, address = list[str](), "/samples"
    for _ in range(10):
        text = client.get(address).text
        shown += [href for href, _ in FOUND.findall(text)]
        more = re.search(r'<a href="([^"]+)" rel="next">', text)
        if more is None:
            break
        address = more.group(1).replace("&amp;", "&")
    assert len(shown) == len(set(shown)) == 2 * 12 * 4


def test_a_search_that_has_no_time_stops_and_says_where_it_goes_on(folders: list[Path]) -> None:
    folder = RunFolder(folders[0])
    path = folder.verdict_path("sums")
    first_line = path.read_bytes().splitlines(keepends=True)[0]
    with path.open("ab") as file:
        file.write(first_line * 600)
    late = time.monotonic() - 1
    first = find_samples(folder, "sums", SampleSearch(), start=0, most=10_000, until=late)
    assert 0 < len(first.items) < 648 and first.after is not None
    rest = find_samples(folder, "sums", SampleSearch(), start=first.after, most=10_000, until=late + 60)
    assert len(first.items) + len(rest.items) == 648 and rest.after is None


def test_a_problem_is_shown_in_two_runs_next_to_each_other(
    client: TestClient, service: Service, folders: list[Path]
) -> None:
    runs = [item for item in client.get("/api/v1/runs").json()["items"] if item["track"] is None]
    uids = {run["paths"][0]: run["uid"] for run in runs}
    one, two = (uids[str(folder)] for folder in folders)
    query = {"task": "sums", "problem": "p03", "other": one}
    text = client.get(f"/runs/{two}/samples", params=query).text
    assert text.count('<article class="turn"') == 8 and text.count('status s-correct"') == 5
    assert "3+2-3?" in text and "no idea" in text and f'href="/runs/{one}"' in text
    assert client.get(f"/runs/{two}/samples", params={**query, "problem": "p99"}).status_code == 404
    assert client.get(f"/runs/{two}/samples", params={**query, "task": "none"}).status_code == 404
    (folders[1] / "sums" / "completions.jsonl").unlink()
    assert "Its texts are not kept" in client.get(f"/runs/{two}/samples", params=query).text
    shutil.rmtree(folders[1])
    gone = client.get(f"/runs/{two}/samples", params=query)
    assert gone.status_code == 200 and "is not here" in gone.text


def test_texts_that_may_do_harm_are_behind_a_click(
    client: TestClient, service: Service, folders: list[Path]
) -> None:
    runs = client.get("/api/v1/runs").json()["items"]
    [uid] = [run["uid"] for run in runs if run["paths"] == [str(folders[1])]]
    address, query = f"/runs/{uid}/samples", {"task": "sums", "problem": "p03"}
    plain = client.get(address, params=query).text
    assert "may do harm" not in plain and "compared: " in plain and "compared: nothing" not in plain
    assert "no idea" not in re.sub(r"(?s)<pre.*?</pre>", "", plain)
    path = folders[1] / "manifest.json"
    record = json.loads(path.read_text())
    record["tasks"]["sums"]["sensitive"] = True
    path.write_text(json.dumps(record))
    text = client.get(address, params=query).text
    outside = re.sub(r"(?s)<details>.*?</details>", "", text)
    assert "no idea" in text and "3+2-3?" in text
    assert "no idea" not in outside and "3+2-3?" not in outside and "compared: " not in outside
    assert text.count("A text that may do harm") >= 4
    listed = client.get("/samples", params={"run": uid, "problem": "p03", "status": "correct"}).text
    assert '<td data-l="compared" class="wrap">-</td>' in listed


def test_a_job_that_runs_shows_its_newest_samples(
    client: TestClient, service: Service, folders: list[Path], tmp_path: Path
) -> None:
    job, _ = submit(service.queue, placed(1), tmp_path / "made", by="ada")
    shutil.copytree(folders[1], Path(job.run_dir) / "m")
    folder = RunFolder(Path(job.run_dir) / "m")
    (folder.path / "results.json").unlink()
    live = {"state": "drawing", "tasks": {"sums": 31}, "tokens_per_s": 12.0, "left_s": 60.0}
    folder.write_live(live)
    with (folder.path / "sums" / "completions.jsonl").open("ab") as file:
        file.write(b'{"task": "sums", "problem')
    text = client.get("/jobs/1").text
    assert 'data-state="live"' in text and "31 of 48 samples" in text and "m: drawing" in text
    newest = newest_samples(folder, ["sums"], 3)
    assert [f"{item.sample.problem_id}/{item.sample.sample_index}" for item in newest] == [
        *("p11/3", "p11/2", "p11/1")
    ]
    assert "sums p11/3" in text
