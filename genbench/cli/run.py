"""Commands that sample, verify and estimate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import genbench
from genbench.cli.app import app, examples
from genbench.cli.options import (
    DataOption,
    JsonOption,
    LimitOption,
    ModelOption,
    RunArgument,
    SetOption,
    TaskOption,
    TestOption,
    TrustOption,
    check_mode,
)
from genbench.cli.output import command_line, print_report

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
        "genbench run --perplexity held-out.jsonl --model ./ckpt",
        "genbench run --perplexity ORG/DATASET --split validation --column content --model ./ckpt",
    ),
)
def run(
    context: typer.Context,
    suite: Annotated[
        str | None,
        typer.Argument(help="A suite file, or the name of a shipped suite. Or give --model and --task."),
    ] = None,
    model: ModelOption = [],  # noqa: B006  typer reads the default, nobody appends to it
    run_dir: Annotated[
        Path | None, typer.Option(help="Where to write. Each model gets a folder in it.")
    ] = None,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Samples of each problem, without a suite file.")
    ] = None,
    responses: Annotated[
        Path | None, typer.Option(help="Score these ready responses (JSON Lines); start no engine.")
    ] = None,
    subset: Annotated[
        str | None, typer.Option(help="'responses': leave out problems that have no responses.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Draw part I of N, for job arrays. Join the parts with merge."),
    ] = None,
    max_hours: Annotated[
        float | None, typer.Option(help="Stop cleanly after this many hours (exit 130).")
    ] = None,
    reuse: Annotated[
        list[str],
        typer.Option(
            "--reuse", metavar="NAME=RUN", help="Take this model's stored run instead of drawing. Repeatable."
        ),
    ] = [],  # noqa: B006
    lengths_from: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Start the problems that were longest in this run first."),
    ] = None,
    stop_on_degenerate: Annotated[
        bool,
        typer.Option(
            "--stop-on-degenerate",
            help="End the run if half of its first 50 samples are empty, padding or one token repeated.",
        ),
    ] = False,
    night: Annotated[
        bool,
        typer.Option(
            "--night", help="Draw tonight's run of the track in a folder of its own, also if nothing changed."
        ),
    ] = False,
    night_of: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="The same for another night. A night lasts from noon to noon."),
    ] = None,
    track: Annotated[
        str | None, typer.Option(help="Name of the track. Default: the suite's track, or its name.")
    ] = None,
    models_from: Annotated[
        list[str],
        typer.Option(
            "--models-from",
            metavar="PATTERN",
            help="Draw every complete checkpoint that this quoted pattern matches, as a track by step. "
            "Repeatable.",
        ),
    ] = [],  # noqa: B006
    interim: Annotated[
        bool,
        typer.Option(
            "--interim",
            help="Print estimates with intervals at 10, 25, 50 and 75 % of each task. They are no decision.",
        ),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="BASE_RUN", help="The stored base, with --adaptive. 64 samples a problem are best."
        ),
    ] = None,
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive", help="Draw in rounds; stop each task when its comparison with --against is decided."
        ),
    ] = False,
    finish: Annotated[
        bool,
        typer.Option(
            "--finish", help="With --adaptive: after a task REGRESSED, go on until all are decided."
        ),
    ] = False,
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    perplexity: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Measure the perplexity on held-out text instead: a file of documents (JSON Lines, Parquet, "
            "CSV, or one text), a dataset ORG/NAME, or a task of documents such as wikitext.",
        ),
    ] = None,
    column: Annotated[str, typer.Option(help="With --perplexity: the column of the documents.")] = "text",
    config: Annotated[str, typer.Option(help="With --perplexity: the config of a dataset.")] = "default",
    split: Annotated[str, typer.Option(help="With --perplexity: the split of a dataset.")] = "test",
    window: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="With --perplexity: tokens that are scored at a time. Default: the model's context.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Sample, verify and estimate every model of a suite.

    Without a suite file, --model PATH and --task NAME say what is run, under the default decoding.

    With --perplexity, bits per byte, and perplexities by byte, word and token are printed, with intervals
    over documents. Documents are scored in disjoint windows, so the values depend on --window.

    The same command continues a run that was stopped. A finished run draws nothing again.
    """
    from genbench.pipeline import RunOptions
    from genbench.runs.perplexity import perplexity_options

    check_mode(
        context,
        "--perplexity",
        perplexity is not None,
        own=("column", "config", "split", "window"),
        shared=("model", "models_from", "run_dir", "data_dir", "limit", "set_", "as_json"),
    )
    options = RunOptions(
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
        k=k,
        stop_on_degenerate=stop_on_degenerate,
        track=track,
        night=night,
        night_of=night_of,
        models_from=tuple(models_from),
        against=against,
        adaptive=adaptive,
        finish=finish,
        interim=interim,
    )
    if perplexity is not None:
        options = perplexity_options(
            perplexity, options, column=column, config=config, split=split, window=window
        )
    _finish(genbench.run(options), as_json)


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
    """Verify a stored run without an engine.

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
    """Join the parts of one run (see run --shard).

    Responses without a verdict are verified, then results and report are written.
    """

    _finish(genbench.merge(runs, into, data_dir=data_dir, trust=trust_run), as_json)


def _finish(report: RunReport, as_json: bool) -> None:
    """Print a report. Exit with 1 if its numbers must not be used."""
    print_report(report, as_json)
    if report.failures:
        raise typer.Exit(1)
