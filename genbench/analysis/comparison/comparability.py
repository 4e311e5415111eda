"""What two sides of a comparison must share, and differences that are only reported."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, NotComparableError, nearest
from genbench.store import contract
from genbench.store.folder import RunFolder
from genbench.store.manifest import ReasoningRecord
from genbench.store.sample_index import SampleIndex
from genbench.store.stored_run import AskFile
from genbench.store.sums import named_groups
from genbench.suite.block import draw_of, is_headline
from genbench.types import OURS

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "shard": "a side is one part of a job array instead of the whole run",
        "tasks": "a task that one side lacks. If allowed, it is left out",
        "problems": "problems that one side lacks. If allowed, those of both are compared",
        "k": "different numbers of samples, unless base has more and its first ones have tuned's seeds",
        "terms": "the decoding contract: sampling fields, dtype, engine and version, adapter mode … "
        "`terms.data_texts` only if a prompt differs too",
        "reasoning": "the trace format. Of the end tokens only those that were cut from an answer, or "
        "close a trace",
        "prompts": "token digests of prompts, sample by sample. `prompts.missing` are samples without a "
        "line in completions.jsonl",
        "max_tokens": "max_tokens after clamping to the context",
        "references": "references of the task",
        "groups": "clusters of problems",
        "version": "version of the task",
        "protocol": "the protocol of the task: whose words, shots and extraction",
        "data": "digest of the task's data",
        "verifier": "verifier and its version, judge and its digest. If only the version differs, `genbench "
        "score RUN --again` makes the older verdicts anew",
        "verdicts": "stored verdicts that are not those that the verifier gives today (`--recheck`)",
        "excluded": "more samples excluded or unscored than the suite allows, by results.json or by the "
        "verdicts",
        "seal": "lines of completions.jsonl or verdicts.jsonl were edited, removed, or contradict each other",
        "adaptive": "an adaptive run that was planned against another base",
        "model": "only in `genbench noise`: two models",
        "run_seed": "only in `genbench noise`: seeds that do not fit",
        "circumstances": "only with `--strict-contract`: engine sizes, packages, machine. Otherwise they are "
        "a warning",
        "clock": "the clock ended more rollouts of an agent on one side: a busy machine decides",
    }
)
"""The first parts of the names of differences, and what differs. `--allow` takes one of these, or a longer
part of the name."""
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


def settle(
    found: Sequence[Difference], allow: Sequence[str], what: str, instead: str = ""
) -> list[Difference]:
    """Return the differences that `allow` lets through.

    Args:
        found: the differences.
        allow: names of differences, or their first parts.
        what: the first line of the error.
        instead: a last line of the error: what else may be done.

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
        f"{what}:\n"
        + "\n".join(lines)
        + f"\nmake them equal, or let the difference through with {names}"
        + (f"\n{instead}" if instead else "")
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
    yield from _tasks_of_one(base, tuned)
    shared = [name for name in base.tasks if name in tuned.tasks]
    drawn = [name for name in shared if is_headline(name) or draw_of(name) not in shared]
    if base.manifest is not None and tuned.manifest is not None and is_log(base) == is_log(tuned):
        terms = contract.aligned(base.manifest.terms, tuned.manifest.terms)
        yield from _lines(_of_tasks(terms[0], drawn), _of_tasks(terms[1], drawn), "terms")
        yield from _reasoning_differences(
            base.manifest.reasoning, tuned.manifest.reasoning, _cut(base, tuned)
        )
    if is_log(base) != is_log(tuned):
        for name in shared:
            yield from _log_differences(base, tuned, name)
        return
    is_asked_otherwise = False
    for name in shared:
        own = base.tasks[name].described
        by_rule = own is not None and (own.judge is None or own.judge.reads)
        for found in _task_differences(base.tasks[name], tuned.tasks[name]):
            is_asked_otherwise = is_asked_otherwise or found.name == f"prompts.{name}"
            if found.name == f"prompts.{name}" and name not in drawn:
                continue  # they are the prompts of what is drawn
            if by_rule and found.name == f"verifier.{name}.version":
                yield _with_command(found, base, tuned)
            elif found.name == f"prompts.{name}":
                yield _with_words(found, base, tuned, name)
            elif found.name == f"references.{name}":
                yield _with_parts(found, base, tuned, name)
            else:
                yield found
    yield from _newer_terms(base, tuned, is_asked_otherwise=is_asked_otherwise)


def _tasks_of_one(base: Side, tuned: Side) -> Iterator[Difference]:
    """Yield the tasks of one side only. A verifier that was added or removed changes no other score."""
    both = base.tasks.keys() & tuned.tasks.keys()
    for name in sorted(base.tasks.keys() ^ tuned.tasks.keys()):
        if is_headline(name) or draw_of(name) not in both:
            yield Difference(f"tasks.{name}", f"only in {'base' if name in base.tasks else 'tuned'}")


def shaped_by_effort(tasks: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the differences that an effort makes: what is asked, and how long a reply is."""
    asked = [
        name
        for task in tasks
        for name in (
            f"prompts.{task}",
            f"terms.decoding.{task}.max_tokens",
            f"terms.decoding.{task}.thinking_token_budget",
        )
    ]
    return (
        f"terms.{contract.EFFORT}",
        "terms.chat_template_kwargs",
        "terms.engine.body",
        "max_tokens",
        *asked,
    )


def _newer_terms(base: Side, tuned: Side, *, is_asked_otherwise: bool) -> Iterator[Difference]:
    """Yield differences of terms that some runs lack: how control tokens in the data are read, the effort.

    A run that lacks one was drawn as before. It compares with any other one whose prompts are the same.
    """
    if base.manifest is None or tuned.manifest is None:
        return
    terms = (base.manifest.terms, tuned.manifest.terms)
    for name in (contract.DATA_TEXTS, contract.EFFORT):
        if is_asked_otherwise or (name == contract.EFFORT and all(name in own for own in terms)):
            left, right = (own.get(name, contract.AS_BEFORE) for own in terms)
            yield from _lines(left, right, f"terms.{name}")


def _with_command(found: Difference, base: Side, tuned: Side) -> Difference:
    """Return a difference of versions of a verifier with the command that removes it."""
    commands = ", or ".join(f"genbench score {side.path} --again" for side in (base, tuned))
    return Difference(found.name, f"{found.detail}; make the older verdicts anew: {commands}")


def _with_words(found: Difference, base: Side, tuned: Side, task: str) -> Difference:
    """Return a difference of prompts with what differs: the keys of both suites, or else the words."""
    if base.manifest is None or tuned.manifest is None:
        return found
    lines = contract.task_edits(task, base.manifest.suite.config, tuned.manifest.suite.config)
    left, right = (side.tasks[task].index for side in (base, tuned))
    if not lines and left is not None and right is not None:
        ours, theirs = left.prompts, right.prompts
        first = next(key for key in ours if key in theirs and ours[key] != theirs[key])
        lines = contract.text_diff(*(_prompt(side, task, *first) for side in (base, tuned)))
    what = " ".join(line.strip() for line in lines) or "the texts are the same, so the template differs"
    return Difference(found.name, f"{found.detail}; {what}")


def _with_parts(found: Difference, base: Side, tuned: Side, task: str) -> Difference:
    """Return a difference of references with what differs in the first, if they are of a harness's problems.

    Such a reference is a record: the row, the files at its path, and the image.
    """
    if base.manifest is None or not base.manifest.is_rollout(task):
        return found
    ours, theirs = (side.tasks[task].index for side in (base, tuned))
    if ours is None or theirs is None:
        return found
    left, right = ours.references, theirs.references
    first = next(key for key in left if key in right and left[key] != right[key])
    lines = contract.differences(*(_reference(side, task, first) for side in (base, tuned)))
    return Difference(found.name, "; ".join([found.detail, *lines]))


def _reference(side: Side, task: str, problem: str) -> Any:
    with AskFile(RunFolder(side.path), task, [problem]) as asks:
        text = (asks.of_sample(problem, 0) or {}).get("reference")
    return {} if text is None else json.loads(text)


def _prompt(side: Side, task: str, problem: str, sample: int) -> str:
    """Return the first turn of a sample as people read it, or an empty text if the folder has none."""
    with AskFile(RunFolder(side.path), task, [problem]) as asks:
        return str((asks.of_sample(problem, sample) or {}).get("prompt") or "")


def _edits(side: Side, where: str) -> Iterator[Difference]:
    """Yield the files of a run folder that were changed by hand, with what to do."""
    for edit in side.state.edits if side.state else ():
        if edit.is_known:
            what = "restore the folder from a copy, or draw the run again"
        elif edit.task is None:
            what = f"restore it, or if nobody changed it, run: genbench score {side.path}"
        else:
            continue  # said of the task
        yield Difference(f"seal.{where}", f"{edit}; {what}")


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
    both = contract.aligned(base.manifest.terms, terms)
    yield from _lines(_of_tasks(both[0], tasks), _of_tasks(both[1], tasks), "terms")
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
    """Return the terms that must be equal, without the decoding of tasks that only one side has."""
    if "decoding" not in record:
        return contract.shaping(record)
    return {**contract.shaping(record), "decoding": {task: record["decoding"].get(task) for task in shared}}


def _lines(left: Any, right: Any, name: str) -> Iterator[Difference]:
    """Yield the differences of two JSON values, key by key."""
    for line in contract.differences(left, right, name):
        where, _, detail = line.partition(": ")
        yield Difference(where, detail)


def is_log(side: Side) -> bool:
    """Return whether a run was made of another tool's log, so that the scores are the tool's."""
    described = [task.described for task in side.tasks.values()]
    return any(item is not None and item.verifier.name == "logged" for item in described)


def _log_differences(base: Side, tuned: Side, name: str) -> Iterator[Difference]:
    """Yield differences of a task between another tool's log and a run of genbench.

    A log has no terms, digests, limits of tokens or seeds, so only what it has is compared: problems,
    samples, and the texts of the prompts. Who graded is a difference of its own.
    """
    left, right = base.tasks[name], tuned.tasks[name]
    yield from _problem_differences(left, right)
    if left.described and right.described:
        yield from _lines(
            left.described.verifier.version, right.described.verifier.version, f"verifier.{name}"
        )
    ours, theirs = (prompt_texts(side.path, name) for side in (base, tuned))
    shared = [key for key in ours if key in theirs]
    other = [key for key in shared if not _same_prompt(ours[key], theirs[key])]
    if other:
        lines = "".join(f"\n    {line}" for line in contract.text_diff(ours[other[0]], theirs[other[0]]))
        count = f"{len(other)} of {len(shared)} prompts differ in their texts"
        yield Difference(f"prompts.{name}", f"{count}; the first, problem {other[0]}:{lines}")
    lost = sum(key not in ours or key not in theirs for key in left.problem_ids)
    if lost:
        detail = f"prompts of {lost} of {len(left.problem_ids)} problems could not be compared"
        yield Difference(f"prompts.missing.{name}", f"{detail}: one of the runs lacks their texts")


_CUT = " …"
"""The end of a scored prompt that is not stored whole, see models/requests.py."""


def prompt_texts(run: Path, task: str) -> dict[str, str]:
    """Return the prompt of each problem's first sample, as far as the run has its text."""
    found = {name: asks[0].get("prompt") for name, asks in RunFolder(run).asks(task).items() if asks}
    return {name: text for name, text in found.items() if text}


def _same_prompt(left: str, right: str) -> bool:
    """Return whether two prompts are equal, as far as both are stored. Long ones of scored texts are cut."""
    if left == right:
        return True
    cut, whole = sorted((left, right), key=len)
    return cut.endswith(_CUT) and whole.startswith(cut.removesuffix(_CUT))


def _task_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    """Yield differences in what must be equal in one task."""
    name = base.name
    yield from _problem_differences(base, tuned)
    if base.described and tuned.described:
        left, right = base.described.to_json(), tuned.described.to_json()
        for key in ("version", "data_digest", "verifier"):
            yield from _lines(left[key], right[key], f"{key.split('_')[0]}.{name}")
        yield from _lines(base.described.protocol, tuned.described.protocol, f"protocol.{name}")
        yield from _judge_differences(base, tuned)
    yield from _clock_differences(base, tuned)
    if base.index is not None and tuned.index is not None:
        yield from _sample_differences(name, base.index, tuned.index)


def _problem_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    """Yield differences of the problems of a task, of their number of samples, and of their groups."""
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

    It is empty if the side names none. The other side's groups are used then. Equal prompts are not a group.
    """
    groups = named_groups(task.groups or ())
    return dict(zip(task.problem_ids, groups, strict=True)) if any(groups) else {}


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
_NEWER_CIRCUMSTANCES = frozenset({"machine.cpu"})
"""Keys that older runs lack. They are compared only if both runs have them."""


def circumstance_differences(base: Side, tuned: Side) -> list[Difference]:
    """Return differences that change only rounding or speed: engine sizes, packages, machine.

    Another tool's log has none. Every attempt that drew samples counts. A key that differs between the
    attempts of one run is named too, even if both runs have the same mixture.
    """
    left, right = _circumstances(base), _circumstances(tuned)
    if left is None or right is None or is_log(base) != is_log(tuned):
        return []
    found: list[Difference] = []
    lacking = {*left} ^ {*right}
    for key in sorted({*left, *right} - (lacking & _NEWER_CIRCUMSTANCES)):
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
