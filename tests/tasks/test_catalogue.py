"""The list of tasks, and the suite to start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.registry import names
from genbench.suite.suitefile import read_suite
from genbench.tasks.catalogue import GROUPS, group_of, info_record, starter_suite, task_infos, tasks_text


def test_every_task_with_a_name_is_listed_once() -> None:
    assert [info.name for info in task_infos()] == names("task")


def test_a_gated_dataset_is_marked() -> None:
    lines = {line.split()[0]: line for line in tasks_text(task_infos()).splitlines() if line}
    assert "(gated)" in lines["gpqa_diamond"]
    assert "(gated)" not in lines["gsm8k"]


def test_the_long_list_has_whole_summaries_and_licences_in_80_columns() -> None:
    (gpqa,) = [info for info in task_infos() if info.name == "gpqa_diamond"]
    lines = tasks_text([gpqa], long=True).splitlines()
    assert max(map(len, lines)) <= 80
    said = " ".join(" ".join(lines).split())
    assert gpqa.summary in said and f"licence: gated; {gpqa.licence}" in said


def test_tasks_are_listed_under_what_people_ask_for_in_80_columns() -> None:
    infos = task_infos()
    lines = tasks_text(infos).splitlines()
    assert max(map(len, lines)) <= 80
    shown: dict[str, str] = {}
    group = ""
    for line in lines:
        group = line if line in GROUPS else group
        if line.startswith("  "):
            shown[line.split()[0]] = group
    assert list(shown.values()) == sorted(shown.values(), key=list(GROUPS).index)
    assert set(shown) == {info.name for info in infos}
    wanted = {"imo_answerbench": "maths", "swebench_verified": "agents and tools", "piqa": "base models"}
    wanted |= {"ifeval": "instruction following", "mt_bench": "judged chat", "ruler": "long context"}
    assert {name: shown[name] for name in wanted} == wanted
    assert [group_of(info) for info in infos if info.name in wanted] == [
        wanted[name] for name in sorted(wanted)
    ]


def test_a_record_has_where_the_rows_come_from() -> None:
    [info] = [info for info in task_infos() if info.name == "gsm8k"]
    record = info_record(info)
    assert record["dataset"] == "openai/gsm8k (main, test)"
    assert record["verifier"] == "math" and record["k"] == info.k


def test_the_starter_suite_is_valid_and_never_written_over(tmp_path: Path) -> None:
    starter_suite(tmp_path / "mine.yaml")
    suite = read_suite(tmp_path / "mine.yaml")
    assert suite.name == "mine" and len(suite.config.tasks) == 1
    with pytest.raises(ConfigError, match="exists already"):
        starter_suite(tmp_path / "mine.yaml")
    with pytest.raises(ConfigError, match="no such folder"):
        starter_suite(tmp_path / "nowhere" / "mine.yaml")
