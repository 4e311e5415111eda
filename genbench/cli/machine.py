"""Commands about this machine and what genbench ships."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import app
from genbench.cli.options import JsonOption
from genbench.cli.output import print_checks, print_json, verbs


@app.command(epilog="Example: genbench sandbox --mode lcb-compat < programs.jsonl > verdicts.jsonl")
def sandbox(
    mode: Annotated[
        str, typer.Option(help="real: a true process; lcb-compat: LiveCodeBench's evaluator")
    ] = "real",
    tier: Annotated[
        str | None, typer.Option(help="a (bubblewrap) or b (landlock); default: the best here")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="cages at a time; default: the cores")] = None,
    unsafe_local_exec: Annotated[
        bool, typer.Option("--unsafe-local-exec", help="run without a cage, on a machine that you can lose")
    ] = False,
) -> None:
    """Judge programs, one JSON line {kind, fn_name, tests, limits, program} each; verdicts on stdout."""
    for name, value, valid in (("--mode", mode, ("real", "lcb-compat")), ("--tier", tier, ("a", "b", None))):
        if value not in valid:
            raise typer.BadParameter(
                f"{value!r} is none of {', '.join(filter(None, valid))}", param_hint=name
            )
    verbs("sandbox.service").judge_stream(
        sys.stdin.buffer,
        sys.stdout.buffer,
        mode=mode,
        tier=tier,
        workers=workers,
        unsafe_local_exec=unsafe_local_exec,
    )


@app.command(epilog="Example: genbench doctor")
def doctor(as_json: JsonOption = False) -> None:
    """What this machine offers, and what is missing for what."""
    print_checks(list(verbs("runs.preflight").doctor()), as_json)


@app.command(epilog="Example: genbench init nightly.yaml")
def init(path: Annotated[Path, typer.Argument(help="the file to write")] = Path("suite.yaml")) -> None:
    """Write a commented suite to start from."""
    verbs("tasks.catalogue").starter_suite(path)
    print(f"wrote {path}; edit it, then run: genbench check {shlex.quote(str(path))}")


@app.command(epilog="Example: genbench tasks --json")
def tasks(as_json: JsonOption = False) -> None:
    """List the built-in tasks: dataset, k, verifier, licence, gating."""
    catalogue = verbs("tasks.catalogue")
    infos = catalogue.task_infos()
    if as_json:
        print_json([catalogue.info_record(info) for info in infos])
    else:
        print(catalogue.tasks_text(infos))


@app.command(epilog="Example: genbench schema > suite.schema.json")
def schema() -> None:
    """Print the JSON schema of a suite, for editors."""
    print_json(verbs("suite.config").SuiteConfig.model_json_schema())
