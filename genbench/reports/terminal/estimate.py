"""How sure a score is, for the terminal: estimates, measured noise, rankings, and plans of power."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.estimate import EstimatedTask, Estimation
from genbench.analysis.quality import Quality, TaskQuality
from genbench.analysis.rank import RankedModel, RankedTask, Ranking
from genbench.reports.numbers import interval, is_shown, points, signed
from genbench.reports.result_tables import STRATUM, STRATUM_SCORES
from genbench.reports.table import TERMINAL, Column, Table, aligned
from genbench.runs.power import NightsPlan, PlannedTask, PowerPlan
from genbench.safetext.printable import one_line, printable
from genbench.stats.estimates import EstimateRecord
from genbench.stats.noise import NoiseMeasurement, TaskNoise


def estimate_text(estimation: Estimation) -> str:
    """Return the estimates as text, in points of 100."""
    lines = [f"{estimation.kind} {estimation.path}{_sealed(estimation)}"]
    lines += [f"  warning: {line}" for line in estimation.warnings]
    for name, task in estimation.tasks.items():
        lines.append("")
        lines += [_sentence(name, item) for item in task.metrics.values()]
        lines += _warnings(task)
        lines += _curve(task)
        for column, rows in task.strata.items():
            lines.append(f"  by {column}:")
            lines.append(STRATUM_SCORES.text(rows.items(), indent="    ", heads={STRATUM: column}))
    return printable("\n".join(lines))


def _sealed(estimation: Estimation) -> str:
    return "" if estimation.seal in (None, "whole") else f" ({estimation.seal})"


def _sentence(name: str, item: EstimateRecord) -> str:
    """Return a sentence with a metric's value and its intervals in points of 100."""
    if item.value is None:
        return f"{name} {item.metric} is missing: {item.missing}"
    size = f"{item.n} x {item.k}"
    text = (
        f"{name} {item.metric} = {points(item.value)} (95% CI {interval(item.ci)}; question "
        f"population, {item.ci_method}; {size})."
    )
    if not item.rerun_ci:
        return text
    return f"{text} A re-run on these questions: {interval(item.rerun_ci)} ({item.rerun_ci_method})."


def _curve(task: EstimatedTask) -> Iterator[str]:
    """Yield pass@k and maj@k over k, and what a better choice among k samples could win."""
    for point in task.curve:
        passed = f"  {point.k} samples: pass {_share(point.passed.value)} {interval(point.passed.ci)}"
        if not point.drawn:
            yield f"{passed} (extrapolated)"
        elif point.majority is None or point.majority.value is None or point.passed.value is None:
            yield passed
        else:
            won = points(point.passed.value - point.majority.value)
            maj = f"maj {points(point.majority.value)} {interval(point.majority.ci)}"
            yield f"{passed}, {maj}; a better choice wins {won}"
    if any(not point.drawn for point in task.curve):
        yield (
            "  extrapolated by a beta law of the problems' shares of right samples. In simulations the "
            "interval contains the truth in 87 to 96 % if that is their law, and in 30 to 89 % with others"
        )
    if task.curve_ends is not None:
        yield f"  not extrapolated: {task.curve_ends}"


def _warnings(task: EstimatedTask) -> Iterator[str]:
    """Yield the warnings about a task's samples: ragged, excluded, and counts by status."""
    if task.ragged:
        yield "  warning: ragged: problems have unequal numbers of samples; the mean of their means is taken"
    if task.excluded:
        between = ""
        if task.bounds:
            low, high = (points(bound) for bound in task.bounds)
            between = f"; with them between {low} and {high}"
        yield f"  {task.excluded} of {task.samples} samples are excluded{between}"
    if task.status_counts:
        counts = ", ".join(f"{status} {count}" for status, count in task.status_counts.items())
        yield f"  {counts}"


NoiseRow = tuple[str, TaskNoise]


def _noise_size(row: NoiseRow) -> str:
    task = row[1]
    k = task.k_first if task.k_first == task.k_second else f"{task.k_first}/{task.k_second}"
    return f"{task.n} x {k}"


def _changed(row: NoiseRow) -> str:
    share = row[1].changed_samples
    return "-" if share is None else f"{100 * share:.1f}%"


def _unexpected(row: NoiseRow) -> str:
    return "" if row[1].expected else "outside its band: a 1 in 20 chance, or the runs are not alike"


_NOISE = Table[NoiseRow](
    Column("task", lambda row: row[0]),
    Column("n x k", _noise_size, right=TERMINAL),
    Column("difference", lambda row: signed(row[1].difference), right=TERMINAL),
    Column("band (95%)", lambda row: f"±{points(row[1].band)}", right=TERMINAL),
    Column("samples changed", _changed, right=TERMINAL),
    Column("", _unexpected),
)


def noise_text(measured: NoiseMeasurement) -> str:
    """Return the bands as text, in points of 100."""
    return printable(
        "\n".join(
            [
                *(f"let through: {line}" for line in measured.allowed),
                f"one model run twice, {_source(measured)}",
                "",
                _NOISE.text(measured.tasks.items()),
                "",
                "band: 95% of re-runs of this model differ by at most so many points of 100.",
                f"stored in noise.json of {' and '.join(measured.runs)}; `genbench compare` shows it",
            ]
        )
    )


def _source(measured: NoiseMeasurement) -> str:
    """Return the source of the noise: the engine with one run seed, sampling with two."""
    first, second = measured.run_seeds
    if measured.same_seed:
        return f"one run seed ({first}): the engine's own non-determinism"
    return f"run seeds {first} and {second}: the noise of sampling"


def power_text(plan: PowerPlan) -> str:
    """Return the plan as text, in points of 100."""
    grid = sorted({cell.k for task in plan.tasks.values() for cell in task.mde_at})
    head = ("task", "n x k", "finds", "in the gate", *(f"k={k}" for k in grid), "endless k")
    rows = [_power_row(name, task, grid) for name, task in plan.tasks.items()]
    parts = [
        aligned(head, rows, set(head) - {"task"}),
        "",
        *(f"{name}: {_advice(task, plan.detect)}" for name, task in plan.tasks.items()),
        "",
        "Smallest drop in points of 100 that a one-sided test finds with 80% power: at 5%; in the gate at "
        f"{100 * plan.gate_alpha:.2g}%, the strictest level that Holm may ask of a task.",
        f"k=N: the same with N samples a problem of {_drawn(plan)}; endless k: of both. Variances:",
        *(f"  {name}: {task.components.source}" for name, task in plan.tasks.items()),
        *_caution(plan),
        *(_nights(plan.nights, plan.detect) if plan.nights else ()),
        *_adaptive(plan),
    ]
    return printable("\n".join(parts))


def _nights(plan: NightsPlan, detect: float) -> list[str]:
    """Return what a track of nights finds: a row for each task, and one for the pooled line."""
    grid = [cell.nights for cell in next(iter(plan.tasks.values())).drop_in]
    head = ("found within nights:", *map(str, grid), f"{points(detect)} points in {plan.nights}", "needs")
    named = {**plan.tasks, **({"all gating tasks alike": plan.pooled} if plan.pooled else {})}
    rows = [
        (
            name,
            *(points(cell.drop) for cell in task.drop_in),
            f"{task.chance:.0%}",
            "more than 40" if task.nights_needed is None else str(task.nights_needed),
        )
        for name, task in named.items()
    ]
    alarms = "false alarm" if plan.alarms_per_year == 1 else "false alarms"
    return [
        "",
        aligned(head, rows, set(head[1:])),
        f"Drops in points of 100 that a track finds with 80% probability, at {plan.alarms_per_year:g} "
        f"{alarms} in {plan.nights_per_year:g} nights. `needs`: nights for {points(detect)} points.",
        *_own_noise(plan),
    ]


def _own_noise(plan: NightsPlan) -> list[str]:
    """Return how far nights move by themselves, and where that was measured."""
    if plan.track is None:
        return []
    lines = []
    if unknown := [name for name in plan.tasks if name not in plan.night_noise]:
        lines = [f"The noise of the nights of track {plan.track} is not known for {', '.join(unknown)}."]
    noisy = {name or "all gating tasks": size for name, size in plan.night_noise.items() if is_shown(size)}
    if not noisy and plan.night_noise:
        return [*lines, f"The nights of track {plan.track} do not move by themselves, beyond their samples."]
    if not noisy:
        return lines
    sizes = ", ".join(f"{name} ±{points(size)} points" for name, size in noisy.items())
    where = f"Nights of track {plan.track} move by themselves, beyond their samples"
    return [*lines, f"{where}: {sizes}. The drops contain it."]


def _adaptive(plan: PowerPlan) -> list[str]:
    """Return the table of what an adaptive run will cost, or nothing if it was not asked for."""
    if not plan.adaptive:
        return []
    head = ("if", "samples", "REGRESSED", "NON_INFERIOR", *plan.tasks)
    rows = [
        (
            _drops(night.drops),
            *(f"{share:.0%}" for share in (night.share, night.regressed, night.non_inferior)),
            *(f"{night.tasks[name]:.0%}" for name in plan.tasks),
        )
        for night in plan.adaptive
    ]
    sure = "" if plan.base else " No base is stored, so no problem is taken as sure: name it with --base."
    return [
        "",
        "run --adaptive, expected share of the samples, in all and by task:",
        aligned(head, rows, set(head) - {"if"}),
        "Simulated nights with normal errors. NON_INFERIOR: every gating task of 100 problems or more."
        + sure,
    ]


def _drops(drops: dict[str, float]) -> str:
    """Return what really happened in words."""
    if not drops:
        return "nothing changed"
    points_lost = points(max(drops.values()))
    if len(drops) > 1:
        return f"all tasks -{points_lost}"
    return f"{next(iter(drops))} -{points_lost}"


def _caution(plan: PowerPlan) -> list[str]:
    """Return what an assumed correlation is worth, or nothing if all are measured."""
    if all("measured from" in task.components.source for task in plan.tasks.values()):
        return []
    return [
        "rho, the correlation of base and tuned, is assumed. Real version steps had 0.5 to 0.8: drops found "
        "were then up to 3 times larger. Measure it with --base RUN --tuned EARLIER_RUN."
    ]


def _drawn(plan: PowerPlan) -> str:
    """Return the runs whose k varies in the columns."""
    return "both runs" if plan.base is None else "the tuned run, with the stored base"


def _power_row(name: str, task: PlannedTask, grid: list[int]) -> tuple[str, ...]:
    """Return the cells of one task: the drop as planned, in the gate, and at each k of the grid."""
    at = {cell.k: points(cell.mde) for cell in task.mde_at}
    gate = points(task.mde_gate)
    k = task.k_tuned if task.k_base == task.k_tuned else f"{task.k_base}/{task.k_tuned}"
    cells = (at.get(k, "-") for k in grid)
    return (name, f"{task.n} x {k}", points(task.mde), gate, *cells, points(task.mde_floor))


def _advice(task: PlannedTask, detect: float) -> str:
    """Return how to find the wanted drop: by the plan, by more samples, or only by more problems."""
    wanted, more = points(detect), f"{task.problems_needed:,} problems like these at this k"
    if task.finds:
        return f"finds a drop of {wanted} points as planned"
    if task.k_needed is not None:
        return f"finds {wanted} points with k = {task.k_needed:,}, or with {more}"
    if task.mde_floor <= detect:
        return f"more samples of only tuned do not find {wanted} points: draw more of the base too, or {more}"
    return f"no number of samples finds {wanted} points on {task.n} problems: only more problems do ({more})"


def _strength(model: RankedModel) -> str:
    return "-" if model.strength is None else f"{model.strength:+.2f}"


def _strength_ci(model: RankedModel) -> str:
    return "-" if model.ci is None else f"[{model.ci[0]:+.2f}, {model.ci[1]:+.2f}]"


_RANKS = Table[RankedModel](
    Column("model", lambda model: model.name),
    Column(
        "strength",
        _strength,
        right=TERMINAL,
    ),
    Column("95% CI", _strength_ci),
    Column(
        "beats reference",
        lambda model: points(model.beats_reference),
        right=TERMINAL,
    ),
    Column("95% CI of it", lambda model: interval(model.beats_reference_ci)),
    Column("pairs", lambda model: model.pairs, right=TERMINAL),
    Column("won", lambda model: model.wins, right=TERMINAL),
    Column("tied", lambda model: model.ties, right=TERMINAL),
    Column("lost", lambda model: model.losses, right=TERMINAL),
)


def rank_text(ranking: Ranking) -> str:
    """Return the ranking as text."""
    parts = [f"let through: {line}" for line in ranking.allowed]
    for name, task in ranking.tasks.items():
        parts += _task(name, task)
    parts.append(_RANKS.legend("strength", "beats reference"))
    return printable("\n".join(parts))


def _task(name: str, task: RankedTask) -> Iterator[str]:
    """Yield the lines of one task."""
    pin = ", UNPINNED" if task.judge.unpinned else ""
    over = f"{task.pairs} pairs over {task.problems} problems"
    yield f"{name}: {over}, judge {task.judge.name} {task.judge.digest}{pin}"
    if task.missing:
        yield f"  no strengths: {task.missing}"
    if task.itself:
        yield f"  {task.itself} run(s) were compared with their own answers and left out"
    if task.models:
        yield f"  reference: {task.reference}"
        yield _RANKS.text(task.models, indent="  ")
    yield ""


QualityRow = tuple[str, TaskQuality]


def _share(value: float | None) -> str:
    return "-" if value is None else points(value)


def _plus_minus(value: float | None) -> str:
    return "-" if value is None else f"±{points(value)}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _minutes(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds / 60:.1f}"


def _decided(row: QualityRow) -> str:
    bounds = row[1].decision_ci
    return f"{_share(row[1].decision)} {interval(bounds)}" if bounds else _share(row[1].decision)


_QUALITY = Table[QualityRow](
    Column("task", lambda row: row[0]),
    Column("n x k", lambda row: f"{row[1].n} x {row[1].k}", right=TERMINAL),
    Column("useful", lambda row: f"{row[1].useful:.0f}", right=TERMINAL),
    Column("sampling", lambda row: _plus_minus(row[1].sampling), right=TERMINAL),
    Column(
        "nights", lambda row: "-" if row[1].nights is None else f"±{points(row[1].nights)}", right=TERMINAL
    ),
    Column("signal/noise", lambda row: _number(row[1].signal_to_noise, 1), right=TERMINAL),
    Column("order kept", _decided, right=TERMINAL),
    Column("ceiling", lambda row: points(row[1].ceiling), right=TERMINAL),
    Column("keys", lambda row: str(len(row[1].suspicious)), right=TERMINAL),
    Column("monotonic", lambda row: _number(row[1].monotonic, 2), right=TERMINAL),
    Column("minutes", lambda row: _minutes(row[1].seconds), right=TERMINAL),
    Column("do", lambda row: row[1].advice),
)
_KEYS_SHOWN = 5


def _who(families: int) -> str:
    return "one model says" if families == 1 else f"{families} unrelated models say"


def quality_text(record: Quality) -> str:
    """Return the table of tasks, then why, and the references that look wrong."""
    lines = [
        f"{len(record.runs)} runs{', a track' if record.is_track else ''}",
        "",
        _QUALITY.text(record.tasks.items()),
        "",
        "useful: as how many problems at 50 % they tell models apart. sampling, nights: standard errors of",
        "a run by its samples, and beyond them. order kept: pairs of runs that other problems of the kind",
        "put in the same order; 50 is a coin, as of equal models. ceiling: what a perfect model scores if",
        "the keys that look wrong are. minutes: drawing of the last run.",
        "",
        *(f"{name}: {task.advice}: {task.why}" for name, task in record.tasks.items()),
        *(f"{name}: left out: {n} problems are in all runs" for name, n in record.left_out.items()),
    ]
    for name, task in record.tasks.items():
        for key in task.suspicious[:_KEYS_SHOWN]:
            lines.append(
                f"  {name} {key.problem_id}: {_who(key.families)} "
                f"{one_line(key.answer, 60)!r} (key wrong with {100 * key.wrong:.0f} %)"
            )
        if more := len(task.suspicious) - _KEYS_SHOWN:
            lines += [f"  … and {more} more (--json lists them)"] if more > 0 else []
        if task.suspicious:
            runs = " ".join(dict.fromkeys(run for key in task.suspicious for run in key.runs))
            lines.append(f"  read them: genbench review references {runs} --task {name}")
    return printable("\n".join(lines))
