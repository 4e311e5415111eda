"""Cases with the verdicts that people gave them, as a judge's calibration file has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.judges.file import JudgeFile, JudgeSpec
from genbench.types import Answer, Case, SampleId

PAIR_LABELS = ("WIN", "TIE", "LOSS")
CHECKS = ("YES", "NO")


@dataclass(frozen=True, slots=True)
class Known:
    """A case with its verdict words: one label, or one score a dimension, or one YES or NO a question."""

    case: Case
    words: tuple[str, ...]


def read_calibration(spec: JudgeSpec) -> list[Known]:
    """The judge's calibration set.

    Raises:
        ConfigError: there is none, a line is damaged, or its label is none of the judge's.
    """
    if spec.file.calibration is None:
        raise ConfigError(f"{spec.path}: judge '{spec.file.name}' has no calibration set; give 'calibration'")
    path = spec.path.parent / spec.file.calibration
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{spec.path}: calibration: cannot read {path}: {error}") from error
    found = [
        _known(line, f"{path}:{number}", spec.file) for number, line in enumerate(lines, start=1) if line
    ]
    if not found:
        raise ConfigError(f"{path}: has no cases")
    return found


def words_in_use(file: JudgeFile) -> tuple[str, ...]:
    """Every verdict word that the form has; those of a rubric in their order."""
    if file.form == "pairwise":
        return PAIR_LABELS
    if file.form == "checklist":
        return CHECKS
    if file.form == "rubric":
        return tuple(str(score) for score in range(1, file.points + 1))
    return tuple(file.labels)


def _known(line: str, where: str, file: JudgeFile) -> Known:
    try:
        row = json.loads(line)
        question, reference, text, label = (row[key] for key in ("question", "reference", "answer", "label"))
        problem_id = str(row["id"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{where}: wanted an object with id, question, reference, answer, label; {type(error).__name__}: "
            f"{error}"
        ) from error
    words = _words(label, reference, where, file)
    for word in words:
        if word not in words_in_use(file):
            raise ConfigError(f"{where}: unknown label '{word}'{nearest(word, words_in_use(file))}")
    answer = Answer(str(text), "absent", "", False)
    return Known(Case(SampleId("calibration", problem_id, 0), (answer,), reference, str(question)), words)


def _words(label: Any, reference: Any, where: str, file: JudgeFile) -> tuple[str, ...]:
    if file.form == "rubric":
        if not isinstance(label, dict) or list(label) != list(file.dimensions):
            wanted = ", ".join(file.dimensions)
            raise ConfigError(f"{where}: wanted a label with a score for each of {wanted}, in this order")
        return tuple(str(score) for score in label.values())
    if file.form == "checklist":
        if not isinstance(label, list) or not isinstance(reference, list) or len(label) != len(reference):
            raise ConfigError(
                f"{where}: wanted as many labels as the reference has questions, found {label!r}"
            )
        return tuple(str(word) for word in label)
    return (str(label),)
