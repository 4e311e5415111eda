"""What `doctor` says of the isolation that a machine lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.runs.doctor import doctor
from genbench.sandbox import isolation


def test_a_machine_without_a_part_is_told_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "controllers").write_text("cpuset cpu io memory pids\n")
    monkeypatch.setattr(isolation, "_CONTROLLERS", tmp_path / "controllers")
    with_all = list(isolation.lacking())
    assert not any("control groups" in line for line in with_all)
    (tmp_path / "controllers").write_text("cpuset cpu\n")
    (tmp_path / "restricted").write_text("1\n")
    monkeypatch.setattr(isolation, "_APPARMOR", tmp_path / "restricted")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = set(isolation.lacking()) - set(with_all)
    assert [line.partition(":")[0] for line in sorted(found)] == [
        "bubblewrap",
        "control groups (version 2) with memory",
        "user namespaces for ordinary users",
    ]


@pytest.mark.slow
def test_doctor_has_a_line_about_isolation() -> None:
    assert [check.what for check in doctor() if check.what == "isolation"] == ["isolation"]
