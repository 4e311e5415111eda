"""The level of each kind of definition, and the report of a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from genbench.interop.tasks.harness.definition import FunctionName, read_tree
from genbench.interop.tasks.harness.levels import MAKES_DATASET, classify, level_report, refusal, without_code


@pytest.mark.parametrize(
    ("task", "level", "reason"),
    [
        ("sums", "1", "declarative"),
        ("pick", "1", "declarative"),
        ("translated", "1c", "metric bleu, chrf"),
        ("sums_rows", "2", "process_docs is !function utils.rows"),
        ("both", "2c", "doc_to_text is !function utils.text"),
        ("scored", "3", "process_results is !function utils.score"),
        ("made", "4", "custom_dataset is !function utils.load"),
        ("seen", "out", "it shows images"),
        ("classed", "out", "it is a Python class"),
    ],
)
def test_each_definition_has_its_level(definitions: Path, task: str, level: str, reason: str) -> None:
    found = classify(read_tree(definitions).tasks[task])
    assert found.level == level
    assert reason in found.reason


def test_filters_that_are_functions_can_be_left_out(definitions: Path) -> None:
    sums = read_tree(definitions).tasks["sums"]
    code = {"name": "code", "filter": [{"function": FunctionName("utils.mine")}]}
    mixed = replace(sums, config=sums.config | {"filter_list": [code, *sums.config["filter_list"]]})
    assert classify(mixed).level == "3"
    found, left_out = without_code(mixed, ["filter_list"])
    assert (classify(found).level, left_out) == (
        "1",
        ["filters that are Python functions are left out: code"],
    )
    only = replace(sums, config=sums.config | {"filter_list": [code]})
    assert without_code(only, ["filter_list"]) == (only, [])


def test_metrics_that_are_functions_can_be_left_out(definitions: Path) -> None:
    pick = read_tree(definitions).tasks["pick"]
    code = {"metric": "f1", "aggregation": FunctionName("utils.mean")}
    mixed = replace(pick, config=pick.config | {"metric_list": [{"metric": "acc"}, code]})
    found, left_out = without_code(mixed, ["metric_list"])
    assert (classify(mixed).level, classify(found).level) == ("3", "1")
    assert left_out == ["metrics that are Python functions are left out: f1"]
    assert refusal(classify(mixed)) is None
    only = replace(pick, config=pick.config | {"metric_list": [code]})
    assert "log-probabilities (multiple_choice)" in str(refusal(classify(only)))


def test_a_task_that_makes_its_dataset_is_refused_with_what_to_use_instead(definitions: Path) -> None:
    made = read_tree(definitions).tasks["made"]
    of_family = replace(made, path=made.root / "ruler" / "made.yaml")
    assert str(refusal(classify(of_family))).endswith("genbench has tasks of its own: genbench tasks ruler")
    assert "no network" in str(refusal(classify(made)))


def test_a_report_counts_levels_and_families_and_says_why_tasks_are_refused(definitions: Path) -> None:
    report = level_report(definitions)
    assert report.tasks == 9
    assert report.levels["1"] == {"generate_until": 1, "multiple_choice": 1}
    code = next(item for item in report.families if item.family == "code")
    assert code.levels == {"2c": 1, "3": 1, "4": 1, "out": 2}
    assert report.refused == {
        "it is a Python class, not a definition": 1,
        "it shows images (doc_to_image)": 1,
        MAKES_DATASET: 1,
    }
    assert report.refused_families[MAKES_DATASET] == {"code": 1}
    assert report.code["process_docs"] == 1
