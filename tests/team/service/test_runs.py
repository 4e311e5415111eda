"""The API about one run, two runs, the gate, remarks, bases and schedules, and its entity tags."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.team.queue.schedules import list_schedules
from genbench.team.service.context import Service
from genbench.team.service.tokens import add_token
from tests.ready_runs import RIGHT, SUITE, WRONG, MakeRun, drawn_runs, make_run

__all__ = ["drawn_runs", "make_run"]
API = "/api/v1"


@pytest.fixture
def uids(service: Service, make_run: MakeRun) -> list[str]:
    """The uids of two verified runs: in the second, one problem is lost."""
    found = []
    answers: dict[str, Callable[[int], list[str]]] = {
        "one": lambda _: [RIGHT] * 4,
        "two": lambda i: [WRONG if i == 3 else RIGHT] * 4,
    }
    for name, answer in answers.items():
        folder = make_run(name, answer, n=24)
        (outcome,) = add(service.ledger, [folder])
        assert outcome.uid is not None
        found.append(outcome.uid)
    return found


@pytest.fixture
def admin(service: Service, client: TestClient) -> TestClient:
    client.headers["Authorization"] = f"Bearer {add_token(service.queue, 'root', 'admin', 1)}"
    return client


@pytest.mark.slow
def test_problems_of_a_run_with_those_that_flipped(client: TestClient, uids: list[str]) -> None:
    first, second = uids
    assert client.get(f"{API}/runs/{first}").json()["uid"] == first
    path = f"{API}/runs/{first}/tasks/sums/problems"
    page = client.get(path, params={"limit": 20}).json()
    rest = client.get(path, params={"limit": 20, "after": page["next"]}).json()
    assert len(page["items"] + rest["items"]) == 24 and rest["next"] is None
    (lost,) = client.get(path, params={"flips_with": second, "flip": "lost"}).json()["items"]
    assert (lost["problem"]["problem_id"], lost["other"]["score"]) == ("p03", 0.0)
    assert client.get(path, params={"status": "nope"}).status_code == 422
    assert client.get(f"{API}/runs/{first}/tasks/none/problems").status_code == 404
    assert client.get(f"{API}/runs/none").status_code == 404


@pytest.mark.slow
def test_halves_of_surrogate_pairs_are_escapes(
    client: TestClient, service: Service, make_run: MakeRun
) -> None:
    half = "\ud83e"
    (outcome,) = add(service.ledger, [make_run("half", lambda _: [f"The answer is {half}."] + [RIGHT] * 3)])
    path = f"{API}/runs/{outcome.uid}"
    samples = client.get(f"{path}/samples", params={"task": "sums", "problem": "p00"})
    assert "The answer is \\ud83e." in samples.text
    assert samples.json()["items"][0]["answer"] == f"The answer is {half}."
    for rest in ("tasks/sums/problems", "results"):
        assert client.get(f"{path}/{rest}").status_code == 200
    pair = {"base": outcome.uid, "tuned": outcome.uid}
    assert client.get(f"{API}/compare", params=pair).status_code == 200


def test_texts_of_samples_are_read_and_gone_when_pruned(
    client: TestClient, uids: list[str], tmp_path: Path
) -> None:
    path, wanted = f"{API}/runs/{uids[0]}/samples", {"task": "sums", "problem": "p00"}
    items = client.get(path, params=wanted).json()["items"]
    assert [item["answer"] for item in items] == [RIGHT] * 4
    assert client.get(path, params=wanted | {"problem": "../../etc"}).status_code == 422
    (tmp_path / "one" / "out" / "m" / "sums" / "completions.jsonl").unlink()
    gone = client.get(path, params=wanted)
    assert gone.status_code == 410 and "is not kept" in gone.json()["detail"]


@pytest.mark.slow
def test_two_runs_are_compared_and_what_differs_is_a_conflict(
    client: TestClient, uids: list[str], service: Service, make_run: MakeRun
) -> None:
    record = client.get(f"{API}/compare", params={"base": uids[0], "tuned": uids[1]}).json()
    assert record["tasks"]["sums"]["difference"] == pytest.approx(-1 / 24)
    text = client.get("/compare", params={"base": uids[0], "tuned": uids[1]}).text
    (changed,) = re.findall(r"Problems that changed most</h2>\s*<ul>(.*?)</ul>", text, re.DOTALL)
    base, tuned = (f"m {uid[:8]}" for uid in uids)
    assert f'<td data-l="{base}" class="n">100.0</td><td data-l="{tuned}" class="n">95.8</td>' in text
    assert (
        "<li>sums: 100.0 → 95.8 (-4.2, 95% CI" in text and "4.2 points of it from more wrong answers" in text
    )
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', changed)]
    assert links and all(f"/runs/{uids[1]}/" in link and f"other={uids[0]}" in link for link in links)
    assert client.get(links[0]).text.count("<h2><a href=") == 2
    twice = client.get("/compare", params={"base": uids[0], "tuned": uids[0]}).text
    assert "Problems that changed most" not in twice
    assert client.get(f"{API}/compare", params={"base": uids[0]}).status_code == 422
    folder = make_run("other", lambda _: [RIGHT] * 4, n=24, suite=SUITE.replace("kind: math", "kind: exact"))
    (other,) = add(service.ledger, [folder])
    refused = client.get(f"{API}/compare", params={"base": uids[0], "tuned": other.uid or ""})
    assert refused.status_code == 409 and "sums" in refused.json()["detail"]


def test_runs_without_verdicts_are_compared_by_the_ledgers_scores_on_the_page_only(
    client: TestClient, service: Service
) -> None:
    first, second = (point.uid for point in track_history(service.ledger, "nightly").points[:2])
    gone = client.get(f"{API}/compare", params={"base": first, "tuned": second})
    assert gone.status_code == 410 and "verdicts are not kept" in gone.json()["detail"]
    text = client.get("/compare", params={"base": first, "tuned": second}).text
    assert "the paired difference by the scores in the ledger" in text and ">math</td>" in text


def test_the_gate_answers_as_the_command(admin: TestClient, service: Service) -> None:
    points = track_history(service.ledger, "nightly").points
    run = {"run": points[-1].uid}
    put = admin.put(f"{API}/tracks/nightly/base", json={"uid": points[0].uid, "reason": "release"})
    assert put.status_code == 204
    record = admin.get(f"{API}/gate", params=run).json()
    assert record["exit_code"] in (0, 1) and record["track"] == "nightly"


def test_remarks_have_their_author(writer: TestClient) -> None:
    path = f"{API}/tracks/nightly/annotations"
    made = writer.post(path, json={"at": "2024-10-05", "kind": "engine", "text": "new driver"})
    assert made.status_code == 201 and made.json()["by"] == "ci"
    assert [item["text"] for item in writer.get(path).json()] == ["new driver"]
    assert writer.post(path, json={"at": "soon", "text": "x"}).status_code == 422
    assert writer.post(f"{API}/tracks/none/annotations", json={"at": "1", "text": "x"}).status_code == 404
    denied = writer.put(f"{API}/tracks/nightly/base", json={"uid": "x", "reason": "y"})
    assert denied.status_code == 403 and "scope admin" in denied.json()["detail"]


def test_schedules_are_made_and_removed(admin: TestClient, service: Service) -> None:
    path, body = f"{API}/schedules/night", {"cron": "0 22 * * *", "job": {"suite": "nightly"}}
    made = admin.put(path, json=body)
    assert made.status_code == 200 and made.json()["created_by"] == "root"
    assert [item["name"] for item in admin.get(f"{API}/schedules").json()] == ["night"]
    for change in ({"cron": "soon"}, {"zone": "Mars"}, {"job": {"suite": "/etc/passwd"}}):
        assert admin.put(path, json=body | change).status_code == 422
    assert [admin.delete(path).status_code for _ in range(2)] == [204, 404]
    assert list_schedules(service.queue) == []


def test_an_answer_that_is_known_is_not_sent_again(client: TestClient) -> None:
    first = client.get(f"{API}/tracks")
    again = client.get(f"{API}/tracks", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    other = client.get(f"{API}/tracks", headers={"If-None-Match": '"x"'})
    assert other.status_code == 200 and other.json() == first.json()
    assert "etag" not in client.get("/").headers
