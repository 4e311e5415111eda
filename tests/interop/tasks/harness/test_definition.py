"""Includes, groups and tags of definitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.interop.tasks.harness.definition import read_file, read_tree


def test_keys_of_a_file_replace_those_of_its_include(definitions: Path) -> None:
    sums = read_tree(definitions).tasks["sums"]
    assert sums.config["num_fewshot"] == 1
    assert sums.config["dataset_path"] == "org/sums"
    assert [path.name for path in sums.files] == ["sums.yaml", "_template_yaml"]


def test_a_group_means_the_tasks_of_its_tags(definitions: Path) -> None:
    found = read_tree(definitions).find("sums_group")
    assert [item.name for item in found] == ["sums", "sums_rows", "pick"]


def test_an_unknown_name_gets_a_hint(definitions: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'sums'"):
        read_tree(definitions).find("sumz")


@pytest.mark.parametrize("name", ["../../secret.yaml", "/etc/passwd", "link.yaml"])
def test_an_include_cannot_leave_the_folder(definitions: Path, name: str) -> None:
    secret = definitions.parent / "secret.yaml"
    secret.write_text("password: x\n", encoding="utf-8")
    (definitions / "sums" / "link.yaml").symlink_to(secret)
    path = definitions / "sums" / "bad.yaml"
    path.write_text(f"task: bad\ninclude: {name}\n", encoding="utf-8")
    with pytest.raises(InputError, match="is outside"):
        read_file(path, definitions)


def test_an_include_of_itself_is_refused(definitions: Path) -> None:
    path = definitions / "sums" / "round.yaml"
    path.write_text("task: round\ninclude: round.yaml\n", encoding="utf-8")
    with pytest.raises(InputError, match="in a circle"):
        read_file(path)


def test_a_group_that_contains_itself_is_refused(definitions: Path) -> None:
    (definitions / "sums" / "round.yaml").write_text("group: g\ntask: [g]\n", encoding="utf-8")
    with pytest.raises(InputError, match="contains itself"):
        read_tree(definitions).find("g")


def test_a_file_that_cannot_be_read_does_not_hide_the_others(definitions: Path) -> None:
    (definitions / "sums" / "broken.yaml").write_text("task: [", encoding="utf-8")
    tree = read_tree(definitions)
    assert "sums" in tree.tasks
    assert "broken.yaml" in tree.unreadable[0]
