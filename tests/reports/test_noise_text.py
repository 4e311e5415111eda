"""The text of a measured false-alarm band."""

from __future__ import annotations

from typing import Any

from genbench.reports.terminal.estimate import noise_text
from genbench.stats.noise import NoiseMeasurement, TaskNoise


def task(**more: Any) -> TaskNoise:
    fields: dict[str, Any] = {
        "n": 198,
        "k_first": 8,
        "k_second": 8,
        "difference": -0.004,
        "band": 0.0212,
        "within_variance": 0.1,
        "changed_samples": 0.3,
        "expected": True,
        "verifier": "v",
    }
    return TaskNoise(**(fields | more))


def measured(*tasks: TaskNoise, **more: Any) -> NoiseMeasurement:
    fields: dict[str, Any] = {
        "format": 1,
        "runs": ("runs/a", "runs/b"),
        "run_seeds": (0, 1),
        "same_seed": False,
        "model_identity": "sha256:1",
        "allowed": (),
        "tasks": {f"t{number}": item for number, item in enumerate(tasks)},
    }
    return NoiseMeasurement(**(fields | more))


def row(item: TaskNoise) -> list[str]:
    return noise_text(measured(item)).splitlines()[4].split()


def test_the_band_and_the_difference_are_in_points() -> None:
    assert row(task()) == ["t0", "198", "x", "8", "-0.4", "±2.1", "30.0%"]


def test_other_k_are_both_shown() -> None:
    assert row(task(k_second=4, changed_samples=None)) == ["t0", "198", "x", "8/4", "-0.4", "±2.1", "-"]


def test_a_difference_outside_its_band_is_pointed_out() -> None:
    assert "outside its band: a 1 in 20 chance" in noise_text(measured(task(expected=False)))


def test_two_seeds_show_the_noise_of_sampling() -> None:
    assert "run seeds 0 and 1: the noise of sampling" in noise_text(measured(task()))


def test_one_seed_shows_the_engines_own_noise() -> None:
    text = noise_text(measured(task(within_variance=None), same_seed=True, run_seeds=(7, 7)))
    assert "one run seed (7): the engine's own non-determinism" in text


def test_what_was_let_through_comes_first() -> None:
    assert noise_text(measured(task(), allowed=("model: a -> b",))).startswith("let through: model: a -> b")


def test_both_folders_are_named() -> None:
    assert "stored in noise.json of runs/a and runs/b" in noise_text(measured(task()))
