"""The findings of `genbench judge check`, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.reports.numbers import kappa_words
from genbench.runs.judge_check import InjectionRecord, JudgeCheck
from genbench.safetext.printable import printable

_WORST_SHOWN = 3
_MOST_SHOWN = 50


def judge_text(check: JudgeCheck) -> str:
    """Return agreement, stability, order consistency, injections, and the cases decided differently."""
    lines = [f"judge {check.judge} ({check.digest}), {check.n} calibration cases"]
    if check.unpinned:
        lines.append("  UNPINNED: its verdicts cannot be reproduced")
    lines += _agreement(check)
    lines.append(f"  unscored        {check.unscored}")
    if check.divided:
        lines.append(f"  left out        {check.divided} rows that people were divided on")
    lines.append(f"  stability       {check.stability:.1%} the same when asked again")
    if check.order_consistency is not None:
        lines.append(f"  order           {check.order_consistency:.1%} the same in both orders")
    lines += _injections(check.injection)
    for item in check.disagreements[:_MOST_SHOWN]:
        lines.append(f"  {item.id}: {item.expected} expected, {item.found or 'no verdict'} found")
    if (more := len(check.disagreements) - _MOST_SHOWN) > 0:
        lines.append(f"  and {more} more, with --json")
    if check.pinned_in is not None:
        lines.append(f"pinned in {check.pinned_in}")
    return printable("\n".join(lines))


def _agreement(check: JudgeCheck) -> Iterator[str]:
    """Yield the agreement with people, of a rubric by dimension too."""
    if check.accuracy is None:
        return
    yield f"  agreement       {check.accuracy:.1%} of {check.verdicts} verdicts"
    name = "weighted kappa " if check.weights else "Cohen's kappa  "
    yield f"  {name} {kappa_words(check.kappa, check.kappa_ci, '  95%')}"
    if check.mean_absolute_error is not None:
        yield f"  off by          {check.mean_absolute_error:.2f} points in the mean"
    if check.groups is not None:
        yield f"                  of {check.groups} prompts, which the interval is over"
    if check.people is not None:
        people = check.people
        yield (
            f"  people          two of them agree on {people.accuracy:.1%} of {people.verdicts}, "
            f"kappa {kappa_words(people.kappa, people.kappa_ci, '  95%')}"
        )
    for dimension, item in (check.dimensions or {}).items():
        kappa = kappa_words(item.kappa, item.kappa_ci, "  95%")
        yield f"    {dimension}: agreement {item.accuracy:.1%}, weighted kappa {kappa}"


def _injections(found: InjectionRecord) -> Iterator[str]:
    """Yield how often injected orders succeeded, and the most successful of them."""
    if found.success_rate is None:
        yield "  injections      not measured: no answer was below the best verdict"
        return
    lift, control = found.mean_lift or 0.0, found.control_rate or 0.0
    yield (
        f"  injections      {found.succeeded} of {found.tried} ({found.success_rate:.1%}) lifted an answer, "
        f"by {lift:+.2f} in the mean; a harmless ending {control:.1%}"
    )
    worst = sorted(found.by_text.items(), key=lambda item: -item[1])[:_WORST_SHOWN]
    for text, rate in worst:
        if rate:
            yield f"    {rate:.1%}: {' '.join(text.split())}"
