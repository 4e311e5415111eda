"""Mistakes of a task's entry are named with file, line and key, before any row is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.factory import check_metrics, check_reference, check_verifier, entry_place, make_task

SUITE = """\
models: {m: {path: ./m}}
tasks:
  - name: other
    kind: exact
    data: {path: rows.jsonl}
    k: 1
  - name: own
    kind: exact
    data: {path: rows.jsonl}
    k: 4
"""


def suite_of(folder: Path, more: str = "") -> Suite:
    (folder / "suite.yaml").write_text(SUITE + more)
    return read_suite(folder / "suite.yaml")


def test_the_place_of_an_entry_is_its_line_and_that_of_a_key_the_keys(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    entry = suite.config.tasks[1]
    assert entry_place(suite, entry).endswith("suite.yaml:7: task 'own'")
    assert entry_place(suite, entry, "k").endswith("suite.yaml:10: task 'own'")


def test_a_verifier_that_does_not_exist_is_named_at_its_key(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "    verifier: {use: exakt}\n")
    entry = suite.config.tasks[1]
    with pytest.raises(ConfigError, match=r"suite\.yaml:11: task 'own': unknown verifier 'exakt'"):
        check_verifier(suite, entry, make_task(suite, suite.config.tasks[0]))


def test_a_judge_is_no_class_that_is_looked_for(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    entry = suite.config.tasks[1]
    task = make_task(suite, entry)
    check_verifier(suite, entry, task)
    judged = replace(task.info, verifier="judge")

    class Judged:
        info = judged

    check_verifier(suite, entry, Judged())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("[avg@k, pass@8]", r"suite\.yaml:11: task 'own': metrics: 'pass@8' needs 8 samples"),
        ("[median]", r"unknown metric 'median'"),
    ],
)
def test_a_metric_that_cannot_be_computed_is_refused(tmp_path: Path, metrics: str, message: str) -> None:
    suite = suite_of(tmp_path, f"    metrics: {metrics}\n")
    entry = suite.config.tasks[1]
    with pytest.raises(ConfigError, match=message):
        check_metrics(suite, entry, make_task(suite, entry), 4)


@pytest.mark.parametrize(
    ("headline", "message"),
    [("tests.x:own", "the headline is 'tests.x:own'"), ("pass@8", r"the headline is pass@8, but k is 4")],
)
def test_a_headline_must_be_testable_at_this_k(tmp_path: Path, headline: str, message: str) -> None:
    suite = suite_of(tmp_path)
    entry = suite.config.tasks[1]

    class Task:
        info = replace(make_task(suite, entry).info, headline=headline)

    with pytest.raises(ConfigError, match=message):
        check_metrics(suite, entry, Task(), 4)  # type: ignore[arg-type]


def test_a_reference_needs_a_value_or_a_published_score(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "    reference: {model: Somebody}\n")
    entry = suite.config.tasks[1]
    with pytest.raises(ConfigError, match=r"suite\.yaml:11: task 'own': .*no score of 'Somebody' is known"):
        check_reference(suite, entry, make_task(suite, entry))
    given = suite_of(tmp_path, "    reference: {model: Somebody, value: 40}\n")
    check_reference(given, given.config.tasks[1], make_task(given, given.config.tasks[1]))
