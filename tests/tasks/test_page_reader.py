"""Reading of task pages: their keys, their overlays, and messages with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.tasks.page.model import Page
from genbench.tasks.page.reader import read_page
from genbench.tasks.pages import FOLDER, page_names, page_path
from tests.table import each_row

PAGE = """\
summary: "Sums: two numbers"
family: maths
hub:
  repo: example/sums
  columns: [question, answer, level]
kind: math
fields: {question: question, reference: answer}
k: 4
options:
  rows:
    all: {}
    hard: {where: {level: [hard]}}
protocols:
  vendor:
    source: a report
    prompt: "Q: {question}"
    k: 1
"""


def write(folder: Path, text: str = PAGE) -> Path:
    path = folder / "sums.yaml"
    path.write_text(text)
    return path


def test_a_page_is_called_like_its_file(tmp_path: Path) -> None:
    found = read_page(write(tmp_path))
    assert (found.name, found.page.k, found.page.hub.repo) == ("sums", 4, "example/sums")
    assert found.page.languages == ("en",) and found.page.version == "1"


def test_a_protocol_and_an_option_lie_over_the_page(tmp_path: Path) -> None:
    file = read_page(write(tmp_path))
    page = file.chosen("vendor", {"rows": "hard"})
    assert (page.prompt, page.k, page.source) == ("Q: {question}", 1, "a report")
    assert page.where == {"level": ("hard",)}
    assert file.chosen("genbench", {}) is file.page
    assert file.values("rows") == ("all", "hard")


def test_an_overlay_merges_mappings_and_null_removes_a_key(tmp_path: Path) -> None:
    text = PAGE.replace(
        '    prompt: "Q: {question}"', "    hub: {split: dev}\n    fields: {id: key}\n    kind: exact"
    )
    page = read_page(write(tmp_path, text.replace("    k: 1", "    k: null"))).chosen("vendor", {})
    assert (page.hub.repo, page.hub.split, page.k) == ("example/sums", "dev", 1)
    assert (page.fields.id, page.fields.reference) == ("key", "answer")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: math", "kindd: math", r"sums\.yaml:6: unknown key 'kindd'; did you mean 'kind'"),
        ("kind: math", "kind: maths", r"no kind is called 'maths'; valid: .*math"),
        ("  repo: example/sums\n", "", r"sums\.yaml:3: 'hub\.repo' is missing"),
        ("k: 4", "k: 0", r"sums\.yaml:8: k: input should be greater than or equal to 1, found 0"),
        ("  repo: ", "  repoo: ", r"sums\.yaml:4: unknown key 'hub\.repoo'; did you mean 'repo'"),
        ("reference: answer", "reference: answer, rigth: 1", r"unknown key 'fields\.rigth'; did you mean"),
        ("family: maths", "family: sums", r"sums\.yaml:2: family: input should be 'knowledge'"),
        ("    source: a report\n", "", r"sums\.yaml:14: protocols\.vendor: 'source' is missing"),
        ("kind: math", "row: no_colon\nkind: math", r"sums\.yaml:6: row: string should match pattern"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in PAGE
    with pytest.raises(ConfigError, match=message):
        read_page(write(tmp_path, PAGE.replace(old, new)))


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("vendr", {}, "task sums: no protocol 'vendr'; did you mean 'vendor'"),
        ("genbench", {"row": "all"}, "task sums: no option 'row'; did you mean 'rows'"),
        ("genbench", {"rows": "har"}, "task sums: rows: unknown value 'har'; did you mean 'hard'"),
    ],
)
def test_unknown_protocols_and_options_are_named(
    tmp_path: Path, protocol: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_page(write(tmp_path)).chosen(protocol, options)


def test_a_mistake_in_an_overlay_has_the_overlay_s_line(tmp_path: Path) -> None:
    file = read_page(write(tmp_path, PAGE.replace("    k: 1", "    k: one")))
    with pytest.raises(ConfigError, match=r"sums\.yaml:17: k: input should be a valid integer.*'one'"):
        file.chosen("vendor", {})
    fixed = tmp_path / "other.yaml"
    fixed.write_text(PAGE.replace("    k: 1", "    summary: another"))
    with pytest.raises(ConfigError, match=r"other\.yaml:17: 'summary' is fixed"):
        read_page(fixed).chosen("vendor", {})


def test_a_page_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a task page is a mapping"):
        read_page(write(tmp_path, "- a\n"))


@each_row("name", page_names())
def test_every_page_is_valid_in_every_protocol_and_option(name: str) -> None:
    file = read_page(page_path(name))
    assert file.page.summary[-1] != "." and file.page.licence
    for protocol in ("genbench", *file.page.protocols):
        assert isinstance(file.chosen(protocol, {}), Page)
    for option in file.page.options:
        for value in file.values(option):
            assert isinstance(file.chosen("genbench", {option: value}), Page)


def test_an_unknown_page_is_named() -> None:
    assert page_path("gsm8k") == FOLDER / "gsm8k.yaml"
    with pytest.raises(ConfigError, match="no page is called 'gsm8'; did you mean 'gsm8k'"):
        page_path("gsm8")
