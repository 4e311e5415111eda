"""genbench quality on stored runs: planted wrong keys, saturated tasks, and rulings of people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from genbench.analysis.comparison.compare import compare
from genbench.analysis.quality import quality
from genbench.cli import app
from genbench.errors import ConfigError, InputError, NotComparableError
from genbench.reports.terminal.estimate import quality_text
from genbench.review.draft import PlanOptions
from genbench.review.plan import plan_review
from genbench.review.reviews import ReviewFolder
from genbench.review.summary import add_reviews
from genbench.tasks.chosen_problems import chosen_ids
from genbench.types import Problem
from tests.known import known
from tests.ready_runs import RIGHT, SUITE, WRONG, MakeRun, as_another_run, rows, score_responses, write_lines

N, K, WRONG_KEYS = 200, 4, 10
OTHER = "\\boxed{7}"


@pytest.fixture
def models(make_run: MakeRun) -> list[Path]:
    """Six unrelated models. The first 10 of 200 keys are wrong: most samples of most models say 7 there."""
    found = []
    for number, skill in enumerate((0.3, 0.4, 0.5, 0.6, 0.7, 0.85)):
        rng = np.random.default_rng(number)
        solved = np.where(np.arange(N) < WRONG_KEYS, 0.75, rng.beta(4 * skill, 4 * (1 - skill), N))
        usual = rng.integers(100, 130, N)
        texts = [
            [
                (OTHER if i < WRONG_KEYS else RIGHT)
                if rng.random() < solved[i]
                else f"\\boxed{{{usual[i] if rng.random() < 0.5 else rng.integers(100, 999)}}}"
                for _ in range(K)
            ]
            for i in range(N)
        ]
        path = make_run(f"m{number}", texts.__getitem__, n=N)
        found.append(of_family(path, f"A{number}"))
    return found


def of_family(path: Path, name: str) -> Path:
    return as_another_run(path, lambda record: record.update(architecture={"architectures": [name]}))


@pytest.mark.slow
def test_planted_wrong_keys_are_found(models: list[Path]) -> None:
    task = quality(models).tasks["sums"]
    said = {key.problem_id for key in task.suspicious if key.wrong >= 0.5}
    planted = {f"p{i:02}" for i in range(WRONG_KEYS)}
    assert len(said & planted) >= 0.8 * WRONG_KEYS and len(said & planted) >= 0.5 * len(said)
    assert task.suspicious[0].answer == "7" and task.suspicious[0].families >= 4
    assert task.ceiling == pytest.approx(0.95, abs=0.02) and task.ceiling_ci[0] < 0.95 < task.ceiling_ci[1]
    assert task.advice == "audit" and "keys look wrong" in task.why
    assert (task.n, task.k) == (N, K) and 30 < task.useful < N and known(task.decision) > 0.95
    text = quality_text(quality(models))
    assert "unrelated models say '7' (key wrong with 100 %)" in text
    assert "genbench review references" in text and "--task sums" in text


@pytest.mark.slow
def test_models_of_one_family_count_once(models: list[Path]) -> None:
    for path in models:
        of_family(path, "A")
    keys = quality(models).tasks["sums"].suspicious
    assert {key.families for key in keys} == {1} and keys[0].wrong == pytest.approx(0.2222, abs=5e-5)


@pytest.mark.slow
def test_a_task_that_all_solve_is_dropped(make_run: MakeRun) -> None:
    rows = [[[RIGHT] * 4 if i != wrong else [WRONG] * 4 for i in range(60)] for wrong in range(2)]
    runs = [make_run(f"m{number}", own.__getitem__, n=60) for number, own in enumerate(rows)]
    task = quality(runs).tasks["sums"]
    assert task.advice == "drop" and task.suspicious == () and task.ceiling == 1
    with pytest.raises(InputError, match="wanted two runs or more"):
        quality(runs[:1])
    with pytest.raises(InputError, match="no task 'sum' in all runs"):
        quality(runs, ["sum"])


def ruled(folder: Path, wrong: int) -> Path:
    """Rule that the first keys are wrong, and the others right."""
    items = ReviewFolder.open(folder).plan.items
    lines = [
        {
            "item": item.item,
            "label": "wrong" if int(item.problem_id[1:]) < wrong else "right",
            "reviewer": "kim",
        }
        for item in items
    ]
    add_reviews(folder, write_lines(folder / "answers.jsonl", lines))
    return folder / "rulings.jsonl"


@pytest.mark.slow
def test_rulings_show_scores_with_and_without_the_disputed(models: list[Path], tmp_path: Path) -> None:
    planned = plan_review(models, "sums", PlanOptions(kind="references"), output=tmp_path / "references")
    assert WRONG_KEYS - 2 <= planned.n <= 2 * WRONG_KEYS
    page = (tmp_path / "references/review.html").read_text()
    assert "ambiguous" in page and "boxed{7}" in page
    rulings = ruled(tmp_path / "references", WRONG_KEYS)
    wrong = [line for line in map(json.loads, rulings.read_text().splitlines()) if line["ruling"] == "wrong"]
    assert len(wrong) >= WRONG_KEYS - 2
    shown = CliRunner().invoke(app, ["review", "show", str(tmp_path / "references")]).output
    assert f"the reference of {wrong[0]['problem_id']} is wrong" in shown and "rulings: " in shown
    scored = []
    for path in models[:2]:
        place = path.parents[1]
        suite = (place / "suite.yaml").read_text()
        (place / "suite.yaml").write_text(suite.replace("    k: 4", f"    rulings: {rulings}\n    k: 4"))
        scored.append(score_responses(place, "again"))
    strata = json.loads((scored[0] / "results.json").read_text())["tasks"]["sums"]["strata"]["reference"]
    assert strata["disputed"]["n"] == len(wrong) and strata["undisputed"]["n"] == N - len(wrong)
    found = compare(*scored).tasks["sums"].strata["reference"]
    assert {row.name for row in found} == {"disputed", "undisputed"}
    with pytest.raises(NotComparableError, match=r"data\.sums"):
        compare(models[0], scored[1])


def problems(n: int) -> list[Problem]:
    return [Problem("t", f"q{i}", {}, {"subject": "a" if i % 4 else "b"}) for i in range(n)]


def test_a_subset_is_random_nested_and_has_its_share_of_each_stratum() -> None:
    whole = problems(400)
    small, large = (chosen_ids(whole, n, 0, None) for n in (50, 100))
    assert set(small) < set(large) and large != [f"q{i}" for i in range(100)]
    assert chosen_ids(whole[::-1], 50, 0, None) == small[::-1] and chosen_ids(whole, 50, 1, None) != small
    strata = chosen_ids(whole, 50, 0, "subject")
    assert len(strata) == 50 and sum(int(name[1:]) % 4 == 0 for name in strata) in (12, 13)
    with pytest.raises(InputError, match="no such column; did you mean 'subject'"):
        chosen_ids(whole, 50, 0, "subjects")


@pytest.mark.slow
def test_a_subset_that_was_not_chosen_by_chance_is_refused(make_run: MakeRun) -> None:
    place = make_run("b", lambda i: [RIGHT] * 4).parents[1]
    file = place / "part.json"
    done = CliRunner().invoke(
        app,
        [
            "subset",
            str(place / "suite.yaml"),
            "--task",
            "sums",
            "--n",
            "6",
            "--strata",
            "level",
            "-o",
            str(file),
        ],
    )
    assert done.exit_code == 0 and "6 of 12 problems" in done.output, done.output
    suite = (place / "suite.yaml").read_text()
    (place / "suite.yaml").write_text(suite.replace("    k: 4", f"    subset: {file}\n    k: 4"))
    path = score_responses(place, "part")
    ids = json.loads(file.read_text())["ids"]
    assert [
        json.loads(line)["problem_id"] for line in (path / "sums/problems.jsonl").read_text().splitlines()
    ] == ids
    record = json.loads(file.read_text())
    others = [f"p{i:02}" for i in range(12) if f"p{i:02}" not in ids]
    file.write_text(json.dumps({**record, "ids": sorted([*ids[1:], others[0]])}))
    with pytest.raises(ConfigError, match=re.escape("1 of its 6 problems are not those that seed 0 gives")):
        score_responses(place, "cheat")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"problem_id": "p00", "ruling": "bad"}',
            "'ruling' is 'bad', wanted one of right, wrong, ambiguous",
        ),
        ('{"problem_id": "nope", "ruling": "wrong"}', "the task has no problem 'nope'"),
        ("nonsense", "wanted an object with problem_id and ruling"),
    ],
)
def test_a_damaged_ruling_is_named(make_run: MakeRun, line: str, said: str) -> None:
    place = make_run("b", lambda i: [RIGHT] * 4).parents[1]
    (place / "rulings.jsonl").write_text(f'{{"problem_id": "p01", "ruling": "wrong"}}\n{line}\n')
    suite = (place / "suite.yaml").read_text()
    (place / "suite.yaml").write_text(suite.replace("    k: 4", "    rulings: rulings.jsonl\n    k: 4"))
    with pytest.raises(ConfigError, match=re.escape(said)) as caught:
        score_responses(place, "again")
    assert "rulings.jsonl:2" in str(caught.value)


@pytest.mark.slow
def test_the_command_prints_the_table(models: list[Path]) -> None:
    done = CliRunner().invoke(app, ["quality", *map(str, models)])
    assert done.exit_code == 0 and "useful" in done.output and "audit" in done.output
    record = json.loads(CliRunner().invoke(app, ["quality", *map(str, models), "--json"]).output)
    assert record["tasks"]["sums"]["n"] == N and record["is_track"] is False
    assert CliRunner().invoke(app, ["quality"]).exit_code != 0


@pytest.mark.slow
def test_answers_of_a_few_classes_are_no_evidence_against_keys(make_run: MakeRun) -> None:
    runs = [
        of_family(make_run(name, lambda i: [RIGHT if i % 2 else WRONG] * 4, n=30), name)
        for name in ("x", "y")
    ]
    assert quality(runs).tasks["sums"].suspicious == ()


@pytest.mark.slow
def test_a_task_of_one_common_problem_is_left_out_and_refused_by_name(tmp_path: Path) -> None:
    tasks = SUITE[SUITE.index("  - name: sums") :]
    (tmp_path / "suite.yaml").write_text(
        SUITE + tasks.replace("name: sums", "name: one").replace("rows", "one")
    )
    write_lines(tmp_path / "rows.jsonl", rows())
    write_lines(tmp_path / "one.jsonl", rows(1))
    asked = [("one", "p00"), *(("sums", f"p{i:02}") for i in range(12))]
    lines = [
        {"task": task, "problem_id": problem, "sample_index": j, "text": RIGHT}
        for task, problem in asked
        for j in range(4)
    ]
    write_lines(tmp_path / "responses.jsonl", lines)
    run = score_responses(tmp_path)
    found = quality([run, run])
    assert list(found.tasks) == ["sums"] and found.left_out == {"one": 1}
    assert "one: left out: 1 problems are in all runs" in quality_text(found)
    with pytest.raises(InputError, match="task one: 1 problems are in all runs; wanted two or more"):
        quality([run, run], ["one"])
