"""Reviews by people: the plan, the page, the answers, and the scores that they correct."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from genbench.analysis.comparison.compare import compare
from genbench.cli import app
from genbench.errors import InputError
from genbench.reports.write import report_text
from genbench.review.draft import PlanOptions
from genbench.review.plan import plan_review
from genbench.review.questions import QUESTIONS
from genbench.review.reviews import REVIEWS, Kind, ReviewFolder
from genbench.review.summary import add_reviews, review_summary, review_text, undo_reviews
from tests.known import known
from tests.ready_runs import RIGHT, WRONG, MakeRun, score_responses, write_lines

N = 60


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    """Base is right on every second sample, tuned on three of four."""
    return (
        make_run("b", lambda i: [RIGHT, WRONG] * 2, n=N),
        make_run("t", lambda i: [RIGHT, RIGHT, WRONG, RIGHT], n=N),
    )


def answers(folder: Path, file: Path, reviewer: str, lies: int = 0, **more: Any) -> Path:
    """Write what a person says who calls right what is right, but for the first items."""
    place = ReviewFolder.open(folder)
    page = (folder / "review.html").read_text()
    found = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    texts = {item["item"]: item["answers"][0] for item in json.loads(known(found).group(1))["items"]}
    lines = []
    for number, item in enumerate(place.plan.items):
        said = (texts[item.item] == RIGHT) != (number < lies)
        label = "right" if said else "wrong"
        lines.append({"item": item.item, "label": label, "reviewer": reviewer, "seconds": 4.0, **more})
    return write_lines(file, lines)


@pytest.fixture
def folder(pair: tuple[Path, Path], tmp_path: Path) -> Path:
    plan = plan_review(pair, "sums", PlanOptions(n=50), output=tmp_path / "b/out/reviews/sums")
    assert (plan.n, plan.of, plan.items) == (50, N, 100)
    return Path(plan.folder)


def test_a_larger_plan_has_the_problems_of_a_smaller_one(pair: tuple[Path, Path], tmp_path: Path) -> None:
    problems = []
    for n in (10, 30):
        plan_review(pair[:1], "sums", PlanOptions(n=n, seed=3), output=tmp_path / str(n))
        problems.append({item.problem_id for item in ReviewFolder.open(tmp_path / str(n)).plan.items})
    assert problems[0] < problems[1] and len(problems[1]) == 30
    with pytest.raises(InputError, match="has another plan already"):
        plan_review(pair[:1], "sums", PlanOptions(n=10, seed=4), output=tmp_path / "10")


def test_the_page_tells_nothing_of_models_and_verdicts(folder: Path, pair: tuple[Path, Path]) -> None:
    page = (folder / "review.html").read_text()
    uids = [run.uid for run in ReviewFolder.open(folder).plan.runs]
    for word in (*map(str, pair), *uids, "tuned", "correct", "model", "sample_index", '"run"'):
        assert word not in page, word
    order = [item.run for item in ReviewFolder.open(folder).plan.items]
    assert 20 < sum(left != right for left, right in pairwise(order)) < 80


@pytest.mark.slow
def test_labels_correct_scores_and_differences(
    folder: Path, pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add_reviews(folder, answers(folder, tmp_path / "a.jsonl", "kim")) == 100
    summary = review_summary(folder)
    base, tuned = (summary.runs[str(path)] for path in pair)
    assert (base.n, base.machine, base.reviewers) == (50, 0.5, ("kim",))
    assert base.agreement.kappa == 1 and base.right.share == base.wrong.share == 1 and base.open == 0
    assert base.ci[0] < 0.5 < base.ci[1] and base.labels_ci[1] - base.labels_ci[0] < 0.3
    assert (tuned.machine, tuned.weight) == (0.75, 0)  # fewer than 25 wrong ones
    found = known(compare(*pair).tasks["sums"].reviewed)
    assert found == summary.pair
    assert found.machine == 0.25 and found.ci[0] <= 0.25 <= found.ci[1] and not found.is_unequal
    text = review_text(summary)
    assert "corrected by labels of 50 problems: +25.0" in text and "kappa 1.00" in text
    assert any("corrected by labels of 50 problems" in note for note in compare(*pair).notes)
    report = json.loads(report_text([pair[0]], "json"))
    assert report["runs"][0]["reviewed"]["sums"]["n"] == 50
    said = f"corrected by 50 labels of one person: {100 * base.value:.1f}"
    assert said in report_text([pair[0]], "md")
    shown = CliRunner().invoke(app, ["show", str(pair[0])]).output
    assert f"sums: {said}" in shown


@pytest.mark.slow
def test_people_disagree_withdraw_and_correct_themselves(folder: Path, tmp_path: Path) -> None:
    add_reviews(folder, answers(folder, tmp_path / "a.jsonl", "kim"))
    assert add_reviews(folder, tmp_path / "a.jsonl") == 0
    assert add_reviews(folder, answers(folder, tmp_path / "b.jsonl", "lee", lies=20)) == 100
    before = (folder / REVIEWS).read_bytes()
    summary = review_summary(folder)
    people = next(iter(summary.runs.values())).people
    assert people.n == 100 and known(people.kappa) == pytest.approx(0.58, abs=0.05)
    assert undo_reviews(folder, "lee") == 100
    assert (folder / REVIEWS).read_bytes().startswith(before)
    assert next(iter(review_summary(folder).runs.values())).people.n == 0
    with pytest.raises(InputError, match="no review of 'lee' is in force; there are those of kim"):
        undo_reviews(folder, "lee")
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    other = {"right": "wrong", "wrong": "right"}[first["label"]]
    write_lines(tmp_path / "c.jsonl", [{**first, "label": other, "comment": "read again"}])
    assert add_reviews(folder, tmp_path / "c.jsonl") == 1
    assert ReviewFolder.open(folder).in_force[first["item"]]["kim"].label == other


@pytest.mark.slow
def test_an_answer_that_was_drawn_again_loses_its_label(
    folder: Path, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    add_reviews(folder, answers(folder, tmp_path / "a.jsonl", "kim"))
    path = pair[0] / "sums/completions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    write_lines(
        path, [{**line, "text": line["text"] + " "} if i < 40 else line for i, line in enumerate(lines)]
    )
    task = review_summary(folder).runs[str(pair[0])]
    assert 0 < task.void < 50 and task.n == 50 - task.void
    assert f"{task.void} reviews are void: their answers were drawn again" in review_text(
        review_summary(folder)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"item": "nope", "label": "right"}, "the plan has no item 'nope'"),
        ({"label": "maybe"}, "'label' is 'maybe', wanted one of right, wrong"),
        ({"label": "right", "seconds": -1}, "seconds"),
        ({"label": "right", "plan": "f" * 16}, "is of another plan"),
        ({"label": "right", "reviewer": ""}, "says not who reviewed; give --reviewer NAME"),
    ],
)
def test_a_damaged_answer_is_named_and_nothing_is_added(
    folder: Path, tmp_path: Path, line: dict[str, Any], said: str
) -> None:
    items = [item.item for item in ReviewFolder.open(folder).plan.items]
    good = {"item": items[0], "label": "right", "reviewer": "kim"}
    file = write_lines(tmp_path / "a.jsonl", [good, {**good, "item": items[1], **line}])
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        add_reviews(folder, file)
    assert f"{file}:2" in str(caught.value)
    assert not (folder / REVIEWS).exists()


@pytest.mark.slow
def test_the_commands(pair: tuple[Path, Path], tmp_path: Path) -> None:
    def output(*arguments: object) -> str:
        done = CliRunner().invoke(app, [*map(str, arguments)])
        assert done.exit_code == 0, done.output
        return done.output

    said = output(
        "label",
        pair[1],
        "--task",
        "sums",
        "--n",
        20,
        "--labels",
        "good=1,fair=0.5,poor=0",
        "-o",
        tmp_path / "r",
    )
    assert "20 answers to 20 of 60 problems" in said and "these labels alone give ±" in said
    items = [item.item for item in ReviewFolder.open(tmp_path / "r").plan.items]
    write_lines(tmp_path / "a.jsonl", [{"item": item, "label": "fair"} for item in items])
    assert "20 reviews are new" in output(
        "review", "add", tmp_path / "r", tmp_path / "a.jsonl", "--reviewer", "kim"
    )
    assert (
        json.loads(output("review", "show", tmp_path / "r", "--json"))["runs"][str(pair[1])]["labels"] == 0.5
    )
    assert "20 reviews of kim are withdrawn" in output("review", "add", tmp_path / "r", "--undo", "kim")
    assert "nothing yet" in output("review", "show", tmp_path / "r")
    again = output("label", pair[1], "--task", "sums", "--task", "sums", "--n", 5, "-o", tmp_path / "both")
    assert again.count("5 answers to 5 of 60 problems") == 2 and (tmp_path / "both/sums/plan.json").is_file()
    wrong = CliRunner().invoke(app, ["label", str(pair[1]), "--task", "sums", "--labels", "good=2,bad=0"])
    assert wrong.exit_code != 0


@pytest.mark.slow
def test_a_person_answers_with_the_keyboard(browser: Any, folder: Path, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    browser.get((folder / "review.html").as_uri())
    body = browser.find_element(By.TAG_NAME, "body")
    browser.find_element(By.ID, "who").send_keys("kim", Keys.ESCAPE)
    for key in ("1", "2", "u", "1", "c"):
        body.send_keys(key)
    browser.find_element(By.ID, "comment").send_keys("why not", Keys.ESCAPE)
    body.send_keys("2")
    assert browser.find_element(By.ID, "place").text == "Answer 4 of 100, 3 done"
    browser.refresh()
    assert browser.find_element(By.ID, "place").text == "Answer 4 of 100, 3 done"
    browser.find_element(By.ID, "save").click()
    file = tmp_path / "answers.jsonl"
    deadline = time.monotonic() + 60
    while not (file.is_file() and file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["label"] for line in lines] == ["right", "right", "wrong"]
    assert lines[2]["comment"] == "why not" and {line["reviewer"] for line in lines} == {"kim"}
    assert add_reviews(folder, file) == 3
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_changed_plan_is_another_plan(pair: tuple[Path, Path], tmp_path: Path) -> None:
    plan_review(pair[:1], "sums", PlanOptions(n=10), output=tmp_path / "r")
    assert score_responses(pair[0].parent.parent) == pair[0]
    plan_review(pair[:1], "sums", PlanOptions(n=10), output=tmp_path / "r")
    assert len(ReviewFolder.open(tmp_path / "r").plan.items) == 10


@pytest.mark.slow
def test_damaged_reviews_are_named_and_left_out(
    folder: Path, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    add_reviews(folder, answers(folder, tmp_path / "a.jsonl", "kim"))
    with (folder / REVIEWS).open("a") as file:
        file.write('{"plan": "x"}\n')
    found = compare(*pair)
    assert found.tasks["sums"].reviewed is None
    assert any(
        line.startswith(f"reviews are left out: {folder}/reviews.jsonl:101") for line in found.warnings
    )
    assert "reviews are left out" in CliRunner().invoke(app, ["show", str(pair[0])]).output


def test_every_kind_that_a_plan_may_have_is_a_question() -> None:
    assert set(QUESTIONS) == set(get_args(Kind))


LOADED = """
    import json
    import sys
    from typer.testing import CliRunner
    from genbench.cli import app
    for command in json.loads(sys.argv[1]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, (command, done.output)
    known = "genbench.review.commands"
    own = [name for name in sys.modules if name.startswith("genbench.") and name != known]
    print("@@" + json.dumps([name for name in own if "review" in name or "raters" in name]))
"""


def review_modules(*commands: Sequence[object]) -> list[str]:
    """Return the modules of review that these commands load in a process of their own."""
    given = json.dumps([[str(part) for part in command] for command in commands])
    code = [sys.executable, "-c", textwrap.dedent(LOADED), given]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout.partition("@@")[2])
    return found


@pytest.mark.slow
def test_runs_without_reviews_load_nothing_of_review(pair: tuple[Path, Path], tmp_path: Path) -> None:
    base, tuned = pair
    suite, responses = (base.parents[1] / name for name in ("suite.yaml", "responses.jsonl"))
    suite.write_text(suite.read_text().replace("./model", "shipped:checkpoints/tiny-tuned"))
    assert not review_modules(
        ("check", suite),
        ("run", suite, "--responses", responses, "--run-dir", tmp_path / "again"),
        ("show", base),
        ("compare", base, tuned),
        ("report", base, tuned, "-o", tmp_path / "page.html"),
    )
    plan_review(pair, "sums", PlanOptions(n=50))
    assert "genbench.review.scores" in review_modules(("show", tuned))
