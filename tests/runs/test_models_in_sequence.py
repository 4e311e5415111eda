"""Two models of one command: when the second one begins, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import EngineError, InterruptedRunError
from genbench.runs.command import how_to_continue, run_models
from genbench.store.folder import RunFolder
from tests.engines.placed_engine import PlacedEngine
from tests.runs.ruled import only_job, options

PLACED = ("engine.kind=tests.engines.placed_engine:PlacedEngine",)


@pytest.mark.slow
def test_the_next_model_begins_on_a_place_that_ran_dry(tmp_path: Path) -> None:
    PlacedEngine.happened.clear()
    ran = run_models(options(tmp_path, models=("m", "n=other"), overrides=PLACED))
    assert [found.tasks["sums"].value for found in ran.results.values()] == [1.0, 1.0]
    happened = PlacedEngine.happened
    # m's first sample ends when n has begun: on the place that m left, and not before.
    first = next(line for line in happened if line.startswith("n "))
    place = first.split()[1]
    assert happened.index(f"m {place} closes") < happened.index(f"n {place} starts")
    other = "left" if place == "right" else "right"
    assert happened.index(f"n {place} starts") < happened.index(f"m {other} closes")
    assert sum(line.endswith("closes") for line in happened) == sum("starts" in line for line in happened)


@pytest.mark.slow
def test_an_error_of_the_first_model_ends_the_second_with_what_it_has(tmp_path: Path) -> None:
    PlacedEngine.happened.clear()
    broken = (*PLACED, "engine.breaks=m")
    with pytest.raises(EngineError, match="m breaks"):
        run_models(options(tmp_path, models=("m", "n=other"), overrides=broken))
    happened = PlacedEngine.happened
    assert sum(line.endswith("closes") for line in happened) == sum("starts" in line for line in happened)
    for name in ("m", "n"):
        (attempt,) = RunFolder(tmp_path / "runs" / name).require_manifest().attempts
        assert attempt.has_ended


def test_what_is_said_of_a_stopped_run_names_folder_and_command(tmp_path: Path) -> None:
    given = options(tmp_path, command="genbench run suite.yaml")
    said = how_to_continue(InterruptedRunError("SIGTERM"), given, only_job(given))
    assert said.startswith("stopped by SIGTERM; everything finished is in ")
    assert said.endswith("Continue with: genbench run suite.yaml")
