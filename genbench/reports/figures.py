"""What is known of a task besides its score, as lines: measures of texts, corpus metrics, and its judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from genbench.analysis.comparison.read_pairs import ReadPair
from genbench.analysis.corpus_metrics import CorpusMetricRecord
from genbench.analysis.corrected import Recall, ReviewedTask
from genbench.analysis.likelihood import LikelihoodRecord, MeasureDifference
from genbench.analysis.reading import READINGS, ReadCounts
from genbench.analysis.records import Interval
from genbench.analysis.results.judge_figures import JudgedRecord, PairwiseRecord
from genbench.analysis.results.record import ReportedRecord, RolloutsRecord
from genbench.analysis.stopping import StoppingRecord
from genbench.reports.numbers import interval, kappa_words, p_text, points
from genbench.reports.table import TERMINAL, Column, Table
from genbench.stats.likelihood import MEASURES


def measure_value(name: str, value: float) -> str:
    """Return a measure for people: shares in points of 100, others with four digits."""
    return f"{100 * value:.1f}" if MEASURES[name].is_share else f"{value:.4g}"


def read_words(counts: ReadCounts | None) -> str:
    """Return how answers were read, as shares of the samples: `box 81%, announcement 15%, guess 4%`."""
    if counts is None:
        return "not recorded"
    whole = sum(counts.values())
    return ", ".join(f"{way} {_percent(count / whole)}" for way, count in counts.items())


def read_change(pair: ReadPair) -> str:
    """Return how the answers of both sides were read: `box 81% -> 60%, guess 3% -> 24%`."""
    if pair.base is None or pair.tuned is None:
        return f"{read_words(pair.base)} -> {read_words(pair.tuned)}"
    sides = (pair.base, pair.tuned)
    return ", ".join(
        f"{way} " + " -> ".join(_percent(own.get(way, 0) / sum(own.values())) for own in sides)
        for way in READINGS
        if any(way in own for own in sides)
    )


def _percent(share: float) -> str:
    """Return a share in whole percent. A small one is not rounded to none, and a large one not to all."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def reported_line(item: ReportedRecord) -> str:
    """Return the figure that a benchmark reports: `attack success 12.0 [8.1, 17.2] (lower is better)`."""
    if item.value is None:
        return f"{item.name}: missing"
    low, high = item.ci or (item.value, item.value)
    bounds = f"; with excluded samples {item.bounds[0]:.1f} to {item.bounds[1]:.1f}" if item.bounds else ""
    better = "lower is better" if item.better == "lower" else "higher is better"
    return f"{item.name} {item.value:.1f} [{low:.1f}, {high:.1f}] ({better}{bounds})"


def stopping_line(record: StoppingRecord, *, brief: bool = False) -> list[str]:
    """Return how the replies of a task ended, in one line.

    Args:
        brief: only if any was cut off or empty.
    """
    if brief and not (record.cut_off or record.empty):
        return []
    parts = [f"cut off {100 * record.share('cut_off'):.1f}%"]
    if record.loops:
        parts.append(f"loops {100 * record.share('loops'):.1f}% ({loops_text(record)})")
    if record.empty:
        parts.append(f"empty {100 * record.share('empty'):.1f}%")
    if record.tokens is not None:
        parts.append(f"{record.tokens:,.0f} tokens a sample{_token_shares(record)}")
    if not brief:
        parts.append("ended by " + ", ".join(f"{name} {count:,}" for name, count in record.reasons.items()))
    if record.ended_loops:
        replies = "reply" if record.ended_loops == 1 else "replies"
        parts.append(
            f"stop_on_loop ended {record.ended_loops:,} {replies} and saved up to "
            f"{record.saved_tokens:,} tokens"
        )
    return ["; ".join(parts)]


def _token_shares(record: StoppingRecord) -> str:
    """Return where the tokens went: ` (40% in finished replies, 10% in cut-off ones, 50% in loops)`."""
    shares = record.token_shares
    if shares is None or not record.cut_off:
        return ""
    ways = zip(("in finished replies", "in cut-off ones", "in loops"), shares, strict=True)
    return f" ({', '.join(f'{_percent(share)} {way}' for way, share in ways if share)})"


def loops_text(record: StoppingRecord) -> str:
    """Return the unit of the loops and where the longest one is: `unit of 49 characters, such as …`."""
    unit = f"unit of {record.period} characters"
    if not record.examples:
        return unit
    first = record.examples[0]
    return (
        f"{unit}, such as {first.problem_id} sample {first.sample_index}: {first.times} times {first.period} "
        f"characters from {first.place:,} on"
    )


def likelihood_lines(record: LikelihoodRecord, *, brief: bool = False) -> list[str]:
    """Return the measures of a task as one line each for shares and other measures, then what qualifies them.

    Args:
        brief: leave out shares, of which the table has the headline.
    """
    shares = [name for name in record.measures if MEASURES[name].is_share and not brief]
    others = [name for name in record.measures if not MEASURES[name].is_share]
    lines = [", ".join(_shown(record, name) for name in names) for names in (shares, others) if names]
    n = next((item.n for item in record.measures.values()), 0)
    if record.ties:
        lines.append(f"{record.ties} of {n} problems have a tie for the largest value; the first one counts")
    if record.merged:
        lines.append(
            f"in {record.merged} of {n} problems one token has characters of context and continuation; it "
            "counts for the continuation"
        )
    return lines


def _shown(record: LikelihoodRecord, name: str) -> str:
    item = record.measures[name]
    return f"{name} {measure_value(name, item.value)} {_bounds(name, item.ci)}".rstrip()


def _bounds(name: str, ci: Sequence[float] | None) -> str:
    return "" if ci is None else f"[{measure_value(name, ci[0])}, {measure_value(name, ci[1])}]"


def measure_change(name: str, item: MeasureDifference) -> str:
    """Return the paired change of one measure in words: `bpb_gold 1.21 -> 1.15 (-0.06, 95% CI [...])`."""
    bounds = f", 95% CI {_bounds(name, item.ci)}" if item.ci else ""
    better = ", lower is better" if item.lower_is_better else ""
    return (
        f"{name} {measure_value(name, item.base)} -> {measure_value(name, item.tuned)} "
        f"({_signed(name, item.difference)}{bounds}{better})"
    )


def difference_lines(differences: Mapping[str, MeasureDifference], indent: str = "    ") -> Iterator[str]:
    """Yield the table of paired differences of all measures."""
    n = next((item.n for item in differences.values()), 0)
    if not n:
        return
    yield f"  measures of scored texts, paired over {n} problems (shares in points of 100):"
    yield _MEASURES.text(differences.items(), indent=indent)


def _signed(name: str, difference: float) -> str:
    change = measure_value(name, difference)
    return change if change.startswith("-") else f"+{change}"


_MEASURES = Table[tuple[str, MeasureDifference]](
    Column("measure", lambda row: row[0]),
    Column("base", lambda row: measure_value(row[0], row[1].base), right=TERMINAL),
    Column("tuned", lambda row: measure_value(row[0], row[1].tuned), right=TERMINAL),
    Column("change", lambda row: _signed(row[0], row[1].difference), right=TERMINAL),
    Column("95% CI", lambda row: _bounds(row[0], row[1].ci) or "-"),
    Column("p", lambda row: p_text(row[1].p_two_sided), right=TERMINAL),
    Column("better", lambda row: "lower" if row[1].lower_is_better else "higher"),
)


def corpus_lines(records: Mapping[str, CorpusMetricRecord] | None) -> list[str]:
    """Return one line for each corpus metric, in points of 100 with its 95 % interval."""
    return [_corpus_line(name, item) for name, item in (records or {}).items()]


def _corpus_line(name: str, item: CorpusMetricRecord) -> str:
    if item.value is None:
        return f"{name}: missing: {item.missing}"
    bounds = "" if item.ci is None else f" [{100 * item.ci[0]:.2f}, {100 * item.ci[1]:.2f}]"
    better = ", lower is better" if item.lower_is_better else ""
    empty = f"; {item.empty} samples without an answer count as empty" if item.empty else ""
    return f"{name} (corpus{better}): {100 * item.value:.2f}{bounds}{empty}"


def rollout_lines(record: RolloutsRecord) -> list[str]:
    """Return what the rollouts of an agent took, which limits ended some, and what may have helped them."""
    limits = ", ".join(f"{name} {count}" for name, count in record.ended_by.items()) or "none"
    lines = [
        f"a rollout: {record.turns:.1f} turns, {record.new_tokens:,.0f} tokens, {record.engine_s:.1f} s of "
        f"the engine, {record.tools_s:.1f} s of harness and tools; ended by a limit: {limits}; begun again "
        f"after a fault: {record.begun_again}",
        f"touched history or network: {record.touched} of {record.count} rollouts",
    ]
    if record.deciding:
        lines.append(f"patches that touch how the tests run: {record.deciding} of {record.count} rollouts")
    if record.at_limits:
        lines.append(f"boxes at a limit of memory, processes or disk: {record.at_limits} of {record.count}")
    if record.diverged:
        lines.append(f"{record.diverged} rollouts took another way after an interruption than before it")
    return lines


def judged_lines(judge: JudgedRecord) -> list[str]:
    """Return the `judge` entry of a task in results.json as lines."""
    return [
        line for part in (_who, _canary, _bias, _points, _pairs, _cascade, _attempts) for line in part(judge)
    ]


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


def _bias(judge: JudgedRecord) -> Iterator[str]:
    """Yield what may have moved the judge besides the quality of answers, in one line."""
    bias = judge.bias
    if bias is None:
        return
    length = "not known" if bias.length is None else f"{bias.length:+.2f}"
    own = "IS THE MODEL UNDER TEST" if bias.is_judged_model else "is another model than the one under test"
    pairs = judge.pairwise
    order = ""
    if pairs is not None and pairs.flip_rate is not None:
        order = f"; {points(pairs.flip_rate)}% of verdicts flip with the order"
    yield (
        f"bias: rank correlation of score and length {length} ({bias.samples} samples){order}; no verdict at "
        f"the first question {bias.unreadable}; the judge {own}"
    )


def _points(judge: JudgedRecord) -> Iterator[str]:
    """Yield the mean of points as HealthBench reports it."""
    if judge.points is not None:
        yield (
            f"points: {points(judge.points.value)}, with samples below 0 counted as such and cut at the mean "
            f"({points(judge.points.negative)}% of samples are below 0)"
        )


def _pairs(judge: JudgedRecord) -> Iterator[str]:
    pairs = judge.pairwise
    if pairs is None or pairs.win_rate is None:
        return
    opponent = judge.baseline
    is_file = opponent is not None and opponent.identity.startswith(("answers:", "by "))
    against = f"{'answers' if is_file else 'run'} {opponent.name}" if opponent else "the reference column"
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
    style = pairs.style_controlled
    if style is not None and style.value is not None:
        effects = ", ".join(f"{name} {value:+.2f}" for name, value in style.effects.items())
        yield (
            f"style: win rate at equal length, headers, bold and lists {points(style.value)} "
            f"{interval(style.ci)} (log odds of a standard deviation: {effects})"
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
    given, f1 = (points(rate) for rate in (found.correct_given_attempted, found.f1))
    yield (
        f"not attempted {points(found.not_attempted)}%, incorrect {points(found.incorrect)}%, "
        f"correct given attempted {given}, F1 {f1}{_with_interval(found.f1_ci)}"
    )
    if found.partial and found.hallucination is not None:
        yield (
            f"right in part {points(found.partial)}%, hallucinations {points(found.hallucination)}% of what "
            f"is not right{_with_interval(found.hallucination_ci)}"
        )


def _with_interval(ci: Interval | None) -> str:
    return "" if ci is None else f" {interval(ci)}"


def reviewed_words(task: ReviewedTask) -> str:
    """Return a corrected score in a line."""
    people = f"{len(task.reviewers)} people" if len(task.reviewers) != 1 else "one person"
    by = f"corrected by {task.n} labels of {people}: {points(task.value)} {interval(task.ci)}"
    alone = "" if task.weight else " (the labels alone: too few of a class to know how the judge errs)"
    return f"{by}, judge alone {points(task.machine)}{alone}"


def agreement_words(task: ReviewedTask) -> Iterator[str]:
    """Yield how far judge and people agree, and the people among themselves."""
    parts = (("right", task.right), ("wrong", task.wrong))
    yield (
        "the judge agrees on "
        + ", ".join(f"{_recall(recall)} that people call {name}" for name, recall in parts)
        + f"; kappa {kappa_words(task.agreement.kappa, task.agreement.ci)}"
    )
    if task.people.n:
        found = kappa_words(task.people.kappa, task.people.ci)
        yield f"people among themselves: agreement beyond chance {found}, {task.people.n} items"
    if task.void:
        yield f"{task.void} reviews are void: their answers were drawn again"
    if task.open:
        yield f"{task.open} planned problems have no label yet: the labelled ones must not be the easy ones"


def _recall(recall: Recall) -> str:
    if recall.share is None or recall.ci is None:
        return "none"
    return f"{points(recall.share)} % {interval(recall.ci)} of {recall.n}"
