"""Datasets of the hub that cannot be asked for: the error names the dataset and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.data.download import PROBE_TIMEOUT_S, fetch
from genbench.errors import DataError
from genbench.protocols import HubDataset


def test_a_name_that_no_hub_can_have_is_refused_without_a_request() -> None:
    dataset = HubDataset(repo="not a/valid name", config="main", columns=("question",))
    with pytest.raises(DataError, match=r"^dataset not a/valid name \(main, test\)"):
        fetch(dataset, "make a mirror")


def test_a_folder_of_the_same_name_is_not_read_in_place_of_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "org" / "rows").mkdir(parents=True)
    (tmp_path / "org" / "rows" / "test.jsonl").write_text('{"question": "q"}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="would be read instead of the hub"):
        fetch(HubDataset(repo="org/rows", columns=("question",)), "make a mirror")


def test_the_hub_is_asked_for_seconds_not_minutes() -> None:
    assert 1 <= PROBE_TIMEOUT_S <= 30
