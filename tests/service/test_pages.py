"""Pages: what a lead reads, without JavaScript, and nothing of a stranger that runs."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from genbench.ledger.ingest import add
from genbench.queue.database import Queue
from genbench.queue.jobs import cancel_job, job_folder, submit
from genbench.queue.spec import JobSpec, PlacedSpec
from genbench.service.context import Service
from genbench.service.pages import overview
from tests.ledger.synthetic import flat, make_run
from tests.queue.killing import placed

HOSTILE = "<script>alert(1)</script>"


def test_monday_says_what_happened_on_every_track(client: TestClient, service: Service) -> None:
    page = overview.overview(service)
    assert [block.listed.name for block in page.tracks] == ["nightly"]
    text = client.get("/").text
    assert page.tracks[0].trend.sentence.split(";")[0] in text
    assert '<a href="/tracks/nightly">' in text and "<script" not in text


def test_an_empty_service_says_how_to_begin(client: TestClient, service: Service) -> None:
    assert "No worker. Start one with: genbench queue work" in client.get("/queue").text


def test_the_page_of_a_track_is_that_of_trend(client: TestClient) -> None:
    page = client.get("/tracks/nightly")
    assert page.status_code == 200 and "<svg" in page.text
    assert "script-src" not in page.headers["content-security-policy"]
    runs = client.get("/tracks/nightly/runs").text
    assert runs.count("/runs/") >= 3
    assert client.get("/tracks/none").status_code == 404


def test_a_report_is_served_without_the_rights_of_the_service(client: TestClient, tmp_path: Path) -> None:
    uid = client.get("/api/v1/runs").json()["items"][0]["uid"]
    missing = client.get(f"/runs/{uid}")
    assert missing.status_code == 410 and "genbench report" in missing.json()["detail"]
    for folder in (tmp_path / "runs").iterdir():
        (folder / "report.html").write_text(HOSTILE)
    shown = client.get(f"/runs/{uid}")
    assert shown.text == HOSTILE
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")


def hostile_job(queue: Queue, tmp_path: Path) -> None:
    spec = JobSpec.from_json({"suite": HOSTILE, "tasks": [HOSTILE]}, "test")
    job, _ = submit(queue, PlacedSpec(spec=spec, track=HOSTILE, label=HOSTILE, slots=1), tmp_path, by=HOSTILE)
    job_folder(job).mkdir(parents=True)
    (job_folder(job) / "log").write_text(f"{HOSTILE}\n\x1b[31m")


def test_texts_of_strangers_are_shown_and_never_run(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    run = make_run(tmp_path / "bad", {"math": flat()}, position=20_003, model=HOSTILE)
    add(service.ledger, [run])
    hostile_job(service.queue, tmp_path)
    for path in ("/", "/queue", "/jobs/1", "/tracks/nightly", "/tracks/nightly/runs"):
        text = client.get(path).text
        assert "<script" not in text and "\x1b" not in text
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
