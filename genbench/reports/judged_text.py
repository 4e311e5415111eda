"""Notices next to a score of an LLM judge: the judge, pairs, lengths, the rule's own accuracy, the canary."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.judge_records import PairwiseRecord
from genbench.analysis.results_record import JudgedRecord
from genbench.reports.figures import interval, points


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
