"""What a report says before its results."""

from __future__ import annotations

from genbench.analysis.results.means import GroupRecord
from genbench.reports.warnings import brief_warnings, page_warnings
from tests.reports import made

GROUP = GroupRecord(tasks=("a", "b"), macro=None, micro=None)


def test_eight_warnings_are_shown_and_the_others_folded() -> None:
    tasks = {f"t{n}": made.task(truncated_share=0.2 + n / 100) for n in range(10)}
    found = page_warnings(made.report(made.reported("m", tasks=tasks), tasks=tuple(tasks)))
    assert [len(found[name]) for name in ("urgent_warnings", "further_warnings")] == [8, 2]
    assert found["urgent_warnings"][0].text.startswith("m/t9: 29%") and not found["urgent_warnings"][0].is_bad


def test_the_parts_of_a_group_that_are_left_out_are_one_warning() -> None:
    tasks = {name: made.task(n=4, of=of) for name, of in (("a", 250), ("b", 250), ("c", 30))}
    report = made.report(made.reported("m", tasks=tasks, groups={"both": GROUP}), tasks=tuple(tasks))
    first, second = page_warnings(report)["task_warnings"]
    assert (first.text, len(first.parts)) == ("m: both, 2 tasks: 4 of 250 problems", 2)
    assert second.text == "m: c: 4 of 30 problems"


def test_failures_come_before_warnings_in_short() -> None:
    run = made.reported("m", failed=("too many",), warnings=("a: few", "b: few"), groups={"both": GROUP})
    run = run.model_copy(
        update={"results": run.results.model_copy(update={"tasks": dict.fromkeys("ab", made.TASK)})}
    )
    assert brief_warnings(made.report(run)) == ["m: too many", "m: both, 2 tasks: few"]


def test_what_is_said_of_both_runs_in_the_same_words_is_one_line() -> None:
    said = ("sums: sentences are split with a list", "few")
    runs = [made.reported(name, warnings=said) for name in ("base", "tuned")]
    report = made.report(*runs, made.reported("third", warnings=("few",)))
    assert [line.text for line in page_warnings(report)["run_warnings"]] == [
        "base and tuned: sums: sentences are split with a list",
        "base and tuned and third: few",
    ]
