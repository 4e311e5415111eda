"""The estimate of a run's tokens and hours."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.runs.execution.preflight import CostAssumptions, cost_words, expected_tokens
from genbench.suite.suitefile import read_suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task

SUITE = """\
models: {m: {path: ./m}}
decoding: {max_tokens: 1000}
tasks:
  - {name: sums, kind: exact, data: {path: rows.jsonl}, k: 4}
  - {name: short, kind: exact, data: {path: rows.jsonl}, k: 1, decoding: {max_tokens: 50}}
"""


@pytest.fixture
def tasks(tmp_path: Path) -> list[LoadedTask]:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text('{"question": "1+1?", "reference": "2"}\n' * 10)
    suite = read_suite(tmp_path / "suite.yaml")
    return [load_task(suite, entry, None, None) for entry in suite.config.tasks]


def test_a_sample_takes_the_mean_but_at_most_its_limit(tasks: list[LoadedTask]) -> None:
    assert expected_tokens(tasks, 200) == 40 * 200 + 10 * 50
    assert expected_tokens(tasks, 10**6) == 40 * 1000 + 10 * 50


def test_the_words_say_samples_tokens_hours_and_what_they_rest_on(tasks: list[LoadedTask]) -> None:
    words = cost_words(tasks, 2, CostAssumptions(speed=1.0, mean_tokens=200))
    assert words.startswith(
        "100 samples; about 17 thousand tokens and 4.7 h at 200 tokens a reply "
        "(or max_tokens, if that is less) and 1 tokens/s"
    )
    assert words.endswith("81 thousand tokens and 22.5 h at the most")


def test_a_short_run_is_given_in_minutes_and_tasks_without_rows_are_named(tasks: list[LoadedTask]) -> None:
    words = cost_words(tasks, 1, CostAssumptions(mean_tokens=40), of=3)
    assert words.startswith(
        "of the 2 of 3 tasks whose rows are there: 50 samples; about 2 thousand tokens and 0 min "
    )
    assert "max_tokens" not in words


def test_a_command_may_give_one_assumption() -> None:
    assert CostAssumptions.given(None, 7) == CostAssumptions(mean_tokens=7)
    assert CostAssumptions.given(2.0, None) == CostAssumptions(2.0, source="given", is_given=True)
