"""Commands that follow a model: what changed along a track or along steps, and the gate of every night."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated, Literal

import typer

from genbench.cli.app import app, examples
from genbench.cli.options import JsonOption, LedgerOption, NotesOption, RunArgument, check_mode
from genbench.cli.output import print_record, say_written


@app.command(
    epilog=examples(
        "genbench trend nightly",
        "genbench trend nightly --html trend.html",
        "genbench trend nightly --since 2026-11-16 --json",
        "genbench trend nightly --explain CHANGE --note 'longer context since Tuesday'",
        "genbench trend nightly --dismiss CHANGE --note 'the data server was down'",
        "genbench trend --steps runs/base --task piqa --measure bpb_gold",
        "genbench trend --steps runs/small runs/large --html curves.html",
    ),
)
def trend(
    context: typer.Context,
    tracks: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACK",
            help="The track, as `genbench ledger list` names it. With --steps folders of run --models-from, "
            "one for each training run.",
        ),
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
    steps: Annotated[
        bool, typer.Option("--steps", help="Show the measures of checkpoints by training step.")
    ] = False,
    task: Annotated[list[str], typer.Option("--task", help="With --steps: only this task. Repeatable.")] = [],  # noqa: B006
    measure: Annotated[
        list[str],
        typer.Option("--measure", help="With --steps: only this measure, such as bpb_gold. Repeatable."),
    ] = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Show what changed along a track of runs.

    Looks for changes on every run that was not looked at before. An unchanged model is called changed once a
    year, for any number of tasks.

    With --steps, measures that tell checkpoints apart come first: by the change over the noise of one step.
    Several training runs are also ranked: for each step, how far their order is that of the end. The best
    checkpoint is shown with and without the luck of being the best of several.
    """
    from genbench.analysis.curves import curves as read_curves
    from genbench.nights.ledger.changes import close_change
    from genbench.nights.ledger.database import open_ledger
    from genbench.nights.pages.page import write_trend_page
    from genbench.nights.pages.text import trend_text
    from genbench.nights.trend.compose import trend as read_trend
    from genbench.reports.curves import curves_text, write_curves_page

    check_mode(context, "--steps", steps, own=("task", "measure"), shared=("tracks", "html", "as_json"))
    if steps:
        curves = read_curves([Path(folder) for folder in tracks], task, measure)
        print_record(curves, curves_text, as_json)
        if html is not None:
            say_written([f"page: {write_curves_page(curves, html)}"], as_json)
        return
    if len(tracks) != 1:
        raise typer.BadParameter(f"wanted one track, found {len(tracks)}", param_hint="TRACK")
    (track,) = tracks
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
    """Decide on tonight's run by the base and the history.

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
