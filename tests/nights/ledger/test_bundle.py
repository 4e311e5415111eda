"""Bundles of runs: what they contain, and what is not a bundle."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from genbench.errors import InputError, RunFolderError
from genbench.team.service.bundle import (
    FILES,
    MOST_BYTES,
    MOST_UNPACKED,
    content_digest_of,
    pack_run,
    unpack_run,
)
from tests.nights.ledger.synthetic import flat, make_run
from tests.table import each_row


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_run(tmp_path / "n0", {"math": flat(20, 2, 0.5, 1)}, position=20_000)


def zipped(files: dict[str, bytes], mode: int = 0) -> bytes:
    """A zip file of some files, whose entries say that they are of a mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            bundle.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def test_a_run_is_packed_to_the_same_bytes_without_texts(folder: Path) -> None:
    data = pack_run(folder)
    assert data == pack_run(folder)
    assert unpack_run(data) == {name: (folder / name).read_bytes() for name in FILES}
    assert content_digest_of(b"") == "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"


def test_a_run_that_is_not_finished_or_has_no_sums_is_not_packed(folder: Path) -> None:
    (folder / "sums.json").unlink()
    with pytest.raises(RunFolderError):
        pack_run(folder)
    (folder / "results.json").unlink()
    with pytest.raises(RunFolderError, match="unfinished; push it when it is finished"):
        pack_run(folder)


@pytest.mark.slow
@each_row(
    "files, mode, told",
    [
        ({}, 0, "this one has nothing"),
        ({"manifest.json": b"{}"}, 0, "and nothing else"),
        (dict.fromkeys([*FILES, "extra.json"], b"{}"), 0, "and nothing else"),
        (dict.fromkeys(["../manifest.json", *FILES[1:]], b"{}"), 0, "this one has ../manifest.json"),
        (dict.fromkeys(["/etc/passwd", *FILES[1:]], b"{}"), 0, "/etc/passwd"),
        (dict.fromkeys(FILES, b"/etc/passwd"), stat.S_IFLNK | 0o777, "is not a plain file"),
        (dict.fromkeys(FILES, b"x"), stat.S_IFIFO | 0o644, "is not a plain file"),
        (dict.fromkeys(FILES, bytes(MOST_UNPACKED // 2)), 0, "unpacks to more than"),
    ],
)
def test_what_is_no_bundle_is_refused(files: dict[str, bytes], mode: int, told: str) -> None:
    with pytest.raises(InputError, match=told):
        unpack_run(zipped(files, mode))


@pytest.mark.slow
def test_a_lie_about_sizes_and_damaged_bytes_are_refused(folder: Path) -> None:
    bomb = zipped(dict.fromkeys(FILES, bytes(MOST_UNPACKED // 2)))
    assert len(bomb) < 1 << 20
    small = (MOST_UNPACKED // 2).to_bytes(4, "little")
    with pytest.raises(InputError):
        unpack_run(bomb.replace(small, (10).to_bytes(4, "little")))
    with pytest.raises(InputError, match="may be sent"):
        unpack_run(bytes(MOST_BYTES + 1))
    data = pack_run(folder)
    for broken in (b"", b"PK", data[:-30], data[:100] + b"xxxx" + data[104:]):
        with pytest.raises(InputError):
            unpack_run(broken)


def test_a_newer_version_of_the_zip_format_is_refused(folder: Path) -> None:
    data = bytearray(pack_run(folder))
    data[data.index(b"PK\x01\x02") + 6] = 99  # the version that is needed to read the first file
    with pytest.raises(InputError, match=r"the bundle is damaged: zip file version 9\.9"):
        unpack_run(bytes(data))
