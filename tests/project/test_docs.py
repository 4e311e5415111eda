"""The pages under docs/ and the README say what the program does."""

from __future__ import annotations

import ast
import functools
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML

from genbench.cli.app import app
from genbench.reports import parity
from genbench.reports.result_tables import SCORES
from genbench.reports.table import TERMINAL
from genbench.suite.config import ModelConfig, SuiteConfig, TaskEntry
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import read_suite
from genbench.tasks.base import Conversation
from genbench.tasks.catalogue import task_infos
from genbench.tasks.factory import custom_task
from genbench.types import STATUSES
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [*PAGES, *sorted(ROOT.glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_example_of_the_suite_reference_is_valid() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / "suites.md").read_text(), re.DOTALL)
    tasks, models = [], []
    for block in blocks:
        parsed = YAML(typ="safe").load(block)
        if isinstance(parsed, list):
            entries = [TaskEntry.model_validate(entry) for entry in parsed]
            tasks += [entry for entry in entries if entry.task is None]
        else:
            models += [ModelConfig.model_validate(entry) for entry in parsed["models"].values()]
    assert {type(custom_task(entry)).__name__ for entry in tasks} == {"SingleTurn", Conversation.__name__}
    assert {model.adapter for model in models} == {None, "./lora"}


# The engine of that page is a file next to its suite: test_extending.py runs it.
@each_row("page", [page for page in PAGES if page.name != "engine.md"])
def test_every_suite_of_a_page_is_valid(page: Path) -> None:
    for block in re.findall(
        r'```yaml title="(?:suite|servers)\.yaml"\n(.*?)```', page.read_text(), re.DOTALL
    ):
        SuiteConfig.model_validate(YAML(typ="safe").load(block))


def commands(text: str) -> Iterator[str]:
    """Yield the genbench commands of the shell blocks of a page, continuation lines joined."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.search(r"(?:^|\s)genbench (.*)", line.split("#")[0].split("&&")[-1])
            if found:
                yield re.split(r"[<>|]", found[1])[0]


@functools.cache
def whole_command() -> Any:
    """Return the command line with all its commands, those of annexes too, which takes 50 ms to make."""
    made: Any = typer.main.get_command(app)
    made.list_commands(None)
    return made


def parsed(line: str) -> tuple[Any, list[str]]:
    """Return the command of a line and its options."""
    words = shlex.split(line)
    command = whole_command()
    while words and not words[0].startswith("-") and hasattr(command, "commands"):
        assert words[0] in command.commands, f"no command '{words[0]}'"
        command = command.commands[words.pop(0)]
    return command, [word.partition("=")[0] for word in words if word.startswith("-")]


@pytest.mark.slow
@each_row("page", [page for page in TEXTS if page.name not in ("command.md", "run-option.md")])
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    for line in commands(page.read_text()):
        command, options = parsed(line.replace("COMMAND ", "run "))
        known = {option for item in command.params for option in item.opts} | {"--help"}
        assert set(options) <= known, line


def test_the_readme_shows_commands() -> None:
    assert len(list(commands((ROOT / "README.md").read_text()))) > 5


@pytest.mark.slow
def test_the_readme_scores_own_answers_in_an_empty_folder(tmp_path: Path) -> None:
    section = (ROOT / "README.md").read_text().split("## Five minutes")[1].split("\n## ")[0]
    (block,) = [part for part in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) if "--responses" in part]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", block],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "+66.7" in done.stdout and "unclosed_trace" in done.stdout


def test_pages_name_the_tasks_of_the_suite_reasoning() -> None:
    known = {info.name: info.summary.partition(":")[0].partition(" v")[0] for info in task_infos()}
    names = [known[task.task] for task in read_suite(suite_path("reasoning")).config.tasks if task.task]
    assert len(names) > 5
    for page in ("README.md", "docs/first-run.md"):
        text = (ROOT / page).read_text()
        said = " ".join(text[text.index("`reasoning` ") :].split("\n\n")[0].split())
        assert [name for name in names if name not in said] == [], page


@each_row("page", TEXTS)
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not target.startswith("reference/"):
            assert (page.parent / target).exists(), target


def test_every_make_target_of_the_readme_and_the_guide_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`?make (\w+)", (ROOT / page).read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE) or target in ("and",), target


def test_help_of_make_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE)) - {"help", "system"}
    assert targets == set(re.findall(r'echo "make (\w+)', makefile))


def test_every_status_is_explained() -> None:
    text = (DOCS / "results.md").read_text()
    for status in STATUSES:
        assert f"`{status}`" in text, status


def test_the_architecture_page_shows_the_import_contract_and_every_package() -> None:
    text = (DOCS / "architecture.md").read_text()
    contract = (ROOT / ".importlinter").read_text()
    layers = re.search(r"^layers =\n((?: {4}.+\n)+)", contract, re.MULTILINE)
    assert layers is not None
    assert "```\n" + re.sub(r"^ {4}", "", layers[1], flags=re.MULTILINE) + "```" in text
    for package in (ROOT / "genbench").iterdir():
        if package.is_dir() and not package.name.startswith("_"):
            assert f"| `{package.name}/` |" in text, package.name


def test_every_page_is_in_the_navigation_or_is_a_card_of_the_list() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in PAGES:
        if page.parent != ROOT / parity.FOLDER or page.name == "index.md":
            assert str(page.relative_to(DOCS)) in navigation, page


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link_and_asks_for_nothing_from_outside(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in ("index.html", "reference/suite.html", "reference/cli.html", "reference/python.html"):
        text = (tmp_path / "site" / page).read_text()
        assert not re.search(r'<(?:script|img|link)[^>]+(?:src|rel="stylesheet" href)="https?://', text), page
        assert "fonts.googleapis" not in text
    assert [str(file) for file in (tmp_path / "site").rglob("*.py*")] == []
    assert "genbench compare" in (tmp_path / "site/reference/cli.html").read_text()
    assert "repetition_penalty" in (tmp_path / "site/reference/suite.html").read_text()
    assert "max_hours" in (tmp_path / "site/reference/python.html").read_text()


@pytest.mark.slow
def test_messages_that_are_explained_are_among_those_that_are_raised() -> None:
    hooks = runpy.run_path(str(DOCS / "hooks.py"))
    found = hooks["messages_list"]().replace("\\", "")
    assert found.count("\n* ") > 700
    page = (DOCS / "messages.md").read_text()
    section = page.split("## What needs more words")[1].split("\n## ")[0]
    explained = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)[2:]
    sources = "".join(path.read_text() for path in (ROOT / "genbench").rglob("*.py"))
    joined = re.sub(r'"\s*\n\s*f?"', "", sources)
    assert [text for text in explained if text not in joined] == []


def test_the_table_of_the_results_page_is_that_of_a_run_of_quickstart() -> None:
    """Its columns, tasks and sizes are those of today; its values and counts say the same."""
    block = (DOCS / "results.md").read_text().split("```\n")[1].splitlines()
    head = [column.head for column in SCORES.columns if TERMINAL in column.shown]
    assert re.split(r"  +", block[0]) == head
    suite = read_suite(suite_path("quickstart")).config
    rows = [re.split(r"  +", line) for line in block[2:]]
    assert [row[:2] for row in rows] == [[m, t.label] for m in suite.models for t in suite.tasks]
    for row, task in zip(rows, [*suite.tasks] * 2, strict=True):
        counts = dict(item.split(" ") for item in row[7].split(", "))
        low, high = ast.literal_eval(row[4])
        samples = sum(map(int, counts.values()))
        assert row[6] == f"{samples // (task.k or 0)} x {task.k}"
        assert float(row[3]) == pytest.approx(100 * int(counts["correct"]) / samples, abs=0.051)
        assert low < float(row[3]) < high
