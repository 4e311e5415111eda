from __future__ import annotations

from pathlib import Path

import pytest

from genbench.engines.devices import VISIBLE, _has_driver, share, visible, why_none
from genbench.errors import ConfigError
from tests.table import each_row


def test_the_variable_names_the_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "3, GPU-ab12,, 1")
    assert visible() == ["3", "GPU-ab12", "1"]


def test_an_empty_variable_hides_all_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    assert visible() == []


def test_without_a_driver_there_are_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VISIBLE, raising=False)
    monkeypatch.setenv("PATH", "")
    assert visible() == []


def test_each_replica_gets_neighbours_of_its_own() -> None:
    devices = [str(index) for index in range(8)]
    assert [share(devices, replica, 4, 2) for replica in range(4)] == [
        ("0", "1"),
        ("2", "3"),
        ("4", "5"),
        ("6", "7"),
    ]


def test_too_few_devices_are_an_error_with_both_numbers() -> None:
    with pytest.raises(ConfigError, match=r"engine\.replicas: 3 with 2 GPU\(s\) each need 6, found 4"):
        share(["0", "1", "2", "3"], 0, 3, 2)


SMI = {
    "a GPU": ("echo 0", None),
    "none": ("exit 0", "nvidia-smi lists none"),
    "no driver": (
        'echo "NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver."; exit 9',
        "nvidia-smi failed with 9: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA "
        "driver.",
    ),
}


@each_row("what", SMI)
def test_a_gpu_answers_or_nvidia_smi_says_why_not(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, reason = SMI[what]
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(VISIBLE, raising=False)
    assert why_none() == reason
    monkeypatch.setenv(VISIBLE, "")
    assert why_none() == f"the variable {VISIBLE} names none"


def test_without_nvidia_smi_and_driver_no_gpu_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VISIBLE, raising=False)
    monkeypatch.setenv("PATH", "")
    assert why_none() == (None if _has_driver() else "there is no nvidia-smi")
