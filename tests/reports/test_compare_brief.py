"""A comparison on one screen: what it keeps, what it counts, and where the rest is."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.reports.terminal.compare import LINES, compare_brief, compare_text
from tests.ready_runs import write_lines


def scores(path: Path, right: int, tasks: int, n: int = 60) -> Path:
    lines = [
        {"task": f"t{t:02}", "problem_id": str(i), "sample_index": 0, "score": int(i < right + t)}
        for t in range(tasks)
        for i in range(n)
    ]
    return write_lines(path, lines)


def compared(place: Path, tasks: int = 2, *, gate: bool = False) -> Comparison:
    return compare(scores(place / "b.jsonl", 5, tasks), scores(place / "t.jsonl", 25, tasks), gate=gate)


def below(text: str, tasks: int) -> list[str]:
    """The lines below the table."""
    lines = text.splitlines()
    rule = next(at for at, line in enumerate(lines) if line.startswith("-----"))
    return lines[rule + tasks + 1 :]


def test_the_verdict_comes_first_and_then_the_table(tmp_path: Path) -> None:
    lines = compare_brief(compared(tmp_path)).splitlines()
    assert lines[0].startswith("t.jsonl is better than b.jsonl on average over 2 tasks: +33.3 [24.6, 42.0]. ")
    assert lines[2].startswith("base:  ") and lines[5].startswith("task  metric")
    assert lines[7].startswith("t00 ") and lines[8].startswith("t01 ")


@pytest.mark.parametrize("tasks", [1, 12, 60])
def test_at_most_thirty_lines_follow_the_table(tmp_path: Path, tasks: int) -> None:
    record = compared(tmp_path, tasks, gate=True)
    record = record.model_copy(
        update={
            "warnings": tuple(f"doubt {i}" for i in range(40)),
            "allowed": tuple(f"difference {i}" for i in range(9)),
        }
    )
    found = below(compare_brief(record), tasks)
    assert len(found) <= LINES
    assert "… and 35 more warnings" in found and "… and 6 more differences" in found
    assert "gate: passed" in found


def test_tasks_that_changed_most_keep_their_sentence(tmp_path: Path) -> None:
    base = scores(tmp_path / "b.jsonl", 0, 50)
    rows = [line for line in (tmp_path / "b.jsonl").read_text().splitlines() if '"t49"' not in line]
    moved = [
        f'{{"task": "t49", "problem_id": "{i}", "sample_index": 0, "score": {int(i >= 49)}}}'
        for i in range(60)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join([*rows, *moved]))
    text = "\n".join(below(compare_brief(compare(base, tmp_path / "t.jsonl")), 50))
    assert "t49: 81.7 -> 18.3" in text and "more tasks that changed less" in text


def test_the_last_line_says_where_the_rest_is(tmp_path: Path) -> None:
    record = compared(tmp_path)
    assert compare_brief(record).endswith("\nCauses, strata and notes: --details")
    one = compare_brief(record.model_copy(update={"circumstances": ("gpu: a -> b",)}))
    assert "1 circumstance(s) differ. Causes" in one


def test_only_runs_have_a_page(tmp_path: Path) -> None:
    record = compared(tmp_path)
    runs = {
        side: getattr(record, side).model_copy(update={"kind": "run", "path": f"runs/my n/{side}"})
        for side in ("base", "tuned")
    }
    text = compare_brief(record.model_copy(update=runs))
    assert text.endswith("or the page: genbench report 'runs/my n/base' 'runs/my n/tuned'")


def test_the_details_contain_what_the_short_text_leaves_out(tmp_path: Path) -> None:
    record = compared(tmp_path)
    assert "note: " in compare_text(record) and "note: " not in compare_brief(record)
    assert compare_text(record).splitlines()[0] == compare_brief(record).splitlines()[0]


def test_two_sides_of_one_name_are_called_base_and_tuned(tmp_path: Path) -> None:
    path = scores(tmp_path / "same.jsonl", 5, 1)
    assert "No clear difference between base and tuned on t00" in compare_brief(compare(path, path))
