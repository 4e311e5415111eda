"""Commands that show what a run holds, and carry it out and in."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from genbench.cli.app import app
from genbench.cli.options import JsonOption, RunArgument, RunsArgument
from genbench.cli.output import print_json, print_lines, print_record, print_results, say_written, verbs


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
    reporting = verbs("reports.write")
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


@app.command(epilog="Examples: genbench status runs/n-1a2b | watch genbench status runs/n-1a2b")
def status(
    run_dir: Annotated[Path, typer.Argument(help="RUN_DIR, or one run RUN_DIR/<model>; it may be running")],
    as_json: JsonOption = False,
) -> None:
    """What a run is doing, from another terminal: samples, tokens a second, time left, who writes it."""
    print_record(verbs("runs.status").status(run_dir), "status_text", as_json)


@app.command(
    epilog="Examples: genbench show runs/q-1a2b/tuned | genbench show runs/q-1a2b/tuned arithmetic a-17 | "
    "genbench show runs/q/base arithmetic --status truncated --with runs/q/tuned --flip gained"
)
def show(
    run_dir: RunArgument,
    task: Annotated[str | None, typer.Argument(help="one task: its problems")] = None,
    problem: Annotated[str | None, typer.Argument(help="one problem: its samples")] = None,
    status: Annotated[str | None, typer.Option(help="only what has this status: wrong, truncated …")] = None,
    sample: Annotated[int | None, typer.Option(help="only the sample of this number")] = None,
    min_tokens: Annotated[int | None, typer.Option(help="only samples of this length or longer")] = None,
    with_: Annotated[
        Path | None, typer.Option("--with", help="a second run, in columns where the terminal is wide enough")
    ] = None,
    flip: Annotated[
        str | None, typer.Option(help="gained or lost: what --with scores higher, or lower")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Look at a run: its table, a task's problems, a problem's samples; alone or beside another run."""
    if task is None:
        results = verbs("pipeline").latest_results(run_dir)
        print_results({results["model"]: results}, {results["model"]: run_dir}, as_json)
        return
    browse = verbs("reports.browse")
    wanted = browse.Filter(status, sample, min_tokens, flip)
    if flip is not None and with_ is None:
        raise typer.BadParameter("goes with --with RUN", param_hint="--flip")

    def read(run: Path, kept: Any) -> Any:
        if problem is None:
            return browse.task_rows(run, task, kept)
        return browse.sample_records(run, task, problem, kept)

    found = browse.paired(run_dir, with_, read, wanted) if with_ else read(run_dir, wanted)
    if as_json:
        print_json([{"first": one, "second": two} for one, two in found] if with_ else found)
    else:
        print_lines(_shown(found, problem, (str(run_dir), str(with_)) if with_ else None))


def _shown(found: Any, problem: str | None, names: tuple[str, str] | None) -> Iterator[str]:
    """The records, or pairs of them, as lines."""
    text = verbs("reports.browse_text")
    if names is None:
        return (
            text.task_text(found)
            if problem is None
            else chain.from_iterable(text.sample_text(one) for one in found)
        )
    if problem is None:
        return text.task_pairs_text(found)  # type: ignore[no-any-return]
    width = shutil.get_terminal_size().columns
    return text.sample_pairs_text(found, names, width)  # type: ignore[no-any-return]
