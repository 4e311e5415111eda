"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SuiteArgument = Annotated[str, typer.Argument(help="a suite file, or the name of a shipped suite")]
ModelOption = Annotated[
    list[str],
    typer.Option("--model", metavar="NAME[=PATH]", help="run this model alone; =PATH gives its checkpoint"),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="offline mirror DIR/<org>/<name>/<config>/<split>.jsonl|parquet"),
]
LimitOption = Annotated[int | None, typer.Option(help="at most N problems a task; limits nest")]
TaskOption = Annotated[list[str], typer.Option("--task", help="run this task alone; may be given again")]
SetOption = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="override a key: decoding.temperature=0.7")
]
TestOption = Annotated[
    bool, typer.Option("--with-test", help="run tasks of role test too; each use is counted")
]
JsonOption = Annotated[bool, typer.Option("--json", help="results as JSON on stdout, nothing else")]
RunArgument = Annotated[Path, typer.Argument(help="the folder of one run: RUN_DIR/<model>")]
SideArgument = Annotated[Path, typer.Argument(help="a run folder RUN_DIR/<model>, or a score file")]
AllowOption = Annotated[
    list[str],
    typer.Option("--allow", metavar="NAME", help="let this difference through; may be given again"),
]
RunsArgument = Annotated[
    list[Path], typer.Argument(help="run folders RUN_DIR/<model>; the first is what the others change from")
]
