"""Commands that answer what changed, how sure that is, and what a suite can detect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import genbench
from genbench.cli.app import DECIDE, app, examples
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
    TrustOption,
)
from genbench.cli.output import print_record, terminal_width

if TYPE_CHECKING:
    from genbench.runs.stored.spot_check import AnswerCheck


@app.command(
    rich_help_panel=DECIDE,
    epilog=examples(
        "genbench compare runs/n/base runs/n/tuned",
        "genbench compare runs/n/base runs/n/tuned --gate --margin aime25=6",
        "genbench compare runs/n/base runs/n/tuned --details",
        "genbench compare runs/n/base runs/n/tuned --recheck 500 --data-dir mirror",
        "genbench compare base.jsonl tuned.jsonl --allow k",
    ),
)
def compare(
    base: SideArgument,
    tuned: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="Compare only this task. Repeatable.")] = [],  # noqa: B006
    gate: Annotated[bool, typer.Option("--gate", help="Exit with 1 if tuned REGRESSED.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --gate: fail on an INCONCLUSIVE suite too.")
    ] = False,
    gating: Annotated[
        list[str],
        typer.Option("--gating", metavar="TASK", help="Only this task decides the gate. Repeatable."),
    ] = [],  # noqa: B006
    margin: Annotated[
        list[str],
        typer.Option("--margin", metavar="TASK=POINTS", help="A loss up to this size is acceptable."),
    ] = [],  # noqa: B006
    suite_margin: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="A mean loss up to this size over the gating tasks is acceptable. Default: their smallest "
            "margin.",
        ),
    ] = None,
    allow: AllowOption = [],  # noqa: B006
    strict_contract: Annotated[
        bool,
        typer.Option("--strict-contract", help="Also refuse different circumstances (engine sizes, GPU …)."),
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also print causes, strata, noise and circumstances.")
    ] = False,
    recheck: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Verify N stored answers of each task and run again, and refuse other verdicts. 0: none.",
        ),
    ] = 50,
    data_dir: DataOption = None,
    trust_run: TrustOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: differences, reasons, verdicts.

    Prints the verdict, the table and at most 30 lines.

    --gate is for one decision, such as a release: it errs on an unchanged model in 5% of comparisons. For
    every night use `genbench gate`, which keeps a budget of false alarms a year.

    Exit codes: 1 the gate failed, 2 bad input, 3 the sides cannot be compared.
    """
    from genbench.analysis.comparison.decisions import parse_margins, parse_suite_margin
    from genbench.reports.terminal.compare import compare_brief, compare_text

    record = genbench.compare(
        base,
        tuned,
        tasks=task,
        gate=gate,
        strict=strict,
        gating=gating,
        margins=parse_margins(margin),
        suite_margin=parse_suite_margin(suite_margin),
        allow=allow,
        strict_contract=strict_contract,
        recheck=_answer_check(recheck, data_dir, trust_run),
    )
    print_record(
        record,
        compare_text if details else compare_brief,
        as_json,
        width=terminal_width(),
    )
    if record.exit_code:
        raise typer.Exit(record.exit_code)


def _answer_check(samples: int, data_dir: Path | None, trust_run: list[str]) -> AnswerCheck | None:
    """Return the check of stored answers, or None if no answer is to be verified again."""
    from genbench.runs.options import path_or_none
    from genbench.runs.stored.spot_check import AnswerCheck
    from genbench.runs.stored.trust import read_kinds

    kinds = read_kinds(trust_run)
    if samples == 0:
        return None
    folder = path_or_none(data_dir)
    return AnswerCheck(samples, data_dir=folder, trusted=kinds)


@app.command(
    rich_help_panel=DECIDE,
    epilog=examples(
        "genbench estimate scores.jsonl --metrics pass@1,pass@5,maj@3",
        "genbench estimate runs/n/tuned --json",
    ),
)
def estimate(
    source: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="Estimate only this task. Repeatable.")] = [],  # noqa: B006
    metrics: Annotated[
        str, typer.Option(help="Estimate these metrics instead of the tasks' own: pass@1,pass@5,maj@3.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Estimate the metrics of a run or a score file.

    Every value comes with two intervals: for new problems of the kind, and for a re-run.
    """
    from genbench.reports.terminal.estimate import estimate_text

    asked = tuple(name.strip() for name in metrics.split(",") if name.strip())
    estimation = genbench.estimate(source, tasks=task, metrics=asked)
    print_record(estimation, estimate_text, as_json)


@app.command(
    rich_help_panel=DECIDE,
    epilog=examples(
        "genbench power nightly.yaml --detect 3",
        "genbench power nightly.yaml --base runs/n/base",
        "genbench power nightly.yaml --detect 1 --nights 30",
        "genbench power nightly.yaml --base runs/n/base --adaptive",
    ),
)
def power(
    suite: SuiteArgument,
    detect: Annotated[float, typer.Option(help="The drop to detect, in points of 100.")] = 3.0,
    base: Annotated[
        Path | None, typer.Option(help="A stored run of the base. Its variances and its k are used.")
    ] = None,
    tuned: Annotated[
        list[Path],
        typer.Option(
            "--tuned",
            help="A stored run of an earlier tuned model. Its correlation with --base is used. Repeatable.",
        ),
    ] = [],  # noqa: B006
    rho: Annotated[
        float,
        typer.Option(
            help="Correlation of base and tuned without --tuned: 0.98 for nightly builds, 0.9 after a big "
            "finetune."
        ),
    ] = 0.98,
    nights: Annotated[
        int | None,
        typer.Option(help="Also plan a track: the drop that is found within so many nights."),
    ] = None,
    alarms: Annotated[
        float | None,
        typer.Option(help="With --nights: false alarms that are accepted in a year. Default: 1."),
    ] = None,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Say what run --adaptive is expected to draw, and to find.")
    ] = False,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compute the smallest drop that each task can detect.

    Also says how many samples or problems would detect a smaller one. No GPU is used.
    """
    from genbench.reports.terminal.estimate import power_text
    from genbench.runs.power import plan_nights

    record = genbench.power(
        suite,
        detect=detect / 100,
        base=base,
        tuned=tuned,
        rho=rho,
        data_dir=data_dir,
        limit=limit,
        tasks=task,
        overrides=set_,
        with_test=with_test,
        adaptive=adaptive,
    )
    if alarms is not None and nights is None:
        raise typer.BadParameter("goes with --nights", param_hint="--alarms")
    if nights is not None:
        planned = plan_nights(
            record.tasks,
            detect=detect / 100,
            nights=nights,
            alarms_per_year=1.0 if alarms is None else alarms,
        )
        record = record.model_copy(update={"nights": planned})
    print_record(record, power_text, as_json)


@app.command(rich_help_panel=DECIDE, epilog=examples("genbench noise runs/seed0/base runs/seed1/base"))
def noise(
    run_a: RunArgument,
    run_b: RunArgument,
    same_seed: Annotated[
        bool,
        typer.Option(
            "--same-seed", help="Both runs have the same run seed. Measures only the noise of the engine."
        ),
    ] = False,
    allow: AllowOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Measure how far one model's score moves by itself.

    The two runs are of one model at two run seeds. The result is kept in both and shown by compare.
    """
    from genbench.reports.terminal.estimate import noise_text

    record = genbench.noise(run_a, run_b, same_seed=same_seed, allow=allow)
    print_record(record, noise_text, as_json)


@app.command(
    rich_help_panel=DECIDE,
    epilog=examples("genbench rank runs/n/base runs/n/tuned runs/n/rival --task arena_hard"),
)
def rank(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders RUN_DIR/<model> that a judge compared in pairs.")
    ],
    task: Annotated[list[str], typer.Option("--task", help="Rank by only this task. Repeatable.")] = [],  # noqa: B006
    reference: Annotated[
        str | None, typer.Option(help="The model at strength 0. Default: the opponent of most pairs.")
    ] = None,
    allow: AllowOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Rank several models from stored pairs.

    The strengths are Bradley-Terry's, in log odds, with intervals.
    """
    from genbench.reports.terminal.estimate import rank_text

    record = genbench.rank(runs, tasks=task, reference=reference, allow=allow)
    print_record(record, rank_text, as_json)
