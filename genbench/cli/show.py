"""Commands that show runs: tables, samples, progress, fewer tokens, checkpoints, and the report."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import genbench
from genbench.cli.app import app, examples
from genbench.cli.options import (
    AllowOption,
    DataOption,
    JsonOption,
    RunArgument,
    RunsArgument,
    TrustOption,
)
from genbench.cli.output import print_json, print_lines, print_record, print_results, say_written

if TYPE_CHECKING:
    from genbench.analysis.budgets import CutScores
    from genbench.reports.browse import ProblemRow, Row, SampleFilter, SampleRow


@app.command(
    epilog=examples(
        "genbench report runs/n/base runs/n/tuned", "genbench report runs/n/tuned --format md -o comment.md"
    ),
)
def report(
    runs: RunsArgument,
    format_: Annotated[
        str, typer.Option("--format", help="html, md (for a pull request), json or csv.")
    ] = "html",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write. Default for md, json and csv: stdout."),
    ] = None,
    allow: AllowOption = [],  # noqa: B006
    with_sensitive: Annotated[
        bool,
        typer.Option(
            "--with-sensitive",
            help="Include prompts and answers of sensitive tasks (HarmBench, StrongREJECT, XSTest …).",
        ),
    ] = False,
) -> None:
    """Write a page or Markdown of one or more runs.

    HTML is written as report.html, with samples.parquet. Markdown, JSON and CSV are printed. CSV has one row
    for each run and task.
    """
    from genbench.reports.write import report_text
    from genbench.store.json_files import replace

    if format_ == "html":
        page = genbench.report(runs, output, allow=allow, with_sensitive=with_sensitive).page
        say_written([f"report: {page}"], to_stderr=False)
        return
    text = report_text(runs, format_, allow=allow)
    if output is None:
        print(text, end="" if format_ == "csv" else "\n")
    else:
        replace(output, text.encode())
        say_written([f"report: {output}"], to_stderr=False)


@app.command(
    epilog=examples(
        "genbench show runs/q/tuned",
        "genbench show runs/q/tuned arithmetic a-17",
        "genbench show runs/q/base arithmetic --status truncated",
        "genbench show runs/q/base arithmetic --with runs/q/tuned --flip gained",
    ),
)
def show(
    run_dir: RunArgument,
    task: Annotated[str | None, typer.Argument(help="Show the problems of this task.")] = None,
    problem: Annotated[str | None, typer.Argument(help="Show the samples of this problem.")] = None,
    status: Annotated[
        str | None, typer.Option(help="Only samples of this status: wrong, truncated …")
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Only the sample with this index.")] = None,
    min_tokens: Annotated[int | None, typer.Option(help="Only samples of at least this many tokens.")] = None,
    with_: Annotated[
        Path | None,
        typer.Option("--with", help="A second run, in a second column if the terminal is wide enough."),
    ] = None,
    flip: Annotated[
        str | None, typer.Option(help="gained or lost: only what --with scores higher, or lower.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: its table, its wrong answers, its samples."""
    from genbench.pipeline import latest_results
    from genbench.reports.browse import SampleFilter, sample_rows, task_rows
    from genbench.reports.terminal.show import (
        reviewed_lines,
        sample_pairs_text,
        samples_text,
        task_pairs_text,
        task_text,
    )

    wanted = SampleFilter(status, sample, min_tokens, flip)
    if task is None:
        if with_ is not None or wanted != SampleFilter():
            raise typer.BadParameter(
                f"wanted with these options: genbench show {run_dir} TASK", param_hint="TASK"
            )
        results = latest_results(run_dir)
        print_results({results.model: results}, {results.model: run_dir}, as_json)
        if not as_json:
            print_lines(reviewed_lines(run_dir, results))
        return
    if flip is not None and with_ is None:
        raise typer.BadParameter("goes with --with RUN", param_hint="--flip")

    def problems(run: Path, kept: SampleFilter) -> list[ProblemRow]:
        return task_rows(run, task, kept)

    def samples(run: Path, kept: SampleFilter) -> list[SampleRow]:
        return sample_rows(run, task, problem or "", kept)

    def columns(pairs: Sequence[tuple[SampleRow, SampleRow | None]]) -> Iterable[str]:
        return sample_pairs_text(pairs, (str(run_dir), str(with_)), shutil.get_terminal_size().columns)

    if problem is None:
        _print_rows(run_dir, with_, wanted, problems, task_text, task_pairs_text, as_json)
    else:
        _print_rows(run_dir, with_, wanted, samples, samples_text, columns, as_json)


def _print_rows(
    run: Path,
    second: Path | None,
    wanted: SampleFilter,
    read: Callable[[Path, SampleFilter], list[Row]],
    text: Callable[[Sequence[Row]], Iterable[str]],
    pairs_text: Callable[[Sequence[tuple[Row, Row | None]]], Iterable[str]],
    as_json: bool,
) -> None:
    """Print the rows of a run that pass, or next to them those of a second run."""
    from genbench.reports.browse import paired

    if second is None:
        rows = read(run, wanted)
        if as_json:
            print_json([row.to_json() for row in rows])
        else:
            print_lines(text(rows))
        return
    pairs = paired(run, second, read, wanted)
    if as_json:
        print_json(
            [
                {"first": first.to_json(), "second": None if other is None else other.to_json()}
                for first, other in pairs
            ]
        )
    else:
        print_lines(pairs_text(pairs))


@app.command(epilog=examples("genbench status runs/q", "genbench status runs/q/tuned --json"))
def status(
    run_dir: Annotated[Path, typer.Argument(help="The folder of a run, RUN_DIR, or RUN_DIR/<model>.")],
    as_json: JsonOption = False,
) -> None:
    """Show how far a run is: samples, speed, time left."""
    from genbench.reports.terminal.show import status_text

    print_record(genbench.status(run_dir), status_text, as_json)


@app.command(
    epilog=examples(
        "genbench budgets runs/q/tuned --verify",
        "genbench budgets runs/q/tuned aime25 --at 4096,8192,32768 --with runs/q/base",
    ),
)
def budgets(
    run_dir: RunArgument,
    task: Annotated[str | None, typer.Argument(help="Only this task.")] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="N,N",
            help="At most so many tokens a reply. Default: the run's own limit, halved again and again.",
        ),
    ] = None,
    with_: Annotated[Path | None, typer.Option("--with", help="The base, to compare with.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify what replies had said by then. Closes the bounds.")
    ] = False,
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Show what a run would have scored with fewer tokens.

    The stored replies tell: what had ended counts as it is, an open trace as wrong, an answer that had begun
    as unknown.
    """
    from genbench.reports.terminal.show import budgets_text

    if not verify and (data_dir is not None or trust_run):
        raise typer.BadParameter(
            "goes with --verify", param_hint="--trust-run" if trust_run else "--data-dir"
        )
    chosen = [task] if task else []
    record = genbench.budgets(
        run_dir,
        with_,
        chosen,
        at=_budgets(at),
        cut=_cut(run_dir, chosen, data_dir, trust_run) if verify else None,
        base_cut=_cut(with_, chosen, data_dir, trust_run) if verify and with_ is not None else None,
    )
    print_record(record, budgets_text, as_json)


@app.command(
    epilog=examples(
        "genbench checkpoints runs/base --task piqa --measure bpb_gold",
        "genbench checkpoints runs/small runs/large --html curves.html",
    ),
)
def checkpoints(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN_DIR", help="Folders of `run --models-from`, one for each training run."),
    ],
    task: Annotated[list[str], typer.Option("--task", help="Only this task. Repeatable.")] = [],  # noqa: B006
    measure: Annotated[
        list[str], typer.Option("--measure", help="Only this measure, such as bpb_gold. Repeatable.")
    ] = [],  # noqa: B006
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a page of the curves.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which checkpoint is best, with curves by step.

    Measures that tell checkpoints apart come first: by the change over the noise of one step. The best
    checkpoint is shown with and without the luck of being the best of several. Several training runs are
    also ranked: for each step, how far their order is that of the end.
    """
    from genbench.analysis.curves import curves
    from genbench.reports.curves import curves_text, write_curves_page

    record = curves(folders, task, measure)
    print_record(record, curves_text, as_json)
    if html is not None:
        say_written([f"page: {write_curves_page(record, html)}"], as_json)


def _cut(run: Path, tasks: Sequence[str], data_dir: Path | str | None, trust: Sequence[str]) -> CutScores:
    """Verify the beginnings of a run's replies."""
    from genbench.runs.options import path_or_none
    from genbench.runs.stored.trust import read_kinds

    found = genbench.cut_scores(run, tasks, data_dir=path_or_none(data_dir), trusted=read_kinds(trust))
    if not any(found.values()):
        what = "no answer was cut: only vLLM runs store where, from 1,024 tokens on"
        say_written([f"--verify: {run}: {what}"], to_stderr=True)
    return found


def _budgets(text: str | None) -> list[int]:
    """Return the budgets of an option, none for the run's own limit and its halves."""
    if text is None:
        return []
    try:
        return [int(item) for item in text.split(",")]
    except ValueError:
        what = f"{text!r}: wanted whole numbers with commas"
        raise typer.BadParameter(what, param_hint="--at") from None
