"""A variant of a model in words: its verdict, its lines, and the block for a model card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import genbench
from genbench.analysis.comparison.compare import Comparison
from genbench.analysis.comparison.drift import Drift, Loss, ScaleStep
from genbench.analysis.comparison.variant import TaskVariant, Variant
from genbench.errors import InputError
from genbench.reports.numbers import interval, points
from genbench.runs.drift import Drifts
from genbench.safetext.printable import printable
from genbench.stats.comparison.gate import MIN_PROBLEMS, SHOWABLE_LOSSES
from genbench.stats.comparison.recovery import Ratio
from genbench.store.json_files import replace, replace_json


def names(record: Comparison) -> tuple[str, str]:
    """Return what both sides are called. Sides of one name are called base and variant."""
    base, variant = record.base.name, record.tuned.name
    return (base, variant) if base != variant else ("base", "the variant")


def variant_sentence(record: Comparison, variant: Variant) -> str:
    """Return the verdict of a variant, such as `nvfp4 recovers 99.1 % of bf16 [98.2, 100.1] over 7 tasks`."""
    base, name = names(record)
    gating = len(record.suite.tasks) - len(variant.near_zero)
    if variant.recovery is None:
        return f"No recovery of {base} by {name} can be given: {_near_zero(variant)}."
    over = f"over {gating} tasks" if gating != 1 else f"on {next(iter(_given(record, variant)))}"
    found = variant.recovery
    recovers = f"{name} recovers {points(found.value)} % of {base} {interval(found.ci)} {over}"
    return f"{recovers}: {_decided(record, variant)}."


def _given(record: Comparison, variant: Variant) -> list[str]:
    return [name for name in record.suite.tasks if name not in variant.near_zero]


def _near_zero(variant: Variant) -> str:
    names = ", ".join(variant.near_zero)
    return f"base has too few right answers for a ratio in {names}" if names else "no task of both decides"


def _decided(record: Comparison, variant: Variant) -> str:
    """Return the verdict with the bound that decided, or what is open."""
    assert variant.recovery is not None
    margin, bound = f"{100 * variant.margin:.3g} %", f"lower bound {points(variant.recovery.lower)}"
    if variant.verdict == "NON_INFERIOR":
        return f"NON_INFERIOR at a loss of {margin} ({bound})"
    lost = [name for name in record.suite.tasks if record.tasks[name].verdict == "REGRESSED"]
    if variant.verdict == "REGRESSED":
        where = f" in {', '.join(lost)}" if lost else " in the tasks together"
        return f"REGRESSED, a drop is shown{where} ({bound})"
    if variant.recovery.lower > 1 - variant.margin:
        needed = max(MIN_PROBLEMS, int(SHOWABLE_LOSSES / variant.margin))
        return f"INCONCLUSIVE, a loss of {margin} takes {needed} problems to exclude ({bound})"
    return f"INCONCLUSIVE, a loss of {margin} is not excluded ({bound})"


def variant_lines(record: Comparison, variant: Variant) -> Iterator[str]:
    """Yield the lines below the verdict: what differs, drift and behaviour."""
    what = "; ".join(variant.differences) or "no term differs, only the weights"
    yield f"treatment {' and '.join(variant.treatment)}: {what}"
    yield from (f"  not proven: {line}" for line in variant.unproven)
    yield from (f"  {line}" for line in _drift_lines(record, variant.drift))
    if words := _behaviour(record, variant):
        yield f"  {words}"
    if variant.near_zero and variant.recovery is not None:
        yield f"  no ratio: {_near_zero(variant)}"
    if (whole := variant.of_means) is not None and len(_given(record, variant)) > 1:
        yield f"  ratio of the mean scores {_ratio(whole)}; the one above is the mean of the tasks' ratios"


def _drift_lines(record: Comparison, drift: Drift | None) -> Iterator[str]:
    base, name = names(record)
    if drift is not None:
        yield from drift_lines(base, name, drift)
    elif record.base.kind == "run":
        yield f"no drift: score the replies of {base} under both: genbench drift {record.base.path} SUITE"


def drift_lines(base: str, name: str, drift: Drift) -> Iterator[str]:
    """Yield what is lost of the log-probability of base's replies, and where. It says nothing of gains."""
    bounds = "" if drift.ci is None else f" [{drift.ci[0]:.4f}, {drift.ci[1]:.4f}]"
    size = f"{name} gives the replies of {base} {abs(drift.loss):.4f} nats a token"
    if not drift.is_shown:
        yield f"{size} {'less' if drift.loss > 0 else 'more'}{bounds}: no harm is shown"
        return
    yield f"{size} less{bounds}{_scale_words(drift)}"
    if drift.grows:
        first, last = drift.curve[0], drift.curve[-1]
        yield (
            f"the loss grows along the reply: {first.loss:.4f} at its beginning, {last.loss:.4f} from token "
            f"{last.begin} on"
        )
    if drift.parted:
        share, place = 100 * drift.parted, drift.median_place
        words = f"they part in {share:.0f} % of the replies (median token {place:.0f})"
        for one in drift.partings[:1]:
            words += f", such as {one.task} {one.problem_id}, after {one.before!r}: {one.text!r} "
            words += f"{100 * one.base:.0f} -> {100 * one.variant:.1f} %"
        yield words


def drifts_text(record: Drifts) -> str:
    """Return the drift of each model that was scored, and what to do next."""
    lines = list[str]()
    for name, drift in record.models.items():
        if drift is not None:
            lines += drift_lines(Path(record.base).absolute().name, name, drift)
            lines += (f"  {task}: {_loss_words(own)}" for task, own in drift.tasks.items())
            if drift.retokenized:
                lines.append(f"  {drift.retokenized} replies have another number of tokens than were drawn")
            lines.append("  by place: " + ", ".join(f"{part.begin}+ {part.loss:.4f}" for part in drift.curve))
        elif record.base_is_scored:
            lines.append(f"{name}: scored; it is the model of the run")
    lines += (f"{name}: {count} replies left out" for name, count in record.left_out.items() if count)
    if not record.base_is_scored:
        lines.append(
            f"the model of {record.base} itself is not scored yet: run this command with a suite that has it"
        )
    return printable(
        "\n".join([*lines, "Nats a token, 95% intervals over problems. Evidence of harm, no score."])
    )


def _loss_words(loss: Loss) -> str:
    bounds = "" if loss.ci is None else f" [{loss.ci[0]:.4f}, {loss.ci[1]:.4f}]"
    return f"{loss.loss:.4f}{bounds}, {loss.replies} replies, {loss.tokens:,} tokens"


def _scale_words(drift: Drift) -> str:
    """Return where the loss is on the scale: `: more than float32 (0.0004), less than 2 % noise (0.09)`."""
    below, above = drift.between

    def step(one: ScaleStep) -> str:
        return f"{one.label} ({one.loss:.4f})"

    parts = ([f"more than {step(below)}"] if below else []) + ([f"less than {step(above)}"] if above else [])
    return f": {', '.join(parts)}" if parts else "; no scale was made for this model"


def _behaviour(record: Comparison, variant: Variant) -> str:
    """Return how replies end, how long they are, and how many samples flip, as means over tasks."""
    drawn = [task for task in record.tasks.values() if task.stopping is not None]
    parts = []
    if drawn:
        ended = [
            1 - sum(getattr(task.stopping.cut_off, side) for task in drawn if task.stopping) / len(drawn)
            for side in ("base", "tuned")
        ]
        parts.append(f"replies end by themselves {points(ended[0])} -> {points(ended[1])} %")
    lengths = [task.length for task in variant.tasks.values() if task.length is not None]
    if drawn and lengths:  # texts of likelihood tasks are given
        change = sum(lengths) / len(lengths) - 1
        parts.append(f"are {100 * abs(change):.1f} % {'longer' if change >= 0 else 'shorter'}")
    flips = [task.flips for task in variant.tasks.values() if task.flips is not None]
    if flips:
        worse, better = (sum(getattr(one, way) for one in flips) / len(flips) for way in ("worse", "better"))
        again = [one.rerun for one in flips if one.rerun is not None]
        rerun = f" (a re-run: {points(sum(again) / len(again))})" if len(again) == len(flips) else ""
        parts.append(f"{points(worse)} % of samples turn wrong and {points(better)} % right{rerun}")
    return ", ".join(parts)


def task_lines(record: Comparison, variant: Variant) -> Iterator[str]:
    """Yield the recovery, the drift and the behaviour of each task, for --details."""
    yield "by task:"
    for name, task in variant.tasks.items():
        yield f"  {name}: {'; '.join(_task_parts(name, task, variant.drift))}"


def _task_parts(name: str, task: TaskVariant, drift: Drift | None) -> Iterator[str]:
    yield "no ratio" if task.recovery is None else f"recovery {_ratio(task.recovery)}"
    if drift is not None and (own := drift.tasks.get(name)) is not None:
        yield f"drift {_loss_words(own)}"
    if task.length is not None:
        yield f"length x{task.length:.3f}"
    if task.unread is not None:
        yield f"not read {points(task.unread.base)} -> {points(task.unread.variant)} %"
    for script, share in task.scripts.items():
        if abs(share.base - share.variant) >= 0.01:
            yield f"letters {script} {points(share.base)} -> {points(share.variant)} %"
    if (calls := task.tool_calls) is not None:
        f1 = "-" if calls.trigger_f1 is None else f"{calls.trigger_f1:.3f}"
        yield f"calls {points(calls.called.base)} -> {points(calls.called.variant)} %, trigger F1 {f1}"
        yield f"calls that fit their schema {points(calls.fit.base)} -> {points(calls.fit.variant)} %"


def _ratio(found: Ratio) -> str:
    return f"{points(found.value)} % {interval(found.ci)}"


def variant_text(record: Comparison, variant: Variant, *, details: bool = False) -> str:
    """Return the lines of a variant that replace those about the suite of other comparisons."""
    lines = list(variant_lines(record, variant))
    return "\n".join(lines + list(task_lines(record, variant)) if details else lines)


def card(record: Comparison, variant: Variant) -> str:
    """Return the Markdown block of a model card: recoveries as vendors print them, with intervals."""
    base, name = names(record)
    rows = [
        f"| {task} | {points(found.base)} | {points(found.tuned)} | "
        + ("-" if (own := variant.tasks[task].recovery) is None else _ratio(own))
        + f" | {found.verdict} |"
        for task, found in record.tasks.items()
    ]
    whole = "-" if variant.recovery is None else _ratio(variant.recovery)
    lines = [
        f"| task | {base} | {name} | recovery % [95 % interval] | verdict |",
        "|---|---|---|---|---|",
        *rows,
        f"| **mean of the recoveries** | | | **{whole}** | **{variant.verdict}** |",
        "",
        variant_sentence(record, variant),
        "",
        *(f"* {line.strip()}" for line in variant_lines(record, variant)),
        f"* {_drawn(record)}",
    ]
    return printable("\n".join(lines)) + "\n"


def _drawn(record: Comparison) -> str:
    """Return what made the numbers: problems and samples, runs, and the version of genbench."""
    counts = ", ".join(f"{name} {task.n} x {task.k_tuned}" for name, task in record.tasks.items())
    runs = f"{record.base.run_id} and {record.tuned.run_id}"
    return (
        f"genbench {genbench.__version__}; paired by problem ({counts}), all other terms proven equal; runs "
        f"{runs}, weights {record.base.model_identity} and {record.tuned.model_identity}"
    )


def write_card(record: Comparison, path: Path) -> None:
    """Write the block to FILE.md and the whole record to FILE.json.

    Raises:
        InputError: no treatment was declared.
    """
    if record.variant is None:
        raise InputError(f"--card {path}: goes with a treatment; declare it with --treatment")
    stem = path.with_suffix("") if path.suffix in (".md", ".json") else path
    replace(stem.with_name(f"{stem.name}.md"), card(record, record.variant).encode())
    replace_json(stem.with_name(f"{stem.name}.json"), record.to_json())
