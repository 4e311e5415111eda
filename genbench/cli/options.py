"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

SuiteArgument = Annotated[str, typer.Argument(help="A suite file, or the name of a shipped suite.")]
ModelOption = Annotated[
    list[str],
    typer.Option(
        "--model", metavar="NAME[=PATH]", help="Only this model. =PATH gives its checkpoint. Repeatable."
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Offline mirror of datasets: DIR/<org>/<name>/<config>/<split>.jsonl|parquet."
    ),
]
LimitOption = Annotated[
    int | None, typer.Option(help="At most N problems per task. A smaller limit is a subset of a larger one.")
]
TaskOption = Annotated[list[str], typer.Option("--task", help="Only this task. Repeatable.")]
SetOption = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a key of the suite, e.g. decoding.temperature=0.7."
    ),
]
TestOption = Annotated[
    bool, typer.Option("--with-test", help="Also run tasks of role test. Each use is counted.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print results as JSON, and nothing else on stdout.")
]
RunArgument = Annotated[Path, typer.Argument(help="The folder of one run: RUN_DIR/<model>.")]
SideArgument = Annotated[Path, typer.Argument(help="A run folder RUN_DIR/<model>, or a score file.")]
TrustOption = Annotated[
    list[str],
    typer.Option(
        "--trust-run",
        metavar="KIND",
        help="Let a run folder from elsewhere do this: code, network, environment or files. Repeatable.",
    ),
]
AllowOption = Annotated[
    list[str],
    typer.Option("--allow", metavar="NAME", help="Compare in spite of this difference. Repeatable."),
]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PATH|URL",
        help="SQLite file, or postgresql://HOST/DATABASE. Default: $GENBENCH_LEDGER or runs/ledger.sqlite3.",
    ),
]
NotesOption = Annotated[
    Path | None,
    typer.Option(
        "--notes", metavar="FILE", help="File of notes. Default: next to the SQLite file, *.notes.jsonl."
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="GENBENCH_SERVER",
        show_envvar=False,
        help="A genbench serve elsewhere, with the token in $GENBENCH_TOKEN. Default: $GENBENCH_SERVER.",
    ),
]
RunsArgument = Annotated[
    list[Path], typer.Argument(help="Run folders RUN_DIR/<model>. The others are compared with the first.")
]


def check_mode(
    context: typer.Context, mode: str, chosen: bool, *, own: Collection[str] = (), shared: Collection[str]
) -> None:
    """Refuse options that do not go with a mode of a command, such as `compare --published`.

    Args:
        mode: the option that chooses the mode.
        chosen: whether it was given.
        own: parameters that go with the mode only.
        shared: parameters that go with the mode and without it.
    """
    for item in context.command.params:
        source = context.get_parameter_source(item.name or "")
        if source is None or source.name != "COMMANDLINE" or item.opts[0] == mode:
            continue
        if chosen and item.name not in {*own, *shared}:
            raise typer.BadParameter(f"goes without {mode}", param_hint=item.opts[0])
        if not chosen and item.name in own:
            raise typer.BadParameter(f"goes with {mode}", param_hint=item.opts[0])
