"""A browser for the tests that look at pages."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium that logs its console and its requests."""
    program, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    assert program and driver_path, "the report's tests need Chromium: sh requirements/system.sh dev"
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    profile = tmp_path_factory.mktemp("profile")
    for flag in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={profile}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def browser(chromium: Any) -> Any:
    """The browser of all tests, on an empty page and without what earlier tests left in its log."""
    chromium.get("about:blank")
    chromium.get_log("browser")
    return chromium


@contextmanager
def without_scripts(browser: Any) -> Iterator[None]:
    """Run no scripts in pages. The driver does not wait for such a page, so elements are waited for."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.implicitly_wait(30)
    try:
        yield
    finally:
        browser.implicitly_wait(0)
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def source_with(browser: Any, part: str, count: int) -> str:
    """The source of a page without scripts, once it has a part so often and is read to its end."""
    began, before = time.monotonic(), ""
    while (source := str(browser.page_source)) != before or source.count(part) < count:
        assert time.monotonic() - began < 60, f"{part} is there {source.count(part)} times, wanted {count}"
        before = source
        time.sleep(0.3)
    return source
