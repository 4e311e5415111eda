"""Reviews: what people say of stored samples, and the scores of verifiers and judges that they correct.

A plan (plan.json) says which samples are shown and what may be said of them. reviews.jsonl next to it has a
line for each answer, and none is ever changed. Both are in `RUN_DIR/reviews/NAME/`, never in a run folder,
whose verdicts are the machine's.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.results.record import Results
from genbench.analysis.sides.loading import side_of
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import GenbenchError, InputError
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.agreement import Kappa, cohens_kappa
from genbench.stats.intervals import wilson
from genbench.stats.labels import (
    Corrected,
    ErrorRates,
    corrected_mean,
    fisher_exact,
    rates_by_class,
    tipping_point,
)
from genbench.stats.scores import Floats
from genbench.store.json_files import read_lines
from genbench.store.stored_run import StoredRun

PLAN, REVIEWS, FOLDER = "plan.json", "reviews.jsonl", "reviews"
_LEAST = 5
"""Labels without which there is no interval."""


class ReviewedRun(JsonRecord):
    """A run whose samples are shown."""

    path: str = Field(description="its run folder when the plan was made")
    uid: str = Field(description="UUID of the run")
    model: str = Field(description="name of its model, which reviewers do not see")


class ReviewItem(JsonRecord):
    """A sample that is shown to people."""

    item: str = Field(description="name of the item, which tells nothing of the model")
    run: Count = Field(description="index of its run")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="index of the sample from 0")
    text: str = Field(description="digest of its completions; one that was drawn again loses its reviews")
    against: Count | None = Field(
        default=None, description="index of the run of answer B, if A is compared with it; absent otherwise"
    )
    against_text: str | None = Field(default=None, description="digest of B's completions; absent without B")
    raters: Count = Field(default=1, description="people who label it; absent if it is one")


class ReviewRubric(JsonRecord):
    """What people rate by, as the judge file says it that the plan was made with."""

    judge: str = Field(description="name of the judge")
    form: str = Field(description="its form, such as label or rubric")
    prompt_digest: str = Field(description="digest of its prompt")
    words: str = Field(description="its prompt, with names in brackets instead of question and answer")
    meanings: dict[str, str] = Field(description="meaning of each label, or of each dimension of a rubric")
    dimension: str | None = Field(description="the dimension whose points are the labels; null if not one")
    points: Count | None = Field(description="highest score of a dimension; null without dimensions")
    has_checklist: bool = Field(description="whether each item's reference is a list of questions")


class ReviewPlan(JsonRecord):
    """Samples to review: a random part of a task, and what may be said of each."""

    format: Literal[1] = Field(description="version of this record")
    plan: str = Field(description="digest of the plan, which each review names")
    kind: Literal["rate", "references", "prefer"] = Field(
        default="rate",
        description="rate: answers chosen at random; references: keys that look wrong; prefer: two answers, "
        "of which the better one is chosen",
    )
    task: str = Field(description="the task")
    seed: Count = Field(description="which problems are chosen, and their order")
    labels: dict[str, Share] = Field(description="the answers that may be given, with the score of each")
    adjudicator: str | None = Field(
        default=None, description="who settles labels that differ; absent if any third person does"
    )
    rubric: ReviewRubric | None = Field(
        default=None, description="what people rate by; absent without a judge file"
    )
    returning: Share = Field(
        default=0.0,
        description="share of a person's items that come back once to the same person; absent if none do",
    )
    same: Count = Field(
        default=0, description="problems left out because both answers are equal; absent if answers are rated"
    )
    n: Count = Field(description="problems that are reviewed")
    of: Count = Field(description="problems of the task")
    runs: tuple[ReviewedRun, ...] = Field(description="one run, base and tuned, or those of an arena")
    items: tuple[ReviewItem, ...] = Field(description="in the order in which they are shown")


class Review(JsonRecord):
    """One answer of one person: a line of reviews.jsonl. The last line of a person on an item counts."""

    plan: str = Field(description="digest of the plan")
    item: str = Field(description="the item")
    reviewer: str = Field(min_length=1, max_length=60, description="name or pseudonym of the person")
    label: str | None = Field(description="what was said; null withdraws what was said before")
    comment: str = Field(default="", max_length=4000, description="why; absent without a comment")
    seconds: float | None = Field(default=None, ge=0, description="time that the item was on the screen")
    at: str = Field(description="local time with offset")
    batch: str = Field(
        description="the import or the form that added the line, which counts once and can be undone"
    )
    final: bool = Field(
        default=False, description="whether it settles labels that differ; absent if it does not"
    )
    again: bool = Field(
        default=False,
        description="whether the item came back to the person: it shows drift and changes no score; absent "
        "if it did not",
    )


class Recall(JsonRecord):
    """How often the machine agrees on answers that people call right, or wrong."""

    share: Share | None = Field(description="share of them; null without any")
    ci: Interval | None = Field(description="95% interval (Wilson)")
    n: Count = Field(description="such answers")


class Agreement(JsonRecord):
    """Cohen's kappa with its interval."""

    kappa: float | None = Field(description="null if both use one label throughout, or without pairs")
    ci: tuple[float, float] | None = Field(description="95% interval")
    n: Count = Field(description="pairs of ratings")


class ReviewedTask(JsonRecord):
    """A task whose score people corrected."""

    plan: str = Field(description="folder of the plan")
    n: Count = Field(description="problems with a label")
    reviewers: tuple[str, ...] = Field(description="who labelled")
    value: Share = Field(description="mean score by labels, and the machine's scores of all other problems")
    ci: Interval = Field(description="95% interval of `value`")
    labels: Share = Field(description="mean of the labels alone")
    labels_ci: Interval = Field(description="its 95% interval")
    machine: Share = Field(description="the machine's own mean score")
    weight: Share = Field(description="how much of the machine's scores is believed; 0: the labels alone")
    right: Recall = Field(description="on answers that people call right")
    wrong: Recall = Field(description="on answers that people call wrong")
    agreement: Agreement = Field(description="of people and machine")
    people: Agreement = Field(description="of the people among themselves, on items that several labelled")
    void: Count = Field(description="reviews of answers that were drawn again since")
    open: Count = Field(description="planned problems that nobody has labelled yet")


class ReviewedPair(JsonRecord):
    """The difference of two runs, corrected by labels of both."""

    n: Count = Field(description="problems of which both answers have a label")
    difference: SignedShare = Field(description="tuned minus base, corrected")
    ci: DifferenceInterval = Field(description="95% interval")
    p: Share = Field(description="two-sided p value of no difference")
    labels: SignedShare = Field(description="difference of the labels alone")
    labels_ci: DifferenceInterval = Field(description="its 95% interval")
    machine: SignedShare = Field(description="difference of the machine's scores")
    p_right: Share | None = Field(
        description="p value of equal errors on right answers (Fisher); null without"
    )
    p_wrong: Share | None = Field(description="the same on wrong answers; null without any")
    tipping: float | None = Field(
        description="how much more lenient to one side the machine must be to explain the difference "
        "by itself; null if nothing does"
    )

    @property
    def is_unequal(self) -> bool:
        """Whether the machine errs differently on the two sides."""
        return any(p is not None and p <= 0.05 for p in (self.p_right, self.p_wrong))

    @property
    def words(self) -> str:
        """The corrected difference in a line, in points of 100."""
        said = (
            f"corrected by labels of {self.n} problems: {100 * self.difference:+.1f} "
            f"[{100 * self.ci[0]:+.1f}, {100 * self.ci[1]:+.1f}], judge alone {100 * self.machine:+.1f}"
        )
        if not self.is_unequal:
            return said
        said += "; the judge errs differently on the two sides"
        if self.tipping is None:
            return said
        return f"{said}, and {100 * self.tipping:.1f} points more lenience to one explain what it sees"


def plan_digest(record: Mapping[str, object]) -> str:
    """Return the digest of a plan's content, without the digest itself."""
    own = {key: value for key, value in record.items() if key != "plan"}
    return hashlib.sha256(repr(sorted(own.items())).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class ReviewFolder:
    """A folder with a plan and its reviews.

    Args:
        path: the folder.
        plan: its plan.
        lines: all lines of reviews.jsonl in their order.
    """

    path: Path
    plan: ReviewPlan
    lines: tuple[Review, ...]

    @classmethod
    def open(cls, path: Path) -> ReviewFolder:
        """Read a folder.

        Raises:
            InputError: there is no plan, or a line is damaged or names an item or label that the plan lacks.
        """
        file = path / PLAN
        if not file.is_file():
            raise InputError(f"{path}: has no {PLAN}; make one with: genbench review plan RUN --task TASK")
        try:
            plan = ReviewPlan.from_json(json.loads(file.read_text(encoding="utf-8")), str(file))
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: cannot be read: {error}") from error
        items = {item.item for item in plan.items}
        found = list[Review]()
        for number, (_, record) in enumerate(read_lines(path / REVIEWS), start=1):
            where = f"{path / REVIEWS}:{number}"
            line = Review.from_json(record, where)
            check_review(line, plan, items, where)
            found.append(line)
        return cls(path, plan, tuple(found))

    @cached_property
    def in_force(self) -> dict[str, dict[str, Review]]:
        """What each person says of each item: item -> reviewer -> review."""
        return self._last(is_again=False)

    @cached_property
    def again(self) -> dict[str, dict[str, Review]]:
        """What each person says of the items that came back to them: item -> reviewer -> review."""
        return self._last(is_again=True)

    def _last(self, *, is_again: bool) -> dict[str, dict[str, Review]]:
        found: dict[str, dict[str, Review]] = defaultdict(dict)
        for line in self.lines:
            if line.again == is_again:
                found[line.item].pop(line.reviewer, None)
                if line.label is not None:
                    found[line.item][line.reviewer] = line
        return found

    def scores(self, side: Side) -> tuple[dict[str, tuple[int, float]], int]:
        """Return the people's score of one sample of each labelled problem, and how many reviews are void.

        Returns:
            problem -> (sample index, mean score of its reviewers).
        """
        task = side.tasks.get(self.plan.task)
        uid = side.manifest.run_uid if side.manifest else None
        found: dict[str, tuple[int, float]] = {}
        void = 0
        for item in self.plan.items:
            said = self.in_force.get(item.item)
            if task is None or task.index is None or not said or self.plan.runs[item.run].uid != uid:
                continue
            now = task.index.texts.get((item.problem_id, item.sample_index))
            if now is None or f"{now:016x}" != item.text:
                void += len(said)
                continue
            scores = [self.plan.labels[label] for label in self.labels_of(item.item)]
            found[item.problem_id] = (item.sample_index, float(np.mean(scores)))
        return found, void

    def rulings(self) -> dict[str, str]:
        """Return what most people say of each problem's reference. Equal votes for several are ambiguous."""
        problems = {item.item: item.problem_id for item in self.plan.items}
        found: dict[str, str] = {}
        for item in self.in_force:
            votes = Counter(self.labels_of(item)).most_common(2)
            if votes:
                tied = len(votes) > 1 and votes[0][1] == votes[1][1]
                found[problems[item]] = "ambiguous" if tied else votes[0][0]
        return found

    def labels_of(self, item: str) -> list[str]:
        """Return the labels that count of an item: the final one, or those of all its reviewers."""
        said = list(self.in_force.get(item, {}).values())
        final = [str(review.label) for review in said if review.final]
        return final[-1:] or [str(review.label) for review in said]

    def independent(self, item: str) -> dict[str, str]:
        """Return what each person said of an item by themselves: reviewer -> label, without final ones."""
        said = self.in_force.get(item, {})
        return {who: str(review.label) for who, review in sorted(said.items()) if not review.final}

    @cached_property
    def disputed(self) -> tuple[str, ...]:
        """The items whose reviewers differ and that nobody has settled, in the order of the plan."""
        found = list[str]()
        for item in self.plan.items:
            is_settled = any(review.final for review in self.in_force.get(item.item, {}).values())
            if not is_settled and len(set(self.independent(item.item).values())) > 1:
                found.append(item.item)
        return tuple(found)

    def may_settle(self, item: str, reviewer: str) -> bool:
        """Return whether a label of this person would settle an item."""
        chosen = self.plan.adjudicator in (None, reviewer)
        return chosen and item in self.disputed and reviewer not in self.independent(item)

    def waiting(self, reviewer: str) -> list[str]:
        """Return the items that wait for this person: first those with too few labels, then disputed ones.

        The order is the person's own, so that people who work at the same time seldom see one item.
        """
        own = list[tuple[int, str, str]]()
        for item in self.plan.items:
            said, name = self.in_force.get(item.item, {}), item.item
            if reviewer in said:
                continue
            order = review_order(reviewer, name)
            if self.may_settle(name, reviewer):
                own.append((1, order, name))
            elif reviewer != self.plan.adjudicator and len(said) < item.raters:
                own.append((0, order, name))
        return [name for _, _, name in sorted(own)]

    def returning(self, reviewer: str) -> list[str]:
        """Return the items that come back to this person, in their own order. Each comes back once.

        They come after everything else, so that some time has passed.
        """
        if not self.plan.returning or self.waiting(reviewer):
            return []
        due = [
            item
            for item, said in self.in_force.items()
            if reviewer in said and not said[reviewer].final and reviewer not in self.again.get(item, {})
        ]
        share = self.plan.returning * 0x1_0000_0000
        chosen = [item for item in due if int(review_order(f"again {reviewer}", item)[:8], 16) < share]
        return sorted(chosen, key=lambda item: review_order(reviewer, item))

    def last_item(self, reviewer: str) -> str | None:
        """Return the item that this person labelled last, of those whose label is in force."""
        every = [*self.in_force.values(), *self.again.values()]
        mine = {id(said[reviewer]) for said in every if reviewer in said}
        return next((line.item for line in reversed(self.lines) if id(line) in mine), None)

    def people(self) -> Agreement:
        """Return the agreement of each two people on the items that both labelled."""
        first, second = list[str](), list[str]()
        for said in map(self.independent, self.in_force):
            for left, right in combinations(sorted(said), 2):
                first.append(said[left])
                second.append(said[right])
        return _agreement(first, second)


def review_order(reviewer: str, item: str) -> str:
    """Return what a person's items are sorted by."""
    return hashlib.sha256(f"{reviewer}\0{item}".encode("utf-8", "surrogatepass")).hexdigest()


def check_review(line: Review, plan: ReviewPlan, items: set[str] | frozenset[str], where: str) -> None:
    """Check that a review is of this plan.

    Raises:
        InputError: it is of another plan, or has an item or label that the plan lacks.
    """
    if line.plan != plan.plan:
        raise InputError(
            f"{where}: 'plan' is {line.plan[:40]!r}, wanted {plan.plan!r}: it is of another plan"
        )
    if line.item not in items:
        raise InputError(f"{where}: the plan has no item {line.item[:40]!r}")
    if line.label is not None and line.label not in plan.labels:
        raise InputError(f"{where}: 'label' is {line.label[:40]!r}, wanted one of {', '.join(plan.labels)}")


def review_folders(run: Path) -> Iterator[ReviewFolder]:
    """Yield the folders of reviews next to a run. Those that cannot be read are told by `damaged_reviews`."""
    for path in _places(run):
        with suppress(GenbenchError):
            yield ReviewFolder.open(path)


def damaged_reviews(run: Path) -> list[str]:
    """Return why folders of reviews next to a run cannot be read, a line each."""
    found = list[str]()
    for path in _places(run):
        try:
            ReviewFolder.open(path)
        except GenbenchError as error:
            found.append(f"reviews are left out: {error}")
    return found


def _places(run: Path) -> list[Path]:
    place = run.resolve().parent / FOLDER
    return [path for path in sorted(place.iterdir()) if (path / PLAN).is_file()] if place.is_dir() else []


def reviewed_tasks(side: Side) -> dict[str, ReviewedTask]:
    """Return the tasks of a run that people labelled, each by the plan with most labels."""
    found: dict[str, ReviewedTask] = {}
    for folder in review_folders(side.path):
        name = folder.plan.task
        if name in side.tasks and folder.plan.kind == "rate":
            own = reviewed_task(folder, side)
            if own is not None and (name not in found or found[name].n < own.n):
                found[name] = own
    return found


def reviewed_run(run: StoredRun, results: Results | None) -> dict[str, ReviewedTask]:
    """Return the same of a stored run. Only tasks that people labelled are read."""
    names = {folder.plan.task for folder in review_folders(run.path) if folder.plan.kind == "rate"}
    names &= run.manifest.tasks.keys()
    return reviewed_tasks(side_of(run, results, sorted(names))) if names else {}


def reviewed_task(folder: ReviewFolder, side: Side) -> ReviewedTask | None:
    """Return a task's score with the labels of one plan, or None with fewer than five."""
    task = side.tasks[folder.plan.task]
    scores, void = folder.scores(side)
    paired = _Labelled.of(task, scores)
    if len(paired.labels) < _LEAST:
        return None
    corrected = paired.corrected(task)
    right, wrong = _recalls(paired)
    machine = ["right" if score >= 0.5 else "wrong" for score in paired.judged]
    people = ["right" if score >= 0.5 else "wrong" for score in paired.labels]
    planned = {item.problem_id for item in folder.plan.items}
    return ReviewedTask(
        plan=str(folder.path),
        n=corrected.n,
        reviewers=tuple(sorted({who for said in folder.in_force.values() for who in said})),
        value=corrected.value,
        ci=corrected.ci,
        labels=corrected.labels,
        labels_ci=corrected.labels_ci,
        machine=corrected.judge,
        weight=corrected.weight,
        right=right,
        wrong=wrong,
        agreement=_agreement(people, machine),
        people=folder.people(),
        void=void,
        open=len(planned - scores.keys()),
    )


def reviewed_pair(base: Side, tuned: Side, name: str) -> ReviewedPair | None:
    """Return the difference of two runs of a task with the labels of both, or None with fewer than five."""
    best: tuple[int, ReviewedPair] | None = None
    for place in dict.fromkeys((tuned.path, base.path)):
        for folder in review_folders(place):
            if (
                folder.plan.task == name
                and folder.plan.kind == "rate"
                and (found := _pair(folder, base, tuned, name))
            ):
                best = max((found.n, found), best or (0, found), key=lambda item: item[0])
    return None if best is None else best[1]


def _pair(folder: ReviewFolder, base: Side, tuned: Side, name: str) -> ReviewedPair | None:
    sides = [_Labelled.of(side.tasks[name], folder.scores(side)[0]) for side in (base, tuned)]
    left, right = ({name: at for at, name in enumerate(side.problems)} for side in sides)
    both = [problem for problem in sides[0].problems if problem in right]
    if len(both) < _LEAST:
        return None
    kept = [
        side.take([rows[problem] for problem in both])
        for side, rows in zip(sides, (left, right), strict=True)
    ]
    means = [_means(side.tasks[name]) for side in (base, tuned)]
    others = [problem for problem in means[0] if problem in means[1] and problem not in set(both)]
    rest = np.array([means[1][problem] - means[0][problem] for problem in others])
    own = np.array([means[1][problem] - means[0][problem] for problem in both])
    several = max(side.tasks[name].largest_k for side in (base, tuned)) > 1
    found = corrected_mean(
        kept[1].labels - kept[0].labels,
        kept[1].judged - kept[0].judged,
        rest,
        own=own if several else None,
        bounds=(-1.0, 1.0),
    )
    counts = [
        rates_by_class([y >= 0.5 for y in side.labels], [f >= 0.5 for f in side.judged]) for side in kept
    ]
    shares = [float(np.mean(list(own.values()))) for own in means]
    tipping = tipping_point(shares[0], shares[1], _rates(counts))
    return ReviewedPair(
        n=found.n,
        difference=found.value,
        ci=found.ci,
        p=found.p,
        labels=found.labels,
        labels_ci=found.labels_ci,
        machine=shares[1] - shares[0],
        p_right=_equal(counts[0][:2], counts[1][:2]),
        p_wrong=_equal(counts[0][2:], counts[1][2:]),
        tipping=tipping if np.isfinite(tipping) else None,
    )


def unexplained(base: SideTask, tuned: SideTask) -> float | None:
    """Return the lenience of a judge, right on all else, that explains a difference without labels."""
    means = [_means(task) for task in (base, tuned)]
    if not all(means):
        return None
    low, high = (float(np.mean(list(own.values()))) for own in means)
    found = tipping_point(low, high)
    return found if np.isfinite(found) and high != low else None


def _equal(first: tuple[int, int], second: tuple[int, int]) -> float | None:
    return fisher_exact(first, second) if first[1] and second[1] else None


def _rates(counts: Sequence[tuple[int, int, int, int]]) -> ErrorRates | None:
    """Return the pooled error rates, one success and one failure added. None: the judge does not know."""
    q1, m1, q0, m0 = (sum(column) for column in zip(*counts, strict=True))
    rates = ErrorRates((q1 + 1) / (m1 + 2), m1 + 2, (q0 + 1) / (m0 + 2), m0 + 2)
    return rates if rates.skill >= 0.2 else None


@dataclass(frozen=True, slots=True)
class _Labelled:
    """The labelled problems (n,) of a side, with the people's and the machine's score of a sample."""

    problems: tuple[str, ...]
    labels: Floats
    judged: Floats

    @classmethod
    def of(cls, task: SideTask, scores: Mapping[str, tuple[int, float]]) -> _Labelled:
        rows = {name: at for at, name in enumerate(task.problem_ids)}
        kept = list[tuple[str, float, float]]()
        for problem, (index, label) in scores.items():
            own = task.scores[rows[problem]] if problem in rows else ()
            judged = own[index] if index < len(own) else None
            if judged is not None:
                kept.append((problem, label, judged))
        columns = ([item[0] for item in kept], [item[1] for item in kept], [item[2] for item in kept])
        return cls(tuple(columns[0]), np.array(columns[1]), np.array(columns[2]))

    def take(self, rows: Sequence[int]) -> _Labelled:
        return _Labelled(tuple(self.problems[row] for row in rows), self.labels[rows], self.judged[rows])

    def corrected(self, task: SideTask) -> Corrected:
        means, chosen = _means(task), set(self.problems)
        rest = np.array([value for name, value in means.items() if name not in chosen])
        own = np.array([means[name] for name in self.problems]) if task.largest_k > 1 else None
        return corrected_mean(self.labels, self.judged, rest, own=own)


def _means(task: SideTask) -> dict[str, float]:
    """Return the mean score of each problem that has any."""
    rows = zip(task.problem_ids, task.scores, strict=True)
    scored = ((name, [score for score in row if score is not None]) for name, row in rows)
    return {name: float(np.mean(row)) for name, row in scored if row}


def _recalls(paired: _Labelled) -> tuple[Recall, Recall]:
    counts = rates_by_class([y >= 0.5 for y in paired.labels], [f >= 0.5 for f in paired.judged])
    return _recall(*counts[:2]), _recall(*counts[2:])


def _recall(hits: int, n: int) -> Recall:
    return Recall(share=hits / n if n else None, ci=wilson(hits / n, n) if n else None, n=n)


def _agreement(first: Sequence[str], second: Sequence[str]) -> Agreement:
    found = cohens_kappa(first, second) if first else Kappa(None, None, None, 0.0, 0)
    return Agreement(kappa=found.value, ci=found.ci, n=found.n)
