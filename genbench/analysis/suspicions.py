"""Signs that the tuned weights were not used: byte-identical outputs of both sides."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.sides import Side, SideTask


def suspicions(base: Side, tuned: Side) -> Iterator[str]:
    """Yield warnings that the tuned weights were probably not used.

    They concern byte-identical outputs of all tasks, or of a greedy task. Short sampled answers of one
    task may agree by chance.
    """
    if base.identity is not None and base.identity == tuned.identity:
        yield "base and tuned are the same model: any difference is noise"
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
    """Return whether every sample of both sides has the same text."""
    if base.index is None or tuned.index is None:
        return False
    left, right = base.index.texts, tuned.index.texts
    shared = [key for key in left if key in right]
    return bool(shared) and all(left[key] == right[key] for key in shared)


def _is_greedy(task: SideTask) -> bool:
    """Return whether the task was decoded greedily."""
    return task.described is not None and task.described.decoding.get("temperature") == 0


def _adds_adapter(base: Side, tuned: Side) -> bool:
    """Return whether tuned is base with an adapter."""
    return bool(base.identity and tuned.identity and tuned.identity.startswith(f"{base.identity}+"))
