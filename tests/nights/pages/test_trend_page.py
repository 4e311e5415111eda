"""The page of a track, as text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.nights.ledger.history import TrackHistory
from genbench.nights.pages.page import trend_page, write_trend_page
from genbench.nights.trend.compose import compose
from tests.nights.trend.histories import FIRST, change, drawn, history, losses, night, remark

NIGHTS = 30
TASKS = {"gpqa": drawn(losses(NIGHTS)), "aime": drawn(losses(NIGHTS), 40, seed=2)}
EVIL = "</style><script>alert(1)</script>\x1b[31m"


def page(**fields: object) -> str:
    return trend_page(compose(history(TASKS, **fields)))  # type: ignore[arg-type]


def test_the_sentence_is_the_heading() -> None:
    record = compose(history(TASKS))
    assert f"<h1>{record.sentence}</h1>" in trend_page(record)


def test_the_page_needs_no_script_and_no_network() -> None:
    text = page(changes=[change(20, 22)])
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:,)""", text)


def test_every_task_has_a_row_and_a_chart() -> None:
    text = page()
    for task in TASKS:
        assert f'<td data-l="task">{task}</td>' in text
        assert f'aria-label="{task}: difference to the base' in text


def test_an_open_drop_is_a_notice() -> None:
    text = page(changes=[change(20, 22)])
    notice = re.search(r'<p class="notice bad">(.*?)</p>', text, re.DOTALL)
    assert notice is not None
    assert notice.group(1).startswith("gpqa fell 2.1 points")


def test_a_closed_change_is_no_notice_but_is_listed() -> None:
    text = page(changes=[change(20, 22, state="dismissed", note="the disk was full", by="ada")])
    assert 'class="notice bad"' not in text
    assert "the disk was full (ada)" in text


def test_a_track_without_changes_has_no_section_of_changes() -> None:
    assert 'id="changes"' not in page()


def test_missing_nights_and_remarks_are_shown() -> None:
    text = page(skipped=[4], annotations=(remark(),))
    assert f"Nights without a finished run: {night(4).label}." in text
    assert f"{night(3).label} engine: vllm 0.33 (ada)" in text


def hostile() -> TrackHistory:
    found = history(
        {EVIL: TASKS["gpqa"]},
        changes=[change(20, 22, task=EVIL, note=EVIL, by=EVIL, state="explained")],
        annotations=(remark(FIRST, EVIL, EVIL),),
    )
    points = tuple(replace(point, model=EVIL) for point in found.points)
    track = replace(found.track, name=EVIL, suite=EVIL, base_reason=EVIL)
    return replace(found, points=points, track=track)


def test_texts_of_strangers_stay_texts() -> None:
    text = trend_page(compose(hostile()))
    assert "<script" not in text
    assert "\x1b" not in text
    assert text.count("</style>") == 1


def test_a_sweep_lists_the_best_checkpoints() -> None:
    text = trend_page(compose(history({"gpqa": drawn(losses(8))}, kind="step")))
    assert 'id="best"' in text
    assert "without the luck of the best of 8" in text


def test_a_track_without_runs_is_a_page_too() -> None:
    assert "The track has no finished run yet." in page(points=(), series={})


def test_three_hundred_tasks_stay_a_small_page() -> None:
    own = {f"task{number}": drawn(losses(60), 30, seed=number) for number in range(3)}
    first, three = (len(trend_page(compose(history(dict(list(own.items())[:n]))))) for n in (1, 3))
    assert first + 299 * (three - first) / 2 < 5_000_000


def test_the_page_replaces_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trend.html"
    first = write_trend_page(compose(history(TASKS)), path)
    write_trend_page(compose(history({"gpqa": TASKS["gpqa"]})), path)
    assert first == path
    assert "aime" not in path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1200, 900), (375, 800)])
def test_the_page_fits_a_desk_and_a_phone(browser: object, tmp_path: Path, width: int, height: int) -> None:
    path = write_trend_page(compose(hostile()), tmp_path / "trend.html")
    browser.set_window_size(width, height)  # type: ignore[attr-defined]
    browser.get(path.as_uri())  # type: ignore[attr-defined]
    script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(script) <= 0  # type: ignore[attr-defined]
    assert not browser.get_log("browser")  # type: ignore[attr-defined]
