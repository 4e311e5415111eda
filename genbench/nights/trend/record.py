"""The record of `genbench trend`: a track, its changes, and one series for each task."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.stopping import StoppingChange
from genbench.json_record import Count, JsonRecord, Share, ShownRecord
from genbench.nights.ledger.notes import AnnotationKind
from genbench.nights.trend.causes import ChangeCause
from genbench.stats.tracks.sequential_detection import ChangeState, Direction
from genbench.suite.track import TrackKind

Numbers = tuple[float | None, ...]
"""One number for each point, null if it is not known."""


class TrendRun(JsonRecord):
    """One run of the track."""

    uid: str = Field(description="unique name of the run folder")
    label: str = Field(description="night or step of the run")
    position: int = Field(description="place in the track: days since 1970-01-01, or the training step")
    model: str = Field(description="name of the model")
    path: str | None = Field(description="the run folder, null if it is no longer there")


class AlarmBudget(JsonRecord):
    """How often unchanged models may be called changed, and the thresholds that follow from it."""

    alarms_per_year: float = Field(description="budget of the gating tasks and the pooled line together")
    nights_per_year: float = Field(description="runs of the track in a year")
    series: Count = Field(description="series that share the budget")
    threshold: float | None = Field(description="z that opens a change in them; null if there are none")
    watched: Count = Field(description="other series, which share a second budget of the same size")
    watch_threshold: float | None = Field(description="z that opens a change in those")

    def threshold_of(self, *, gating: bool) -> float:
        """Return the threshold of a series that is known to have one."""
        found = self.threshold if gating else self.watch_threshold
        assert found is not None
        return found


class TrendChange(JsonRecord):
    """One change of a track. Sizes are after minus before, as fractions of 1."""

    # It has the runs themselves. The ledger's `Change` names them by uid, and the search for changes by their
    # place in a series.

    id: str = Field(description="name of the change, for --explain and --dismiss")
    task: str | None = Field(description="the task; null for all gating tasks together")
    direction: Direction = Field(description="whether the score fell or rose")
    gating: bool = Field(description="whether it is a gating task or the pooled line")
    state: ChangeState = Field(description="whether it still counts")
    first: TrendRun = Field(description="the first run after the change, by the most evidence")
    last_before: TrendRun = Field(description="the run before it")
    found: TrendRun = Field(description="the run at which the evidence passed the threshold")
    closed: TrendRun | None = Field(description="the newest run when it was closed")
    suspects: tuple[TrendRun, ...] = Field(description="runs at which the change may have begun")
    size: float = Field(description="size of the change, after search: on average somewhat too large")
    ci: Interval = Field(description="95% paired interval of the size, after search")
    z: float = Field(description="the evidence")
    threshold: float = Field(description="the evidence that was needed")
    house: bool = Field(description="whether the base's model moved alike when it was drawn again")
    cause: ChangeCause | None = Field(
        default=None, description="why; absent if it is closed or the folders of its runs are not there"
    )
    by: str | None = Field(description="who closed it")
    note: str | None = Field(description="why it was closed")


class TrendColumns(JsonRecord):
    """The points of one task, one entry of each list for each run of the track that has the task."""

    uid: tuple[str, ...] = Field(description="runs")
    label: tuple[str, ...] = Field(description="nights or steps")
    position: tuple[int, ...] = Field(description="places in the track")
    epoch: tuple[Count, ...] = Field(description="number of the epoch: it rises when terms or data change")
    value: Numbers = Field(description="score")
    ci_low: Numbers = Field(description="95% interval for new questions of this kind")
    ci_high: Numbers = Field(description="the same, upper bound")
    rerun_low: Numbers = Field(description="95% interval for a re-run on these questions")
    rerun_high: Numbers = Field(description="the same, upper bound")
    difference: Numbers = Field(description="score minus that of the base under equal terms")
    difference_low: Numbers = Field(description="its 95% interval for new questions, paired")
    difference_high: Numbers = Field(description="the same, upper bound")
    difference_rerun_low: Numbers = Field(description="its 95% interval for a re-run on these questions")
    difference_rerun_high: Numbers = Field(description="the same, upper bound")
    truncated_share: Numbers = Field(description="share of samples that reached max_tokens")
    loops: Numbers = Field(description="share of samples that were cut off in a loop; null in older runs")
    empty: Numbers = Field(description="share of samples with an empty reply; null in older runs")
    tokens: Numbers = Field(description="mean completion tokens of a sample")


class TrendTask(JsonRecord):
    """One task of a track."""

    task: str = Field(description="the task")
    gating: bool = Field(description="whether it shares the track's budget")
    n: Count = Field(description="problems")
    tested: bool = Field(description="whether it takes part in alarms: at least 20 problems")
    chance: Share | None = Field(description="score of blind guessing")
    searched: bool = Field(
        description="whether a change could have been found: it is tested, and has more than 7 runs"
    )
    night_noise: Share | None = Field(
        description="how far nights move by themselves, beyond their samples: the standard deviation of one "
        "night's score; null if it was not looked for or there are fewer than 8 runs"
    )
    since_last: float | None = Field(description="newest score minus the one before")
    rerun_z: float | None = Field(description="the same in standard errors of a re-run")
    moved_here_only: bool = Field(
        description="whether the newest score moved beyond re-run noise while no change is open: it moved on "
        "these questions and is not shown to hold on others"
    )
    points: TrendColumns = Field(description="the points that are shown, old to new")
    parts: dict[str, Numbers] = Field(
        default_factory=dict, description="named parts of the score, an entry for each point; absent without"
    )


class AnchorRecord(JsonRecord):
    """The base's model drawn again: whether machine and engine moved by themselves."""

    state: Literal["held", "moved", "not drawn"] = Field(description="what the newest draw shows")
    run: TrendRun | None = Field(description="the newest draw")
    difference: float | None = Field(description="its pooled difference to the base over gating tasks")
    z: float | None = Field(description="the largest evidence, over the gating tasks and the pooled line")
    due: str | None = Field(description="why it should be drawn again; null if it need not be")


class MeanToBase(JsonRecord):
    """The newest run minus the base, on average over the tasks that decide."""

    tasks: tuple[str, ...] = Field(description="the tasks whose difference is known")
    difference: float = Field(description="mean of their differences, a fraction of 1")
    ci: Interval = Field(description="95% interval for new questions; the tasks are independent")


class BestCheckpoint(JsonRecord):
    """The best of several checkpoints on one task, with the luck of having been chosen taken off."""

    task: str = Field(description="the task")
    checkpoints: Count = Field(description="checkpoints with a score")
    best: TrendRun = Field(description="the checkpoint with the best score")
    value: float = Field(description="its score")
    shrunk: float = Field(description="its score, drawn towards the mean by the share of re-run noise")
    luck: float = Field(description="how far the best of equal checkpoints would lie above the truth")
    difference_to_previous: float | None = Field(description="newest minus previous checkpoint, paired")
    previous_ci: Interval | None = Field(description="its 95% interval for new questions")
    difference_to_best: float | None = Field(description="newest minus best checkpoint, paired")
    best_ci: Interval | None = Field(
        description="its interval for new questions, 95% for all pairs of checkpoints and all tasks together "
        "(studentised range), since the best one was chosen"
    )
    not_worse: Count = Field(description="other checkpoints whose interval of that kind does not exclude 0")


class TrendEpoch(JsonRecord):
    """The first run of some tasks under other terms, data or verdicts than the run before."""

    uid: str = Field(description="the run")
    label: str = Field(description="night or step")
    changed: tuple[str, ...] = Field(
        description="what changed: verifier, judge, version (of the task), data, questions, decoding, "
        "fields, terms or reasoning"
    )
    tasks: tuple[str, ...] = Field(description="the tasks")
    edits: tuple[str, ...] = Field(
        default=(), description="what was edited, in words; absent if the digests alone tell"
    )


class TrendNote(JsonRecord):
    """A remark that somebody, or the ledger, attached to a night."""

    label: str = Field(description="night or step")
    position: int = Field(description="its place in the track")
    kind: AnnotationKind = Field(description="what it is about")
    text: str = Field(description="the remark")
    by: str = Field(description="its author")


class Trend(ShownRecord):
    """What a track of runs shows."""

    format: Literal[1] = Field(description="version of this record")
    track: str = Field(description="the track")
    kind: TrackKind = Field(description="whether its positions are nights or training steps")
    suite: str = Field(description="the suite")
    sentence: str = Field(description="what happened since `since`, in one sentence")
    since: str = Field(description="first night or step that the sentence speaks of")
    runs: Count = Field(description="finished runs of the track")
    newest: TrendRun | None = Field(description="the newest finished run")
    base: TrendRun | None = Field(description="the pinned run that differences are taken to")
    base_reason: str = Field(description="why it is the base")
    budget: AlarmBudget = Field(description="thresholds")
    anchor: AnchorRecord = Field(description="the base's model drawn again")
    changes: tuple[TrendChange, ...] = Field(description="open changes first, then closed ones, new to old")
    tasks: tuple[TrendTask, ...] = Field(description="tasks with an open change first, then gating ones")
    mean: MeanToBase | None = Field(description="newest run minus base on average; null without a base")
    stopping: dict[str, StoppingChange] = Field(
        default_factory=dict,
        description="how the replies of each task end in the base and in the newest run (`tuned`); only of "
        "runs under equal terms that have counted it",
    )
    best: tuple[BestCheckpoint, ...] = Field(description="the best checkpoints; empty for nights")
    epochs: tuple[TrendEpoch, ...] = Field(
        default=(), description="starts of epochs among the shown points, new to old"
    )
    missing: tuple[str, ...] = Field(description="nights without a finished run")
    unused: tuple[str, ...] = Field(description="runs that are in no series, with the reason")
    notes: tuple[TrendNote, ...] = Field(description="remarks on nights")
    edited: tuple[str, ...] = Field(
        default=(), description="files of its runs that were changed by hand; absent if there are none"
    )
