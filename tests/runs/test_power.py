"""Power plans from only the data of a suite, and with the variances of a stored run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.reports.terminal.estimate import power_text
from genbench.runs.power import PowerPlan, power
from tests.known import known
from tests.ready_runs import RIGHT, SUITE, WRONG, MakeRun, rows, write_lines

Z = 1.6448536 + 0.8416212


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """Return a suite of 300 problems by 4. The path of its model does not exist, because none is opened."""
    write_lines(tmp_path / "rows.jsonl", rows(300))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return str(tmp_path / "suite.yaml")


def test_the_smallest_drop_is_millers(suite: str) -> None:
    task = power(suite, detect=0.03).tasks["sums"]
    change, within = 2 * 0.48 * 0.25 * 0.02, 0.52 * 0.25
    assert (task.n, task.k_base, task.k_tuned) == (300, 4, 4)
    assert task.mde == pytest.approx(Z * math.sqrt((change + within / 4 + within / 4) / 300), rel=1e-6)
    assert task.mde_floor == pytest.approx(Z * math.sqrt(change / 300), rel=1e-6)


def test_what_is_said_to_be_needed_finds_the_drop(suite: str) -> None:
    task = power(suite, detect=0.03).tasks["sums"]
    assert not task.finds
    k = known(task.k_needed)
    enough = power(suite, detect=0.03, overrides=[f"tasks.sums.k={k}"]).tasks["sums"]
    short = power(suite, detect=0.03, overrides=[f"tasks.sums.k={k - 1}"]).tasks["sums"]
    assert enough.finds
    assert not short.finds


def test_where_only_problems_help_it_says_so(suite: str) -> None:
    record = power(suite, detect=0.005, rho=0.9)
    assert record.tasks["sums"].k_needed is None
    assert "only more problems do" in power_text(record)
    assert "assumed: mean 0.50, ICC 0.48, rho 0.90" in power_text(record)


def test_a_stored_run_brings_its_variances_and_its_k(suite: str, make_run: MakeRun) -> None:
    base = make_run("b", lambda i: [RIGHT, WRONG] * 2)
    record = power(suite, detect=0.03, base=base, overrides=["tasks.sums.k=1"])
    task = record.tasks["sums"]
    assert (task.k_base, task.k_tuned) == (4, 1)
    assert task.components.within == pytest.approx(1 / 3)
    assert task.components.between == 0
    assert task.mde == pytest.approx(Z * math.sqrt((1 / 3 / 4 + 1 / 3) / 300), rel=1e-6)
    assert "measured: 12 problems x 4" in power_text(record)


def test_a_limit_leaves_fewer_problems_and_a_larger_drop(suite: str) -> None:
    few, all_of_them = power(suite, detect=0.03, limit=100), power(suite, detect=0.03)
    ratio = few.tasks["sums"].mde / all_of_them.tasks["sums"].mde
    assert ratio == pytest.approx(math.sqrt(3))


@pytest.mark.parametrize("options", [{"detect": 0.0}, {"detect": 1.5}, {"detect": 0.03, "rho": 2}])
def test_what_cannot_be_planned_is_refused(suite: str, options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="wanted"):
        power(suite, **options)  # type: ignore[arg-type]


def test_a_plan_comes_back_from_json_unchanged(suite: str) -> None:
    record = power(suite, detect=0.03)
    assert PowerPlan.from_json(record.to_json(), "plan.json") == record


@pytest.mark.slow
def test_an_earlier_tuned_run_brings_the_correlation(suite: str, make_run: MakeRun) -> None:
    base = make_run("b", lambda i: [RIGHT] * 4 if i % 2 else [WRONG] * 4)
    near = make_run("n", lambda i: [RIGHT] * 4 if i % 2 else [WRONG] * 4)
    far = make_run("f", lambda i: [RIGHT] * 4 if i % 3 else [WRONG] * 4)
    plans = [power(suite, detect=0.03, base=base, tuned=[run]).tasks["sums"] for run in (near, far)]
    assert plans[0].components.change == 0
    assert plans[1].mde > plans[0].mde
    assert "rho 1.00 measured from 1 stored pair" in plans[0].components.source
    assert "is assumed" not in power_text(power(suite, detect=0.03, base=base, tuned=[far]))
    assert "--tuned EARLIER_RUN" in power_text(power(suite, detect=0.03, base=base))


def test_an_earlier_tuned_run_needs_the_base_that_it_is_paired_with(suite: str, make_run: MakeRun) -> None:
    with pytest.raises(InputError, match="add --base"):
        power(suite, detect=0.03, tuned=[make_run("b", lambda i: [RIGHT] * 4)])


def score_file(path: Path, k: dict[str, int], shift: int = 0) -> Path:
    """Write scores of 40 problems of two tasks, k of each."""
    lines = [
        {"task": task, "problem_id": f"r{i}", "sample_index": j, "score": float((i + j + shift) % 3 > 0)}
        for task, samples in k.items()
        for i in range(40)
        for j in range(samples)
    ]
    write_lines(path, lines)
    return path


def test_a_task_of_single_samples_keeps_the_assumption_and_others_are_measured(tmp_path: Path) -> None:
    write_lines(tmp_path / "rows.jsonl", rows(40))
    task = SUITE[SUITE.index("  - name: sums") :]
    (tmp_path / "suite.yaml").write_text(SUITE + task.replace("sums", "singles", 1))
    base = score_file(tmp_path / "base.jsonl", {"sums": 4, "singles": 4})
    tuned = score_file(tmp_path / "tuned.jsonl", {"sums": 4, "singles": 1}, shift=1)
    sources = {
        name: planned.components.source
        for name, planned in power(
            tmp_path / "suite.yaml", detect=0.03, base=base, tuned=[tuned]
        ).tasks.items()
    }
    assert "measured from 1 stored pair" in sources["sums"]
    assert "rho 0.98 assumed (no stored pair has two scored samples" in sources["singles"]
    alone = score_file(tmp_path / "alone.jsonl", {"sums": 1, "singles": 1})
    with pytest.raises(InputError, match="in no task; draw two or more samples"):
        power(tmp_path / "suite.yaml", detect=0.03, base=base, tuned=[alone])
