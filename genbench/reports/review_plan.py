"""Plans of reviews: which answers people see, what they may say, and the page on which they answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import Field

from genbench.analysis.quality import quality
from genbench.analysis.reviews import (
    FOLDER,
    PLAN,
    ReviewedRun,
    ReviewFolder,
    ReviewItem,
    ReviewPlan,
    ReviewRubric,
    plan_digest,
)
from genbench.analysis.sides.loading import open_side, require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord, Share
from genbench.judges.config import JudgeFile
from genbench.judges.prompt import FIELD
from genbench.judges.spec import judge_path, pinned_prompt, validated_judge
from genbench.reports.page.templates import page_environment
from genbench.reports.review_items import read_items
from genbench.stats.labels import labels_needed
from genbench.store.json_files import replace

PAGE = "review.html"
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
_SHARES: Mapping[str, float] = {"all": 1.0, "most": 0.75, "half": 0.5, "few": 0.25, "none": 0.0}
"""What may be said of a checklist: how many of its questions are met."""
TWICE = 0.2
"""The share of items that two people label."""
RETURNING = 0.05
"""The share of a person's items that come back once, which shows drift."""
_MOST_LABELS = 10
"""Each label has a key: 1 to 9, and 0 for the tenth."""


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
    returning: float = RETURNING,
    adjudicator: str | None = None,
    judge: str | None = None,
) -> Planned:
    """Choose samples of one run, or of the same problems of base and tuned, and write the page for people.

    Problems are a random subset by `seed`; a larger n has all of a smaller one. Each has one sample a run,
    the same index in both. The page shows neither models nor verdicts, and the order is mixed.

    Args:
        runs: one or two run folders.
        n: problems.
        labels: what may be said, with the score of each. None: those of the judge, or right (1) and wrong
            (0).
        output: the folder of the plan. None: `reviews/TASK` next to the runs, or `reviews/TASK-pairs`.
        prefer: whether people choose the better of two answers, of two runs or more. A coin of the seed and
            the problem says which answer is A.
        twice: the share of items that two people label.
        returning: the share of items that come back once to a person who labelled them.
        adjudicator: who settles labels that differ. None: anybody who has not labelled the item.
        judge: a judge file or a shipped judge, which says what people rate by.

    Raises:
        InputError: a run has no such task, has no results, or the folder has another plan already.
        ConfigError: there is no such judge.
    """
    if prefer and len(runs) < 2:
        raise InputError("one run: wanted two or more, whose answers are compared")
    if not prefer and not 1 <= len(runs) <= 2:
        raise InputError(f"{len(runs)} runs: wanted one, or base and tuned")
    for what, share in (("twice", twice), ("returning", returning)):
        if not 0 <= share <= 1:
            raise InputError(f"{what} {share:g}: wanted a share from 0 to 1")
    if n < 5:
        raise InputError(f"n {n}: wanted 5 problems or more")
    names, facts = _asked(labels, judge, prefer)
    facts |= {"returning": returning} if returning else {}
    facts |= {} if adjudicator is None else {"adjudicator": adjudicator}
    sides = [open_side(Path(run), [task]) for run in runs]
    for side in sides:
        require_finished(side)
        if side.manifest is None:
            raise InputError(f"{side.path}: a score file has no texts to review; give a run folder")
    folder = (
        Path(output) if output else Path(runs[-1]).parent / FOLDER / (f"{task}-pairs" if prefer else task)
    )
    draft = _Draft(sides, task, n, seed, twice, {"labels": names, **facts})
    return _write_plan(folder, draft.paired() if prefer else draft.rated(), sides)


def _asked(
    labels: Mapping[str, float] | None, judge: str | None, prefer: bool
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the labels of a plan, and the field with what people rate by.

    Raises:
        InputError: the labels are wrong, or the judge does not fit what is asked.
    """
    found = dict(labels) if labels else None
    facts: dict[str, Any] = {}
    if judge is not None:
        file, facts["rubric"] = _judge_rubric(judge, Path())
        if (file.form == "pairwise") != prefer:
            wanted = "add --prefer" if file.form == "pairwise" else "leave --prefer out"
            raise InputError(f"judge '{file.name}' has the form {file.form}: {wanted}, or name another judge")
        found = found or _judge_labels(file)
    found = found or dict(PREFERRED if prefer else LABELS)
    _check_labels(found)
    return found, facts


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
    draft = _Draft(sides, task, len(items), 0, 0.0, {"labels": dict(RULED)})
    plan = draft.plan(items, kind="references", n=len(items), of=of)
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


def _text_of(task: SideTask, problem_id: str, sample: int) -> str | None:
    """Return the digest of a sample's completions, None if it was not drawn."""
    found = None if task.index is None else task.index.texts.get((problem_id, sample))
    return None if found is None else f"{found:016x}"


@dataclass(frozen=True, slots=True)
class _Draft:
    """What a plan is made from: the runs, the task, and what is asked of people."""

    sides: Sequence[Side]
    task: str
    n: int
    seed: int
    twice: float
    facts: Mapping[str, Any]
    """Further fields of the plan."""

    def hash(self, *parts: object) -> int:
        """Return a number below 2^32 of the seed and what it decides on."""
        return int(_hash(self.seed, *parts)[:8], 16)

    def rated(self) -> ReviewPlan:
        """Return a plan of single answers, one of each run to each chosen problem."""
        shared = self._shared()
        chosen = shared[: self.n]
        items = list[ReviewItem]()
        for number, side in enumerate(self.sides):
            for name in chosen:
                sample = self._sample(name)
                own = _hash(self.seed, number, side.run_id, name, sample)[:12]
                text = _text_of(side.tasks[self.task], name, sample)
                if text is not None:
                    items.append(
                        ReviewItem(
                            item=own,
                            run=number,
                            problem_id=name,
                            sample_index=sample,
                            text=text,
                            **self._raters(own),
                        )
                    )
        return self.plan(items, n=len(chosen), of=len(shared))

    def paired(self) -> ReviewPlan:
        """Return a plan of pairs: of each problem two runs, and which of them is A, are chosen by hashes.

        Raises:
            InputError: no two answers differ.
        """
        shared = self._shared()
        both = list(combinations(range(len(self.sides)), 2))
        items, same = list[ReviewItem](), 0
        for name in shared:
            if len(items) == self.n:
                break
            sample = self._sample(name)
            first, second = both[self.hash(name, "runs") % len(both)]
            own = _hash(self.seed, self.sides[first].run_id, self.sides[second].run_id, name, sample)[:12]
            if self.hash(own, "coin") % 2:
                first, second = second, first
            tasks = [self.sides[number].tasks[self.task] for number in (first, second)]
            texts = [_text_of(task, name, sample) for task in tasks]
            if texts[0] is None or texts[1] is None:
                continue
            if texts[0] == texts[1]:
                same += 1
                continue
            items.append(
                ReviewItem(
                    item=own,
                    run=first,
                    problem_id=name,
                    sample_index=sample,
                    text=texts[0],
                    against=second,
                    against_text=texts[1],
                    **self._raters(own),
                )
            )
        if not items:
            raise InputError(f"task {self.task}: no two answers of these runs differ")
        return self.plan(items, n=len(items), of=len(shared), kind="prefer", same=same)

    def plan(self, items: Sequence[ReviewItem], **facts: Any) -> ReviewPlan:
        """Return a plan with its digest. Its items are in an order that tells nothing."""
        runs = tuple(
            ReviewedRun(path=str(side.path), uid=side.manifest.run_uid, model=side.name)
            for side in self.sides
            if side.manifest is not None
        )
        ordered = tuple(sorted(items, key=lambda item: item.item))
        own = {"task": self.task, "seed": self.seed, **self.facts, **facts}
        record = ReviewPlan(format=1, plan="", runs=runs, items=ordered, **own)
        return record.model_copy(update={"plan": plan_digest(record.to_json())})

    def _shared(self) -> list[str]:
        """Return the problems that all runs have, in the order of a hash.

        So a larger plan has the problems of a smaller one.
        """
        others = [set(side.tasks[self.task].problem_ids) for side in self.sides[1:]]
        names = self.sides[0].tasks[self.task].problem_ids
        shared = [name for name in names if all(name in own for own in others)]
        return sorted(shared, key=lambda name: _hash(self.seed, name))

    def _sample(self, problem_id: str) -> int:
        """Return the index of the sample that is shown, the same in all runs."""
        k = min(side.tasks[self.task].smallest_k for side in self.sides)
        return self.hash(problem_id, "sample") % k

    def _raters(self, item: str) -> dict[str, Any]:
        """Return the field of an item that two people label, chosen by a hash."""
        return {"raters": 2} if self.hash(item, "twice") < self.twice * 0x1_0000_0000 else {}


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
            "reference": "\n".join(f"{at}. {asked}" for at, asked in enumerate(item.checklist, start=1))
            or item.reference,
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
        task=plan.task,
        nonce=nonce,
        items=Markup(safe),
        labels=list(plan.labels),
        n=len(shown),
        rubric=plan.rubric,
    )


def _judge_rubric(name: str, base: Path) -> tuple[JudgeFile, ReviewRubric]:
    """Return a judge file, and what it says to who labels. Nothing that the file names is loaded.

    Args:
        name: a judge file, or the name of a shipped judge.
        base: the folder that a path is relative to.

    Raises:
        ConfigError: there is no such judge, or its prompt is another one than was pinned.
    """
    path = judge_path(name, base)
    file = validated_judge(path)
    prompt = pinned_prompt(file, path)
    dimensions = list(file.dimensions)
    rubric = ReviewRubric(
        judge=file.name,
        form=file.form,
        prompt_digest=file.prompt_digest,
        words=_readable(prompt, file),
        meanings=dict(file.dimensions) or dict(_meanings(prompt, file.label_names)),
        dimension=dimensions[0] if len(dimensions) == 1 else None,
        points=file.points if dimensions else None,
        has_checklist="checklist" in FIELD.findall(prompt),
    )
    return file, rubric


def _judge_labels(file: JudgeFile) -> dict[str, float] | None:
    """Return the labels of a judge, with the score of each. None: the form has none for one answer.

    A rubric has its points as labels. With several dimensions they are given once, to the whole answer. The
    labels of a checklist say how many of its questions are met.

    Raises:
        InputError: the score of a label depends on the reference.
    """
    if file.form == "rubric":
        scores = {str(at): (at - 1) / (file.points - 1) for at in range(1, file.points + 1)}
        return {label: 1 - score for label, score in scores.items()} if file.better == "lower" else scores
    if file.form == "checklist":
        return dict(_SHARES)
    if file.labels_by_reference:
        raise InputError(
            f"judge '{file.name}': the scores of its labels depend on the reference; give one score to each: "
            f"--labels {','.join(f'{label}=SCORE' for label in file.label_names)}"
        )
    return dict(file.labels) or None


def _readable(prompt: str, file: JudgeFile) -> str:
    """Return a prompt with its labels and dimensions. Other fields are names in brackets."""
    dimensions = [f"{name}: {meaning}" for name, meaning in file.dimensions.items()]
    known = {"labels": ", ".join(file.label_names), "dimensions": "\n".join(dimensions)}
    return FIELD.sub(lambda found: known.get(found[1]) or f"[{found[1]}]", prompt).strip()


def _meanings(prompt: str, labels: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the meanings of labels that a prompt lists as `LABEL - meaning`, each up to the next or a gap."""
    names = "|".join(map(re.escape, labels))
    if names:
        line = re.compile(rf"^({names}) - (.+?)(?=^(?:{names}) - |^\s*$|\Z)", re.M | re.S)
        for label, meaning in line.findall(prompt):
            yield label, " ".join(meaning.split())
