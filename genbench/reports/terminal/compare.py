"""A comparison for the terminal: on one screen, or with all details.

The short form has the verdict, the table, and at most 30 lines below it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from genbench.analysis.comparison.compare import Comparison, SuiteVerdict
from genbench.analysis.comparison.compared_task import ComparedTask, JudgeFigures, JudgePair
from genbench.analysis.comparison.judge_change import JudgeChange, JudgeChanges
from genbench.analysis.stopping import change_line
from genbench.reports.adaptive_looks import adaptive_text, spent_words
from genbench.reports.explanations import changed_words, headline, sentence
from genbench.reports.figures import difference_lines, read_change
from genbench.reports.numbers import interval, kappa_words, p_text, points, signed
from genbench.reports.result_tables import (
    CHANGES,
    PART_CHANGES,
    STRATUM,
    STRATUM_CHANGES,
    change_rows,
    part_lines,
)
from genbench.reports.table import aligned
from genbench.reports.variant import variant_text
from genbench.safetext.printable import printable
from genbench.stats.comparison.causes import status_words
from genbench.stats.strata import StratumDifference
from genbench.types import STATUSES

_STRATA_SHOWN = 20


def details(task: ComparedTask) -> Iterator[str]:
    """Yield the lines below the table of a comparison about one task, in points of 100."""
    parts = (
        _inconclusive,
        _reported,
        _excluded,
        _rerun,
        _noise,
        _mcnemar,
        _read_by,
        _likelihood,
        _judge,
        _stopping,
        _parts,
        _causes,
        _transitions,
        _strata,
        _instructions,
        _corpus,
    )
    return chain.from_iterable(part(task) for part in parts)


def _corpus(task: ComparedTask) -> Iterator[str]:
    """Yield the differences of corpus metrics, in points of 100."""
    for name, item in (task.corpus or {}).items():
        if item.difference is None or item.base is None or item.tuned is None:
            yield f"  {name}: no difference: {item.missing}"
            continue
        bounds = "" if item.ci is None else f" [{100 * item.ci[0]:+.2f}, {100 * item.ci[1]:+.2f}]"
        better = ", lower is better" if item.lower_is_better else ""
        yield (
            f"  {name} (corpus{better}): {100 * item.base:.2f} -> {100 * item.tuned:.2f}, "
            f"{100 * item.difference:+.2f}{bounds}"
        )


def _inconclusive(task: ComparedTask) -> Iterator[str]:
    """Yield what an inconclusive task could not exclude, and how many problems would be needed."""
    if task.verdict != "INCONCLUSIVE" or task.missing:
        return
    margin = points(task.margin)
    line = f"  inconclusive: a {margin}-point drop is not excluded"
    if task.lower is not None and task.lower > -task.margin:
        line = f"  inconclusive: too few problems ({task.n}) to vouch for a margin of {margin} points"
    if task.findable:
        needed = math.ceil(task.n * (task.findable / task.margin) ** 2)
        line += f"; smallest detectable drop {points(task.findable)}"
        if needed > task.n:
            line += f", about {needed:,} problems like these would find {margin}"
    yield line


def _reported(task: ComparedTask) -> Iterator[str]:
    """Yield the figure that the benchmark reports on both sides."""
    if item := task.reported:
        bounds = f", 95% CI [{item.ci[0]:+.1f}, {item.ci[1]:+.1f}]" if item.ci else ""
        yield (
            f"  {item.name}: {item.base:.1f} -> {item.tuned:.1f} ({item.difference:+.1f}{bounds}; "
            f"{item.better} is better)"
        )


def _excluded(task: ComparedTask) -> Iterator[str]:
    """Yield the bounds of the difference over all possible scores of the excluded samples."""
    if task.bounds:
        low, high = task.bounds
        lacks = f"; {task.left_out} of {task.n} problems have none in common" if task.left_out else ""
        yield (
            f"  with excluded samples all wrong or all right: from {signed(low)} to {signed(high)}{lacks} "
            f"({task.excluded_base} of base, {task.excluded_tuned} of tuned)"
        )


def _rerun(task: ComparedTask) -> Iterator[str]:
    """Yield the interval of sampling noise."""
    if task.rerun_ci:
        how = "shared seeds" if task.shared_seeds else "independent seeds"
        yield f"  a re-run of both on these problems: {interval(task.rerun_ci)}, {how}"


def _noise(task: ComparedTask) -> Iterator[str]:
    """Yield the stored false-alarm band, and whether the difference is within it."""
    noise = task.noise
    if noise and task.difference is not None:
        side = "within" if abs(task.difference) <= noise.band else "outside"
        seeds = "only the engine, one seed" if noise.same_seed else "two seeds"
        band = f"±{points(noise.band)}; this is {side} it"
        yield f"  measured noise of one model run twice ({seeds}): {band}"


def _mcnemar(task: ComparedTask) -> Iterator[str]:
    """Yield McNemar's table."""
    table = task.mcnemar
    if table:
        yield (
            f"  right in both {table.both_right}, in base only {table.base_only}, in tuned only "
            f"{table.tuned_only}, in none {table.both_wrong}; exact McNemar p {p_text(table.p_two_sided)}"
        )


def _read_by(task: ComparedTask) -> Iterator[str]:
    """Yield how the answers of both sides were read, and the difference of their guesses."""
    pair = task.read_by
    if pair is None:
        return
    yield f"  read by: {read_change(pair)}"
    if pair.differs and pair.difference is not None:
        yield (
            f"  guessed or not found: {signed(pair.difference)} points {interval(pair.ci)}, "
            f"p {p_text(pair.p_adjusted)} (Holm)"
        )


def _likelihood(task: ComparedTask) -> Iterator[str]:
    """Yield the differences of all measures of scored texts."""
    if task.likelihood:
        yield from difference_lines(task.likelihood)


def _judge(task: ComparedTask) -> Iterator[str]:
    """Yield each judge's own figures, base -> tuned, if both runs have them."""
    if task.judge:
        yield from _cascade(task.judge.base, task.judge.tuned)
        yield from _pairwise(task.judge.base, task.judge.tuned)
        yield from _attempts(task.judge)


def _attempts(pair: JudgePair) -> Iterator[str]:
    """Yield the paired differences of F1 and of the rate of hallucinations."""
    for name, found in pair.attempts.items():
        what = "F1" if name == "f1" else "hallucinations of what is not right (lower is better)"
        bounds = "" if found.ci is None else f" {interval(found.ci)}"
        yield (
            f"  {what}: {points(found.base)} -> {points(found.tuned)}, "
            f"difference {signed(found.difference)}{bounds}, p {p_text(found.p_two_sided)}"
        )


def _cascade(base: JudgeFigures, tuned: JudgeFigures) -> Iterator[str]:
    """Yield the accuracy of the rule, and the accuracy of rule and judge together."""
    if base.accuracy and tuned.accuracy:
        rule = f"{points(base.accuracy.rule.value)} -> {points(tuned.accuracy.rule.value)}"
        both = f"{points(base.accuracy.cascade.value)} -> {points(tuned.accuracy.cascade.value)}"
        yield f"  only the rule: {rule}; rule and judge: {both}"


def _pairwise(base: JudgeFigures, tuned: JudgeFigures) -> Iterator[str]:
    """Yield the win rate at equal lengths, the lengths, and the verdicts that flipped with the order."""
    pairs = [side.pairwise for side in (base, tuned) if side.pairwise and side.pairwise.compared]
    if len(pairs) == 2:
        fair = " -> ".join(
            _fair_rate(pair.length_controlled.value if pair.length_controlled else None) for pair in pairs
        )
        chars = " -> ".join(f"{pair.mean_chars.answer:,.0f}" for pair in pairs if pair.mean_chars)
        flips = " -> ".join(f"{points(pair.flip_rate or 0.0)}%" for pair in pairs)
        yield f"  win rate at equal lengths: {fair}; mean characters: {chars}; flipped by order: {flips}"


def _fair_rate(value: float | None) -> str:
    """Return a win rate at equal lengths."""
    return "missing" if value is None else points(value)


def _stopping(task: ComparedTask) -> Iterator[str]:
    """Yield how the replies end on both sides."""
    if task.stopping:
        yield f"  how replies end: {change_line(task.stopping)}"


def _causes(task: ComparedTask) -> Iterator[str]:
    """Yield the part of each status in the difference."""
    parts = [part for part in (task.causes.parts if task.causes else ()) if part.part]
    if parts:
        yield "  the difference by cause (the parts add up to it):"
    for part in parts:
        shares = f"{points(part.base_share)}% -> {points(part.tuned_share)}% of the samples"
        words = status_words(part.status, part.part)
        yield f"    {signed(part.part):>6} {interval(part.ci)} {words} ({shares})"


def _parts(task: ComparedTask) -> Iterator[str]:
    """Yield the table of the named parts of the score."""
    if task.parts:
        yield "  named parts of the score:"
        yield PART_CHANGES.text(task.parts.items(), indent="    ")


def _transitions(task: ComparedTask) -> Iterator[str]:
    """Yield the table of samples by status in base and in tuned."""
    cells = task.transitions
    if not cells:
        return
    rows = list(dict.fromkeys(cell.base for cell in cells))
    columns = [status for status in STATUSES if any(cell.tuned == status for cell in cells)]
    counts = {(cell.base, cell.tuned): cell.count for cell in cells}
    head = ("base \\ tuned", *columns)
    body = [(row, *(str(counts.get((row, column), 0)) for column in columns)) for row in rows]
    yield "  samples by status, base -> tuned:"
    yield aligned(head, body, columns, indent="    ")


def _strata(task: ComparedTask) -> Iterator[str]:
    """Yield the tables by stratum."""
    for column, rows in task.strata.items():
        yield from _stratum_rows(column, f"by {column}", rows)


def _instructions(task: ComparedTask) -> Iterator[str]:
    """Yield the table by kind of instruction."""
    table = task.instructions
    if table:
        what = f"by kind of instruction, followed in {table.mode} form; n: prompts that ask for it"
        yield from _stratum_rows("instruction", what, table.kinds)


def _stratum_rows(column: str, what: str, rows: Sequence[StratumDifference]) -> Iterator[str]:
    """Yield an exploratory table. A long one shows only the rows with the smallest q."""
    known = [row for row in rows if row.difference is not None]
    shown = known
    if len(known) > _STRATA_SHOWN:
        shown = sorted(known, key=lambda row: 1.0 if row.q_value is None else row.q_value)[:_STRATA_SHOWN]
    if not shown:
        return
    rest = f"; {len(known) - len(shown)} more in --json" if len(shown) < len(known) else ""
    yield f"  {what} (exploratory; q: false discovery rate over its rows{rest}):"
    yield STRATUM_CHANGES.text(shown, indent="    ", heads={STRATUM: column})


def compare_text(comparison: Comparison, width: int | None = None) -> str:
    """Return the comparison as text, in points of 100.

    Args:
        width: columns of the terminal, see `head`.
    """
    tasks = comparison.tasks
    parts = [
        *head(comparison, width),
        "",
        *(f"WARNING: {line}" for line in comparison.warnings),
        *(f"let through: {line}" for line in comparison.allowed),
        *(f"{name}: {sentence(task)}" for name, task in tasks.items()),
        *(f"{name}: {changed_words(found)}" for name, found in comparison.texts.items()),
        "",
        _decided(comparison, details=True),
        "",
        legend(tasks, looked=comparison.adaptive is not None),
        *(adaptive_text(comparison.adaptive) if comparison.adaptive else ()),
        *(line for name, task in tasks.items() for line in _titled(name, task)),
        "",
        *(f"warning: other circumstances: {line}" for line in comparison.circumstances),
        *(f"note: {line}" for line in comparison.notes),
        "",
        outcome(comparison),
    ]
    return printable("\n".join(parts)).rstrip("\n")


def head(comparison: Comparison, width: int | None = None, *, without: Sequence[str] = ()) -> list[str]:
    """Return what each text of a comparison begins with: the verdict, both paths and the table.

    Args:
        width: columns of the terminal. In a narrow one the tests are under each row.
        without: the heads of columns that are left out.
    """
    return [
        headline(comparison),
        "",
        f"base:  {comparison.base.path}",
        f"tuned: {comparison.tuned.path}",
        "",
        CHANGES.text(change_rows(comparison.tasks, comparison.tasks), width=width, without=without),
    ]


def _decided(comparison: Comparison, *, details: bool = False) -> str:
    """Return the lines about what decided: the suite, or the treatment of a variant."""
    if comparison.variant is not None:
        return variant_text(comparison, comparison.variant, details=details)
    return suite_text(comparison.suite, details=details)


def suite_text(suite: SuiteVerdict, *, details: bool = False) -> str:
    """Return the lines about the suite: its verdict, the bound of the mean, and the errors.

    Args:
        details: also the weighted pool and the families of tests.
    """
    lines = [f"suite: {suite.verdict}; {_together(suite)}"]
    if suite.doubtful:
        lines.append(f"  a loss of twice the margin is not excluded in {', '.join(suite.doubtful)}")
    if suite.inconclusive:
        lines.append(f"  inconclusive by themselves: {', '.join(suite.inconclusive)}")
    if details and suite.pooled_difference is not None:
        lines.append(_pool_line(suite))
    error = f"{100 * suite.familywise:g} %"
    lines.append(
        f"  errors: an unchanged model is REGRESSED in at most {error} of comparisons, IMPROVED in at most "
        f"{error}, one or the other in up to {200 * suite.familywise:g} %"
    )
    return "\n".join(lines)


def _pool_line(suite: SuiteVerdict) -> str:
    """Return the line about the weighted pool. Its weights are named, because it is not the mean."""
    bounds = f", 95% CI {interval(suite.ci)}" if suite.ci else ""
    use = ", finds a small change that the tasks share" if len(suite.pooled_tasks) > 1 else ""
    tests = f"p drop {p_text(suite.p_regression)}, p gain {p_text(suite.p_improvement)}"
    gating = f"gating: {', '.join(suite.tasks)}; each family at level {suite.alpha:g}"
    pooled = signed(suite.pooled_difference or 0.0)
    return f"  weighted pool {pooled}{bounds}, {tests} (weights 1/variance{use}; {gating})"


def _bound(suite: SuiteVerdict, mean: float, lower: float) -> str:
    """Return the lower bound of the mean, with the mean if it is not that of the first line."""
    if suite.plain_difference is not None and signed(mean) == signed(suite.plain_difference):
        return f"lower bound of the mean {signed(lower)}"
    return (
        f"mean of the gating tasks with every excluded sample against tuned {signed(mean)}, lower bound "
        f"{signed(lower)}"
    )


def _together(suite: SuiteVerdict) -> str:
    """Return what is known of the mean of the gating tasks."""
    margin = points(suite.margin)
    if suite.lower is None or suite.mean_difference is None:
        return "no difference of all gating tasks"
    shown = _bound(suite, suite.mean_difference, suite.lower)
    if suite.lower > -suite.margin:
        return f"together not worse than {margin} points (95 %): {shown}"
    if suite.tasks and not suite.inconclusive and suite.verdict in ("IMPROVED", "NON_INFERIOR"):
        return f"each gating task by itself improved or lost less than its margin (95 %): {shown}"
    return f"together a loss of {margin} points is not excluded (95 %): {shown}"


def legend(tasks: Mapping[str, ComparedTask], *, looked: bool = False) -> str:
    """Return the meaning of the columns, with the methods that were used.

    Args:
        looked: whether the looks of an adaptive run decided.
    """
    family = "one-sided, Holm-adjusted over the gating tasks, and over the others"
    adjusted = "that of the task's last look" if looked else family
    ci = "; ".join(sorted({task.ci_method.split(" (")[0] for task in tasks.values() if task.ci}))
    p = "; ".join(sorted({task.p_method for task in tasks.values() if task.p_method}))
    return (
        f"Points of 100, paired by problem. 95% CI: question population ({ci}).\n"
        f"p: two-sided ({p}). p drop: {adjusted}.\n"
        "finds: the smallest drop found with 80% power, at the strictest level that the gate may use."
    )


_LEGEND = (
    "Points of 100, paired by problem. 95% CI: the difference on other questions of this kind.",
    "p: the chance of a difference at least this large if nothing had changed.",
)
_IN_DETAILS = ("p drop", "finds")


def _titled(name: str, task: ComparedTask) -> Iterator[str]:
    """Yield the details of a task under its name, or nothing."""
    lines = list(details(task))
    if lines:
        yield f"\n{name}"
        yield from lines


def outcome(comparison: Comparison) -> str:
    """Return whether the gate passed, or an empty text if there is no gate."""
    if not comparison.gate:
        return ""
    passed = "failed" if comparison.exit_code else "passed"
    undecided = comparison.suite.undecided
    why = f" (no decision on {', '.join(undecided)})" if undecided else ""
    if not (comparison.exit_code or comparison.strict) and comparison.suite.verdict == "INCONCLUSIVE":
        why = ": nothing regressed; --strict also fails what is not released"
    return f"gate: {passed}{' (strict)' if comparison.strict else ''}{why}"


LINES = 30
"""Lines below the table, those that are left blank among them."""
_WARNINGS = 6
_ALLOWED = 4
_SUITE = 8
_READINGS = 4
_PARTS = 6


def compare_brief(comparison: Comparison, width: int | None = None) -> str:
    """Return the verdict, the table and what matters most below it, in points of 100.

    The last line names the command that prints the rest.

    Args:
        width: columns of the terminal. In a narrow one the tests are under each row of the table.
    """
    if not comparison.tasks and comparison.texts:
        sides = (f"base:  {comparison.base.path}", f"tuned: {comparison.tuned.path}")
        warnings = (f"WARNING: {line}" for line in comparison.warnings)
        return printable("\n".join([headline(comparison), "", *sides, "", *warnings, _rest(comparison)]))
    above = head(comparison, width, without=_IN_DETAILS)
    below = [
        *_bounded([f"WARNING: {line}" for line in comparison.warnings], _WARNINGS, "warnings"),
        *_bounded([f"let through: {line}" for line in comparison.allowed], _ALLOWED, "differences"),
        *([spent_words(comparison.adaptive)] if comparison.adaptive else []),
        *_decided(comparison).splitlines()[:_SUITE],
        *_bounded(part_lines(comparison.tasks), _PARTS, "parts of scores in --details"),
        *_bounded(_readings(comparison.tasks), _READINGS, "tasks in --details"),
        "",
    ]
    end = [
        *(f"{name}: {changed_words(found)}" for name, found in comparison.texts.items()),
        "",
        *_LEGEND,
        *filter(None, [outcome(comparison), _verified(comparison)]),
        _rest(comparison),
    ]
    left = LINES - len(below) - len(end)
    return printable("\n".join([*above, *below, *_sentences(comparison.tasks, left), *end]))


def _readings(tasks: Mapping[str, ComparedTask]) -> list[str]:
    """Return how the answers of each task were read on both sides."""
    return [f"{name}: read by: {read_change(task.read_by)}" for name, task in tasks.items() if task.read_by]


def _sentences(tasks: dict[str, ComparedTask], most: int) -> list[str]:
    """Return the sentence about each task. The largest changes are kept if there are too many."""
    names = sorted(tasks, key=lambda name: -abs(tasks[name].difference or 0.0))
    kept = set(names if len(names) <= most else names[: max(most - 1, 0)])
    lines = [f"{name}: {sentence(task)}" for name, task in tasks.items() if name in kept]
    more = len(tasks) - len(kept)
    return [*lines, f"… and {more} more tasks that changed less"] if more else lines


def _bounded(lines: Sequence[str], most: int, what: str) -> list[str]:
    """Return the first lines, and how many others there are."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"… and {len(lines) - most + 1} more {what}"]


def _verified(comparison: Comparison) -> str:
    """Return how many stored answers were verified again, or an empty text if none were to be."""
    found = comparison.rechecked
    if not found:
        return ""
    count, moved = sum(item.verified for item in found), sum(item.differing for item in found)
    left_out = list(dict.fromkeys(item.task for item in found if item.skipped is not None))
    more = f"; not in every run: {', '.join(left_out)} (see --details)" if left_out else ""
    return f"{count} stored answers were verified again, {moved} got another verdict{more}"


def _rest(comparison: Comparison) -> str:
    """Return where causes, strata, notes and circumstances are shown. Only runs have a page."""
    sides = comparison.base, comparison.tuned
    differ = len(comparison.circumstances)
    told = f"{differ} circumstance(s) differ. " if differ else ""
    page = shlex.join(["genbench", "report", *(side.path for side in sides)])
    or_page = f", or the page: {page}" if all(side.kind == "run" for side in sides) else ""
    return f"{told}Causes, strata and notes: --details{or_page}"


def judge_changes_text(record: JudgeChanges) -> str:
    """Return both scores of each task, their difference, and how far the judges agree."""
    lines = ["two judges on the same texts of one model; this says nothing about models"]
    for name, task in record.tasks.items():
        lines += _judged_task(name, task, same=name in record.same)
    return printable("\n".join(lines))


def _judged_task(name: str, task: JudgeChange, *, same: bool) -> Iterator[str]:
    who = "the same judge in both, so this is its own noise" if same else ""
    yield f"{name}: {task.samples} texts of {task.n} problems" + (f" ({who})" if who else "")
    for place, judge, score in (
        ("first ", task.first, task.score_first),
        ("second", task.second, task.score_second),
    ):
        yield f"  {place} {points(score):>6}  {judge.name} {judge.digest}, {judge.model}"
    if task.missing is not None:
        yield f"  no difference: {task.missing}"
        return
    moved = f"{task.higher} texts higher, {task.lower} lower"
    yield f"  change {signed(task.difference):>6}  {interval(task.ci)}; {moved}"
    kappa = kappa_words(task.kappa, task.kappa_ci)
    yield f"  agree  {points(task.agreement):>6}  % of texts have the same score; kappa {kappa}"
    if any(task.unscored):
        yield f"  unscored by the first {task.unscored[0]}, by the second {task.unscored[1]}; left out"
