"""The false-alarm band of one model: measured from two runs, stored, shown by later comparisons."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.noise import noise
from genbench.errors import InputError, NotComparableError
from genbench.reports.terminal.compare import compare_text
from genbench.reports.terminal.estimate import noise_text
from tests.known import known
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run


def first(i: int) -> list[str]:
    return [RIGHT, WRONG, RIGHT, RIGHT if i % 2 else WRONG]


def second(i: int) -> list[str]:
    return [WRONG, RIGHT, RIGHT, WRONG if i % 2 else RIGHT]


def same_model(run: Path) -> Path:
    """Return the run as one of a model that both runs share. Ready responses are named by their file."""
    return as_another_run(run, lambda manifest: manifest.update(model_identity="sha256:1"))


def two_runs(make_run: MakeRun) -> tuple[Path, Path]:
    runs = make_run("a", first), make_run("b", second, overrides=["decoding.seed=1"])
    return same_model(runs[0]), same_model(runs[1])


@pytest.mark.slow
def test_the_band_is_that_of_two_independent_runs(make_run: MakeRun) -> None:
    record = noise(*two_runs(make_run))
    task = record.tasks["sums"]
    within = task.within_variance
    # Five of the eight samples of every problem are right.
    expected = 8 / 7 * (5 / 8) * (3 / 8)
    assert within == pytest.approx(expected)
    assert task.band == pytest.approx(1.959964 * math.sqrt(expected * (1 / 4 + 1 / 4) / 12), rel=1e-6)
    assert record.run_seeds == (0, 1)


@pytest.mark.slow
def test_the_band_is_stored_and_shown_beside_later_comparisons(make_run: MakeRun) -> None:
    a, b = two_runs(make_run)
    tuned = make_run("t", lambda i: [RIGHT] * 4)
    assert compare(a, tuned).tasks["sums"].noise is None
    record = noise(a, b)
    assert json.loads((a / "noise.json").read_text()) == record.to_json()
    for base in (a, b):
        found = compare(base, tuned)
        assert known(found.tasks["sums"].noise).band == pytest.approx(record.tasks["sums"].band)
        assert "measured noise of one model run twice (two seeds)" in compare_text(found)
    assert "±" in noise_text(record)


@pytest.mark.slow
def test_a_band_of_another_verifier_is_not_shown(make_run: MakeRun) -> None:
    a, b = two_runs(make_run)
    noise(a, b)
    record = json.loads((a / "noise.json").read_text())
    record["tasks"]["sums"]["verifier"] = "older"
    (a / "noise.json").write_text(json.dumps(record))
    assert compare(a, make_run("t", second)).tasks["sums"].noise is None


def test_one_seed_is_refused_and_measured_with_same_seed(make_run: MakeRun) -> None:
    a, b = same_model(make_run("a", first)), same_model(make_run("b", first))
    with pytest.raises(NotComparableError, match=r"run_seed: 0 in both.*--same-seed"):
        noise(a, b)
    record = noise(a, b, same_seed=True)
    assert record.tasks["sums"].band == pytest.approx(1.96 / 48, rel=1e-3)  # as if one sample had changed
    assert record.tasks["sums"].within_variance is None
    assert "non-determinism" in noise_text(record)


def test_two_seeds_are_refused_with_same_seed(make_run: MakeRun) -> None:
    with pytest.raises(NotComparableError, match="run_seed: 0 -> 1, but --same-seed"):
        noise(*two_runs(make_run), same_seed=True)


def test_two_models_are_refused(make_run: MakeRun) -> None:
    a, b = make_run("a", first), make_run("b", second, overrides=["decoding.seed=1"])
    with pytest.raises(NotComparableError, match="model: responses:"):
        noise(a, b)
    assert not (a / "noise.json").exists()
    assert noise(a, b, allow=["model"]).allowed[0].startswith("model: ")


def test_one_folder_twice_is_refused(make_run: MakeRun) -> None:
    a = make_run("a", first)
    with pytest.raises(InputError, match="compared with itself"):
        noise(a, a)
