"""Mistakes in a suite as messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.suite.suitefile import is_within, message, place, read_suite
from genbench.suite.yamlfile import Loc

LINES: dict[Loc, int | str] = {("decoding",): 3, ("tasks", 0): 5, ("tasks", 0, "k"): "--set tasks.t.k=0"}
SUITE = Path("s.yaml")


def test_the_place_is_the_nearest_key_that_was_written() -> None:
    assert place(SUITE, ("decoding", "seed"), LINES) == "s.yaml:3"
    assert place(SUITE, ("tasks", 0, "k"), LINES) == "--set tasks.t.k=0"
    assert place(SUITE, ("models",), LINES) == "s.yaml:1"


def test_an_error_within_another_is_the_cause_of_it() -> None:
    assert is_within(("tasks", 0, "k"), ("tasks", 0))
    assert not is_within(("tasks", 0), ("tasks", 0)) and not is_within(("tasks", 1), ("tasks", 0))


def test_each_kind_of_error_has_its_words() -> None:
    unknown = {"type": "extra_forbidden", "loc": ("decoding", "sed"), "msg": "", "input": 1}
    assert message(unknown, SUITE, LINES, lambda loc: ("seed", "top_p")) == (
        "s.yaml:3: unknown key 'decoding.sed'; did you mean 'seed'?"
    )
    missing = {"type": "missing", "loc": ("models",), "msg": "", "input": {}}
    assert message(missing, SUITE, LINES, lambda loc: ()) == "s.yaml:1: 'models' is missing"
    low = {
        "type": "greater_than_equal",
        "loc": ("tasks", 0, "k"),
        "msg": "Input should be at least 1",
        "input": 0,
    }
    assert (
        message(low, SUITE, LINES, lambda loc: ())
        == "--set tasks.t.k=0: tasks.0.k: input should be at least 1, found 0"
    )


def test_many_mistakes_of_one_file_are_folded(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    tasks = [f"  - {{name: t{number}, kindd: exact, data: {{path: r.jsonl}}, k: 1}}" for number in range(23)]
    path.write_text("\n".join(["models: {m: {path: x}}", "tasks:", *tasks]))
    with pytest.raises(ConfigError) as caught:
        read_suite(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 21 and lines[0].endswith("unknown key 'tasks.0.kindd'; did you mean 'kind'?")
    assert lines[-1] == "… and 3 more mistakes of this file"
