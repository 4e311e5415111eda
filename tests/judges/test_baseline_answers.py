"""The opponent's answers: which of them a sample is compared with."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.judges.judged_tasks import Baseline, read_baseline
from genbench.store.manifest import OpponentRecord
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task

from .conftest import Case, Server

OPPONENT = Baseline(
    OpponentRecord(name="old", identity="sha256:0", digest="digest"), {"p": ("first", "second")}
)


@pytest.mark.parametrize(("index", "answer"), [(0, "first"), (1, "second"), (2, "first"), (5, "second")])
def test_more_samples_than_answers_go_round_again(index: int, answer: str) -> None:
    assert OPPONENT.answer("p", index) == answer


@pytest.mark.slow
def test_a_stored_run_is_read_for_the_problems_of_the_task(judged: Case, server: Server) -> None:
    judged.write(n=3, k=2)
    judged.run()
    suite = read_suite(judged.path / "suite.yaml")
    folder = judged.path / "runs" / "m"
    whole = read_baseline(folder, load_task(suite, suite.config.tasks[0], None, None))
    assert whole.record.name == "m" and whole.answers["q1"] == (
        "It is 1, said 0 times.",
        "It is 1, said 1 times.",
    )
    part = read_baseline(folder, load_task(suite, suite.config.tasks[0], None, 2))
    # The digest is that of the whole run: another limit is not another opponent.
    assert len(part.answers) == 2 and part.record == whole.record


@pytest.mark.slow
def test_a_run_without_some_answers_is_no_opponent(judged: Case, server: Server) -> None:
    judged.write(n=3, k=1)
    judged.run()
    path = judged.path / "runs" / "m" / "free" / "completions.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    suite = read_suite(judged.path / "suite.yaml")
    with pytest.raises(ConfigError, match="has no answer to 1 of 3 problems of 'free'"):
        read_baseline(judged.path / "runs" / "m", load_task(suite, suite.config.tasks[0], None, None))
