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

from genbench.analysis.corrected import ReviewedPair, ReviewedTask
from genbench.errors import InputError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.reports.numbers import interval, kappa_words, points
from genbench.review.questions import QUESTIONS, question_of
from genbench.review.raters import Preferences, Raters, raters_of
from genbench.review.reviews import REVIEWS, Review, ReviewFolder, check_review
from genbench.review.scores import StoredReviews
from genbench.store.continuation import now
from genbench.store.json_files import Appender, read_lines, unwritable


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
    question_of(place.plan).labelled(place.path)
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
        question_of(place.plan).labelled(place.path)
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
        question_of(place.plan).labelled(place.path)
    return True


def _is_sent(place: ReviewFolder, line: Review) -> bool:
    """Return whether a form was stored before: the same person, item and form."""
    key = (line.item, line.reviewer, line.batch)
    return any((own.item, own.reviewer, own.batch) == key for own in place.lines)


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
    said = question_of(place.plan).summary(place, StoredReviews())
    fields: dict[str, Any] = {"runs": {}, "pair": None, **said}
    return ReviewSummary(
        format=1, folder=str(folder), task=place.plan.task, people=raters_of(place), **fields
    )


def review_text(record: ReviewSummary) -> str:
    """Return a summary for the terminal."""
    return "\n".join(_lines(record))


def _lines(record: ReviewSummary) -> Iterator[str]:
    yield f"{record.task}, reviews in {record.folder}"
    said = [line for question in QUESTIONS.values() for line in question.lines(record)]
    yield from said or [
        "nothing yet: a score needs five labelled problems; add answers with: genbench review add"
    ]
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
        yield f"{both}, kappa {kappa_words(pair.kappa, pair.ci)}"
    if found.alpha is not None:
        yield f"all of them: alpha {kappa_words(found.alpha.kappa, found.alpha.ci)}, {found.alpha.n} items"
    if found.left is not None and found.left_ci is not None:
        yield f"A was chosen in {points(found.left)} % {interval(found.left_ci)} of the choices"
        if not found.left_ci[0] <= 0.5 <= found.left_ci[1]:
            yield "the side on which an answer is shown decides: coins make it 50 %"
    if found.disputed or found.settled:
        waiting = f"{found.disputed} items have labels that differ and wait for a third person"
        yield f"{waiting}, {found.settled} are settled"
