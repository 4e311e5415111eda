"""Commands that follow a model: what changed along a track, and the gate of every night."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated, Literal

import typer

from genbench.cli.app import app, examples
from genbench.cli.options import JsonOption, LedgerOption, NotesOption, RunArgument
from genbench.cli.output import print_record, say_written


@app.command(
    epilog=examples(
        "genbench trend nightly",
        "genbench trend nightly --html trend.html",
        "genbench trend nightly --since 2026-11-16 --json",
        "genbench trend nightly --explain CHANGE --note 'longer context since Tuesday'",
        "genbench trend nightly --dismiss CHANGE --note 'the data server was down'",
    ),
)
def trend(
    track: Annotated[
        str, typer.Argument(metavar="TRACK", help="The track, as `genbench ledger list` names it.")
    ],
    ledger: LedgerOption = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the page of the track.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="NIGHT",
            help="The sentence speaks of the time from this night (YYYY-MM-DD) or step on. Default: the last "
            "Friday, or the checkpoint before the newest.",
        ),
    ] = None,
    points: Annotated[int, typer.Option(min=2, help="Show so many of the newest runs of each task.")] = 60,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CHANGE",
            help="Close this change: it is real and wanted. The level after it is the new one.",
        ),
    ] = None,
    dismiss: Annotated[
        str | None,
        typer.Option(
            metavar="CHANGE", help="Close this change: it is not real. Its runs stay in the history."
        ),
    ] = None,
    note: Annotated[str | None, typer.Option(help="Why, with --explain or --dismiss.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show scores over nights or steps, and what changed.

    Looks for changes on every run that was not looked at before. An unchanged model is called changed once a
    year, for any number of tasks.
    """
    from genbench.nights.ledger.changes import close_change
    from genbench.nights.ledger.database import open_ledger
    from genbench.nights.pages.page import write_trend_page
    from genbench.nights.pages.text import trend_text
    from genbench.nights.trend.compose import trend as read_trend

    if (explain is None) != (dismiss is None) and not (note or "").strip():
        raise typer.BadParameter("say why the change is closed, with --note WHY", param_hint="--note")
    if explain is not None and dismiss is not None:
        raise typer.BadParameter("goes without --explain", param_hint="--dismiss")
    if note is not None and explain is None and dismiss is None:
        raise typer.BadParameter("goes with --explain or --dismiss", param_hint="--note")
    with open_ledger(ledger, create=False) as opened:
        change = explain or dismiss
        if change is not None:
            state: Literal["explained", "dismissed"] = "explained" if explain is not None else "dismissed"
            close_change(opened, track, change, state, by=getpass.getuser(), note=note or "")
        record = read_trend(opened, track, since=since, points=points)
    print_record(record, trend_text, as_json)
    if html is not None:
        say_written([f"page: {write_trend_page(record, html)}"], as_json)


@app.command(
    epilog=examples(
        "genbench gate runs/nightly/2026-11-22-1a2b3c4d/tuned",
        "genbench gate runs/tonight/tuned --track nightly --policy nightly",
        "genbench gate runs/tonight/tuned --policy release.yaml --json",
    ),
)
def gate(
    run: RunArgument,
    track: Annotated[str | None, typer.Option(help="The run's track. Default: that of its manifest.")] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="Tiers and margins. Default: the tasks that the suite declares gating are critical.",
        ),
    ] = None,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide if tonight's run passes: a CI check.

    The history is that of the run's track. The run is added to the ledger. Its chance of a false alarm is the
    track's yearly budget over the runs of a year, so that the gate can be asked every night.

    Exit codes: 0 pass, 1 fail, 2 could not be asked.
    """
    from genbench.nights.ledger.database import open_ledger
    from genbench.nights.pages.terminal import gate_text
    from genbench.nights.policy.config import policy_path, read_policy
    from genbench.nights.policy.gate import nightly_gate
    from genbench.nights.trend.detect import detect_changes
    from genbench.store.folder import RunFolder

    config = None
    if policy is not None:
        config = read_policy(policy_path(policy))
    RunFolder(run).require_manifest()  # a typing mistake makes no ledger
    with open_ledger(ledger, notes) as opened:
        record = nightly_gate(opened, Path(run), track, policy=config, detect=detect_changes)
    print_record(record, gate_text, as_json)
    if record.exit_code:
        raise typer.Exit(record.exit_code)
