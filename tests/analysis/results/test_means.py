"""Macro and micro means of a task's strata and of a group of tasks."""

from __future__ import annotations

import itertools

import pytest

from genbench.analysis.results.means import GroupRecord, group_records, macro_record, problem_values
from genbench.analysis.results.table import VerdictTable
from genbench.types import Problem, SampleId, Status, Verdict


def table(scores: dict[str, float], subjects: str, groups: str = "") -> VerdictTable:
    """Return a table of one sample for each problem, with its subject and its cluster."""
    problems = [
        Problem("t", name, {}, {"subject": subject}, groups[place : place + 1] or None)
        for place, (name, subject) in enumerate(zip(scores, subjects, strict=True))
    ]
    made = VerdictTable(problems, 1)
    for name, score in scores.items():
        status: Status = "correct" if score else "wrong"
        made.add(Verdict(SampleId("t", name, 0), score, status, None, {}, {}, "v", "absent", False))
    return made


def test_subjects_count_alike_in_the_macro_mean() -> None:
    found = table({"a": 1, "b": 1, "c": 1, "d": 0}, "xxxy")
    record = macro_record(found, problem_values(found, "avg@k", "t"), "subject")
    assert record is not None
    assert (record.value, record.by, record.parts, record.n) == (0.5, "subject", 2, 4)


@pytest.mark.parametrize("by", [None, "level"])
def test_a_task_without_such_a_stratum_has_no_macro_mean(by: str | None) -> None:
    found = table({"a": 1, "b": 0}, "xy")
    assert macro_record(found, problem_values(found, "avg@k", "t"), by) is None


def test_one_subject_needs_no_macro_mean() -> None:
    found = table({"a": 1, "b": 0}, "xx")
    assert macro_record(found, problem_values(found, "avg@k", "t"), "subject") is None


def test_a_task_that_lacks_samples_has_no_values() -> None:
    found = table({"a": 1, "b": 0}, "xy")
    found.verified[1][0] = False
    assert problem_values(found, "avg@k", "t") is None


def test_a_group_has_the_mean_of_its_tasks_and_of_its_problems() -> None:
    large, small = table({"a": 1, "b": 1, "c": 1}, "xxx"), table({"a": 0}, "x")
    values = {
        name: problem_values(item, "avg@k", name) for name, item in (("large", large), ("small", small))
    }
    found = group_records({"both": ["large", "small"]}, values)["both"]
    assert found.macro is not None and found.micro is not None
    assert (found.macro.value, found.macro.parts) == (0.5, 2)
    assert (found.micro.value, found.micro.parts, found.micro.n) == (0.75, 1, 4)


def test_a_question_in_two_tasks_is_one_cluster_of_the_group() -> None:
    scores = {str(number): float(number % 2) for number in range(10)}
    shared = {name: table(scores, "x" * 10, "abcdefghij") for name in ("de", "fr")}
    own = {name: table(scores, "x" * 10) for name in ("de", "fr")}

    def error(tables: dict[str, VerdictTable]) -> float:
        values = {name: problem_values(item, "avg@k", name) for name, item in tables.items()}
        macro = group_records({"g": ["de", "fr"]}, values)["g"].macro
        assert macro is not None and macro.se is not None
        return macro.se

    assert error(shared) > 1.3 * error(own)


def test_a_group_with_a_missing_task_has_no_mean() -> None:
    found = group_records({"g": ["de", "fr"]}, {"de": problem_values(table({"a": 1}, "x"), "avg@k", "de")})
    assert found["g"] == GroupRecord(tasks=("de", "fr"), macro=None, micro=None)


def test_weights_of_a_task_hold_in_its_macro_mean_and_in_its_group() -> None:
    weighted, plain = table({"a": 1, "b": 0, "c": 0}, "xyy"), table({"d": 0, "e": 1}, "xx")
    weights = {"x": 3.0, "y": 1.0, "z": 9.0}
    own = problem_values(weighted, "avg@k", "weighted", "subject", weights)
    record = macro_record(weighted, own, "subject")
    assert record is not None and record.value == pytest.approx(0.75)
    values = {"weighted": own, "plain": problem_values(plain, "avg@k", "plain")}
    found = group_records({"both": ["weighted", "plain"]}, values)["both"].macro
    assert found is not None
    assert found.value == pytest.approx((0.75 + 0.5) / 2)
    assert found.parts == 2


def test_several_samples_tell_the_draws_from_the_problems() -> None:
    problems = [
        Problem("t", name, {}, {"subject": subject}) for name, subject in zip("abcd", "xxxy", strict=True)
    ]
    made = VerdictTable(problems, 2)
    for name, scores in {"a": (1, 1), "b": (0, 0), "c": (1, 0), "d": (0, 1)}.items():
        for place, score in enumerate(scores):
            status: Status = "correct" if score else "wrong"
            made.add(Verdict(SampleId("t", name, place), score, status, None, {}, {}, "v", "absent", False))
    values = problem_values(made, "avg@k", "t")
    record = macro_record(made, values, "subject")
    assert record is not None
    # c has 1/3 of the weight of x, d all of y: (1/6)^2 and (1/2)^2 times the variance 0.5/2 of their means.
    assert record.rerun_se == pytest.approx(((1 / 36 + 1 / 4) * 0.25) ** 0.5)
    both = group_records(
        {"both": ["t", "one"]},
        {"t": values, "one": problem_values(table({"a": 1, "b": 0}, "xx"), "avg@k", "one")},
    )
    assert both["both"].macro is not None
    # c and d weigh 1/8 each. The two problems with one sample weigh 1/4, and their spread is the bound.
    assert both["both"].macro.rerun_se == pytest.approx((2 * 0.25 / 8**2 + 2 * 2 * 0.25 / 4**2) ** 0.5)


def test_samples_that_are_all_equal_leave_the_noise_of_one() -> None:
    problems = [Problem("t", name, {}, {"subject": name}) for name in "ab"]
    made = VerdictTable(problems, 2)
    for name, place in itertools.product("ab", range(2)):
        made.add(Verdict(SampleId("t", name, place), 1, "correct", None, {}, {}, "v", "absent", False))
    record = macro_record(made, problem_values(made, "avg@k", "t"), "subject")
    assert record is not None and record.rerun_se == pytest.approx(1 / 4)
