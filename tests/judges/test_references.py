"""Judged tasks with a judge that compares exactly: what it is shown, and how its replies become scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tasks.shapes import SHAPES

from .conftest import Server
from .test_benchmarks import ROWS, run, said

HLE = [
    {"id": f"h{n}", "question": "How many?", "image": "", "answer": answer}
    | {"answer_type": "exactMatch", "category": "Math"}
    for n, answer in enumerate(("5", "12", "1/2"))
]
OWN: dict[str, list[dict[str, Any]]] = {
    "hle": HLE,
    **{
        name: [dict(row) for row in SHAPES[name]]
        for name in ("hle_verified", "simpleqa_verified", "aa_omniscience", "imo_answerbench")
    },
}
LABELS = {
    "simpleqa": ("CORRECT", "INCORRECT"),
    "mixeval_hard_free_form": ("EQUAL", "DIFFERENT"),
    **dict.fromkeys(OWN, ("EQUAL", "DIFFERENT")),
    **dict.fromkeys(("simpleqa_verified", "aa_omniscience"), ("CORRECT", "INCORRECT")),
}
REFERENCES: dict[str, list[list[str]]] = {
    "simpleqa": [[str(row["answer"])] for row in ROWS["simpleqa"]],
    "mixeval_hard_free_form": [
        [str(name) for name in row["target"]] for row in ROWS["mixeval_hard_free_form"]
    ],
    **{name: [[row.get("answer") or row["Short Answer"]] for row in rows] for name, rows in OWN.items()},
}
"""The accepted answers of each row, taken from the rows and not from what the tasks make of them."""
PAIRED = ("alpaca_eval", "arena_hard")
CHECKED = (
    *("arena_hard_v2", "healthbench", "multi_challenge", "wildbench", "mt_bench", "harmbench"),
    "wildbench_reward",
    *("strongreject", "or_bench", "air_bench"),
)
"""Grades, points and questions instead of answers: test_benchmarks.py tries them."""
NAMES = frozenset((*REFERENCES, *PAIRED, *CHECKED))


def exactly(name: str) -> Any:
    """Return a judge that calls an answer right if it is one of the references that it is shown."""
    right, wrong = LABELS[name]

    def grade(prompt: str) -> str:
        reference, answer = said(prompt, "reference", "answer")
        accepted = [line.removeprefix("- ") for line in reference.splitlines()]
        return right if answer in accepted else wrong

    return grade


@pytest.fixture
def own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in OWN.items():
        monkeypatch.setitem(ROWS, name, rows)


@pytest.mark.slow
@pytest.mark.usefixtures("own_rows")
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_reference_is_right_for_itself_and_that_of_the_next_row_is_not(
    tmp_path: Path, server: Server, name: str
) -> None:
    server.grade = exactly(name)
    references = REFERENCES[name]
    for nth in range(max(map(len, references))):
        own = [accepted[nth % len(accepted)] for accepted in references]
        folder = tmp_path / f"own{nth}"
        folder.mkdir()
        found = run(folder, server, name, own)
        assert found["status_counts"] == {"correct": len(own)} and found["value"] == 1
    shifted = [accepted[0] for accepted in references[1:] + references[:1]]
    (tmp_path / "shifted").mkdir()
    found = run(tmp_path / "shifted", server, name, shifted)
    assert found["status_counts"] == {"wrong": len(shifted)} and found["value"] == 0


def prefers(texts: dict[str, str]) -> Any:
    """Return a judge that prefers the reply that is the best one to the request, in either place."""

    def grade(prompt: str) -> str:
        question, first, second = said(prompt, "question", "first", "second")
        best = texts.get(question)
        if best is None or first == second:
            return "TIE"
        return "A" if first == best else "B" if second == best else "TIE"

    return grade


@pytest.mark.slow
def test_the_opponents_own_reply_ties_and_that_of_the_next_row_loses(tmp_path: Path, server: Server) -> None:
    rows = ROWS["alpaca_eval"]
    own = [row["output"] for row in rows]
    server.grade = prefers({row["instruction"]: row["output"] for row in rows})
    for name, answers, value in (("own", own, 0.5), ("shifted", own[1:] + own[:1], 0.0)):
        (tmp_path / name).mkdir()
        found = run(tmp_path / name, server, "alpaca_eval", answers)
        assert found["value"] == value and found["judge"]["pairwise"]["losses"] == (3 if not value else 0)


@pytest.mark.slow
def test_the_better_reply_beats_a_stored_run_and_that_of_the_next_row_does_not(
    tmp_path: Path, server: Server
) -> None:
    best = [f"Poem {n}, the best." for n in range(3)]
    server.grade = lambda prompt: "correctness: 3\ncompleteness: 3\nclarity: 3"
    run(tmp_path, server, "arena_hard", ["An old poem."] * 3, more=", verifier: {judge: rubric}")
    server.grade = prefers({f"Write poem {n}.": text for n, text in enumerate(best)})
    against = ", verifier: {baseline: runs/old}"
    for name, answers, value in (("right", best, 1.0), ("shifted", best[1:] + best[:1], 0.5)):
        found = run(tmp_path, server, "arena_hard", answers, model=name, more=against)
        assert found["value"] == value, name
