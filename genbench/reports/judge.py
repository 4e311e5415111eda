"""What is said of LLM judges: the notices next to a score, and the findings of `genbench judge check`."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.results.judge_figures import JudgedRecord, PairwiseRecord
from genbench.reports.numbers import interval, points
from genbench.runs.judge_check import InjectionRecord, JudgeCheck
from genbench.safetext.printable import printable


def judged_lines(judge: JudgedRecord) -> list[str]:
    """Return the `judge` entry of a task in results.json as lines."""
    return [line for part in (_who, _canary, _pairs, _cascade, _attempts) for line in part(judge)]


def _who(judge: JudgedRecord) -> Iterator[str]:
    engine = judge.engine
    if engine.get("proven"):
        model = f"model {engine['identity']}, {engine['engine']}"
    else:
        version = f" (version {engine['version']})" if engine.get("version") else ""
        declared = f"declared revision {engine.get('revision_declared')}, which nothing proves"
        model = f"model {engine.get('model')} at {engine.get('base_url')}{version}, {declared}"
    pin = "; UNPINNED" if judge.unpinned else ""
    yield f"judge {judge.name} {judge.digest}: {model}{pin}"


def _canary(judge: JudgedRecord) -> Iterator[str]:
    canary = judge.canary
    if canary is None:
        return
    answers = ", ".join(f"{name} {label or 'no verdict'}" for name, label in canary.labels.items())
    if canary.drifted is None:
        since = "not pinned (genbench judge check --pin)"
    else:
        since = f"{len(canary.drifted)} of {len(canary.labels)} moved since the pin"
    agreed = f", kappa {canary.kappa:.2f} on {canary.verdicts} labels" if canary.kappa is not None else ""
    yield f"canary: {since}{agreed}; {answers}"


def _pairs(judge: JudgedRecord) -> Iterator[str]:
    pairs = judge.pairwise
    if pairs is None or pairs.win_rate is None:
        return
    against = f"run {judge.baseline.name}" if judge.baseline else "the reference column"
    unasked = f", {pairs.unanswered} of them because one side never answered" if pairs.unanswered else ""
    yield (
        f"win rate {points(pairs.win_rate)} {interval(pairs.ci)} against {against}: "
        f"{pairs.wins} wins, {pairs.ties} ties, {pairs.losses} losses{unasked}"
    )
    yield from _compared(pairs)


def _compared(pairs: PairwiseRecord) -> Iterator[str]:
    """Yield lengths and order of the answers that the judge compared."""
    chars, bias, fair = pairs.mean_chars, pairs.position_bias, pairs.length_controlled
    if chars is None or bias is None or fair is None:
        return
    missing = fair.value is None or fair.ci is None
    rate = f"missing: {fair.missing}" if missing else f"{points(fair.value or 0.0)} {interval(fair.ci)}"
    yield (
        f"length: {chars.answer:,.0f} characters against {chars.baseline:,.0f}; win rate at equal "
        f"lengths {rate}"
    )
    yield (
        f"order: {pairs.flipped} of {pairs.compared} verdicts flipped with it (ties); the first place "
        f"alone won {points(bias.first)}%, the second {points(bias.second)}%"
    )


def _cascade(judge: JudgedRecord) -> Iterator[str]:
    if judge.accuracy is not None:
        rule, both = judge.accuracy.rule, judge.accuracy.cascade
        decided = ", ".join(f"{who} {count}" for who, count in sorted((judge.decided_by or {}).items()))
        yield (
            f"rule only {points(rule.value)} {interval(rule.ci)}, rule and judge "
            f"{points(both.value)} {interval(both.ci)} (decided by: {decided})"
        )


def _attempts(judge: JudgedRecord) -> Iterator[str]:
    found = judge.attempts
    if found is None or found.not_attempted is None or found.incorrect is None:
        return
    given, f1 = ("-" if rate is None else points(rate) for rate in (found.correct_given_attempted, found.f1))
    yield (
        f"not attempted {points(found.not_attempted)}%, incorrect {points(found.incorrect)}%, "
        f"correct given attempted {given}, F1 {f1}"
    )


_WORST_SHOWN = 3


def judge_text(check: JudgeCheck) -> str:
    """Return agreement, stability, order consistency, injections, and the cases decided differently."""
    lines = [f"judge {check.judge} ({check.digest}), {check.n} calibration cases"]
    if check.unpinned:
        lines.append("  UNPINNED: its verdicts cannot be reproduced")
    lines += _agreement(check)
    lines.append(f"  unscored        {check.unscored}")
    lines.append(f"  stability       {check.stability:.1%} the same when asked again")
    if check.order_consistency is not None:
        lines.append(f"  order           {check.order_consistency:.1%} the same in both orders")
    lines += _injections(check.injection)
    for item in check.disagreements:
        lines.append(f"  {item.id}: {item.expected} expected, {item.found or 'no verdict'} found")
    if check.pinned_in is not None:
        lines.append(f"pinned in {check.pinned_in}")
    return printable("\n".join(lines))


def _agreement(check: JudgeCheck) -> Iterator[str]:
    """Yield the agreement with people, of a rubric by dimension too."""
    if check.accuracy is None:
        return
    yield f"  agreement       {check.accuracy:.1%} of {check.verdicts} verdicts"
    name = "weighted kappa " if check.weights else "Cohen's kappa  "
    yield f"  {name} {_kappa(check.kappa, check.kappa_ci)}"
    if check.mean_absolute_error is not None:
        yield f"  off by          {check.mean_absolute_error:.2f} points in the mean"
    for dimension, item in (check.dimensions or {}).items():
        kappa = _kappa(item.kappa, item.kappa_ci)
        yield f"    {dimension}: agreement {item.accuracy:.1%}, weighted kappa {kappa}"


def _kappa(value: float | None, ci: tuple[float, float] | None) -> str:
    """Return kappa with its interval."""
    if value is None:
        return "not defined (one label throughout)"
    return f"{value:.2f}" + (f"  95% [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else "")


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
