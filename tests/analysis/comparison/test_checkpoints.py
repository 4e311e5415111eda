"""The table of several checkpoints: differences to the first, ranks, the best without its luck, and CSV."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from genbench.analysis.comparison.checkpoints import compare_checkpoints, rank_ranges, runs_below
from genbench.analysis.comparison.compare import compare
from genbench.errors import InputError, NotComparableError
from genbench.pipeline import RunOptions
from genbench.reports.checkpoints import checkpoints_csv, checkpoints_text, csv_text
from genbench.runs.inputs import about_record
from genbench.store.manifest import AboutRecord
from tests.analysis.score_sides import side_task
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run


@pytest.fixture
def runs(make_run: MakeRun) -> list[Path]:
    """Three runs of 24 problems that get a quarter, a half and all of them right."""
    shares: dict[str, Callable[[int], list[str]]] = {
        "low": lambda i: [RIGHT if i % 4 == 0 else WRONG] * 4,
        "half": lambda i: [RIGHT if i % 2 == 0 else WRONG] * 4,
        "all": lambda _: [RIGHT] * 4,
    }
    return [make_run(name, answer, n=24) for name, answer in shares.items()]


def test_values_and_differences_are_those_of_two_runs(runs: list[Path]) -> None:
    record = compare_checkpoints(runs)
    (task,) = record.tasks.values()
    assert len(record.runs) == 3
    assert [score.value for score in task.scores] == [0.25, 0.5, 1.0]
    for score, path in zip(task.scores[1:], runs[1:], strict=True):
        pair = compare(runs[0], path, recheck=None).tasks["sums"]
        assert (score.difference, score.difference_ci, score.p) == (
            pair.difference,
            pair.ci,
            pair.p_two_sided,
        )
    assert task.scores[0].difference is None
    assert [score.rank for score in task.scores] == [(3, 3), (2, 2), (1, 1)]
    assert task.best is not None and task.best.value == 1.0
    assert task.best.shrunk is not None and 0.9 < task.best.shrunk < 1.0


def test_the_text_and_the_csv_say_the_same(runs: list[Path]) -> None:
    record = compare_checkpoints(runs)
    text = checkpoints_text(record)
    assert "50.0 (+25.0*) #2" in text and "100.0 (+75.0*) #1" in text
    lines = list(csv.DictReader(io.StringIO(checkpoints_csv(record))))
    assert [float(line["score"]) for line in lines] == [0.25, 0.5, 1.0]
    assert [line["best_rank"] for line in lines] == ["3", "2", "1"]


def test_ranks_of_equal_checkpoints_are_rarely_told_apart() -> None:
    """Tukey's range holds the error over all pairs: 5 % of draws of five equal checkpoints."""
    rng, wrong, draws = np.random.default_rng(0), 0, 400
    for _ in range(draws):
        chances = rng.beta(2, 2, 60)
        tasks = {
            str(number): side_task([[float(rng.random() < chance)] for chance in chances])
            for number in range(5)
        }
        ranks, shared = rank_ranges(tasks)
        assert shared == 60
        wrong += any(rank != (1, 5) for rank in ranks.values())
    assert 0.01 < wrong / draws < 0.08


def test_a_run_that_cannot_be_compared_is_named_and_left_out(runs: list[Path]) -> None:
    def other(record: dict) -> None:  # type: ignore[type-arg]
        record["tasks"]["sums"]["data_digest"] = "0" * 64

    as_another_run(runs[2], other)
    record = compare_checkpoints(runs)
    assert [run.refused is None for run in record.runs] == [True, True, False]
    assert len(record.tasks["sums"].scores) == 2
    with pytest.raises(NotComparableError):
        compare_checkpoints([runs[0], runs[2]])
    with pytest.raises(InputError, match="given twice"):
        compare_checkpoints([runs[0], runs[0]])


def test_a_folder_of_one_command_means_its_runs_in_the_order_of_the_suite(runs: list[Path]) -> None:
    assert runs_below([runs[0].parent]) == [runs[0]]
    assert runs_below([runs[0], runs[1].parent]) == runs[:2]


def test_a_cell_is_no_formula_of_a_spreadsheet() -> None:
    text = csv_text(("run", "score"), [("=HYPERLINK(1)", -0.5), ("@x", None), ("fine", 1)])
    assert text.splitlines() == ["run,score", "'=HYPERLINK(1),-0.5", "'@x,", "fine,1"]


MISTAKES = (
    ({"tags": ["two words"]}, "--tag 'two words': wanted one word"),
    ({"meta": ["lr"]}, "--meta lr: wanted KEY=VALUE"),
    ({"meta": ["nowhere/state.json"]}, "wanted KEY=VALUE"),
    ({"meta": ["a lr=1"]}, "wanted KEY=VALUE"),
)


def test_values_are_read_from_pairs_and_from_files_of_a_trainer(tmp_path: Path) -> None:
    state = tmp_path / "trainer_state.json"
    state.write_text('{"global_step": 500, "best": {"loss": 0.7, "ok": true}, "log_history": [1], "x": NaN}')
    found = about_record(RunOptions(tags=["a", "b", "a"], note="n", meta=["lr=3e-5 mix=v7 b c", str(state)]))
    assert found.tags == ("a", "b")
    assert found.meta == {
        "lr": 3e-5,
        "mix": "v7 b c",
        "global_step": 500.0,
        "best.loss": 0.7,
        "best.ok": True,
        "x": "NaN",
    }
    more = AboutRecord(tags=("c",), meta={"lr": 1.0}).over(found)
    assert (more.tags, more.note, more.meta["lr"], more.meta["mix"]) == (("a", "b", "c"), "n", 1.0, "v7 b c")
    for given, said in MISTAKES:
        with pytest.raises(InputError) as error:
            about_record(RunOptions(**given))  # type: ignore[arg-type]
        assert said in str(error.value)
    assert len(list(itertools.islice(found.meta, 9))) == 6
