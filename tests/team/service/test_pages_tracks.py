"""Pages of a series, a change, two runs and the cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.ingest import add
from genbench.nights.trend.detect import detect_changes
from genbench.team.service.context import Service
from genbench.team.service.pages import evidence
from tests.nights.ledger.synthetic import flat, make_run


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


@pytest.mark.slow
def test_a_change_says_what_else_changed_and_which_problems_moved(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    dropped(service, tmp_path)
    (change,) = client.get("/api/v1/tracks/fallen/changes").json()
    assert "What is known" in client.get("/").text
    text = client.get(f"/tracks/fallen/changes/{change['id']}").text
    assert re.search(r"Why:</strong> \d+\.\d → .* points of it from more wrong answers", text)
    assert "gpqa fell" in text and "the weights are the same" in text and "<svg" in text
    assert '<td data-l="problem"><a href="/runs/' in text and "Close it" not in text
    assert client.get("/tracks/fallen/changes/c-0").status_code == 404


@pytest.mark.slow
def test_a_series_links_its_runs_and_their_comparison(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    dropped(service, tmp_path)
    text = client.get("/tracks/fallen/series/gpqa").text
    assert text.count("to the one before") == 11 and "/changes/" in text and "<svg" in text
    assert client.get("/tracks/fallen/series/nope").status_code == 404


@pytest.mark.slow
def test_two_runs_are_chosen_from_a_list_and_compared(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    dropped(service, tmp_path)
    uids = [run["uid"] for run in client.get("/api/v1/runs").json()["items"]]
    listed = client.get("/compare").text
    assert all(listed.count(f'<option value="{uid}">') == 2 for uid in uids)
    assert client.get("/compare", params={"track": "nightly"}).text.count('<option value="') == 2 * 4 + 1
    missing = client.get("/compare", params={"base": "nope", "tuned": uids[0]})
    assert missing.status_code == 404
    twice = client.get("/compare", params={"base": uids[0], "tuned": uids[0]})
    assert twice.status_code == 200 and "one run was chosen twice" in twice.text


@pytest.mark.slow
def test_runs_that_cannot_be_compared_are_shown_with_the_reason(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    rows = flat(30, 2, 0.5)
    folders = [
        make_run(tmp_path / name, {"gpqa": rows}, track=None, verifier=name, verdicts=True)
        for name in ("one", "two")
    ]
    add(service.ledger, folders)
    base, tuned = (run["uid"] for run in client.get("/api/v1/runs").json()["items"] if run["track"] is None)
    assert client.get("/api/v1/compare", params={"base": base, "tuned": tuned}).status_code == 409
    shown = client.get("/compare", params={"base": base, "tuned": tuned})
    assert shown.status_code == 200 and "verifier" in shown.text


def test_runs_are_summed_by_month_and_track(client: TestClient, service: Service) -> None:
    (line,) = evidence.cost_lines(service.ledger)
    assert (line.track, line.runs, line.cost) == ("nightly", 3, None)
    text = client.get("/cost").text
    assert line.month in text and "/tracks/nightly" in text
