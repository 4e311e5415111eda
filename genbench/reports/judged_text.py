"""What must stand beside a judged score, in sentences: who judged, pairs, lengths, the rule alone, canary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from genbench.reports.figures import interval, points

Record = Mapping[str, Any]


def judged_lines(judge: Record) -> list[str]:
    """The `judge` entry of a task in results.json as lines."""
    return [line for part in (_who, _canary, _pairs, _cascade, _attempts) for line in part(judge)]


def _who(judge: Record) -> Iterator[str]:
    engine = judge["engine"]
    if engine.get("proven"):
        model = f"model {engine['identity']}, {engine['engine']}"
    else:
        version = f" (version {engine['version']})" if engine.get("version") else ""
        declared = f"declared revision {engine.get('revision_declared')}, which nothing proves"
        model = f"model {engine.get('model')} at {engine.get('base_url')}{version}, {declared}"
    pin = "; UNPINNED" if judge["unpinned"] else ""
    yield f"judge {judge['name']} {judge['digest']}: {model}{pin}"


def _canary(judge: Record) -> Iterator[str]:
    canary = judge.get("canary")
    if not canary:
        return
    answers = ", ".join(f"{name} {label or 'no verdict'}" for name, label in canary["labels"].items())
    if canary["drifted"] is None:
        since = "not pinned (genbench judge check --pin)"
    else:
        since = f"{len(canary['drifted'])} of {len(canary['labels'])} moved since the pin"
    yield f"canary: {since}; {answers}"


def _pairs(judge: Record) -> Iterator[str]:
    pairs = judge.get("pairwise")
    if not pairs or pairs["win_rate"] is None:
        return
    opponent = judge.get("baseline") or {}
    against = f"run {opponent['name']}" if opponent else "the reference column"
    unasked = f", {pairs['unanswered']} of them where one side never answered" if pairs["unanswered"] else ""
    yield (
        f"win rate {points(pairs['win_rate'])} {interval(pairs['ci'])} against {against}: "
        f"{pairs['wins']} wins, {pairs['ties']} ties, {pairs['losses']} losses{unasked}"
    )
    if not pairs["compared"]:
        return
    chars, bias, fair = pairs["mean_chars"], pairs["position_bias"], pairs["length_controlled"]
    rate = f"{points(fair['value'])} {interval(fair['ci'])}" if fair["ci"] else f"missing: {fair['missing']}"
    yield (
        f"length: {chars['answer']:,.0f} characters against {chars['baseline']:,.0f}; win rate at equal "
        f"lengths {rate}"
    )
    yield (
        f"order: {pairs['flipped']} of {pairs['compared']} verdicts flipped with it (ties); the first place "
        f"alone won {points(bias['first'])}%, the second {points(bias['second'])}%"
    )


def _cascade(judge: Record) -> Iterator[str]:
    accuracy = judge.get("accuracy")
    if accuracy:
        rule, both = accuracy["rule"], accuracy["cascade"]
        decided = ", ".join(f"{who} {count}" for who, count in sorted(judge["decided_by"].items()))
        yield (
            f"rule alone {points(rule['value'])} {interval(rule['ci'])}, rule and judge "
            f"{points(both['value'])} {interval(both['ci'])} (decided by: {decided})"
        )


def _attempts(judge: Record) -> Iterator[str]:
    found = judge.get("attempts")
    if found and found["correct"] is not None:
        given, f1 = (
            "-" if found[key] is None else points(found[key]) for key in ("correct_given_attempted", "f1")
        )
        yield (
            f"not attempted {points(found['not_attempted'])}%, incorrect {points(found['incorrect'])}%, "
            f"correct given attempted {given}, F1 {f1}"
        )
