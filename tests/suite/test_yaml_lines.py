"""YAML of suites as plain values, with the line of each key for messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.suite.suitefile import read_suite
from genbench.suite.yamlfile import read_yaml_file

TEXT = """\
# a comment
models:
  m: {path: ./m}

tasks:
  - gsm8k
  - name: own
    k: 4
    gating: yes
    margin: 1.5
    note:
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_and_item_has_its_line(tmp_path: Path) -> None:
    _, lines = read_yaml_file(written(tmp_path, TEXT))
    assert lines["models",] == 2 and lines["models", "m"] == lines["models", "m", "path"] == 3
    assert lines["tasks", 0] == 6 and lines["tasks", 1] == 7 and lines["tasks", 1, "margin"] == 10


def test_values_are_plain_and_yes_is_text_as_in_yaml_1_2(tmp_path: Path) -> None:
    values, _ = read_yaml_file(written(tmp_path, TEXT))
    own = values["tasks"][1]
    assert own == {"name": "own", "k": 4, "gating": "yes", "margin": 1.5, "note": None}
    assert {type(value) for value in own.values()} == {str, int, float, type(None)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: {m: 1\n", r"suite\.yaml:\d: not valid YAML"),
        ("k: 1\nk: 2\n", r"suite\.yaml:2: not valid YAML"),
        ("- a\n- b\n", "a suite is a mapping with 'models' and 'tasks'"),
        ("", "a suite is a mapping"),
    ],
)
def test_a_file_that_is_no_suite_says_where_and_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_suite(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml: cannot be read"):
        read_yaml_file(tmp_path / "nothing.yaml")
