"""The page opened from disk in a real browser: no error, no request, filters and links that work."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from genbench.reports.page import text_chunks
from genbench.reports.write import write_page
from tests.browser import source_with, without_scripts

from .conftest import HOSTILE_ID

pytestmark = pytest.mark.slow
SAMPLES = 48


@pytest.fixture(scope="module")
def page(runs: Path) -> str:
    return (runs / "report.html").as_uri()


def opened(browser: Any, address: str) -> None:
    """Opens afresh: a change of the fragment alone would keep the page, and its log."""
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(address)
    # With scripts disabled the driver may return while the page is still being read.
    for _ in range(200):
        state, there = browser.execute_script("return [document.readyState, location.href]")
        if state == "complete" and there.startswith(address.partition("#")[0]):
            return
        time.sleep(0.05)
    raise AssertionError(f"{address} is not loaded after ten seconds")


def shown(browser: Any, wanted: str) -> str:
    """The open sample's text, once it holds `wanted`."""
    text = ""
    for _ in range(100):
        text = str(browser.execute_script("return document.getElementById('sample').textContent"))
        if wanted in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"{wanted!r} is not in {text!r}")


def choose(browser: Any, field: str, value: str) -> int:
    """Sets a filter and returns how many samples are left."""
    browser.execute_script(
        "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}));",
        field,
        value,
    )
    return int(str(browser.execute_script("return document.getElementById('count').textContent")).split()[0])


def requests(browser: Any) -> list[str]:
    """Addresses of everything that the page asked for."""
    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [entry["params"] for entry in entries if entry["method"] == "Network.requestWillBeSent"]
    return [item["request"]["url"] for item in sent]


def cut_tables(browser: Any) -> list[str]:
    """The beginnings of tables that do not fit."""
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)"
        ".map(s => s.textContent.trim().slice(0, 40))"
    )
    return found


def test_opens_without_an_error_or_a_request(browser: Any, page: str) -> None:
    opened(browser, page)
    assert browser.get_log("browser") == []
    assert [url for url in requests(browser) if not url.startswith(("file:", "data:", "about:"))] == []
    assert browser.title == "nightly"


def test_filters_narrow_the_samples(browser: Any, page: str) -> None:
    opened(browser, page)
    assert choose(browser, "f-task", "0") == SAMPLES
    assert choose(browser, "f-status", "unclosed_trace") == 1
    assert choose(browser, "f-status", "") == SAMPLES
    assert choose(browser, "f-flip", "lost") == 0
    gained = choose(browser, "f-flip", "gained")
    assert gained == 10  # sample 2 of each problem but the hostile one and the one whose reference is wrong
    choose(browser, "f-flip", "")
    assert choose(browser, "f-problem", HOSTILE_ID) == 4
    choose(browser, "f-problem", "")
    assert 0 < choose(browser, "f-min", "100") < SAMPLES
    choose(browser, "f-min", "")
    choose(browser, "f-order", "long")
    first = browser.execute_script("return document.querySelector('#list .where').textContent")
    assert HOSTILE_ID in first


def test_a_deep_link_lands_on_its_sample(browser: Any, page: str) -> None:
    opened(browser, f"{page}#sums/p06/3")
    text = shown(browser, "sums / p06 / sample 3")
    assert "base" in text and "tuned" in text
    assert "wrong, score 0" in text and "referencetwo" in text and "extractedthree" in text
    assert "6+2-6?" in text  # the prompt as it was rendered
    top = browser.execute_script("return document.getElementById('sample').getBoundingClientRect().top")
    assert abs(top) < 400


def test_a_link_to_nothing_says_so(browser: Any, page: str) -> None:
    opened(browser, f"{page}#sums/p99/0")
    shown(browser, "No sample #sums/p99/0 in this report.")


def test_hostile_texts_are_text(browser: Any, page: str) -> None:
    opened(browser, f"{page}#sums/{quote(HOSTILE_ID, safe='')}/0")
    text = shown(browser, "sample 0")
    assert "<script>document.title='owned'</script>\\x1b[31m\\u202e evil \\x00 </script><img" in text
    assert browser.title == "nightly"
    assert browser.execute_script("return document.querySelectorAll('img, #samples script').length") == 0
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_at_any_width(browser: Any, page: str, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    try:
        opened(browser, f"{page}#sums/{quote(HOSTILE_ID, safe='')}/0")
        shown(browser, "sample 0")
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert cut_tables(browser) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_are_not_cut(browser: Any, runs: Path, tmp_path: Path, width: int) -> None:
    long = tmp_path / "checkpoint-of-the-second-night-after-the-merge_step-0012800"
    shutil.copytree(runs / "tuned", long)
    written = write_page([runs / "base", long], tmp_path / "page.html", parquet=False)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    try:
        opened(browser, written.page.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert cut_tables(browser) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_paper_shows_what_is_folded_and_no_controls(browser: Any, page: str) -> None:
    opened(browser, page)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        heights = browser.execute_script(
            "return ['#filters', 'nav', '#scores > details', '#contract > details']"
            ".map(what => document.querySelector(what).getBoundingClientRect().height)"
        )
        assert heights[:2] == [0, 0] and min(heights[2:]) > 80
        assert len(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 20_000
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_reads_without_javascript(browser: Any, page: str) -> None:
    with without_scripts(browser):
        opened(browser, page)
        source = source_with(browser, "<svg", 4)
        assert "The sample browser needs JavaScript" in source
        assert source.count("<svg") == 4


def test_long_texts_come_from_the_folder_beside_the_page(
    browser: Any, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_chunks.ChunkedTexts.__init__, "__defaults__", (2000,))
    monkeypatch.setattr(text_chunks, "CHUNK_CHARS", 3000)
    written = write_page([runs / "base", runs / "tuned"], tmp_path / "big 100%.html", parquet=False)
    assert written.texts == tmp_path / "big 100%.files"
    assert len(list(written.texts.glob("*.js"))) > 5
    opened(browser, f"{written.page.as_uri()}#sums/p06/3")
    text = shown(browser, "sums / p06 / sample 3")
    assert "because because" in text
    assert browser.get_log("browser") == []
    assert all(url.startswith(("file:", "data:", "about:")) for url in requests(browser))


def test_a_lost_folder_is_named(
    browser: Any, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_chunks.ChunkedTexts.__init__, "__defaults__", (2000,))
    written = write_page([runs / "base"], tmp_path / "alone.html", parquet=False)
    assert written.texts is not None
    written.texts.rename(tmp_path / "elsewhere")
    opened(browser, f"{written.page.as_uri()}#sums/p06/3")
    shown(browser, "The long texts are in the folder alone.files next to this page")


def test_no_letter_of_a_plot_is_outside_of_its_picture(browser: Any, page: str) -> None:
    opened(browser, page)
    browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true;")
    outside, letters = browser.execute_script(
        "const outside = []; let letters = 0;"
        "for (const plot of document.querySelectorAll('svg.plot')) {"
        "  const box = plot.getBoundingClientRect();"
        "  for (const text of plot.querySelectorAll('text')) {"
        "    const own = text.getBoundingClientRect();"
        "    letters += text.textContent.length;"
        "    const sides = [box.left - own.left, own.right - box.right];"
        "    sides.push(box.top - own.top, own.bottom - box.bottom);"
        "    if (Math.max(...sides) > 1) outside.push([text.textContent, ...sides]);"
        "  }"
        "}"
        "return [outside, letters];"
    )
    assert outside == [] and letters > 100
