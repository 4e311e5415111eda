"""What two sides of a comparison must share, and differences that are only reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, NotComparableError, nearest
from genbench.store import contract
from genbench.store.manifest import ReasoningRecord
from genbench.store.sample_index import SampleIndex
from genbench.types import OURS

KINDS = (
    "shard",
    "tasks",
    "problems",
    "k",
    "terms",
    "reasoning",
    "prompts",
    "max_tokens",
    "references",
    "groups",
    "version",
    "protocol",
    "data",
    "verifier",
    "verdicts",
    "excluded",
    "seal",
    "adaptive",
    "model",
    "run_seed",
    "circumstances",
)
"""The first parts of the names of differences. `--allow` takes one of these, or a longer part of the name."""
_MOST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two sides, as in `terms.dtype: "bfloat16" -> "float16"`."""

    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}"


def check_names(allow: Iterable[str]) -> None:
    """Raise InputError for a name that no difference can have."""
    for name in allow:
        if name.partition(".")[0] not in KINDS:
            raise InputError(f"--allow {name}: unknown difference name{nearest(name, KINDS)}")


def settle(found: Sequence[Difference], allow: Sequence[str], what: str) -> list[Difference]:
    """Return the differences that `allow` lets through.

    Args:
        found: the differences.
        allow: names of differences, or their first parts.
        what: the first line of the error.

    Raises:
        NotComparableError: other differences remain. The message lists them and the options that allow them.
    """
    remaining = [item for item in found if not _is_allowed(item.name, allow)]
    if not remaining:
        return list(found)
    lines = [f"  {item}" for item in remaining[:_MOST_SHOWN]]
    if len(remaining) > _MOST_SHOWN:
        lines.append(f"  ... and {len(remaining) - _MOST_SHOWN} more")
    names = " ".join(f"--allow {kind}" for kind in dict.fromkeys(_kind(item) for item in remaining))
    raise NotComparableError(
        f"{what}:\n" + "\n".join(lines) + f"\nmake them equal, or let the difference through with {names}"
    )


def _kind(item: Difference) -> str:
    """Return the first part of the difference's name."""
    return item.name.partition(".")[0]


def _is_allowed(name: str, allow: Sequence[str]) -> bool:
    """Return whether a given name is this name or its first parts."""
    return any(name == given or name.startswith(f"{given}.") for given in allow)


def side_differences(base: Side, tuned: Side) -> Iterator[Difference]:
    """Yield differences in what must be equal: tasks, decoding terms and trace format, then task by task."""
    for side, where in ((base, "base"), (tuned, "tuned")):
        shard = side.manifest.origin.shard if side.manifest else None
        if shard is not None:
            detail = f"{where} is only shard {shard}; run the others, then: genbench merge"
            yield Difference(f"shard.{where}", detail)
        yield from _edits(side, where)
    for name in sorted(base.tasks.keys() ^ tuned.tasks.keys()):
        yield Difference(f"tasks.{name}", f"only in {'base' if name in base.tasks else 'tuned'}")
    shared = [name for name in base.tasks if name in tuned.tasks]
    if base.manifest is not None and tuned.manifest is not None:
        yield from _lines(
            _of_tasks(base.manifest.terms, shared), _of_tasks(tuned.manifest.terms, shared), "terms"
        )
        yield from _reasoning_differences(
            base.manifest.reasoning, tuned.manifest.reasoning, _cut(base, tuned)
        )
    for name in shared:
        yield from _task_differences(base.tasks[name], tuned.tasks[name])


def _edits(side: Side, where: str) -> Iterator[Difference]:
    """Yield the files of a run folder that were changed by hand, with what to do."""
    for misfit in side.misfits:
        yield Difference(
            f"seal.{where}",
            f"{misfit}; restore it, or if nobody changed it, run: genbench score {side.path}",
        )
    for edit in side.manifest.edited if side.manifest else ():
        task, _, kind = edit.file.partition("/")
        if not kind or task in side.tasks:
            yield Difference(
                f"seal.{where}", f"{edit}; restore the folder from a copy, or draw the run again"
            )


def planned_differences(
    base: Side, terms: Mapping[str, Any], reasoning: Mapping[str, Any], tasks: Sequence[str]
) -> Iterator[Difference]:
    """Yield differences of decoding terms and trace format between a stored base and a planned run.

    Args:
        terms: the terms of the planned run.
        reasoning: its trace format, as the manifest records it.
        tasks: its tasks.
    """
    if base.manifest is None:
        return
    yield from _lines(_of_tasks(base.manifest.terms, tasks), _of_tasks(terms, tasks), "terms")
    own = ReasoningRecord.model_validate(reasoning)
    yield from _reasoning_differences(base.manifest.reasoning, own, _cut(base, base))


def _cut(base: Side, tuned: Side) -> set[str]:
    """Return the end tokens that were in fact cut from an answer of either side."""
    indexes = [task.index for side in (base, tuned) for task in side.tasks.values()]
    return {token for index in indexes if index is not None for token in index.cut_tokens}


def _reasoning_differences(
    base: ReasoningRecord, tuned: ReasoningRecord, cut: Collection[str]
) -> Iterator[Difference]:
    """Yield differences of the trace format.

    Of the end tokens only those count that were cut from an answer, or that close a trace. They are all
    special tokens of the tokenizer, so another pad token would otherwise be another format. Tokens that
    stop the engine are terms.
    """
    left, right = base.to_json(), tuned.to_json()
    counts = {*cut, *base.open, *base.close, *tuned.open, *tuned.close}
    for record in (left, right):
        record["end_tokens"] = sorted(counts.intersection(record["end_tokens"]))
    yield from _lines(left, right, "reasoning")


def _of_tasks(record: Mapping[str, Any], shared: Sequence[str]) -> dict[str, Any]:
    """Return the terms without the decoding of tasks that only one side has."""
    if "decoding" not in record:
        return dict(record)
    return {**record, "decoding": {task: record["decoding"].get(task) for task in shared}}


def _lines(left: Any, right: Any, name: str) -> Iterator[Difference]:
    """Yield the differences of two JSON values, key by key."""
    for line in contract.differences(left, right, name):
        where, _, detail = line.partition(": ")
        yield Difference(where, detail)


def _task_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    """Yield differences in what must be equal in one task."""
    name = base.name
    for side, other, where in ((base, tuned, "base"), (tuned, base, "tuned")):
        extra = sorted(set(side.problem_ids) - set(other.problem_ids))
        # An adaptive run draws as many problems as its looks need.
        if extra and not other.is_adaptive:
            yield Difference(
                f"problems.{name}", f"{len(extra)} of {len(side.problem_ids)} only in {where}{_few(extra)}"
            )
    for side, where in ((base, "base"), (tuned, "tuned")):
        for said in side.broken:
            yield Difference(f"seal.{name}", f"{where}: {said}; if nobody edited it, run: genbench score")
    if base.largest_k != tuned.largest_k and not tuned.is_adaptive and not is_prefix(base, tuned):
        yield Difference(f"k.{name}", f"{base.largest_k} -> {tuned.largest_k}")
    yield from _mapped(_groups(base), _groups(tuned), f"groups.{name}", "problems")
    if base.described and tuned.described:
        left, right = base.described.to_json(), tuned.described.to_json()
        for key in ("version", "data_digest", "verifier"):
            yield from _lines(left[key], right[key], f"{key.split('_')[0]}.{name}")
        yield from _lines(base.described.protocol, tuned.described.protocol, f"protocol.{name}")
        yield from _judge_differences(base, tuned)
    yield from _clock_differences(base, tuned)
    if base.index is not None and tuned.index is not None:
        yield from _sample_differences(name, base.index, tuned.index)


_CLOCK_SHARE = 0.05
"""Difference of the shares of rollouts that the clock ended, from which on a busy machine decides."""


def _clock_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    """Yield that the clock ended more rollouts of an agent on one side than on the other."""
    if base.by_clock is None or tuned.by_clock is None:
        return
    shares = [task.by_clock / task.samples for task in (base, tuned) if task.by_clock is not None]
    if abs(shares[0] - shares[1]) > _CLOCK_SHARE:
        yield Difference(
            f"clock.{base.name}",
            f"the clock ended {base.by_clock} of {base.samples} rollouts -> {tuned.by_clock} of "
            f"{tuned.samples}: a busy machine ends more; raise limits.wall_s in both, or draw them again",
        )


def _sample_differences(name: str, base: SampleIndex, tuned: SampleIndex) -> Iterator[Difference]:
    """Yield differences of prompts, length limits and references, sample by sample.

    A prompt that is not on disk cannot be compared, which is a difference of its own.
    """
    lost, shared = base.without_prompt(tuned)
    if lost:
        yield Difference(
            f"prompts.missing.{name}",
            f"prompts of {lost} of {shared} samples could not be compared: completions.jsonl lacks "
            "them in one of the runs",
        )
    yield from _mapped(base.prompts, tuned.prompts, f"prompts.{name}", "samples")
    yield from _mapped(base.max_tokens, tuned.max_tokens, f"max_tokens.{name}", "problems")
    yield from _mapped(base.references, tuned.references, f"references.{name}", "problems")


def _judge_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    """Yield differences of the judges and of their answers to the canary cases.

    The engine's record is left out, because it names paths and ports. A run whose answers were all decided
    without the judge has no canary to compare.
    """
    judges = [_judge(side) for side in (base, tuned)]
    labels = [(judge.get("canary") or {}).get("labels") for judge in judges]
    left, right = (
        {key: value for key, value in judge.items() if key not in ("engine", "canary")} for judge in judges
    )
    yield from _lines(left, right, f"verifier.{base.name}.judge")
    if labels[0] and labels[1]:
        yield from _lines(labels[0], labels[1], f"verifier.{base.name}.judge.canary")


def _judge(task: SideTask) -> dict[str, Any]:
    """Return the record of the task's judge, empty if it has none."""
    judge = task.described.judge if task.described else None
    return {} if judge is None else judge.to_json()


def _groups(task: SideTask) -> dict[str, str | None]:
    """Return the group of each problem.

    It is empty if the side names none. The other side's groups are used then.
    """
    return dict(zip(task.problem_ids, task.groups, strict=True)) if task.groups else {}


def _mapped(base: Mapping[Any, Any], tuned: Mapping[Any, Any], name: str, unit: str) -> Iterator[Difference]:
    """Yield one difference for all keys in both whose values differ. It names the first of them."""
    shared = [key for key in base if key in tuned]
    other = [key for key in shared if base[key] != tuned[key]]
    if other:
        first = other[0]
        words = f"problem {first[0]}, sample {first[1]}" if isinstance(first, tuple) else f"problem {first}"
        count = f"{len(other)} of {len(shared)} {unit} differ"
        yield Difference(name, f"{count}; the first, {words}: {base[first]} -> {tuned[first]}")


def _few(names: Sequence[str]) -> str:
    """Return the first three names in parentheses."""
    shown = ", ".join(names[:3])
    return f" ({shown}{', ...' if len(names) > 3 else ''})"


def shares_seeds(base: SideTask, tuned: SideTask) -> bool:
    """Return whether every sample of both sides was drawn with the same seed in both."""
    if base.index is None or tuned.index is None:
        return False
    left, right = base.index.seeds, tuned.index.seeds
    shared = [key for key in base.index.prompts if key in tuned.index.prompts]
    return bool(shared) and all(key in left and left[key] == right.get(key) for key in shared)


def is_prefix(base: SideTask, tuned: SideTask) -> bool:
    """Return whether base has more samples than tuned, and tuned's have the seeds of base's first ones."""
    even = not (base.is_ragged or (tuned.is_ragged and not tuned.is_adaptive))
    return even and base.largest_k > tuned.largest_k and shares_seeds(base, tuned)


_NOT_CIRCUMSTANCES = (
    "host",
    "base_urls",
    "root",
    "locks_are_advisory",
    "VLLM_LOGGING_",
    "VLLM_NO_USAGE_STATS",
)
"""Prefixes of keys that are recorded with every attempt but cannot change a token."""


def circumstance_differences(base: Side, tuned: Side) -> list[Difference]:
    """Return differences that change only rounding or speed: engine sizes, packages, machine.

    Every attempt that drew samples counts. A key that differs between the attempts of one run is named too,
    even if both runs have the same mixture.
    """
    left, right = _circumstances(base), _circumstances(tuned)
    if left is None or right is None:
        return []
    found: list[Difference] = []
    for key in sorted({*left, *right}):
        ours, theirs = (values.get(key, ["(absent)"]) for values in (left, right))
        if ours != theirs or len(ours) > 1:
            found.append(Difference(f"circumstances.{key}", f"{_show(ours)} -> {_show(theirs)}"))
    return found


def _circumstances(side: Side) -> dict[str, list[Any]] | None:
    """Return the distinct values of each dotted key over the attempts that drew, None for a score file."""
    attempts = side.manifest.attempts if side.manifest else []
    drawing = [attempt for attempt in attempts if attempt.drawn or not attempt.has_ended] or attempts[-1:]
    if not drawing:
        return None
    found: dict[str, list[Any]] = {}
    records = [dict(_flat(attempt.circumstances)) for attempt in drawing]
    for key in {key for record in records for key in record}:
        values = [record.get(key, "(absent)") for record in records]
        found[key] = [value for at, value in enumerate(values) if value not in values[:at]]
    return found


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value), without the keys that cannot change a token at any level."""
    for key, value in record.items():
        if key.startswith(_NOT_CIRCUMSTANCES):
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _show(values: list[Any]) -> str:
    """Return one value, or all values that the attempts had."""
    return " and ".join(contract.show(value) for value in values)


MAX_EXCLUDED_SHARE = 0.01
"""The share of suites that declare none."""
MAX_UNSCORED_SHARE = 0.02
"""The same for samples that an LLM judge left without a verdict."""


def excluded_differences(base: Side, tuned: Side) -> Iterator[Difference]:
    """Yield tasks with too many excluded or unscored samples, as results.json says or by their verdicts.

    The verdicts are counted again, since results.json is missing if the run was killed before its end.
    """
    for side, where in ((base, "base"), (tuned, "tuned")):
        said = set()
        for line in side.failed:
            name, _, detail = line.partition(": ")
            if name in side.tasks:
                said.add(name)
                yield Difference(f"excluded.{name}", f"{where}: {detail}")
        for name, task in side.tasks.items():
            found = None if name in said else _too_many(side, task)
            if found:
                yield Difference(f"excluded.{name}", f"{where}: {found}")


MAX_UNANSWERED_DIFFERENCE = 0.02
"""The largest difference of the shares of samples without an answer at which two safety scores compare."""


def lacking_scores(tasks: Mapping[str, tuple[SideTask, SideTask]]) -> tuple[str, ...]:
    """Return the tasks in which a score file has no score for too many samples.

    Nobody knows why such a sample has none. So it must not be able to turn a drop into no decision. The same
    holds for a task whose samples without an answer count neither way, if one side has far more of them.
    """
    return tuple(
        name
        for name, sides in tasks.items()
        if any(task.statuses is None and task.excluded > MAX_EXCLUDED_SHARE * task.samples for task in sides)
        or abs(sides[0].unanswered_share - sides[1].unanswered_share) > MAX_UNANSWERED_DIFFERENCE
    )


def _too_many(side: Side, task: SideTask) -> str | None:
    """Return what is wrong with a task's statuses, or None."""
    if task.statuses is None:
        return None
    found = [status for row in task.statuses for status in row if status in OURS]
    unscored = found.count("unscored") - task.lacking
    excluded = len(found) - found.count("unscored")
    share = MAX_EXCLUDED_SHARE if side.max_excluded_share is None else side.max_excluded_share
    if excluded > share * task.samples:
        return (
            f"{excluded} of {task.samples} samples are excluded by their verdicts, more than the "
            f"{share:.1%} that are allowed"
        )
    if side.max_excluded_share is None and unscored > MAX_UNSCORED_SHARE * task.samples:
        return (
            f"{unscored} of {task.samples} samples are unscored by their verdicts, more than the "
            f"{MAX_UNSCORED_SHARE:.1%} that are allowed; results.json is missing"
        )
    return None
