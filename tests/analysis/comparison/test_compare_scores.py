"""Comparisons of score files: odd inputs, decisions and exit codes, against numbers made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from scipy import stats

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.comparison.decisions import parse_margins, parse_suite_margin
from genbench.errors import InputError, NotComparableError
from genbench.reports.terminal.compare import compare_text
from tests.known import known
from tests.ready_runs import write_lines
from tests.table import each_row

Scores = Sequence[Sequence[float | None]]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(name: str, *, group: Callable[[int], str] | None = None, **tasks: Scores) -> Path:
        records = [
            {"task": task, "problem_id": f"p{i:03}", "sample_index": j, "score": score}
            | ({"group": group(i)} if group else {})
            for task, scores in tasks.items()
            for i, row in enumerate(scores)
            for j, score in enumerate(row)
        ]
        return write_lines(tmp_path / name, records)

    return make


def mixed(n: int, right: int) -> list[list[float]]:
    return [[float(i < right)] for i in range(n)]


def task_of(record: Comparison, name: str = "t") -> ComparedTask:
    return record.tasks[name]


def test_identical_scores_have_p_1_and_no_verdict_of_change(write: Write) -> None:
    base, tuned = (write(name, t=mixed(20, 12)) for name in ("b", "t"))
    task = task_of(compare(base, tuned, gate=True))
    assert (task.difference, task.p_two_sided, task.p_regression) == (0.0, 1.0, 1.0)
    assert task.verdict == "INCONCLUSIVE"


def test_the_table_at_k_1_is_mcnemar_exact(write: Write) -> None:
    tuned = [[float(i < 60 or i % 7 == 0)] for i in range(200)]
    record = compare(write("b", t=mixed(200, 80)), write("t", t=tuned))
    table = known(task_of(record).mcnemar)
    assert (table.both_right, table.both_wrong) == (63, 103)
    discordant = table.base_only + table.tuned_only
    assert (table.base_only, discordant) == (17, 34)
    expected = stats.binomtest(table.base_only, discordant, 0.5).pvalue
    assert task_of(record).p_two_sided == pytest.approx(expected)


@pytest.mark.parametrize(("right", "value"), [(0, 0.0), (40, 1.0)])
def test_all_right_and_all_wrong_are_compared_without_a_claim(write: Write, right: int, value: float) -> None:
    same = mixed(40, right)
    task = task_of(compare(write("b", t=same), write("t", t=same)))
    assert (task.base, task.tuned, task.p_two_sided) == (value, value, 1.0)
    low, high = known(task.ci)
    assert low < 0 < high


def test_one_problem_shows_nothing(write: Write) -> None:
    task = task_of(compare(write("b", t=[[1.0, 1.0]]), write("t", t=[[0.0, 0.0]])))
    assert (task.difference, task.ci, task.mde) == (-1.0, (-1.0, 1.0), None)
    assert task.p_regression == 0.5
    assert task.verdict == "INCONCLUSIVE"


def test_fractional_scores_are_averaged_by_problem(write: Write) -> None:
    record = compare(write("b", t=[[0.25, 0.75], [1.0, 1.0]]), write("t", t=[[0.5, 1.0], [1.0, 1.0]]))
    assert task_of(record).difference == pytest.approx(0.125)
    assert task_of(record).mcnemar is None


def test_ragged_files_are_flagged_and_averaged_by_problem(write: Write) -> None:
    record = compare(write("b", t=[[1.0, 0.0], [0.0]]), write("t", t=[[1.0, 1.0], [0.0, 0.0]]))
    task = task_of(record)
    assert task.ragged
    assert task.base == 0.25
    assert any("base is ragged, 1 to 2 samples" in line for line in record.warnings)


def test_other_problems_are_refused_and_can_be_let_through(write: Write) -> None:
    base, tuned = write("b", t=mixed(5, 3)), write("t", t=mixed(4, 3))
    with pytest.raises(NotComparableError, match=r"problems\.t: 1 of 5 only in base \(p004\)"):
        compare(base, tuned)
    record = compare(base, tuned, allow=["problems"])
    assert task_of(record).n == 4
    assert record.allowed == ("problems.t: 1 of 5 only in base (p004)",)


def test_other_k_is_refused_and_can_be_let_through(write: Write) -> None:
    base, tuned = write("b", t=[[1.0, 0.0]] * 4), write("t", t=[[1.0]] * 4)
    with pytest.raises(NotComparableError, match=r"k\.t: 2 -> 1"):
        compare(base, tuned)
    task = task_of(compare(base, tuned, allow=["k.t"]))
    assert (task.k_base, task.k_tuned, task.difference, task.metric) == (2, 1, 0.5, "avg@k")


def test_no_common_problem_or_task_is_refused_whatever_is_allowed(write: Write, tmp_path: Path) -> None:
    base = write("b", t=mixed(2, 1))
    other = write_lines(tmp_path / "o", [{"task": "t", "problem_id": "x", "sample_index": 0, "score": 1}])
    with pytest.raises(NotComparableError, match="no problem is in both"):
        compare(base, other, allow=["problems"])
    with pytest.raises(NotComparableError, match="no task is in both"):
        compare(base, write("t", u=mixed(2, 1)), allow=["tasks"])


def test_groups_widen_the_interval_and_must_agree(write: Write) -> None:
    up, down = [[1.0]] * 10 + [[0.0]] * 10, [[0.0]] * 10 + [[1.0]] * 10
    alone = task_of(compare(write("b1", t=up), write("t1", t=down)))
    by_half: Callable[[int], str] = lambda i: str(i // 10)  # noqa: E731
    grouped = task_of(compare(write("b2", group=by_half, t=up), write("t2", t=down)))
    assert known(grouped.se) > 2 * known(alone.se)
    with pytest.raises(NotComparableError, match=r"groups\.t: 5 of 20 problems differ"):
        compare(write("b3", group=by_half, t=up), write("t3", group=lambda i: str(int(i >= 5)), t=down))


def test_a_task_of_one_side_is_refused_or_left_out(write: Write) -> None:
    base, tuned = write("b", t=mixed(4, 2), u=mixed(4, 2)), write("t", t=mixed(4, 2))
    with pytest.raises(NotComparableError, match=r"tasks\.u: only in base"):
        compare(base, tuned)
    assert list(compare(base, tuned, allow=["tasks"]).tasks) == ["t"]
    assert list(compare(base, tuned, tasks=["t"]).tasks) == ["t"]


def test_a_drop_is_regressed_and_fails_the_gate_alone(write: Write) -> None:
    base, tuned = write("b", t=mixed(60, 50)), write("t", t=mixed(60, 30))
    assert task_of(compare(base, tuned)).verdict == "REGRESSED"
    assert compare(base, tuned).exit_code == 0
    assert compare(base, tuned, gate=True).exit_code == 1
    back = compare(tuned, base, gate=True, strict=True)
    assert (task_of(back).verdict, back.exit_code) == ("IMPROVED", 0)


def test_swapping_the_sides_mirrors_every_number(write: Write) -> None:
    scores = [[[float((i * j) % m == 1) for j in range(4)] for i in range(40)] for m in (2, 3)]
    base, tuned = write("b", t=scores[0]), write("t", t=scores[1])
    there, back = task_of(compare(base, tuned)), task_of(compare(tuned, base))
    assert there.difference == -known(back.difference)
    assert there.p_two_sided == back.p_two_sided
    assert there.p_regression == back.p_improvement
    assert there.ci == pytest.approx((-known(back.ci)[1], -known(back.ci)[0]))


def test_strict_fails_what_is_inconclusive(write: Write) -> None:
    base, tuned = write("b", t=mixed(20, 12)), write("t", t=mixed(20, 11))
    assert compare(base, tuned, gate=True).exit_code == 0
    assert compare(base, tuned, gate=True, strict=True).exit_code == 1
    with pytest.raises(InputError, match="--strict goes with --gate"):
        compare(base, tuned, strict=True)


def test_only_gating_tasks_decide(write: Write) -> None:
    base = write("b", good=mixed(60, 30), bad=mixed(60, 50))
    tuned = write("t", good=mixed(60, 31), bad=mixed(60, 30))
    assert compare(base, tuned, gate=True).exit_code == 1
    record = compare(base, tuned, gate=True, gating=["good"])
    assert record.exit_code == 0
    assert task_of(record, "bad").verdict == "REGRESSED"
    assert task_of(record, "bad").p_regression_adjusted == task_of(record, "bad").p_regression
    assert record.suite.tasks == ("good",)


def test_a_margin_is_what_non_inferior_is_held_to(write: Write) -> None:
    base = write("b", t=[[float(i % 2)] for i in range(400)])
    tuned = write("t", t=[[float(i % 2 and i > 8)] for i in range(400)])
    assert task_of(compare(base, tuned, margins={"t": 0.03})).verdict == "NON_INFERIOR"
    assert task_of(compare(base, tuned, margins={"t": 0.005})).verdict == "INCONCLUSIVE"


@pytest.mark.slow
def test_holm_is_over_the_gating_tasks(write: Write) -> None:
    drops = {f"t{i}": mixed(40, 30 - i) for i in range(4)}
    record = compare(write("b", **{name: mixed(40, 30) for name in drops}), write("t", **drops))
    from statsmodels.stats.multitest import multipletests

    raw = [task.p_regression for task in record.tasks.values()]
    adjusted = [task.p_regression_adjusted for task in record.tasks.values()]
    assert adjusted == pytest.approx(list(multipletests(raw, method="holm")[1]))


@each_row("text", ["t", "t=", "=3", "t=0", "t=-1", "t=x", "t=101", "t=nan"])
def test_a_margin_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--margin"):
        parse_margins([text])


def test_names_that_do_not_exist_are_refused(write: Write) -> None:
    base, tuned = write("b", t=mixed(4, 2)), write("t", t=mixed(4, 2))
    for options, part in (
        ({"gating": ["u"]}, "--gating u"),
        ({"margins": {"u": 0.03}}, "--margin u"),
        ({"allow": ["prompt"]}, "did you mean 'prompts'"),
        ({"tasks": ["u"]}, "no task 'u'"),
    ):
        with pytest.raises(InputError, match=part):
            compare(base, tuned, **options)


def test_excluded_samples_are_counted_and_left_out(write: Write) -> None:
    base = write("b", t=[[1.0, None], [0.0, 0.0]])
    record = compare(base, write("t", t=[[1.0, 1.0], [0.0, 0.0]]))
    task = task_of(record)
    assert (task.base, task.excluded_base, task.difference) == (0.5, 1, 0.0)
    assert any("1 of 4 samples of base are excluded" in line for line in record.warnings)


def test_excluded_samples_are_bounded_by_the_worst_case(write: Write) -> None:
    base, tuned = [[1.0]] * 200, [[1.0]] * 190 + [[None]] * 10
    record = compare(write("b", t=base), write("t", t=tuned))
    task = task_of(record)
    assert (task.difference, task.left_out) == (0.0, 10)
    assert task.bounds == pytest.approx((-0.05, 0.0))
    assert task.verdict == "INCONCLUSIVE"
    assert task_of(compare(write("b2", t=base), write("t2", t=base))).verdict == "NON_INFERIOR"
    assert "with excluded samples all wrong or all right: from -5.0 to 0.0" in compare_text(record)


def test_one_problem_without_a_score_does_not_disable_the_gate(write: Write) -> None:
    base, tuned = [[1.0]] * 120, [[0.0]] * 5 + [[None]] + [[0.0]] * 75 + [[1.0]] * 39
    record = compare(write("b", t=base), write("t", t=tuned), gate=True)
    task = task_of(record)
    assert (task.verdict, record.suite.verdict, record.exit_code) == ("REGRESSED", "REGRESSED", 1)
    assert (task.n, task.left_out) == (120, 1)


def test_a_task_without_a_difference_fails_the_gate(write: Write) -> None:
    record = compare(write("b", t=[[None], [0.0]]), write("t", t=[[1.0], [None]]), gate=True)
    task = task_of(record)
    assert (task.difference, task.verdict) == (None, "INCONCLUSIVE")
    assert task.missing == "no problem has scored samples in both"
    assert (record.suite.undecided, record.exit_code) == (("t",), 1)
    assert "gate: failed (no decision on t)" in compare_text(record)


def test_a_drop_that_is_hidden_by_missing_scores_fails_the_gate(write: Write) -> None:
    base, tuned = [[1.0]] * 60, [[None]] * 30 + [[1.0]] * 30
    record = compare(write("b", t=base), write("t", t=tuned), gate=True)
    assert (task_of(record).verdict, record.suite.undecided) == ("INCONCLUSIVE", ("t",))
    assert record.exit_code == 1
    few = compare(write("b2", t=[[1.0]] * 200), write("t2", t=[[None]] + [[1.0]] * 199), gate=True)
    assert (few.suite.undecided, few.exit_code) == ((), 0)


def test_missing_scores_do_no_harm_if_the_worst_case_passes(write: Write) -> None:
    base, tuned = [[0.0]] * 200, [[None]] * 4 + [[1.0]] * 100 + [[0.0]] * 96
    record = compare(write("b", t=base), write("t", t=tuned), gate=True)
    assert (task_of(record).verdict, record.suite.undecided, record.exit_code) == ("IMPROVED", (), 0)


def test_strict_passes_a_small_task_that_shows_nothing_by_itself(write: Write) -> None:
    large = {f"t{i}": [[1.0]] * 250 for i in range(3)}
    base = write("b", aime=mixed(30, 15), **large)
    tuned = write("t", aime=[*mixed(30, 15)[:-1], [1.0]], **large)
    record = compare(base, tuned, gate=True, strict=True, margins={"aime": 0.06})
    assert (record.suite.verdict, record.suite.inconclusive, record.exit_code) == (
        "NON_INFERIOR",
        ("aime",),
        0,
    )
    text = compare_text(record)
    assert "suite: NON_INFERIOR; together not worse than 3.0 points (95 %)" in text
    assert "inconclusive by themselves: aime" in text
    tight = compare(base, tuned, gate=True, strict=True, margins={"aime": 0.06}, suite_margin=0.005)
    assert (tight.suite.verdict, tight.exit_code) == ("INCONCLUSIVE", 1)


def test_finds_is_for_the_level_of_the_gate(write: Write) -> None:
    tasks = {f"t{i}": mixed(200, 100 + i) for i in range(4)}
    rows = {name: [*scores[1:], scores[0]] for name, scores in tasks.items()}
    record = compare(write("b", **tasks), write("t", **rows))
    task = task_of(record, "t0")
    assert known(task.finds) == pytest.approx(1.34 * known(task.mde), rel=0.01)


def test_few_samples_of_tuned_that_show_no_drop_are_warned_of(write: Write) -> None:
    base, tuned = write("b", t=[[0.0] * 15 + [1.0]] * 30), write("t", t=[[0.0] * 2] * 30)
    (line,) = (line for line in compare(base, tuned, allow=["k"]).warnings if line.startswith("t:"))
    assert line.startswith("t: base has 6.2 % right, so about 3.8 right answers are expected of the 60")


@pytest.mark.parametrize("points", [0.0, -1.0, 101.0])
def test_a_suite_margin_that_is_none_is_refused(points: float) -> None:
    with pytest.raises(InputError, match="--suite-margin"):
        parse_suite_margin(points)


def test_a_suite_margin_is_a_fraction_of_one() -> None:
    assert (parse_suite_margin(2.0), parse_suite_margin(None)) == (0.02, None)


@each_row("n, finds", [(2, False), (4, False), (5, True)])
def test_too_few_problems_find_no_drop(write: Write, n: int, finds: bool) -> None:
    """An exact test of four problems has p of 1/16 at least."""
    record = compare(write("base", t=mixed(n, 1)), write("tuned", t=mixed(n, 2)))
    assert record.tasks["t"].finds is not None and (record.tasks["t"].findable is not None) == finds
    assert ("smallest detectable drop" in compare_text(record)) == finds
