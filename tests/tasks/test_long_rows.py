"""MRCR, GraphWalks and LongBench v2 from rows in the hub's columns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genbench import registry
from genbench.errors import ConfigError, DataError
from genbench.tasks.loading import problems_of
from genbench.tasks.python.mrcr import mrcr
from genbench.tasks.rows import graphwalks, length_bin, longbench
from genbench.types import Answer, Case, SampleId


def mrcr_row(size: int = 10, **changes: Any) -> dict[str, Any]:
    said = [
        {"role": "user", "content": "Write a poem"},
        {"role": "assistant", "content": "x" * size},
        {"role": "user", "content": "Prepend aB3 to the first poem"},
    ]
    facts = {"desired_msg_index": 1, "total_messages": 3, "n_chars": size}
    own = {"prompt": json.dumps(said), "answer": "aB3" + "x" * size, "random_string_to_prepend": "aB3"}
    return {**own, "n_needles": 2, **facts, **changes}


def test_mrcr_asks_the_chat_as_it_is_and_bins_its_length() -> None:
    task = mrcr()
    problems, unusable = problems_of(
        task, [mrcr_row(), mrcr_row(40_000), mrcr_row(answer="yyy"), mrcr_row(prompt="no")]
    )
    assert [problem.strata for problem in problems] == [
        {"needles": "2", "length": "8192"},
        {"needles": "2", "length": "32768"},
    ]
    assert len(unusable) == 2 and "does not begin with" in unusable[0]
    ask = task.ask(problems[0], 0, ())
    assert ask is not None
    assert [message.role for message in ask.messages] == ["user", "assistant", "user"]
    verifier = registry.find("verifier", task.info.verifier).build({})
    for text, score in (("aB3" + "x" * 10, 1), ("aB4" + "x" * 10, 0)):
        case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), ask.reference)
        assert verifier.verify(case).score == score


def test_longer_rows_are_left_out_and_named() -> None:
    problems, unusable = problems_of(mrcr("8k"), [mrcr_row(), mrcr_row(40_000)])
    assert len(problems) == 1
    assert "above the 32,768 of 'longest'" in unusable[0]
    assert mrcr("8k").info.version == "1-8k"
    with pytest.raises(ConfigError, match="longest is '9k'"):
        mrcr("9k")  # type: ignore[arg-type]
    assert [length_bin(size) for size in (1, 32_768, 32_769, 10**9)] == ["8192", "8192", "16384", "1048576"]


def test_graphwalks_compares_sets_of_nodes() -> None:
    rows = [
        {"prompt": "edges …", "answer_nodes": ["b", "a"], "problem_type": "bfs", "prompt_chars": 7},
        {"prompt": "more …", "answer_nodes": [], "problem_type": "parents", "prompt_chars": 70_000},
    ]
    task = registry.load("task", "graphwalks")()
    problems = task.problems(rows)
    ask = task.ask(problems[0], 0, ())
    assert (ask.messages[0].content, ask.reference) == ("edges …", ["b", "a"])
    assert problems[1].strata["problem_type"] == "parents"
    assert len(registry.load("task", "graphwalks")(longest="8k").problems(rows)) == 1
    assert registry.load("task", "graphwalks")(protocol="lm-eval").info.verifier_options == {"find": "last"}
    with pytest.raises(DataError, match="answer_nodes is not a list"):
        graphwalks({"prompt": "x", "answer_nodes": "a"}, 0)


def test_longbench_asks_about_the_text_or_without_it() -> None:
    row = {f"choice_{letter}": f"option {letter}" for letter in "ABCD"} | {
        **{"_id": "q1", "domain": "d", "sub_domain": "s", "difficulty": "easy", "length": "short"},
        **{"question": "What?", "answer": "C", "context": " A long text. "},
    }
    task = registry.load("task", "longbench_v2")()
    ask = task.ask(task.problems([row])[0], 0, ())
    assert "<text>\nA long text.\n</text>" in ask.messages[0].content
    assert ask.reference["letter"] == "C"
    bare = registry.load("task", "longbench_v2")(text="without")
    assert "long text" not in bare.ask(bare.problems([row])[0], 0, ()).messages[0].content
    with pytest.raises(DataError, match="wanted A, B, C or D"):
        longbench({**row, "answer": "E"}, 0)
