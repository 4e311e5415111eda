"""genbench contamination runs on stored runs: flips against earlier models, and the order of options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.analysis.estimate import right_shares
from genbench.analysis.sides.loading import open_side
from genbench.errors import InputError, NotComparableError
from genbench.reports.terminal.contamination import contamination_text
from genbench.runs.contamination import contamination
from genbench.stats.contamination import closeness
from genbench.tasks.choice_options import LETTERS, option_order
from tests.ready_runs import score_responses, write_lines

N, K = 30, 8
OPTIONS = ["red", "green", "blue", "white"]
SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: picks
    kind: choice
    data: {path: rows.jsonl, fields: {id: id, question: problem, options: options, reference: answer}}
    prompt: "{question}\\n{options}"
    options: {order: per_sample}
    k: 8
"""
Chosen = Callable[[int, int, float], bool]
"""(problem, sample, closeness) -> whether the sample is right."""


def letter(problem: int, index: int, right: bool) -> str:
    order = option_order("per_sample", 4, f"p{problem:02}", index)
    place = order.index(problem % 4)
    return LETTERS[place if right else (place + 1) % 4]


def close(problem: int, index: int) -> float:
    """Return how close the sample's order of options is to that of the dataset."""
    return closeness(option_order("per_sample", 4, f"p{problem:02}", index))


@pytest.fixture(scope="module")
def draw(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Chosen], Path]:
    """Draw a run of a task with options, each sample right if `chosen` says so."""
    place = tmp_path_factory.mktemp("runs")
    (place / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"p{i:02}", "problem": f"Which? {i}", "options": OPTIONS, "answer": LETTERS[i % 4]}
        for i in range(N)
    ]
    write_lines(place / "rows.jsonl", rows)

    def made(name: str, chosen: Chosen) -> Path:
        lines = [
            {
                "task": "picks",
                "problem_id": f"p{i:02}",
                "sample_index": j,
                "text": f"Answer: {letter(i, j, chosen(i, j, close(i, j)))}",
            }
            for i in range(N)
            for j in range(K)
        ]
        write_lines(place / "responses.jsonl", lines)
        return score_responses(place, name)

    return made


@pytest.fixture(scope="module")
def runs(draw: Callable[[str, Chosen], Path]) -> dict[str, Path]:
    """A base that never solves the first 15 problems, clean models, one with a leak, one with memory."""

    def half(j: int) -> bool:
        return j % 2 == 0

    return {
        "base": draw("base", lambda i, j, c: i >= 15 and half(j)),
        "clean1": draw("clean1", lambda i, j, c: i >= 15 and half(j + 1)),
        "clean2": draw("clean2", lambda i, j, c: i >= 14 and half(j)),
        "leak": draw("leak", lambda i, j, c: i < 6 or (i >= 15 and half(j))),
        "far": draw("far", lambda i, j, c: i < 6 or (i >= 15 and j != 0)),
        "memory": draw("memory", lambda i, j, c: i >= 15 and c > 0.5),
    }


@pytest.mark.slow
def test_flips_of_a_leak_are_found_against_earlier_models(runs: dict[str, Path]) -> None:
    task = contamination([runs[name] for name in ("base", "clean1", "clean2", "leak")]).tasks["picks"]
    flips = task.flips
    assert (flips.chances, flips.count, flips.problems) == (15, 6, tuple(f"p{i:02}" for i in range(6)))
    assert (flips.earlier_runs, flips.earlier_chances, flips.earlier_count) == (2, 30, 0)
    assert flips.p == pytest.approx((1 / 3) ** 6)
    assert flips.share_of_gain == pytest.approx(1.0)
    assert task.suspicious


@pytest.mark.slow
def test_a_clean_model_is_not_suspicious(runs: dict[str, Path]) -> None:
    task = contamination([runs[name] for name in ("base", "clean2", "clean1")]).tasks["picks"]
    assert (task.flips.count, task.flips.p, task.suspicious) == (0, 1.0, False)


@pytest.mark.slow
def test_flips_without_earlier_models_are_counted_but_not_tested(runs: dict[str, Path]) -> None:
    task = contamination([runs["base"], runs["leak"]]).tasks["picks"]
    assert (task.flips.count, task.flips.p) == (6, None)
    assert not task.suspicious


@pytest.mark.slow
def test_flips_of_a_step_larger_than_all_earlier_ones_are_not_tested(
    runs: dict[str, Path],
) -> None:
    record = contamination([runs[name] for name in ("base", "clean1", "clean2", "far")])
    flips = record.tasks["picks"].flips
    assert (flips.count, flips.earlier_runs, flips.p) == (6, 2, None)
    assert flips.step == pytest.approx(1 - 1 / K - 0.5) and flips.largest_earlier_step == 0
    assert not record.tasks["picks"].suspicious
    assert "flips are not tested: this step is larger than all earlier ones" in contamination_text(record)


@pytest.mark.slow
def test_flips_are_not_tested_if_base_solves_every_problem(draw: Callable[[str, Chosen], Path]) -> None:
    base = draw("always", lambda i, j, c: j % 2 == 0)
    other = draw("other", lambda i, j, c: j % 2 == 1)
    record = contamination([base, other, base])
    assert record.tasks["picks"].flips.p is None
    assert "flips are not tested: base solves every problem at least once" in contamination_text(record)


@pytest.mark.slow
def test_a_model_that_remembers_the_order_of_options_is_suspicious(runs: dict[str, Path]) -> None:
    task = contamination([runs["base"], runs["memory"]]).tasks["picks"]
    order = task.order
    assert order.missing is None
    assert (order.tuned_effect or 0) > 0.5
    assert (order.p_adjusted or 1) < 0.001
    assert task.suspicious


@pytest.mark.slow
def test_p_values_are_adjusted_over_all_tests(runs: dict[str, Path]) -> None:
    task = contamination([runs[name] for name in ("base", "clean1", "leak")]).tasks["picks"]
    assert task.flips.p is not None and task.order.p is not None
    assert task.flips.p_adjusted == pytest.approx(2 * task.flips.p)


def test_runs_with_few_samples_are_not_counted(tmp_path: Path) -> None:
    paths = []
    for name in ("a", "b"):
        rows = [{"task": "t", "problem_id": str(i), "sample_index": 0, "score": 1} for i in range(3)]
        paths.append(write_lines(tmp_path / f"{name}.jsonl", rows))
    task = contamination(paths).tasks["t"]
    assert task.flips.missing == "base has 1 samples of a problem; wanted 8 or more (best 64)"
    assert task.order.missing == "a score file has no questions"


@pytest.mark.slow
def test_one_run_is_refused(runs: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="wanted at least two runs"):
        contamination([runs["base"]])


@pytest.mark.slow
def test_runs_that_differ_are_refused_unless_allowed(runs: dict[str, Path], tmp_path: Path) -> None:
    record = {"task": "picks", "problem_id": "other", "sample_index": 0, "score": 1}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(NotComparableError):
        contamination([runs["base"], path])


@pytest.mark.slow
def test_a_strangers_run_is_not_read_again(runs: dict[str, Path]) -> None:
    seal = runs["clean2"] / "seal.json"
    kept = seal.read_bytes()
    seal.unlink()
    try:
        order = contamination([runs["base"], runs["clean2"]]).tasks["picks"].order
        assert "asks for files: read " in str(order.missing)
        trusted = contamination([runs["base"], runs["clean2"]], trusted=["files"]).tasks["picks"].order
        assert trusted.missing is None
    finally:
        seal.write_bytes(kept)


def test_partly_right_samples_count_as_wrong(tmp_path: Path) -> None:
    scores = [1, 0.5, 0, None]
    rows = [
        {"task": "t", "problem_id": "1", "sample_index": index, "score": score}
        for index, score in enumerate(scores)
    ]
    side = open_side(write_lines(tmp_path / "s.jsonl", rows))
    assert right_shares(side.tasks["t"]).tolist() == [pytest.approx(1 / 3)]


@pytest.mark.slow
def test_each_verdict_says_what_it_could_have_found(runs: dict[str, Path]) -> None:
    found = contamination([runs[name] for name in ("base", "clean1", "clean2", "leak")])
    task = found.tasks["picks"]
    assert task.words.startswith("a sign (flips p ")
    assert f"after Holm over {found.tests} tests); explained also by" in task.words
    other = contamination([runs[name] for name in ("base", "clean1", "clean2")]).tasks["picks"]
    assert other.could_find is not None and other.could_find.leak_5 <= other.could_find.leak_10
    assert "no sign found; could have found" in other.words and "with 80 %" in other.words
    alone = contamination([runs["base"], runs["clean1"]], tasks=["picks"]).tasks["picks"]
    assert alone.could_find is None and "leak" not in alone.words
    text = contamination_text(found)
    assert task.words in text and not any(word in text.split() for word in ("clean", "contaminated"))


TWINS = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: first
    kind: exact
    data: {path: first.jsonl, fields: {id: id, question: question, reference: answer}}
    prompt: "Say it. {question}"
    k: 2
  - name: twin
    kind: exact
    data: {path: twin.jsonl, fields: {id: id, question: question, reference: answer, group: seed}}
    prompt: "{question}"
    k: 2
"""


@pytest.mark.slow
def test_twins_of_originals_are_compared_beyond_base(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(TWINS)
    seeds = {i: f"How many are {i} and {i} apples?" for i in range(20)}
    write_lines(
        tmp_path / "first.jsonl",
        [{"id": f"o{i}", "question": seed, "answer": "1"} for i, seed in seeds.items()],
    )
    write_lines(
        tmp_path / "twin.jsonl",
        [
            {"id": f"t{i}-{j}", "question": f"{i} pears {j}?", "answer": "1", "seed": seed}
            for i, seed in seeds.items()
            for j in range(2)
        ],
    )

    def draw(name: str, original: int, twins: int) -> Path:
        asked = [("first", f"o{i}", i < original) for i in seeds]
        asked += [("twin", f"t{i}-{j}", i < twins) for i in seeds for j in range(2)]
        lines = [
            {"task": task, "problem_id": problem, "sample_index": k, "text": "1" if right else "0"}
            for task, problem, right in asked
            for k in range(2)
        ]
        write_lines(tmp_path / "responses.jsonl", lines)
        return score_responses(tmp_path, name)

    runs = [draw("base", 10, 10), draw("tuned", 20, 12)]
    found = contamination(runs, twins={"first": "twin"})
    pair = found.twins["first=twin"]
    assert (pair.problems, pair.base_gap, pair.tuned_gap) == (20, 0.0, -0.4)
    assert pair.p == pytest.approx(2**-8) and pair.p_adjusted == pair.p and found.tests == 1
    assert "first=twin: a sign: twins minus originals" in contamination_text(found)
    with pytest.raises(InputError, match="no task 'twins' in all runs"):
        contamination(runs, twins={"first": "twins"})
