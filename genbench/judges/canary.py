"""Cases that a judge is asked again with every run, compared with its answers when it was pinned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.calibration import read_calibration
from genbench.judges.judge import Judge
from genbench.judges.opinions import Opinion, opinions_of
from genbench.judges.spec import JudgeSpec
from genbench.protocols import JudgeEngine
from genbench.store.jsonlines import replace_json

CANARIES = 8
"""The number of calibration cases that are judged again with every run. They cost next to nothing."""

Answers = Mapping[str, str | None]
"""Case id -> the judge's words, None if it gave no verdict."""


def words_of(opinion: Opinion | None) -> str | None:
    """Return an opinion as one text."""
    return None if opinion is None else " ".join(opinion.words)


def pin_path(spec: JudgeSpec, base: Path) -> Path:
    """Return the file with the canary's answers at the pin, in the folder `base`."""
    return base / f"{spec.file.name}.pin.json"


def write_pin(path: Path, judge: Judge, answers: Answers) -> None:
    """Store the canary's answers. Later runs are compared with them."""
    replace_json(path, {"judge": judge.digest, "labels": dict(answers)})


async def ask_canary(judge: Judge, engine: JudgeEngine, path: Path) -> dict[str, Any] | None:
    """Judge the canary cases again, and list those that moved since the pin.

    Returns:
        None without a calibration set. `drifted` is None if nothing is pinned for this judge.

    Raises:
        ConfigError: the calibration set or the pin cannot be read.
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
