"""Pages: what a lead reads, without JavaScript, and nothing of a stranger that runs."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.changes import annotate
from genbench.nights.ledger.ingest import add
from genbench.reports.write import write_page
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import cancel_job, job_folder, submit
from genbench.team.queue.spec import JobSpec, PlacedSpec
from genbench.team.service.context import Service
from genbench.team.service.pages import overview
from genbench.team.service.pages.runs import report_policy
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.killing import placed

HOSTILE = "<script>alert(1)</script>"


def test_monday_says_what_happened_on_every_track(client: TestClient, service: Service) -> None:
    page = overview.overview(service)
    assert [block.listed.name for block in page.tracks] == ["nightly"]
    text = client.get("/").text
    assert page.tracks[0].trend.sentence.split(";")[0] in text
    assert '<a href="/tracks/nightly">' in text and "<script" not in text


def test_an_empty_service_says_how_to_begin(client: TestClient, service: Service) -> None:
    assert "No worker. Start one with: genbench queue work" in client.get("/queue").text


def test_the_page_of_a_track_links_what_it_names(client: TestClient) -> None:
    page = client.get("/tracks/nightly")
    assert page.status_code == 200 and "<svg" in page.text and '<nav aria-label="Pages">' in page.text
    assert page.text.count('href="/tracks/nightly/series/math"') >= 2
    uids = [run["uid"] for run in client.get("/api/v1/runs").json()["items"]]
    assert all(f'href="/runs/{uid}"' in page.text for uid in uids)
    assert (
        "newest 3 of 3 runs" in page.text
        and "newest 2 of 3 runs" in client.get("/tracks/nightly?points=2").text
    )
    assert client.get("/tracks/none").status_code == 404


@pytest.mark.slow
def test_every_run_of_a_long_track_is_on_a_page(client: TestClient, service: Service, tmp_path: Path) -> None:
    for night in range(105):
        make_run(tmp_path / "long" / f"n{night}", {"math": flat()}, track="long", position=19_000 + night)
    add(service.ledger, [tmp_path / "long"])
    first = client.get("/tracks/long/runs").text
    assert "1 to 100 of 105 runs" in first and '<a href="/tracks/long/runs?after=100" rel="next">' in first
    assert "101 to 105 of 105 runs" in client.get("/tracks/long/runs?after=100").text


def test_runs_are_found_by_what_is_known_of_them(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    more = make_run(
        tmp_path / "x", {"math": flat()}, track="other", model="sft_500", created="2025-03-04T05:06:07+0000"
    )
    add(service.ledger, [more])
    annotate(service.ledger, "nightly", 20_001, "engine", "a new driver", by="ada")
    for query, count in (
        ({}, 4),
        ({"model": "sft_"}, 1),
        ({"model": "_un"}, 0),
        ({"model": "%"}, 0),
        ({"model": "TUNED"}, 3),
        ({"track": "other"}, 1),
        ({"suite": "none"}, 0),
        ({"text": "driver nightly"}, 1),
        ({"text": "driver other"}, 0),
        ({"since": "2025-03-04", "until": "2025-03-04"}, 1),
        ({"since": "2025-03-05"}, 3),
    ):
        assert len(client.get("/api/v1/runs", params=query).json()["items"]) == count, query
        shown = client.get("/runs", params=query).text
        assert shown.count('<td data-l="run">') == count, query
    assert client.get("/runs", params={"since": "yesterday"}).status_code == 422


def test_a_report_is_shown_within_the_frame_and_without_the_rights_of_the_service(
    client: TestClient, tmp_path: Path
) -> None:
    uid = client.get("/api/v1/runs").json()["items"][0]["uid"]
    missing = client.get(f"/runs/{uid}/report.html")
    assert missing.status_code == 410 and "genbench report" in missing.json()["detail"]
    assert "genbench report" in client.get(f"/runs/{uid}/report").text
    assert "/report" not in client.get(f"/runs/{uid}").text
    for folder in (tmp_path / "runs").iterdir():
        (folder / "report.html").write_text(HOSTILE)
    assert f'href="/runs/{uid}/report"' in client.get(f"/runs/{uid}").text
    framed = client.get(f"/runs/{uid}/report")
    assert f'src="/runs/{uid}/report.html"' in framed.text and 'sandbox="allow-scripts"' in framed.text
    shown = client.get(f"/runs/{uid}/report.html")
    assert shown.text == HOSTILE
    policy = shown.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'") and "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    alone = client.get(
        f"/runs/{uid}/report.html", headers={"Sec-Fetch-Dest": "document"}, follow_redirects=False
    )
    assert (alone.status_code, alone.headers["location"]) == (303, f"/runs/{uid}/report")


@pytest.mark.slow
def test_the_scripts_of_a_report_are_those_that_may_run_here(request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue("make_run")("drawn", lambda _: ["1"] * 4)
    text = write_page([folder], folder / "report.html").page.read_text(encoding="utf-8")
    scripts = re.findall(r"<script nonce=[^>]*>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) >= 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in report_policy()


def test_the_models_of_one_command_have_the_report_in_the_folder_above(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    for model in ("base", "tuned", "other"):
        make_run(job / model, {"math": flat()}, track=None, model=model)
    add(service.ledger, [job])
    uids = {
        run["model"]: run["uid"] for run in client.get("/api/v1/runs").json()["items"] if not run["track"]
    }
    (job / "report.html").write_text("<th>base</th><th>tuned</th>")
    for model in ("base", "tuned"):
        assert "all models of this command" in client.get(f"/runs/{uids[model]}/report").text
        assert client.get(f"/runs/{uids[model]}/report.html").status_code == 200
    assert client.get(f"/runs/{uids['other']}/report.html").status_code == 410


def test_a_job_links_its_runs_its_track_and_their_report(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    job, _ = submit(service.queue, placed(1), tmp_path / "made", by="ada")
    for model in ("base", "tuned"):
        make_run(Path(job.run_dir) / model, {"math": flat()}, track=job.track, model=model)
    assert f'href="/tracks/{job.track}"' not in client.get("/jobs/1").text
    add(service.ledger, [tmp_path / "made"])
    (Path(job.run_dir) / "report.html").write_text("<th>base</th><th>tuned</th>")
    text = client.get("/jobs/1").text
    uids = [run["uid"] for run in client.get("/api/v1/runs", params={"track": job.track}).json()["items"]]
    assert len(uids) == 2 and f'href="/tracks/{job.track}"' in text and 'href="#log"' in text
    for uid in uids:
        assert f'href="/runs/{uid}"' in text and f'href="/runs/{uid}/report"' in text
        assert 'href="/jobs/1"' in client.get(f"/runs/{uid}").text


@pytest.mark.slow
def test_the_queue_shows_older_jobs_on_further_pages(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    for number in range(103):
        submit(service.queue, placed(number), tmp_path, by="ada")
    assert 'href="/queue?before=4"' in client.get("/queue").text
    assert client.get("/queue?before=4").text.count('<td data-l="job"') == 3


def hostile_job(queue: Queue, tmp_path: Path) -> None:
    spec = JobSpec.from_json({"suite": HOSTILE, "tasks": [HOSTILE]}, "test")
    job, _ = submit(queue, PlacedSpec(spec=spec, track=HOSTILE, label=HOSTILE, slots=1), tmp_path, by=HOSTILE)
    job_folder(job).mkdir(parents=True)
    (job_folder(job) / "log").write_text(f"{HOSTILE}\n\x1b[31m")


@pytest.mark.slow
def test_texts_of_strangers_are_shown_and_never_run(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    run = make_run(tmp_path / "bad", {"math": flat()}, position=20_003, model=HOSTILE)
    add(service.ledger, [run])
    hostile_job(service.queue, tmp_path)
    for path in ("/", "/queue", "/jobs/1", "/tracks/nightly", "/tracks/nightly/runs"):
        text = client.get(path).text
        assert "<script>" not in text and "\x1b" not in text
    assert "&lt;script&gt;" in client.get("/jobs/1").text


def test_the_page_of_a_job_has_its_events(client: TestClient, service: Service, tmp_path: Path) -> None:
    job, _ = submit(service.queue, placed(1), tmp_path, by="ada")
    cancel_job(service.queue, job.id, by="eve")
    text = client.get("/jobs/1").text
    assert "submitted (ada)" in text and "cancelled (eve)" in text and "(empty)" in text
    assert client.get("/jobs/9").status_code == 404


def test_pages_name_every_column_and_follow_light_and_dark(client: TestClient) -> None:
    text, css = client.get("/").text, client.get("/style.css")
    assert '<th scope="col">' in text and 'name="viewport"' in text and 'lang="en"' in text
    assert "prefers-color-scheme: dark" in css.text and css.headers["content-type"].startswith("text/css")
