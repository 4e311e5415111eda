"""The task that an entry of a suite names: a built-in, a page of the user's own, or a plug-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.protocols import Task
from genbench.suite.shipped import folder
from genbench.suite.suitefile import read_suite
from genbench.tasks.factory import make_task

PAGE = """\
summary: "Words: a word"
hub: {repo: example/words, columns: [q, a]}
row: word_rows:complete
kind: exact
fields: {question: q, reference: a}
"""


def made(folder: Path, entry: str) -> Task:
    (folder / "suite.yaml").write_text("models: {m: {path: ./m}}\ntasks:\n  - " + entry + "\n")
    suite = read_suite(folder / "suite.yaml")
    return make_task(suite, suite.config.tasks[0])


def test_a_built_in_takes_the_options_and_the_protocol_of_the_entry(tmp_path: Path) -> None:
    info = made(tmp_path, "{task: mmlu_redux, options: {rows: mended}}").info
    assert (info.name, info.version) == ("mmlu_redux", "1-mended")
    info = made(tmp_path, "{task: mmlu, protocol: simple-evals}").info
    assert (info.protocol, info.verifier) == ("simple-evals", "letters")


def test_a_page_of_the_suite_s_folder_is_a_task_with_its_row_function(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text(PAGE)
    (tmp_path / "word_rows.py").write_text(
        "def complete(row, place):\n    return {**row, 'q': row['q'] + '!'}\n"
    )
    task = made(tmp_path, "{task: ./words.yaml}")
    [problem] = task.problems([{"q": "which", "a": "b"}])
    ask = task.ask(problem, 0, ())
    assert ask is not None
    assert (task.info.name, ask.messages[0].content, ask.reference) == ("words", "which!", "b")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{task: ./no.yaml}", r"suite\.yaml:3: task 'no': .*no\.yaml: cannot be read"),
        ("{task: mmlu, options: {rows: ok}}", "task 'mmlu': task mmlu: no option 'rows'"),
        ("{task: ifeval, options: {order: as_given}}", "no option 'order'; its questions list no options"),
    ],
)
def test_a_mistake_is_named_with_the_entry(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(tmp_path, entry)


def test_a_page_without_its_module_is_named(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text(PAGE.replace("word_rows", "no_such_rows"))
    with pytest.raises(ConfigError, match="there is no module 'no_such_rows'"):
        made(tmp_path, "{task: ./words.yaml}")


@pytest.mark.slow
def test_every_task_of_a_shipped_suite_exists_with_its_options() -> None:
    paths = [*folder("suites").glob("*.yaml"), *folder("suites").glob("parity/*.yaml")]
    assert {"smollm3", "smollm3_final", "reasoning", "knowledge", "multilingual", "quick"} <= {
        path.stem for path in paths
    }
    for path in paths:
        suite = read_suite(path)
        for entry in suite.config.tasks:
            assert make_task(suite, entry).info.version, f"{path.name}: {entry.label}"
