"""The pages in a real browser: light, dark, phone, no JavaScript, by keyboard, and with hostile texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_core_python
import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from genbench.nights.ledger.changes import annotate
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.nights.trend.detect import detect_changes
from genbench.store.manifest import AboutRecord
from genbench.team.queue.database import open_queue
from genbench.team.queue.jobs import cancel_job, list_jobs, retry_job
from genbench.team.service.app import make_app
from genbench.team.service.context import Service, suites_in
from genbench.team.service.tokens import add_token
from tests.browser import without_scripts
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.test_spec import SUITE
from tests.team.service.serving import serving
from tests.team.service.test_pages import HOSTILE, hostile_job

pytestmark = pytest.mark.slow
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


class Site:
    """A served site and its service."""

    def __init__(self, url: str, service: Service, change: str, uid: str, before: str) -> None:
        self.url, self.service = url, service
        self.change = f"/tracks/nightly/changes/{change}"
        self.pages = (
            *("/", "/queue", "/jobs/1", "/watches", "/cost", "/compare", "/glossary", "/login"),
            *("/runs", "/samples", "/tracks/nightly", "/tracks/nightly/runs", "/tracks/nightly/series/gpqa"),
            *(f"/runs/{uid}", f"/runs/{uid}/report", f"/runs/{uid}/samples?task=gpqa&problem=p1"),
            f"/compare?base={before}&tuned={uid}",
            self.change,
            "/runs?tag=sweep&column=tags&column=task:gpqa&column=meta:lr&x=lr&y=gpqa",
            f"/table?run={before}&run={uid}",
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    place = tmp_path_factory.mktemp("site")
    for night in range(12):
        rows = flat(60, 4, 0.8 if night < 10 else 0.3, night)
        about = AboutRecord(tags=("sweep",), note="a try", meta={"lr": 1e-6 * 2**night, "mix": "v7"})
        folder = place / "runs" / f"d{night}"
        make_run(folder, {"gpqa": rows}, position=20_000 + night, verdicts=True, about=about)
    (place / "suites").mkdir()
    (place / "suites" / "nightly.yaml").write_text(SUITE)
    (place / "suites" / "rows.jsonl").write_text('{"question": "1+1?", "reference": "2"}\n')
    with open_ledger(place / "l.sqlite3") as ledger, open_queue(place / "l.sqlite3") as queue:
        add(ledger, [place / "runs"])
        change = detect_changes(ledger, "nightly").changes[0]
        annotate(ledger, "nightly", 20_005, "note", HOSTILE, by="eve")
        hostile_job(queue, place)
        own = Service(ledger=ledger, queue=queue, runs=place / "runs", suites=suites_in(place / "suites"))
        with serving(make_app(own)) as address:
            yield Site(address, own, change.id, change.first_uid, change.last_before_uid)


def violations(driver: Any) -> list[str]:
    """What axe finds wrong with the page that is open."""
    driver.execute_script(AXE)
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run().then(r => done(r.violations), e => done([{id: String(e)}]))"
    )
    return [f"{item['id']}: {[node['html'][:120] for node in item.get('nodes', [])][:3]}" for item in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(browser: Any, site: Site, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        found = {}
        for path in site.pages:
            browser.get(site.url + path)
            found[path] = violations(browser)
        assert {path: lines for path, lines in found.items() if lines} == {}
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("width", [390, 1440])
def test_lists_and_tables_fit_a_phone_and_a_desk(browser: Any, site: Site, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for path in site.pages[-2:]:
            browser.get(site.url + path)
            assert violations(browser) == []
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, path
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_of_a_stranger_runs_and_no_request_leaves(browser: Any, site: Site) -> None:
    browser.get_log("performance")
    for path in site.pages:
        browser.get(site.url + path)
        assert browser.title != "owned"
        assert browser.find_elements(By.CSS_SELECTOR, "script:not([integrity]), img[onerror]") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        item["params"]["request"]["url"] for item in messages if item["method"] == "Network.requestWillBeSent"
    ]
    assert asked and all(url.startswith((site.url, "data:")) for url in asked)


def test_no_page_breaks_its_own_content_security_policy(browser: Any, site: Site) -> None:
    for path in (*site.pages, site.change):
        browser.get(site.url + path)
    charts = WebDriverWait(browser, 60)
    charts.until(lambda driver: driver.find_elements(By.CSS_SELECTOR, ".zoomed .scatterlayer .point"))
    said = [entry["message"] for entry in browser.get_log("browser")]
    assert [text for text in said if "Content Security Policy" in text] == []


APART = """
return [...document.querySelectorAll("label[for]")].filter((label) => {
  const [a, b] = [label, document.getElementById(label.htmlFor)].map((one) => one.getBoundingClientRect());
  return b.top > a.bottom || a.top > b.bottom;
}).map((label) => label.textContent);
"""


def test_a_phone_scrolls_no_page_sideways_and_has_each_label_beside_its_field(
    browser: Any, site: Site
) -> None:
    metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        wide, apart = [], []
        for path in site.pages:
            browser.get(site.url + path)
            wide += [path] * browser.execute_script(
                "return document.documentElement.scrollWidth > innerWidth"
            )
            apart += [(path, label) for label in browser.execute_script(APART)]
        assert (wide, apart) == ([], [])
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_javascript_everything_is_there_by_keyboard_alone(browser: Any, site: Site) -> None:
    token = add_token(site.service.queue, "ada", "admin", 1)
    with without_scripts(browser):
        browser.get(site.url + "/queue")
        assert browser.current_url == site.url + "/login"
        keys(browser, "token", token, Keys.ENTER)
        shows(browser, "main", "fell")
        browser.get(site.url + "/queue")
        keys(browser, "night", "2026-11-20", Keys.ENTER)
        shows(browser, "h1", "Job 2: queued")
        assert list_jobs(site.service.queue)[0].requested_by == "ada"
        browser.get(site.url + site.change)
        keys(browser, "note", "looked at it", Keys.ENTER)
        shows(browser, "main", "State: explained")


def test_charts_say_their_values_zoom_and_open_runs(browser: Any, site: Site) -> None:
    browser.get(site.url + "/tracks/nightly/series/gpqa")
    waiting = WebDriverWait(browser, 60)
    waiting.until(lambda driver: driver.find_elements(By.CSS_SELECTOR, ".zoomed .scatterlayer .point"))
    assert browser.find_elements(By.CSS_SELECTOR, "svg.trend") == []
    said = browser.execute_script("return document.querySelector('.zoomed').data.map(own => own.text || [])")
    assert any(text.startswith("2024-10-05: ") for own in said for text in own)
    before = browser.execute_script("return document.querySelector('.zoomed').layout.xaxis.range")
    browser.find_element(By.CSS_SELECTOR, ".modebar-btn[data-attr=zoom][data-val=in]").click()
    changed = "return JSON.stringify(document.querySelector('.zoomed').layout.xaxis.range) !== arguments[0]"
    waiting.until(lambda driver: driver.execute_script(changed, json.dumps(before, separators=(",", ":"))))
    assert violations(browser) == []
    browser.execute_script(
        "document.querySelector('.zoomed').emit('plotly_click', {points: [{customdata: arguments[0]}]})",
        site.change.rpartition("/")[2],
    )
    waiting.until(lambda driver: "/runs/" in driver.current_url)


def test_the_page_of_a_job_renews_itself(browser: Any, site: Site) -> None:
    browser.get(site.url + "/jobs/1")
    shows(browser, "h1", "Job 1: queued")
    cancel_job(site.service.queue, 1, by="ada")
    try:
        shows(browser, "h1", "Job 1: cancelled")
        assert browser.find_element(By.ID, "live").get_attribute("data-state") == "over"
    finally:
        retry_job(site.service.queue, 1, by="ada")


def shows(driver: Any, tag: str, wanted: str) -> None:
    """Wait until the page that follows a form has a text. Raise TimeoutException after a minute."""
    passing = (NoSuchElementException, StaleElementReferenceException)
    waiting = WebDriverWait(driver, 60, ignored_exceptions=passing)
    waiting.until(lambda found: wanted in found.find_element(By.TAG_NAME, tag).text)


def keys(driver: Any, field: str, *typed: str) -> None:
    """Reach a field with the tab key alone, and type."""
    for _ in range(80):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        if driver.switch_to.active_element.get_attribute("name") == field:
            driver.switch_to.active_element.send_keys(*typed)
            return
    raise AssertionError(f"the tab key does not reach {field}")
