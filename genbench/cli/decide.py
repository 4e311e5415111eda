"""Commands that decide: what changed, how sure, what a suite can find."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import app
from genbench.cli.options import (
    AllowOption,
    DataOption,
    JsonOption,
    LimitOption,
    RunArgument,
    SetOption,
    SideArgument,
    SuiteArgument,
    TaskOption,
    TestOption,
)
from genbench.cli.output import print_record, verbs


@app.command(
    epilog="Examples: genbench compare runs/n/base runs/n/tuned | genbench compare base.jsonl tuned.jsonl "
    "--gate --margin aime25=6 | genbench compare A B --allow k --allow terms.dtype"
)
def compare(
    base: SideArgument,
    tuned: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="compare this task alone")] = [],  # noqa: B006
    gate: Annotated[bool, typer.Option("--gate", help="exit 1 where tuned REGRESSED")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="with --gate: INCONCLUSIVE fails too")] = False,
    gating: Annotated[
        list[str], typer.Option("--gating", metavar="TASK", help="a task that gates; others do not")
    ] = [],  # noqa: B006
    margin: Annotated[
        list[str], typer.Option("--margin", metavar="TASK=POINTS", help="a loss that counts as none")
    ] = [],  # noqa: B006
    allow: AllowOption = [],  # noqa: B006
    strict_contract: Annotated[
        bool, typer.Option("--strict-contract", help="refuse other circumstances too")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Base against tuned: differences, why, verdicts. Exit: 1 gate failed, 2 bad input, 3 incomparable."""
    comparison = verbs("analysis.compare")
    record = comparison.compare(
        base,
        tuned,
        tasks=task,
        gate=gate,
        strict=strict,
        gating=gating,
        margins=comparison.parse_margins(margin),
        allow=allow,
        strict_contract=strict_contract,
    )
    print_record(record, "compare_text", as_json)
    if record["exit_code"]:
        raise typer.Exit(record["exit_code"])


@app.command(epilog="Examples: genbench estimate scores.jsonl | genbench estimate runs/n/tuned --json")
def estimate(
    source: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="estimate this task alone")] = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Metrics of a stored run or a score file, each with its two intervals."""
    print_record(verbs("analysis.estimate").estimate(source, tasks=task), "estimate_text", as_json)


@app.command(epilog="Examples: genbench power nightly.yaml --detect 3 | genbench power S --base runs/n/base")
def power(
    suite: SuiteArgument,
    detect: Annotated[float, typer.Option(help="the drop to find, in points of 100")] = 3.0,
    base: Annotated[
        Path | None, typer.Option(help="a stored run of the base: its variances and its k are used")
    ] = None,
    rho: Annotated[
        float, typer.Option(help="how alike base and tuned are: 0.98 nightly, 0.9 after a big finetune")
    ] = 0.98,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """The smallest drop that each task can find, and what would find a smaller one; no GPU is used."""
    record = verbs("runs.power").power(
        suite,
        detect=detect / 100,
        base=base,
        rho=rho,
        data_dir=data_dir,
        limit=limit,
        tasks=task,
        overrides=set_,
        with_test=with_test,
    )
    print_record(record, "power_text", as_json)


@app.command(epilog="Example: genbench noise runs/seed0/base runs/seed1/base")
def noise(
    run_a: RunArgument,
    run_b: RunArgument,
    same_seed: Annotated[
        bool, typer.Option("--same-seed", help="both have one run seed: the engine's own noise alone")
    ] = False,
    allow: AllowOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """How far one model's score moves by itself, from two runs; stored, and shown by compare."""
    record = verbs("analysis.noise").noise(run_a, run_b, same_seed=same_seed, allow=allow)
    print_record(record, "noise_text", as_json)


@app.command(epilog="Example: genbench rank runs/n/base runs/n/tuned runs/n/rival --task arena_hard")
def rank(
    runs: Annotated[list[Path], typer.Argument(help="run folders RUN_DIR/<model>, judged in pairs")],
    task: Annotated[list[str], typer.Option("--task", help="rank by this task alone")] = [],  # noqa: B006
    reference: Annotated[
        str | None, typer.Option(help="the model at strength 0; by default the opponent of most pairs")
    ] = None,
    allow: AllowOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Bradley-Terry strengths of several models, from stored pairs, with intervals."""
    record = verbs("analysis.rank").rank(runs, tasks=task, reference=reference, allow=allow)
    print_record(record, "rank_text", as_json)
