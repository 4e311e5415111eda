"""Samples of every_eval_ever as score files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.interop.logs.import_log import ImportChoice, import_scores
from tests.interop.logs.formats.test_inspect import lines


def test_records_of_every_eval_ever_are_samples_in_their_order(tmp_path: Path) -> None:
    record = {"evaluation_name": "t", "answer_attribution": [{"extracted_value": "x"}]}
    scores = [("a", 1), ("a", 0), ("b", 0.25)]
    text = "".join(
        json.dumps(record | {"sample_id": name, "evaluation": {"score": score}}) + "\n"
        for name, score in scores
    )
    (tmp_path / "e.jsonl").write_text(text, encoding="utf-8")
    import_scores(tmp_path / "e.jsonl", tmp_path / "s.jsonl", ImportChoice(task="t"))
    found = [
        (line["problem_id"], line["sample_index"], line["score"]) for line in lines(tmp_path / "s.jsonl")
    ]
    assert found == [("a", 0, 1.0), ("a", 1, 0.0), ("b", 0, 0.25)]


@pytest.mark.parametrize(
    "record", [{"evaluation": 1}, {"answer_attribution": {"a": 1}}, {"answer_attribution": ["x"]}]
)
def test_a_damaged_record_of_every_eval_ever_is_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    whole = {"evaluation_name": "sums", "sample_id": "a", "evaluation": {"score": 1.0}} | record
    (tmp_path / "samples.jsonl").write_text(json.dumps(whole) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"samples\.jsonl:1"):
        import_scores(tmp_path / "samples.jsonl", tmp_path / "s.jsonl")
