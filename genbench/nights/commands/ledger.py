"""The index of runs by track and night: add, list, check, correct, and push to a service."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genbench.cli.app import app, command_group, examples
from genbench.cli.options import (
    DataOption,
    JsonOption,
    LedgerOption,
    NotesOption,
    RunArgument,
    ServerOption,
    TrustOption,
)
from genbench.cli.output import CountLine, print_json, print_lines, print_record
from genbench.registry import SERVICE_CLIENT, load_object

if TYPE_CHECKING:
    from genbench.nights.ledger.database import Ledger
    from genbench.nights.ledger.ingest import AddedRun
    from genbench.store.manifest import TrackRecord

ledger_app = command_group("ledger")

TrackArgument = Annotated[str, typer.Argument(help="Name of the track. `genbench ledger list` shows them.")]
FoldersArgument = Annotated[
    list[Path], typer.Argument(help="Run folders, or folders that contain some at any depth.")
]


@ledger_app.callback()
def ledger() -> None:
    """Keep an index of runs by track and night.

    Run folders and the file of notes stay the truth. `ledger rebuild` makes the index again from them.
    """


@ledger_app.command(
    "add",
    epilog=examples(
        "genbench ledger add runs", "genbench ledger add runs/old/tuned --track nightly --night 2026-11-20"
    ),
)
def ledger_add(
    folders: FoldersArgument,
    track: Annotated[
        str | None, typer.Option(help="Track of one run whose manifest names none. With --night or --step.")
    ] = None,
    night: Annotated[str | None, typer.Option(metavar="DATE", help="Night of that run.")] = None,
    step: Annotated[int | None, typer.Option(min=0, help="Training step of that run.")] = None,
    anchor: Annotated[
        bool, typer.Option("--anchor", help="That run is the base's model drawn again, not what is watched.")
    ] = False,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add run folders. Adding one again changes nothing.

    Says for each folder what it did. The exit code is 1 if a folder was refused.
    """
    from genbench.nights.ledger.ingest import add

    place = _place(track, night, step, anchor)
    with _opened(ledger, notes) as opened, CountLine("folders") as progress:
        done = add(opened, folders, place=place, by=_user(), progress=progress)
        _print_added(opened, done, as_json)


@ledger_app.command("list", epilog=examples("genbench ledger list", "genbench ledger list nightly --runs"))
def ledger_list(
    track: Annotated[str | None, typer.Argument(help="Only this track.")] = None,
    runs: Annotated[bool, typer.Option("--runs", help="Also list runs, newest first.")] = False,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tracks: nights, tasks, base, budget and open changes."""
    from genbench.nights.ledger.listing import list_ledger
    from genbench.nights.pages.terminal import ledger_text

    with _opened(ledger, notes, create=False) as opened:
        record = list_ledger(opened, track, runs=runs)
    print_record(record, ledger_text, as_json)


@ledger_app.command("rebuild", epilog=examples("genbench ledger rebuild", "genbench ledger rebuild runs"))
def ledger_rebuild(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="More folders, besides those that were added before.")
    ] = None,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete the tables, and make them again from run folders and notes.

    A damaged SQLite file is kept as FILE.damaged.
    """
    from genbench.nights.ledger.database import open_ledger
    from genbench.nights.ledger.ingest import rebuild

    with open_ledger(ledger, notes, is_rebuilt=True) as opened, CountLine("folders") as progress:
        done = rebuild(opened, folders or (), progress=progress)
        _print_added(opened, done, as_json)


@ledger_app.command(
    "check", epilog=examples("genbench ledger check", "genbench ledger check nightly --quick")
)
def ledger_check(
    track: Annotated[str | None, typer.Argument(help="Only this track.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not read completions and verdicts, only the small files.")
    ] = False,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find run folders that were edited, damaged or removed since they were added.

    The exit code is 1 if a folder was edited or is damaged.
    """
    from genbench.nights.ledger.checking import check
    from genbench.nights.pages.terminal import ledger_text

    with _opened(ledger, notes, create=False) as opened, CountLine("folders") as progress:
        record = check(opened, track, lines=not quick, progress=progress)
    print_record(record, ledger_text, as_json)
    if record.failed:
        raise typer.Exit(1)


@ledger_app.command("rescore", epilog=examples("genbench ledger rescore nightly"))
def ledger_rescore(
    track: TrackArgument,
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the stored completions of a track again, after a verifier was corrected.

    No engine is started. The exit code is 1 if a run could not be verified again.
    """
    from genbench.nights.ledger.rescoring import rescore
    from genbench.nights.pages.terminal import ledger_text
    from genbench.runs.stored.trust import read_kinds

    trusted = read_kinds(trust_run)
    with _opened(ledger, notes, create=False) as opened, CountLine("runs") as progress:
        record = rescore(opened, track, data_dir=data_dir, trusted=trusted, progress=progress)
    print_record(record, ledger_text, as_json)
    if record.skipped:
        raise typer.Exit(1)


@app.command(
    epilog=examples(
        "genbench prune nightly --keep-completions 30d --dry-run",
        "genbench prune nightly --keep-completions 30d --keep-verdicts 1y",
    ),
)
def prune(
    track: TrackArgument,
    keep_completions: Annotated[str, typer.Option(metavar="AGE", help="Keep texts so long: 30d, 8w, 1y.")],
    keep_verdicts: Annotated[
        str | None, typer.Option(metavar="AGE", help="Keep verdicts so long. Default: for ever.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete the texts of old runs of a track: free disk.

    Scores of every problem stay for ever. The base, anchors, runs of open changes and the newest 14 runs keep
    everything.
    """
    from genbench.nights.ledger.pruning import parse_age
    from genbench.nights.ledger.pruning import prune as prune_track
    from genbench.nights.pages.terminal import ledger_text

    with _opened(ledger, notes, create=False) as opened:
        record = prune_track(
            opened,
            track,
            keep_completions=parse_age(keep_completions),
            keep_verdicts=None if keep_verdicts is None else parse_age(keep_verdicts),
            dry_run=dry_run,
        )
    print_record(record, ledger_text, as_json)


@ledger_app.command(
    "base", epilog=examples('genbench ledger base nightly 1a2b3c4d --reason "v2 was released"')
)
def ledger_base(
    track: TrackArgument,
    run: Annotated[str, typer.Argument(help="The run's uid or its first letters, see list --runs.")],
    reason: Annotated[str, typer.Option(help="Why the base changes. It is kept in the notes.")] = "",
    ledger: LedgerOption = None,
    notes: NotesOption = None,
) -> None:
    """Make a run the base of a track, to which every difference is taken."""
    from genbench.nights.ledger.changes import pin_base

    with _opened(ledger, notes, create=False) as opened:
        pin_base(opened, track, run, reason, by=_user())
    print(f"{track}: base is {run}")


@ledger_app.command(
    "note", epilog=examples('genbench ledger note nightly 2026-11-20 "new driver on node 7" --kind engine')
)
def ledger_note(
    track: TrackArgument,
    place: Annotated[str, typer.Argument(metavar="NIGHT|STEP", help="A date, or a training step.")],
    text: Annotated[str, typer.Argument(help="What happened.")],
    kind: Annotated[str, typer.Option(help="engine, data, verifier, base or note.")] = "note",
    ledger: LedgerOption = None,
    notes: NotesOption = None,
) -> None:
    """Add a remark to a night or step of a track. Trends show it."""
    from genbench.nights.ledger.changes import annotate, annotation_kind, position_of

    with _opened(ledger, notes, create=False) as opened:
        found = annotate(opened, track, position_of(place), annotation_kind(kind), text, by=_user())
    print(f"{track}: {found.id} at {place}")


@ledger_app.command(
    "settle",
    epilog=examples(
        'genbench ledger settle c-1a2b3c4d explained --note "new chat template, intended"',
        'genbench ledger settle c-1a2b3c4d dismissed --note "a node with a broken GPU"',
    ),
)
def ledger_settle(
    change: Annotated[str, typer.Argument(help="The change, such as c-1a2b3c4d.")],
    state: Annotated[str, typer.Argument(help="explained: a new level; dismissed: no change of the model.")],
    note: Annotated[str, typer.Option(help="Why. It is kept in the notes.")] = "",
    ledger: LedgerOption = None,
    notes: NotesOption = None,
) -> None:
    """Close an open change by what people found out about it."""
    from genbench.nights.ledger.changes import settle_change, settled_state

    with _opened(ledger, notes, create=False) as opened:
        found = settle_change(opened, change, settled_state(state), by=_user(), note=note)
    print(f"{found.id}: {found.state}")


@ledger_app.command("track", epilog=examples("genbench ledger track nightly --alarms 2 --nights 250"))
def ledger_track(
    track: TrackArgument,
    alarms: Annotated[float | None, typer.Option(help="False alarms that are accepted in a year.")] = None,
    nights: Annotated[float | None, typer.Option(help="Runs of the track in a year.")] = None,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
) -> None:
    """Set the budget of false alarms of a track, and how often it runs."""
    from genbench.nights.ledger.changes import set_track

    with _opened(ledger, notes, create=False) as opened:
        set_track(opened, track, alarms_per_year=alarms, nights_per_year=nights, by=_user())
    kept = [
        f"{value:g} {what}" for value, what in ((alarms, "alarms"), (nights, "runs")) if value is not None
    ]
    print(
        f"{track}: {' and '.join(kept)} a year"
        if kept
        else f"{track}: nothing set; give --alarms or --nights"
    )


def _opened(ledger: str | None, notes: Path | None, *, create: bool = True) -> Ledger:
    from genbench.nights.ledger.database import open_ledger

    return open_ledger(ledger, notes, create=create)


def _place(track: str | None, night: str | None, step: int | None, anchor: bool) -> TrackRecord | None:
    """Return the place that the options give to one run, or None."""
    from genbench.store.manifest import TrackRecord, night_position

    if track is None:
        if night is not None or step is not None or anchor:
            raise typer.BadParameter("--night, --step and --anchor go with --track", param_hint="--track")
        return None
    if (night is None) == (step is None):
        raise typer.BadParameter("give either --night DATE or --step N with it", param_hint="--track")
    try:
        position = step if night is None else night_position(date.fromisoformat(night))
    except ValueError:
        raise typer.BadParameter(f"{night}: wanted a date like 2026-11-22", param_hint="--night") from None
    kind, role = "step" if night is None else "night", "anchor" if anchor else "point"
    return TrackRecord.from_json({"name": track, "kind": kind, "position": position, "role": role}, "--track")


def _print_added(opened: Ledger, done: Sequence[AddedRun], as_json: bool) -> None:
    """Print what was done with each folder. Exit with 1 if one was refused."""
    from genbench.nights.ledger.ingest import added_record
    from genbench.nights.pages.terminal import ledger_text

    record = added_record(opened, done)
    print_record(record, ledger_text, as_json)
    if record.refused:
        raise typer.Exit(1)


def _user() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return "unknown"


@ledger_app.command(
    "push",
    epilog=examples(
        "genbench ledger push runs/nightly-1a2b3c4d/tuned --server https://eval.example.org",
        "genbench ledger push runs/nightly-1a2b3c4d/tuned --server https://eval.example.org --replace",
    ),
)
def ledger_push(
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
    record = load_object(SERVICE_CLIENT).of_environment(server).push(run, replace=replace)
    if as_json:
        print_json(record)
    else:
        found = record["run"]
        place = f"{found['track']} {found['label']}" if found["track"] else "no track"
        print_lines([f"{record['outcome']}: run {found['uid']} of {found['model']}, {place}"])
