"""Results of agent harnesses as score files: faults of the infrastructure have no score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import genbench
from genbench.agents.logs.trials import read_agent_log
from genbench.analysis.estimate import estimate
from genbench.errors import InputError
from genbench.interop.logs.import_log import import_scores
from genbench.reports.browse import sample_rows
from genbench.reports.write import report_text


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


def mini(folder: Path, name: str, ending: str | None, patch: str, *commands: str) -> None:
    """One instance of mini-swe-agent 2.4.6. An ending of None: it died before its agent was made."""
    path = folder / "preds.json"
    predictions = json.loads(path.read_text()) if path.exists() else {}
    predictions[name] = {"model_name_or_path": "org/m", "instance_id": name, "model_patch": patch}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(predictions))
    if ending is None:
        return
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You can use bash."},
        {"role": "user", "content": f"Solve {name}."},
    ]
    for command in commands:
        call = {"id": "c", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
        extra = {"response": {"usage": {"completion_tokens": 7}}}
        messages += [
            {"role": "assistant", "content": "I look.", "tool_calls": [call], "extra": extra},
            {"role": "tool", "content": f"output of {command}"},
        ]
    record = {"info": {"exit_status": ending, "submission": patch}, "messages": messages}
    (folder / name).mkdir()
    (folder / name / f"{name}.traj.json").write_text(json.dumps(record))


def swebench_report(path: Path, **lists: list[str]) -> None:
    keys = ("resolved", "unresolved", "empty_patch", "error", "infra_failure", "incomplete")
    path.write_text(json.dumps({"total_instances": 9, **{f"{key}_ids": lists.get(key, []) for key in keys}}))


def statuses(source: Path) -> dict[str, tuple[Any, Any]]:
    log = read_agent_log(source, None, print)
    assert log is not None
    return {item.problem_id: (item.outcome.status, item.outcome.score) for item in log.samples}


def test_a_report_of_swebench_has_no_zero_for_a_broken_image(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "org__m.run1.json"
    swebench_report(
        path,
        resolved=["a"],
        unresolved=["b", "c"],
        empty_patch=["d"],
        error=["e", "f"],
        infra_failure=["c", "f"],
        incomplete=["g"],
    )
    log = read_agent_log(path, None, said.append)
    assert log is not None
    assert (log.tool, log.model) == ("swebench", "org__m")
    assert statuses(path) == {
        "a": (None, 1.0),
        "b": (None, 0.0),
        "c": ("unavailable", None),
        "d": ("no_answer", 0.0),
        "e": ("verifier_error", None),
        "f": ("unavailable", None),
    }
    assert len(said) == 1
    assert "1 instances have an empty patch" in said[0]


def test_how_its_agent_ended_decides_before_the_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    mini(folder, "x__r-1", "Submitted", "diff", "ls")
    mini(folder, "x__r-2", "Submitted", "diff", "ls")
    mini(folder, "x__r-3", "APIConnectionError", "", "ls")
    mini(folder, "x__r-4", "LimitsExceeded", "", "ls")
    mini(folder, "x__r-5", None, "")
    mini(folder, "x__r-6", "Submitted", "diff", "ls")
    mini(folder, "x__r-7", "Submitted", "bad diff", "ls")
    assert statuses(folder)["x__r-1"] == ("unscored", None)
    swebench_report(
        folder / "org__m.run1.json",
        resolved=["x__r-1"],
        empty_patch=["x__r-3", "x__r-4", "x__r-5"],
        error=["x__r-6", "x__r-7"],
    )
    place = folder / "logs" / "x__r-2"
    place.mkdir(parents=True)
    (place / "report.json").write_text(json.dumps({"x__r-2": {"resolved": False, "infra_failure": False}}))
    log = folder / "logs" / "x__r-7" / "run_instance.log"
    log.parent.mkdir()
    log.write_text(">>>>> Patch Apply Failed:\nerror")
    assert statuses(folder) == {
        "x__r-1": (None, 1.0),
        "x__r-2": (None, 0.0),
        "x__r-3": ("unavailable", None),
        "x__r-4": ("truncated", 0.0),
        "x__r-5": ("unavailable", None),
        "x__r-6": ("verifier_error", None),
        "x__r-7": (None, 0.0),
    }


def test_submissions_of_mle_bench(tmp_path: Path) -> None:
    facts = {"valid_submission": True, "submission_exists": True, "above_median": True}
    reports = [
        {"competition_id": "c1", "any_medal": True, **facts},
        {"competition_id": "c1", "any_medal": False, **facts},
        {"competition_id": "c2", "any_medal": False, **facts, "valid_submission": False},
    ]
    path, out = tmp_path / "2026-01-01T00-00-00-UTC_grading_report.json", tmp_path / "scores.jsonl"
    path.write_text(json.dumps({"total_runs": 3, "competition_reports": reports}))
    assert import_scores(path, out) == 3
    found = [(line["problem_id"], line["sample_index"], line["score"]) for line in lines(out)]
    assert found == [("c1", 0, 1.0), ("c1", 1, 0.0), ("c2", 0, 0.0)]
    assert lines(out)[2]["imported"]["status"] == "format_error"
    log = read_agent_log(path, "above_median", print)
    assert log is not None
    assert [item.outcome.score for item in log.samples] == [1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="no 'gold'; it has: any_medal, valid_submission"):
        read_agent_log(path, "gold", print)


def atif(job: Path, trial_name: str, *commands: str) -> None:
    """The trajectory of a trial, with the fields of ATIF 1.7."""
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": "Write a greeting."}]
    for command in commands:
        call = {"tool_call_id": "1", "function_name": "bash", "arguments": {"command": command}}
        steps.append(
            {
                "step_id": len(steps) + 1,
                "source": "agent",
                "message": "Next.",
                "reasoning_content": "Let me think.",
                "tool_calls": [call],
                "observation": {"results": [{"content": f"did {command}"}]},
                "metrics": {"completion_tokens": 5},
            }
        )
    place = job / trial_name / "agent"
    place.mkdir()
    (place / "trajectory.json").write_text(json.dumps({"schema_version": "ATIF-v1.7", "steps": steps}))


@pytest.mark.slow
def test_trials_become_runs_with_turns_that_can_be_shown_reported_and_compared(tmp_path: Path) -> None:
    for name, rewards in (("base", (0.0, 1.0, 0.0)), ("tuned", (1.0, 1.0, 1.0))):
        job = tmp_path / name / "terminal"
        for place, reward in enumerate(rewards):
            trial(job, f"t{place}__1", f"t{place}", reward)
            atif(job, f"t{place}__1", "ls", "git log --all" if reward else "pwd")
        trial(job, "t0__2", "t0", None, "APIConnectionError")
    runs = {}
    for name in ("base", "tuned"):
        record = genbench.import_logs([str(tmp_path / name)], tmp_path / "out" / name)
        assert record.left_out == {}
        (made,) = record.runs
        assert (made.tool, list(made.tasks)) == ("harbor", ["terminal"])
        runs[name] = Path(made.folder)
    rows = sample_rows(runs["tuned"], "terminal", "t0")
    first = [row for row in rows if row.sample_index == 0]
    assert [row.turn for row in first] == [0, 1, 2]
    assert "Write a greeting." in (first[0].prompt or "")
    assert "did ls" in (first[1].prompt or "")
    assert "git log --all" in first[1].answer
    assert first[1].trace.strip() == "Let me think."
    assert first[0].completion_tokens == 5
    results = json.loads((runs["base"] / "results.json").read_text())["tasks"]["terminal"]
    assert results["status_counts"] == {"correct": 1, "wrong": 2, "unavailable": 1, "unscored": 2}
    assert results["rollouts"]["touched"] == 1
    assert "a rollout: 2.0 turns, 10 tokens" in report_text([runs["base"]], "md")
    compared = genbench.compare(runs["base"], runs["tuned"], allow=["excluded"])
    assert compared.tasks["terminal"].difference == pytest.approx(2 / 3)


@pytest.mark.slow
def test_what_a_simulated_user_does_by_itself_is_not_in_the_model_s_turns(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "Hi! How can I help you today?"},
        {"role": "user", "content": None, "tool_calls": [{"id": "u", "name": "toggle", "arguments": {}}]},
        {"role": "tool", "content": "toggled", "requestor": "user"},
        {"role": "user", "content": "Nothing works."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "name": "find", "arguments": {"who": "me"}}],
            "usage": {"completion_tokens": 3},
        },
        {"role": "tool", "content": "found", "requestor": "assistant"},
        {"role": "assistant", "content": '{"score": 1, "status": null, "rollout": {}}'},
    ]
    simulation = {"task_id": "0", "trial": 0, "termination_reason": "user_stop", "messages": messages}
    simulation["reward_info"] = {"reward": 0.0}
    info = {"agent_info": {"llm": "org/m"}, "user_info": {}}
    path = tmp_path / "telecom.json"
    path.write_text(json.dumps({"info": info, "tasks": [], "simulations": [simulation]}))
    record = genbench.import_logs([str(path)], tmp_path / "out")
    rows = sample_rows(Path(record.runs[0].folder), "telecom", "0")
    assert record.runs[0].model == "org/m"
    greeted = "[assistant]\nHi! How can I help you today?\n\n[user]\nNothing works."
    assert rows[0].prompt == f"{greeted}\n\n[assistant]\n"
    assert (rows[1].prompt or "") == f"{rows[0].prompt}{rows[0].answer}\n\n[tool]\nfound\n\n[assistant]\n"
    assert '{"name": "find", "arguments": {"who": "me"}}' in rows[0].answer
    assert (rows[1].answer[:6], rows[1].status) == ("(text)", "wrong")  # no model scores itself


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
