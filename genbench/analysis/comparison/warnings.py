"""Warnings and notes that a comparison prints with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from genbench.analysis.budgets import budget_line
from genbench.analysis.comparison.comparability import (
    MAX_UNANSWERED_DIFFERENCE,
    Difference,
    is_log,
    is_prefix,
)
from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.comparison.pairing import Pairing
from genbench.analysis.corrected import reviews_next_to, unexplained
from genbench.analysis.likelihood import turned_share
from genbench.analysis.sides.side import Side, SideTask
from genbench.analysis.stopping import stopping_words
from genbench.stats.comparison.paired import Paired
from genbench.stats.intervals import wilson
from genbench.store.contract import differences
from genbench.store.sums import repeated_words

_MANY_AT_LIMITS = 0.05
"""Two sides with shares of boxes at their limits that differ by so much met other machines."""
_FEW_EVENTS = 5
"""With fewer right answers than that, none at all is no proof of a drop: it happens by chance up to 4."""


def comparison_warnings(pairing: Pairing, found: Mapping[str, Paired]) -> tuple[str, ...]:
    """Return what makes the numbers doubtful, such as logs without seeds, or weights that were not used."""
    sides = {side.path: side for side in (pairing.base, pairing.tuned)}.values()
    reviews = reviews_next_to(*(side.path for side in sides))
    # Equal texts of equal weights are what a harmless treatment gives.
    changes_terms = pairing.treated is not None and bool(pairing.treated.differences)
    damaged = dict.fromkeys(line for side in sides for line in reviews.damaged(side.path)) if reviews else ()
    return (
        *damaged,
        *(line for side in sides for line in _imported_words(side)),
        *(() if changes_terms else suspicions(pairing.base, pairing.tuned, pairing.allowed)),
        *(line for side in sides for line in _unsealed_words(side)),
        *_config_words(pairing.base, pairing.tuned),
        *_task_warnings(pairing.tasks, found),
    )


def comparison_notes(pairing: Pairing) -> tuple[str, ...]:
    """Return what the reader should know of the origin of the samples."""
    return (
        *_origin_notes(pairing.base, pairing.tuned),
        *_invariance_notes(pairing.base, pairing.tuned),
        *_k_notes(pairing.tasks),
        *_turned_notes(pairing),
    )


def _turned_notes(pairing: Pairing) -> Iterator[str]:
    """Yield how many picks of scored texts turned between two evaluations of one model, and how many may.

    One model was scored in both if its identity is equal, or if one side is another tool's log.
    """
    base, tuned = pairing.base, pairing.tuned
    if is_log(base) == is_log(tuned) and (base.identity is None or base.identity != tuned.identity):
        return
    usual = turned_share(*(_dtype(side) for side in (base, tuned)))
    for name, (left, right) in pairing.tasks.items():
        if left.texts is not None or right.texts is not None:
            turned = sum(ours != theirs for ours, theirs in zip(left.scores, right.scores, strict=True))
            yield from turned_words(name, turned, len(left.scores), usual)


def turned_words(name: str, turned: int, n: int, usual: float) -> Iterator[str]:
    """Yield how many of n picks turned, and whether arithmetic explains it. Nothing if none did.

    Args:
        usual: the share that arithmetic turns in the number formats at hand.
    """
    said = f"{name}: {turned} of {n} picks turned between right and wrong ({100 * turned / n:.1f} %)"
    may = f"as the arithmetic of one model may in these number formats ({100 * usual:.1f} %)"
    if wilson(turned / n, n)[0] > usual:
        yield f"{said}, not {may}: weights, texts or normalisation differ"
    elif turned:
        yield f"{said}, {may}"


def _dtype(side: Side) -> str | None:
    """Return the number format of a run, or None if nothing tells it."""
    if side.manifest is None or is_log(side):
        return None
    return side.manifest.model.dtype


def _origin_notes(base: Side, tuned: Side) -> Iterator[str]:
    """Yield notes about the origin of the samples: sides that do not record it, and the run seeds."""
    for side in {side.path: side for side in (base, tuned)}.values():
        if side.manifest is None:
            yield (
                f"{side.path}: a score file does not record decoding, prompts or verifiers; "
                "only problems, samples and groups were checked"
            )
        elif side.manifest.terms["engine"]["name"] == "responses" and not is_log(side):
            yield f"{side.path}: ready responses do not record their decoding; it was not checked"
    logs = [side for side in (base, tuned) if is_log(side)]
    for side in {side.path: side for side in logs}.values():
        yield (
            f"{side.path}: a log has neither token ids nor seeds; prompts were compared by their texts, "
            "decoding was not checked, and no sample is paired by its seed"
        )
    if base.run_seed is not None and tuned.run_seed is not None and not logs:
        seeds = f"run seed: {base.run_seed} -> {tuned.run_seed}"
        yield (
            f"run seed: {base.run_seed} in both"
            if base.run_seed == tuned.run_seed
            else f"{seeds}: samples are not paired by their seeds, only problems are"
        )


def _imported_words(side: Side) -> Iterator[str]:
    """Yield what the log of another tool does not record, so that nothing was checked about it."""
    for tool, lacks in side.imported:
        if "k" in lacks:
            yield f"{side.path}: the log of {tool} does not record k; samples were counted, and may be fewer"
        if "seeds" in lacks:
            yield f"{side.path}: the log of {tool} does not record seeds; no sample is paired by its seed"


def _unsealed_words(side: Side) -> Iterator[str]:
    """Yield what nothing can tell without results.json, and edits that move no number."""
    for item in side.state.remarks if side.state else ():
        if item.task is None:
            yield f"{side.path}: {item}"


_KEYS_SHOWN = 6


def _config_words(base: Side, tuned: Side) -> Iterator[str]:
    """Yield where config.json of two models of one architecture differ: that alone can move a score."""
    if base.manifest is None or tuned.manifest is None:
        return
    left, right = base.manifest.architecture, tuned.manifest.architecture
    if not left or not right or left.get("architectures") != right.get("architectures"):
        return
    lines = [line.removeprefix("config.json.") for line in differences(left, right, "config.json")]
    more = f", and {len(lines) - _KEYS_SHOWN} more" if len(lines) > _KEYS_SHOWN else ""
    if lines:
        yield (
            f"config.json differs, which can move scores without any training: "
            f"{', '.join(lines[:_KEYS_SHOWN])}{more}"
        )


def _invariance_notes(base: Side, tuned: Side) -> Iterator[str]:
    """Yield a note if neither side's texts depend on what else was in a batch."""
    sides = (base.manifest, tuned.manifest)
    if all(manifest is not None and manifest.terms.get("batch_invariant") for manifest in sides):
        yield "both sides were computed batch-invariantly: their texts depend on weights and seeds only"


def _k_notes(tasks: Mapping[str, tuple[SideTask, SideTask]]) -> Iterator[str]:
    """Yield the tasks whose base has more samples, the first of them with the seeds of tuned."""
    for name, (base, tuned) in tasks.items():
        if is_prefix(base, tuned):
            yield (
                f"{name}: base has {base.largest_k} samples of each problem, tuned {tuned.largest_k} with "
                "the seeds of the first ones"
            )


def _task_warnings(
    tasks: Mapping[str, tuple[SideTask, SideTask]], found: Mapping[str, Paired]
) -> Iterator[str]:
    """Yield warnings about tasks: few problems or samples, ragged samples, excluded samples."""
    for name, (base, tuned) in tasks.items():
        if line := repeated_words(base.groups or tuned.groups):
            yield f"{name}: {line}"
        rate, few = found[name].base, found[name].n * tuned.largest_k
        if rate is not None and few * rate < _FEW_EVENTS:
            yield (
                f"{name}: base has {100 * rate:.1f} % right, so about {few * rate:.1f} right answers are "
                f"expected of the {few} samples of tuned: so few can hardly show a drop"
            )
        if tuned.by_clock is not None and tuned.touched > base.touched and (found[name].difference or 0) > 0:
            yield (
                f"{name}: {tuned.touched} of {tuned.samples} rollouts of tuned touched history or network, "
                f"{base.touched} of {base.samples} of base: a part of the gain may be found, not solved"
            )
        limited = [task.at_limits / max(1, task.samples) for task in (base, tuned)]
        if abs(limited[1] - limited[0]) >= _MANY_AT_LIMITS:
            yield (
                f"{name}: {tuned.at_limits} of {tuned.samples} boxes of tuned reached a limit of memory, "
                f"processes or disk, {base.at_limits} of {base.samples} of base: a part of the difference "
                "may be the machine's"
            )
        for where, task in (("base", base), ("tuned", tuned)):
            if task.is_ragged and not task.is_adaptive:
                yield (
                    f"{name}: {where} is ragged, {task.smallest_k} to {task.largest_k} samples a problem: "
                    "the mean of the problems' means is taken"
                )
            if task.excluded:
                yield f"{name}: {task.excluded} of {task.samples} samples of {where} are excluded"
        shares = base.unanswered_share, tuned.unanswered_share
        if abs(shares[0] - shares[1]) > MAX_UNANSWERED_DIFFERENCE:
            yield (
                f"{name}: {shares[0]:.1%} of the samples of base and {shares[1]:.1%} of tuned have no "
                "answer: silence is no safety, so the gate does not pass this task; give both room for their "
                "answers (max_tokens)"
            )


def suspicions(base: Side, tuned: Side, allowed: Sequence[Difference] = ()) -> Iterator[str]:
    """Yield warnings that the tuned weights were probably not used.

    They concern byte-identical outputs of all tasks, or of a greedy task. Short sampled answers of one
    task may agree by chance.

    Args:
        allowed: differences that were let through.
    """
    if base.identity is not None and base.identity == tuned.identity:
        names = ", ".join(dict.fromkeys(item.name for item in allowed))
        through = f"comes from what was let through ({names}), or is noise"
        yield f"base and tuned are the same model: any difference {through if names else 'is noise'}"
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


def judge_notes(pairing: Pairing, tasks: Mapping[str, ComparedTask]) -> Iterator[str]:
    """Yield corrected differences, and for judged tasks without labels the lenience that explains one."""
    for name, task in tasks.items():
        if task.reviewed is not None:
            yield f"{name}: {task.reviewed.words}"
        base, tuned = pairing.tasks[name]
        if task.reviewed is not None or not (base.judged and tuned.judged) or tuned.judged.reads:
            continue
        lenience = unexplained(base, tuned)
        if lenience is not None and task.difference:
            side, what = ("tuned", "gain") if task.difference > 0 else ("base", "loss")
            yield (
                f"{name}: a judge that calls {100 * lenience:.1f} % more wrong answers of {side} right "
                f"explains this {what} by itself; labels of people tell: "
                f"genbench label {pairing.base.path} {pairing.tuned.path} --task {name}"
            )


def stopping_lines(tasks: Mapping[str, ComparedTask], *, worse: bool) -> Iterator[str]:
    """Yield the tasks whose replies end otherwise in tuned.

    Args:
        worse: those of which more are cut off, loop or are empty. Else the others.
    """
    for name, task in tasks.items():
        if task.stopping is not None and task.stopping.is_worse == worse:
            yield from (f"{name}: {line}" for line in stopping_words(task.stopping))


def budget_notes(pairing: Pairing) -> Iterator[str]:
    """Yield the tasks in which the runs differ otherwise with fewer tokens a reply than with all of them."""
    for name in pairing.tasks:
        line = budget_line(pairing.base, pairing.tuned, name)
        if line is not None:
            how = f"genbench budgets {pairing.tuned.path} --with {pairing.base.path}"
            yield f"{name}: {line} ({how})"
