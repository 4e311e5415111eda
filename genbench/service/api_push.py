"""The part of the API that takes runs from machines that share no disk with the service."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Header, HTTPException, Query, Request, Response

from genbench.errors import InputError
from genbench.ledger.add import add
from genbench.ledger.bundle import MOST_BYTES, content_digest_of, unpack_run
from genbench.ledger.facts import RunFacts
from genbench.ledger.listing import PushedRun
from genbench.ledger.reading import read_facts
from genbench.queue.news import tell_changes
from genbench.service.access import require, service
from genbench.service.lookup import read_run
from genbench.service.problems import ConflictError
from genbench.service.state import Service
from genbench.trend.detect import detect_changes

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TYPE = "application/octet-stream"
_FOLDER = "pushed"


@router.post("/push", status_code=201)
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
        raise HTTPException(415, f"the body is {_TYPE}: a bundle of genbench push")
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
        InputError: the files are no finished run.
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
        raise ConflictError(found.detail)
    shutil.rmtree(old, ignore_errors=True)
    if outcome != "unchanged" and facts.track is not None:
        detect_changes(own.ledger, facts.track.name)
        tell_changes(own.ledger, own.queue, facts.track.name)
    return PushedRun(outcome=outcome, run=read_run(own.ledger, facts.uid))
