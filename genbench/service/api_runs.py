"""The part of the API about one run, two runs, and the decision on tonight's run."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from genbench.analysis.compare import compare
from genbench.analysis.comparison_record import Comparison
from genbench.ledger.listing import ListedRun
from genbench.policy.nightly import nightly_gate
from genbench.policy.record import NightlyGate
from genbench.reports.browse import SampleFilter, paired, sample_rows, task_rows
from genbench.reports.browse_record import ProblemRow, SampleRow
from genbench.service.access import service
from genbench.service.lookup import Name, RunJson, has_verdicts, read_run, run_folder
from genbench.service.problems import GoneError, NotFoundError
from genbench.store.storedrun import StoredRun
from genbench.trend.detect import detect_changes

router = APIRouter(prefix="/api/v1", tags=["runs"], default_response_class=RunJson)
Uid = Annotated[str, Query(max_length=100, description="uid of a run")]
Start = Annotated[int, Query(ge=0, le=1 << 31, description="`next` of the page before")]
Limit = Annotated[int, Query(ge=1, le=200, description="entries of a page")]


class ProblemEntry(BaseModel):
    """A problem of a run, and of the run that it is compared with."""

    problem: ProblemRow = Field(description="the problem")
    other: ProblemRow | None = Field(description="the same problem of the other run; null without one")


class ProblemPage(BaseModel):
    """A page of the problems of one task."""

    items: list[ProblemEntry] = Field(description="problems in the order of the task")
    next: int | None = Field(description="value of `after` for the next page; null at the end")


class SamplePage(BaseModel):
    """The samples of one problem."""

    items: list[SampleRow] = Field(description="turns of its samples, with their texts")


@router.get("/runs/{uid}")
def get_run(request: Request, uid: Name) -> ListedRun:
    """Return one run: its place, its state, and where its folder is."""
    return read_run(service(request).ledger, uid)


@router.get("/runs/{uid}/tasks/{task}/problems")
def get_problems(  # noqa: PLR0917 - FastAPI passes them by name
    request: Request,
    uid: Name,
    task: Name,
    status: Annotated[
        str | None, Query(max_length=30, description="only with a sample of this status")
    ] = None,
    flips_with: Annotated[str | None, Query(max_length=100, description="uid of another run")] = None,
    flip: Annotated[str | None, Query(max_length=10, description="gained or lost there")] = None,
    limit: Limit = 50,
    after: Start = 0,
) -> ProblemPage:
    """List the problems of one task of a run, with the scores and statuses of their samples."""
    ledger = service(request).ledger
    folder = _kept(run_folder(ledger, uid), uid, task)
    wanted = SampleFilter(status=status, flip=flip)
    pairs: list[tuple[ProblemRow, ProblemRow | None]]
    if flips_with is None:
        pairs = [(row, None) for row in task_rows(folder, task, wanted)]
    else:
        other = _kept(run_folder(ledger, flips_with), flips_with, task)
        pairs = paired(folder, other, lambda path, only: task_rows(path, task, only), wanted)
    items = [ProblemEntry(problem=row, other=second) for row, second in pairs[after : after + limit]]
    return ProblemPage(items=items, next=after + limit if len(pairs) > after + limit else None)


@router.get("/runs/{uid}/samples")
def get_samples(
    request: Request,
    uid: Name,
    task: Annotated[str, Query(max_length=200, description="the task")],
    problem: Annotated[str, Query(max_length=1000, description="the problem")],
    status: Annotated[str | None, Query(max_length=30, description="only samples of this status")] = None,
) -> SamplePage:
    """Return the samples of one problem with their texts. 410 if the texts are not kept."""
    folder = _kept(run_folder(service(request).ledger, uid), uid, task, "completions.jsonl")
    return SamplePage(items=sample_rows(folder, task, problem, SampleFilter(status=status)))


def _kept(folder: FilePath, uid: str, task: str, file: str = "verdicts.jsonl") -> FilePath:
    """Return the folder of a run that has a task and still keeps a file of it.

    Raises:
        NotFoundError: the run has no such task.
        GoneError: the file is not kept.
    """
    known = list(StoredRun(folder).manifest.tasks)
    if task not in known:
        raise NotFoundError(f"run {uid} has no task '{task[:50]}'; it has {', '.join(known[:10])}")
    if not (folder / task / file).is_file():
        raise GoneError(f"run {uid}: {file} of {task} is not kept")
    return folder


@router.get("/compare")
def get_comparison(
    request: Request,
    base: Uid,
    tuned: Uid,
    allow: Annotated[list[str] | None, Query(max_length=20, description="differences to let through")] = None,
) -> Comparison:
    """Compare two runs, as `genbench compare --json`. 409 if they differ in what must be equal.

    410 if the verdicts of one are not kept.
    """
    ledger = service(request).ledger
    folders = [run_folder(ledger, uid) for uid in (base, tuned)]
    for uid, folder in zip((base, tuned), folders, strict=True):
        if not has_verdicts(folder):
            raise GoneError(f"run {uid}: its verdicts are not kept; the page /compare shows more")
    return compare(*folders, allow=allow or ())


@router.get("/gate")
def get_gate(
    request: Request,
    run: Uid,
    track: Annotated[str | None, Query(max_length=100, description="the run's track")] = None,
) -> NightlyGate:
    """Decide on tonight's run by the base and the history, as `genbench gate --json`."""
    own = service(request)
    return nightly_gate(own.ledger, run_folder(own.ledger, run), track, detect=detect_changes)
