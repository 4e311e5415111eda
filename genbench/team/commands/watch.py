"""Commands that watch a training run for checkpoints."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import command_group, examples
from genbench.cli.options import DataOption, JsonOption, LedgerOption, SetOption, TaskOption
from genbench.cli.output import print_lines, print_record
from genbench.runs.options import RunOptions
from genbench.team.commands.queue import PriorityOption, RunsOption, user

watch_app = command_group("watch")


@watch_app.callback()
def watch() -> None:
    """Evaluate checkpoints while a training run writes them."""


@watch_app.command(
    "start",
    epilog=examples(
        "genbench watch start out --suite sft.yaml --track sft-42",
        "genbench watch start out --suite sft.yaml --track sft-42 --every 500 --until 20000",
        "genbench watch start out --suite sft.yaml --track s --pattern 'global_step_*/actor/huggingface'",
    ),
)
def watch_start(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that the trainer writes to.")],
    suite: Annotated[str, typer.Option(help="Suite that draws the checkpoints.")],
    track: Annotated[str, typer.Option(help="Track that the checkpoints become points of.")],
    name: Annotated[str | None, typer.Option(help="Name of the watch. Default: the track.")] = None,
    pattern: Annotated[
        list[str],
        typer.Option(
            help="Checkpoints in it. Default: checkpoint-*, step_*, global_step*, iter_*. Repeatable."
        ),
    ] = [],  # noqa: B006
    every: Annotated[int, typer.Option(min=1, help="Only steps that this number divides.")] = 1,
    until: Annotated[
        int | None, typer.Option(min=0, help="Last step. It is drawn in any case, and ends the command.")
    ] = None,
    pending: Annotated[int, typer.Option(min=1, max=1000, help="Most jobs that wait or run.")] = 2,
    settle: Annotated[float, typer.Option(min=0, help="Seconds without a change of any file.")] = 60.0,
    marker: Annotated[
        str, typer.Option(help="File that the trainer writes last; auto finds it, none waits for no file.")
    ] = "auto",
    pin: Annotated[str, typer.Option(help="auto: share or link the kept files; copy: copy them.")] = "auto",
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    data_dir: DataOption = None,
    responses: Annotated[Path | None, typer.Option(help="Score these ready responses.")] = None,
    priority: PriorityOption = 5,
    poll: Annotated[float, typer.Option(min=0.05, help="Seconds between two looks.")] = 10.0,
    once: Annotated[
        bool, typer.Option("--once", help="Look once, for cron. A checkpoint needs two looks.")
    ] = False,
    runs: RunsOption = Path("runs"),
    ledger: LedgerOption = None,
) -> None:
    """Queue each complete checkpoint of a training run.

    Its files are kept until it is drawn, even if the trainer deletes them. A worker draws it.
    The command runs until Ctrl-C, or until the last step is drawn. It may be stopped and started at any time.
    """
    from genbench.team.queue.database import open_queue
    from genbench.team.queue.spec import JobSpec, absolute_spec
    from genbench.team.watch.readiness import needs_tokenizer
    from genbench.team.watch.watcher import Watcher, require_watched
    from genbench.team.watch.watches import PATTERNS, WatchRules

    plain = JobSpec.from_options(RunOptions(suite, data_dir=data_dir, responses=responses))
    absolute = absolute_spec(plain, Path.cwd()).options()
    rules = WatchRules.from_json(
        {
            "folder": str(folder.resolve()),
            "patterns": pattern or list(PATTERNS),
            "suite": absolute.suite,
            "track": track,
            "runs": str(runs.resolve()),
            "every": every,
            "until": until,
            "most_pending": pending,
            "settle_s": settle,
            "marker": marker,
            "pin": pin,
            "tasks": task,
            "overrides": set_,
            "data_dir": absolute.data_dir,
            "responses": absolute.responses,
            "priority": priority,
        },
        "the options",
    )
    require_watched(Path(rules.folder))
    tokenizer = needs_tokenizer(rules)
    with open_queue(ledger) as queue:
        watcher = Watcher(queue, name or track, rules, by=user(), tokenizer=tokenizer, say=_say)
        stop = _stop_on_signals()
        try:
            while True:
                watcher.poll()
                if once or watcher.is_over or stop.wait(poll):
                    break
        finally:
            watcher.close()


@watch_app.command("list", epilog=examples("genbench watch list", "genbench watch list sft-42 --json"))
def watch_list(
    name: Annotated[str | None, typer.Argument(help="Only this watch.")] = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List watched training runs and their checkpoints."""
    from genbench.team.queue.database import open_queue
    from genbench.team.text import watch_text
    from genbench.team.watch.watches import WatchList, get_watch, list_watches

    with open_queue(ledger, create=False) as queue:
        found = list_watches(queue) if name is None else [get_watch(queue, name)]
    print_record(WatchList(format=1, watches=tuple(found)), watch_text, as_json)


@watch_app.command("remove", epilog=examples("genbench watch remove sft-42"))
def watch_remove(
    name: Annotated[str, typer.Argument(help="Name of the watch.")], ledger: LedgerOption = None
) -> None:
    """Forget a watch and its kept files. Jobs and runs stay."""
    from genbench.team.queue.database import open_queue
    from genbench.team.watch.watches import remove_watch

    with open_queue(ledger, create=False) as queue:
        for pin in remove_watch(queue, name):
            shutil.rmtree(pin, ignore_errors=True)
    print_lines([f"{name}: removed"])


@watch_app.command(
    "best",
    epilog=examples("genbench watch best sft-42", "genbench watch best sft-42 --top 5 --json"),
)
def watch_best(
    name: Annotated[str, typer.Argument(help="Name of the watch.")],
    top: Annotated[int, typer.Option(min=1, max=50, help="How many checkpoints.")] = 3,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the best checkpoints again with a fresh seed.

    The best of many is partly lucky. A second draw shows how much. Run it again to see the second scores.
    """
    from genbench.nights.ledger.database import open_ledger
    from genbench.team.queue.database import open_queue
    from genbench.team.text import best_text
    from genbench.team.watch.best import draw_best_again

    with (
        open_ledger(ledger, create=False) as opened,
        open_queue(ledger, create=False) as queue,
    ):
        record = draw_best_again(opened, queue, name, top=top, by=user())
    print_record(record, best_text, as_json)


def _stop_on_signals() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _say(line: str) -> None:
    from genbench.safetext.printable import printable

    print(printable(line), file=sys.stderr, flush=True)
