"""The noise of one model: how far its score moves between two runs. It is stored in both run folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from genbench.analysis.comparison import comparability
from genbench.analysis.comparison.comparability import Difference
from genbench.analysis.sides.loading import read_run, require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.stats.noise import NoiseBand, NoiseMeasurement, TaskNoise, false_alarm_band
from genbench.store.folder import RunFolder


def noise(
    first: Path | str, second: Path | str, *, same_seed: bool = False, allow: Sequence[str] = ()
) -> NoiseMeasurement:
    """Measure each task's false-alarm band from two runs of one model. Write noise.json into both folders.

    Two runs with two run seeds show the noise of sampling. With one seed (`same_seed`) they show only what
    the engine adds because it is not deterministic.

    Raises:
        InputError: a path is not a run folder, both are one folder, or a run is not finished.
        NotComparableError: the models, terms or seeds do not fit.
    """
    comparability.check_names(allow)
    paths = Path(first), Path(second)
    a, b = _sides(*paths)
    found = [*_noise_differences(a, b, same_seed), *comparability.side_differences(a, b)]
    allowed = comparability.settle(found, allow, f"not two runs of one model ({a.path} -> {b.path})")
    record = NoiseMeasurement(
        format=1,
        runs=tuple(map(str, paths)),
        run_seeds=(a.run_seed, b.run_seed),
        same_seed=same_seed,
        model_identity=a.identity,
        allowed=tuple(map(str, allowed)),
        tasks={
            name: _task_noise(task, b.tasks[name], same_seed)
            for name, task in a.tasks.items()
            if name in b.tasks
        },
    )
    for path in paths:
        RunFolder(path).write_noise(record.to_json())
    return record


def _sides(first: Path, second: Path) -> tuple[Side, Side]:
    """Read two finished runs.

    Raises:
        InputError: a path is not a run folder, both are one folder, or a run is not finished.
    """
    for path in (first, second):
        if path.is_file():
            raise InputError(f"{path}: not a run folder; a score file names neither its model nor its seed")
    if first.resolve() == second.resolve():
        raise InputError(
            f"{first}: a run compared with itself shows no noise; give a second run of the model"
        )
    sides = read_run(first), read_run(second)
    for side in sides:
        require_finished(side)
    return sides


def band_for(sides: Sequence[Side], task: SideTask, ks: tuple[int, int]) -> NoiseBand | None:
    """Return the stored band of a task at the k of a comparison.

    Return None if no side has one that was measured with the same verifier on as many problems.
    """
    for side in sides:
        if side.noise is None:
            continue
        stored = side.noise.tasks.get(task.name)
        if stored is None or stored.verifier != _verifier(task) or stored.n != len(task.problem_ids):
            continue
        return NoiseBand(
            band=stored.band_at(*ks),
            same_seed=side.noise.same_seed,
            model_identity=side.noise.model_identity,
            runs=side.noise.runs,
        )
    return None


def _noise_differences(a: Side, b: Side, same_seed: bool) -> Iterator[Difference]:
    """Yield what shows that two runs are not re-runs of one model: other models, or unsuitable seeds."""
    if a.identity != b.identity:
        yield Difference("model", f"{a.identity} -> {b.identity}")
    if same_seed and a.run_seed != b.run_seed:
        yield Difference("run_seed", f"{a.run_seed} -> {b.run_seed}, but --same-seed needs one seed")
    if not same_seed and a.run_seed == b.run_seed:
        yield Difference(
            "run_seed",
            f"{a.run_seed} in both: an engine that repeats its texts would show no noise at all; draw the "
            "second run with --set decoding.seed=N, or measure only the engine with --same-seed",
        )


def _task_noise(a: SideTask, b: SideTask, same_seed: bool) -> TaskNoise:
    """Measure one task's band over the problems of both runs."""
    other = set(b.problem_ids)
    ids = [problem for problem in a.problem_ids if problem in other]
    return false_alarm_band(
        a.take(ids).scores, b.take(ids).scores, same_seed=same_seed, verifier=_verifier(a)
    )


def _verifier(task: SideTask) -> str | None:
    """Return the digest of the task's verifier, or None if it is unknown."""
    return None if task.described is None else task.described.verifier.digest
