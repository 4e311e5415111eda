"""The report of a large suite: how big its page is, and how soon it opens from disk in headless Chromium.

    python benchmarks/report_page.py [--models 2] [--trace-tokens 8000] [--folder DIR]

Ready responses with long traces go through `run --responses` for 30 x 64, 198 x 8, 541 x 1 and 268 x 16
samples a model, then the page is opened over file:// five times, and samples whose texts are next to it are
looked at. Exits with 1 if the page has 3 MB or more, or took 2 s or more to open in the median.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from genbench.pipeline import RunOptions, run
from genbench.reports.write import write_page

SIZES = {"aime25": (30, 64), "gpqa_diamond": (198, 8), "ifeval": (541, 1), "livecodebench": (268, 16)}
BAR_BYTES, BAR_S = 3_000_000, 2.0
OPENED = 5
CHARS_PER_TOKEN = 4
WORDS = (
    "so",
    "the",
    "sum",
    "of",
    "both",
    "sides",
    "is",
    "7,",
    "which",
    "we",
    "check",
    "again:",
    "x",
    "=",
    "10",
)


def suite(models: Sequence[str]) -> str:
    tasks = "".join(
        f"  - name: {name}\n    kind: exact\n    k: {k}\n    gating: true\n"
        f"    data: {{path: {name}.jsonl, fields: {{reference: answer}}}}\n"
        for name, (_, k) in SIZES.items()
    )
    listed = "".join(f"  {model}: {{path: ./{model}}}\n" for model in models)
    return (
        f"name: nightly\nmodels:\n{listed}decoding: {{temperature: 0.6, max_tokens: 32768}}\ntasks:\n{tasks}"
    )


def responses(models: Sequence[str], trace_tokens: int) -> Iterator[str]:
    """One line a sample; three in four are right, one in fifty never closes its trace."""
    dice = random.Random(0)
    for model in models:
        for task, (n, k) in SIZES.items():
            for problem in range(n):
                for index in range(k):
                    length = max(1, round(dice.gauss(trace_tokens, trace_tokens / 10)))
                    trace = _words(dice, length * CHARS_PER_TOKEN)
                    closed = dice.random() > 0.02
                    answer = "7" if dice.random() < 0.75 else str(dice.randrange(1000))
                    yield json.dumps(
                        {"model": model, "task": task, "problem_id": str(problem), "sample_index": index}
                        | {"text": f"<think>{trace}" + (f"</think>{answer}" if closed else "")}
                        | {"finish_reason": "stop" if closed else "length"}
                        | {"completion_tokens": length + 4, "trace_tokens": length, "prompt_tokens": 12}
                    )


def _words(dice: random.Random, chars: int) -> str:
    """A text of about this many characters, no two alike."""
    return " ".join(dice.choices(WORDS, k=chars * len(WORDS) // len(" ".join(WORDS))))


def make(place: Path, models: Sequence[str], trace_tokens: int) -> list[Path]:
    """The finished runs."""
    (place / "suite.yaml").write_text(suite(models))
    for task, (n, _) in SIZES.items():
        rows = (
            json.dumps({"question": f"{task}, question {i}: what is x?", "answer": "7"}) for i in range(n)
        )
        (place / f"{task}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    with (place / "responses.jsonl").open("w") as file:
        file.writelines(f"{line}\n" for line in responses(models, trace_tokens))
    options = RunOptions(
        str(place / "suite.yaml"), run_dir=place / "runs", responses=place / "responses.jsonl", quiet=True
    )
    return list(run(options).folders.values())


def chromium() -> Any:
    from selenium import webdriver  # noqa: PLC0415  the slowest import, of the last step
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        sys.exit("needs Chromium and its driver: sh requirements/system.sh dev")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=Service(driver))


def open_s(browser: Any, address: str) -> float:
    """Seconds from asking for the page until its sample browser is filled."""
    browser.get("about:blank")
    begun = time.monotonic()
    browser.get(address)
    filled = "return document.querySelectorAll('#list li').length"
    while not browser.execute_script(filled):
        time.sleep(0.005)
    return time.monotonic() - begun


def look_s(browser: Any, place: str) -> float:
    """Seconds until a sample's long texts are on the page."""
    begun = time.monotonic()
    browser.execute_script("location.hash = arguments[0]", place)
    title = " / ".join(place[1:].split("/")[:2])
    while title not in browser.execute_script("return document.getElementById('sample').textContent"):
        time.sleep(0.005)
    return time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description="size of a large report's page, and how soon it opens")
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--trace-tokens", type=int, default=8000)
    parser.add_argument("--folder", type=Path, help="keep everything here; default: a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = given.folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        folders = make(place, ["base", "tuned"][: given.models], given.trace_tokens)
        made_s, begun = time.monotonic() - begun, time.monotonic()
        written = write_page(folders)
        wrote_s = time.monotonic() - begun
        size = written.page.stat().st_size
        outside = sum(file.stat().st_size for file in written.texts.glob("*")) if written.texts else 0
        browser = chromium()
        try:
            opened = [open_s(browser, written.page.as_uri()) for _ in range(OPENED)]
            looked = [look_s(browser, f"#{task}/{n - 1}/{k - 1}") for task, (n, k) in SIZES.items()]
        finally:
            browser.quit()
    samples = given.models * sum(n * k for n, k in SIZES.values())
    print(f"{samples:,} samples; replayed in {made_s:.0f} s, report alone in {wrote_s:.0f} s")
    print(f"page {size / 1e6:.2f} MB, texts next to it {outside / 1e6:.0f} MB")
    print(f"opened in {statistics.median(opened):.2f} s ({min(opened):.2f} to {max(opened):.2f})")
    print(f"a sample's texts in {max(looked):.2f} s at most")
    return int(size >= BAR_BYTES or statistics.median(opened) >= BAR_S)


if __name__ == "__main__":
    sys.exit(main())
