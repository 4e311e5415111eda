from __future__ import annotations

import pytest

from genbench.engines.devices import VISIBLE, share, visible
from genbench.errors import ConfigError


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
