"""Cases that a judge is asked anew with every run, and what it said of them when it was pinned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.calibration import read_calibration
from genbench.judges.file import JudgeSpec
from genbench.judges.forms import Judge
from genbench.judges.opinions import Opinion, opinions_of
from genbench.protocols import JudgeEngine
from genbench.store.jsonlines import replace_json

CANARIES = 8
"""Calibration cases that are judged again with every run: few enough to cost nothing."""

Answers = Mapping[str, str | None]
"""Case -> the judge's words, None where it gave no verdict."""


def words_of(opinion: Opinion | None) -> str | None:
    """An opinion as one text."""
    return None if opinion is None else " ".join(opinion.words)


def pin_path(spec: JudgeSpec, base: Path) -> Path:
    """Where the canary's answers at the pin are kept: beside the suite (or the judge file)."""
    return base / f"{spec.file.name}.pin.json"


def write_pin(path: Path, judge: Judge, answers: Answers) -> None:
    """Keeps the canary's answers as the ones that later runs are held to."""
    replace_json(path, {"judge": judge.digest, "labels": dict(answers)})


async def canary(judge: Judge, engine: JudgeEngine, path: Path) -> dict[str, Any] | None:
    """The canary cases judged anew, and which moved since the pin; None without a calibration set.

    `drifted` is None where nothing is pinned for this very judge.
    """
    if judge.file.calibration is None:
        return None
    cases = [item.case for item in read_calibration(judge.spec)[:CANARIES]]
    found = await opinions_of(judge, engine, cases)
    answers = {case.sample.problem_id: words_of(item) for case, item in zip(cases, found, strict=True)}
    return {"labels": answers, "drifted": _drifted(path, judge, answers)}


def _drifted(path: Path, judge: Judge, answers: Answers) -> list[str] | None:
    try:
        pinned = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: cannot be read: {error}; make it again: genbench judge check --pin"
        ) from error
    if not isinstance(pinned, dict) or pinned.get("judge") != judge.digest:
        return None
    old = pinned.get("labels", {})
    return sorted(name for name, words in answers.items() if name in old and old[name] != words)
