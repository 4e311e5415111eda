"""Commands that answer what changed, how sure that is, and what a suite can detect."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import genbench
from genbench.cli.app import app, examples
from genbench.cli.options import (
    AllowOption,
    DataOption,
    JsonOption,
    LedgerOption,
    RunArgument,
    SideArgument,
    SuiteArgument,
    TrustOption,
    check_mode,
    open_history,
    with_run_options,
)
from genbench.cli.output import print_json, print_lines, print_record, say_written, terminal_width
from genbench.runs.options import RunOptions

if TYPE_CHECKING:
    from genbench.runs.stored.spot_check import AnswerCheck


@app.command(
    epilog=examples(
        "genbench compare runs/n/base runs/n/tuned",
        "genbench compare runs/n",
        "genbench compare runs/n/base runs/n/tuned --gate --margin aime25=6",
        "genbench compare runs/a/m runs/b/m runs/c/m -o table.csv",
        "genbench compare runs/n/base runs/n/tuned --details",
        "genbench compare runs/n/base runs/n/tuned --recheck 500 --data-dir mirror",
        "genbench compare base.jsonl tuned.jsonl --allow k",
        "genbench compare runs/n/bf16 runs/n/nvfp4 --treatment quantization --gate --card card",
    ),
)
def compare(
    context: typer.Context,
    sides: Annotated[
        list[Path],
        typer.Argument(
            metavar="BASE TUNED | RUN_DIR",
            help="Run folders RUN_DIR/<model>, score files, or RUN_DIR for the runs of one command. More "
            "than two are compared with the first.",
        ),
    ],
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
    treatment: Annotated[
        list[str],
        typer.Option(
            "--treatment",
            metavar="NAME",
            help="What differs on purpose: quantization, kv_cache, dtype, speculation, lora, engine, server "
            "or effort. Everything else must be equal. Decides on the share of base's score that tuned "
            "recovers. Repeatable.",
        ),
    ] = [],  # noqa: B006
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With a treatment: write the block of a model card to FILE.md, and the record to FILE.json.",
        ),
    ] = None,
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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the table of several runs: CSV if the name ends in .csv, else a page.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: what changed, by how much, why. Or several: a table of checkpoints.

    Prints the verdict, the table and at most 30 lines. More than two runs give the scores of each with the
    differences to the first, and the ranks that are not excluded.

    --gate is for one decision, such as a release: it errs on an unchanged model in 5% of comparisons. For
    every night use `genbench gate`, which keeps a budget of false alarms a year.

    Exit codes: 1 the gate failed, 2 bad input, 3 the sides cannot be compared.
    """
    from genbench.analysis.comparison.checkpoints import runs_below
    from genbench.analysis.comparison.decisions import parse_margins, parse_suite_margin
    from genbench.reports.terminal.compare import compare_brief, compare_text
    from genbench.reports.variant import write_card

    sides = runs_below(sides)
    if len(sides) > 2 or output is not None:
        shared = ("sides", "task", "allow", "as_json", "output")
        check_mode(context, "a table of several runs", True, shared=shared)
        _compare_several(sides, task, allow, output, as_json)
        return
    if len(sides) != 2:
        raise typer.BadParameter(f"wanted two, found {len(sides)}", param_hint="BASE TUNED")
    base, tuned = sides
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
        treatment=treatment,
    )
    if card is not None:
        write_card(record, card)
    text = compare_text if details else compare_brief
    print_record(record, text, as_json, width=terminal_width())
    if record.exit_code:
        raise typer.Exit(record.exit_code)


def _compare_several(
    runs: list[Path], tasks: list[str], allow: list[str], output: Path | None, as_json: bool
) -> None:
    """Print the table of several checkpoints, or write it."""
    from genbench.analysis.comparison.checkpoints import compare_checkpoints
    from genbench.reports.checkpoints import checkpoints_csv, checkpoints_text
    from genbench.store.json_files import replace

    kind = "" if output is None else output.suffix.lower()
    if kind not in ("", ".csv", ".html", ".htm"):
        raise typer.BadParameter(f"{output}: wanted a name that ends in .csv or .html", param_hint="-o")
    if output is not None and kind != ".csv":
        if tasks:
            raise typer.BadParameter("a page has all tasks; it goes with a .csv file", param_hint="--task")
        say_written([f"page: {genbench.report(runs, output, allow=allow).page}"], to_stderr=as_json)
        return
    record = compare_checkpoints(runs, tasks=tasks, allow=allow)
    if output is not None:
        replace(output, checkpoints_csv(record).encode())
        say_written([f"table: {output}"], to_stderr=as_json)
        return
    print_record(record, checkpoints_text, as_json)
    if not as_json:
        command = shlex.join(["genbench", "compare", *map(str, runs), "-o"])
        print_lines([f"As a page or CSV: {command} table.html or table.csv"])


@app.command(
    epilog=examples(
        "genbench parity", "genbench parity llama_3_1_8b_mmlu", "genbench parity runs/mmlu-1a2b3c4d/llama"
    ),
)
def parity(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN|CARD]...",
            help="Run folders RUN_DIR/<model>, or names of parity cards. None lists all cards.",
        ),
    ] = None,
    stored: Annotated[
        Path, typer.Option("--runs", help="The folder of runs from which the states of cards are read.")
    ] = Path("runs"),
    as_json: JsonOption = False,
) -> None:
    """Compare runs with published scores, by parity cards.

    A run of a whole card stores its state, and the list shows it. A score agrees if the 95% interval of the
    difference contains zero. A run made with --responses neither agrees nor differs: this engine did not
    draw it.
    """
    from genbench.reports.parity import (
        card_text,
        cards_record,
        cards_text,
        named_cards,
        parity_cards,
        parity_report,
        parity_text,
        stored_states,
    )

    runs = runs or []
    named = named_cards(runs)
    if named and not as_json:
        states = stored_states(stored)
        print("\n\n".join(card_text(card, states) for card in named))
    elif named:
        print_json(cards_record(named, stored))
    elif runs:
        found = parity_report(runs)
        if as_json:
            print_json(found.to_json())
        else:
            print(parity_text(found))
    elif as_json:
        print_json(cards_record(parity_cards(), stored))
    else:
        print(cards_text(parity_cards(), stored_states(stored)))


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
    epilog=examples(
        "genbench metrics scores.jsonl --metrics pass@1,pass@5,maj@3",
        "genbench metrics runs/n/tuned --json",
        "genbench metrics runs/n/tuned --task aime25 --curve",
    ),
)
def metrics(
    source: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="Estimate only this task. Repeatable.")] = [],  # noqa: B006
    wanted: Annotated[
        str,
        typer.Option(
            "--metrics", help="Estimate these metrics instead of the tasks' own: pass@1,pass@5,maj@3."
        ),
    ] = "",
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Also pass@k and maj@k for 1, 2, 4 … samples, and pass@k up to 4 k."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compute pass@k, maj@k … of a run or a score file.

    Every value comes with two intervals: for new problems of the kind, and for a re-run.
    """
    from genbench.reports.terminal.estimate import estimate_text

    asked = tuple(name.strip() for name in wanted.split(",") if name.strip())
    estimation = genbench.estimate(source, tasks=task, metrics=asked, curve=curve)
    print_record(estimation, estimate_text, as_json)


@app.command(
    epilog=examples(
        "genbench noise runs/seed0/base runs/seed1/base", "genbench noise runs/a/base runs/b/base --same-seed"
    ),
)
def noise(
    run: RunArgument,
    other: Annotated[Path, typer.Argument(help="A run of the same model at another run seed.")],
    same_seed: Annotated[
        bool,
        typer.Option(
            "--same-seed", help="Both have the same run seed. Measures only the noise of the engine."
        ),
    ] = False,
    allow: AllowOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Measure how far a score moves if a model is run twice.

    What is measured is kept in both runs and shown by compare.
    """
    from genbench.reports.terminal.estimate import noise_text

    print_record(genbench.noise(run, other, same_seed=same_seed, allow=allow), noise_text, as_json)


@app.command(
    epilog=examples(
        "genbench power nightly.yaml --detect 3",
        "genbench power nightly.yaml --base runs/n/base",
        "genbench power nightly.yaml --detect 1 --nights 30",
        "genbench power nightly.yaml --detect 1 --nights 30 --track nightly",
        "genbench power nightly.yaml --base runs/n/base --adaptive",
    ),
)
@with_run_options("data_dir", "limit", "tasks", "overrides", "with_test")
def power(
    suite: SuiteArgument,
    options: RunOptions,
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
    track: Annotated[
        str | None,
        typer.Option(help="With --nights: a track of the ledger. The noise of its nights is in the plan."),
    ] = None,
    ledger: LedgerOption = None,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Say what run --adaptive is expected to draw, and to find.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compute the smallest drop that a suite can detect.

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
        data_dir=options.data_dir,
        limit=options.limit,
        tasks=options.tasks,
        overrides=options.overrides,
        with_test=options.with_test,
        adaptive=adaptive,
    )
    if alarms is not None and nights is None:
        raise typer.BadParameter("goes with --nights", param_hint="--alarms")
    if track is not None and nights is None:
        raise typer.BadParameter("goes with --nights", param_hint="--track")
    if ledger is not None and track is None:
        raise typer.BadParameter("goes with --track", param_hint="--ledger")
    if nights is not None:
        planned = plan_nights(
            record.tasks,
            detect=detect / 100,
            nights=nights,
            alarms_per_year=1.0 if alarms is None else alarms,
            track=track,
            night_variances=None if track is None else _night_variances(ledger, track),
        )
        record = record.model_copy(update={"nights": planned})
    print_record(record, power_text, as_json)


def _night_variances(ledger: str | None, track: str) -> Mapping[str, float]:
    """Return what the nights of a track vary by themselves. New nights are searched for changes first."""
    with open_history(ledger) as history:
        return history.night_noise(track)


@app.command(
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
    """Make a leaderboard of models from a judge's pairs.

    The strengths are Bradley-Terry's, in log odds, with intervals.
    """
    from genbench.reports.terminal.estimate import rank_text

    record = genbench.rank(runs, tasks=task, reference=reference, allow=allow)
    print_record(record, rank_text, as_json)


@app.command(
    epilog=examples(
        "genbench drift runs/n/bf16 variant.yaml",
        "genbench drift runs/n/bf16 variant.yaml --set engine.kv_cache_dtype=fp8",
        "genbench drift runs/n/bf16 variant.yaml --model noisy=./noisy --scale '2 % noise'",
    ),
)
@with_run_options("models", "tasks", "limit", "overrides")
def drift(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The run whose replies are scored.")],
    suite: SuiteArgument,
    options: RunOptions,
    scale: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What the model differs in, such as '2 % noise'. It becomes a step of the scale of drifts.",
        ),
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Score stored replies under a variant: prefill, no drawing.

    The suite must have the model of the run too, since its own log-probabilities are what others are compared
    with. At most 100 replies of each task are scored, the first sample of each problem. They are kept in the
    folder of the run, and `genbench compare --treatment` shows them. The same command continues one that was
    stopped.
    """
    from genbench.reports.variant import drifts_text
    from genbench.runs.drift import drifts, score_replies

    scored = score_replies(base, replace(options, suite=suite, quiet=quiet), scale=scale)
    print_record(drifts(base, scored), drifts_text, as_json)
