"""Commands that show a run: its report, its progress, its samples."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from genbench.cli.app import LOOK, app, examples
from genbench.cli.options import AllowOption, JsonOption, RunArgument, RunsArgument
from genbench.cli.output import lazy_module, print_json, print_lines, print_record, print_results, say_written


@app.command(
    rich_help_panel=LOOK,
    epilog=examples(
        "genbench report runs/n/base runs/n/tuned", "genbench report runs/n/tuned --format md -o comment.md"
    ),
)
def report(
    runs: RunsArgument,
    format_: Annotated[str, typer.Option("--format", help="html, md (for a pull request) or json.")] = "html",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write. Default for md and json: stdout."),
    ] = None,
    allow: AllowOption = [],  # noqa: B006
) -> None:
    """Write the report of one or more runs.

    HTML is written as report.html, with samples.parquet. Markdown and JSON are printed.
    """
    reporting = lazy_module("reports.write")
    if format_ == "html":
        say_written([f"report: {reporting.report(runs, output, allow=allow).page}"], to_stderr=False)
        return
    text = reporting.report_text(runs, format_, allow=allow)
    if output is None:
        print(text)
    else:
        lazy_module("store.json_files").replace(output, text.encode())
        say_written([f"report: {output}"], to_stderr=False)


@app.command(
    rich_help_panel=LOOK,
    epilog=examples("genbench parity", "genbench parity bfcl_v3", "genbench parity runs/mmlu-1a2b3c4d/llama"),
)
def parity(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders RUN_DIR/<model>, or names of cards. Default: all cards are listed."),
    ] = None,
    stored: Annotated[
        Path, typer.Option("--runs", help="The folder of runs from which the list has its states.")
    ] = Path("runs"),
    as_json: JsonOption = False,
) -> None:
    """Compare a run with published scores, or list them.

    The published scores are those of the parity cards. A run of a whole card stores its state, and the list
    shows it.

    A score agrees if the 95% interval of the difference contains zero. A run made with --responses neither
    agrees nor differs: this engine did not draw it.
    """
    module, cards = lazy_module("reports.parity"), lazy_module("reports.parity")
    named = cards.named_cards(runs or [])
    if named and not as_json:
        states = module.stored_states(stored)
        print("\n\n".join(module.card_text(card, states) for card in named))
    elif named:
        print_json(module.cards_record(named, stored))
    elif runs:
        found = module.parity_report(runs)
        if as_json:
            print_json(found.to_json())
        else:
            print(module.parity_text(found))
    elif as_json:
        print_json(module.cards_record(cards.parity_cards(), stored))
    else:
        print(module.cards_text(cards.parity_cards(), module.stored_states(stored)))


@app.command(
    rich_help_panel=LOOK,
    epilog=examples("genbench status runs/n-1a2b3c4d", "watch genbench status runs/n-1a2b3c4d"),
)
def status(
    run_dir: Annotated[Path, typer.Argument(help="RUN_DIR, or one run RUN_DIR/<model>. It may be running.")],
    as_json: JsonOption = False,
) -> None:
    """Show the progress of a run from another terminal.

    Prints samples, tokens per second, time left, and which process writes the run.
    """
    print_record(
        lazy_module("runs.stored.status").status(run_dir), "reports.terminal.show:status_text", as_json
    )


@app.command(
    rich_help_panel=LOOK,
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
    """Show a run: its table, the problems of a task, or samples.

    With --with, a second run is shown next to it.
    """
    if task is None:
        results = lazy_module("pipeline").latest_results(run_dir)
        print_results({results.model: results}, {results.model: run_dir}, as_json)
        return
    browse = lazy_module("reports.browse")
    wanted = browse.SampleFilter(status, sample, min_tokens, flip)
    if flip is not None and with_ is None:
        raise typer.BadParameter("goes with --with RUN", param_hint="--flip")

    def read(run: Path, kept: Any) -> Any:
        if problem is None:
            return browse.task_rows(run, task, kept)
        return browse.sample_rows(run, task, problem, kept)

    found = browse.paired(run_dir, with_, read, wanted) if with_ else read(run_dir, wanted)
    if as_json:
        print_json([_pair_json(*pair) for pair in found] if with_ else [row.to_json() for row in found])
    else:
        print_lines(_shown(found, problem, (str(run_dir), str(with_)) if with_ else None))


def _pair_json(first: Any, second: Any) -> dict[str, Any]:
    return {"first": first.to_json(), "second": None if second is None else second.to_json()}


def _shown(found: Any, problem: str | None, names: tuple[str, str] | None) -> Iterator[str]:
    """Yield the records, or the pairs of records of two runs, as lines."""
    text = lazy_module("reports.terminal.show")
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
