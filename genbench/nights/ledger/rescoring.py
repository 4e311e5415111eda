"""Verification of a track's stored completions again, after a verifier was corrected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from genbench.errors import GenbenchError
from genbench.json_record import JsonRecord
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import Night, track_history
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.run_facts import RunFacts, read_facts
from genbench.runs.event_loop import StopSwitch, stop_on_signals
from genbench.runs.stored.rescore import score_folder
from genbench.runs.stored.trust import Kind
from genbench.store.folder import RunFolder


class MovedTask(JsonRecord):
    """One task of a run whose scores moved, because its verifier changed."""

    problems: int = Field(ge=0, description="problems whose sum of scores moved")
    before: float | None = Field(description="value before, a fraction of 1")
    after: float | None = Field(description="value now")


class RescoredRun(JsonRecord):
    """One run that was verified again."""

    uid: str = Field(description="UUID of the run")
    label: str = Field(description="its night or step")
    model: str = Field(description="name of the model")
    path: str | None = Field(description="its folder; null if it is not there")
    outcome: Literal["verified", "unchanged", "skipped"] = Field(
        description="verified: verdicts were made again; unchanged: they were current; skipped: see `detail`"
    )
    moved: dict[str, MovedTask] = Field(description="tasks whose scores moved, by name")
    detail: str = Field(description="why it was skipped")


class LedgerRescored(JsonRecord):
    """The runs of a track verified again by the present verifiers."""

    format: Literal[1] = Field(description="version of this record")
    ledger: str = Field(description="path or URL of the ledger")
    track: str = Field(description="the track")
    runs: tuple[RescoredRun, ...] = Field(description="base, anchors and points in order")

    @property
    def skipped(self) -> bool:
        """Whether a run could not be verified again, so that its series breaks there."""
        return any(run.outcome == "skipped" for run in self.runs)


def rescore(
    ledger: Ledger,
    track: str,
    *,
    data_dir: Path | None = None,
    trusted: Collection[Kind] = (),
    quiet: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> LedgerRescored:
    """Verify every stored completion of a track whose verifier has changed, and add the runs again.

    Without its completions a run keeps its old verdicts, and the epoch breaks there.

    Args:
        data_dir: the mirror of the data, if its location has changed since the runs.
        trusted: what run folders from elsewhere may do (see runs.trust).
        quiet: print no progress of single runs.
        progress: called after each run with the number of runs that are done, and of all.

    Raises:
        InputError: there is no such track.
        InterruptedRunError: stopped by a signal. The same command continues.
    """
    history = track_history(ledger, track, tasks=())
    nights = {night.uid: night for night in (*history.anchors, *history.points)}
    if history.base is not None:
        nights = {history.base.uid: history.base, **nights}
    done: list[RescoredRun] = []
    switch = StopSwitch()
    with stop_on_signals(switch.stop):
        for number, night in enumerate(nights.values()):
            done.append(_rescored(ledger, night, data_dir, trusted, quiet, switch=switch))
            if progress is not None:
                progress(number + 1, len(nights))
    return LedgerRescored(format=1, ledger=ledger.where, track=track, runs=tuple(done))


def _rescored(
    ledger: Ledger,
    night: Night,
    data_dir: Path | None,
    trusted: Collection[Kind],
    quiet: bool,
    *,
    switch: StopSwitch,
) -> RescoredRun:
    def record(outcome: str, detail: str = "", moved: Mapping[str, MovedTask] = {}) -> RescoredRun:
        return RescoredRun.from_object(night, outcome=outcome, detail=detail, moved=moved)

    if night.path is None:
        return record("skipped", "its folder is not there")
    path = Path(night.path)
    try:
        before = read_facts(path)
        stored = RunFolder(path)
        lacking = [task for task in before.tasks if not stored.file(task, "completions").is_file()]
        if lacking:
            return record("skipped", f"completions of {', '.join(lacking)} were deleted")
        score_folder(path, data_dir, False, quiet, switch, trusted=trusted)
        after = read_facts(path)
    except GenbenchError as error:
        if switch.reason is not None:
            raise
        return record("skipped", str(error))
    outcome = add(ledger, [path])[0]
    if outcome.outcome == "refused":
        return record("skipped", outcome.detail)
    changed = any(before.tasks[name].key != after.tasks[name].key for name in after.tasks)
    moved = _moved(before, after)
    return record("verified" if changed or moved else "unchanged", moved=moved)


def _moved(before: RunFacts, after: RunFacts) -> dict[str, MovedTask]:
    """Return the tasks with a problem whose sum of scores moved."""
    found: dict[str, MovedTask] = {}
    for name, new in after.tasks.items():
        old = before.tasks[name]
        sums = dict(zip(old.problem_ids, old.vector.sums, strict=True))
        count = sum(
            sums.get(problem) != total
            for problem, total in zip(new.problem_ids, new.vector.sums, strict=True)
        )
        if count:
            found[name] = MovedTask(problems=count, before=old.value, after=new.value)
    return found
