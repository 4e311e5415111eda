"""The reviews next to stored runs, and the scores that their labels correct."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from genbench.analysis.corrected import FOLDER, ReviewedPair, ReviewedTask
from genbench.analysis.results.record import Results
from genbench.analysis.sides.loading import side_of
from genbench.analysis.sides.side import Side
from genbench.errors import GenbenchError
from genbench.review.questions import question_of
from genbench.review.reviews import PLAN, ReviewFolder, labelled_pair, reviewed_task
from genbench.store.stored_run import StoredRun


class StoredReviews:
    """The reviews of stored runs. `analysis.corrected.Reviews` says what its methods return."""

    def damaged(self, run: Path) -> list[str]:
        """Return why folders cannot be read, a line each."""
        found = list[str]()
        for path in _places(run):
            try:
                ReviewFolder.open(path)
            except GenbenchError as error:
                found.append(f"reviews are left out: {error}")
        return found

    def tasks(self, run: StoredRun, results: Results | None) -> dict[str, ReviewedTask]:
        """Return the tasks that people labelled, each by the plan with most labels."""
        folders = list(_folders(run.path))
        names = {folder.plan.task for folder in folders} & run.manifest.tasks.keys()
        found: dict[str, ReviewedTask] = {}
        if not names:
            return found
        side = side_of(run, results, sorted(names))
        for folder in folders:
            name = folder.plan.task
            own = reviewed_task(folder, side) if name in side.tasks else None
            if own is not None and (name not in found or found[name].n < own.n):
                found[name] = own
        return found

    def pair(self, base: Side, tuned: Side, task: str) -> ReviewedPair | None:
        """Return the difference by the plan of which most problems have a label in both runs."""
        places = dict.fromkeys((tuned.path, base.path))
        folders = [folder for place in places for folder in _folders(place) if folder.plan.task == task]
        found = [pair for folder in folders if (pair := labelled_pair(folder, base, tuned)) is not None]
        return max(reversed(found), key=lambda pair: pair.n, default=None)


def _folders(run: Path) -> Iterator[ReviewFolder]:
    """Yield the readable folders of reviews next to a run whose labels correct scores."""
    for path in _places(run):
        with suppress(GenbenchError):
            folder = ReviewFolder.open(path)
            if question_of(folder.plan).corrects_scores:
                yield folder


def _places(run: Path) -> list[Path]:
    place = run.resolve().parent / FOLDER
    return [path for path in sorted(place.iterdir()) if (path / PLAN).is_file()] if place.is_dir() else []
