"""Adaptive runs of ready responses: rounds, decisions, continuing, shards, and what is refused."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.engines.placement import EngineKeeper
from genbench.errors import ConfigError, InputError, InterruptedRunError, NotComparableError, RunFolderError
from genbench.judges.session import JudgeSession
from genbench.pipeline import RunOptions, merge
from genbench.runs.event_loop import StopSwitch
from genbench.runs.execution.adaptive import (
    AdaptiveRounds,
    ScoresOnDisk,
    adaptive_job,
    shard_folders,
    without_base,
)
from genbench.runs.execution.job import RunContext
from genbench.runs.execution.job_preparation import default_folder, make_jobs
from genbench.runs.execution.run_manifest import RunManifest
from genbench.runs.inputs import open_suite
from genbench.runs.options import check_options
from genbench.store.folder import RunFolder
from genbench.tasks.loaded_task import VerifiedTask
from tests.adaptive_runs import SUITE, K, N, adaptive_options, draw_base, run_adaptive, write_responses
from tests.manifests import manifest
from tests.ready_runs import run_bare


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite and ready responses of an unchanged and of a worse tuned model."""
    place = tmp_path_factory.mktemp("adaptive")
    draw_base(place)
    write_responses(place / "same.jsonl", "tuned", K, seed=5)
    write_responses(place / "worse.jsonl", "tuned", K, {"sums": 0.12}, seed=5)
    return place


@pytest.fixture(scope="module")
def base(place: Path) -> Path:
    return place / "stored" / "base"


@pytest.fixture(scope="module")
def same(place: Path, base: Path) -> Path:
    """The run folder of the unchanged model."""
    return run_adaptive(place, base, place / "same.jsonl", "same").folders["tuned"]


@pytest.fixture(scope="module")
def worse(place: Path, base: Path) -> Path:
    """The run folder of the worse model."""
    return run_adaptive(place, base, place / "worse.jsonl", "worse").folders["tuned"]


def state(folder: Path) -> dict[str, Any]:
    """Return how far the adaptive run in a folder is, as JSON."""
    found = RunFolder(folder).require_manifest().adaptive
    assert found is not None
    return found.state.to_json()


def lines(folder: Path, task: str, kind: str) -> list[dict[str, Any]]:
    path = folder / task / f"{kind}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def keys(folder: Path, task: str) -> list[tuple[str, int]]:
    return [(line["problem_id"], line["sample_index"]) for line in lines(folder, task, "completions")]


@pytest.mark.slow
def test_a_worse_model_is_found_before_all_samples_are_drawn(worse: Path) -> None:
    found = state(worse)
    assert found["is_over"]
    assert found["decisions"]["sums"] == "REGRESSED"
    assert found["looks"][-1]["verdict"] == "REGRESSED"
    assert 0 < len(keys(worse, "sums")) < N["sums"] * K["sums"]


@pytest.mark.slow
def test_sure_problems_are_drawn_a_quarter_as_often(same: Path) -> None:
    record = RunFolder(same).require_manifest().adaptive
    assert record is not None
    plan = record.plan.tasks["sums"]
    look = record.state.reached["sums"]
    step = plan.steps[look - 1]
    few = step if look == 4 else max(1, step // 4)
    counts = dict.fromkeys((f"p{i:03}" for i in range(N["sums"])), 0)
    for problem, _ in keys(same, "sums"):
        counts[problem] += 1
    assert len(plan.sure) > 50
    assert {counts[problem] for problem in plan.sure} == {few}
    assert {n for problem, n in counts.items() if problem not in plan.sure} == {step}


@pytest.mark.slow
def test_a_task_of_single_samples_is_drawn_problem_by_problem(worse: Path) -> None:
    found = state(worse)
    record = RunFolder(worse).require_manifest().adaptive
    assert record is not None
    plan = record.plan.tasks["singles"]
    assert plan.by_problems
    assert plan.steps == (6, 12, 18, 24)
    assert len(keys(worse, "singles")) == plan.steps[found["reached"]["singles"] - 1]


@pytest.mark.slow
def test_the_plan_names_base_looks_levels_and_sure_problems_before_the_first_draw(same: Path) -> None:
    record = RunFolder(same).require_manifest().adaptive
    assert record is not None
    plan = record.plan
    assert (plan.base.model, len(plan.base.digest)) == ("base", 32)
    assert plan.tasks["sums"].steps == (1, 2, 3, 4)
    assert plan.tasks["sums"].fractions == (0.25, 0.5, 0.75, 1.0)
    assert plan.tasks["sums"].alpha == pytest.approx(0.05 / 4)
    assert (plan.drop_spending, plan.bound_spending) == ("obf", "pocock")


@pytest.mark.slow
def test_the_same_command_draws_nothing_again(place: Path, base: Path, same: Path) -> None:
    before, drawn = state(same), keys(same, "sums")
    report = run_adaptive(place, base, place / "same.jsonl", "same")
    assert state(same) == before
    assert keys(same, "sums") == drawn
    assert not report.failures


@pytest.mark.slow
@pytest.mark.parametrize(("completions", "verdicts"), [(150, 149), (104, 20), (3, 0)])
def test_a_killed_run_continues_with_the_same_decisions(
    place: Path, base: Path, worse: Path, completions: int, verdicts: int
) -> None:
    """A kill leaves a prefix of each file, perhaps a torn line, and the plan that was written first."""
    killed = place / f"killed{completions}" / "tuned"
    shutil.copytree(worse, killed)
    (killed / "results.json").unlink()
    for task in N:
        for kind, kept in (("completions", completions), ("verdicts", verdicts)):
            path = killed / task / f"{kind}.jsonl"
            rows = path.read_text().splitlines(keepends=True)
            path.write_text("".join(rows[:kept]) + ("".join(rows[kept : kept + 1])[:9]))
    manifest = RunFolder(killed).require_manifest()
    assert manifest.adaptive is not None
    early = manifest.adaptive.state.model_copy(
        update={"reached": dict.fromkeys(N, 1), "decisions": {}, "looks": (), "is_over": False}
    )
    record = manifest.adaptive.model_copy(update={"state": early})
    with RunFolder.writer(killed) as folder:
        folder.write_manifest(manifest.model_copy(update={"adaptive": record}))
    run_adaptive(place, base, place / "worse.jsonl", killed.parent.name)
    assert state(killed) == state(worse)
    for task in N:
        assert sorted(keys(killed, task)) == sorted(keys(worse, task))


@pytest.mark.slow
def test_a_run_that_is_stopped_at_once_has_a_plan_and_no_look(
    place: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InterruptedRunError, match="Continue with"):
        run_adaptive(place, base, place / "same.jsonl", "late", max_hours=1e-9)
    found = state(place / "late" / "tuned")
    assert (found.get("looks", []), found.get("is_over", False)) == ([], False)


@pytest.mark.slow
def test_another_plan_is_refused_in_the_same_folder(place: Path, base: Path, same: Path) -> None:
    with pytest.raises(RunFolderError, match=r"another plan[^$]*margin: 0.03 -> 0.04"):
        run_adaptive(place, base, place / "same.jsonl", "same", overrides=("tasks.sums.margin=4",))


@pytest.mark.slow
def test_a_folder_is_adaptive_from_its_first_draw_to_its_last(place: Path, base: Path, same: Path) -> None:
    fixed = adaptive_options(place, base, place / "same.jsonl", "same", against=None, adaptive=False)
    with pytest.raises(RunFolderError, match="has an adaptive run; continue it with --adaptive --against"):
        run_bare(fixed)
    run_bare(replace(fixed, run_dir=place / "fixed"))
    with pytest.raises(RunFolderError, match="was not planned as --adaptive"):
        run_adaptive(place, base, place / "same.jsonl", "fixed")


@pytest.mark.slow
def test_finish_draws_on_after_a_regression(place: Path, base: Path, worse: Path) -> None:
    run_adaptive(place, base, place / "worse.jsonl", "finished", finish=True)
    found = state(place / "finished" / "tuned")
    assert found["looks"][-1]["verdict"] == "REGRESSED"
    assert len(found["looks"]) >= len(state(worse)["looks"])
    assert "STOPPED" not in found["decisions"].values()


def until_done(options: RunOptions, shards: int) -> int:
    """Run each shard in turn until none waits for another. Return how often one waited."""
    waited = 0
    for _ in range(2 * 5):
        waiting = False
        for index in range(1, shards + 1):
            try:
                run_bare(replace(options, shard=f"{index}/{shards}"))
            except InterruptedRunError as error:
                assert "has not drawn its part" in str(error)
                waiting, waited = True, waited + 1
        if not waiting:
            return waited
    raise AssertionError("the shards never end")


@pytest.mark.slow
def test_shards_that_run_in_turn_take_the_decisions_of_one_run(place: Path, base: Path, worse: Path) -> None:
    answers = place / "worse.jsonl"
    options = adaptive_options(place, base, answers, "sharded", subset=None)
    assert until_done(options, 2) > 0
    merged = merge([place / "sharded"], quiet=True).folders["tuned"]
    assert state(merged) == state(worse)
    for task in N:
        assert sorted(keys(merged, task)) == sorted(keys(worse, task))
    whole, parts = compare(base, worse), compare(base, merged)
    assert parts.tasks["sums"].difference == pytest.approx(whole.tasks["sums"].difference)
    assert parts.suite.verdict == whole.suite.verdict == "REGRESSED"


@pytest.mark.slow
def test_a_base_is_refused_before_anything_is_drawn(place: Path, base: Path, same: Path) -> None:
    def refused(match: str, kind: type[Exception] = InputError, **changes: Any) -> None:
        with pytest.raises(kind, match=match):
            run_adaptive(place, changes.pop("base", base), place / "same.jsonl", "refused", **changes)
        assert not (place / "refused" / "tuned" / "sums").exists()

    refused("no such run folder", base=place / "nothing")
    refused("is itself an adaptive run", base=same)
    (place / "alone.yaml").write_text(SUITE.replace("  tuned: {path: ./model}\n", ""))
    refused("has only the model of this run, base", ConfigError, models=(), suite=place / "alone.yaml")


@pytest.mark.slow
def test_a_base_of_another_verifier_is_not_comparable(place: Path, base: Path) -> None:
    options = {"overrides": ("tasks.sums.verifier.tolerance=0.5",)}
    with pytest.raises((NotComparableError, ConfigError)):
        run_adaptive(place, base, place / "same.jsonl", "other", **options)


@pytest.mark.slow
def test_too_few_samples_of_the_base_are_named_with_the_remedy(place: Path, base: Path) -> None:
    answers = write_responses(place / "many.jsonl", "tuned", {"sums": 65, "singles": 1})
    with pytest.raises(InputError, match=r"has 64 samples of each problem, wanted at least 65; draw it with"):
        run_adaptive(place, base, answers, "many", overrides=("tasks.sums.k=65",))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"against": "b"}, "add --adaptive"),
        ({"adaptive": True}, "add --against BASE_RUN"),
        ({"finish": True}, "--finish goes with --adaptive"),
        ({"adaptive": True, "against": "b", "reuse": ("a=b",)}, "goes without --reuse"),
    ],
)
def test_options_that_contradict_an_adaptive_run_are_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        check_options(RunOptions("suite.yaml", **changes))


@pytest.mark.slow
def test_a_job_has_the_base_the_plan_and_a_folder_name_of_its_own(place: Path, base: Path) -> None:
    options = adaptive_options(place, base, place / "same.jsonl")
    suite, chosen = open_suite(options)
    (job,) = make_jobs(suite, chosen, options)
    assert job.adaptive is not None
    found = adaptive_job(base, job.adaptive.whole, finish=False)
    assert found.plan == job.adaptive.plan
    plain, own = (default_folder(suite, [job.model], adaptive=plan) for plan in (None, found))
    assert plain != own
    assert without_base(["base", "tuned"], found, replace(options, models=())) == ["tuned"]
    assert shard_folders(job) == {}


@pytest.mark.slow
def test_the_first_round_is_the_first_look_of_every_task(place: Path, base: Path) -> None:
    options = adaptive_options(place, base, place / "same.jsonl", "first")
    suite, chosen = open_suite(options)
    (job,) = make_jobs(suite, chosen, options)
    assert job.adaptive is not None
    current = manifest().model_copy(update={"adaptive": job.adaptive.record})
    verified = {
        task.name: VerifiedTask(task, "v", "1", {item.problem_id: item for item in task.problems})
        for task in job.tasks
    }

    async def nothing() -> None:
        """Make no verdict."""

    async def draws() -> int:
        with RunFolder.writer(job.path) as folder:
            context = RunContext(
                job, folder, StopSwitch(), EngineKeeper(), JudgeSession(job.suite, job.tasks, folder.path)
            )
            rounds = AdaptiveRounds(context, RunManifest(folder, current), verified)
            return len(await rounds.next(nothing))

    assert asyncio.run(draws()) == N["sums"] + N["singles"] // 4


@pytest.mark.slow
def test_scores_on_disk_are_those_of_the_wanted_samples_and_verifier(same: Path) -> None:
    verifier = lines(same, "sums", "verdicts")[0]["verifier"]
    wanted = {"sums": {"p000": range(1), "p001": range(0, 0)}}
    disk = ScoresOnDisk(RunFolder(same), {}, {"sums": verifier})
    found = disk.read(wanted)
    assert len(found["sums"]["p000"]) == 1
    assert found["sums"]["p001"] == []
    assert disk.lacking(wanted, found) == set()
    other = ScoresOnDisk(RunFolder(same), {}, {"sums": "another"})
    assert other.lacking(wanted, other.read(wanted)) == {None}
