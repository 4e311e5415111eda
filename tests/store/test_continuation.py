"""Manifests of a folder that is continued: what must be the same, and what is kept."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.continuation import (
    binding_differences,
    check_problems,
    git_commit,
    machine,
    merge,
    package_versions,
)
from genbench.store.folder import RunFolder
from genbench.store.manifest import AttemptRecord
from tests.manifests import manifest, task_record
from tests.store.stored import problem_line

ATTEMPT = AttemptRecord(attempt=1, started="2026-01-01T00:00:00+0000", circumstances={})
DECODING = {"decoding": {"t": {"temperature": 0.6}}}


def test_a_new_folder_begins_without_attempts(tmp_path: Path) -> None:
    begun = merge(RunFolder(tmp_path), manifest(attempts=(ATTEMPT,)))
    assert begun.attempts == () and begun.test_uses == 0 and begun.created is not None


def test_a_continued_folder_keeps_attempts_and_tasks_of_earlier_commands(tmp_path: Path) -> None:
    old = manifest(tasks={"t": task_record()}, attempts=(ATTEMPT,), test_uses=2, created="then")
    with RunFolder.writer(tmp_path) as folder:
        folder.write_manifest(old)
        merged = merge(folder, manifest(tasks={"u": task_record()}))
    assert merged.attempts == (ATTEMPT,) and merged.test_uses == 2 and merged.created == "then"
    assert set(merged.tasks) == {"t", "u"}


def test_another_run_is_refused_with_what_differs(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.write_manifest(manifest(terms=DECODING, run_seed=1))
        with pytest.raises(RunFolderError, match=r"run_seed: 1 -> 2") as error:
            merge(folder, manifest(terms={"decoding": {"t": {"temperature": 0.7}}}, run_seed=2))
    assert "terms.decoding.t.temperature: 0.6 -> 0.7" in str(error.value)


def test_more_tasks_are_no_difference() -> None:
    one = manifest(tasks={"t": task_record()}, terms=DECODING)
    more = {"decoding": {"t": {"temperature": 0.6}, "u": {"temperature": 0}}}
    two = manifest(tasks={"t": task_record(), "u": task_record()}, terms=more)
    assert binding_differences(one.binding, two.binding) == []


def test_other_rows_of_a_task_are_a_difference() -> None:
    one = manifest(tasks={"t": task_record()})
    two = manifest(tasks={"t": task_record(data_digest="others")})
    assert binding_differences(one.binding, two.binding) == ['tasks.t.data_digest: "rows" -> "others"']


def test_stored_problems_are_kept_and_new_ones_added(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.write_problems("t", [problem_line("p")])
        lines = check_problems(folder, "t", [problem_line("q")])
    assert [line["problem_id"] for line in lines] == ["p", "q"]


@pytest.mark.parametrize("key", ["prompt_digest", "reference_digest"])
def test_a_problem_with_another_prompt_or_reference_is_refused(tmp_path: Path, key: str) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.write_problems("t", [problem_line("p")])
        with pytest.raises(RunFolderError, match=f"problem p: the {key.removesuffix('_digest')} is not"):
            check_problems(folder, "t", [problem_line("p") | {key: "other"}])


def test_the_commit_of_a_suites_folder_says_if_files_are_changed(tmp_path: Path) -> None:
    assert git_commit(str(tmp_path)) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    clean = git_commit(str(tmp_path))
    assert clean is not None and len(clean) == 40
    (tmp_path / "suite.yaml").write_text("x")
    assert git_commit(str(tmp_path)) == clean + "+"


def test_the_machine_and_its_packages_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "secret")
    monkeypatch.setenv("VLLM_USE_X", "1")
    found = machine()
    assert found["cores"] >= 1 and found["environment"]["VLLM_USE_X"] == "1"
    assert "secret" not in str(found)
    assert "numpy" in package_versions() and "pytest" not in package_versions()
