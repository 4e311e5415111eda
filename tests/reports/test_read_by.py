"""How answers were read, next to each score: results.json, terminal, page, Markdown, and comparisons."""

from __future__ import annotations

import json
import re
from pathlib import Path

from genbench.analysis.comparison.compare import compare
from genbench.analysis.results.means import GroupRecord
from genbench.reports.figures import read_words
from genbench.reports.result_tables import READ_BY, group_scores, read_lines, read_rows, task_score
from genbench.reports.terminal.compare import compare_brief, compare_text
from genbench.reports.terminal.run import run_table
from genbench.reports.write import report, report_text
from genbench.stats.macro import MeanRecord
from genbench.store.folder import RunFolder
from tests.ready_runs import RIGHT, SILENT, MakeRun, as_another_run
from tests.reports.made import results, task

GUESSED = "One and one\nare 2 of them."


def test_a_run_and_a_comparison_say_it_next_to_each_score(make_run: MakeRun) -> None:
    base = make_run("base", lambda i: [RIGHT] * 3 + [SILENT], n=60)
    tuned = make_run("tuned", lambda i: [RIGHT] * 2 + [GUESSED, SILENT], n=60)
    record = json.loads((tuned / "results.json").read_text())
    assert record["tasks"]["sums"]["read_by"] == {"box": 120, "guess": 60, "nothing": 60}
    page = report([base, tuned], base.parent / "both.html").page.read_text()
    assert ">box 50%, guess 25%, nothing 25%</td>" in page and 'data-l="read by"' in page
    assert "How answers were read" in report_text([tuned], "md")
    found = compare(base, tuned)
    both = "read by: box 75% -> 50%, guess 0% -> 25%, nothing 25% -> 25%"
    assert f"sums: {both}" in compare_brief(found) and both in compare_text(found)
    (warned,) = [line for line in found.warnings if line.startswith("sums: 25.0% of the answers of base")]
    assert warned in compare_brief(found) and warned in page
    pair = found.to_json()["tasks"]["sums"]["read_by"]
    assert (pair["guesses_base"], pair["guesses_tuned"], pair["difference"]) == (0.25, 0.5, 0.25)


def test_the_terminal_has_a_line_under_the_table_for_each_task_that_says_it() -> None:
    tasks = {"sums": task(read_by={"box": 163, "announcement": 30, "guess": 6, "nothing": 1}), "code": task()}
    lines = run_table({"m": results(tasks=tasks)}, {}).splitlines()
    at = lines.index("Answers read by:")
    assert lines[at + 1] == "  m/sums  box 82%, announcement 15%, guess 3%, nothing <1%"
    assert "m/code" not in lines[at + 2]
    assert "read by" not in run_table({"m": results()}, {})


def test_a_group_has_one_line_of_all_its_tasks() -> None:
    mean = MeanRecord(value=0.5, n=2, parts=2, se=None, ci=None)
    group = GroupRecord(tasks=("a", "b"), macro=mean, micro=mean)
    tasks = {"a": task(read_by={"box": 3, "guess": 1}), "b": task(read_by={"guess": 4}), "c": task()}
    rows = [*group_scores("m", 0, "g", group, tasks), task_score("m", 0, "c", tasks["c"])]
    assert read_lines(rows) == ["m/g  box 38%, guess 62%"]
    assert READ_BY.html_rows(read_rows(rows)).count("box 38%, guess 62%") == 1


def test_a_share_is_never_rounded_to_none_or_all() -> None:
    assert read_words({"box": 999, "guess": 1}) == "box >99%, guess <1%"
    assert read_words(None) == "not recorded"


def test_a_run_of_an_older_version_is_compared_without_it(make_run: MakeRun) -> None:
    tuned = make_run("tuned", lambda i: [RIGHT] * 2 + [GUESSED, SILENT], n=60)
    base = as_another_run(_of_an_older_version(make_run("base", lambda i: [RIGHT] * 4, n=60)))
    found = compare(base, tuned)
    assert "read by: not recorded -> box 50%, guess 25%, nothing 25%" in compare_text(found)
    assert not [line for line in found.warnings if "guessed" in line]
    alone = compare(base, base)
    assert "read_by" not in alone.to_json()["tasks"]["sums"] and "read by" not in compare_text(alone)


def _of_an_older_version(run: Path) -> Path:
    """Make a run what an older version left: verdicts with `found`, no counts, and no seal of details."""
    folder = RunFolder(run)
    path = folder.file("sums", "verdicts")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["detail"] = {"found": "boxed"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    results_path = run / "results.json"
    text = results_path.read_text()
    results_path.write_text(re.sub(r',\s*"more": "[0-9a-f]{16}"', "", text))
    return run
