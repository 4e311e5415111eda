"""The scores that a look needs, read from the verdicts of a run folder and of the other shards' folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from genbench.data.shard import Shard
from genbench.runs.job import Job
from genbench.store.folder import RunFolder

Wanted = Mapping[str, Mapping[str, range]]
"""By task and problem, the sample indices that a look needs."""
Found = dict[str, dict[str, list[float | None]]]
"""By task and problem, the scores of those samples that have a verdict, None for an excluded one."""


def shard_folders(job: Job) -> dict[int, Path]:
    """Return the folders of the same model in all shards by their number, or nothing without shards."""
    if job.shard is None:
        return {}
    folder = job.path.parent.parent
    return {
        index: folder / Shard(index, job.shard.of).folder / job.path.name
        for index in range(1, job.shard.of + 1)
    }


class ScoresOnDisk:
    """The scores of one run, over all its shards.

    Args:
        own: the folder that this command writes.
        shards: the folders of all shards by number. Empty: the own folder has everything.
        verifiers: by task, the digest of the verifier whose verdicts count.
    """

    def __init__(self, own: RunFolder, shards: Mapping[int, Path], verifiers: Mapping[str, str]) -> None:
        self._own, self._shards, self._verifiers = own, shards, verifiers

    def read(self, wanted: Wanted) -> Found:
        """Return the scores that have verdicts."""
        return {name: self._task(name, ranges) for name, ranges in wanted.items()}

    def _task(self, name: str, ranges: Mapping[str, range]) -> dict[str, list[float | None]]:
        scores: dict[str, dict[int, float | None]] = {problem: {} for problem in ranges}
        for folder in self._folders():
            for verdict in folder.verdicts(name):
                sample = verdict.sample
                if self._counts(name, verdict.verifier) and sample.sample_index in ranges.get(
                    sample.problem_id, ()
                ):
                    scores[sample.problem_id].setdefault(sample.sample_index, verdict.score)
        return {problem: [found[index] for index in sorted(found)] for problem, found in scores.items()}

    def _counts(self, name: str, verifier: str) -> bool:
        """Return whether a verdict counts. A shard without problems of a task does not know its verifier."""
        return self._verifiers.get(name, verifier) == verifier

    def _folders(self) -> Sequence[RunFolder]:
        others = [RunFolder(path) for path in self._shards.values() if path != self._own.path]
        return [self._own, *others]

    def lacking(self, wanted: Wanted, found: Found) -> set[Path | None]:
        """Return the folders of the shards that lack samples, None for the own folder."""
        paths: set[Path | None] = set()
        for name, ranges in wanted.items():
            for problem, indices in ranges.items():
                if len(found[name][problem]) < len(indices):
                    path = self._shard_of(name, problem)
                    paths.add(None if path == self._own.path else path)
        return paths

    def _shard_of(self, name: str, problem: str) -> Path:
        for index, path in self._shards.items():
            if Shard(index, len(self._shards)).contains(name, problem):
                return path
        return self._own.path
