"""`stop_on_loop`: a term that runs of before have off, and that engines refuse which cannot follow it."""

from __future__ import annotations

from pathlib import Path

import pytest

import genbench
from genbench.analysis.results.run_state import require_results
from genbench.errors import ConfigError
from genbench.models.prepare import decoding_terms
from genbench.store.folder import RunFolder
from genbench.suite.config import Decoding, DecodingOverride
from tests.ready_runs import SUITE, rows, score_responses, write_lines


def test_a_decoding_without_it_has_the_terms_of_a_run_that_was_drawn_before_it_existed() -> None:
    plain, asked = Decoding(), Decoding(stop_on_loop=True)
    assert "stop_on_loop" not in decoding_terms(plain) and decoding_terms(asked)["stop_on_loop"] is True
    assert decoding_terms(plain) == {k: v for k, v in decoding_terms(asked).items() if k != "stop_on_loop"}


def test_no_engine_is_sent_it_as_a_sampling_field() -> None:
    assert Decoding(stop_on_loop=True).sampling == Decoding().sampling


def test_a_task_may_switch_it_on_and_off() -> None:
    whole = Decoding(stop_on_loop=True)
    assert not DecodingOverride.model_validate({"stop_on_loop": False}).over(whole).stop_on_loop
    assert DecodingOverride.model_validate({"stop_on_loop": True}).over(Decoding()).stop_on_loop
    assert DecodingOverride.model_validate({"max_tokens": 5}).over(whole).stop_on_loop


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(
        SUITE.replace("max_tokens: 16", "max_tokens: 16, stop_on_loop: true")
    )
    write_lines(tmp_path / "rows.jsonl", rows(2))
    return tmp_path


def test_a_model_of_the_caller_refuses_it_by_name(place: Path) -> None:
    async def model(request: object, sampling: object) -> str:
        return "2"

    with pytest.raises(
        ConfigError, match=r"task sums: decoding.stop_on_loop is true, and evaluate draws whole"
    ):
        genbench.evaluate(model, place / "suite.yaml", tokenizer=None, run_dir=place / "out")


def test_ready_responses_were_drawn_by_whatever_decoding(place: Path) -> None:
    answers = [
        {"task": "sums", "problem_id": f"p0{problem}", "sample_index": index, "text": "\\boxed{2}"}
        for problem in range(2)
        for index in range(4)
    ]
    write_lines(place / "responses.jsonl", answers)
    results = require_results(RunFolder(score_responses(place)))
    assert results.tasks["sums"].value == 1
