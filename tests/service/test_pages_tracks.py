"""Pages of a series, a change, two runs and the cost."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from genbench.ledger.ingest import add
from genbench.service.context import Service
from genbench.service.pages import evidence
from genbench.trend.detect import detect_changes
from tests.ledger.synthetic import flat, make_run


def dropped(service: Service, tmp_path: Path) -> None:
    """Add a track whose last nights fall."""
    for night in range(12):
        rows = flat(60, 4, 0.8 if night < 10 else 0.3, night)
        make_run(
            tmp_path / "more" / f"d{night}",
            {"gpqa": rows},
            track="fallen",
            position=20_000 + night,
            verdicts=True,
        )
    add(service.ledger, [tmp_path / "more"])
    detect_changes(service.ledger, "fallen")


def test_a_change_says_what_else_changed_and_which_problems_moved(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    dropped(service, tmp_path)
    (change,) = client.get("/api/v1/tracks/fallen/changes").json()
    assert "What is known" in client.get("/").text
    text = client.get(f"/tracks/fallen/changes/{change['id']}").text
    assert "gpqa fell" in text and "the weights are the same" in text and "<svg" in text
    assert '<td data-l="problem">p' in text and "Close it" not in text
    assert client.get("/tracks/fallen/changes/c-0").status_code == 404


def test_a_series_links_its_runs_and_their_comparison(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    dropped(service, tmp_path)
    text = client.get("/tracks/fallen/series/gpqa").text
    assert text.count("to the one before") == 11 and "/changes/" in text and "<svg" in text
    assert client.get("/tracks/fallen/series/nope").status_code == 404


def test_two_runs_are_compared_by_uid(client: TestClient) -> None:
    uids = [run["uid"] for run in client.get("/api/v1/runs").json()["items"]]
    assert 'name="tuned"' in client.get("/compare").text
    missing = client.get("/compare", params={"base": "nope", "tuned": uids[0]})
    assert missing.status_code == 404


def test_runs_are_summed_by_month_and_track(client: TestClient, service: Service) -> None:
    (line,) = evidence.cost_lines(service.ledger)
    assert (line.track, line.runs, line.cost) == ("nightly", 3, None)
    text = client.get("/cost").text
    assert line.month in text and "/tracks/nightly" in text
