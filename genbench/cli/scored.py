"""Commands on log-probabilities: the perplexity of documents, and curves of checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import LOOK, RUN, app, examples
from genbench.cli.options import DataOption, JsonOption, LimitOption, ModelOption, SetOption
from genbench.cli.output import command_line, print_record, print_report, say_written


@app.command(
    rich_help_panel=RUN,
    epilog=examples(
        "genbench perplexity held-out.jsonl --model ./ckpt",
        "genbench perplexity notes.txt --model ./ckpt --window 1024",
        "genbench perplexity wikitext --model base=ORG/BASE --model tuned=./ckpt",
        "genbench perplexity ORG/DATASET --split validation --column content --model ./ckpt",
        "genbench perplexity held-out.jsonl --models-from 'ckpt/step-*'",
    ),
)
def perplexity(
    data: Annotated[
        str,
        typer.Argument(
            help="A file of documents (JSON Lines, Parquet, CSV, or one text), a dataset ORG/NAME, or a task "
            "of documents such as wikitext."
        ),
    ],
    model: ModelOption = [],  # noqa: B006  typer reads the default, nobody appends to it
    column: Annotated[str, typer.Option(help="The column of the documents.")] = "text",
    config: Annotated[str, typer.Option(help="The config of a dataset.")] = "default",
    split: Annotated[str, typer.Option(help="The split of a dataset.")] = "test",
    window: Annotated[
        int | None,
        typer.Option(min=2, help="Tokens that are scored at a time. Default: the model's context."),
    ] = None,
    models_from: Annotated[
        list[str],
        typer.Option("--models-from", metavar="PATTERN", help="Every complete checkpoint that matches."),
    ] = [],  # noqa: B006
    run_dir: Annotated[
        Path | None, typer.Option(help="Where to write. Each model gets a folder in it.")
    ] = None,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    set_: SetOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Measure the perplexity of models on your own held-out text.

    Prints bits per byte, and perplexities by byte, word and token, with intervals over documents. Documents
    are scored in disjoint windows, so the values depend on --window. The same command continues a run.
    """
    from genbench.pipeline import RunOptions, run
    from genbench.runs.perplexity import perplexity_options

    options = RunOptions(
        models=tuple(model),
        models_from=tuple(models_from),
        run_dir=run_dir,
        data_dir=data_dir,
        limit=limit,
        overrides=tuple(set_),
        command=command_line(),
    )
    make = perplexity_options
    wanted = make(data, options, column=column, config=config, split=split, window=window)
    report = run(wanted)
    print_report(report, as_json)
    if report.failures:
        raise typer.Exit(1)


@app.command(
    rich_help_panel=LOOK,
    epilog=examples(
        "genbench curves runs/base",
        "genbench curves runs/base --task piqa --measure bpb_gold",
        "genbench curves runs/small runs/large --html curves.html",
    ),
)
def curves(
    run_dirs: Annotated[
        list[Path], typer.Argument(help="Folders of run --models-from, one for each training run.")
    ],
    task: Annotated[list[str], typer.Option("--task", help="Only this task. Repeatable.")] = [],  # noqa: B006
    measure: Annotated[
        list[str], typer.Option("--measure", help="Only this measure, such as bpb_gold. Repeatable.")
    ] = [],  # noqa: B006
    html: Annotated[
        Path | None, typer.Option("--html", "--output", "-o", help="Write a page with charts to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the measures of checkpoints by training step.

    Measures that tell checkpoints apart come first: by the change over the noise of one step. Several
    training runs are also ranked: for each step, how far their order is that of the end. The best
    checkpoint is shown with and without the luck of being the best of several.
    """
    from genbench.analysis.curves import curves as read_curves
    from genbench.reports.trend.steps import curves_text, write_curves_page

    record = read_curves(run_dirs, task, measure)
    print_record(record, curves_text, as_json)
    if html is not None:
        page = write_curves_page(record, html)
        say_written([f"page: {page}"], as_json)
