"""Whether benchmarks themselves are good enough to tell models apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import genbench
from genbench.cli.app import app, examples
from genbench.cli.options import JsonOption, LedgerOption, NotesOption, open_history
from genbench.cli.output import print_record
from genbench.errors import InputError


@app.command(
    epilog=examples(
        "genbench quality runs/n/base runs/n/tuned runs/n/other",
        "genbench quality --track nightly",
        "genbench quality --track nightly --task gpqa_diamond --json",
    ),
)
def quality(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN...", help="Runs of several models of one suite.")
    ] = None,
    track: Annotated[str | None, typer.Option(help="The stored nights, or steps, of this track.")] = None,
    task: Annotated[list[str], typer.Option("--task", help="Only this task. Repeatable.")] = [],  # noqa: B006
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell which benchmarks tell models apart.

    A row a task: useful problems, noise of samples and of nights, order of models on other problems, the
    ceiling by references that look wrong, cost, and what to do. Nothing is drawn.
    """
    from genbench.reports.terminal.estimate import quality_text

    if (track is None) == (not runs):
        raise InputError("name runs, or a track with --track NAME")
    folders = list(runs or ()) if track is None else _nights(track, ledger, notes)
    record = genbench.quality(folders, task, is_track=True if track is not None else None)
    print_record(record, quality_text, as_json)


def _nights(track: str, ledger: str | None, notes: Path | None) -> list[Path]:
    """Return the folders of the newest nights of a track that are there."""
    with open_history(ledger, notes) as history:
        return history.stored_runs(track)
