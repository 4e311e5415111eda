"""Commands that run a suite, or look at what it would run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import app
from genbench.cli.options import (
    DataOption,
    JsonOption,
    LimitOption,
    ModelOption,
    RunArgument,
    SetOption,
    SuiteArgument,
    TaskOption,
    TestOption,
)
from genbench.cli.output import command_line, print_checks, print_results, say_written, verbs


@app.command(
    epilog="Examples: genbench run quickstart | genbench run suite.yaml --model tuned=./ckpt --limit 30 | "
    "genbench run suite.yaml --responses answers.jsonl --run-dir scored | genbench run S --shard 2/8 "
    "--max-hours 3.9 | genbench run S --model base --model tuned=./ckpt --reuse base=runs/n-1a2b/base"
)
def run(
    suite: SuiteArgument,
    model: ModelOption = [],  # noqa: B006  typer reads the default, nobody appends to it
    run_dir: Annotated[
        Path | None, typer.Option(help="folder of the runs, one folder per model in it")
    ] = None,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    responses: Annotated[
        Path | None, typer.Option(help="ready responses (JSON Lines) instead of an engine")
    ] = None,
    subset: Annotated[
        str | None, typer.Option(help="'responses': leave out problems without responses")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="draw part I of N (a job array), then: genbench merge"),
    ] = None,
    max_hours: Annotated[
        float | None, typer.Option(help="stop cleanly after so many hours (exit 130); run again to go on")
    ] = None,
    reuse: Annotated[
        list[str],
        typer.Option("--reuse", metavar="NAME=RUN", help="take this model's stored run, draw nothing again"),
    ] = [],  # noqa: B006
    lengths_from: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="order the queue by a stored run's lengths"),
    ] = None,
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """Sample, verify and estimate every model of a suite; continues what was begun."""
    pipeline = verbs("pipeline")
    options = pipeline.RunOptions(
        suite=suite,
        models=tuple(model),
        run_dir=run_dir,
        data_dir=data_dir,
        limit=limit,
        tasks=tuple(task),
        responses=responses,
        subset=subset,
        overrides=tuple(set_),
        with_test=with_test,
        command=command_line(),
        shard=shard,
        max_hours=max_hours,
        reuse=tuple(reuse),
        lengths_from=lengths_from,
    )
    report = pipeline.run(options)
    print_results(report.results, report.folders, as_json)
    say_written([f"report: {report.page}"] if report.page else report.notes, as_json)
    if report.failures:
        raise typer.Exit(1)


@app.command(epilog="Example: genbench score runs/nightly-1a2b3c4d/tuned")
def score(
    run_dir: RunArgument,
    data_dir: DataOption = None,
    again: Annotated[bool, typer.Option("--again", help="drop the verdicts that there are first")] = False,
    as_json: JsonOption = False,
) -> None:
    """Verify a stored run (again) without any engine, and write its results and its report."""
    report = verbs("pipeline").score(run_dir, data_dir=data_dir, again=again)
    print_results(report.results, report.folders, as_json)
    say_written([f"report: {report.page}"] if report.page else report.notes, as_json)
    if report.failures:
        raise typer.Exit(1)


@app.command(
    epilog="Examples: genbench merge runs/nightly-1a2b3c4d | genbench merge a/tuned b/tuned --into merged"
)
def merge(
    runs: Annotated[
        list[Path], typer.Argument(help="run folders, or the folder that holds the shard-I-of-N folders")
    ],
    into: Annotated[
        Path | None, typer.Option(help="where RUN_DIR/<model> is made; default: the folder of the shards")
    ] = None,
    data_dir: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Join the parts of one run (see run --shard), verify what lacks a verdict, write results and report."""
    report = verbs("pipeline").merge(runs, into, data_dir=data_dir)
    print_results(report.results, report.folders, as_json)
    say_written([f"report: {report.page}"] if report.page else report.notes, as_json)
    if report.failures:
        raise typer.Exit(1)


@app.command(
    epilog="Examples: genbench prompts quickstart arithmetic | genbench prompts my.yaml --json > asks.jsonl"
)
def prompts(
    suite: SuiteArgument,
    task: Annotated[str | None, typer.Argument(help="one task")] = None,
    model: ModelOption = [],  # noqa: B006
    data_dir: DataOption = None,
    limit: LimitOption = None,
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="every request of the run, one JSON line each")
    ] = False,
) -> None:
    """Print the rendered prompts and their tokens, without an engine."""
    pipeline = verbs("pipeline")
    options = pipeline.RunOptions(
        suite=suite,
        models=tuple(model),
        data_dir=data_dir,
        limit=limit if as_json or limit else 1,
        tasks=(task,) if task else (),
        overrides=tuple(set_),
        with_test=with_test,
    )
    printable = verbs("reports.safe").printable
    for record in pipeline.prompts(options):
        if as_json:
            print(json.dumps(record, ensure_ascii=True))
        elif record["sample_index"] == 0:
            where = f"{record['model']} / {record['task']} / {record['problem_id']}"
            print(f"── {where}: {len(record['prompt_token_ids'])} tokens, seed {record['seed']} of sample 0")
            print(printable(record["prompt"]))
            print(f"token ids: {record['prompt_token_ids']}")


@app.command(epilog="Example: genbench check suite.yaml --data-dir /data/mirror")
def check(
    suite: SuiteArgument,
    model: ModelOption = [],  # noqa: B006
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """Pre-flight: data, digests, templates, context budget, verifiers, disk; seconds, no engine."""
    options = verbs("pipeline").RunOptions(
        suite=suite,
        models=tuple(model),
        data_dir=data_dir,
        limit=limit,
        tasks=tuple(task),
        overrides=tuple(set_),
        with_test=with_test,
    )
    checks = verbs("runs.preflight").check_suite(options)
    print_checks(checks, as_json)
    if any(item.state == "error" for item in checks):
        raise typer.Exit(2)
