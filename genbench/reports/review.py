"""Reviews by people: which samples they see, the page on which they answer, and what their answers say."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import Field

from genbench.analysis.quality import quality
from genbench.analysis.raters import Preferences, Raters, preferences_of, raters_of
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
from genbench.analysis.sides.loading import open_side, require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, RunFolderError
from genbench.json_record import Count, JsonRecord, Share
from genbench.reports.figures import agreement_words, reviewed_words
from genbench.reports.numbers import interval, points
from genbench.reports.page.templates import page_environment
from genbench.reports.review_items import read_items
from genbench.stats.labels import labels_needed
from genbench.store.continuation import now
from genbench.store.json_files import Appender, encode, read_lines, replace, unwritable

PAGE = "review.html"
RULINGS = "rulings.jsonl"
LABELS: Mapping[str, float] = {"right": 1.0, "wrong": 0.0}
RULED: Mapping[str, float] = {"right": 1.0, "wrong": 0.0, "ambiguous": 0.0}
"""What may be said of a reference."""
PREFERRED: Mapping[str, float] = {
    "A much better": 1.0,
    "A better": 0.75,
    "tie": 0.5,
    "B better": 0.25,
    "B much better": 0.0,
}
"""What may be said of two answers. The score is that of A."""
TWICE = 0.2
"""The share of items that two people label."""
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
    people: Raters | None = Field(default=None, description="the people: agreement, speed, left wins")
    preferences: Preferences | None = Field(
        default=None, description="which model people prefer; absent if answers are rated"
    )


def plan_review(
    runs: Sequence[str | Path],
    task: str,
    *,
    n: int = 100,
    seed: int = 0,
    labels: Mapping[str, float] | None = None,
    output: str | Path | None = None,
    prefer: bool = False,
    twice: float = TWICE,
    adjudicator: str | None = None,
) -> Planned:
    """Choose samples of one run, or of the same problems of base and tuned, and write the page for people.

    Problems are a random subset by `seed`; a larger n has all of a smaller one. Each has one sample a run,
    the same index in both. The page shows neither models nor verdicts, and the order is mixed.

    Args:
        runs: one or two run folders.
        n: problems.
        labels: what may be said, with the score of each. None: right (1) and wrong (0).
        output: the folder of the plan. None: `reviews/TASK` next to the runs, or `reviews/TASK-pairs`.
        prefer: whether people choose the better of two answers, of two runs or more. A coin of the seed and
            the problem says which answer is A.
        twice: the share of items that two people label.
        adjudicator: who settles labels that differ. None: anybody who has not labelled the item.

    Raises:
        InputError: a run has no such task, has no results, or the folder has another plan already.
    """
    names = dict(labels or (PREFERRED if prefer else LABELS))
    _check_labels(names)
    if prefer and len(runs) < 2:
        raise InputError("one run: wanted two or more, whose answers are compared")
    if not prefer and not 1 <= len(runs) <= 2:
        raise InputError(f"{len(runs)} runs: wanted one, or base and tuned")
    if not 0 <= twice <= 1:
        raise InputError(f"twice {twice:g}: wanted a share from 0 to 1")
    sides = [open_side(Path(run), [task]) for run in runs]
    for side in sides:
        require_finished(side)
        if side.manifest is None:
            raise InputError(f"{side.path}: a score file has no texts to review; give a run folder")
    if n < 5:
        raise InputError(f"n {n}: wanted 5 problems or more")
    folder = (
        Path(output) if output else Path(runs[-1]).parent / FOLDER / (f"{task}-pairs" if prefer else task)
    )
    more = {} if adjudicator is None else {"adjudicator": adjudicator}
    make = _paired_plan if prefer else _plan
    return _write_plan(folder, make(sides, task, n, seed, names, twice, more), sides)


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


def _shared(sides: Sequence[Side], task: str) -> list[str]:
    """Return the problems that all runs have."""
    others = [set(side.tasks[task].problem_ids) for side in sides[1:]]
    return [name for name in sides[0].tasks[task].problem_ids if all(name in own for own in others)]


def _raters(item: str, seed: int, twice: float) -> dict[str, int]:
    """Return the field of an item that two people label, chosen by a hash."""
    is_twice = int(_hash(seed, item, "twice")[:8], 16) < twice * 0x1_0000_0000
    return {"raters": 2} if is_twice else {}


def _paired_plan(  # noqa: PLR0917 - as `_plan`
    sides: Sequence[Side],
    task: str,
    n: int,
    seed: int,
    labels: Mapping[str, float],
    twice: float,
    more: Mapping[str, Any],
) -> ReviewPlan:
    """Return a plan of pairs: of each problem two runs, and which of them is A, are chosen by hashes."""
    shared = _shared(sides, task)
    k = min(side.tasks[task].smallest_k for side in sides)
    both = list(combinations(range(len(sides)), 2))
    items, same = list[ReviewItem](), 0
    for name in sorted(shared, key=lambda name: _hash(seed, name)):
        if len(items) == n:
            break
        sample = int(_hash(seed, name, "sample")[:8], 16) % k
        first, second = both[int(_hash(seed, name, "runs")[:8], 16) % len(both)]
        own = _hash(seed, sides[first].run_id, sides[second].run_id, name, sample)[:12]
        if int(_hash(seed, own, "coin")[:8], 16) % 2:
            first, second = second, first
        texts = [_text_of(sides[number].tasks[task], name, sample) for number in (first, second)]
        if texts[0] is None or texts[1] is None:
            continue
        if texts[0] == texts[1]:
            same += 1
            continue
        place = {"item": own, "run": first, "problem_id": name, "sample_index": sample, "text": texts[0]}
        twin = {"against": second, "against_text": texts[1], **_raters(own, seed, twice)}
        items.append(ReviewItem.model_validate(place | twin))
    if not items:
        raise InputError(f"task {task}: no two answers of these runs differ")
    facts = {"task": task, "seed": seed, "labels": dict(labels), "n": len(items), "of": len(shared)}
    return _made(sides, items, kind="prefer", same=same, **facts, **more)


def _text_of(task: SideTask, problem_id: str, sample: int) -> str | None:
    """Return the digest of a sample's completions, None if it was not drawn."""
    found = None if task.index is None else task.index.texts.get((problem_id, sample))
    return None if found is None else f"{found:016x}"


def _plan(  # noqa: PLR0917 - each is a part of the plan
    sides: Sequence[Side],
    task: str,
    n: int,
    seed: int,
    labels: Mapping[str, float],
    twice: float,
    more: Mapping[str, Any],
) -> ReviewPlan:
    shared = _shared(sides, task)
    chosen = sorted(shared, key=lambda name: _hash(seed, name))[:n]
    k = min(side.tasks[task].smallest_k for side in sides)
    items = list[ReviewItem]()
    for number, side in enumerate(sides):
        for name in chosen:
            sample = int(_hash(seed, name, "sample")[:8], 16) % k
            own = _hash(seed, number, side.run_id, name, sample)[:12]
            text = _text_of(side.tasks[task], name, sample)
            if text is not None:
                place = {"item": own, "run": number, "problem_id": name, "sample_index": sample, "text": text}
                items.append(ReviewItem.model_validate(place | _raters(own, seed, twice)))
    facts = {"task": task, "seed": seed, "labels": dict(labels), "n": len(chosen), "of": len(shared)}
    return _made(sides, items, **facts, **more)


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
    items = read_items(plan, [side.path for side in sides]).values()
    shown = [
        {
            "item": item.item,
            "question": item.question,
            "answers": ["\n\n".join(turns) for turns in item.answers]
            if plan.kind == "prefer"
            else [turn for turns in item.answers for turn in turns],
            "reference": item.reference,
        }
        for item in items
        if item.answers
    ]
    names = ["A", "B"] if plan.kind == "prefer" else []
    data = {"plan": plan.plan, "labels": list(plan.labels), "names": names, "items": shown}
    environment = page_environment()
    nonce = _hash(plan.plan)[:32]
    text = json.dumps(data, ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return environment.get_template("review.html.j2").render(
        task=plan.task, nonce=nonce, items=Markup(safe), labels=list(plan.labels), n=len(shown)
    )


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
    with _locked(Path(folder)):
        return _add(ReviewFolder.open(Path(folder)), answers, reviewer)


def _add(place: ReviewFolder, answers: str | Path, reviewer: str | None) -> int:
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


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one writer at a time read and append the reviews of a folder: of threads, and of processes.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    try:
        fd = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except FileNotFoundError:
        yield  # there is no such folder, which opening it says better
        return
    except OSError as error:
        raise RunFolderError(unwritable(folder, error)) from error
    try:
        try:
            # Each descriptor has its own flock, so that it holds between threads too.
            fcntl.flock(fd, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise RunFolderError(unwritable(folder, error)) from error
        yield
    finally:
        os.close(fd)


def add_vote(  # noqa: PLR0917 - the fields of a form
    folder: Path,
    item: str,
    reviewer: str,
    label: str,
    form: str,
    comment: str = "",
    seconds: float | None = None,
) -> bool:
    """Add one label of one person. Return whether it is new.

    A form counts once, however often it is sent: a line of the same person, item and form is not written
    again, nor one that says what is said already. The line is on the disk when this returns.

    Raises:
        InputError: there is no such plan, item or label, or an answer is damaged.
    """
    with _locked(folder):
        place = ReviewFolder.open(folder)
        record: dict[str, Any] = {"plan": place.plan.plan, "item": item, "reviewer": reviewer, "label": label}
        record |= {"comment": comment} if comment else {}
        record |= {} if seconds is None else {"seconds": seconds}
        record |= {"final": True} if place.may_settle(item, reviewer) else {}
        line = Review.from_json({**record, "at": now(), "batch": form}, "this label")
        check_review(line, place.plan, {own.item for own in place.plan.items}, "this label")
        before = place.in_force.get(item, {}).get(reviewer)
        if before is not None and before.final:
            line = line.model_copy(update={"final": True})
        if _is_sent(place, line) or (before and (before.label, before.comment) == (label, comment)):
            return False
        _append(folder, [line])
        _write_rulings(place)
    return True


def withdraw_vote(folder: Path, item: str, reviewer: str, form: str) -> bool:
    """Take back what a person says of an item, by a further line. Return whether anything was said.

    Raises:
        InputError: there is no such plan.
    """
    with _locked(folder):
        place = ReviewFolder.open(folder)
        before = place.in_force.get(item, {}).get(reviewer)
        if before is None:
            return False
        line = Review(plan=before.plan, item=item, reviewer=reviewer, label=None, at=now(), batch=form)
        if _is_sent(place, line):
            return False
        _append(folder, [line])
        _write_rulings(place)
    return True


def _is_sent(place: ReviewFolder, line: Review) -> bool:
    """Return whether a form was stored before: the same person, item and form."""
    key = (line.item, line.reviewer, line.batch)
    return any((own.item, own.reviewer, own.batch) == key for own in place.lines)


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
    with _locked(Path(folder)):
        return _undo(ReviewFolder.open(Path(folder)), reviewer)


def _undo(place: ReviewFolder, reviewer: str) -> int:
    own = [said[reviewer] for said in place.in_force.values() if reviewer in said]
    if not own:
        people = sorted({who for said in place.in_force.values() for who in said})
        there = ", ".join(people) or "nobody"
        raise InputError(f"{place.path}: no review of '{reviewer}' is in force; there are those of {there}")
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
            format=1,
            folder=str(folder),
            task=place.plan.task,
            runs={},
            pair=None,
            rulings=rulings,
            people=raters_of(place),
        )
    sides = [open_side(Path(run.path), [place.plan.task]) for run in place.plan.runs]
    if place.plan.kind == "prefer":
        return ReviewSummary(
            format=1,
            folder=str(folder),
            task=place.plan.task,
            runs={},
            pair=None,
            people=raters_of(place),
            preferences=preferences_of(place, sides),
        )
    found = {str(side.path): reviewed_task(place, side) for side in sides}
    pair = reviewed_pair(sides[0], sides[1], place.plan.task) if len(sides) == 2 else None
    return ReviewSummary(
        format=1,
        folder=str(folder),
        task=place.plan.task,
        runs={name: task for name, task in found.items() if task is not None},
        pair=pair,
        people=raters_of(place),
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
    elif record.preferences is not None:
        yield from preference_lines(record.preferences)
    elif not record.runs:
        yield "nothing yet: a score needs five labelled problems; add answers with: genbench review add"
    if record.pair is not None:
        yield record.pair.words
    if record.people is not None:
        yield from people_lines(record.people)


def people_lines(found: Raters) -> Iterator[str]:
    """Yield the people of a plan: what each did, how far each two agree, and what is not settled."""
    for who, rater in found.raters.items():
        said = [f"{rater.labels} labels"] + ([f"{rater.final} final ones"] if rater.final else [])
        if rater.median_seconds is not None:
            said.append(f"{rater.median_seconds:.1f} s each in the median")
        if rater.changed:
            said.append(f"{rater.changed} changed")
        yield f"{who}: {', '.join(said)}{'; too fast to have read them' if rater.fast else ''}"
    for pair in found.pairs:
        both = f"{pair.first} and {pair.second}: {pair.n} items, {points(pair.agreement)} % equal"
        if pair.kappa is None or pair.ci is None:
            yield f"{both}; kappa is not defined (one label throughout)"
        else:
            yield f"{both}, kappa {pair.kappa:.2f} [{pair.ci[0]:.2f}, {pair.ci[1]:.2f}]"
    alpha = found.alpha
    if alpha is not None and alpha.kappa is not None and alpha.ci is not None:
        yield f"all of them: alpha {alpha.kappa:.2f} [{alpha.ci[0]:.2f}, {alpha.ci[1]:.2f}], {alpha.n} items"
    if found.left is not None and found.left_ci is not None:
        yield f"A was chosen in {points(found.left)} % {interval(found.left_ci)} of the choices"
        if not found.left_ci[0] <= 0.5 <= found.left_ci[1]:
            yield "the side on which an answer is shown decides: coins make it 50 %"
    if found.disputed or found.settled:
        waiting = f"{found.disputed} items have labels that differ and wait for a third person"
        yield f"{waiting}, {found.settled} are settled"


def preference_lines(found: Preferences) -> Iterator[str]:
    """Yield the strengths of models, in the words of people's choices."""
    for model in found.models:
        counts = f"{model.wins} won, {model.ties} tied, {model.losses} lost"
        if model.beats_reference is None or model.beats_reference_ci is None or model.name == found.reference:
            yield f"{model.name}: {counts}"
            continue
        chance = f"{points(model.beats_reference)} % {interval(model.beats_reference_ci)}"
        yield f"{model.name}: {counts}; beats {found.reference} in {chance} of pairs (Bradley-Terry)"
    if found.missing:
        yield f"no strengths: {found.missing}"
    if found.void:
        yield f"{found.void} reviews are void: their answers were drawn again"
