"""Whether a stored task can be read again without the network and without trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.runs.stored.load import why_not_loadable
from genbench.runs.stored.trust import Kind
from genbench.store.folder import RunFolder
from genbench.store.json_files import replace_json
from genbench.store.signature import seal
from tests.ready_runs import RIGHT, MakeRun

Trusted = tuple[Kind, ...]


def why(path: Path, data_dir: Path | None = None, trusted: Trusted = ()) -> str | None:
    folder = RunFolder(path)
    return why_not_loadable(folder, folder.require_manifest(), "sums", data_dir, trusted)


@pytest.fixture
def run(make_run: MakeRun) -> Path:
    return make_run("r", lambda i: [RIGHT] * 4, n=2)


def with_hub_data(path: Path) -> None:
    record = json.loads((path / "manifest.json").read_text())
    (entry,) = record["suite"]["config"]["tasks"]
    entry["data"] = {"hub": {"repo": "org/name"}, "fields": entry["data"]["fields"]}
    replace_json(path / "manifest.json", record)


def test_ones_own_run_with_data_in_a_file_can_be_read(run: Path) -> None:
    assert why(run) is None


def test_a_strangers_run_asks_for_its_files(run: Path) -> None:
    (run / "seal.json").unlink()
    assert str(why(run)).startswith("the run folder asks for files: read ")
    assert why(run, trusted=("files",)) is None


def test_the_network_is_asked_for_even_by_ones_own_run(run: Path) -> None:
    with_hub_data(run)
    seal(RunFolder(run))
    assert "would come from the network" in str(why(run))
    assert why(run, trusted=("network",)) is None


def test_a_mirror_takes_the_place_of_the_network(run: Path, tmp_path: Path) -> None:
    with_hub_data(run)
    seal(RunFolder(run))
    assert why(run, data_dir=tmp_path) is None
