from __future__ import annotations

import json
import subprocess

import pytest

import genbench

from .conftest import TASKS, TOTAL, Place, lines, texts, verdicts

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_a_run_leaves_every_sample_once_with_its_verdict(reference: Place) -> None:
    folder = reference.path / "whole" / "tuned"
    assert len(texts(folder)) == TOTAL == 50 * 4 + 50 * 2 + 20
    assert set(verdicts(folder)) == set(texts(folder))
    report = json.loads((reference.path / "report.json").read_text())
    tasks = report["models"]["tuned"]["tasks"]
    assert {name: (task["n"], task["k"]) for name, task in tasks.items()} == {
        "arithmetic": (50, 4),
        "choice": (50, 2),
        "picks": (20, 1),
    }
    for task in tasks.values():
        assert task["ci"][0] <= task["value"] <= task["ci"][1]
        assert sum(task["status_counts"].values()) == task["samples"]


def test_scores_are_the_means_of_the_verdict_lines(reference: Place) -> None:
    report = json.loads((reference.path / "report.json").read_text())
    scores = [v["score"] for v in lines(reference.path / "whole" / "tuned", "arithmetic", "verdicts")]
    assert report["models"]["tuned"]["tasks"]["arithmetic"]["value"] == pytest.approx(sum(scores) / 200)


def test_the_manifest_says_all_that_decoding_depends_on(reference: Place) -> None:
    manifest = json.loads((reference.path / "whole" / "tuned" / "manifest.json").read_text())
    decoding = manifest["terms"]["decoding"]["arithmetic"]
    assert (
        decoding | {"temperature": 0.8, "top_p": 0.95, "top_k": 0, "min_p": 0.0, "max_tokens": 64} == decoding
    )
    assert manifest["terms"]["engine"]["version"].startswith("0.")
    assert manifest["model_identity"].startswith("sha256:")
    assert manifest["attempts"][0]["drawn"] == TOTAL
    assert manifest["reasoning"]["format"] == "think"


def test_the_engine_writes_to_its_log_alone(reference: Place) -> None:
    log = (reference.path / "whole" / "tuned" / "engine.log").read_text()
    assert "vllm" in log.lower()


def test_a_finished_run_draws_nothing_and_says_so(reference: Place) -> None:
    done = reference.run("run", "suite.yaml", "--run-dir", "whole")
    assert done.returncode == 0, done.stderr
    assert f"all {TOTAL} samples are on disk, nothing is drawn" in done.stderr
    assert f"(0 drawn now, {TOTAL:,} on disk)" in done.stdout


def test_a_second_run_and_a_limited_one_draw_the_same_texts(reference: Place) -> None:
    whole = texts(reference.path / "whole" / "tuned")
    few_slots = ("--run-dir", "limited", "--set", "engine.max_num_seqs=16")
    reference.results(*few_slots, "--limit", "10")
    limited = texts(reference.path / "limited" / "tuned")
    assert len(limited) == 10 * 7
    assert limited.items() <= whole.items()
    report = reference.results(*few_slots)
    assert texts(reference.path / "limited" / "tuned") == whole
    assert report["models"]["tuned"]["totals"]["drawn_now"] == TOTAL - 70
    # The same run under the same seed in other batches: nothing moves.
    done = reference.run("noise", "whole/tuned", "limited/tuned", "--same-seed", "--json")
    assert done.returncode == 0, done.stderr
    for task in json.loads(done.stdout)["tasks"].values():
        assert task["difference"] == 0 and task["changed_samples"] == 0


def test_another_seed_draws_other_texts_and_is_not_mixed_in(reference: Place) -> None:
    done = reference.run("run", "suite.yaml", "--run-dir", "whole", "--set", "decoding.seed=4")
    assert done.returncode == 2
    assert "run_seed: 3 -> 4" in done.stderr


def test_scoring_again_without_an_engine_gives_the_same_verdicts(reference: Place) -> None:
    folder = reference.path / "whole" / "tuned"
    before = verdicts(folder)
    done = reference.run("score", "whole/tuned", "--again", "--json")
    assert done.returncode == 0, done.stderr
    assert verdicts(folder) == before
    assert "engine" not in done.stderr


def test_ready_responses_of_the_same_texts_score_the_same(reference: Place) -> None:
    folder = reference.path / "whole" / "tuned"
    keys = ("task", "problem_id", "sample_index", "text", "finish_reason", "choices")
    rows = [
        {key: r[key] for key in keys if key in r}
        for task in TASKS
        for r in lines(folder, task, "completions")
    ]
    (reference.path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = reference.results("--responses", "r.jsonl", "--run-dir", "replayed")
    assert verdicts(reference.path / "replayed" / "tuned") == verdicts(folder)
    assert report["models"]["tuned"]["tasks"]["choice"]["tokens"]["completion"] is None


def test_an_engine_that_cannot_start_is_one_message_with_its_log(reference: Place) -> None:
    done: subprocess.CompletedProcess[str] = reference.run(
        "run", "suite.yaml", "--run-dir", "broken", "--set", "engine.quantization=awq"
    )
    assert done.returncode == 1
    assert "the engine could not be started" in done.stderr
    assert "last lines of broken/tuned/engine.log" in done.stderr
    assert "Traceback" not in done.stderr.split("last lines of")[0]


def test_budgets_of_a_stored_run_bound_what_is_drawn_with_that_limit(reference: Place) -> None:
    tasks = ("arithmetic", "choice")
    found = genbench.budgets(reference.path / "whole" / "tuned", tasks=tasks, at=[32, 48])
    whole = texts(reference.path / "whole" / "tuned", tasks)
    for place, budget in enumerate((32, 48)):
        only = [argument for task in tasks for argument in ("--task", task)]
        report = reference.results(
            "--run-dir", f"at{budget}", "--set", f"decoding.max_tokens={budget}", *only
        )
        drawn = texts(reference.path / f"at{budget}" / "tuned", tasks)
        assert all(whole[key].startswith(text) for key, text in drawn.items())
        for task in tasks:
            point = found.tasks[task].points[place]
            assert point.low <= report["models"]["tuned"]["tasks"][task]["value"] <= point.high
            assert point.low < point.high or budget > 32  # some answers had begun
