"""Commands that speak to a service on another machine: its queue, and runs that are pushed to its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genbench.cli.app import SERVICE, app, examples
from genbench.cli.options import JsonOption, RunArgument, ServerOption
from genbench.cli.output import print_json, print_lines

if TYPE_CHECKING:
    from genbench.queue.records import JobDetail, JobList
    from genbench.service.client import RemoteService


@app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "genbench push runs/nightly-1a2b3c4d/tuned --server https://eval.example.org",
        "genbench push runs/nightly-1a2b3c4d/tuned --server https://eval.example.org --replace",
    ),
)
def push(
    run: RunArgument,
    server: ServerOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of other results of the same run.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Send a finished run to the ledger of a service.

    Manifest, results and scores are sent, and no text of a model. Pushing a run again changes nothing.
    """
    if server is None:
        raise typer.BadParameter("say which service, such as https://eval.example.org", param_hint="--server")
    record = _service(server).push(run, replace=replace)
    if as_json:
        print_json(record)
    else:
        found = record["run"]
        place = f"{found['track']} {found['label']}" if found["track"] else "no track"
        print_lines([f"{record['outcome']}: run {found['uid']} of {found['model']}, {place}"])


def submit(server: str, suite: str, models: Sequence[str], work: Mapping[str, Any]) -> JobDetail:
    """Put a job into the queue of a service. Return its record.

    Args:
        suite: a suite file, which is sent, or the name of a suite of the service.
        models: texts NAME or NAME=PATH. The paths are those of the service.
    """
    from genbench.queue.records import Job, JobDetail

    pairs = [text.partition("=") for text in models]
    body = {**work, "models": {name: path if equals else None for name, equals, path in pairs}}
    file = Path(suite)
    body |= {"suite": file.stem, "suite_text": _text(file)} if file.is_file() else {"suite": suite}
    job, created = _service(server).submit(body)
    return JobDetail(format=1, job=Job.from_json(job, server), created=created, events=(), log=())


def detail(server: str, number: int) -> JobDetail:
    """Return a job of a service with its events and log."""
    from genbench.queue.records import JobDetail

    record = _service(server).get(f"/jobs/{number}/detail")
    return JobDetail.from_json(record, server)


def listed(server: str, states: Sequence[str], track: str | None, newest: int) -> JobList:
    """Return the newest jobs of a service, its workers and its schedules."""
    from genbench.queue.records import JobList

    remote, jobs, after = _service(server), list[Any](), None
    query = {"state": list(states), **({"track": track} if track else {})}
    while len(jobs) < newest:
        limit = min(200, newest - len(jobs))
        page = remote.get("/jobs", **query, limit=limit, **({"after": after} if after else {}))
        jobs += page["items"]
        after = page["next"]
        if after is None:
            break
    record = {
        "format": 1,
        "queue": remote.url,
        "jobs": jobs,
        "workers": remote.get("/workers"),
        "schedules": remote.get("/schedules"),
    }
    return JobList.from_json(record, server)


def act(server: str, number: int, what: str) -> JobDetail:
    """Cancel or retry a job of a service. Return it with its events."""
    _service(server).act(number, what)
    return detail(server, number)


def refuse(options: Mapping[str, object]) -> None:
    """Refuse options that name things of this machine, which the service cannot see."""
    for name, value in options.items():
        if value:
            raise typer.BadParameter(
                "goes without --server; write it into the suite, or submit on its host", param_hint=name
            )


def _service(server: str) -> RemoteService:
    from genbench.service.client import RemoteService

    return RemoteService.of_environment(server)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot be read: {error}", param_hint=str(file)) from error
