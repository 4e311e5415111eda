"""What needs attention is ranked by how much it can change a conclusion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.analysis.results.alarms import alarms, lost_share
from genbench.analysis.results.judge_figures import JudgeBias, JudgedRecord
from genbench.analysis.results.record import OpenTracesRecord, Results
from genbench.analysis.results.run_state import require_results
from genbench.reports.terminal.run import run_table
from genbench.store.folder import RunFolder
from genbench.store.manifest import CanaryRecord
from tests.ready_runs import OPEN, RIGHT, SILENT, WRONG
from tests.reports import made

MakeRun = Callable[..., Path]


JUDGED = JudgedRecord(
    name="j",
    digest="d",
    form="label",
    prompt_digest="p",
    unpinned=False,
    cascade=("judge",),
    statuses={},
    baseline=None,
    engine={},
    canary=None,
    unscored=0,
    unscored_share=0.0,
)


def results(path: Path) -> Results:
    return require_results(RunFolder(path))


def changed(found: Results, **facts: object) -> Results:
    task = found.tasks["sums"].model_copy(update=facts)
    return found.model_copy(update={"tasks": {"sums": task}})


def right(i: int) -> list[str]:
    return [RIGHT, RIGHT, WRONG, WRONG]


def silent(i: int) -> list[str]:
    return [RIGHT, SILENT, SILENT, SILENT]


def test_a_run_without_defects_has_no_alarm(make_run: MakeRun) -> None:
    assert alarms({"m": results(make_run("a", right))}) == []


def test_lost_answers_and_changed_formats_are_alarms(make_run: MakeRun) -> None:
    good, lost = results(make_run("a", right)), results(make_run("b", silent))
    assert lost_share(lost.tasks["sums"]) == 0.75
    found = alarms({"base": good, "tuned": lost})
    assert [alarm.where for alarm in found] == ["tuned/sums", "tuned/sums"]
    assert {"nothing was extracted from 75% of the samples; look at some with `genbench show RUN TASK`"} < {
        alarm.text for alarm in found
    }
    assert any(
        "the answer format changed" in alarm.text and "0% of those of base" in alarm.text for alarm in found
    )


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("decoding.stop=['####']",), "a stop text ('####') is in the trace and ends the reply there"),
        ((), "the model ends its turn there, or writes other tags"),
    ],
)
def test_replies_that_end_within_their_trace_are_an_alarm_with_the_cause(
    make_run: MakeRun, overrides: tuple[str, ...], said: str
) -> None:
    """A stop string or a server's parser took every answer: 8 of 8 `unclosed_trace`, and no word of it."""

    def opened(i: int) -> list[str]:
        return [OPEN, OPEN, OPEN, RIGHT]

    (alarm,) = alarms({"m": results(make_run("a", opened, overrides=overrides))})
    assert alarm.text.startswith("75% of the replies end within their trace, and none was cut off")
    assert said in alarm.text and alarm.weight > 1
    cut = results(make_run("b", opened, overrides=overrides, extra={"finish_reason": "length"}))
    assert ["cut off by max_tokens" in alarm.text for alarm in alarms({"m": cut})] == [True]


def test_the_alarm_of_lost_calls_says_what_the_replies_are_instead() -> None:
    form = "one JSON call in a code fence, without the tags that the template asks for"
    task = made.task(samples=14, status_counts={"format_error": 14}, replies={form: 14})
    (alarm,) = alarms({"m": made.results(tasks={"calls": task})})
    assert f"14 of 14 are {form};" in alarm.text


def test_a_parser_that_took_the_whole_reply_is_named() -> None:
    record = OpenTracesRecord(samples=8, cause="parser", stop=())
    found = alarms({"m": made.results(tasks={"sums": made.task(samples=8, open_traces=record)})})
    assert "reasoning without content" in found[0].text and "reasoning parser" in found[0].text


def test_the_worst_alarm_comes_first(make_run: MakeRun) -> None:
    bad = changed(results(make_run("b", silent)), chance=0.9, truncated_share=0.5, excluded=4).model_copy(
        update={"failed": ("sums: too many",)}
    )
    found = alarms({"m": bad})
    words = [
        next(key for key in ("FAILED", "blind", "extracted", "max_tokens", "excluded") if key in a.text)
        for a in found
    ]
    assert words == ["FAILED", "blind", "extracted", "max_tokens", "excluded"]
    assert [alarm.weight for alarm in found] == sorted((alarm.weight for alarm in found), reverse=True)


def test_shares_up_to_the_bounds_are_no_alarm(make_run: MakeRun) -> None:
    good = changed(results(make_run("a", right)), truncated_share=0.1, chance=0.4)
    assert alarms({"m": good}) == []


def judged(kappa: float | None, accuracy: float, verdicts: int) -> Results:
    """Results of a task whose judge agrees with its calibration labels so far."""
    canary = CanaryRecord(labels={}, drifted=None, kappa=kappa, accuracy=accuracy, verdicts=verdicts)
    return made.results(tasks={"sums": made.task(judge=JUDGED.model_copy(update={"canary": canary}))})


@pytest.mark.parametrize(
    ("kappa", "accuracy", "verdicts", "alarm"),
    [
        (0.1, 0.6, 50, True),
        (-0.3, 0.3, 50, True),
        (0.2, 0.6, 50, False),
        (0.0, 0.9, 50, True),  # one label throughout, on a set that has both
        (0.0, 0.875, 8, False),  # one mistake of eight says nothing
        (0.0, 0.5, 8, True),
        (None, 1.0, 8, False),
    ],
)
def test_a_judge_that_hardly_agrees_with_people_is_an_alarm(
    kappa: float | None, accuracy: float, verdicts: int, alarm: bool
) -> None:
    found = alarms({"m": judged(kappa, accuracy, verdicts)})
    assert [item.where for item in found] == (["m/sums"] if alarm else [])
    assert all(f"kappa {kappa:.2f} on {verdicts} calibration labels" in item.text for item in found)


def test_a_judge_that_grades_itself_or_calls_everything_right_is_an_alarm() -> None:
    bias = JudgeBias(length=None, samples=40, unreadable=0, is_judged_model=True)
    tried = CanaryRecord(labels={}, drifted=None, kappa=0.9, accuracy=0.95, verdicts=40)
    own = made.task(
        judge=JUDGED.model_copy(update={"bias": bias, "canary": tried}),
        status_counts={"correct": 20, "wrong": 20},
    )
    (alarm,) = alarms({"m": made.results(tasks={"sums": own})})
    assert "the judge is the model under test" in alarm.text
    for counts, said in (({"correct": 40}, "correct"), ({"wrong": 40}, "wrong"), ({"correct": 8}, None)):
        judge = JUDGED.model_copy(update={"canary": tried})
        task = made.task(judge=judge, status_counts=counts, samples=sum(counts.values()))
        found = [alarm.text for alarm in alarms({"m": made.results(tasks={"sums": task})})]
        assert [f"each of the 40 answers that it graded {said}" in text for text in found] == [True] * (
            said is not None
        )


def test_a_judge_that_was_tried_on_no_labelled_case_is_an_alarm() -> None:
    for judge, said in ((JUDGED, True), (JUDGED.model_copy(update={"reads": True}), False)):
        task = made.task(judge=judge, status_counts={"correct": 20, "wrong": 20})
        found = [alarm.text for alarm in alarms({"m": made.results(tasks={"sums": task})})]
        assert [text.startswith("nothing tells how far the judge agrees") for text in found] == [True] * said


def test_answers_of_a_wrong_form_are_a_finding_and_not_red() -> None:
    task = made.task(samples=40, status_counts={"format_error": 30, "no_answer": 4, "correct": 6})
    (alarm,) = alarms({"m": made.results(tasks={"json": task})})
    assert "85% of the answers do not have the form" in alarm.text and alarm.weight < 1


def test_a_judge_without_agreement_outranks_cut_off_samples() -> None:
    bad = judged(0.05, 0.5, 40)
    task = bad.tasks["sums"].model_copy(update={"truncated_share": 0.9})
    found = alarms({"m": bad.model_copy(update={"tasks": {"sums": task}})})
    assert ["judge" in item.text for item in found] == [True, False]


def test_the_table_of_a_run_shows_them_before_everything_else(make_run: MakeRun) -> None:
    lost = results(make_run("b", silent))
    full, brief = run_table({"m": lost}, {}), run_table({"m": lost}, {}, brief=True)
    assert full.index("Needs attention:") < full.index("m: 48 samples")
    assert "pass@4" in full and "pass@4" not in brief and "Needs attention:" in brief
