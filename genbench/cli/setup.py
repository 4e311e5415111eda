"""Commands that prepare a suite or inspect this machine."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import genbench
from genbench.cli.app import GRADERS, SETUP, app, examples
from genbench.cli.options import (
    DataOption,
    JsonOption,
    LimitOption,
    ModelOption,
    SetOption,
    TaskOption,
    TestOption,
)
from genbench.cli.output import (
    print_checks,
    print_json,
    print_lines,
    print_record,
    print_suites_checked,
)

if TYPE_CHECKING:
    from genbench.runs.execution.preflight import Check
    from genbench.sandbox.programs import Mode
    from genbench.sandbox.selftest import TierWish


@app.command(rich_help_panel=SETUP, epilog=examples("genbench doctor", "genbench doctor --json"))
def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: GPUs, engine, sandbox, data."""

    print_checks(list(genbench.doctor()), as_json)


@app.command(
    rich_help_panel=SETUP,
    epilog=examples(
        "genbench tasks",
        "genbench tasks mmlu",
        "genbench tasks --family maths",
        "genbench tasks --language de",
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
    as_json: JsonOption = False,
) -> None:
    """List the tasks that have a name, or show one.

    Each is shown with its dataset, number of samples per problem (k), verifier, licence, and whether its
    dataset is gated. One task is shown with its options, its protocols and the scores that others report.
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
        print(tasks_text([item.info for item in found]))


@app.command(rich_help_panel=SETUP, epilog=examples("genbench init", "genbench init nightly.yaml"))
def init(path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("suite.yaml")) -> None:
    """Write a commented suite to start from."""
    from genbench.tasks.catalogue import starter_suite

    starter_suite(path)
    print(f"wrote {path}; edit it, then run: genbench check {shlex.quote(str(path))}")


@app.command(
    rich_help_panel=SETUP,
    epilog=examples(
        "genbench check suite.yaml",
        "genbench check reasoning --data-dir /data/mirror",
        "genbench check smollm3 --speed 12000 --mean-tokens 6000",
        "genbench check suites/*.yaml --data-dir /data/mirror",
    ),
)
def check(
    suites: Annotated[
        list[str], typer.Argument(metavar="suite...", help="Suite files, or names of shipped suites.")
    ],
    model: ModelOption = [],  # noqa: B006  typer reads the default, nobody appends to it
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    speed: Annotated[
        float | None,
        typer.Option(min=1, help="Completion tokens per second of the engine, for the estimate."),
    ] = None,
    mean_tokens: Annotated[
        int | None, typer.Option(min=1, help="Expected completion tokens of one reply, for the estimate.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check suites in seconds, without an engine.

    Data, digests, chat templates, context budget, verifiers and disk are checked. The tokens and hours of the
    run are estimated from --speed and --mean-tokens. Exit code 2 means that the suite cannot run as it is.
    """
    from genbench.pipeline import RunOptions
    from genbench.runs.execution.preflight import CostAssumptions, check_suite

    assumed = CostAssumptions.given(speed, mean_tokens)
    found: dict[str, list[Check]] = {}
    for suite in dict.fromkeys(suites):
        options = RunOptions(
            suite=suite,
            models=tuple(model),
            data_dir=data_dir,
            limit=limit,
            tasks=tuple(task),
            overrides=tuple(set_),
            with_test=with_test,
        )
        found[suite] = check_suite(options, assumed)
        if not as_json:
            print_checks(found[suite], as_json)
            print_lines(_outcome(suite, found[suite], several=len(suites) > 1))
    if as_json:
        print_suites_checked(found)
    if any(item.state == "error" for checks in found.values() for item in checks):
        raise typer.Exit(2)


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
    rich_help_panel=SETUP,
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
    as_json: JsonOption = False,
) -> None:
    """Fetch what a machine without network needs.

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
        tell=lambda line: print(f"fetching {line}", file=sys.stderr),
    )
    print_record(found, mirror_text, as_json)
    if found.failures:
        raise typer.Exit(1)


@app.command(rich_help_panel=SETUP, epilog=examples("genbench schema > suite.schema.json"))
def schema() -> None:
    """Print the JSON schema of a suite, for editors."""
    from genbench.suite.config import SuiteConfig

    print_json(SuiteConfig.model_json_schema())


@app.command(
    rich_help_panel=GRADERS,
    epilog=examples("genbench sandbox --mode lcb-compat < programs.jsonl > verdicts.jsonl"),
)
def sandbox(
    mode: Annotated[
        str, typer.Option(help="real: as a process of its own. lcb-compat: as LiveCodeBench's evaluator.")
    ] = "real",
    tier: Annotated[
        str | None, typer.Option(help="a (bubblewrap) or b (landlock). Default: the best one available.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Sandboxes at a time. Default: the number of cores.")
    ] = None,
    unsafe_local_exec: Annotated[
        bool,
        typer.Option("--unsafe-local-exec", help="Run without isolation. Only on a disposable machine."),
    ] = False,
) -> None:
    """Run programs from stdin against their tests.

    Reads one JSON object {kind, fn_name, tests, limits, program} per line and writes one verdict per line.
    """
    from genbench.sandbox.service import grade_stream

    for name, value, valid in (("--mode", mode, ("real", "lcb-compat")), ("--tier", tier, ("a", "b", None))):
        if value not in valid:
            raise typer.BadParameter(
                f"{value!r} is none of {', '.join(filter(None, valid))}", param_hint=name
            )
    grade_stream(
        sys.stdin.buffer,
        sys.stdout.buffer,
        mode=cast("Mode", mode),
        tier=cast("TierWish", tier),
        workers=workers,
        unsafe_local_exec=unsafe_local_exec,
    )


@app.command(rich_help_panel=SETUP, epilog=examples("genbench plugins", "genbench plugins --json"))
def plugins(as_json: JsonOption = False) -> None:
    """List what a suite or a command can name.

    Tasks, verifiers, metrics, engines, export formats and judge forms, each with the package that brings it.
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
