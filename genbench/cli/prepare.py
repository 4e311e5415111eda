"""Commands that prepare a run: suites, tasks, this machine, data, judges."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import genbench
from genbench.cli.app import app, command_group, examples
from genbench.cli.options import DataOption, JsonOption, RunArgument, check_mode, with_run_options
from genbench.cli.output import (
    print_checks,
    print_json,
    print_lines,
    print_record,
    print_suites_checked,
)
from genbench.errors import ConfigError
from genbench.runs.options import RunOptions

if TYPE_CHECKING:
    from genbench.pipeline import RunOptions
    from genbench.runs.execution.preflight import Check


_ASKED = ("models", "data_dir", "limit", "tasks", "k", "overrides", "with_test", "trust_code")
"""Options of `genbench run` that say what is asked of whom."""

OneSuite = Annotated[
    str | None,
    typer.Argument(help="A suite file, or the name of a shipped suite. Or give --model and --task."),
]


@app.command(epilog=examples("genbench doctor", "genbench doctor --json"))
def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: GPUs, engine, sandbox, data.

    Exit code 2 means that the installed engine cannot run here.
    """
    checks = list(genbench.doctor())
    print_checks(checks, as_json)
    if any(item.state == "error" for item in checks):
        raise typer.Exit(2)


@app.command(
    epilog=examples(
        "genbench tasks",
        "genbench tasks mmlu",
        "genbench tasks --family maths",
        "genbench tasks --language de",
        "genbench tasks --long",
    ),
)
def tasks(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Words of the name or of the summary. A whole name shows one task."),
    ] = None,
    family: Annotated[str | None, typer.Option(help="What they measure: knowledge, maths, code …")] = None,
    kind: Annotated[
        str | None, typer.Option(help="How answers are checked: math, choice, exact, code …")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Code of a language of the questions, such as de.")
    ] = None,
    long: Annotated[
        bool, typer.Option("--long", help="Show whole summaries, and the licences of the data.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the benchmarks by what they ask for, or show one.

    Each is shown with its rows, number of samples per problem (k), and whether its dataset is gated. One task
    is shown with its dataset, licence, options, protocols and the scores that others report.
    """
    from genbench.tasks.catalogue import find_tasks, known_tasks, task_record, task_text, tasks_text

    found = find_tasks(known_tasks(), words or [], family, kind, language)
    named = [item for item in found if words == [item.info.name]]
    if as_json:
        print_json([task_record(item) for item in named or found])
    elif named:
        print(task_text(named[0]))
        others = ", ".join(item.info.name for item in found if item not in named)
        print(f"others with '{named[0].info.name}': {others}" if others else "", end="\n" if others else "")
    else:
        print(tasks_text([item.info for item in found], shutil.get_terminal_size().columns, long=long))


@app.command(epilog=examples("genbench plugins", "genbench plugins --json"))
def plugins(as_json: JsonOption = False) -> None:
    """List everything that a suite or a command can name.

    Tasks, verifiers, metrics, engines, export formats and judge forms are listed, each with the package that
    brings it. What is wrong with a plug-in is said on stderr.
    """
    from genbench import registry

    found, mistakes = registry.plug_ins(), registry.mistakes()
    if as_json:
        keys = ("category", "name", "target", "package", "version")
        records = [{key: asdict(item)[key] for key in keys} for item in found]
        print_json({"plug_ins": records, "mistakes": mistakes})
        return
    rows = [("category", "name", "package", "module:attribute")]
    rows += [(item.category, item.name, f"{item.package} {item.version}", item.target) for item in found]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for mistake in mistakes:
        print(f"genbench: {mistake}", file=sys.stderr)


@app.command(
    epilog=examples(
        "genbench init",
        "genbench init --data problems.csv",
        "genbench init nightly.yaml --data rows.jsonl --model tuned=./checkpoints/tuned",
        "genbench init --schema > suite.schema.json",
    )
)
def init(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("suite.yaml"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="Rows of your own: JSON Lines, CSV or Parquet. Columns, kind and prompt are guessed."
        ),
    ] = None,
    model: Annotated[
        list[str],
        typer.Option("--model", metavar="NAME=PATH", help="With --data: a model of the suite. Repeatable."),
    ] = [],  # noqa: B006
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a suite, for editors; write nothing.")
    ] = False,
) -> None:
    """Write a suite to start from, of your own rows if given."""
    from genbench.suite.config import SuiteConfig
    from genbench.tasks.catalogue import starter_suite
    from genbench.tasks.draft import draft_suite

    check_mode(context, "--schema", schema, shared=())
    if schema:
        print_json(SuiteConfig.model_json_schema())
        return
    command = f"genbench check {shlex.quote(str(path))}"
    if data is None:
        if model:
            raise typer.BadParameter("goes with --data", param_hint="--model")
        starter_suite(path)
        print(f"wrote {path}; edit it, then run: {command}")
        return
    pairs = [text.partition("=") for text in model]
    if lacking := [name for name, equals, where in pairs if not equals or not where]:
        raise typer.BadParameter(f"{lacking[0]}: wanted NAME=PATH", param_hint="--model")
    print_lines(draft_suite(data, path, {name: where for name, _, where in pairs}))
    print(f"wrote {path}; look at it, then run: {command}")


@app.command(
    epilog=examples(
        "genbench check suite.yaml",
        "genbench check --model ./my-checkpoint --task gsm8k",
        "genbench check reasoning --data-dir /data/mirror",
        "genbench check smollm3 --speed 12000 --mean-tokens 6000",
        "genbench check suites/*.yaml --data-dir /data/mirror",
        "genbench check suite.yaml --trust-code folder",
    ),
)
@with_run_options(*_ASKED, "models_from")
def check(
    options: RunOptions,
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[suite]...",
            help="Suite files, or names of shipped suites. Or give --model and --task.",
        ),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(min=1, help="Completion tokens per second of the engine, for the estimate."),
    ] = None,
    mean_tokens: Annotated[
        int | None, typer.Option(min=1, help="Expected completion tokens of one reply, for the estimate.")
    ] = None,
    gpu_memory: Annotated[
        float | None,
        typer.Option(
            min=1, help="GiB of each GPU of the machine that will draw, for what its KV cache holds."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a suite in seconds, and estimate its hours.

    Data, digests, chat templates, context budget, verifiers and disk are checked. The tokens and hours of the
    run are estimated from --speed and --mean-tokens. Exit code 2 means that the suite cannot run as it is.
    """
    from genbench.runs.execution.preflight import CostAssumptions, check_suite

    named: list[str | None] = [*suites] if suites else [None]
    assumed = CostAssumptions.given(speed, mean_tokens)
    found: dict[str, list[Check]] = {}
    for suite in dict.fromkeys(named):
        name = suite or "the command"
        found[name] = check_suite(replace(options, suite=suite), assumed, gpu_memory)
        if not as_json:
            print_checks(found[name], as_json)
            print_lines(_outcome(name, found[name], several=len(named) > 1))
    if as_json:
        print_suites_checked(found)
    if any(item.state == "error" for checks in found.values() for item in checks):
        raise typer.Exit(2)


@app.command(
    epilog=examples(
        "genbench prompts quickstart --task arithmetic", "genbench prompts suite.yaml --json > requests.jsonl"
    ),
)
@with_run_options(*_ASKED)
def prompts(options: RunOptions, suite: OneSuite = None, as_json: JsonOption = False) -> None:
    """Print the prompts as a model gets them, with token ids.

    The first prompt of each task is printed, or those of --limit problems. With --json: every request of the
    run, one JSON object per line, for another engine (see run --responses).
    """
    options = replace(options, suite=suite)
    if not as_json and options.limit is None:
        options = replace(options, limit=1)
    for record in genbench.prompts(options):
        if as_json:
            print(json.dumps(record.to_json(), ensure_ascii=True))
        elif record.sample_index == 0:
            where = f"{record.model} / {record.task} / {record.problem_id}"
            print(f"── {where}: {len(record.prompt_token_ids)} tokens, seed {record.seed} of sample 0")
            print_lines([record.prompt, f"token ids: {list(record.prompt_token_ids)}"])


@app.command(
    epilog=examples("genbench subset suite.yaml --task mmlu --n 250 --strata subject -o mmlu-250.json"),
)
@with_run_options("models", "data_dir", "tasks", "overrides", "with_test", "trust_code")
def subset(
    options: RunOptions,
    n: Annotated[int, typer.Option("--n", min=1, help="Problems of the part.")],
    suite: OneSuite = None,
    strata: Annotated[str | None, typer.Option(help="A column whose values keep their share.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which part.")] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file.")] = None,
) -> None:
    """Choose a smaller random part of a benchmark.

    The problems of the one --task are written into a file, for `subset:` in a suite. The command says what
    the part finds.
    """
    from genbench.pipeline import write_subset

    print_lines(write_subset(replace(options, suite=suite), n, output, strata=strata, seed=seed))


def _outcome(suite: str, checks: Sequence[Check], *, several: bool) -> Iterator[str]:
    """Yield whether the suite can run, if it cannot or if several were checked."""
    errors = sum(item.state == "error" for item in checks)
    if errors:
        yield f"{suite} cannot run as it is: {errors} error{'s' if errors > 1 else ''} above"
    elif several:
        yield f"{suite} can run"
    if several:
        yield ""


@app.command(
    epilog=examples(
        "genbench mirror aime25 math500 --to /data/mirror",
        "genbench mirror reasoning --to /data/mirror --model ORG/NAME@REVISION",
        "genbench mirror gsm8k --to stick/mirror --data-dir /data/mirror",
    ),
)
def mirror(
    tasks: Annotated[
        list[str], typer.Argument(help="Names of tasks (see genbench tasks), suite files, or shipped suites.")
    ],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder of the mirror.")],
    data_dir: DataOption = None,
    model: Annotated[
        list[str],
        typer.Option("--model", metavar="ORG/NAME[@REVISION]", help="Also fetch this model. Repeatable."),
    ] = [],  # noqa: B006
    tokenizer: Annotated[
        list[str],
        typer.Option(
            "--tokenizer", metavar="ORG/NAME[@REVISION]", help="Also fetch this model without its weights."
        ),
    ] = [],  # noqa: B006
    registry_mirror: Annotated[
        str | None,
        typer.Option(
            "--registry-mirror", metavar="HOST", help="Fetch container images of suites from this host."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be fetched, images with sizes; fetch nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Download data for a machine without network.

    Datasets are fetched at their pinned revisions and read back. Data of nltk come with the tasks that use
    them. What is in DIR already is kept. The command ends with the lines that the other machine needs.
    Exit code 1: something could not be fetched.
    """
    from genbench.reports.terminal.tasks import mirror_text

    found = genbench.mirror(
        tasks,
        to,
        data_dir=data_dir,
        models=model,
        tokenizers=tokenizer,
        registry_mirror=registry_mirror,
        dry_run=dry_run,
        tell=lambda line: print(f"{'asking for' if dry_run else 'fetching'} {line}", file=sys.stderr),
    )
    print_record(found, mirror_text, as_json)
    if found.failures:
        raise typer.Exit(1)


judge_app = command_group("judge")


@judge_app.callback()
def judge() -> None:
    """Check an LLM judge, or compare two judges."""


@judge_app.command(
    "check",
    epilog=examples(
        "genbench judge check simpleqa --suite nightly.yaml",
        "genbench judge check my_judge.yaml --suite nightly.yaml --pin",
        "genbench judge check refusal --suite nightly.yaml --cases xstest.jsonl --cases-limit 300",
    ),
)
def judge_check(
    judge: Annotated[str, typer.Argument(help="A judge file, or the name of a shipped judge.")],
    suite: Annotated[
        str | None, typer.Option(help="A suite whose 'judge:' names the model or the server.")
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="Keep the replies, so that later runs can report drift.")
    ] = False,
    cases: Annotated[
        Path | None,
        typer.Option(
            help="Replies with labels of people (XSTest's, HealthBench's, your own) instead of its set."
        ),
    ] = None,
    cases_limit: Annotated[int | None, typer.Option(help="Draw so many of --cases at random.", min=1)] = None,
    data_dir: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure a judge on its calibration set, or on replies that people have labelled.

    The measures are agreement with the labels, consistency under swapped order, resistance to injected
    instructions, and stability between two passes.
    """
    from genbench.reports.terminal.judge_check import judge_text
    from genbench.runs.judge_check import CasesFile, check_judge

    if cases is None and cases_limit is not None:
        raise ConfigError("--cases-limit draws from --cases; a calibration set is always asked whole")
    given = None if cases is None else CasesFile(cases, data_dir, cases_limit)
    print_record(
        check_judge(judge, suite, pin=pin, cases=given),
        judge_text,
        as_json,
    )


@judge_app.command(
    "compare",
    epilog=examples("genbench judge compare runs/n/tuned runs/n/tuned-other-judge"),
)
def judge_compare(
    run: RunArgument,
    other: Annotated[Path, typer.Argument(help="The same run, scored under another judge.")],
    task: Annotated[list[str], typer.Option("--task", help="Compare only this task. Repeatable.")] = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Compare two judges on the same texts, task by task.

    The second run is the first one, scored under another judge by
    `genbench score RUN --suite EDITED.yaml --into FOLDER`.
    """
    from genbench.analysis.comparison.judge_change import judge_changes
    from genbench.reports.terminal.compare import judge_changes_text

    print_record(judge_changes(run, other, task), judge_changes_text, as_json)
