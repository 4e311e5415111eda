"""Commands that look for problems of benchmarks in what a model was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import genbench
from genbench.cli.app import command_group, examples
from genbench.cli.options import (
    AllowOption,
    DataOption,
    JsonOption,
    LedgerOption,
    LimitOption,
    NotesOption,
    TrustOption,
    open_history,
)
from genbench.cli.output import print_record
from genbench.errors import InputError

contamination_app = command_group("contamination")


@contamination_app.callback()
def contamination() -> None:
    """Look for test questions in training data.

    `text` searches training files. `runs` looks at what models solve.
    """


@contamination_app.command(
    "text",
    epilog=examples(
        "genbench contamination text aime25 math500 --corpus sft/*.jsonl.zst",
        "genbench contamination text nightly.yaml --corpus sft/ --data-dir mirror --json > overlap.json",
        "genbench contamination text report_2026 --corpus sft.jsonl --write sft-clean.jsonl",
    ),
)
def contamination_text(
    tasks: Annotated[
        list[str], typer.Argument(metavar="TASK...", help="A built-in task, or a suite with all its tasks.")
    ],
    corpus: Annotated[
        list[Path],
        typer.Option(
            "--corpus",
            metavar="FILE",
            help="A training file (.jsonl, .parquet, .txt; also .gz, .zst) or a folder of them. Repeatable; "
            "further files may follow the tasks.",
        ),
    ] = [],  # noqa: B006
    data_dir: DataOption = None,
    limit: LimitOption = None,
    n: Annotated[int, typer.Option("--n", help="Words of an n-gram. The default is that of GPT-3.")] = 13,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="FILE",
            help="Write the lines of the training file (one, of JSON Lines) that have no n-gram of a task.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search training files for questions of tasks.

    Lists the file, the line, the problem and the matched text. Memory does not grow with the files.
    """
    from genbench.reports.terminal.contamination import overlap_text
    from genbench.runs.training_overlap import split_arguments

    chosen, files = split_arguments(tasks, corpus)
    record = genbench.overlap(chosen, files, mirror=data_dir, limit=limit, n=n, quiet=quiet, write=write)
    print_record(record, overlap_text, as_json)


@contamination_app.command(
    "runs",
    epilog=examples(
        "genbench contamination runs runs/n/base runs/n1/tuned runs/n2/tuned runs/n3/tuned",
        "genbench contamination runs runs/n/base runs/n3/tuned --task gpqa_diamond --json",
        "genbench contamination runs --track nightly runs/tonight/tuned",
        "genbench contamination runs runs/n/base runs/n/tuned --twins gsm8k=gsm_plus",
    ),
)
def contamination_runs(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="The base, then runs of earlier models, then the model that is tested (RUN_DIR/<model>).",
        ),
    ],
    track: Annotated[
        str | None,
        typer.Option(help="Take the base and the earlier runs from this track. RUN is then the tested one."),
    ] = None,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
    task: Annotated[list[str], typer.Option("--task", help="Test only this task. Repeatable.")] = [],  # noqa: B006
    allow: AllowOption = [],  # noqa: B006
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    twins: Annotated[
        list[str],
        typer.Option(
            "--twins", metavar="TASK=TWIN", help="Two tasks of the runs, the second of rewritten problems."
        ),
    ] = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Look for signs that a model has seen a task.

    Counts problems that base never solves and the model always solves, against the same of earlier models.
    Tests whether choice questions are solved more often in the dataset's order of options. No GPU is used.
    """
    from genbench.reports.terminal.contamination import contamination_text
    from genbench.runs.options import path_or_none
    from genbench.runs.stored.trust import read_kinds

    kinds = read_kinds(trust_run)
    folder = path_or_none(data_dir)
    if track is not None:
        runs = _runs_of(track, runs, ledger, notes)
    pairs = dict(_twin_names(text) for text in twins)
    record = genbench.contamination(
        runs, tasks=task, allow=allow, data_dir=folder, trusted=kinds, twins=pairs
    )
    print_record(record, contamination_text, as_json)


def _twin_names(text: str) -> tuple[str, str]:
    name, _, twin = text.partition("=")
    if not name or not twin:
        raise typer.BadParameter(f"{text!r}: wanted TASK=TWIN", param_hint="--twins")
    return name, twin


def _runs_of(track: str, runs: list[Path], ledger: str | None, notes: Path | None) -> list[Path]:
    """Return the base of a track, its earlier runs, and the run that is tested."""
    if len(runs) != 1:
        raise InputError(f"--track {track}: name the tested run alone, found {len(runs)} runs")
    with open_history(ledger, notes) as history:
        return history.previous_runs(track, runs[0])
