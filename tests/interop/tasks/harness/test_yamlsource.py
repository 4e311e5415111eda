"""YAML of strangers: functions stay names, and nothing can make it large or deep."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.interop.tasks.harness.definition import FunctionName, functions_in, parse_source, read_source


def test_a_function_stays_a_name() -> None:
    found = parse_source("task: t\nmetric_list:\n  - metric: !function utils.mine\n", "t.yaml")
    assert list(functions_in(found)) == [(("metric_list", "0", "metric"), FunctionName("utils.mine"))]


def test_words_are_read_as_yaml_1_1_reads_them() -> None:
    assert parse_source("a: yes\nb: 010\nc: 1\nc: 2\n", "t.yaml") == {"a": True, "b": 8, "c": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: !!python/object/apply:os.system ['true']", "not a YAML definition"),
        ("a: !other x", "not a YAML definition"),
        ("- a", "wanted a mapping"),
        ("a: [", "not a YAML definition"),
        ("a: &a [*a]", "levels deep"),
    ],
)
def test_what_is_no_definition_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_source(text, "t.yaml")


@pytest.mark.slow
def test_aliases_cannot_stand_for_gigabytes() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(InputError, match="aliases"):
        parse_source("\n".join(lines), "t.yaml")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match=r"t\.yaml: not UTF-8"):
        read_source(tmp_path / "t.yaml")


@pytest.mark.parametrize("text", ["a: " + "[" * 3000, "a: " + "{a: " * 2000, "- " * 3000 + "a"])
def test_nesting_that_takes_the_parser_long_is_refused_at_once(text: str) -> None:
    with pytest.raises(InputError, match=r"too many brackets|recursion"):
        parse_source(text, "task.yaml")


@pytest.mark.slow
def test_merge_keys_cannot_stand_for_gigabytes() -> None:
    lines = [
        "x0: &x0 {a: 1}",
        *(f"x{i}: &x{i} {{<<: [{', '.join([f'*x{i - 1}'] * 40)}]}}" for i in range(1, 6)),
    ]
    with pytest.raises(InputError, match="aliases written out"):
        parse_source("\n".join(lines), "task.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "a: {" + ",".join(f"k{n}: {n}" for n in range(15_000)) + "}",
        "".join(f"k{n}: &a{n} x\n" for n in range(20_000)),
        "a: |\n" + "  x\n" * 70_000,
    ],
)
def test_a_definition_of_hundreds_of_kilobytes_is_refused_before_it_is_read(text: str) -> None:
    with pytest.raises(InputError, match="more than 262,144 characters"):
        parse_source(text * 2, "task.yaml")


def test_a_mistake_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match=r"task\.yaml:3: not a YAML definition"):
        parse_source("a: 1\nb: 2\nc: *nowhere\n", "task.yaml")
