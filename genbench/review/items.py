"""What a reviewer sees of the items of a plan: texts without models and runs, verdicts apart from them."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from genbench.errors import InputError
from genbench.judges.forms.checklist import Item
from genbench.models.traces import Reasoning
from genbench.reports.numbers import points
from genbench.review.reviews import ReviewPlan
from genbench.store.stored_run import Sample, StoredRun

_MOST = 16
"""Plans whose texts are kept."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item with its texts."""

    item: str
    question: str
    answers: tuple[tuple[str, ...], ...]
    """The turns of the answer, or of A and of B. Traces are left out."""
    reference: str
    verdicts: tuple[str, ...]
    """What the machine says of each answer. Nobody may see it before their own label."""
    checklist: tuple[str, ...]
    """The questions of a judge's checklist, if the plan has one."""
    is_void: bool
    """Whether an answer was drawn again, or is gone, since the plan was made."""


def read_items(plan: ReviewPlan, runs: Sequence[str | Path] = ()) -> dict[str, ShownItem]:
    """Read the texts of a plan's items. Items whose samples are gone are void and have no answers.

    Args:
        runs: the run folders now. Empty: those of the plan.

    Raises:
        InputError: a run is gone, or is another one.
        RunFolderError: a damaged line.
    """
    found: dict[tuple[int, str, int], tuple[Sample, str]] = {}
    for number, run in enumerate(plan.runs):
        wanted = set[tuple[str, int]]()
        for item in plan.items:
            if number in (item.run, item.against):
                wanted.add((item.problem_id, item.sample_index))
        path = Path(runs[number] if runs else run.path)
        for key, value in _texts(path, run.uid, plan.task, wanted).items():
            found[number, *key] = value
    shown = dict[str, ShownItem]()
    for item in plan.items:
        sides = [(item.run, item.text)]
        if item.against is not None:
            sides.append((item.against, str(item.against_text)))
        own = [(found.get((run, item.problem_id, item.sample_index)), text) for run, text in sides]
        samples = [pair[0] for pair, _ in own if pair is not None]
        reference = next((sample.reference or "" for sample in samples), "")
        shown[item.item] = ShownItem(
            item=item.item,
            question=next((sample.prompt or "" for sample in samples), ""),
            answers=tuple(tuple(turn.answer.text for turn in sample.turns) for sample in samples),
            reference=reference,
            verdicts=tuple(_verdict(sample) for sample in samples),
            checklist=_questions(reference) if plan.rubric and plan.rubric.has_checklist else (),
            is_void=any(pair is None or pair[1] != text for pair, text in own),
        )
    return shown


def _texts(
    path: Path, uid: str, task: str, wanted: set[tuple[str, int]]
) -> dict[tuple[str, int], tuple[Sample, str]]:
    """Return the wanted samples of a run, each with the digest of its completions."""
    if not (path / "manifest.json").is_file():
        raise InputError(f"{path}: the run of this plan is not there any more; restore its folder")
    run = StoredRun(path)
    if run.manifest.run_uid != uid:
        raise InputError(f"{path}: is another run than the plan's; make a new plan")
    stored = run.task(task)
    stored.indexed = True  # so that one pass gives both texts and digests
    split = Reasoning.from_record(run.manifest.reasoning).split
    samples = {
        (sample.problem_id, sample.sample_index): sample
        for sample in stored.samples(split)
        if (sample.problem_id, sample.sample_index) in wanted
    }
    texts = stored.index.texts
    return {key: (sample, f"{texts.get(key) or 0:016x}") for key, sample in samples.items()}


def _questions(reference: str) -> tuple[str, ...]:
    """Return the questions of a checklist with their points. Empty if it was cut, or if it is not a list."""
    try:
        found = json.loads(reference)
        return tuple(Item.of(value).shown for value in found) if isinstance(found, list) else ()
    except ValueError:
        return ()


def _verdict(sample: Sample) -> str:
    score = sample.score
    return sample.status if score is None else f"{sample.status} ({points(score)})"


class ReviewTexts:
    """The texts of the plans that were opened last. Reading those of 100,000 samples takes seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[object, dict[str, ShownItem]]] = OrderedDict()

    def of(self, plan: ReviewPlan) -> dict[str, ShownItem]:
        """Return the items of a plan, read again if a file of its runs has changed.

        Raises:
            InputError: a run is gone, or is another one.
        """
        state = [_state(Path(run.path) / plan.task) for run in plan.runs]
        with self._lock:  # also while reading: ten reviewers who begin together read once
            known = self._kept.get(plan.plan)
            if known is None or known[0] != state:
                known = (state, read_items(plan))
                self._kept[plan.plan] = known
            self._kept.move_to_end(plan.plan)
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
            return known[1]


def _state(folder: Path) -> list[tuple[int, int] | None]:
    """Return time and size of the files of a task that texts and verdicts come from."""
    found = list[tuple[int, int] | None]()
    for name in ("completions.jsonl", "verdicts.jsonl", "asks.jsonl"):
        path = folder / name
        found.append((path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None)
    return found
