"""Answers that nothing scores: drawn, stored, compared by what changed, and shown night by night."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from genbench.analysis.comparison.compare import compare
from genbench.cli import app
from genbench.errors import ConfigError, InputError
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.reports.write import report_text
from genbench.suite.shipped import folder as shipped
from genbench.suite.suitefile import read_suite
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from tests.known import known
from tests.ready_runs import MakeRun, as_another_run

SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: none
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 1
"""
N = 12
UIDS = [f"{night:08}-0000-0000-0000-000000000000" for night in range(3)]


@pytest.fixture
def nights(make_run: MakeRun) -> list[Path]:
    """Three nights: the second changes every third answer, the third is the second again."""

    def said(night: int) -> Any:
        return lambda i: [f"Answer {i}" + (" anew" if night and i % 3 == 0 else "")]

    found = [make_run(f"n{night}", said(night), n=N, suite=SUITE) for night in range(3)]
    for night, path in enumerate(found):
        track = {"name": "vibes", "kind": "night", "position": 20_000 + night}
        uid = UIDS[night]

        def change(record: dict[str, Any], track: dict[str, Any] = track, uid: str = uid) -> None:
            record.update(track={**track, "role": "point"}, uid=uid)

        as_another_run(path, change)
    return found


@pytest.mark.slow
def test_nothing_of_it_is_scored_failed_or_excluded_as_a_defect(nights: list[Path]) -> None:
    results = json.loads((nights[0] / "results.json").read_text())
    task = results["tasks"]["sums"]
    assert task["value"] is None and "nothing scores them" in task["missing"]
    assert task["status_counts"] == {"unrated": N} and results["failed"] == []
    verdicts = (nights[0] / "sums" / "verdicts.jsonl").read_text().splitlines()
    assert {json.loads(line)["score"] for line in verdicts} == {None} and len(verdicts) == N
    shown = CliRunner().invoke(app, ["show", str(nights[0])]).output
    assert "not scored" in shown and "missing" not in shown and "excluded" not in shown
    assert CliRunner().invoke(app, ["score", str(nights[0])]).exit_code == 0
    assert json.loads((nights[0] / "results.json").read_text())["tasks"]["sums"]["value"] is None


def test_compare_counts_changed_answers_and_no_gate_decides(nights: list[Path]) -> None:
    found = compare(nights[0], nights[1])
    assert found.tasks == {} and known(found.texts["sums"]).changed == 4
    assert compare(nights[1], nights[2]).texts["sums"].changed == 0
    said = CliRunner().invoke(app, ["compare", str(nights[0]), str(nights[1])])
    assert said.exit_code == 0 and "sums: not scored; 4 of 12 answers changed" in said.output
    with pytest.raises(InputError, match="nothing scores the answers, so no gate can decide"):
        compare(nights[0], nights[1], gate=True)


def test_a_verdict_that_hides_as_unrated_in_a_scored_task_is_seen(make_run: MakeRun) -> None:
    runs = [make_run(name, lambda i: ["\\boxed{3}"] * 4) for name in ("b", "t")]
    path = runs[1] / "sums" / "verdicts.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0] |= {"score": None, "status": "unrated"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(Exception, match="1 verdicts whose score does not fit their status"):
        compare(*runs)


@pytest.mark.slow
def test_the_report_shows_answers_side_by_side_and_marks_changed_ones(
    nights: list[Path], tmp_path: Path
) -> None:
    record = json.loads(report_text(nights, "json"))
    (shown,) = record["texts"]
    assert [len(item["answers"]) for item in shown["prompts"]] == [3] * N
    marks = [[answer["changed"] for answer in item["answers"]] for item in shown["prompts"]]
    assert marks == [[False, i % 3 == 0, False] for i in range(N)]
    assert shown["prompts"][3]["note"] == "2"
    page = tmp_path / "page.html"
    assert CliRunner().invoke(app, ["report", *map(str, nights), "-o", str(page)]).exit_code == 0
    text = page.read_text()
    assert text.count("<mark>changed</mark>") == 4 and "Answer 3 anew" in text


@pytest.mark.parametrize("key", ["gating: true", "margin: 2", "metrics: [avg@k]"])
def test_what_needs_scores_is_refused(tmp_path: Path, key: str) -> None:
    (tmp_path / "suite.yaml").write_text(f"{SUITE}    {key}\n")
    with pytest.raises(ConfigError, match=f"'{key.partition(':')[0]}' needs scores"):
        read_suite(tmp_path / "suite.yaml")


@pytest.fixture
def client(nights: list[Path], tmp_path: Path) -> Iterator[TestClient]:
    with open_ledger(tmp_path / "l.sqlite3") as ledger, open_queue(tmp_path / "l.sqlite3") as queue:
        add(ledger, nights)
        own = Service(ledger=ledger, queue=queue, runs=tmp_path)
        with TestClient(make_app(own), base_url="http://127.0.0.1:8321") as opened:
            opened.headers["Accept"] = "text/html"
            yield opened


@pytest.mark.slow
def test_a_track_shows_its_nights_next_to_each_other(client: TestClient) -> None:
    track = client.get("/tracks/vibes").text
    assert '<a href="/tracks/vibes/texts/sums">sums side by side</a>' in track
    page = client.get("/tracks/vibes/texts/sums").text
    assert page.index("2024-10-04") < page.index("2024-10-05") < page.index("2024-10-06")
    assert page.count("<mark>changed</mark>") == 4 and page.count("Answer 5<") == 3
    newest = client.get("/tracks/vibes/texts/sums?nights=2").text
    assert "<mark>" not in newest and "2024-10-04" not in newest
    assert client.get("/tracks/vibes/texts/other").status_code == 404
    assert client.get("/tracks/none/texts/sums").status_code == 404


def test_two_runs_are_shown_next_to_each_other(client: TestClient) -> None:
    compared = client.get(f"/compare?base={UIDS[0]}&tuned={UIDS[1]}").text
    assert "sums is not scored: 4 of 12 answers changed" in compared
    link = f"/compare/texts?base={UIDS[0]}&amp;tuned={UIDS[1]}&amp;task=sums"
    assert link in compared and link in client.get(f"/runs/{UIDS[1]}").text
    page = client.get(link.replace("&amp;", "&")).text
    assert page.count("<mark>changed</mark>") == 4 and "Look for" in page


def test_the_shipped_vibe_suite_has_ten_groups_and_its_rules_check_its_own_prompts() -> None:
    suites = shipped("suites")

    def rows(name: str) -> dict[str, Any]:
        lines = (suites / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return {row["id"]: row for row in map(json.loads, lines)}

    vibe, says, form = rows("vibe"), rows("vibe_says"), rows("vibe_form")
    groups = [row["group"] for row in vibe.values()]
    assert len(vibe) >= 20 and len(set(groups)) == 10 and min(map(groups.count, set(groups))) >= 2
    assert all(row["note"] for row in vibe.values())
    assert all(vibe[name]["prompt"] == row["prompt"] for own in (says, form) for name, row in own.items())
    words = [row for row in says.values() if row["group"] == "system"]
    assert len(words) == 3
    for row in words:
        (word,) = row["says"]
        assert row["prompt"][0]["role"] == "system" and word in row["prompt"][0]["content"]
        assert word not in row["prompt"][1]["content"]
