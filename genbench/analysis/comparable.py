"""Comparable or refused: what two sides must share, what is only said, and what looks like a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.analysis.sides import Side, SideTask, Traces
from genbench.errors import InputError, NotComparableError, nearest
from genbench.store import contract

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
    "data",
    "verifier",
    "excluded",
    "model",
    "run_seed",
    "circumstances",
)
"""What a difference's name begins with; `--allow` takes one of these, or a longer part of the name."""
_SHOWN = 40
_NOT_CIRCUMSTANCES = (
    "host",
    "base_urls",
    "root",
    "locks_are_advisory",
    "VLLM_LOGGING_",
    "VLLM_NO_USAGE_STATS",
)
"""Beginnings of keys that are recorded with every attempt, but move not a single token."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of what differs: `terms.dtype: "bfloat16" -> "float16"`."""

    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}"


def check_names(allow: Iterable[str]) -> None:
    """Raises InputError for a name that no difference can have."""
    for name in allow:
        if name.partition(".")[0] not in KINDS:
            raise InputError(f"--allow {name}: no difference is called so{nearest(name, KINDS)}")


def settle(found: Sequence[Difference], allow: Sequence[str], what: str) -> list[Difference]:
    """The differences that `allow` lets through.

    Raises:
        NotComparableError: others remain; prints each of them.
    """
    remaining = [item for item in found if not _is_allowed(item.name, allow)]
    if not remaining:
        return list(found)
    lines = [f"  {item}" for item in remaining[:_SHOWN]]
    if len(remaining) > _SHOWN:
        lines.append(f"  ... and {len(remaining) - _SHOWN} more")
    names = " ".join(f"--allow {kind}" for kind in dict.fromkeys(_kind(item) for item in remaining))
    raise NotComparableError(
        f"{what}:\n" + "\n".join(lines) + f"\nmake them equal, or let the difference through with {names}"
    )


def _kind(item: Difference) -> str:
    return item.name.partition(".")[0]


def _is_allowed(name: str, allow: Sequence[str]) -> bool:
    return any(name == given or name.startswith(f"{given}.") for given in allow)


def side_differences(base: Side, tuned: Side) -> Iterator[Difference]:
    """What must be equal, base -> tuned: tasks, decoding terms, trace format; then task by task."""
    for side, where in ((base, "base"), (tuned, "tuned")):
        shard = side.manifest["origin"].get("shard") if side.manifest else None
        if shard is not None:
            detail = f"{where} is shard {shard} alone; run the others, then: genbench merge"
            yield Difference(f"shard.{where}", detail)
    for name in sorted(base.tasks.keys() ^ tuned.tasks.keys()):
        yield Difference(f"tasks.{name}", f"only in {'base' if name in base.tasks else 'tuned'}")
    shared = [name for name in base.tasks if name in tuned.tasks]
    if base.manifest is not None and tuned.manifest is not None:
        for key in ("terms", "reasoning"):
            left, right = (_of_tasks(side.manifest[key], shared) for side in (base, tuned) if side.manifest)
            yield from _lines(left, right, key)
    for name in shared:
        yield from _task_differences(base.tasks[name], tuned.tasks[name])


def _of_tasks(record: Mapping[str, Any], shared: Sequence[str]) -> dict[str, Any]:
    """Terms name the decoding of each task; only those of tasks in both runs count."""
    if "decoding" not in record:
        return dict(record)
    return {**record, "decoding": {task: record["decoding"].get(task) for task in shared}}


def _lines(left: Any, right: Any, name: str) -> Iterator[Difference]:
    for line in contract.differences(left, right, name):
        where, _, detail = line.partition(": ")
        yield Difference(where, detail)


def _task_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    name = base.name
    for side, other, where in ((base, tuned, "base"), (tuned, base, "tuned")):
        alone = sorted(set(side.problem_ids) - set(other.problem_ids))
        if alone:
            yield Difference(
                f"problems.{name}", f"{len(alone)} of {len(side.problem_ids)} only in {where}{_few(alone)}"
            )
    if base.largest_k != tuned.largest_k:
        yield Difference(f"k.{name}", f"{base.largest_k} -> {tuned.largest_k}")
    yield from _mapped(_groups(base), _groups(tuned), f"groups.{name}", "problems")
    if base.described and tuned.described:
        for key in ("version", "data_digest", "verifier"):
            yield from _lines(base.described[key], tuned.described[key], f"{key.split('_')[0]}.{name}")
        yield from _judge_differences(base, tuned)
    if base.traces is not None and tuned.traces is not None:
        yield from _trace_differences(name, base.traces, tuned.traces)


def _trace_differences(name: str, base: Traces, tuned: Traces) -> Iterator[Difference]:
    yield from _mapped(base.prompts, tuned.prompts, f"prompts.{name}", "samples")
    yield from _mapped(base.max_tokens, tuned.max_tokens, f"max_tokens.{name}", "problems")
    yield from _mapped(base.references, tuned.references, f"references.{name}", "problems")


def _judge_differences(base: SideTask, tuned: SideTask) -> Iterator[Difference]:
    """Who judged, and what it said of its canary; not the engine's record, which names paths and ports.

    A run whose answers were all decided without the judge has no canary to compare.
    """
    judges = [side.described.get("judge", {}) for side in (base, tuned)]
    said = [(judge.get("canary") or {}).get("labels") for judge in judges]
    left, right = (
        {key: value for key, value in judge.items() if key not in ("engine", "canary")} for judge in judges
    )
    yield from _lines(left, right, f"verifier.{base.name}.judge")
    if said[0] and said[1]:
        yield from _lines(said[0], said[1], f"verifier.{base.name}.judge.canary")


def _groups(task: SideTask) -> dict[str, str | None]:
    """By problem; empty where the side names no groups, so that the other side's hold."""
    return dict(zip(task.problem_ids, task.groups, strict=True)) if task.groups else {}


def _mapped(base: Mapping[Any, Any], tuned: Mapping[Any, Any], name: str, unit: str) -> Iterator[Difference]:
    """One line for all keys in both whose values differ, with the first of them."""
    shared = [key for key in base if key in tuned]
    other = [key for key in shared if base[key] != tuned[key]]
    if other:
        first = other[0]
        words = f"problem {first[0]}, sample {first[1]}" if isinstance(first, tuple) else f"problem {first}"
        count = f"{len(other)} of {len(shared)} {unit} differ"
        yield Difference(name, f"{count}; the first, {words}: {base[first]} -> {tuned[first]}")


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f" ({shown}{', ...' if len(names) > 3 else ''})"


def excluded_differences(base: Side, tuned: Side) -> Iterator[Difference]:
    """Tasks whose run has failed: too much was excluded or left unscored for their numbers to be used."""
    for side, where in ((base, "base"), (tuned, "tuned")):
        for line in side.failed:
            name, _, detail = line.partition(": ")
            if name in side.tasks:
                yield Difference(f"excluded.{name}", f"{where}: {detail}")


def circumstance_differences(base: Side, tuned: Side) -> list[Difference]:
    """What moves only rounding or speed: engine sizes, packages, machine."""
    left, right = (_circumstances(side) for side in (base, tuned))
    if left is None or right is None:
        return []
    return list(_lines(left, right, "circumstances"))


def _circumstances(side: Side) -> dict[str, Any] | None:
    """Those of the last attempt that drew anything."""
    attempts = side.manifest["attempts"] if side.manifest else []
    drew = [attempt for attempt in attempts if attempt.get("drawn", 1)] or attempts
    return _without(drew[-1]["circumstances"]) if drew else None


def _without(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without(value) if isinstance(value, Mapping) else value
        for key, value in record.items()
        if not key.startswith(_NOT_CIRCUMSTANCES)
    }


def shares_seeds(base: SideTask, tuned: SideTask) -> bool:
    """Every sample that both sides have was drawn with one seed."""
    if base.traces is None or tuned.traces is None:
        return False
    left, right = base.traces.seeds, tuned.traces.seeds
    shared = [key for key in base.traces.prompts if key in tuned.traces.prompts]
    return bool(shared) and all(key in left and left[key] == right.get(key) for key in shared)


def suspicions(base: Side, tuned: Side) -> Iterator[str]:
    """Loud warnings that the tuned weights were probably not used.

    All outputs of all tasks byte-identical, or those of a greedy task (short sampled answers of one
    task may agree by chance).
    """
    if base.identity is not None and base.identity == tuned.identity:
        yield "base and tuned are one and the same model: what differs is noise"
        return
    shared = [name for name in base.tasks if name in tuned.tasks]
    equal = [name for name in shared if _all_equal(base.tasks[name], tuned.tasks[name])]
    if len(equal) < len(shared):
        equal = [name for name in equal if _is_greedy(base.tasks[name])]
    if not equal:
        return
    count = sum(base.tasks[name].samples for name in equal)
    greedy = "greedy " if all(_is_greedy(base.tasks[name]) for name in equal) else ""
    what = "the adapter changes nothing" if _adds_adapter(base, tuned) else "base and tuned write the same"
    yield (
        f"{what}: all {count} {greedy}outputs of {', '.join(equal)} are byte-identical; the tuned weights "
        "were probably not used: check the path and the adapter"
    )


def _all_equal(base: SideTask, tuned: SideTask) -> bool:
    if base.traces is None or tuned.traces is None:
        return False
    left, right = base.traces.texts, tuned.traces.texts
    shared = [key for key in left if key in right]
    return bool(shared) and all(left[key] == right[key] for key in shared)


def _is_greedy(task: SideTask) -> bool:
    decoding = task.described.get("decoding", {})
    return bool(decoding.get("temperature") == 0)


def _adds_adapter(base: Side, tuned: Side) -> bool:
    return bool(base.identity and tuned.identity and tuned.identity.startswith(f"{base.identity}+"))
