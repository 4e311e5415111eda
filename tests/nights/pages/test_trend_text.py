"""A track in the terminal."""

from __future__ import annotations

from dataclasses import replace

from genbench.nights.pages.text import trend_text
from genbench.nights.trend.compose import compose
from tests.nights.trend.histories import base_of, change, drawn, epoch, history, losses, night, remark, series

NIGHTS = 30
SUMS = drawn(losses(NIGHTS))
TASKS = {"gpqa": SUMS, "aime": drawn(losses(NIGHTS), 40, seed=2)}


def test_the_sentence_comes_first() -> None:
    record = compose(history(TASKS))
    assert trend_text(record).splitlines()[0] == record.sentence


def test_each_task_has_a_line_with_its_trend_and_figures() -> None:
    line = next(line for line in trend_text(compose(history(TASKS))).splitlines() if line.startswith("gpqa"))
    value = SUMS[-1].mean() / 8
    assert f"{100 * value:.1f}" in line
    assert "±2.0" in line
    assert sum(mark in "▁▂▃▄▅▆▇█" for mark in line) == NIGHTS


def test_an_open_change_says_how_sure_it_is_and_how_to_close_it() -> None:
    text = trend_text(compose(history(TASKS, changes=[change(20, 22)])))
    assert "open       gpqa fell 2.1 points [1.2, 3.0] with tuned" in text
    assert "z -4.2 (needed 3.6)" in text
    assert "Size after search" in text
    assert "genbench trend nightly --explain c-12345678 --note WHY" in text


def test_a_closed_change_says_who_closed_it_and_why() -> None:
    closed = change(20, 22, state="explained", by="ada", note="wanted", closed_uid=night(24).uid)
    text = trend_text(compose(history(TASKS, changes=[closed])))
    assert f'explained on {night(24).label} ("wanted", ada)' in text
    assert "--explain" not in text


def test_only_the_ten_newest_changes_are_printed() -> None:
    many = [
        change(10, 12, id=f"c-{number}", state="dismissed", closed_uid=night(13).uid) for number in range(13)
    ]
    assert "and 3 older changes" in trend_text(compose(history(TASKS, changes=many)))


def test_the_budget_is_said() -> None:
    assert "Budget: 1 false alarm a year in 3 gating series (z 3.45)." in trend_text(compose(history(TASKS)))


def test_a_track_without_tested_tasks_says_so() -> None:
    text = trend_text(compose(history({"tiny": drawn(losses(NIGHTS), 10)})))
    assert "tiny (not tested)" in text
    assert "No gating task has the 20 problems that alarms need." in text


def test_watched_tasks_are_marked() -> None:
    found = history(TASKS)
    own = {name: replace(item, gating=name == "gpqa") for name, item in found.series.items()}
    text = trend_text(compose(replace(found, series=own)))
    assert "aime (watched)" in text
    assert "as many in 1 watched ones" in text


def test_a_new_epoch_is_a_bar_in_the_trend() -> None:
    points = [night(number) for number in range(NIGHTS)]
    parts = [
        epoch("gpqa", SUMS[:12], points[:12], base_of(SUMS), key="old"),
        epoch("gpqa", SUMS[12:], points[12:], base_of(SUMS), key="new"),
    ]
    found = replace(history({"gpqa": SUMS}), series={"gpqa": series("gpqa", parts)})
    line = next(line for line in trend_text(compose(found)).splitlines() if line.startswith("gpqa"))
    assert "│" in line


def test_missing_nights_remarks_and_unused_runs_are_listed() -> None:
    failed = night(31, state="failed", failed=("12 % unscored",))
    text = trend_text(compose(history(TASKS, skipped=[4], annotations=(remark(),), others=(failed,))))
    assert f"missing nights: {night(4).label}" in text
    assert f"{night(3).label} engine: vllm 0.33 (ada)" in text
    assert f"not used: {failed.label} tuned: 12 % unscored" in text


def test_a_step_that_is_not_shown_to_hold_elsewhere_is_remarked() -> None:
    sums = SUMS.copy()
    sums[-1] = (sums[-1] - 1).clip(0)
    assert "That it holds on others is not shown." in trend_text(compose(history({"gpqa": sums})))


def test_a_sweep_names_the_best_checkpoint_without_its_luck() -> None:
    text = trend_text(compose(history({"gpqa": drawn(losses(8))}, kind="step")))
    assert "gpqa: best step-" in text
    assert "luck of equal checkpoints" in text
    assert "Newest minus previous:" in text


def test_control_characters_of_names_are_shown_as_escapes() -> None:
    found = history(TASKS, changes=[change(20, 22)])
    points = [replace(point, model="\x1b[31mtuned") for point in found.points]
    assert "\x1b" not in trend_text(compose(replace(found, points=tuple(points))))


def test_an_empty_track_is_one_line() -> None:
    assert trend_text(compose(history(TASKS, points=(), series={}))) == "The track has no finished run yet."


def test_nights_that_move_by_themselves_are_said_by_task() -> None:
    text = trend_text(compose(history(TASKS, night_noise={"gpqa": 0.006**2, "aime": 0.0001**2, "": 0.01**2})))
    assert "Nights move by themselves, beyond their samples: gpqa ±0.6 (points, standard deviation)." in text
    assert "beyond their samples" not in trend_text(compose(history(TASKS)))


def test_checkpoints_that_move_by_themselves_are_not_called_nights() -> None:
    text = trend_text(compose(history(TASKS, kind="step", night_noise={"gpqa": 0.006**2})))
    assert "Checkpoints move by themselves, beyond their samples: gpqa ±0.6" in text
