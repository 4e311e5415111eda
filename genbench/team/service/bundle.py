"""A run as a bundle for another machine: its manifest, results and sums, without any text of a model."""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import zipfile
import zlib
from pathlib import Path

from genbench.errors import InputError, RunFolderError
from genbench.nights.ledger.run_facts import read_facts
from genbench.store.json_files import read_bytes

FILES = ("manifest.json", "results.json", "sums.json")
"""What a bundle contains, and nothing else."""
MOST_BYTES = 5 << 20
"""The largest bundle, in bytes."""
MOST_UNPACKED = 64 << 20
"""The largest sum of the sizes of its files, in bytes."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MOMENT = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED = 0x1


def pack_run(folder: Path) -> bytes:
    """Return the bundle of a finished run. The same run gives the same bytes.

    Raises:
        InputError: the folder is not a run, the run is not finished, has no sums, or is too large.
    """
    facts = read_facts(folder)
    if facts.state not in ("finished", "failed"):
        raise RunFolderError(f"{folder}: the run is {facts.state}; push it when it is finished")
    buffer, total = io.BytesIO(), 0
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name in FILES:
            data = read_bytes(folder / name, MOST_UNPACKED)
            if data is None:
                raise RunFolderError(
                    f"{folder}: has no {name}; an earlier genbench drew it: run genbench score {folder}"
                )
            total += len(data)
            bundle.writestr(zipfile.ZipInfo(name, _MOMENT), data, zipfile.ZIP_DEFLATED)
    data = buffer.getvalue()
    if len(data) > MOST_BYTES or total > MOST_UNPACKED:
        raise RunFolderError(f"{folder}: the bundle has {len(data):,} bytes, and {MOST_BYTES:,} may be sent")
    return data


def unpack_run(data: bytes) -> dict[str, bytes]:
    """Return the files of a bundle. Nothing is written.

    A bundle may come from anyone: it has exactly the files of `FILES`, and no more is unpacked than may be.

    Raises:
        InputError: it is no such bundle, or is too large.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"the bundle has {len(data):,} bytes, and {MOST_BYTES:,} may be sent")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            return _read(bundle)
    # NotImplementedError: zipfile's error for a newer version or a kind of encryption that it lacks.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        raise InputError(
            f"the bundle is damaged: {str(error)[:200]}; make it with genbench ledger push"
        ) from error


def content_digest_of(body: bytes) -> str:
    """Return the value of the header Content-Digest for a body (RFC 9530)."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def _read(bundle: zipfile.ZipFile) -> dict[str, bytes]:
    entries = bundle.infolist()
    names = sorted(entry.filename for entry in entries)
    if names != sorted(FILES):
        found = ", ".join(name[:50] for name in names[:5]) or "nothing"
        raise InputError(f"a bundle contains {', '.join(FILES)} and nothing else; this one has {found}")
    left, files = MOST_UNPACKED, {}
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if (
            kind not in (0, stat.S_IFREG)
            or entry.flag_bits & _ENCRYPTED
            or entry.compress_type not in _METHODS
        ):
            raise InputError(f"the bundle's {entry.filename} is not a plain file")
        with bundle.open(entry) as file:
            # The size in the entry may lie.
            files[entry.filename] = file.read(left + 1)
        left -= len(files[entry.filename])
        if left < 0:
            raise InputError(f"the bundle unpacks to more than {MOST_UNPACKED:,} bytes")
    return files
