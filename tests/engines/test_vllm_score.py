"""Scores of given continuations by a real vLLM engine, against the log-softmax of transformers in float32."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.engines.score_cases import BLOCK, named_cases, text_cases
from tests.table import each_row

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch warns of its own modules
]
ROOT = Path(__file__).resolve().parents[2]
PLAIN = [name for name in named_cases() if "+" in name or name == "labels" or name in text_cases()]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The scores of one engine, which is started once for all tests."""
    place = tmp_path_factory.mktemp("llama")
    program = ("-m", "tests.engines.score_with_engine")
    done = warm.run([str(place)], engine=True, program=program, cwd=ROOT, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    record: dict[str, Any] = json.loads((place / "found.json").read_text())
    return record


@each_row("name", PLAIN)
def test_sums_and_greedy_are_those_of_transformers(found: dict[str, Any], name: str) -> None:
    for scores in (found[name]["scores"], found[name]["again"]):
        for item, score, wanted in zip(named_cases()[name], scores, found[name]["reference"], strict=True):
            assert score[0] == pytest.approx(wanted[0], abs=1e-3)
            assert score[1:3] == [len(item.token_ids), wanted[1]]


def test_the_texts_have_tokens_over_the_boundary_and_contexts_of_one_token() -> None:
    merged = {name: [item.is_merged for item in items] for name, items in text_cases().items()}
    assert all(merged["texts over a boundary"]) and sum(merged["characters over a boundary"]) == 2
    assert [len(item.context) for item in text_cases()["texts without context"]] == [1, 1, 1, 1]


def test_a_shipped_checkpoint_is_scored_as_transformers_does(found: dict[str, Any]) -> None:
    for name in text_cases():
        for item, score, wanted in zip(
            text_cases()[name], found["tiny"][name]["scores"], found["tiny"][name]["reference"], strict=True
        ):
            assert score[0] == pytest.approx(wanted[0], abs=1e-3)
            assert score[1:3] == [len(item.token_ids), wanted[1]]


def test_reading_the_prefix_cache_changes_no_bit(found: dict[str, Any]) -> None:
    for name in named_cases():
        assert found[name]["scores"] == found[name]["plain"], name
        assert found[name]["again"] == found[name]["plain"], name


def test_the_block_of_the_engine_is_the_one_that_the_cases_are_made_for(found: dict[str, Any]) -> None:
    assert found["block"] == BLOCK


def test_priors_belong_to_their_choice_and_windows_are_added(found: dict[str, Any]) -> None:
    first, second = found["priors"]["scores"]
    wanted = [score for score, _ in found["priors"]["reference"]]
    assert [first[0], second[0], first[3], second[3]] == pytest.approx(wanted, abs=1e-3)
    [document] = found["windows"]["scores"]
    assert document[0] == pytest.approx(sum(score for score, _ in found["windows"]["reference"]), abs=5e-3)
    assert document[1] == 300


def test_the_engine_refuses_what_does_not_fit(found: dict[str, Any]) -> None:
    assert found["refused"].startswith("request t/long")


def test_a_judge_reads_its_first_token_from_the_engine(found: dict[str, Any]) -> None:
    for item in found["tiny"]["judge"]:
        assert list(item["reply"]) == ["Yes", "No", "1"]
        assert list(item["reply"].values()) == pytest.approx(item["own"], abs=1e-6)
        assert list(item["reply"].values()) == pytest.approx(item["reference"], abs=1e-3)
        assert item["drawn"] == 1
    plain, hostile = found["tiny"]["judge"]
    assert plain["text"].count("[/INST]") == hostile["text"].count("[/INST]") == 1
    assert plain["reply"] != hostile["reply"]
