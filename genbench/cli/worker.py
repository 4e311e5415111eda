"""The command that runs the jobs of the queue."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from genbench.cli.app import SERVICE, app, examples
from genbench.cli.options import LedgerOption
from genbench.cli.output import lazy_module


@app.command(
    rich_help_panel=SERVICE,
    epilog=examples(
        "genbench worker --gpus 0-7", "genbench worker --slots 2", "genbench worker --until-empty"
    ),
)
def worker(
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
    workers = lazy_module("queue.worker")
    names = tuple(str(number) for number in range(slots)) if gpus is None else device_names(gpus)
    options = workers.WorkerOptions(
        slots=names,
        gpus=gpus is not None,
        ledger=ledger if ledger is None or "://" in ledger else str(Path(ledger).resolve()),
        until_empty=until_empty,
        pass_variables=tuple(pass_variable),
    )
    with lazy_module("queue.database").open_queue(ledger) as queue:
        chores = lazy_module("queue.chores").Chores(
            queue, say=_say, ledger=options.ledger, channels=_channels()
        )
        exports = lazy_module("trackers.exporter")
        exporter = exports.Exporter(queue, exports.trackers_of(os.environ), say=_say, ledger=options.ledger)

        def finished(job: Any) -> None:
            chores.finished(job)
            exporter.finished(job)

        def attend() -> None:
            chores.run()
            exporter.run()

        running = workers.Worker(queue, options, say=_say, chores=attend, finished=finished)
        _stop_on_signals(running)
        _say(f"worker {running.identity.id}: {len(names)} slots of {queue.where}")
        running.run()
        exporter.close()


def device_names(text: str) -> tuple[str, ...]:
    """Return the devices of a text such as `0-3,6`.

    Raises:
        BadParameter: the text is no list of device numbers, or names one twice.
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


def _channels() -> list[Any]:
    """Return how messages are sent, by the environment."""
    delivery, found = lazy_module("queue.delivery"), list[Any]()
    url = os.environ.get(delivery.URL_VARIABLE)
    if url:
        found.append(delivery.Webhook(url, os.environ.get(delivery.SECRET_VARIABLE, "")))
    status = lazy_module("queue.commits").commit_status_of(os.environ)
    if status is not None:
        found.append(status)
    urls = os.environ.get("GENBENCH_APPRISE_URLS", "").split()
    if urls:
        found.append(lazy_module("queue.chat").Chat(urls))
    return found


def _stop_on_signals(running: Any) -> None:
    """Let the first signal drain the worker, and the second end it at once. Its jobs go on then."""

    def handle(number: int, _: object) -> None:
        signal.signal(number, signal.default_int_handler)
        _say("worker: stopping the jobs cleanly; once more to leave them running and end at once")
        running.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


def _say(line: str) -> None:
    print(lazy_module("safetext.printable").printable(line), file=sys.stderr, flush=True)
