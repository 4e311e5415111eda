"""Reviews by people: the answers that are added, and what they say."""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import Field

from genbench.analysis.raters import MOST_OF_ONE, Preferences, Raters, preferences_of, raters_of
from genbench.analysis.reviews import (
    REVIEWS,
    Review,
    ReviewedPair,
    ReviewedTask,
    ReviewFolder,
    check_review,
    reviewed_pair,
    reviewed_task,
)
from genbench.analysis.sides.loading import open_side
from genbench.errors import InputError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.reports.figures import agreement_words, reviewed_words
from genbench.reports.numbers import interval, points
from genbench.store.continuation import now
from genbench.store.json_files import Appender, encode, read_lines, replace, unwritable

RULINGS = "rulings.jsonl"


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
    again: bool = False,
) -> bool:
    """Add one label of one person. Return whether it is new.

    A form counts once, however often it is sent: a line of the same person, item and form is not written
    again, nor one that says what is said already. The line is on the disk when this returns.

    Args:
        again: whether the item came back to the person.

    Raises:
        InputError: there is no such plan, item or label, or an answer is damaged.
    """
    with _locked(folder):
        place = ReviewFolder.open(folder)
        record: dict[str, Any] = {"plan": place.plan.plan, "item": item, "reviewer": reviewer, "label": label}
        record |= {"comment": comment} if comment else {}
        record |= {} if seconds is None else {"seconds": seconds}
        if again:
            return _add_again(place, {**record, "at": now(), "batch": form, "again": True})
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


def _add_again(place: ReviewFolder, record: dict[str, Any]) -> bool:
    """Add the second label of an item that came back. Return whether it is new."""
    line = Review.from_json(record, "this label")
    check_review(line, place.plan, {own.item for own in place.plan.items}, "this label")
    if _is_sent(place, line) or line.item not in place.returning(line.reviewer):
        return False
    _append(place.path, [line])
    return True


def withdraw_vote(folder: Path, item: str, reviewer: str, form: str) -> bool:
    """Take back what a person said last of an item, by a further line. Return whether anything was said.

    Of an item that came back, the second label goes first.

    Raises:
        InputError: there is no such plan.
    """
    with _locked(folder):
        place = ReviewFolder.open(folder)
        second = place.again.get(item, {}).get(reviewer)
        before = second or place.in_force.get(item, {}).get(reviewer)
        if before is None:
            return False
        line = Review(
            plan=before.plan,
            item=item,
            reviewer=reviewer,
            label=None,
            at=now(),
            batch=form,
            **({"again": True} if second else {}),
        )
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
        if rater.same is not None and rater.same_ci is not None:
            share = f"{points(rater.same)} % {interval(rater.same_ci)}"
            said.append(f"{share} equal of {rater.again} that came back")
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
    if found.largest_share is not None and found.largest_share > MOST_OF_ONE:
        share = f"{found.largest_rater} gave {points(found.largest_share)} % of the {found.votes} votes"
        limit = points(MOST_OF_ONE)
        yield f"{share}: above {limit} % strengths are much of one person's taste, ask more people"
    if found.missing:
        yield f"no strengths: {found.missing}"
    if found.void:
        yield f"{found.void} reviews are void: their answers were drawn again"
