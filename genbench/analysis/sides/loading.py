"""A run folder or a score file, opened as one side of a comparison."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

from genbench.analysis.corpus_metrics import CorpusCounts
from genbench.analysis.instruction_accuracy import shares_by_kind
from genbench.analysis.likelihood import scored_texts
from genbench.analysis.reading import Reading, reading_of
from genbench.analysis.results.record import Results, read_results
from genbench.analysis.results.run_state import run_state
from genbench.analysis.sides.score_file import read_score_file
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, RunFolderError, nearest
from genbench.stats.noise import NoiseMeasurement
from genbench.store.degenerate import UNANSWERED
from genbench.store.manifest import TaskRecord
from genbench.store.seal import Seal
from genbench.store.state import RunState
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.store.sums import clusters_of
from genbench.types import OURS, Status, Verdict

T = TypeVar("T")


def open_side(path: Path, tasks: Sequence[str] = (), *, keep: int = 0) -> Side:
    """Read the run or score file at `path`.

    Args:
        tasks: the tasks to keep. Empty keeps all.
        keep: the number of samples of each task whose completions are kept.

    Raises:
        InputError: there is nothing usable, or it has no such task.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; wanted RUN_DIR/<model> or a score file")
    side = read_run(path, tasks, keep=keep) if path.is_dir() else read_score_file(path)
    if not tasks:
        return side
    _check_tasks(path, tasks, side.tasks)
    kept = {name: task for name, task in side.tasks.items() if name in tasks}
    return replace(side, tasks=kept)


def read_run(path: Path, tasks: Sequence[str] = (), *, keep: int = 0) -> Side:
    """Read a stored run with its verdicts, prompts, seeds and digests of texts.

    Args:
        tasks: the tasks to read. Empty reads all.
        keep: the number of samples of each task whose completions are kept.

    Raises:
        RunFolderError: no run folder, a damaged line, or verdicts of several verifiers.
    """
    run = StoredRun(path, keep=keep)
    _check_tasks(path, tasks, run.manifest.tasks)
    return side_of(run, read_results(run.folder), tasks)


def side_of(run: StoredRun, results: Results | None, tasks: Sequence[str] = ()) -> Side:
    """Return an opened run as one side, without reading its completions again if they are indexed.

    Raises:
        RunFolderError: a damaged line, or verdicts of several verifiers.
    """
    manifest = run.manifest
    names = [name for name in manifest.tasks if not tasks or name in tasks]
    read = {name: _task(run.task(name), manifest.tasks[name], results) for name in names}
    state = run_state(run, results, tasks=names)
    return Side(
        path=run.path,
        name=manifest.model.name,
        run_id=manifest.run_id,
        tasks={
            name: replace(task, broken=(*task.broken, *_broken(state, name))) for name, task in read.items()
        },
        manifest=manifest,
        failed=results.failed if results else (),
        max_excluded_share=results.max_excluded_share if results else None,
        state=state,
        noise=_noise(run),
    )


def _noise(run: StoredRun) -> NoiseMeasurement | None:
    """Return the stored false-alarm band, or None if it was not measured."""
    found = run.folder.noise()
    return None if found is None else NoiseMeasurement.from_json(found, str(run.path / "noise.json"))


def require_finished(side: Side) -> None:
    """Check that all samples have a verdict.

    Raises:
        InputError: some have none. The message names the command that makes them.
    """
    for name, task in side.tasks.items():
        if task.lacking:
            raise InputError(
                f"{side.path}: task {name}: {task.lacking} of {task.samples} samples have no verdict; "
                f"continue the run, or run: genbench score {side.path}"
            )


def _check_tasks(path: Path, tasks: Sequence[str], known: Collection[str]) -> None:
    for name in tasks:
        if name not in known:
            raise InputError(f"{path}: no task '{name}'{nearest(name, known)}")


def _task(stored: StoredTask, described: TaskRecord, results: Results | None) -> SideTask:
    if not stored.problem_ids:
        raise RunFolderError(f"{stored.folder.path}: task {stored.name} has no problems; continue the run")
    problems = stored.problems.values()
    groups = clusters_of(list(problems))
    columns = dict.fromkeys(column for problem in problems for column in problem["strata"])
    rows = _Rows(stored, described)
    rows.read(described.verifier.digest)
    index = stored.index  # the pass over the completions, before `kept`
    found = results.tasks.get(stored.name) if results else None
    return SideTask(
        name=stored.name,
        problem_ids=stored.problem_ids,
        scores=_frozen(rows.scores),
        metric=described.headline,
        metrics=described.metrics,
        k=stored.k if stored.counts is None else None,
        is_adaptive=stored.counts is not None,
        lacking=rows.lacking,
        answers=_frozen(rows.answers),
        statuses=_frozen(rows.statuses),
        readings=_frozen(rows.readings),
        groups=groups,
        strata={column: tuple(problem["strata"].get(column) for problem in problems) for column in columns},
        gating=described.gating,
        margin=None if described.margin is None else described.margin / 100,
        described=described,
        followed=shares_by_kind(rows.with_parts),
        by_clock=rows.by_clock,
        touched=rows.touched,
        at_limits=rows.at_limits,
        corpus=rows.counts.sums,
        without_counts=rows.counts.lacking,
        index=index,
        broken=tuple(rows.broken),
        judged=found.judge if found else None,
        parts={name: rows.part(name) for name in (found.parts or {})} if found else {},
        texts=scored_texts(stored.problem_ids, rows.details, groups),
        endings=stored.stopping.shares(stored.problem_ids) if stored.stopping.samples else None,
        kept=stored.kept,
    )


def _broken(state: RunState, task: str) -> list[str]:
    """Return how the files of a task differ from those that results.json was made from."""
    return [f"{Path(item.file).name} {item.why}" for item in state.of(task) if not item.is_known]


class _Rows:
    """The verdicts of a task by problem and sample. Only what is compared is kept."""

    def __init__(self, stored: StoredTask, described: TaskRecord) -> None:
        self._described = described
        sizes = list(map(stored.count, stored.problem_ids))
        self._stored = stored
        self.scores: list[list[float | None]] = [[None] * k for k in sizes]
        self.answers: list[list[str | None]] = [[None] * k for k in sizes]
        self.statuses: list[list[Status]] = [["unscored"] * k for k in sizes]
        self.readings: list[list[Reading | None]] = [[None] * k for k in sizes]
        self.details: list[Mapping[str, Any] | None] = [None] * len(sizes)
        self.by_clock: int | None = None
        self.touched = self.at_limits = 0
        self.with_parts: list[list[Verdict | None]] = [[None] * k for k in sizes]
        self.counts = CorpusCounts(len(sizes))
        self.lacking = stored.planned
        self._seal = Seal()
        self._contradicting = self._impossible = 0

    @property
    def broken(self) -> list[str]:
        """Return what is wrong with the verdicts by themselves, in words."""
        said = []
        if self._contradicting:
            said.append(f"verdicts.jsonl has {self._contradicting} second verdicts that contradict the first")
        if self._impossible:
            said.append(
                f"verdicts.jsonl has {self._impossible} verdicts whose score does not fit their status"
            )
        return said

    def read(self, verifier: str) -> None:
        """Read the verdicts, the first of each sample.

        Raises:
            RunFolderError: one is of another verifier.
        """
        rows = {name: row for row, name in enumerate(self._stored.problem_ids)}
        seen = [bytearray(self._stored.k) for _ in rows]
        for verdict in self._stored.verdicts():
            if verdict.verifier != verifier:
                path = self._stored.folder.path
                raise RunFolderError(
                    f"{path}: task {self._stored.name} has verdicts of another verifier than its "
                    f"manifest; run: genbench score {path}"
                )
            row, column = rows[verdict.sample.problem_id], verdict.sample.sample_index
            if not seen[row][column]:
                seen[row][column] = 1
                self._keep(row, column, verdict)
            elif (verdict.status, verdict.score) != (self.statuses[row][column], self.scores[row][column]):
                self._contradicting += 1
                self._seal.add_verdict(verdict)
        self._stored.verdict_seals[verifier] = self._seal.record

    def part(self, name: str) -> tuple[float | None, ...]:
        """Return the mean of a named part by problem. A scored sample without parts counts as 0."""
        return tuple(map(_part_mean, self.scores, self.with_parts, repeat(name)))

    def _keep(self, row: int, column: int, verdict: Verdict) -> None:
        self.lacking -= 1
        self._seal.add_verdict(verdict)
        self._impossible += not _fits(verdict, self._described)
        self.counts.add(row, verdict)
        self.scores[row][column] = verdict.score
        self.answers[row][column] = verdict.extracted
        self.statuses[row][column] = verdict.status
        self.readings[row][column] = reading_of(verdict.status, verdict.detail)
        rollout = verdict.detail.get("rollout")
        if isinstance(rollout, dict):
            self.by_clock = (self.by_clock or 0) + (rollout.get("ended_by") == "clock")
            self.touched += bool(rollout.get("touched"))
            self.at_limits += bool(rollout.get("limits_hit"))
        if verdict.parts:
            self.with_parts[row][column] = verdict
        if "measures" in verdict.detail and verdict.score is not None:
            self.details[row] = verdict.detail


def _part_mean(scores: Sequence[float | None], verdicts: Sequence[Verdict | None], name: str) -> float | None:
    scored = sum(score is not None for score in scores)
    total = sum(verdict.parts.get(name, 0.0) for verdict in verdicts if verdict is not None)
    return total / scored if scored else None


def _fits(verdict: Verdict, task: TaskRecord) -> bool:
    """Return whether a verdict's score is one that its status can have, and its task."""
    if verdict.status in OURS:
        return verdict.score is None
    if task.is_unrated or verdict.status == "unrated":
        return task.is_unrated and verdict.status == "unrated" and verdict.score is None
    if verdict.score is None:
        return task.excludes_unanswered and verdict.status in UNANSWERED
    if verdict.status in ("correct", "partial"):
        return (verdict.score == 1) == (verdict.status == "correct")
    return verdict.score == 0


def _frozen(rows: Sequence[Sequence[T]]) -> tuple[tuple[T, ...], ...]:
    return tuple(tuple(row) for row in rows)
