"""Commands that show a run: its table, its progress, its samples, its report."""

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
    RunsArgument,
    TrustOption,
    check_mode,
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
    """Write the report of one or more runs.

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
        "genbench show runs/q/tuned --budgets all --verify",
        "genbench show runs/q/tuned aime25 --budgets 4096,8192,32768 --with runs/q/base",
        "genbench show runs/q --progress",
    ),
)
def show(
    context: typer.Context,
    run_dir: Annotated[
        Path, typer.Argument(help="The folder of one run: RUN_DIR/<model>. With --progress also RUN_DIR.")
    ],
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
    budgets: Annotated[
        str | None,
        typer.Option(
            "--budgets",
            metavar="N,N|all",
            help="Show what the run would have scored with at most N tokens a reply; all: its own limit, "
            "halved again and again. --with names the base.",
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="With --budgets: verify what replies had said by then. Closes the bounds."
        ),
    ] = False,
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    progress: Annotated[
        bool, typer.Option("--progress", help="Show the progress of a run, which may be running.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a run: its table, the problems of a task, or samples.

    With --with, a second run is shown next to it. With --budgets, the score at fewer tokens, which the stored
    replies tell: what had ended counts as it is, an open trace as wrong, an answer that had begun as unknown.
    With --progress, samples, tokens per second, time left and
    the process that writes the run are shown, from another terminal.
    """
    from genbench.pipeline import latest_results
    from genbench.reports.browse import SampleFilter, sample_rows, task_rows
    from genbench.reports.terminal.show import (
        budgets_text,
        reviewed_lines,
        sample_pairs_text,
        samples_text,
        status_text,
        task_pairs_text,
        task_text,
    )

    check_mode(context, "--progress", progress, shared=("run_dir", "as_json"))
    shared = ("run_dir", "task", "with_", "as_json", "verify", "data_dir", "trust_run")
    check_mode(context, "--budgets", budgets is not None, shared=shared)
    if verify and budgets is None:
        raise typer.BadParameter("goes with --budgets", param_hint="--verify")
    if progress:
        print_record(genbench.status(run_dir), status_text, as_json)
        return
    if budgets is not None:
        chosen = [task] if task else []
        record = genbench.budgets(
            run_dir,
            with_,
            chosen,
            at=_budgets(budgets),
            cut=_cut(run_dir, chosen, data_dir, trust_run) if verify else None,
            base_cut=_cut(with_, chosen, data_dir, trust_run) if verify and with_ is not None else None,
        )
        print_record(record, budgets_text, as_json)
        return
    if task is None:
        results = latest_results(run_dir)
        print_results({results.model: results}, {results.model: run_dir}, as_json)
        if not as_json:
            print_lines(reviewed_lines(run_dir, results))
        return
    if flip is not None and with_ is None:
        raise typer.BadParameter("goes with --with RUN", param_hint="--flip")
    wanted = SampleFilter(status, sample, min_tokens, flip)

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


def _cut(run: Path, tasks: Sequence[str], data_dir: Path | str | None, trust: Sequence[str]) -> CutScores:
    """Verify the beginnings of a run's replies."""
    from genbench.runs.options import path_or_none
    from genbench.runs.stored.trust import read_kinds

    found = genbench.cut_scores(run, tasks, data_dir=path_or_none(data_dir), trusted=read_kinds(trust))
    if not any(found.values()):
        what = "no answer was cut: only vLLM runs store where, from 1,024 tokens on"
        say_written([f"--verify: {run}: {what}"], to_stderr=True)
    return found


def _budgets(text: str) -> list[int]:
    """Return the budgets of an option, none for `all`."""
    if text == "all":
        return []
    try:
        return [int(item) for item in text.split(",")]
    except ValueError:
        what = f"{text!r}: wanted whole numbers with commas, or all"
        raise typer.BadParameter(what, param_hint="--budgets") from None


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
