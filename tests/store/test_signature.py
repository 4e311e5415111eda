"""Seals of run folders: this user's own suites are told from a stranger's, and no seal can be made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.store.folder import RunFolder
from genbench.store.signature import is_sealed, key_path, seal
from tests.manifests import manifest, task_record


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run folder of this user, sealed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = RunFolder(tmp_path / "run")
    made.write_manifest(manifest(tasks={"t": task_record()}))
    seal(made)
    return made


def sealed(folder: RunFolder) -> bool:
    return is_sealed(folder, folder.require_manifest())


def test_folder_of_ones_own_is_sealed(folder: RunFolder) -> None:
    assert sealed(folder)


@pytest.mark.parametrize(
    ("block", "key", "changed"),
    [
        ("suite", "config", {"judge": {"server": {"api_key_env": "TOKEN"}}}),
        ("suite", "path", "/elsewhere/suite.yaml"),
        ("suite", "overrides", ["judge.use=x"]),
        ("origin", "data_dir", "/elsewhere"),
    ],
)
def test_changed_suite_or_data_folder_breaks_the_seal(
    folder: RunFolder, block: str, key: str, changed: Any
) -> None:
    record = json.loads(folder.manifest_path.read_text())
    record[block][key] = changed
    folder.manifest_path.write_text(json.dumps(record))
    assert not sealed(folder)


def test_another_user_does_not_take_the_seal(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert not sealed(folder)


@pytest.mark.parametrize("content", ["", "null", "[]", '{"seal": 1}', '{"seal": "\\ud800"}', "[" * 5000])
def test_damaged_seal_is_none(folder: RunFolder, content: str) -> None:
    (folder.path / "seal.json").write_text(content)
    assert not sealed(folder)


def test_key_is_only_readable_by_its_user_and_a_shared_one_is_not_used(folder: RunFolder) -> None:
    assert key_path().stat().st_mode & 0o777 == 0o600
    key_path().chmod(0o644)
    assert not sealed(folder)


def test_linked_key_is_not_used(folder: RunFolder, tmp_path: Path) -> None:
    key_path().rename(tmp_path / "moved")
    key_path().symlink_to(tmp_path / "moved")
    assert not sealed(folder)


def test_second_folder_uses_the_same_key(folder: RunFolder) -> None:
    key = key_path().read_bytes()
    seal(folder)
    assert key_path().read_bytes() == key and sealed(folder)


def test_folder_without_a_place_for_the_key_stays_unsealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    made = RunFolder(tmp_path / "run")
    made.write_manifest(manifest())
    seal(made)
    assert not (made.path / "seal.json").exists() and not sealed(made)
