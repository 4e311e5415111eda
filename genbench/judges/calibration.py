"""Cases with the verdicts that people gave them, as a judge's calibration file lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from genbench.errors import ConfigError, nearest
from genbench.judges.spec import JudgeSpec
from genbench.types import Answer, Case, SampleId

_KEYS = ("id", "question", "reference", "answer", "label")


@dataclass(frozen=True, slots=True)
class CalibrationCase:
    """A case with its verdict words: one label, or one score a dimension, or one YES or NO a question."""

    case: Case
    words: tuple[str, ...]


def read_calibration(spec: JudgeSpec) -> list[CalibrationCase]:
    """Read the judge's calibration set.

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
        _calibration_case(line, f"{path}:{number}", spec)
        for number, line in enumerate(lines, start=1)
        if line
    ]
    if not found:
        raise ConfigError(f"{path}: has no cases")
    return found


def _calibration_case(line: str, where: str, spec: JudgeSpec) -> CalibrationCase:
    try:
        row = json.loads(line)
        name, question, reference, text, label = (row[key] for key in _KEYS)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{where}: wanted an object with {', '.join(_KEYS)}; {type(error).__name__}: {error}"
        ) from error
    with spec.form_at_work("reading a calibration label", refusal=f"{where}: "):
        words = spec.form.expected_words(label, reference)
        valid = spec.form.vocabulary()
    for word in words:
        if word not in valid:
            raise ConfigError(f"{where}: unknown label '{word}'{nearest(word, valid)}")
    answer = Answer(str(text), "absent", "", False)
    sample = SampleId("calibration", str(name), 0)
    return CalibrationCase(Case(sample, (answer,), reference, str(question)), words)
