"""Every page of docs/extending is followed to the letter.

Blocks with a title are files. Blocks of a diff change a copy of the package. Shell blocks are run, and each
line of the text block after them must be in their output.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import warm
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "extending"
ADDITIONS = {
    "benchmark",
    "verifier",
    "metric",
    "language",
    "export-format",
    "log-format",
    "statistic",
    "alarm-rule",
    "api-route",
    "interval-rule",
    "further-interval",
    "status",
    "report-section",
    "report-column",
    "contract-term",
    "engine",
    "trace-format",
    "command",
    "run-option",
    "judge-form",
    "stored-field",
    "request-kind",
}
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks(page: str, folder: Path = PAGES) -> list[Block]:
    text = (folder / f"{page}.md").read_text(encoding="utf-8")
    return [Block(found[1], found[2] or "", found[3]) for found in _BLOCK.finditer(text)]


def changed(text: str, diff: str) -> str:
    """Return a text with a diff applied. Hunks are separated by `@@` and found by their lines."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines()
        assert all(not line or line[0] in " +-" for line in lines), hunk
        old = [line[1:] for line in lines if line[:1] != "+"]
        new = [line[1:] for line in lines if line[:1] != "-"]
        if not old:
            assert not text, "a diff without context is a new file"
            text = "\n".join(new) + "\n"
            continue
        before = "\n".join(old) + "\n"
        assert text.count(before) == 1, f"found {text.count(before)} times:\n{before}"
        text = text.replace(before, "\n".join(new) + "\n")
    return text


def copy_package(place: Path) -> None:
    """Copy the package with its compiled files, which hold for every file that is not changed."""
    for name in ("genbench", "suites", "judges"):
        shutil.copytree(ROOT / name, place / name)


def write_files(found: list[Block], place: Path) -> None:
    """Write the files of a page and apply its diffs."""
    if any(block.language == "diff" for block in found):
        copy_package(place)
    for block in found:
        if not block.title:
            continue
        path = place / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        text = block.text
        if block.language == "diff":
            text = changed(path.read_text(encoding="utf-8") if path.exists() else "", text)
        path.write_text(text, encoding="utf-8")
    for prompt in place.glob("*.txt"):
        digest = hashlib.sha256(prompt.read_bytes()).hexdigest()
        for judge in place.glob("*.yaml"):
            judge.write_text(judge.read_text().replace("PROMPT_DIGEST", digest))


def commands(place: Path) -> dict[str, str]:
    """Return an environment with the `genbench` and `python` of this test, or of the copied package."""
    tools = warm.write_tools(place / ".bin", genbench=warm.GENBENCH, python=())
    own = {"PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "120"}
    if (place / "genbench").is_dir():
        own["PYTHONPATH"] = str(place)
    return {key: value for key, value in os.environ.items() if key != "GENBENCH_DATA_DIR"} | own


def steps(found: list[Block]) -> Iterator[tuple[str, list[str]]]:
    """Yield each shell block with the lines that its output must have."""
    for number, block in enumerate(found):
        if block.language == "sh" and not block.title:
            after = found[number + 1] if number + 1 < len(found) else None
            wanted = after.text.splitlines() if after and after.language == "text" and not after.title else []
            yield block.text, wanted


def squeezed(text: str) -> str:
    return re.sub(r" +", " ", text)


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(ADDITIONS))
def test_the_page_can_be_followed_to_the_letter(page: str, tmp_path: Path) -> None:
    found = blocks(page)
    write_files(found, tmp_path)
    assert follow(found, tmp_path), "the page checks nothing"


def shell(script: str, place: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-ec", script], cwd=place, env=environment, capture_output=True, text=True, check=False
    )


def follow(found: list[Block], place: Path) -> int:
    """Run the shell blocks of a page. Return how many lines of output were as printed."""
    environment = commands(place)
    ran = 0
    for script, wanted in steps(found):
        done = shell(script, place, environment)
        assert done.returncode == 0, done.stdout + done.stderr
        for line in wanted:
            assert squeezed(line) in squeezed(done.stdout), done.stdout + done.stderr
            ran += 1
    return ran


@pytest.mark.slow
def test_the_guide_to_a_benchmark_can_be_followed_to_the_letter(tmp_path: Path) -> None:
    found = blocks("benchmarks", PAGES.parent)
    write_files(found, tmp_path)
    assert follow(found, tmp_path) == 3


@pytest.mark.slow
def test_the_judge_of_ones_own_can_be_checked_as_the_page_says(tmp_path: Path) -> None:
    found = blocks("judges", PAGES.parent)
    write_files(found, tmp_path)
    digest = hashlib.sha256((tmp_path / "polite.txt").read_bytes()).hexdigest()
    assert digest in (tmp_path / "polite.yaml").read_text()
    script = next(
        block.text for block in found if "polite_suite.yaml" in block.text and block.language == "sh"
    )
    # Nothing listens on port 9 here, so that no server of this machine is asked.
    suite = tmp_path / "polite_suite.yaml"
    suite.write_text(suite.read_text().replace(":8000/", ":9/"))
    done = shell(script, tmp_path, commands(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok       task tone: 1 problems" in done.stdout and "warning  judges:" in done.stdout
    (tmp_path / "polite.yaml").write_text((tmp_path / "polite.yaml").read_text().replace(digest, "0" * 64))
    wrong = shell(script, tmp_path, commands(tmp_path))
    assert wrong.returncode == 2 and f"set prompt_digest: sha256:{digest}" in wrong.stdout


def test_there_is_a_page_for_every_addition() -> None:
    pages = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert pages == ADDITIONS
    index = (PAGES / "index.md").read_text()
    assert all(f"({page}.md)" in index for page in pages)


@each_row("page", sorted(ADDITIONS))
def test_the_files_that_a_page_names_exist(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text()
    made = {block.title for block in blocks(page)}
    for name in set(re.findall(r"`((?:genbench|tests|examples|benchmarks)/[\w./-]+)`", text)):
        assert name in made or (ROOT / name).exists() or "test_models" in name, name


@each_row("page", sorted(ADDITIONS))
def test_every_diff_fits_the_code_of_today(page: str) -> None:
    for block in blocks(page):
        if block.language == "diff":
            path = ROOT / block.title
            text = changed(path.read_text(encoding="utf-8") if path.exists() else "", block.text)
            if path.suffix == ".py":
                compile(text, str(path), "exec")


def test_a_diff_that_no_longer_fits_is_an_error() -> None:
    assert changed("a\nb\n", "-b\n+c\n") == "a\nc\n"
    with pytest.raises(AssertionError, match="found 0 times"):
        changed("a\n", "-b\n+c\n")
