"""What people rate by: the words, labels and dimensions of a judge file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from genbench.analysis.reviews import ReviewRubric
from genbench.errors import InputError
from genbench.judges.config import JudgeFile
from genbench.judges.prompt import FIELD
from genbench.judges.spec import judge_path, pinned_prompt, validated_judge

_SHARES: Mapping[str, float] = {"all": 1.0, "most": 0.75, "half": 0.5, "few": 0.25, "none": 0.0}
"""What may be said of a checklist: how many of its questions are met."""


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
