"""A run of tasks in groups: what the terminal and the page show of it, also if there are sixty tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import require_results
from genbench.pipeline import RunOptions, run
from genbench.reports.terminal.run import run_table
from genbench.store.folder import RunFolder
from tests.browser import without_scripts

GROUPS = {"knowledge": 3, "maths": 2}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Path]:
    place = tmp_path_factory.mktemp("groups")
    rows = [{"id": f"q{n}", "question": f"{n}?", "reference": str(n), "topic": f"t{n % 2}"} for n in range(4)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = "{id: id, question: question, reference: reference, group: id, strata: [topic]}"
    names = [(f"{group}_{n:02}", group) for group, count in GROUPS.items() for n in range(count)]
    common = f"kind: exact, k: 1, data: {{path: rows.jsonl, fields: {fields}}}"
    entries = [f"  - {{name: {name}, group: {group}, {common}}}" for name, group in names]
    entries.append(f"  - {{name: alone, {common}}}")
    (place / "suite.yaml").write_text("models: {m: {path: ./m}}\ntasks:\n" + "\n".join(entries) + "\n")
    # One group answers nothing where the others answer wrongly.
    wrong = {name: "" if group == "knowledge" else "?" for name, group in names} | {"alone": "?"}
    lines = [
        {"task": name, "problem_id": f"q{n}", "sample_index": 0, "text": str(n if n < 3 else other)}
        for name, other in wrong.items()
        for n in range(4)
    ]
    (place / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = run(
        RunOptions(place / "suite.yaml", run_dir=place / "run", responses=place / "r.jsonl", quiet=True)
    )
    assert found.page is not None
    return require_results(RunFolder(place / "run" / "m")), Path(found.page)


@pytest.mark.slow
def test_the_results_have_both_means_of_each_group(done: tuple[Results, Path]) -> None:
    results, _ = done
    assert {name: len(group.tasks) for name, group in results.groups.items()} == GROUPS
    for group in results.groups.values():
        assert group.macro is not None and group.micro is not None
        assert group.macro.value == group.micro.value == 0.75
        assert group.micro.n == 4 * len(group.tasks)
        # A question is one cluster in all tasks, so three tasks are no more sure than one.
        assert group.macro.ci is not None and group.macro.ci[1] - group.macro.ci[0] > 0.4


def test_the_terminal_shows_two_rows_for_each_group(done: tuple[Results, Path]) -> None:
    results, _ = done
    rows = [line for line in run_table({"m": results}, {}).splitlines() if line.startswith("m ")]
    assert len(rows) == 2 * len(GROUPS) + 1
    assert "macro" in rows[0] and "mean of 3 tasks" in rows[0] and "alone" in rows[-1]


def test_sixty_tasks_in_three_groups_are_seven_rows(done: tuple[Results, Path]) -> None:
    results, _ = done
    task, group = results.tasks["alone"], results.groups["maths"]
    names: dict[str, list[str]] = {f"group{number // 20}": [] for number in range(60)}
    tasks = {f"t{number:02}": task for number in range(60)} | {"alone": task}
    for number in range(60):
        names[f"group{number // 20}"].append(f"t{number:02}")
    groups = {name: group.model_copy(update={"tasks": tuple(own)}) for name, own in names.items()}
    many = results.model_copy(update={"tasks": tasks, "groups": groups})
    rows = [line for line in run_table({"m": many}, {}).splitlines() if line.startswith("m ")]
    assert len(rows) == 7 and "mean of 20 tasks" in rows[0]


def test_the_page_folds_the_tasks_of_a_group(done: tuple[Results, Path]) -> None:
    _, page = done
    text = page.read_text()
    table = text[text.index('<section id="scores">') : text.index("<details>")]
    assert table.count('<td data-l="task">') == 2 * len(GROUPS) + 1
    for group, count in GROUPS.items():
        assert f"<summary>{group}: the {count} tasks</summary>" in text
        assert f"{group} ({count} tasks)" in table
    assert "knowledge_01" not in table
    statuses = text[text.index('<section id="statuses">') : text.index('<section id="lengths">')]
    for group, count in GROUPS.items():
        assert f"<summary>{group}: the statuses of {count} tasks</summary>" in statuses
    shown = statuses[: statuses.index("<details>")]
    assert '<td data-l="task">alone</td>' in shown and "knowledge_01" not in shown


def test_the_lead_gives_the_groups_and_one_run_has_one_colour(done: tuple[Results, Path]) -> None:
    _, page = done
    text = page.read_text()
    title = text[text.index("<h1>") : text.index("</h1>")]
    assert "knowledge 75.0" in title and "alone 75.0" in title and "knowledge_00" not in title
    assert 'class="dot m1"' not in text


def section(page: Path, name: str) -> str:
    text = page.read_text()
    return text[text.index(f'<section id="{name}">') :].partition("</section>")[0]


def test_the_lengths_of_a_group_are_one_figure_with_its_tasks_folded(done: tuple[Results, Path]) -> None:
    text = section(done[1], "lengths")
    folded = "".join(part.partition("</details>")[0] for part in text.split("<details>")[1:])
    shown = text
    for part in text.split("<details>")[1:]:
        shown = shown.replace(part.partition("</details>")[0], "")
    assert [head.partition("<")[0] for head in shown.split("<h3>")[1:]] == [
        *(f"{group} ({count} tasks)" for group, count in GROUPS.items()),
        "alone",
    ]
    assert shown.count("<figure>") == 2 * 3
    assert folded.count("<figure>") == 2 * sum(GROUPS.values())


def test_the_health_of_a_group_is_one_row(done: tuple[Results, Path]) -> None:
    text = section(done[1], "health")
    rows = text.partition("<details>")[0].split("<tr>")[2:]
    assert [row.partition(">")[2].partition("<")[0] for row in rows] == [
        "knowledge (3 tasks)",
        "maths (2 tasks)",
        "alone",
    ]
    assert '<td data-l="problems" class="n">12</td>' in rows[0] and "25.0%" in rows[0]
    assert "<summary>maths: the data of 2 tasks</summary>" in text


def test_alarms_of_one_kind_in_a_group_are_one_line(done: tuple[Results, Path]) -> None:
    results, page = done
    line = "m/knowledge: 3 of 3 tasks, the worst knowledge_00: nothing was extracted from 25% of the samples"
    table = run_table({"m": results}, {})
    assert table.count("nothing was extracted") == 1 and line in table
    text = page.read_text()
    assert f"<summary>{line}" in text
    folded = text[text.index(f"<summary>{line}") :].partition("</details>")[0]
    assert [f"<li>m/knowledge_0{n}: nothing was extracted" in folded for n in range(3)] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_folds_open_by_keyboard_without_scripts_at_any_width(
    browser: Any, done: tuple[Results, Path], width: int
) -> None:
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        with without_scripts(browser):
            browser.get(done[1].as_uri())
            for place in ("main > details.notice.bad", "#lengths > details", "#health > details"):
                fold = browser.find_element("css selector", place)
                inside = fold.find_element("css selector", ":scope > :not(summary)")
                assert not inside.is_displayed()
                fold.find_element("css selector", "summary").send_keys("\ue007")
                assert inside.is_displayed()
                assert inside.rect["x"] + inside.rect["width"] <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
