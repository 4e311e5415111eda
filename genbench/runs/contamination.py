"""The command that searches stored runs for signs that a model has seen the problems of a task.

Two signs are tested: verdicts that flip between a task and its rewritten twin, and an effect of the order
in which the options of a question were shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field
from scipy.special import ndtri

from genbench.analysis.comparison.pairing import Pairing, pair_sides
from genbench.analysis.estimate import right_shares
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import GenbenchError, InputError, nearest
from genbench.json_record import Count, JsonRecord, Share, SignedShare
from genbench.runs.stored.load import stored_tasks, why_not_loadable
from genbench.runs.stored.trust import Kind
from genbench.stats.contamination import (
    LARGE_STEP,
    LEAST_FLIPS,
    Flips,
    OrderedSamples,
    closeness,
    effect_test,
    flip_test,
    flips_power,
    least_leak,
    miracle_flips,
    order_effect,
    share_of_gain,
    step_size,
    twin_gap,
)
from genbench.stats.multiple_testing import holm
from genbench.stats.scores import Floats
from genbench.store.folder import RunFolder
from genbench.tasks.choice_options import LETTERS
from genbench.tasks.loaded_task import LoadedTask


class FlipsRecord(JsonRecord):
    """Problems that base never solves and tuned always solves."""

    chances: Count = Field(description="problems that base solves in at most 1 of 64 samples")
    count: Count = Field(description="those of them that tuned solves in at least 15 of 16 samples")
    problems: tuple[str, ...] = Field(description="their ids")
    share_of_gain: float | None = Field(
        description="part of the gain that comes from them; above 1 if others lost; null without a gain"
    )
    earlier_runs: Count = Field(description="runs of earlier models against the same base")
    earlier_chances: Count = Field(description="the chances there, summed over the runs")
    earlier_count: Count = Field(description="the flips there, summed over the runs")
    step: float | None = Field(
        default=None,
        description="how far tuned is from base: root mean square difference of the shares of right samples, "
        "over the problems that base solves sometimes and tuned does not solve always",
    )
    largest_earlier_step: float | None = Field(
        default=None, description="the largest one of the earlier runs"
    )
    p: Share | None = Field(
        description="one-sided p value of so many flips; null without earlier runs, or if the step is more "
        "than 1.5 times as large as all earlier ones"
    )
    p_adjusted: Share | None = Field(description="the same, by Holm's method over all tests of the record")
    missing: str | None = Field(description="why flips cannot be counted; null if they are")

    @property
    def is_large_step(self) -> bool:
        """Return whether the step is much larger than all earlier ones, so that flips are not tested."""
        if self.step is None or self.largest_earlier_step is None:
            return False
        return self.step > LARGE_STEP * self.largest_earlier_step


class OrderRecord(JsonRecord):
    """Whether tuned is right more often if options are shown in the order of the dataset."""

    problems: Count = Field(description="problems of tuned with right and wrong samples")
    base_effect: float | None = Field(
        description="rise of base's score from the reversed order to that of the dataset"
    )
    tuned_effect: float | None = Field(description="the same for tuned")
    difference: float | None = Field(description="tuned_effect - base_effect")
    se: float | None = Field(description="standard error of the difference")
    p: Share | None = Field(description="one-sided p value of a larger effect in tuned")
    p_adjusted: Share | None = Field(description="the same, by Holm's method over all tests of the record")
    missing: str | None = Field(description="why there is no test; null if there is one")


class TwinsRecord(JsonRecord):
    """Whether tuned solves the originals better than their rewritten twins, beyond base."""

    problems: Count = Field(description="originals with a twin")
    base_gap: SignedShare | None = Field(description="base's mean of twin minus original")
    tuned_gap: SignedShare | None = Field(description="the same of tuned")
    difference: float | None = Field(description="tuned_gap - base_gap")
    se: float | None = Field(description="standard error of the difference, originals as units")
    p: Share | None = Field(description="one-sided p value of a lower gap in tuned (sign flips)")
    p_adjusted: Share | None = Field(description="the same, by Holm's method over all tests of the record")
    missing: str | None = Field(description="why there is no test; null if there is one")


class CouldFind(JsonRecord):
    """What the test of flips would have found here, by 500 simulated nights of base's own rates."""

    leak_5: Share = Field(description="how often it finds that 5 % of the problems are always solved")
    leak_10: Share = Field(description="the same of 10 %")
    least: Share | None = Field(description="least share that it finds in 80 %; null if none")


class ContaminationTask(JsonRecord):
    """One task."""

    k_base: Count = Field(description="samples that every problem of base has at least")
    k_tuned: Count = Field(description="samples that every problem of tuned has at least")
    flips: FlipsRecord = Field(description="miracle flips")
    order: OrderRecord = Field(description="the order of options")
    suspicious: bool = Field(description="whether a test is significant after adjustment")
    could_find: CouldFind | None = Field(
        default=None, description="what flips would have shown; null if they were not tested"
    )
    words: str = Field(default="", description="a sign, no sign or no test, with what it could have found")


class Contamination(JsonRecord):
    """Signs of contamination of one model, task by task."""

    format: Literal[1] = Field(description="version of this record")
    base: str = Field(description="the run of the base")
    earlier: tuple[str, ...] = Field(description="runs of earlier models, which are taken as clean")
    tuned: str = Field(description="the run of the model that is tested")
    alpha: Share = Field(description="error of all tests together if the model is clean")
    tasks: dict[str, ContaminationTask] = Field(description="the tasks of all runs, by name")
    twins: dict[str, TwinsRecord] = Field(
        default_factory=dict, description="by ORIGINAL=TWIN; absent without --twins"
    )
    tests: Count = Field(default=0, description="tests that Holm's method adjusts")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")


Order = tuple[float, int]
"""Closeness to the order of the dataset, and the place of the right option."""


def order_record(
    side: Side, base: SideTask, tuned: SideTask, data_dir: Path | None, trusted: Collection[Kind]
) -> OrderRecord:
    """Return the effect of the order of options in base and tuned, with the test of a larger one in tuned.

    Args:
        side: the run of tuned, from which the questions are read again.
        base: the task in base, with the same problems as `tuned`.
        tuned: the task in tuned.
        data_dir: the mirror of the data, if its location has changed since the run.
        trusted: what the stored suite may do (see trust).
    """
    if side.manifest is None:
        return _missing("a score file has no questions")
    folder = RunFolder(side.path)
    why = why_not_loadable(folder, side.manifest, tuned.name, data_dir, trusted)
    if why is not None:
        return _missing(why)
    try:
        (task,) = stored_tasks(folder, side.manifest, data_dir, [tuned.name])
    except GenbenchError as error:
        return _missing(str(error).split("\n", maxsplit=1)[0])
    orders = _orders(task, tuned.problem_ids, max(base.largest_k, tuned.largest_k))
    if orders is None:
        return _missing(_no_orders(task))
    left, right = (order_effect(_ordered(part, orders)) for part in (base, tuned))
    if left is None or right is None:
        return _missing("no problem has right and wrong samples in both runs")
    return OrderRecord(
        problems=right.problems,
        base_effect=left.effect,
        tuned_effect=right.effect,
        difference=right.effect - left.effect,
        se=math.hypot(left.se, right.se),
        p=effect_test(left, right),
        p_adjusted=None,
        missing=None,
    )


def _missing(why: str) -> OrderRecord:
    return OrderRecord(
        problems=0,
        base_effect=None,
        tuned_effect=None,
        difference=None,
        se=None,
        p=None,
        p_adjusted=None,
        missing=why,
    )


def _orders(task: LoadedTask, ids: Sequence[str], k: int) -> list[list[Order]] | None:
    """Return the orders of each problem's samples, or None if the task shows no options in changing order."""
    if task.task.info.asks_alike:
        return None
    problems = {problem.problem_id: problem for problem in task.problems}
    found = []
    for name in ids:
        asks = [task.ask(problems[name], index, ()) for index in range(k)]
        row = [_order(ask.order, ask.reference) for ask in asks if ask is not None]
        known = [item for item in row if item is not None]
        if len(known) < k:
            return None
        found.append(known)
    return found


def _no_orders(task: LoadedTask) -> str:
    """Return why a task shows no options in changing order."""
    asks = [task.ask(problem, 0, ()) for problem in task.problems[:1]]
    if any(ask is not None and ask.order is not None for ask in asks):
        return "its samples show the options in one order; draw it with options: {order: per_sample}"
    return "it shows no options"


def _order(order: tuple[int, ...] | None, reference: Any) -> Order | None:
    letter = reference.get("letter") if isinstance(reference, dict) else None
    if order is None or not isinstance(letter, str) or letter not in LETTERS or not letter:
        return None
    return closeness(order), LETTERS.index(letter)


def _ordered(task: SideTask, orders: Sequence[Sequence[Order]]) -> list[OrderedSamples]:
    """Return the scored samples of each problem with their orders."""
    found = []
    for row, own in zip(task.scores, orders, strict=True):
        kept = [(score, *order) for score, order in zip(row, own, strict=False) if score is not None]
        if len(kept) > 1:
            scores, close, places = zip(*kept, strict=True)
            found.append(OrderedSamples(np.array(scores), np.array(close), places))
    return found


ALPHA = 0.05
_LEAST_BASE, _LEAST_TUNED = 8, 4
"""Samples of a problem below which "never" and "always" say little."""


def contamination(
    runs: Sequence[Path | str],
    *,
    tasks: Sequence[str] = (),
    allow: Sequence[str] = (),
    data_dir: Path | None = None,
    trusted: Collection[Kind] = (),
    twins: Mapping[str, str] | None = None,
) -> Contamination:
    """Test whether the model of the last run has seen the problems of its tasks.

    Args:
        runs: the base, then runs of earlier models of the team, then the model that is tested. The earlier
            ones are taken as clean: they show how often problems flip without contamination.
        tasks: the tasks to test. Empty: all that every run has.
        allow: names of differences between runs to let through.
        data_dir: the mirror of the data, if its location has changed since the runs.
        trusted: what the stored suites may do (see trust).
        twins: task -> task of the runs whose problems are rewritten ones of the first. The group of a twin
            names its original: its id, its group, or the text of its question.

    Raises:
        InputError: fewer than two runs, or one that cannot be used, or twins that no run has.
        NotComparableError: a run differs from the base in what must be equal.
    """
    if len(runs) < 2:
        raise InputError("wanted at least two runs: the base first, the model that is tested last")
    sides = [open_side(Path(path), tasks) for path in runs]
    pairings = [pair_sides(sides[0], side, allow, False) for side in sides[1:]]
    *earlier, last = pairings
    names = [name for name in last.tasks if all(name in pairing.tasks for pairing in earlier)]
    found = {name: _tested(name, earlier, last, data_dir, trusted) for name in names}
    pairs = {f"{name}={twin}": _twins(last, name, twin) for name, twin in (twins or {}).items()}
    found, pairs, tests = _adjusted(found, pairs)
    power = {name: _could_find(last.tasks[name][0], task, tests) for name, task in found.items()}
    found = {
        name: task.model_copy(update={"could_find": power[name], "words": _words(task, power[name], tests)})
        for name, task in found.items()
    }
    return Contamination(
        format=1,
        base=str(runs[0]),
        earlier=tuple(map(str, runs[1:-1])),
        tuned=str(runs[-1]),
        alpha=ALPHA,
        tasks=found,
        **({"twins": pairs} if pairs else {}),
        tests=tests,
        allowed=tuple(dict.fromkeys(str(item) for pairing in pairings for item in pairing.allowed)),
    )


def _tested(
    name: str,
    earlier: Sequence[Pairing],
    last: Pairing,
    data_dir: Path | None,
    trusted: Collection[Kind],
) -> ContaminationTask:
    """Return the tests of one task, not adjusted yet."""
    base, tuned = last.tasks[name]
    return ContaminationTask(
        k_base=base.smallest_k,
        k_tuned=tuned.smallest_k,
        flips=_flips(base, tuned, [pairing.tasks[name] for pairing in earlier]),
        order=order_record(last.tuned, base, tuned, data_dir, trusted),
        suspicious=False,
    )


def _flips(base: SideTask, tuned: SideTask, earlier: Sequence[tuple[SideTask, SideTask]]) -> FlipsRecord:
    """Return the flips of tuned, tested against those of the earlier runs that have enough samples."""
    empty = FlipsRecord(
        chances=0,
        count=0,
        problems=(),
        share_of_gain=None,
        earlier_runs=0,
        earlier_chances=0,
        earlier_count=0,
        p=None,
        p_adjusted=None,
        missing=_too_few(base, tuned),
    )
    if empty.missing is not None:
        return empty
    shares = right_shares(base), right_shares(tuned)
    own = miracle_flips(*shares)
    usable = [pair for pair in earlier if _too_few(*pair) is None]
    past = [_of_pair(*pair) for pair in usable]
    chances, count = sum(item.chances for item in past), sum(item.count for item in past)
    found = empty.model_copy(
        update={
            "chances": own.chances,
            "count": own.count,
            "problems": tuple(base.problem_ids[at] for at in np.flatnonzero(own.flipped)),
            "share_of_gain": share_of_gain(*shares, own),
            "earlier_runs": len(past),
            "earlier_chances": chances,
            "earlier_count": count,
            "step": step_size(*shares),
            "largest_earlier_step": max(
                (step_size(*map(right_shares, pair)) for pair in usable), default=None
            ),
        }
    )
    if found.is_large_step:
        return found
    return found.model_copy(update={"p": flip_test(own.count, own.chances, count, chances)})


def _of_pair(base: SideTask, tuned: SideTask) -> Flips:
    return miracle_flips(right_shares(base), right_shares(tuned))


def _too_few(base: SideTask, tuned: SideTask) -> str | None:
    """Return why "never" and "always" cannot be distinguished, or None."""
    if base.smallest_k < _LEAST_BASE:
        return f"base has {base.smallest_k} samples of a problem; wanted {_LEAST_BASE} or more (best 64)"
    if tuned.smallest_k < _LEAST_TUNED:
        return f"tuned has {tuned.smallest_k} samples of a problem; wanted {_LEAST_TUNED} or more (best 16)"
    return None


def _twins(last: Pairing, name: str, twin: str) -> TwinsRecord:
    """Return the test of one pair of tasks, not adjusted yet.

    Raises:
        InputError: the runs have no such task.
    """
    for task in (name, twin):
        if task not in last.tasks:
            raise InputError(
                f"--twins {name}={twin}: no task '{task}' in all runs{nearest(task, last.tasks)}"
            )
    empty = TwinsRecord(
        problems=0,
        base_gap=None,
        tuned_gap=None,
        difference=None,
        se=None,
        p=None,
        p_adjusted=None,
        missing="no twin names its original: the group of a twin is its id, or its question",
    )
    originals = _originals(last.base, last.tasks[name][0], last.tasks[twin][0])
    if len(originals) < _LEAST_TWINS:
        return empty
    gaps = [_gaps(last.tasks[name][side], last.tasks[twin][side], originals) for side in (0, 1)]
    kept = ~np.isnan(gaps[0]) & ~np.isnan(gaps[1])
    base, tuned = gaps[0][kept], gaps[1][kept]
    if len(base) < _LEAST_TWINS:
        return empty.model_copy(
            update={"missing": f"{len(base)} originals and twins have scores in both runs"}
        )
    found = twin_gap(tuned - base)
    return TwinsRecord(
        problems=len(base),
        base_gap=float(base.mean()),
        tuned_gap=float(tuned.mean()),
        difference=found.gap,
        se=found.se,
        p=found.p,
        p_adjusted=None,
        missing=None,
    )


_LEAST_TWINS = 6
"""With fewer pairs no sign flip is significant at 5 %."""


def _originals(side: Side, task: SideTask, twins: SideTask) -> dict[str, list[int]]:
    """Return the rows of the twins of each original, by its id."""
    names = list(dict.fromkeys(group for group in twins.groups or () if group is not None))
    asked = RunFolder(side.path).asks(task.name) if side.manifest is not None else {}
    own = zip(task.groups or (), task.problem_ids, strict=False)
    groups = {group: name for group, name in own if group is not None}
    found = {group: where for group in names if (where := _named(group, task, groups, asked)) is not None}
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(twins.groups or ()):
        if group is not None and group in found:
            rows.setdefault(found[group], []).append(row)
    return rows


def _named(
    group: str, task: SideTask, groups: Mapping[str, str], asked: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str | None:
    """Return the problem whose id, group or question is the group of a twin, or None."""
    if group in task.problem_ids:
        return group
    if group in groups:
        return groups[group]
    text = group.strip()
    return next(
        (name for name, lines in asked.items() if any(text in str(line.get("prompt")) for line in lines)),
        None,
    )


def _gaps(task: SideTask, twins: SideTask, originals: Mapping[str, list[int]]) -> Floats:
    """Return the mean of the twins minus the original, of each original. NaN without a score."""
    own = dict(zip(task.problem_ids, right_shares(task), strict=True))
    others = right_shares(twins)
    return np.array([float(np.mean(others[rows])) - own[name] for name, rows in originals.items()])


def _could_find(base: SideTask, task: ContaminationTask, tests: int) -> CouldFind | None:
    """Return what the test of a task's flips would have found, or None if flips were not tested."""
    flips = task.flips
    if flips.p is None:
        return None
    rates, level = right_shares(base), ALPHA / max(tests, 1)
    facts = {"earlier": flips.earlier_count, "earlier_chances": flips.earlier_chances}
    return CouldFind(
        leak_5=flips_power(rates, 0.05, alpha=level, **facts),
        leak_10=flips_power(rates, 0.10, alpha=level, **facts),
        least=least_leak(rates, alpha=level, **facts),
    )


def _words(task: ContaminationTask, power: CouldFind | None, tests: int) -> str:
    """Return what may be said of a task: a sign, no sign, or no test. Nobody can say more."""
    over = f"after Holm over {tests} test{'' if tests == 1 else 's'}"
    if task.suspicious:
        signs = [
            f"{name} p {p:.2g}"
            for name, p in (("flips", task.flips.p_adjusted), ("order", task.order.p_adjusted))
            if p is not None and p <= ALPHA
        ]
        return f"a sign ({', '.join(signs)} {over}); explained also by training on problems of the same kind"
    could = list[str]()
    if power is not None:
        could.append(
            "no share of leaked problems"
            if power.least is None
            else f"a leak of {100 * power.least:.0f} % of the problems with 80 %"
        )
    if task.order.se is not None and task.order.p is not None:
        least = (float(ndtri(1 - ALPHA / max(tests, 1))) + float(ndtri(0.8))) * task.order.se
        could.append(f"an order effect of {100 * least:.0f} points with 80 %")
    if not could:
        return "no test, so nothing was looked for"
    return f"no sign found; could have found {' and '.join(could)}"


def _adjusted(
    tasks: Mapping[str, ContaminationTask], twins: Mapping[str, TwinsRecord]
) -> tuple[dict[str, ContaminationTask], dict[str, TwinsRecord], int]:
    """Return tasks and twins with p values adjusted over all tests, signs marked, and the number of tests."""
    p = {(name, "flips"): task.flips.p for name, task in tasks.items()}
    p |= {(name, "order"): task.order.p for name, task in tasks.items()}
    p |= {(name, "twins"): pair.p for name, pair in twins.items()}
    tests = {key: value for key, value in p.items() if value is not None}
    adjusted = dict(zip(tests, holm(list(tests.values())), strict=True)) if tests else {}
    pairs = {
        name: pair.model_copy(update={"p_adjusted": adjusted.get((name, "twins"))})
        for name, pair in twins.items()
    }
    return {name: _with_p(name, task, adjusted) for name, task in tasks.items()}, pairs, len(tests)


def _with_p(
    name: str, task: ContaminationTask, adjusted: Mapping[tuple[str, str], float]
) -> ContaminationTask:
    flips, order = adjusted.get((name, "flips")), adjusted.get((name, "order"))
    by_flips = flips is not None and flips <= ALPHA and task.flips.count >= LEAST_FLIPS
    by_order = order is not None and order <= ALPHA
    return task.model_copy(
        update={
            "flips": task.flips.model_copy(update={"p_adjusted": flips}),
            "order": task.order.model_copy(update={"p_adjusted": order}),
            "suspicious": by_flips or by_order,
        }
    )
