"""Commands that show what a run holds, and carry it out and in."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import app
from genbench.cli.options import JsonOption, RunArgument, RunsArgument
from genbench.cli.output import print_json, print_lines, print_results, say_written, verbs


@app.command(
    epilog="Examples: genbench report runs/n/base runs/n/tuned | genbench report runs/n/tuned --format md"
)
def report(
    runs: RunsArgument,
    format_: Annotated[str, typer.Option("--format", help="html, md (for a pull request) or json")] = "html",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="the file to write; md and json: else stdout")
    ] = None,
) -> None:
    """Write report.html (with samples.parquet), or print Markdown or JSON."""
    reporting = verbs("reporting")
    if format_ == "html":
        say_written([f"report: {reporting.write_page(runs, output).page}"], to_stderr=False)
        return
    text = reporting.report_text(runs, format_)
    if output is None:
        print(text)
    else:
        verbs("store.jsonlines").replace(output, text.encode())
        say_written([f"report: {output}"], to_stderr=False)


@app.command(epilog="Example: genbench export runs/n/tuned --to inspect --output logs")
def export(
    run_dir: RunArgument,
    to: Annotated[str, typer.Option("--to", help="lm-eval, inspect or hf")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the folder to write into")],
) -> None:
    """Write a run's samples for lm-eval's readers, the Inspect viewer, or as a hub dataset."""
    say_written(verbs("exchange.export").export(run_dir, to, output), to_stderr=False)


@app.command(
    "import",
    epilog="Examples: genbench import samples_gsm8k_2026-01-01T00-00-00.jsonl --filter strict-match "
    "-o g.jsonl | genbench import details_aime25.parquet --task aime25 -o a.jsonl",
)
def import_(
    source: Annotated[Path, typer.Argument(help="lm-eval samples, lighteval details, or samples.parquet")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the score file to write")],
    task: Annotated[str | None, typer.Option(help="the task's name; else from the file's name")] = None,
    metric: Annotated[str | None, typer.Option(help="the metric, where there are several")] = None,
    filter_: Annotated[str | None, typer.Option("--filter", help="lm-eval's filter")] = None,
) -> None:
    """Read another tool's samples as a score file, for estimate and compare."""
    reading = verbs("exchange.reading")
    lines = reading.import_scores(source, output, reading.Choice(task, metric, filter_))
    say_written([f"{output}: {lines} scores; next: genbench estimate {shlex.quote(str(output))}"], False)


@app.command(
    epilog="Examples: genbench show runs/q-1a2b/tuned | genbench show runs/q-1a2b/tuned arithmetic a-17 | "
    "genbench show runs/q/base arithmetic --status truncated --with runs/q/tuned"
)
def show(
    run_dir: RunArgument,
    task: Annotated[str | None, typer.Argument(help="one task: its problems")] = None,
    problem: Annotated[str | None, typer.Argument(help="one problem: its samples")] = None,
    status: Annotated[str | None, typer.Option(help="only what has this status: wrong, truncated …")] = None,
    sample: Annotated[int | None, typer.Option(help="only the sample of this number")] = None,
    with_: Annotated[Path | None, typer.Option("--with", help="a second run, shown beside")] = None,
    as_json: JsonOption = False,
) -> None:
    """Look at a run: its table, a task's problems, a problem's samples; alone or beside another run."""
    if task is None:
        results = verbs("pipeline").latest_results(run_dir)
        print_results({results["model"]: results}, {results["model"]: run_dir}, as_json)
        return
    browse = verbs("browse")
    runs = [run_dir, *([with_] if with_ else [])]
    found = [
        browse.task_rows(run, task) if problem is None else browse.sample_records(run, task, problem)
        for run in runs
    ]
    records = browse.kept(found[0], status, sample)
    if with_ is not None:
        pairs = browse.beside(records, found[1])
        if as_json:
            print_json([{"first": first, "second": second} for first, second in pairs])
        else:
            print_lines(browse.beside_text(pairs, (str(run_dir), str(with_))))
    elif as_json:
        print_json(records)
    elif problem is None:
        print_lines(browse.task_text(records))
    else:
        for record in records:
            print_lines(browse.sample_text(record))
