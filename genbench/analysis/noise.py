"""One model run twice: how far its score moves by itself, stored beside the runs and shown later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from genbench.analysis import comparable
from genbench.analysis.comparable import Difference
from genbench.analysis.sides import Side, SideTask
from genbench.analysis.storedrun import read_run, require_finished
from genbench.errors import InputError
from genbench.stats.noise import Noise, false_alarm_band
from genbench.store.folder import FORMAT, RunFolder


def noise(
    first: Path | str, second: Path | str, *, same_seed: bool = False, allow: Sequence[str] = ()
) -> dict[str, Any]:
    """Measures each task's false-alarm band from two runs of one model and writes noise.json in both.

    With two run seeds it is the noise of sampling; with one (`same_seed`) what the engine adds by not
    repeating itself.

    Raises:
        InputError: no run folders, one folder twice, or a run that is not finished.
        NotComparableError: other models, other terms, or seeds that do not fit `same_seed`.
    """
    comparable.check_names(allow)
    paths = Path(first), Path(second)
    for path in paths:
        if path.is_file():
            raise InputError(f"{path}: not a run folder; a score file names neither its model nor its seed")
    if paths[0].resolve() == paths[1].resolve():
        raise InputError(f"{paths[0]}: a run beside itself shows no noise; give a second run of the model")
    a, b = read_run(paths[0]), read_run(paths[1])
    for side in (a, b):
        require_finished(side)
    found = [*_noise_differences(a, b, same_seed), *comparable.side_differences(a, b)]
    let_through = comparable.settle(found, allow, f"no two runs of one model ({a.path} -> {b.path})")
    record = {
        "format": FORMAT,
        "runs": [str(path) for path in paths],
        "run_seeds": [a.run_seed, b.run_seed],
        "same_seed": same_seed,
        "model_identity": a.identity,
        "allowed": [str(item) for item in let_through],
        "tasks": {
            name: _task_record(task, b.tasks[name], same_seed)
            for name, task in a.tasks.items()
            if name in b.tasks
        },
    }
    for path in paths:
        RunFolder(path).write_noise(record)
    return record


def band_for(sides: Sequence[Side], task: SideTask, ks: tuple[int, int]) -> dict[str, Any] | None:
    """The stored band of a task at the comparison's k, where one was measured under the same verifier."""
    for side in sides:
        stored = ((side.noise or {}).get("tasks") or {}).get(task.name)
        if stored is None or side.noise is None:
            continue
        if stored["verifier"] != _verifier(task) or stored["n"] != len(task.problem_ids):
            continue
        within = stored["within_variance"]
        band = stored["band"]
        if within is not None:
            band = Noise(0.0, band, stored["n"], *ks, within, None).band_at(*ks)
        return {
            "band": band,
            "same_seed": side.noise["same_seed"],
            "model_identity": side.noise["model_identity"],
            "runs": side.noise["runs"],
        }
    return None


def _noise_differences(a: Side, b: Side, same_seed: bool) -> Iterator[Difference]:
    if a.identity != b.identity:
        yield Difference("model", f"{a.identity} -> {b.identity}")
    if same_seed and a.run_seed != b.run_seed:
        yield Difference("run_seed", f"{a.run_seed} -> {b.run_seed}, but --same-seed wants one")
    if not same_seed and a.run_seed == b.run_seed:
        yield Difference(
            "run_seed",
            f"{a.run_seed} in both: an engine that repeats its texts would show no noise at all; draw the "
            "second run with --set decoding.seed=N, or measure the engine alone with --same-seed",
        )


def _task_record(a: SideTask, b: SideTask, same_seed: bool) -> dict[str, Any]:
    other = set(b.problem_ids)
    ids = [problem for problem in a.problem_ids if problem in other]
    found = false_alarm_band(a.take(ids).scores, b.take(ids).scores, same_seed=same_seed)
    return {
        "n": found.n,
        "k_first": found.k_first,
        "k_second": found.k_second,
        "difference": found.difference,
        "band": found.band,
        "within_variance": found.within_variance,
        "changed_samples": found.changed_samples,
        "expected": found.is_expected,
        "verifier": _verifier(a),
    }


def _verifier(task: SideTask) -> str | None:
    verifier = task.described.get("verifier")
    return None if verifier is None else verifier["digest"]
