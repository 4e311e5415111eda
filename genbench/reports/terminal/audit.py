"""What an audit found, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.reports.numbers import interval, points
from genbench.runs.audit import Audit, AuditedMachine, BothMeans, Parting

_SHOWN = 5


def audit_text(record: Audit) -> str:
    """Return the finding in a sentence, then its details and the machines."""
    return "\n".join(_lines(record))


def _lines(record: Audit) -> Iterator[str]:
    chosen = f"{record.drawn} of {record.of:,} samples were drawn again (--seed {record.seed})"
    if record.expects == "tokens":
        yield _tokens_words(record)
        yield f"  {chosen}"
    else:
        word = "agree with" if record.is_as_expected else "do not agree with"
        compared = record.scores is not None or record.logprobs is not None
        yield (
            f"{record.model}: the stored replies {word} those drawn now"
            if compared
            else f"{record.model}: neither scores nor log-probabilities could be compared here"
        )
        yield f"  {chosen}; {record.equal} of {record.drawn} are the stored replies all the same"
        yield f"  the same tokens cannot be expected: {'; '.join(record.because)}"
        if record.scores is not None:
            yield f"  scores: {_score_words(record.scores)}"
        if record.logprobs is not None:
            yield f"  log-probability a token: {_logprob_words(record.logprobs)}"
    for item in record.parted[:_SHOWN] if record.expects == "tokens" else ():
        yield f"  {_place(item)}: stored {item.stored!r}, drawn now {item.drawn!r}"
    more = len(record.parted) - _SHOWN
    if record.expects == "tokens" and more > 0:
        yield f"  … and {more} more (--json has all)"
    for name, why in record.left_out.items():
        yield f"  {name}: left out: {why}"
    for machine in record.stored_on:
        yield f"  stored: {_machine(machine)}"
    yield f"  here:   {_machine(record.here)}"


def _tokens_words(record: Audit) -> str:
    if not record.parted:
        return f"{record.model}: {record.equal} of {record.drawn} equal, token by token"
    first = record.parted[0]
    where = "" if first.token is None else f"; the first to part does so at token {first.token}"
    return f"{record.model}: {record.equal} of {record.drawn} equal{where} ({_place(first)})"


def _place(item: Parting) -> str:
    turn = f", turn {item.turn}" if item.turn else ""
    token = "" if item.token is None else f", token {item.token}"
    return f"{item.task} {item.problem_id}, sample {item.sample_index}{turn}{token}"


def _score_words(found: BothMeans) -> str:
    change = f"{points(found.stored)} stored, {points(found.drawn)} now"
    return f"{change}, 95% CI of the difference {interval(found.ci)} ({found.samples} samples)"


def _logprob_words(found: BothMeans) -> str:
    bounds = "-" if found.ci is None else f"[{found.ci[0]:+.3f}, {found.ci[1]:+.3f}]"
    change = f"{found.stored:.3f} stored, {found.drawn:.3f} now"
    return f"{change}, 95% CI of the difference {bounds} ({found.samples} samples)"


def _machine(machine: AuditedMachine) -> str:
    parts = [*machine.gpus, machine.cpu, None if machine.cores is None else f"{machine.cores} cores"]
    torch = f", torch {machine.torch}" if machine.torch else ""
    return f"{machine.host} ({', '.join(part for part in parts if part)}), {machine.engine}{torch}"
