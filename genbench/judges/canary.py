"""Cases that a judge is asked again with every run, compared with its answers when it was pinned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.calibration import CalibrationCase, read_calibration
from genbench.judges.forms.protocol import CheckedOpinion
from genbench.judges.judge import Judge
from genbench.judges.opinions import Opinion, opinions_of
from genbench.judges.spec import JudgeSpec
from genbench.protocols import JudgeEngine
from genbench.store.json_files import replace_json

CANARIES = 8
"""The number of calibration cases that are judged again with every run. They cost next to nothing."""

AGREEMENT_SEED = 20260101
"""The seed of the resampling of intervals. The same answers give the same bounds."""
_AGREEMENT = ("kappa", "accuracy", "verdicts")

Answers = Mapping[str, str | None]
"""Case id -> the judge's words, None if it gave no verdict."""


def words_of(opinion: Opinion | None) -> str | None:
    """Return an opinion as one text."""
    return None if opinion is None else " ".join(opinion.words)


def pin_path(spec: JudgeSpec, base: Path) -> Path:
    """Return the file with the canary's answers at the pin, in the folder `base`."""
    return base / f"{spec.file.name}.pin.json"


def write_pin(path: Path, judge: Judge, answers: Answers, agreement: Mapping[str, Any] | None = None) -> None:
    """Store the canary's answers. Later runs are compared with them.

    Args:
        agreement: the agreement with people on the whole calibration set, with `kappa`, `accuracy` and
            `verdicts`. Later runs report it.
    """
    record = {"judge": judge.digest, "labels": dict(answers)}
    replace_json(path, record | ({"agreement": dict(agreement)} if agreement else {}))


async def ask_canary(judge: Judge, engine: JudgeEngine, path: Path) -> dict[str, Any] | None:
    """Judge the canary cases again, list those that moved since the pin, and measure the agreement.

    Returns:
        None without a calibration set. `drifted` is None if nothing is pinned for this judge. `kappa`,
        `accuracy` and `verdicts` are of the whole calibration set if the pin has them, else of the canary.

    Raises:
        ConfigError: the calibration set or the pin cannot be read.
    """
    if judge.file.calibration is None:
        return None
    known = read_calibration(judge.spec)[:CANARIES]
    found = await opinions_of(judge, engine, [item.case for item in known])
    answers = {
        item.case.sample.problem_id: words_of(opinion) for item, opinion in zip(known, found, strict=True)
    }
    pinned = _pinned(path, judge)
    agreement = (pinned or {}).get("agreement") or _agreement(judge, known, found)
    return {
        "labels": answers,
        "drifted": None if pinned is None else _drifted(pinned.get("labels", {}), answers),
        **{key: agreement.get(key) for key in _AGREEMENT},
    }


def _agreement(
    judge: Judge, known: Sequence[CalibrationCase], found: Sequence[Opinion | None]
) -> Mapping[str, Any]:
    """Return the agreement with the calibration labels, as the judge's form measures it."""
    told = [
        CheckedOpinion(item.words, opinion.words, opinion.finding)
        for item, opinion in zip(known, found, strict=True)
        if opinion is not None
    ]
    with judge.spec.form_at_work("measuring agreement"):
        return judge.form.agreement(told, AGREEMENT_SEED)


def _pinned(path: Path, judge: Judge) -> dict[str, Any] | None:
    """Return what is pinned for this judge, or None."""
    try:
        pinned = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: cannot be read: {error}; make it again: genbench judge check --pin"
        ) from error
    return pinned if isinstance(pinned, dict) and pinned.get("judge") == judge.digest else None


def _drifted(pinned: Answers, answers: Answers) -> list[str]:
    return sorted(name for name, words in answers.items() if name in pinned and pinned[name] != words)
