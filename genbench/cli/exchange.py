"""Commands that write a run for other tools, or read scores from them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from genbench.cli import imports
from genbench.cli.app import EXCHANGE, app, examples
from genbench.cli.options import RunArgument
from genbench.cli.output import lazy_module, say_written

__all__ = ["export", "import_", "imports"]


@app.command(
    rich_help_panel=EXCHANGE,
    epilog=examples(
        "genbench export runs/n/tuned --to inspect --output logs",
        "genbench export runs/n/tuned --to lm-eval -o samples",
    ),
)
def export(
    run_dir: RunArgument,
    to: Annotated[
        str, typer.Option("--to", help="lm-eval, inspect, hf, every_eval_ever, eval_results, or a plug-in.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write into.")],
) -> None:
    """Write a run's samples in the format of another tool.

    lm-eval: for lm-evaluation-harness's readers. inspect: for the Inspect viewer. hf: a dataset repository
    for the Hugging Face hub. every_eval_ever: results and samples in its schema. eval_results: the files
    that a model's repository on the hub has below .eval_results.
    """
    say_written(lazy_module("exchange.export").export(run_dir, to, output), to_stderr=False)


@app.command(
    "import",
    rich_help_panel=EXCHANGE,
    epilog=examples(
        "genbench import samples_gsm8k_2026-01-01T00-00-00.jsonl --filter strict-match -o g.jsonl",
        "genbench import details_aime25.parquet --task aime25 -o a.jsonl",
        "genbench import logs/2026-01-01_gsm8k.eval --metric match -o g.jsonl",
    ),
)
def import_(
    source: Annotated[
        Path, typer.Argument(help="Samples of lm-eval, lighteval, Inspect, every_eval_ever, or our Parquet.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The score file to write.")],
    task: Annotated[
        str | None, typer.Option(help="The task's name. Default: taken from the file's name.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Which metric to read, if there are several.")] = None,
    filter_: Annotated[
        str | None, typer.Option("--filter", help="Which of lm-eval's filters to read.")
    ] = None,
) -> None:
    """Read another tool's samples as a score file.

    The score file can then be given to `genbench estimate` and `genbench compare`.
    """
    reading = lazy_module("exchange.reading")
    lines = reading.import_scores(source, output, reading.ImportChoice(task, metric, filter_))
    say_written([f"{output}: {lines} scores; next: genbench estimate {shlex.quote(str(output))}"], False)
