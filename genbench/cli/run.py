"""Commands that sample, verify and estimate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import genbench
from genbench.cli.app import app, examples
from genbench.cli.options import (
    DataOption,
    JsonOption,
    RunArgument,
    TaskOption,
    TrustOption,
    with_run_options,
)
from genbench.cli.output import command_line, print_record, print_report
from genbench.runs.options import RunOptions, run_options

if TYPE_CHECKING:
    from genbench.pipeline import RunReport


@app.command(
    epilog=examples(
        "genbench run quickstart",
        "genbench run --model ./ckpt --task gsm8k --k 4",
        "genbench run suite.yaml --model tuned=./ckpt --limit 30",
        "genbench run suite.yaml --responses answers.jsonl --run-dir scored",
        "genbench run suite.yaml --shard 2/8 --max-hours 3.9",
        "genbench run suite.yaml --reuse base=runs/n-1a2b3c4d/base",
        "genbench run suite.yaml --models-from 'sft/checkpoint-*'",
        "genbench run nightly.yaml --model tuned=./checkpoints/latest --night",
        "genbench run suite.yaml --model tuned=./ckpt --against runs/base/base --adaptive",
    ),
)
@with_run_options(*run_options())
def run(
    options: RunOptions,
    suite: Annotated[
        str | None,
        typer.Argument(help="A suite file, or the name of a shipped suite. Or give --model and --task."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw and score a suite, or score answers that you have.

    Without a suite file, --model PATH and --task NAME say what is run, under the default decoding. With
    --responses FILE nothing is drawn, and no engine is needed.

    The same command continues a run that was stopped. A finished run draws nothing again.
    """
    _finish(genbench.run(replace(options, suite=suite, command=command_line())), as_json)


@app.command(
    epilog=examples(
        "genbench perplexity held-out.jsonl --model ./ckpt",
        "genbench perplexity wikitext --model base=./base --model tuned=./ckpt",
        "genbench perplexity ORG/DATASET --split validation --column content --model ./ckpt",
    ),
)
@with_run_options("models", "models_from", "run_dir", "data_dir", "limit", "overrides")
def perplexity(
    options: RunOptions,
    data: Annotated[
        str,
        typer.Argument(
            help="A file of documents (JSON Lines, Parquet, CSV, or one text), a dataset ORG/NAME, or a task "
            "of documents such as wikitext.",
        ),
    ],
    column: Annotated[str, typer.Option(help="The column of the documents.")] = "text",
    config: Annotated[str, typer.Option(help="The config of a dataset.")] = "default",
    split: Annotated[str, typer.Option(help="The split of a dataset.")] = "test",
    window: Annotated[
        int | None,
        typer.Option(min=2, help="Tokens that are scored at a time. Default: the model's context."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure perplexity and bits per byte on text of yours.

    Perplexities are by byte, word and token, with intervals over documents. Documents are scored in disjoint
    windows, so the values depend on --window. The result is a run like others.
    """
    from genbench.runs.perplexity import perplexity_options

    options = replace(options, command=command_line())
    scored = perplexity_options(data, options, column=column, config=config, split=split, window=window)
    _finish(genbench.run(scored), as_json)


@app.command(
    epilog=examples(
        "genbench score runs/n-1a2b3c4d/tuned",
        "genbench score runs/n-1a2b3c4d/tuned --again",
        "genbench score runs/n-1a2b3c4d/tuned --suite edited.yaml",
    ),
)
def score(
    run_dir: RunArgument,
    data_dir: DataOption = None,
    again: Annotated[bool, typer.Option("--again", help="Drop the stored verdicts first.")] = False,
    suite: Annotated[
        str | None,
        typer.Option(help="Score under this edited suite, in a new folder: references, verifier options."),
    ] = None,
    into: Annotated[Path | None, typer.Option(help="The new folder, with --suite.")] = None,
    trust_run: TrustOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Score stored answers again, without an engine.

    Responses without a verdict are verified, then results and report are written anew. With --suite the
    run keeps its references, and its samples are scored again in a folder of their own. A run that you did
    not make is refused if its suite asks for code, the network, variables or other files.
    """

    if into is not None and suite is None:
        raise typer.BadParameter("goes with --suite", param_hint="--into")
    report = genbench.score(run_dir, data_dir=data_dir, again=again, suite=suite, into=into, trust=trust_run)
    _finish(report, as_json)


@app.command(
    epilog=examples("genbench merge runs/n-1a2b3c4d", "genbench merge a/tuned b/tuned --into merged"),
)
def merge(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or the folder that contains the shard-I-of-N folders.")
    ],
    into: Annotated[
        Path | None, typer.Option(help="Where to write <model>/. Default: the folder of the shards.")
    ] = None,
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Join the parts of a run that was drawn in shards.

    Responses without a verdict are verified, then results and report are written.
    """

    _finish(genbench.merge(runs, into, data_dir=data_dir, trust=trust_run), as_json)


@app.command(
    epilog=examples(
        "genbench audit runs/n-1a2b3c4d/tuned",
        "genbench audit published/tuned --draw 50 --checkpoint ./ckpt --trust-run files",
    ),
)
def audit(
    run_dir: RunArgument,
    draw: Annotated[int, typer.Option(metavar="N", min=1, help="How many samples to draw again.")] = 20,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the choice of samples. Default: another one each time."),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="PATH", help="The checkpoint of the run, if it is elsewhere now.")
    ] = None,
    task: TaskOption = [],  # noqa: B006
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Draw samples of a stored run again, and compare.

    The same terms and seeds give the same tokens on equal hardware. On other hardware, with another build of
    the engine, or on a GPU without engine.batch_invariant, scores and log-probabilities are compared instead.
    The run stays as it is. Nothing is signed.

    Exit codes: 1 the replies are not those of the run, 2 bad input, 3 it cannot be drawn again here.
    """
    from genbench.reports.terminal.audit import audit_text
    from genbench.runs.stored.trust import read_kinds

    record = genbench.audit(
        run_dir,
        draw,
        seed=seed,
        checkpoint=checkpoint,
        tasks=task,
        data_dir=data_dir,
        trust=read_kinds(trust_run),
    )
    print_record(record, audit_text, as_json)
    if record.exit_code:
        raise typer.Exit(record.exit_code)


def _finish(report: RunReport, as_json: bool) -> None:
    """Print a report. Exit with 1 if its numbers must not be used."""
    print_report(report, as_json)
    if report.failures:
        raise typer.Exit(1)
