"""The queue of jobs, here or on a service: submit, look, stop, schedule and work."""

from __future__ import annotations

import getpass
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genbench.cli.app import command_group, examples
from genbench.cli.options import JsonOption, LedgerOption, ServerOption, SuiteArgument, with_run_options
from genbench.cli.output import print_lines, print_record
from genbench.runs.options import RunOptions, job_keys, run_options

if TYPE_CHECKING:
    from genbench.team.queue.database import Queue
    from genbench.team.queue.delivery import Channel
    from genbench.team.queue.records import Job, JobDetail, JobList
    from genbench.team.queue.worker import Worker
    from genbench.team.service.client import RemoteService

queue_app = command_group("queue")

RunsOption = Annotated[
    Path, typer.Option("--runs", metavar="DIR", help="Folder below which run folders are made.")
]
PriorityOption = Annotated[int, typer.Option(min=0, max=9, help="0 to 9. Higher ones start first.")]
JobArgument = Annotated[int, typer.Argument(min=1, help="Number of the job, see genbench queue list.")]


@queue_app.callback()
def queue() -> None:
    """Queue runs, and draw them with workers on GPUs."""


@queue_app.command(
    "submit",
    epilog=examples(
        "genbench queue submit nightly.yaml --model tuned=./ckpt --night",
        "genbench queue submit sft.yaml --checkpoint out/checkpoint-500 --priority 7",
        "genbench queue submit quickstart --max-hours 2",
        "genbench queue submit nightly.yaml --server https://eval.example.org --night",
    ),
)
@with_run_options("models", "night", *job_keys(), in_job=True)
def queue_submit(
    suite: SuiteArgument,
    options: RunOptions,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A checkpoint of a training run, drawn at its step.")
    ] = None,
    priority: PriorityOption = 5,
    not_before: Annotated[
        datetime | None, typer.Option(help="Local time before which it does not start.")
    ] = None,
    runs: RunsOption = Path("runs"),
    ledger: LedgerOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put a run into the queue.

    A worker draws it, adds it to the ledger and looks for changes. The suite is checked at once. The same
    work is kept once: submitting it again shows its job. With --server the suite file is sent to a service
    that takes some, or names one of its own. Checkpoints are then those of the service.
    """
    from genbench.team.queue.jobs import submit as submit_job
    from genbench.team.queue.spec import JobSpec, absolute_spec, checked_spec, tonight_label
    from genbench.team.text import queue_text

    options = replace(options, suite=suite)
    if options.night and options.night_of is None:
        options = replace(options, night_of=tonight_label())
    if server is not None:
        _refuse_local(options, {"--checkpoint": checkpoint, "--not-before": not_before, "--ledger": ledger})
        print_record(_submit_remotely(server, options, priority), queue_text, as_json)
        return
    placed = checked_spec(absolute_spec(JobSpec.from_options(options, checkpoint), Path.cwd()))
    start = None if not_before is None else time.mktime(not_before.timetuple())
    with _opened(ledger, create=True) as opened:
        job, created = submit_job(opened, placed, runs, by=user(), priority=priority, not_before=start)
        record = _detail(opened, job, created=created)
    print_record(record, queue_text, as_json)


@queue_app.command(
    "list",
    epilog=examples(
        "genbench queue list", "genbench queue list 12", "genbench queue list --state failed --json"
    ),
)
def queue_list(
    job: Annotated[int | None, typer.Argument(min=1, help="Only this job, with its events and log.")] = None,
    state: Annotated[
        list[str], typer.Option(help="queued, running, finished, failed or cancelled. Repeatable.")
    ] = [],  # noqa: B006
    track: Annotated[str | None, typer.Option(help="Only jobs of this track.")] = None,
    newest: Annotated[int, typer.Option(min=1, max=1000, help="How many of the newest jobs are shown.")] = 30,
    ledger: LedgerOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List jobs, workers and schedules, or show one job."""
    from genbench.team.queue.jobs import get_job, job_states, list_jobs, list_workers
    from genbench.team.queue.records import JobList
    from genbench.team.queue.schedules import list_schedules
    from genbench.team.text import queue_text

    if server is not None:
        states = job_states(state)
        record = _remote_detail(server, job) if job else _remote_list(server, states, track, newest)
        print_record(record, queue_text, as_json)
        return
    with _opened(ledger, create=job is None) as opened:
        if job is not None:
            print_record(_detail(opened, get_job(opened, job)), queue_text, as_json)
            return
        states = job_states(state)
        record = JobList(
            format=1,
            queue=opened.where,
            jobs=tuple(list_jobs(opened, states=states, track=track, limit=newest)),
            workers=tuple(list_workers(opened)),
            schedules=tuple(list_schedules(opened)),
        )
    print_record(record, queue_text, as_json)


@queue_app.command("cancel", epilog=examples("genbench queue cancel 12"))
def queue_cancel(
    job: JobArgument, ledger: LedgerOption = None, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Stop a job.

    One that runs stops cleanly and keeps its samples. `genbench queue retry` continues it.
    """
    from genbench.team.queue.jobs import cancel_job
    from genbench.team.text import queue_text

    if server is not None:
        print_record(_act_remotely(server, job, "cancel"), queue_text, as_json)
        return
    with _opened(ledger) as opened:
        found = cancel_job(opened, job, by=user())
        print_record(_detail(opened, found), queue_text, as_json)


@queue_app.command("retry", epilog=examples("genbench queue retry 12"))
def queue_retry(
    job: JobArgument, ledger: LedgerOption = None, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Queue a failed or cancelled job again. Its run is continued."""
    from genbench.team.queue.jobs import retry_job
    from genbench.team.text import queue_text

    if server is not None:
        print_record(_act_remotely(server, job, "retry"), queue_text, as_json)
        return
    with _opened(ledger) as opened:
        found = retry_job(opened, job, by=user())
        print_record(_detail(opened, found), queue_text, as_json)


def user() -> str:
    """Return the name of the user, for the record of who did what."""
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return "unknown"


def _opened(ledger: str | None, *, create: bool = False) -> Queue:
    from genbench.team.queue.database import open_queue

    return open_queue(ledger, create=create)


def _detail(opened: Queue, job: Job, *, created: bool = False) -> JobDetail:
    from genbench.team.queue.jobs import job_events, log_lines
    from genbench.team.queue.records import JobDetail

    events = () if created else tuple(job_events(opened, job.id))
    log = log_lines(job, 20)
    return JobDetail(format=1, job=job, created=created, events=events, log=log)


schedule_app = command_group("schedule")

NameArgument = Annotated[str, typer.Argument(help="Name of the schedule.")]


@schedule_app.callback()
def schedule() -> None:
    """Evaluate every night, at a time of yours.

    A cron text and a time zone say when. A worker does it. `genbench queue list` lists the schedules.
    """


@schedule_app.command(
    "add",
    epilog=examples("genbench schedule add nightly '0 22 * * *' nightly.yaml --model tuned=./ckpt"),
)
@with_run_options("models", *(name for name in job_keys() if name not in ("night_of", "limit")), in_job=True)
def schedule_add(
    name: NameArgument,
    cron: Annotated[str, typer.Argument(help="Minute, hour, day, month, weekday. Quote it.")],
    suite: SuiteArgument,
    options: RunOptions,
    zone: Annotated[str, typer.Option(help="Time zone of the cron text, such as Europe/Berlin.")] = "UTC",
    priority: PriorityOption = 5,
    deadline_hours: Annotated[
        float, typer.Option(help="Hours after which a night without a finished run is missing.")
    ] = 24.0,
    runs: RunsOption = Path("runs"),
    ledger: LedgerOption = None,
) -> None:
    """Add a schedule, or replace the one of that name. Each firing is a night of the track."""
    from genbench.team.queue.database import open_queue
    from genbench.team.queue.schedules import add_schedule, firings
    from genbench.team.queue.spec import JobSpec, absolute_spec

    spec = absolute_spec(JobSpec.from_options(replace(options, suite=suite)), Path.cwd())
    with open_queue(ledger) as opened:
        made = add_schedule(
            opened,
            name,
            cron,
            zone,
            spec,
            runs=runs,
            by=user(),
            priority=priority,
            deadline_hours=deadline_hours,
        )
        first = next(firings(made.cron, made.zone, datetime.fromisoformat(made.last)))
    print_lines([f"{made.name}: first on {first.isoformat(timespec='minutes')}"])


@schedule_app.command("remove", epilog=examples("genbench schedule remove nightly"))
def schedule_remove(name: NameArgument, ledger: LedgerOption = None) -> None:
    """Remove a schedule. Its jobs and runs stay."""
    from genbench.team.queue.database import open_queue
    from genbench.team.queue.schedules import remove_schedule

    with open_queue(ledger, create=False) as opened:
        remove_schedule(opened, name)
    print_lines([f"{name}: removed"])


@queue_app.command(
    "work",
    epilog=examples(
        "genbench queue work --gpus 0-7", "genbench queue work --slots 2", "genbench queue work --until-empty"
    ),
)
def queue_work(
    gpus: Annotated[
        str | None, typer.Option(metavar="LIST", help="GPUs of this worker, such as 0-3 or 0,2.")
    ] = None,
    slots: Annotated[
        int, typer.Option(min=1, max=256, help="Without GPUs: how many jobs run at the same time.")
    ] = 1,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when no job waits or runs.")
    ] = False,
    pass_variable: Annotated[
        list[str], typer.Option(metavar="NAME", help="Let jobs inherit this variable too. Repeatable.")
    ] = [],  # noqa: B006
    ledger: LedgerOption = None,
) -> None:
    """Draw the runs of the queue, each in a process of its own.

    Also submits what schedules ask for, sends messages to $GENBENCH_WEBHOOK_URL and by
    $GENBENCH_APPRISE_URLS, statuses of commits to $GENBENCH_GITHUB_REPOSITORY, and scores to the trackers of
    $GENBENCH_TRACKERS (wandb, mlflow, trackio). Ctrl-C or SIGTERM stops all runs cleanly and gives their jobs
    back. A worker that is killed loses nothing: its runs go on, and another worker takes them over.
    """
    from genbench.team.queue.database import open_queue
    from genbench.team.queue.worker import Maintenance, Worker, WorkerOptions
    from genbench.team.trackers.exporter import Exporter, trackers_of

    names = tuple(str(number) for number in range(slots)) if gpus is None else device_names(gpus)
    options = WorkerOptions(
        slots=names,
        gpus=gpus is not None,
        ledger=ledger if ledger is None or "://" in ledger else str(Path(ledger).resolve()),
        until_empty=until_empty,
        pass_variables=tuple(pass_variable),
    )
    with open_queue(ledger) as queue:
        maintenance = Maintenance(queue, say=_say, ledger=options.ledger, channels=_channels())
        exporter = Exporter(queue, trackers_of(os.environ), say=_say, ledger=options.ledger)

        def finished(job: Job) -> None:
            maintenance.finished(job)
            exporter.finished(job)

        def attend() -> None:
            maintenance.run()
            exporter.run()

        running = Worker(queue, options, say=_say, chores=attend, finished=finished)
        _stop_on_signals(running)
        _say(f"worker {running.identity.id}: {len(names)} slots of {queue.where}")
        running.run()
        exporter.close()


def device_names(text: str) -> tuple[str, ...]:
    """Return the devices of a text such as `0-3,6`.

    Raises:
        BadParameter: the text is not a list of device numbers, or names one twice.
    """
    found: list[str] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 9:
            raise typer.BadParameter(
                f"{part.strip()!r}: wanted numbers such as 0-3 or 0,2", param_hint="--gpus"
            )
        end = int(last) if dash else int(first)
        found += [str(number) for number in range(int(first), min(end, int(first) + 255) + 1)]
    if not found or len(set(found)) != len(found):
        raise typer.BadParameter(f"{text!r}: names a device twice, or none", param_hint="--gpus")
    return tuple(found)


def _channels() -> list[Channel]:
    """Return how messages are sent, by the environment."""
    from genbench.team.queue.delivery import SECRET_VARIABLE, URL_VARIABLE, Chat, Webhook
    from genbench.team.queue.notifications import commit_status_of

    found: list[Channel] = []
    url = os.environ.get(URL_VARIABLE)
    if url:
        found.append(Webhook(url, os.environ.get(SECRET_VARIABLE, "")))
    status = commit_status_of(os.environ)
    if status is not None:
        found.append(status)
    urls = os.environ.get("GENBENCH_APPRISE_URLS", "").split()
    if urls:
        found.append(Chat(urls))
    return found


def _stop_on_signals(running: Worker) -> None:
    """Let the first signal drain the worker, and the second end it at once. Its jobs go on then."""

    def handle(number: int, _: object) -> None:
        signal.signal(number, signal.default_int_handler)
        _say("worker: stopping the jobs cleanly; once more to leave them running and end at once")
        running.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


def _say(line: str) -> None:
    from genbench.safetext.printable import printable

    print(printable(line), file=sys.stderr, flush=True)


def _submit_remotely(server: str, options: RunOptions, priority: int) -> JobDetail:
    """Put a job into the queue of a service. Return its record.

    A suite file is sent. Another suite is one of the service, and so are the paths of models.
    """
    from genbench.team.queue.records import Job, JobDetail
    from genbench.team.queue.spec import JobSpec, request_values

    file = Path(options.suite or "")
    suite = {"suite": file.stem, "suite_text": _suite_text(file)} if file.is_file() else {"suite": str(file)}
    models = JobSpec.from_options(options).models
    body = {**request_values(options), "priority": priority, "models": models, **suite}
    job, created = _service(server).submit(body)
    return JobDetail(format=1, job=Job.from_json(job, server), created=created, events=(), log=())


def _remote_detail(server: str, number: int) -> JobDetail:
    """Return a job of a service with its events and log."""
    from genbench.team.queue.records import JobDetail

    record = _service(server).get(f"/jobs/{number}/detail")
    return JobDetail.from_json(record, server)


def _remote_list(server: str, states: Sequence[str], track: str | None, newest: int) -> JobList:
    """Return the newest jobs of a service, its workers and its schedules."""
    from genbench.team.queue.records import JobList

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


def _act_remotely(server: str, number: int, what: str) -> JobDetail:
    """Cancel or retry a job of a service. Return it with its events."""
    _service(server).act(number, what)
    return _remote_detail(server, number)


def _refuse_local(options: RunOptions, others: Mapping[str, object]) -> None:
    """Refuse options that name things of this machine, which the service cannot see."""
    declared = run_options().items()
    local = {
        option.name: getattr(options, name)
        for name, (_, option) in declared
        if option.job and not option.request
    }
    for name, value in {**others, **local}.items():
        if value:
            raise typer.BadParameter(
                "goes without --server; write it into the suite, or submit on its host", param_hint=name
            )


def _service(server: str) -> RemoteService:
    from genbench.team.service.client import RemoteService

    return RemoteService.of_environment(server)


def _suite_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot be read: {error}", param_hint=str(file)) from error
