"""Reviews: what people say of stored samples, and the scores of verifiers and judges that they correct.

A plan (plan.json) says which samples are shown and what may be said of them. reviews.jsonl next to it has a
line for each answer, and none is ever changed. Both are in `RUN_DIR/reviews/NAME/`, never in a run folder,
whose verdicts are the machine's.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.corrected import (
    Agreement,
    Recall,
    ReviewedPair,
    ReviewedTask,
    problem_means,
)
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.agreement import cohens_kappa, krippendorffs_alpha
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

PLAN, REVIEWS = "plan.json", "reviews.jsonl"
Kind = Literal["rate", "references", "prefer"]
"""The types of questions, as plans name them. Each has a class in questions."""
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
    kind: Kind = Field(default="rate", description="the type of the question, see questions")
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


def agreement(first: Sequence[str], second: Sequence[str], *, seed: int) -> Agreement:
    """Return Cohen's kappa of two labels of each item."""
    found = cohens_kappa(first, second, seed=seed)
    return Agreement(kappa=found.value, ci=found.ci, n=found.n)


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
            raise InputError(f"{path}: has no {PLAN}; make one with: genbench label RUN --task TASK")
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

    @cached_property
    def people(self) -> Agreement:
        """How far the people agree: Cohen's kappa of two, Krippendorff's alpha of more."""
        several = [said for said in map(self.independent, self.in_force) if len(said) > 1]
        who = sorted({name for said in several for name in said})
        if not several:
            return Agreement(kappa=None, ci=None, n=0)
        if len(who) == 2:
            return agreement(*([said[name] for said in several] for name in who), seed=self.plan.seed)
        found = krippendorffs_alpha([list(said.values()) for said in several], seed=self.plan.seed)
        return Agreement(kappa=found.value, ci=found.ci, n=found.n)


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
        agreement=agreement(people, machine, seed=folder.plan.seed),
        people=folder.people,
        void=void,
        open=len(planned - scores.keys()),
    )


def labelled_pair(folder: ReviewFolder, base: Side, tuned: Side) -> ReviewedPair | None:
    """Return the difference of two runs with the labels of one plan, or None with fewer than five."""
    name = folder.plan.task
    sides = [_Labelled.of(side.tasks[name], folder.scores(side)[0]) for side in (base, tuned)]
    left, right = ({name: at for at, name in enumerate(side.problems)} for side in sides)
    both = [problem for problem in sides[0].problems if problem in right]
    if len(both) < _LEAST:
        return None
    kept = [
        side.take([rows[problem] for problem in both])
        for side, rows in zip(sides, (left, right), strict=True)
    ]
    means = [problem_means(side.tasks[name]) for side in (base, tuned)]
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
        means, chosen = problem_means(task), set(self.problems)
        rest = np.array([value for name, value in means.items() if name not in chosen])
        own = np.array([means[name] for name in self.problems]) if task.largest_k > 1 else None
        return corrected_mean(self.labels, self.judged, rest, own=own)


def _recalls(paired: _Labelled) -> tuple[Recall, Recall]:
    counts = rates_by_class([y >= 0.5 for y in paired.labels], [f >= 0.5 for f in paired.judged])
    return _recall(*counts[:2]), _recall(*counts[2:])


def _recall(hits: int, n: int) -> Recall:
    return Recall(share=hits / n if n else None, ci=wilson(hits / n, n) if n else None, n=n)
