"""Results of agent harnesses as score files: faults of the infrastructure have no score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.estimate import estimate
from genbench.errors import InputError
from genbench.exchange.import_log import import_scores


def trial(job: Path, name: str, task: str, reward: float | None, raised: str | None = None) -> None:
    """The result.json of one trial, with the fields of harbor 0.25."""
    folder = job / name
    folder.mkdir(parents=True)
    record: dict[str, Any] = {
        "task_name": task,
        "trial_name": name,
        "task_checksum": "0",
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None if raised is None else {"exception_type": raised, "exception_message": "x"},
    }
    (folder / "result.json").write_text(json.dumps(record))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_dead_trials_of_harbor_are_excluded_and_never_a_mean_of_zero(tmp_path: Path) -> None:
    job = tmp_path / "terminal"
    trial(job, "a-1", "a", None, "APIConnectionError")
    trial(job, "a-2", "a", 1.0)
    trial(job, "b-1", "b", 1.0)
    trial(job, "b-2", "b", 0.0, "AgentTimeoutError")
    trial(job, "c-1", "c", 1.0)
    trial(job, "c-2", "c", None, "VerifierTimeoutError")
    (job / "result.json").write_text("{}")  # of the job itself
    out = tmp_path / "scores.jsonl"
    assert import_scores(job, out) == 6
    found = {(line["problem_id"], line["sample_index"]): line for line in lines(out)}
    assert {line["task"] for line in found.values()} == {"terminal"}
    scores = {key: line["score"] for key, line in found.items()}
    assert scores == {
        ("a", 0): None,
        ("a", 1): 1.0,
        ("b", 0): 1.0,
        ("b", 1): 0.0,
        ("c", 0): 1.0,
        ("c", 1): None,
    }
    statuses = [line["imported"].get("status") for line in found.values()]
    assert statuses == ["unavailable", None, None, "truncated", None, "verifier_error"]
    task = estimate(out).tasks["terminal"]
    assert task.value == pytest.approx((1 + 0.5 + 1) / 3)  # harbor's own mean is 0.5
    assert task.excluded == 2


def test_simulations_of_tau2_keep_their_trials_and_their_endings(tmp_path: Path) -> None:
    rows = [
        ("0", 0, "user_stop", 1.0),
        ("0", 1, "max_steps", 0.0),
        ("1", 0, "infrastructure_error", 0.0),
        ("1", 1, "agent_stop", 1.0),
    ]
    simulations = [
        {"task_id": task, "trial": trial, "termination_reason": why, "reward_info": {"reward": reward}}
        for task, trial, why, reward in rows
    ]
    source, out = tmp_path / "retail.json", tmp_path / "scores.jsonl"
    source.write_text(json.dumps({"info": {}, "tasks": [], "simulations": simulations}))
    assert import_scores(source, out) == 4
    found = [(line["problem_id"], line["sample_index"], line["score"]) for line in lines(out)]
    assert found == [("0", 0, 1.0), ("0", 1, 0.0), ("1", 0, None), ("1", 1, 1.0)]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("job/x/result.json", "{}", "no 'task_name'"),
        ("job/x/result.json", "[", "not valid JSON"),
        ("job/x/other.json", "{}", "no job of harbor"),
        ("t.json", '{"simulations": [{"task_id": "1"}]}', "no 'task_id' or no 'termination_reason'"),
        (
            "t.json",
            '{"simulations": [{"task_id": "1", "termination_reason": "x", "reward_info": {"reward": 2}}]}',
            "'reward' is 2, wanted a number up to 1",
        ),
    ],
)
def test_what_is_no_result_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    source = tmp_path / name.split("/", maxsplit=1)[0]
    with pytest.raises(InputError, match=said):
        import_scores(source, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
