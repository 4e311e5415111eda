"""Reviews by people: which samples they see, the page on which they answer, and what their answers say."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import Field

from genbench.analysis.quality import quality
from genbench.analysis.reviews import (
    FOLDER,
    PLAN,
    REVIEWS,
    Review,
    ReviewedPair,
    ReviewedRun,
    ReviewedTask,
    ReviewFolder,
    ReviewItem,
    ReviewPlan,
    check_review,
    plan_digest,
    reviewed_pair,
    reviewed_task,
)
from genbench.analysis.samples import task_samples
from genbench.analysis.sides.loading import open_side, require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord, Share
from genbench.reports.figures import agreement_words, reviewed_words
from genbench.reports.page.templates import page_environment
from genbench.stats.labels import labels_needed
from genbench.store.continuation import now
from genbench.store.json_files import Appender, encode, read_lines, replace
from genbench.store.stored_run import Sample, StoredRun

PAGE = "review.html"
RULINGS = "rulings.jsonl"
LABELS: Mapping[str, float] = {"right": 1.0, "wrong": 0.0}
RULED: Mapping[str, float] = {"right": 1.0, "wrong": 0.0, "ambiguous": 0.0}
"""What may be said of a reference."""
_MOST_LABELS = 9
"""Each label has a key from 1 to 9."""


class Planned(JsonRecord):
    """A plan that was written, and what its labels will tell."""

    format: int = Field(description="version of this record")
    folder: str = Field(description="the folder of the plan")
    page: str = Field(description="the page on which people answer")
    n: Count = Field(description="problems that are reviewed")
    of: Count = Field(description="problems of the task")
    items: Count = Field(description="answers that are shown")
    half_width: Share = Field(description="half of the 95% interval at a share of 0.5, by the labels alone")
    half_width_judge: Share = Field(description="the same with a judge of correlation 0.8")


class ReviewSummary(JsonRecord):
    """What the reviews of a folder say."""

    format: int = Field(description="version of this record")
    folder: str = Field(description="the folder of the plan")
    task: str = Field(description="the task")
    runs: dict[str, ReviewedTask] = Field(
        description="by run folder; those with fewer than five labels are left out"
    )
    pair: ReviewedPair | None = Field(description="difference of the two runs; null with one run")
    rulings: dict[str, str] = Field(
        default_factory=dict,
        description="what people say of references, by problem; absent if answers are rated",
    )


def plan_review(
    runs: Sequence[str | Path],
    task: str,
    *,
    n: int = 100,
    seed: int = 0,
    labels: Mapping[str, float] | None = None,
    output: str | Path | None = None,
) -> Planned:
    """Choose samples of one run, or of the same problems of base and tuned, and write the page for people.

    Problems are a random subset by `seed`; a larger n has all of a smaller one. Each has one sample a run,
    the same index in both. The page shows neither models nor verdicts, and the order is mixed.

    Args:
        runs: one or two run folders.
        n: problems.
        labels: what may be said, with the score of each. None: right (1) and wrong (0).
        output: the folder of the plan. None: `reviews/TASK` next to the runs.

    Raises:
        InputError: a run has no such task, has no results, or the folder has another plan already.
    """
    names = dict(labels or LABELS)
    _check_labels(names)
    if not 1 <= len(runs) <= 2:
        raise InputError(f"{len(runs)} runs: wanted one, or base and tuned")
    sides = [open_side(Path(run), [task]) for run in runs]
    for side in sides:
        require_finished(side)
        if side.manifest is None:
            raise InputError(f"{side.path}: a score file has no texts to review; give a run folder")
    if n < 5:
        raise InputError(f"n {n}: wanted 5 problems or more")
    folder = Path(output) if output else Path(runs[-1]).parent / FOLDER / task
    return _write_plan(folder, _plan(sides, task, n, seed, names), sides)


def _write_plan(folder: Path, plan: ReviewPlan, sides: Sequence[Side]) -> Planned:
    """Write a plan and its page.

    Raises:
        InputError: the folder has another plan already.
    """
    if (folder / PLAN).is_file() and ReviewFolder.open(folder).plan.plan != plan.plan:
        raise InputError(f"{folder}: has another plan already; give another --output")
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / PLAN, (json.dumps(plan.to_json(), ensure_ascii=True, indent=1) + "\n").encode())
    replace(folder / PAGE, _page(plan, sides).encode("utf-8", "surrogatepass"))
    return Planned(
        format=1,
        folder=str(folder),
        page=str(folder / PAGE),
        n=plan.n,
        of=plan.of,
        items=len(plan.items),
        half_width=min(labels_needed(0.0, plan.of, plan.n), 1.0),
        half_width_judge=min(labels_needed(0.8, plan.of, plan.n), 1.0),
    )


def plan_references(runs: Sequence[str | Path], task: str, *, output: str | Path | None = None) -> Planned:
    """Write the page on which people rule on references that look wrong, see `genbench quality`.

    Raises:
        InputError: a run has no such task, no reference looks wrong, or the folder has another plan already.
    """
    sides = [open_side(Path(run), [task]) for run in runs]
    keys = quality(runs, [task]).tasks[task].suspicious
    if not keys:
        raise InputError(f"task {task}: no reference looks wrong in these runs")
    items = list[ReviewItem]()
    for key in keys:
        side = next(side for side in sides if str(side.path) in key.runs)
        sample = _saying(side.tasks[task], key.problem_id, key.answer)
        index = side.tasks[task].index
        if sample is None or index is None:
            continue
        items.append(
            ReviewItem(
                item=_hash(task, key.problem_id, "reference")[:12],
                run=sides.index(side),
                problem_id=key.problem_id,
                sample_index=sample,
                text=f"{index.texts[key.problem_id, sample]:016x}",
            )
        )
    of = len(sides[0].tasks[task].problem_ids)
    facts = {"task": task, "seed": 0, "labels": dict(RULED), "n": len(items), "of": of}
    plan = _made(sides, items, kind="references", **facts)
    folder = Path(output) if output else Path(runs[-1]).parent / FOLDER / f"{task}-references"
    return _write_plan(folder, plan, sides)


def _saying(task: SideTask, problem_id: str, answer: str) -> int | None:
    """Return the first sample of a problem with this answer."""
    row = task.problem_ids.index(problem_id)
    answers = task.answers[row] if task.answers is not None else ()
    said = (index for index, own in enumerate(answers) if own and " ".join(own.split())[:200] == answer)
    return next(said, None)


def _check_labels(labels: Mapping[str, float]) -> None:
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise InputError(f"{len(labels)} labels: wanted 2 to {_MOST_LABELS}")
    for name, score in labels.items():
        if not 0 <= score <= 1:
            raise InputError(f"label {name!r}: its score is {score}, wanted 0 to 1")


def _hash(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()


def _plan(sides: Sequence[Side], task: str, n: int, seed: int, labels: Mapping[str, float]) -> ReviewPlan:
    shared = [
        name
        for name in sides[0].tasks[task].problem_ids
        if all(name in set(side.tasks[task].problem_ids) for side in sides[1:])
    ]
    chosen = sorted(shared, key=lambda name: _hash(seed, name))[:n]
    k = min(side.tasks[task].smallest_k for side in sides)
    items = list[ReviewItem]()
    for number, side in enumerate(sides):
        index = side.tasks[task].index
        assert index is not None
        texts = index.texts
        for name in chosen:
            sample = int(_hash(seed, name, "sample")[:8], 16) % k
            own = _hash(seed, number, side.run_id, name, sample)[:12]
            text = texts.get((name, sample))
            if text is not None:
                items.append(
                    ReviewItem(
                        item=own, run=number, problem_id=name, sample_index=sample, text=f"{text:016x}"
                    )
                )
    facts = {"task": task, "seed": seed, "labels": dict(labels), "n": len(chosen), "of": len(shared)}
    return _made(sides, items, **facts)


def _made(sides: Sequence[Side], items: Sequence[ReviewItem], **facts: Any) -> ReviewPlan:
    """Return a plan with its digest. Its items are in an order that tells nothing."""
    runs = tuple(
        ReviewedRun(path=str(side.path), uid=side.manifest.run_uid, model=side.name)
        for side in sides
        if side.manifest is not None
    )
    ordered = tuple(sorted(items, key=lambda item: item.item))
    record = ReviewPlan(format=1, plan="", runs=runs, items=ordered, **facts)
    return record.model_copy(update={"plan": plan_digest(record.to_json())})


def _page(plan: ReviewPlan, sides: Sequence[Side]) -> str:
    """Return the page of a plan: questions, answers and references, without models, runs and verdicts."""
    texts: dict[tuple[int, str, int], Sample] = {}
    for number, side in enumerate(sides):
        run = StoredRun(side.path)
        wanted = {(item.problem_id, item.sample_index) for item in plan.items if item.run == number}
        for sample in task_samples(run, plan.task):
            if (sample.problem_id, sample.sample_index) in wanted:
                texts[number, sample.problem_id, sample.sample_index] = sample
    shown = [
        _shown(item.item, texts[item.run, item.problem_id, item.sample_index])
        for item in plan.items
        if (item.run, item.problem_id, item.sample_index) in texts
    ]
    data = {"plan": plan.plan, "labels": list(plan.labels), "items": shown}
    environment = page_environment()
    nonce = _hash(plan.plan)[:32]
    text = json.dumps(data, ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return environment.get_template("review.html.j2").render(
        task=plan.task, nonce=nonce, items=Markup(safe), labels=list(plan.labels), n=len(shown)
    )


def _shown(item: str, sample: Sample) -> dict[str, Any]:
    """Return what a reviewer sees of a sample. Traces are left out."""
    turns = [turn.answer.text for turn in sample.turns]
    return {
        "item": item,
        "question": sample.prompt or "",
        "answers": turns,
        "reference": sample.reference or "",
    }


def add_reviews(folder: str | Path, answers: str | Path, reviewer: str | None = None) -> int:
    """Add the answers that a person saved on the page. Return how many are new.

    A later answer of the same person to the same item counts instead of an earlier one; both lines are kept.
    Lines that are there already are left out, so that a file can be added twice.

    Args:
        answers: the file that the page saved, or JSON lines with `item` and `label`.
        reviewer: the person. None: as the lines say.

    Raises:
        InputError: a line is damaged, or names an item or label that the plan lacks. Nothing is added then.
    """
    place = ReviewFolder.open(Path(folder))
    items = frozenset(item.item for item in place.plan.items)
    batch, at = uuid.uuid4().hex[:12], now()
    known = {(line.item, line.reviewer, line.label, line.comment, line.seconds) for line in place.lines}
    found = list[Review]()
    for number, record in _answers(Path(answers)):
        where = f"{answers}:{number}"
        who = reviewer or record.get("reviewer")
        if not who:
            raise InputError(f"{where}: says not who reviewed; give --reviewer NAME")
        line = Review.from_json(
            {"plan": place.plan.plan, "at": at, **record, "reviewer": who, "batch": batch}, where
        )
        check_review(line, place.plan, items, where)
        key = (line.item, line.reviewer, line.label, line.comment, line.seconds)
        if key not in known:
            known.add(key)
            found.append(line)
    _append(place.path, found)
    _write_rulings(place)
    return len(found)


def _write_rulings(place: ReviewFolder) -> None:
    """Write what people said of references to rulings.jsonl, which a suite names as `rulings`."""
    if place.plan.kind == "references":
        rulings = ReviewFolder.open(place.path).rulings()
        lines = [{"problem_id": name, "ruling": said} for name, said in sorted(rulings.items())]
        replace(place.path / RULINGS, b"".join(encode(line) for line in lines))


def _answers(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; the page saves one with its button 'Save answers'")
    return list(read_lines(path))


def undo_reviews(folder: str | Path, reviewer: str) -> int:
    """Withdraw what a person's newest import added, by further lines. Return how many items.

    Raises:
        InputError: the person has no reviews in force.
    """
    place = ReviewFolder.open(Path(folder))
    own = [said[reviewer] for said in place.in_force.values() if reviewer in said]
    if not own:
        people = sorted({who for said in place.in_force.values() for who in said})
        there = ", ".join(people) or "nobody"
        raise InputError(f"{folder}: no review of '{reviewer}' is in force; there are those of {there}")
    order = [line.batch for line in place.lines if line.reviewer == reviewer and line.label is not None]
    last = max((line.batch for line in own), key=order.index)
    batch, at = uuid.uuid4().hex[:12], now()
    gone = [line for line in own if line.batch == last]
    _append(
        place.path,
        [
            Review(plan=line.plan, item=line.item, reviewer=reviewer, label=None, at=at, batch=batch)
            for line in gone
        ],
    )
    return len(gone)


def _append(folder: Path, lines: Sequence[Review]) -> None:
    with Appender(folder / REVIEWS) as appender:
        for line in lines:
            appender.append(line.to_json())


def review_summary(folder: str | Path) -> ReviewSummary:
    """Return what the reviews of a folder say of its runs.

    Raises:
        InputError: no plan, a damaged line, or a run that is gone.
    """
    place = ReviewFolder.open(Path(folder))
    if place.plan.kind == "references":
        rulings = place.rulings()
        return ReviewSummary(
            format=1, folder=str(folder), task=place.plan.task, runs={}, pair=None, rulings=rulings
        )
    sides = [open_side(Path(run.path), [place.plan.task]) for run in place.plan.runs]
    found = {str(side.path): reviewed_task(place, side) for side in sides}
    pair = reviewed_pair(sides[0], sides[1], place.plan.task) if len(sides) == 2 else None
    return ReviewSummary(
        format=1,
        folder=str(folder),
        task=place.plan.task,
        runs={name: task for name, task in found.items() if task is not None},
        pair=pair,
    )


def review_text(record: ReviewSummary) -> str:
    """Return a summary for the terminal."""
    return "\n".join(_lines(record))


def _lines(record: ReviewSummary) -> Iterator[str]:
    yield f"{record.task}, reviews in {record.folder}"
    for run, task in record.runs.items():
        yield f"{run}: {reviewed_words(task)}"
        for line in agreement_words(task):
            yield f"  {line}"
    for problem, ruling in record.rulings.items():
        yield f"  the reference of {problem} is {ruling}"
    if record.rulings:
        yield f"scores with and without them: rulings: {record.folder}/{RULINGS} at the task in the suite"
    elif not record.runs:
        yield "nothing yet: a score needs five labelled problems; add answers with: genbench review add"
    if record.pair is not None:
        yield record.pair.words
