"""YAML of suites and judges: values and lines as written, and files that would take too long are refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from genbench.errors import ConfigError
from genbench.suite.yamlfile import limited_scanner, read_yaml, read_yaml_file
from tests.table import each_row


def value(text: str) -> object:
    return read_yaml(text, "x.yaml")[0]


def refused(text: str) -> str:
    """Return the message, which must come at once."""
    began = time.process_time()
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, "x.yaml")
    assert time.process_time() - began < 5
    return str(caught.value)


@each_row(
    "written, read",
    [
        ("1", 1),
        ("-7", -7),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 17),
        ("1e3", 1000.0),
        ("0.6", 0.6),
        (".inf", float("inf")),
        ("-.inf", float("-inf")),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("'1'", "1"),
        ("1:30", "1:30"),
        ("2001-99-99", "2001-99-99"),
        ("2001-09-09", "2001-09-09"),
        ('"\\0"', "\0"),
        ("!!str 5", "5"),
    ],
)
def test_scalar_is_read_as_yaml_1_2_and_a_date_stays_text(written: str, read: object) -> None:
    found = value(f"a: {written}\n")
    assert found == {"a": read}
    assert type(found["a"]) is type(read)


def test_keys_and_items_have_their_lines() -> None:
    found, lines = read_yaml("a:\n  b: 1\n  c:\n    - x\n    - y: 2\n", "x.yaml")
    assert found == {"a": {"b": 1, "c": ["x", {"y": 2}]}}
    assert lines == {
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "c"): 3,
        ("a", "c", 0): 4,
        ("a", "c", 1): 5,
        ("a", "c", 1, "y"): 5,
    }


def test_own_key_counts_before_a_merged_one() -> None:
    text = "base: &b {path: none, k: 1}\nn: {<<: *b, k: 2}\n"
    assert value(text) == {"base": {"path": "none", "k": 1}, "n": {"path": "none", "k": 2}}


def test_first_of_several_merged_mappings_counts() -> None:
    text = "x: &x {a: 1}\ny: &y {a: 2, b: 2}\nn:\n  <<: [*x, *y]\n"
    assert value(text)["n"] == {"a": 1, "b": 2}  # type: ignore[index]


def test_merged_key_has_the_line_that_it_was_written_on() -> None:
    _, lines = read_yaml("x: &x\n  a: 1\nn:\n  <<: *x\n", "x.yaml")
    assert lines["n", "a"] == 2


def test_quoted_merge_key_is_a_key() -> None:
    assert value('"<<": 1\n') == {"<<": 1}


def test_empty_text_is_nothing() -> None:
    assert read_yaml("# only a comment\n", "x.yaml") == (None, {})


@each_row(
    "text, told",
    [
        ("a: 1\nb: [", "x.yaml:2: not valid YAML"),
        ("a: 1\na: 2\n", "x.yaml:2: not valid YAML: the key 'a' is there twice"),
        ("a: 1\nb: x\x01y\n", "x.yaml:2: not valid YAML: the character U+0001 is not allowed"),
        ("a: *nope\n", "x.yaml:1: not valid YAML: found undefined alias"),
        ("a: 1\nn: " + "9" * 5000, "x.yaml:2: a number of 5,000 characters"),
        ("n: 0x" + "f" * 5000, "x.yaml:1: a number of 5,002 characters"),
        ("? [a]\n: 1\n", "x.yaml:1: a key is a list or a mapping"),
        ("a: !x [1]\n", "x.yaml:1: unknown tag !x"),
        ("a: !!python/object:os.system x\n", "unknown tag tag:yaml.org,2002:python/object:os.system"),
        ("a: !!int x\n", "x.yaml:1: 'x' is no int"),
        ("x: {<<: 3}\n", "<<: wanted a mapping"),
        ("a: &a\n  <<: *a\n", "x.yaml:"),
        ("a: &a [*a]\n", "x.yaml:"),
        ("--- 1\n--- 2\n", "not valid YAML"),
        ("%YAML 9.9\n---\na: 1\n", "not valid YAML"),
    ],
)
def test_message_names_file_line_and_mistake(text: str, told: str) -> None:
    assert told in refused(text)


@pytest.mark.slow
def test_bomb_of_aliases_is_refused_at_once() -> None:
    text = "x0: &x0 [a,a,a,a,a,a,a,a,a,a]\n"
    text += "".join(f"x{i}: &x{i} [{','.join([f'*x{i - 1}'] * 10)}]\n" for i in range(1, 9))
    assert "values after the aliases are expanded" in refused(text)


def test_more_values_than_the_parser_reads_quickly_are_refused_with_the_line() -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = limited_scanner(lambda line, why: ConfigError(f"x.yaml:{line}: {why}"), most_tokens=1000)
    with pytest.raises(ConfigError, match=r"x\.yaml:\d{3}: more than 1,000 keys, values and marks"):
        yaml.compose("a: [\n" + "b,\n" * 2000 + "]")


@pytest.mark.slow
def test_bomb_of_merge_keys_is_refused_at_once() -> None:
    text = "x0: &x0 {a: 1}\n"
    text += "".join(f"x{i}: &x{i} {{<<: [{','.join([f'*x{i - 1}'] * 10)}]}}\n" for i in range(1, 9))
    assert "values after the aliases are expanded" in refused(text)


@pytest.mark.parametrize("text", ["a: " + "[" * 6000, "a: " + "{b: " * 2000, "- " * 2000 + "a", "? " * 2000])
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    assert "at most 40" in refused(text)


def test_brackets_inside_texts_do_not_count() -> None:
    text = 'a: "' + "[" * 100 + '"\nb: |\n' + "  [0, 1)\n" * 100
    assert value(text)["a"] == "[" * 100  # type: ignore[index]


def test_too_long_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text("a: " + "x" * 300_000)
    with pytest.raises(ConfigError, match="more than 262,144 characters"):
        read_yaml_file(path)


def test_file_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"a: \xe9\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml_file(path)
