"""Reuse of a stored run: only if it is the run that the command asks for."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import RunFolderError
from genbench.runs.command import run_models
from genbench.runs.execution.job import Job
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.execution.reuse import stored_results
from genbench.runs.inputs import open_suite
from tests.runs.ruled import options


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one finished run."""
    return run_models(options(tmp_path_factory.mktemp("drawn"))).folders["m"]


@pytest.fixture
def path(drawn: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(drawn, tmp_path / "m"))


def reusing(path: Path, **more: Any) -> Job:
    """Return the job that reuses the run at `path`."""
    given = options(path.parent, reuse=(f"m={path}",), **more)
    (job,) = make_jobs(*open_suite(given), given)
    return job


def test_a_complete_run_is_reused(path: Path) -> None:
    found = stored_results(reusing(path))
    assert found is not None and found.tasks["sums"].value == 1.0


def test_a_run_that_is_smaller_than_asked_must_be_continued(path: Path) -> None:
    assert stored_results(reusing(path, overrides=("tasks.sums.k=3",))) is None


def test_a_run_with_more_than_is_asked_is_refused(path: Path) -> None:
    with pytest.raises(RunFolderError, match="4 problems x 2 samples, this command asks for 4 x 1"):
        stored_results(reusing(path, overrides=("tasks.sums.k=1",)))


def test_another_run_is_not_reused(path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"temperature: 0\.6 -> 0\.9"):
        stored_results(reusing(path, overrides=("decoding.temperature=0.9",)))


def test_other_rows_are_another_run(path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"tasks\.sums\.data_digest"):
        stored_results(reusing(path, n=6))


def test_a_job_that_reuses_nothing_must_run(path: Path) -> None:
    assert stored_results(replace(reusing(path), reused=False)) is None
