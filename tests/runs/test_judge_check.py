"""Checking a judge: what is refused before any engine is started."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from pydantic import ValidationError

from genbench.errors import ConfigError, InputError
from genbench.runs.judge_check import JudgeCheck, check_judge

CHECK = {
    "format": 1,
    "judge": "equal",
    "digest": "d1",
    "engine": {"identity": "sha256:1"},
    "n": 2,
    "unscored": 0,
    "stability": 1.0,
    "answers": {"a": "EQUAL", "b": None},
    "disagreements": [{"id": "b", "expected": "EQUAL", "found": None}],
    "injection": {
        "tried": 0,
        "succeeded": 0,
        "success_rate": None,
        "mean_lift": None,
        "control_rate": None,
        "by_text": {},
    },
    "unpinned": False,
}


def test_an_unknown_judge_is_refused_with_the_shipped_ones() -> None:
    with pytest.raises(InputError, match="simpleqa"):
        check_judge("simpleqq")


def test_a_judge_without_a_calibration_set_is_refused(tmp_path: Path) -> None:
    prompt = "Is {answer} right? {question} {labels}\n"
    (tmp_path / "j.txt").write_text(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    (tmp_path / "j.yaml").write_text(
        f"name: j\nform: label\nprompt: j.txt\nprompt_digest: sha256:{digest}\nlabels: {{YES: 1, NO: 0}}\n"
        "model: {path: ./judge-model}\nallow_unpinned: true\n"
    )
    with pytest.raises(ConfigError, match="calibration"):
        check_judge(str(tmp_path / "j.yaml"))


def test_keys_that_a_judge_does_not_have_are_left_out() -> None:
    record = JudgeCheck.from_json(CHECK, "check.json")
    assert record.to_json() == CHECK
    assert record.accuracy is None and record.pinned_in is None


def test_keys_that_were_measured_are_kept_although_they_are_null() -> None:
    measured = {**CHECK, "verdicts": 2, "accuracy": 1.0, "kappa": None, "kappa_ci": None}
    assert JudgeCheck.from_json(measured, "check.json").to_json() == measured


def test_a_form_of_another_package_may_add_keys() -> None:
    assert JudgeCheck.from_json({**CHECK, "stars": 4.5}, "check.json").to_json()["stars"] == 4.5


def test_a_rate_above_one_is_a_mistake() -> None:
    with pytest.raises(ValidationError):
        JudgeCheck.model_validate({**CHECK, "stability": 1.5})
