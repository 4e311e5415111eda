"""Two comparable sides with their shared tasks, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from genbench.analysis.adaptive.gate import adaptive_of, plan_differences
from genbench.analysis.comparison import comparability
from genbench.analysis.comparison.comparability import circumstance_differences, excluded_differences
from genbench.analysis.comparison.treated import Treated, declared_treatment, hint, treated_by
from genbench.analysis.sides.loading import require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import NotComparableError
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.intervals import LEVEL


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two comparable sides and their shared tasks, each with the same problems in one order."""

    base: Side
    tuned: Side
    tasks: Mapping[str, tuple[SideTask, SideTask]]
    allowed: Sequence[comparability.Difference]
    circumstances: Sequence[comparability.Difference]
    treated: Treated | None = None
    """What a declared treatment changes. None: no treatment is declared."""

    @property
    def shares_seeds(self) -> Mapping[str, bool]:
        """Return for each task whether every sample of both sides was drawn with the same seed in both."""
        return {name: comparability.shares_seeds(*pair) for name, pair in self.tasks.items()}

    def differences(self, levels: Mapping[str, float] | None = None) -> dict[str, Paired]:
        """Return the paired difference of each task in its headline metric.

        Args:
            levels: confidence of the intervals by task. Others have 95 %.
        """
        shared, levels = self.shares_seeds, levels or {}
        return {
            name: _paired(*pair, shared_seeds=shared[name], level=levels.get(name, LEVEL))
            for name, pair in self.tasks.items()
        }


def pair_sides(
    base: Side, tuned: Side, allow: Sequence[str], strict_contract: bool, treatment: Sequence[str] = ()
) -> Pairing:
    """Check that the sides are comparable and pair their tasks.

    Args:
        allow: names of differences to let through.
        strict_contract: refuse other circumstances too.
        treatment: what differs on purpose. Empty: what the suite of tuned declares.

    Raises:
        InputError: a side is not finished, or no difference can have a name in `allow`.
        NotComparableError: the sides differ in what must be equal.
    """
    comparability.check_names(allow)
    for side in (base, tuned):
        require_finished(side)
    binding = [*comparability.side_differences(base, tuned), *excluded_differences(base, tuned)]
    binding += plan_differences(base, adaptive_of(tuned))
    treated = treated_by(declared_treatment(base, tuned, treatment), base, tuned, binding)
    binding = list(binding if treated is None else treated.rest)
    circumstances = circumstance_differences(base, tuned)
    if strict_contract:
        binding += circumstances
        circumstances = []
    what = f"not comparable ({base.path} -> {tuned.path})"
    instead = "" if treatment else hint(base, tuned, binding)
    if treated is not None:
        what += f", beside the treatment {' and '.join(treated.names)}"
    allowed = comparability.settle(binding, allow, what, instead)
    return Pairing(base, tuned, dict(_shared_tasks(base, tuned)), allowed, circumstances, treated)


def _shared_tasks(base: Side, tuned: Side) -> Iterator[tuple[str, tuple[SideTask, SideTask]]]:
    """Yield the tasks of both sides, each with the problems of both in one order."""
    shared = [name for name in base.tasks if name in tuned.tasks]
    if not shared:
        raise NotComparableError(
            f"no task is in both: {base.path} has {', '.join(base.tasks)}, "
            f"{tuned.path} has {', '.join(tuned.tasks)}"
        )
    for name in shared:
        left, right = base.tasks[name], tuned.tasks[name]
        other = set(right.problem_ids)
        ids = [problem for problem in left.problem_ids if problem in other]
        if not ids:
            raise NotComparableError(f"task {name}: no problem is in both sides")
        yield name, (left.take(ids), right.take(ids))


def _paired(base: SideTask, tuned: SideTask, *, shared_seeds: bool, level: float) -> Paired:
    """Return the paired difference of a task in its headline metric."""
    return paired(
        base.scores,
        tuned.scores,
        metric=tuned.metric,
        groups=base.groups or tuned.groups,
        shared_seeds=shared_seeds,
        base_answers=base.answers,
        tuned_answers=tuned.answers,
        level=level,
    )
