"""The part of the API about one run, two runs, and the decision on tonight's run.

Machines that share no disk with the service push their runs.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Header, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.errors import InputError
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.listing import ListedRun, PushedRun
from genbench.nights.ledger.run_facts import RunFacts, read_facts
from genbench.nights.policy.gate import NightlyGate, nightly_gate
from genbench.nights.trend.detect import detect_changes
from genbench.reports.browse import ProblemRow, SampleFilter, SampleRow, paired, sample_rows, task_rows
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from genbench.team.queue.notifications import notify_changes
from genbench.team.service.bundle import MOST_BYTES, content_digest_of, unpack_run
from genbench.team.service.context import Service, require, service
from genbench.team.service.queries import Name, RunJson, has_verdicts, read_run, run_folder
from genbench.team.service.responses import ConflictError, GoneError, NotFoundError

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


def _kept(folder: Path, uid: str, task: str, file: str = "verdicts.jsonl") -> Path:
    """Return the folder of a run that has a task and still keeps a file of it.

    Raises:
        NotFoundError: the run has no such task.
        GoneError: the file is not kept.
    """
    known = list(StoredRun(folder).manifest.tasks)
    if task not in known:
        raise NotFoundError(f"run {uid} has no task '{task[:50]}'; it has {', '.join(known[:10])}")
    if not RunFolder(folder).file(task, file.removesuffix(".jsonl")).is_file():
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


_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TYPE = "application/octet-stream"
_FOLDER = "pushed"


@router.post("/runs/push", status_code=201, response_class=JSONResponse)
def post_push(  # noqa: PLR0917 - FastAPI passes them by name
    request: Request,
    response: Response,
    bundle: Annotated[
        bytes, Body(media_type=_TYPE, max_length=MOST_BYTES, description="a zip file of the run, see push")
    ],
    content_digest: Annotated[
        str, Header(max_length=100, description="sha-256=:BASE64: of the body (RFC 9530)")
    ],
    content_type: Annotated[str, Header(max_length=100, description=f"always {_TYPE}")] = _TYPE,
    replace: Annotated[bool, Query(description="take the place of other results of the same run")] = False,
) -> PushedRun:
    """Add a run from another machine to the ledger: 201 if it is new, 200 if it was there already.

    The run's own uid is the key. Pushing it again changes nothing, so a push may be repeated.
    """
    who = require(request, "submit")
    if content_type.partition(";")[0].strip().lower() != _TYPE:
        raise HTTPException(415, f"the body is {_TYPE}: a bundle of genbench ledger push")
    if content_digest != content_digest_of(bundle):
        raise HTTPException(
            400, "Content-Digest is not that of the body; it was cut off or changed: push again"
        )
    pushed = take_run(service(request), unpack_run(bundle), who, replace=replace)
    response.status_code = 201 if pushed.outcome == "added" else 200
    return pushed


def take_run(own: Service, files: Mapping[str, bytes], who: str, *, replace: bool) -> PushedRun:
    """Keep the files of a run in a folder of its own, and add it to the ledger.

    Raises:
        InputError: the files are not a finished run.
        ConflictError: the ledger has other contents of the run, and `replace` was not given.
    """
    place = own.runs.resolve() / _FOLDER
    place.mkdir(parents=True, exist_ok=True)
    # A hidden folder, which nothing that looks for runs enters.
    made = Path(tempfile.mkdtemp(prefix=".arriving-", dir=place))
    try:
        for name, data in files.items():
            (made / name).write_bytes(data)
        facts = _facts(made)
        return _settle(own, made, place / facts.uid, facts, who, replace=replace)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _facts(made: Path) -> RunFacts:
    try:
        facts = read_facts(made)
    except InputError as error:
        raise InputError(str(error).replace(f"{made}", "the bundle")) from error
    if facts.state not in ("finished", "failed"):
        raise InputError(f"the bundle's run is {facts.state}; push it when it is finished")
    if not _UID.fullmatch(facts.uid):
        raise InputError(f"the bundle's uid is '{facts.uid[:50]}'; wanted one that genbench wrote")
    return facts


def _settle(own: Service, made: Path, target: Path, facts: RunFacts, who: str, *, replace: bool) -> PushedRun:
    outcome: Literal["added", "unchanged", "replaced"] = "added"
    if target.exists():
        outcome = "unchanged" if read_facts(target).source_digest == facts.source_digest else "replaced"
        if outcome == "replaced" and not replace:
            raise ConflictError(
                f"run {facts.uid} is here with other contents; if it was scored again, push it with --replace"
            )
    old = made.with_name(f"{made.name}-old")
    if outcome == "replaced":
        target.rename(old)
    if outcome != "unchanged":
        made.rename(target)
    (found,) = add(own.ledger, [target], by=who)
    if found.outcome == "refused":
        shutil.rmtree(target)
        if old.exists():
            old.rename(target)
        raise ConflictError(
            found.detail.replace(f"{target}", "the bundle").replace(f"{own.runs.resolve()}/", "")
        )
    shutil.rmtree(old, ignore_errors=True)
    if outcome != "unchanged" and facts.track is not None:
        detect_changes(own.ledger, facts.track.name)
        notify_changes(own.ledger, own.queue, facts.track.name)
    return PushedRun(outcome=outcome, run=read_run(own.ledger, facts.uid))
