"""What a plan of a review is made from: what a user wants, the rubric of a judge, and the answers of runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.sides.loading import require_finished
from genbench.analysis.sides.side import Side
from genbench.errors import InputError
from genbench.judges.config import JudgeFile
from genbench.judges.prompt import FIELD
from genbench.judges.spec import judge_path, pinned_prompt, validated_judge
from genbench.review.reviews import (
    Kind,
    ReviewedRun,
    ReviewItem,
    ReviewPlan,
    ReviewRubric,
    plan_digest,
)

_SHARES: Mapping[str, float] = {"all": 1.0, "most": 0.75, "half": 0.5, "few": 0.25, "none": 0.0}
"""What may be said of a checklist: how many of its questions are met."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a user wants of a plan."""

    kind: Kind = "rate"
    """The type of the question."""
    n: int = 100
    """Problems."""
    seed: int = 0
    """Which problems are chosen, and their order."""
    labels: Mapping[str, float] | None = None
    """What may be said, with the score of each. None: what the judge says, or the type of the question."""
    twice: float = 0.2
    """The share of items that two people label."""
    returning: float = 0.05
    """The share of a person's items that come back once, which shows drift."""
    adjudicator: str | None = None
    """Who settles labels that differ. None: anybody who has not labelled the item."""
    judge: str | None = None
    """A judge file or a shipped judge, which says what people rate by."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan that is being made.

    Args:
        runs: the run folders as the user gave them.
        sides: the same, opened.
        facts: labels and further fields of the plan.
    """

    runs: Sequence[str | Path]
    sides: Sequence[Side]
    task: str
    options: PlanOptions
    facts: Mapping[str, Any]

    def require_texts(self) -> None:
        """Check that every run is finished and has texts.

        Raises:
            InputError: a run has no results, or no texts.
        """
        for side in self.sides:
            require_finished(side)
            if side.manifest is None:
                raise InputError(f"{side.path}: a score file has no texts to review; give a run folder")

    def hash(self, *parts: object) -> int:
        """Return a number below 2^32 of the seed and what it decides on."""
        return int(hashed(self.options.seed, *parts)[:8], 16)

    def name(self, *parts: object) -> str:
        """Return the name of an item of the seed and what it shows, which tells nothing of the model."""
        return hashed(self.options.seed, *parts)[:12]

    def problems(self) -> list[str]:
        """Return the problems that all runs have, in the order of a hash.

        So a larger plan has the problems of a smaller one.
        """
        others = [set(side.tasks[self.task].problem_ids) for side in self.sides[1:]]
        names = self.sides[0].tasks[self.task].problem_ids
        shared = [name for name in names if all(name in own for own in others)]
        return sorted(shared, key=lambda name: hashed(self.options.seed, name))

    def sample(self, problem_id: str) -> int:
        """Return the index of the sample that is shown, the same in all runs."""
        k = min(side.tasks[self.task].smallest_k for side in self.sides)
        return self.hash(problem_id, "sample") % k

    def text(self, run: int, problem_id: str, sample: int) -> str | None:
        """Return the digest of a sample's completions, None if it was not drawn."""
        index = self.sides[run].tasks[self.task].index
        found = None if index is None else index.texts.get((problem_id, sample))
        return None if found is None else f"{found:016x}"

    def raters(self, item: str) -> dict[str, Any]:
        """Return the field of an item that two people label, chosen by a hash."""
        return {"raters": 2} if self.hash(item, "twice") < self.options.twice * 0x1_0000_0000 else {}

    def plan(self, items: Sequence[ReviewItem], **facts: Any) -> ReviewPlan:
        """Return a plan with its digest. Its items are in an order that tells nothing."""
        runs = tuple(
            ReviewedRun(path=str(side.path), uid=side.manifest.run_uid, model=side.name)
            for side in self.sides
            if side.manifest is not None
        )
        ordered = tuple(sorted(items, key=lambda item: item.item))
        own = {"task": self.task, "seed": self.options.seed, **self.facts, **facts}
        record = ReviewPlan(format=1, plan="", runs=runs, items=ordered, **own)
        return record.model_copy(update={"plan": plan_digest(record.to_json())})


def hashed(*parts: object) -> str:
    """Return the digest of what decides something."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()


def judge_rubric(name: str, base: Path) -> tuple[JudgeFile, ReviewRubric]:
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


def judge_labels(file: JudgeFile) -> dict[str, float] | None:
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
