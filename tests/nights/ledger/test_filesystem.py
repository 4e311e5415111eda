"""The file system of a path, from lines as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.database import file_system, network_file_system
from genbench.nights.ledger.database import open_ledger

MOUNTS = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "40 22 0:35 / /data rw - nfs4 server:/export rw,vers=4.2",
    "41 22 0:36 / /my\\040disk rw - lustre mgs@tcp:/fs rw",
    "42 40 8:2 / /data/local rw - xfs /dev/sdb rw",
    "43 22 0:37 / /twice rw - ext4 /dev/sdc rw",
    "44 43 0:38 / /twice rw - cifs //server/share rw",
    "a line that is none",
]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada/ledger.sqlite3", None),
        ("/data/runs/ledger.sqlite3", "nfs4"),
        ("/data/local/ledger.sqlite3", None),
        ("/database/ledger.sqlite3", None),
        ("/my disk/ledger.sqlite3", "lustre"),
        ("/twice/ledger.sqlite3", "cifs"),
    ],
)
def test_the_deepest_and_latest_mount_counts(path: str, kind: str | None) -> None:
    assert network_file_system(Path(path), MOUNTS) == kind


def test_this_machine_tells_the_file_system_of_its_root() -> None:
    assert file_system(Path("/")) is not None


def test_a_ledger_on_a_network_file_system_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"40 22 0:35 / {tmp_path} rw - nfs4 server:/export rw\n")
    monkeypatch.setattr("genbench.nights.database._MOUNTS", mounts)
    with pytest.raises(InputError, match=r"nfs4.*postgresql://"):
        open_ledger(tmp_path / "ledger.sqlite3")
    assert not (tmp_path / "ledger.sqlite3").exists()
