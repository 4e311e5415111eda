"""The types of questions that people are asked. A type is one class, and a line of QUESTIONS."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from genbench.analysis.corrected import Reviews
from genbench.analysis.quality import quality
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.reports.figures import agreement_words, reviewed_words
from genbench.reports.numbers import interval, points
from genbench.review.draft import Draft, PlanOptions, hashed, judge_labels, judge_rubric
from genbench.review.items import ShownItem
from genbench.review.raters import MOST_OF_ONE, Preferences, preferences_of
from genbench.review.reviews import Kind, ReviewFolder, ReviewItem, ReviewPlan, reviewed_task
from genbench.store.json_files import encode, replace

if TYPE_CHECKING:
    from genbench.review.plan import Planned
    from genbench.review.summary import ReviewSummary

RULINGS = "rulings.jsonl"
_MOST_LABELS = 10
"""Each label has a key: 1 to 9, and 0 for the tenth."""


class Question(ABC):
    """A type of question: what is asked, of which answers, and what the labels of people become."""

    kind: ClassVar[Kind]
    """What plans call it."""
    listed: ClassVar[str]
    """What the list of plans calls the items."""
    suffix: ClassVar[str] = ""
    """The end of the name of a plan's folder, after the task."""
    labels: ClassVar[Mapping[str, float]]
    """What may be said, with the score of each, unless the user or a judge says it. Their keys are in order:
    1 to 9, and 0."""
    takes_labels: ClassVar[bool] = True
    """Whether the user may give other labels."""
    names: ClassVar[tuple[str, ...]] = ()
    """The names of answers that are shown side by side. Empty: an item has one answer, without a name."""
    corrects_scores: ClassVar[bool] = False
    """Whether the labels correct the scores of the machine."""

    def asked(self, runs: int, options: PlanOptions) -> dict[str, Any]:
        """Return the fields of a plan that say what people are asked. No run is read for it.

        Raises:
            InputError: an option is wrong, or does not fit this question.
            ConfigError: there is no such judge.
        """
        self.check_runs(runs)
        for what, share in (("twice", options.twice), ("returning", options.returning)):
            if not 0 <= share <= 1:
                raise InputError(f"{what} {share:g}: wanted a share from 0 to 1")
        if options.n < 5:
            raise InputError(f"n {options.n}: wanted 5 problems or more")
        labels = dict(options.labels) if options.labels else None
        facts: dict[str, Any] = {}
        if options.judge is not None:
            file, facts["rubric"] = judge_rubric(options.judge, Path())
            instead = self.instead(file.form)
            if instead is not None:
                what = f"judge '{file.name}' has the form {file.form}"
                raise InputError(f"{what}: {instead}, or name another judge")
            labels = labels or judge_labels(file)
        labels = labels or dict(self.labels)
        _check_labels(labels)
        facts |= {"returning": options.returning} if options.returning else {}
        facts |= {} if options.adjudicator is None else {"adjudicator": options.adjudicator}
        return {"labels": labels, **facts}

    def check_runs(self, runs: int) -> None:  # noqa: B027 - any number, unless a question says less
        """Check the number of runs.

        Raises:
            InputError: this question needs another number.
        """

    def instead(self, form: str) -> str | None:
        """Return what to do instead if people cannot rate by a judge of this form. None: they can."""
        return None

    @abstractmethod
    def plan(self, draft: Draft) -> ReviewPlan:
        """Return a plan with the items that are chosen.

        Raises:
            InputError: nothing can be asked of these runs.
        """

    def planned_words(self, record: Planned) -> str:
        """Return what the command line says of a plan that was written."""
        lines = [
            f"{record.items} answers to {record.n} of {record.of} problems: {record.page}",
            f"these labels alone give ±{points(record.half_width)} points, with a judge that follows them "
            f"well (correlation 0.8) ±{points(record.half_width_judge)}",
            f"then: genbench review add {record.folder} answers.jsonl",
        ]
        return "\n".join(lines)

    def shown(self, answers: Sequence[Sequence[str]]) -> list[str]:
        """Return the texts that the page shows one below the other, of the turns of each answer."""
        return [turn for turns in answers for turn in turns]

    def labelled(self, folder: Path) -> None:  # noqa: B027 - usually nothing
        """Write next to a plan what follows from labels that were just added or withdrawn."""

    @abstractmethod
    def summary(self, place: ReviewFolder, stored: Reviews) -> dict[str, Any]:
        """Return the fields of a summary that say what the labels of a plan tell.

        Args:
            stored: what reads the reviews next to the runs.

        Raises:
            InputError: a run is gone.
        """

    @abstractmethod
    def lines(self, record: ReviewSummary) -> Iterator[str]:
        """Yield these fields for the terminal and the page. Nothing if the summary is of another type."""

    def exported(self, item: ShownItem) -> dict[str, str]:
        """Return the texts of an item for other tools."""
        answer = "\n\n".join(item.answers[0])
        return {"question": item.question, "answer": answer, "reference": item.reference}

    def judged(self, line: Mapping[str, Any], plan: ReviewPlan) -> dict[str, Any]:
        """Return the label and the reference of a line as a calibration set has them, if those differ."""
        found: dict[str, Any] = {}
        rubric = plan.rubric
        if rubric is not None and rubric.dimension is not None and line["label"].isdecimal():
            found["label"] = {rubric.dimension: int(line["label"])}
        if rubric is not None and rubric.has_checklist:
            with suppress(ValueError):
                found["reference"] = json.loads(line["reference"])
        return found


class Rate(Question):
    """Rate answers that are chosen at random, of one run, or of base and tuned to the same problems."""

    kind = "rate"
    listed = "answers"
    labels: ClassVar[Mapping[str, float]] = {"right": 1.0, "wrong": 0.0}
    corrects_scores = True

    def check_runs(self, runs: int) -> None:
        if not 1 <= runs <= 2:
            raise InputError(f"{runs} runs: wanted one, or base and tuned")

    def instead(self, form: str) -> str | None:
        return "make pairs with genbench arena" if form == "pairwise" else None

    def plan(self, draft: Draft) -> ReviewPlan:
        """Return a plan with one answer of each run to each chosen problem."""
        draft.require_texts()
        shared = draft.problems()
        chosen = shared[: draft.options.n]
        every = (_rated(draft, run, name) for run in range(len(draft.sides)) for name in chosen)
        return draft.plan([item for item in every if item], n=len(chosen), of=len(shared))

    def summary(self, place: ReviewFolder, stored: Reviews) -> dict[str, Any]:
        """Return the corrected scores and their difference."""
        sides = _opened(place)
        found = {str(side.path): reviewed_task(place, side) for side in sides}
        return {
            "runs": {name: task for name, task in found.items() if task is not None},
            "pair": stored.pair(sides[0], sides[1], place.plan.task) if len(sides) == 2 else None,
        }

    def lines(self, record: ReviewSummary) -> Iterator[str]:
        for run, task in record.runs.items():
            yield f"{run}: {reviewed_words(task)}"
            for line in agreement_words(task):
                yield f"  {line}"


def _rated(draft: Draft, run: int, problem_id: str) -> ReviewItem | None:
    """Return the item of a run's answer to a problem, None if the sample was not drawn."""
    sample = draft.sample(problem_id)
    text = draft.text(run, problem_id, sample)
    if text is None:
        return None
    name = draft.name(run, draft.sides[run].run_id, problem_id, sample)
    return ReviewItem(
        item=name, run=run, problem_id=problem_id, sample_index=sample, text=text, **draft.raters(name)
    )


class Rule(Question):
    """Rule on references that look wrong, see `genbench quality`."""

    kind = "references"
    listed = "references"
    suffix = "-references"
    labels: ClassVar[Mapping[str, float]] = {"right": 1.0, "wrong": 0.0, "ambiguous": 0.0}
    takes_labels = False

    def asked(self, runs: int, options: PlanOptions) -> dict[str, Any]:
        """Return the labels: the same is asked of every reference, whatever the options are."""
        return {"labels": dict(self.labels)}

    def plan(self, draft: Draft) -> ReviewPlan:
        """Return a plan with an answer that contradicts each doubtful reference."""
        keys = quality(draft.runs, [draft.task]).tasks[draft.task].suspicious
        if not keys:
            raise InputError(f"task {draft.task}: no reference looks wrong in these runs")
        items = list[ReviewItem]()
        for key in keys:
            run = next(run for run, side in enumerate(draft.sides) if str(side.path) in key.runs)
            sample = _saying(draft.sides[run].tasks[draft.task], key.problem_id, key.answer)
            text = None if sample is None else draft.text(run, key.problem_id, sample)
            if sample is None or text is None:
                continue
            name = hashed(draft.task, key.problem_id, "reference")[:12]
            items.append(
                ReviewItem(item=name, run=run, problem_id=key.problem_id, sample_index=sample, text=text)
            )
        of = len(draft.sides[0].tasks[draft.task].problem_ids)
        return draft.plan(items, kind=self.kind, seed=0, n=len(items), of=of)

    def planned_words(self, record: Planned) -> str:
        return (
            f"{record.n} references of {record.of} problems look wrong: {record.page}\n"
            f"then: genbench review add {record.folder} answers.jsonl"
        )

    def labelled(self, folder: Path) -> None:
        """Write rulings.jsonl, which a suite names as `rulings`."""
        rulings = _rulings(ReviewFolder.open(folder))
        lines = [{"problem_id": name, "ruling": said} for name, said in sorted(rulings.items())]
        replace(folder / RULINGS, b"".join(encode(line) for line in lines))

    def summary(self, place: ReviewFolder, stored: Reviews) -> dict[str, Any]:
        """Return the rulings. No run is read."""
        return {"rulings": _rulings(place)}

    def lines(self, record: ReviewSummary) -> Iterator[str]:
        for problem, ruling in record.rulings.items():
            yield f"  the reference of {problem} is {ruling}"
        if record.rulings:
            yield f"scores with and without them: rulings: {record.folder}/{RULINGS} at the task in the suite"


def _saying(task: SideTask, problem_id: str, answer: str) -> int | None:
    """Return the first sample of a problem with this answer."""
    row = task.problem_ids.index(problem_id)
    answers = task.answers[row] if task.answers is not None else ()
    said = (index for index, own in enumerate(answers) if own and " ".join(own.split())[:200] == answer)
    return next(said, None)


def _rulings(place: ReviewFolder) -> dict[str, str]:
    """Return what most people say of each problem's reference. Equal votes for several are ambiguous."""
    problems = {item.item: item.problem_id for item in place.plan.items}
    found: dict[str, str] = {}
    for item in place.in_force:
        votes = Counter(place.labels_of(item)).most_common(2)
        if votes:
            tied = len(votes) > 1 and votes[0][1] == votes[1][1]
            found[problems[item]] = "ambiguous" if tied else votes[0][0]
    return found


class Prefer(Question):
    """Choose the better of two answers to a problem, of two runs or more."""

    kind = "prefer"
    listed = "pairs"
    suffix = "-pairs"
    labels: ClassVar[Mapping[str, float]] = {
        "A much better": 1.0,
        "A better": 0.75,
        "tie": 0.5,
        "B better": 0.25,
        "B much better": 0.0,
    }
    """The score is that of A."""
    names = ("A", "B")

    def check_runs(self, runs: int) -> None:
        if runs < 2:
            raise InputError("one run: wanted two or more, whose answers are compared")

    def instead(self, form: str) -> str | None:
        return None if form == "pairwise" else "rate answers with genbench label"

    def plan(self, draft: Draft) -> ReviewPlan:
        """Return a plan of pairs: of each problem two runs, and which of them is A, are chosen by hashes."""
        draft.require_texts()
        shared = draft.problems()
        items, same = list[ReviewItem](), 0
        for name in shared:
            if len(items) == draft.options.n:
                break
            item = _pair(draft, name)
            if item is None:
                continue
            if item.text == item.against_text:
                same += 1
                continue
            items.append(item)
        if not items:
            raise InputError(f"task {draft.task}: no two answers of these runs differ")
        return draft.plan(items, n=len(items), of=len(shared), kind=self.kind, same=same)

    def shown(self, answers: Sequence[Sequence[str]]) -> list[str]:
        """Return one text for each answer."""
        return ["\n\n".join(turns) for turns in answers]

    def summary(self, place: ReviewFolder, stored: Reviews) -> dict[str, Any]:
        """Return the strengths of the models."""
        return {"preferences": preferences_of(place, _opened(place))}

    def lines(self, record: ReviewSummary) -> Iterator[str]:
        if record.preferences is not None:
            yield from _strengths(record.preferences)

    def exported(self, item: ShownItem) -> dict[str, str]:
        """Return A as the answer and B as the reference."""
        texts = super().exported(item)
        return {**texts, "reference": "\n\n".join(item.answers[1])}

    def judged(self, line: Mapping[str, Any], plan: ReviewPlan) -> dict[str, Any]:
        """Return WIN, TIE or LOSS of A as the label."""
        score = plan.labels[line["label"]]
        label = "WIN" if score > 0.5 else "LOSS" if score < 0.5 else "TIE"
        return {**super().judged(line, plan), "label": label}


def _pair(draft: Draft, problem_id: str) -> ReviewItem | None:
    """Return the item of two answers to a problem, None if one of them was not drawn."""
    both = list(combinations(range(len(draft.sides)), 2))
    sample = draft.sample(problem_id)
    first, second = both[draft.hash(problem_id, "runs") % len(both)]
    name = draft.name(draft.sides[first].run_id, draft.sides[second].run_id, problem_id, sample)
    if draft.hash(name, "coin") % 2:
        first, second = second, first
    texts = [draft.text(run, problem_id, sample) for run in (first, second)]
    if texts[0] is None or texts[1] is None:
        return None
    return ReviewItem(
        item=name,
        run=first,
        problem_id=problem_id,
        sample_index=sample,
        text=texts[0],
        against=second,
        against_text=texts[1],
        **draft.raters(name),
    )


def _strengths(found: Preferences) -> Iterator[str]:
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


def _check_labels(labels: Mapping[str, float]) -> None:
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise InputError(f"{len(labels)} labels: wanted 2 to {_MOST_LABELS}")
    for name, score in labels.items():
        if not 0 <= score <= 1:
            raise InputError(f"label {name!r}: its score is {score}, wanted 0 to 1")


def _opened(place: ReviewFolder) -> list[Side]:
    return [open_side(Path(run.path), [place.plan.task]) for run in place.plan.runs]


QUESTIONS: Mapping[Kind, Question] = {own.kind: own for own in (Rate(), Rule(), Prefer())}
"""The questions by what plans call them."""


def question_of(plan: ReviewPlan) -> Question:
    """Return the question of a plan."""
    return QUESTIONS[plan.kind]
