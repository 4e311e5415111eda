"""The offline mirror of hub datasets: found, held to its pin, and explained where it lacks something."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genbench.data.digest import rows_digest
from genbench.data.hub import load_rows
from genbench.errors import DataError
from genbench.protocols import HubDataset

ROWS = [{"problem": "1+1?", "answer": "2", "id": 1}, {"problem": "2+2?", "answer": "4", "id": 2}]
COLUMNS = ("problem", "answer")
PINNED = HubDataset(repo="org/toy", config="main", columns=COLUMNS, digest=rows_digest(ROWS, COLUMNS), rows=2)


def mirror(folder: Path, suffix: str = "jsonl") -> Path:
    place = folder / "org" / "toy" / "main"
    place.mkdir(parents=True)
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), place / "test.parquet")
    else:
        lines = [f'{{"problem": "{row["problem"]}", "answer": "{row["answer"]}", "id": 1}}\n' for row in ROWS]
        (place / "test.jsonl").write_text("".join(lines))
    return folder


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_mirror_of_the_pinned_rows_passes_without_a_warning(tmp_path: Path, suffix: str) -> None:
    rows, provenance = load_rows(PINNED, mirror(tmp_path, suffix))
    assert [row["answer"] for row in rows] == ["2", "4"]
    assert (provenance["source"], provenance["rows"], provenance["warning"]) == ("mirror", 2, None)
    assert provenance["digest"] == provenance["pinned_digest"] == PINNED.digest
    assert provenance["path"].endswith(f"org/toy/main/test.{suffix}")


def test_a_mirror_with_other_rows_is_used_with_a_warning(tmp_path: Path) -> None:
    _, other = load_rows(PINNED.model_copy(update={"digest": "0" * 64}), mirror(tmp_path))
    assert "is pinned" in other["warning"]
    _, fewer = load_rows(PINNED.model_copy(update={"rows": 3}), tmp_path)
    assert "2 rows where 3 are pinned" in fewer["warning"]


def test_what_the_mirror_lacks_is_said_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_rows(PINNED.model_copy(update={"revision": "abc"}), tmp_path)
    message = str(caught.value)
    assert f"{tmp_path}/org/toy/main/test.jsonl (or .parquet)" in message
    assert f"mkdir -p {tmp_path}/org/toy/main" in message
    assert "load_dataset('org/toy', 'main', split='test', revision='abc')" in message
    with pytest.raises(DataError, match="hf auth login"):
        load_rows(PINNED.model_copy(update={"gated": True}), tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        load_rows(PINNED, tmp_path / "none")


def test_the_command_for_a_repository_with_a_loading_script_reads_its_files(tmp_path: Path) -> None:
    scripted = PINNED.model_copy(update={"files": ("test.jsonl", "test2.jsonl"), "revision": "abc"})
    with pytest.raises(DataError) as caught:
        load_rows(scripted, tmp_path)
    [command] = [line for line in str(caught.value).splitlines() if "load_dataset" in line]
    urls = [f"hf://datasets/{PINNED.repo}@abc/{name}" for name in scripted.files]
    assert f"load_dataset('json', data_files={urls}, split='train').to_parquet(" in command
    program = command.strip().removeprefix("python -c ").strip('"')
    compile(program, "command", "exec")
