"""Judged runs against a real HTTP server that misbehaves on demand."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import scipy.stats

from genbench import pipeline
from genbench.errors import ConfigError, EngineError
from genbench.runs.execution.preflight import check_suite
from tests import warm

from .conftest import COMMIT, Case, Server


def _right_if_even(prompt: str) -> str:
    found = re.search(r"What is (\d+)\?", prompt)
    return "EQUAL" if found is None or int(found[1]) % 2 == 0 else "DIFFERENT"


def _verdicts(case: Case) -> list[dict[str, Any]]:
    text = (case.path / "runs" / "m" / "free" / "verdicts.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_labels_become_scores_and_the_judge_is_named_in_the_results(judged: Case, server: Server) -> None:
    judged.write()
    server.grade = _right_if_even
    report = judged.run()
    task = report.results["m"].to_json()["tasks"]["free"]
    assert task["value"] == 0.5 and task["status_counts"] == {"correct": 10, "wrong": 10}
    assert (
        task["judge"]["engine"] | {"proven": False, "version": "9.9", "revision_declared": COMMIT}
        == (task["judge"]["engine"])
    )
    assert server.requests[0]["structured_outputs"] == {"choice": ["EQUAL", "DIFFERENT"]}
    assert report.failures == []


@pytest.mark.slow
def test_a_faulty_server_loses_nothing(judged: Case, server: Server) -> None:
    judged.write(n=20, k=2)
    server.grade = _right_if_even
    kinds = ["429", "500", "503", "stall", "broken", "half", "cut", "other"]
    server.faults = {number: kinds[number % len(kinds)] for number in range(0, 40, 2)}
    report = judged.run()
    assert report.failures == []
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 20, "wrong": 20}
    assert len(server.requests) == 40 + 20
    assert max(server.answered.values()) == 1


@pytest.mark.slow
def test_a_refusal_is_unscored_fails_the_run_and_is_asked_again(judged: Case, server: Server) -> None:
    judged.write()
    declined = re.compile(r"What is [37]\?")

    def grade(prompt: str) -> str:
        return "I would rather not." if declined.search(prompt) and "said 0" not in prompt else "EQUAL"

    server.grade = grade
    report = judged.run()
    task = report.results["m"].to_json()["tasks"]["free"]
    assert task["status_counts"] == {"correct": 18, "unscored": 2}
    assert task["value"] == 1.0 and task["bounds"] == [0.9, 1.0]
    assert report.failures == [
        "m: free: 2 of 20 samples are unscored (no verdict), more than the 2.0% that "
        "judge.max_unscored_share allows; run again to judge only these"
    ]
    asked = len(server.requests)
    server.grade = lambda prompt: "EQUAL"
    again = judged.run()
    assert again.failures == [] and len(server.requests) == asked + 2
    assert again.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 20}


@pytest.mark.slow
def test_a_ceiling_stops_in_order_and_says_what_is_ungraded(judged: Case, server: Server) -> None:
    judged.write(n=10, k=1)
    server.grade = lambda prompt: "EQUAL"
    report = judged.run("judge.ceiling.calls=4")
    task = report.results["m"].to_json()["tasks"]["free"]
    assert len(server.requests) == 4
    assert task["status_counts"] == {"correct": 4, "unscored": 6}
    assert task["judge"]["ceiling"] == "judge.ceiling.calls: 4"
    [failure] = report.failures
    assert failure.endswith("judge.ceiling.calls: 4 was reached: raise it and run again to judge only these")
    again = judged.run("judge.ceiling.calls=10")
    assert again.failures == [] and len(server.requests) == 10
    assert len({str(body["messages"]) for body in server.requests}) == 10


def test_a_ceiling_of_cost_counts_four_characters_a_token(judged: Case, server: Server) -> None:
    judged.write(n=10, k=1)
    server.grade = lambda prompt: "EQUAL"
    judged.run("judge.ceiling.cost=0.001", "judge.ceiling.price=1")  # a thousand tokens
    chars = [len(body["messages"][0]["content"]) + len("EQUAL") for body in server.requests]
    assert sum(chars) <= 4_000 + max(chars) and 3 <= len(chars) < 10


def test_a_ceiling_counts_replies_without_a_verdict(judged: Case, server: Server) -> None:
    judged.write(n=10, k=1)
    server.grade = lambda prompt: "I would rather not."
    report = judged.run("judge.ceiling.calls=7")
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"unscored": 10}
    assert len(server.requests) == 7


def test_what_replies_might_take_refuses_nothing_that_they_do_not(judged: Case, server: Server) -> None:
    """Ten questions at once, of 2,000 new tokens each, under a ceiling that their short replies fit."""
    (judged.path / "long.txt").write_text("{question} {reference} {answer}\n")
    digest = hashlib.sha256((judged.path / "long.txt").read_bytes()).hexdigest()
    (judged.path / "long.yaml").write_text(
        f"name: long\nprompt: long.txt\nprompt_digest: sha256:{digest}\nform: label\n"
        "labels: {EQUAL: 1, DIFFERENT: 0}\ndecoding: {temperature: 0, top_p: 1, max_tokens: 2000}\n"
    )
    judged.write(n=10, k=1, judge="long.yaml")
    server.grade = lambda prompt: "EQUAL"
    report = judged.run("judge.ceiling.tokens=3000")
    assert report.failures == []
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 10}


def test_a_check_says_what_the_judge_will_be_asked(judged: Case) -> None:
    judged.write(n=10, k=2)
    suite = str(judged.path / "suite.yaml")
    options = pipeline.RunOptions(suite=suite, overrides=("judge.ceiling.calls=19",))
    found = [item for item in check_suite(options) if item.what == "judge calls"]
    assert any("judge free_form, at most 20 calls and about" in item.detail for item in found)
    [warning] = [item for item in found if item.detail.startswith("more than judge.ceiling.calls: 19 allows")]
    assert warning.state == "warning"


def test_a_judge_that_prefers_long_answers_is_seen(judged: Case, server: Server) -> None:
    judged.write(n=10, k=1)
    lines = (judged.path / "answers.jsonl").read_text().splitlines()
    longer = [json.loads(line) for line in lines]
    for place, line in enumerate(longer):
        line["text"] += " word" * place
    (judged.path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in longer))
    server.grade = lambda prompt: "EQUAL" if prompt.count(" word") > 6 else "DIFFERENT"
    server.faults = {2: "refusal"}
    bias = judged.run().results["m"].to_json()["tasks"]["free"]["judge"]["bias"]
    lengths = [len(str(line["text"]).strip()) for line in longer]
    assert bias["length"] == pytest.approx(scipy.stats.spearmanr([0] * 5 + [1] * 5, lengths).statistic)
    assert bias["samples"] == 10 and bias["unreadable"] == 1 and bias["is_judged_model"] is False


def test_the_share_of_unscored_samples_is_the_suites_to_set(judged: Case, server: Server) -> None:
    judged.write(k=1)
    server.grade = lambda prompt: "I would rather not." if "What is 3?" in prompt else "EQUAL"
    assert judged.run("judge.max_unscored_share=0.1").failures == []


def test_a_judge_that_declines_once_is_asked_again(judged: Case, server: Server) -> None:
    judged.write()
    server.faults = {3: "refusal", 7: "refusal"}
    report = judged.run()
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 20}
    assert len(server.requests) == 22


def test_an_answer_that_the_judge_never_judges_is_wrong_and_not_excluded(
    judged: Case, server: Server
) -> None:
    judged.write()
    server.grade = lambda prompt: "I would rather not." if "It is 3, said" in prompt else "EQUAL"
    report = judged.run()
    assert report.failures == []
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 18, "wrong": 2}
    why = {verdict["detail"]["why"] for verdict in _verdicts(judged) if verdict["status"] == "wrong"}
    assert len(why) == 1 and "none on this one: the reply is not of the form" in why.pop()


def test_an_answer_longer_than_the_judges_context_is_judged_without_its_middle(
    judged: Case, server: Server
) -> None:
    judged.write(n=2, k=1)
    lines = (judged.path / "answers.jsonl").read_text()
    (judged.path / "answers.jsonl").write_text(lines.replace("It is 1,", "It is 1, " + "word " * 48_000))
    server.longest = 3000
    report = judged.run()
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 2}
    (cut,) = [v["detail"] for v in _verdicts(judged) if "answer_cut_to_chars" in v["detail"]]
    assert 1000 < cut["answer_cut_to_chars"] < 3000


@pytest.mark.slow
def test_scoring_again_asks_nothing(judged: Case, server: Server) -> None:
    judged.write()
    server.grade = _right_if_even
    first = judged.run()
    asked = len(server.requests)
    scored = pipeline.score(judged.path / "runs" / "m", again=True, quiet=True)
    assert len(server.requests) == asked
    assert (
        scored.results["m"].to_json()["tasks"]["free"]["value"]
        == first.results["m"].to_json()["tasks"]["free"]["value"]
    )


@pytest.mark.slow
def test_a_run_cut_off_among_its_judgments_asks_only_for_the_others(judged: Case, server: Server) -> None:
    judged.write()
    judged.run()
    folder = judged.path / "runs" / "m" / "free"
    kept = (folder / "judgments.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "judgments.jsonl").write_bytes(b"".join(kept[:12]) + kept[12][:20])
    (folder / "verdicts.jsonl").unlink()
    judged.run()
    assert len(server.requests) == 20 + 8


def test_equal_answers_to_one_problem_are_judged_once(judged: Case, server: Server) -> None:
    judged.write(n=3, k=4)
    lines = (judged.path / "answers.jsonl").read_text()
    (judged.path / "answers.jsonl").write_text(re.sub(r"said \d times", "said often", lines))
    judged.run()
    assert len(server.requests) == 3 and len(_verdicts(judged)) == 12


@pytest.mark.slow
def test_a_changed_revision_makes_the_verdicts_again(judged: Case, server: Server) -> None:
    judged.write()
    judged.run()
    judged.run(f"judge.server.revision={COMMIT[::-1]}")
    assert len(server.requests) == 40


@pytest.mark.slow
def test_a_server_at_another_address_is_the_same_judge(judged: Case, server: Server) -> None:
    judged.write(n=3, k=1)
    judged.run()
    judged.run(f"judge.server.base_url={server.url.replace('127.0.0.1', 'localhost')}")
    assert len(server.requests) == 3


def test_both_orders_are_asked_and_a_flip_is_a_tie(judged: Case, server: Server) -> None:
    judged.write(n=8, k=1, judge="pairwise", reference=lambda i: f"The baseline says {i}.")

    def grade(prompt: str) -> str:
        if "The baseline says" not in prompt:
            return "A"
        ours_first = prompt.index("It is") < prompt.index("The baseline says")
        number = int(re.findall(r"What is (\d+)\?", prompt)[0])
        won = {0: True, 1: False}.get(number)
        if won is None:
            return "A"
        return "A" if won == ours_first else "B"

    server.grade = grade
    task = judged.run().results["m"].to_json()["tasks"]["free"]
    assert len(server.requests) == 16
    assert {v["problem_id"]: v["extracted"] for v in _verdicts(judged)} == {
        "q0": "win",
        "q1": "loss",
        **{f"q{i}": "tie" for i in range(2, 8)},
    }
    pairs = task["judge"]["pairwise"]
    assert pairs["win_rate"] == task["value"] == 0.5
    assert pairs["flipped"] == 6 and pairs["position_bias"] == {"first": 6 / 8, "second": 0.0}


@pytest.mark.slow
def test_a_rule_goes_first_and_both_accuracies_are_kept(judged: Case, server: Server) -> None:
    judged.write(
        n=4,
        k=1,
        options=", cascade: [exact, judge]",
        reference=lambda i: [f"It is {i}, said 0 times."] if i < 1 else [f"number {i}"],
    )
    server.grade = _right_if_even
    task = judged.run().results["m"].to_json()["tasks"]["free"]
    assert len(server.requests) == 3
    accuracy = task["judge"]["accuracy"]
    assert {name: item["value"] for name, item in accuracy.items()} == {"rule": 0.25, "cascade": 0.5}
    assert accuracy["cascade"]["ci"] == task["ci"]
    assert task["judge"]["decided_by"] == {"rule": 1, "judge": 3}


@pytest.mark.slow
def test_the_key_comes_from_the_environment_and_is_written_nowhere(
    judged: Case, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.write(more=", api_key_env: GRADER_KEY")
    monkeypatch.delenv("GRADER_KEY", raising=False)
    with pytest.raises(ConfigError, match="the variable GRADER_KEY is not set; export GRADER_KEY="):
        judged.run()
    monkeypatch.setenv("GRADER_KEY", "sesame-8231")
    server.every = "echo"
    report = judged.run()
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"]["unscored"] == 20
    why = [verdict["detail"]["why"] for verdict in _verdicts(judged) if verdict["status"] == "unscored"]
    assert "no good: Bearer ***" in why[0]
    assert server.keys == {"Bearer sesame-8231"}
    for file in Path(judged.path).rglob("*"):
        assert not file.is_file() or b"sesame-8231" not in file.read_bytes()


def test_a_server_that_is_gone_stops_the_run_and_says_what_to_do(judged: Case, server: Server) -> None:
    judged.write(retries=0)
    with pytest.raises(EngineError, match=r"mend judge\.server\.base_url"):
        judged.run("judge.server.base_url=http://127.0.0.1:9/v1")


def test_a_model_that_is_not_served_is_refused_with_those_that_are(judged: Case, server: Server) -> None:
    judged.write()
    with pytest.raises(ConfigError, match="does not serve 'other'; it serves: grader"):
        judged.run("judge.server.model=other")


@pytest.mark.slow
@pytest.mark.parametrize("revision", ["main", "null", "v1.2", "abc1234"])
def test_a_revision_that_can_move_is_refused(judged: Case, server: Server, revision: str) -> None:
    judged.write()
    with pytest.raises(ConfigError, match="is not pinned"):
        judged.run(f"judge.server.revision={revision}")
    report = judged.run(f"judge.server.revision={revision}", "judge.allow_unpinned=true")
    assert "is unpinned" in report.results["m"].to_json()["warnings"][0]
    assert report.results["m"].to_json()["tasks"]["free"]["judge"]["unpinned"] is True


@pytest.mark.slow
def test_a_killed_run_asks_for_no_kept_judgment_again(judged: Case, server: Server) -> None:
    judged.write(n=15, k=2, more=", concurrency: 2")

    def slowly(prompt: str) -> str:
        time.sleep(0.1)
        return "EQUAL"

    server.grade = slowly
    words = ("run", "suite.yaml", "--run-dir", "runs", "--responses", "answers.jsonl")
    process = warm.Popen(words, cwd=judged.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = judged.path / "runs" / "m" / "free" / "judgments.jsonl"
    end = time.monotonic() + 60
    while time.monotonic() < end and not (kept.exists() and kept.read_bytes().count(b"\n") >= 6):
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = kept.read_bytes().count(b"\n")
    assert 6 <= before < 30
    # The first server may still read what the killed run had sent.
    other = Server()
    try:
        report = judged.run(f"judge.server.base_url={other.url}")
    finally:
        other.close()
    assert len(other.requests) == 30 - before
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 30}


@pytest.mark.slow
def test_a_judge_that_cannot_start_is_started_once_for_all_samples(judged: Case, server: Server) -> None:
    judged.write(retries=1)
    judged.run()
    for name in ("judgments", "verdicts"):
        (judged.path / "runs" / "m" / "free" / f"{name}.jsonl").unlink()
    server.down, server.gets = True, 0
    with pytest.raises(EngineError, match="status 503"):
        judged.run()
    assert server.gets == 2
    server.down = False
    assert judged.run().failures == []


def _judges_line(case: Case) -> list[str]:
    options = pipeline.RunOptions(suite=str(case.path / "suite.yaml"), run_dir=case.path / "runs")
    return [str(line) for line in check_suite(options) if line.what == "judges"]


@pytest.mark.slow
def test_check_asks_the_judges_server_as_it_asks_model_servers(
    judged: Case, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged.write(n=2, k=1)
    answers, tried = _judges_line(judged)
    assert answers == f"ok       judges: grader at {judged.url} answers"
    assert tried.startswith("warning  judges: ") and tried.endswith("it gives the same score to all of them")
    assert len(server.requests) == 3
    judged.write(n=2, k=1, retries=0)
    server.down = True
    (line,) = _judges_line(judged)
    assert line.startswith("warning  judges: ") and judged.url in line
    monkeypatch.setattr("genbench.runs.execution.preflight._ANSWER_S", 0.2)
    judged.write(n=2, k=1)
    (line,) = _judges_line(judged)
    assert "did not answer within 0.2 s; it must when the first answer is judged" in line
    server.down = False
    suite = judged.path / "suite.yaml"
    suite.write_text(suite.read_text().replace("model: grader", "model: another"))
    (line,) = _judges_line(judged)
    assert line.startswith("error    judges: ") and "another" in line
