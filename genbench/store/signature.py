"""Seals of run folders: which stored settings this user's own genbench wrote.

A run folder is data, and `genbench score` follows the suite in it. A seal tells a suite that its user ran
from a suite that came with a stranger's folder.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from pathlib import Path

from genbench.consent import state_folder
from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder
from genbench.store.json_files import read_json, replace_json
from genbench.store.manifest import Manifest

_FILE = "seal.json"
_KEY_BYTES = 32
_MOST_BYTES = 1 << 16


def key_path() -> Path:
    """Return the file with this user's key: genbench/run-key in XDG_STATE_HOME or ~/.local/state."""
    return state_folder() / "run-key"


def seal(folder: RunFolder) -> None:
    """Write seal.json for the manifest on disk, whose suite this user has just run.

    Without a folder for the key nothing is written, and `genbench score` asks for `--trust-run`.
    """
    key = _key() or _new_key()
    if key is not None:
        replace_json(folder.path / _FILE, {"seal": _mac(key, folder.require_manifest())})


def is_sealed(folder: RunFolder, manifest: Manifest) -> bool:
    """Return whether this user's genbench wrote the suite and the data folder of a manifest."""
    key = _key()
    if key is None:
        return False
    try:
        record = read_json(folder.path / _FILE, _MOST_BYTES)
    except RunFolderError:
        return False
    found = record.get("seal") if record is not None else None
    if not isinstance(found, str) or not found.isascii():
        return False
    return hmac.compare_digest(found, _mac(key, manifest))


def _mac(key: bytes, manifest: Manifest) -> str:
    """Return the seal of everything that `genbench score` takes from a manifest."""
    suite, origin = manifest.suite, manifest.origin
    told = [suite.path, suite.overrides, suite.config, origin.data_dir, sorted(manifest.tasks)]
    text = json.dumps(told, sort_keys=True, default=str)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _key() -> bytes | None:
    """Return this user's key, or None. A file that others can read or write is not secret."""
    try:
        fd = os.open(key_path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        return None
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
            return None
        key = file.read(_KEY_BYTES + 1)
    return key if len(key) == _KEY_BYTES else None


def _new_key() -> bytes | None:
    """Make this user's key. Return None if that is not possible here.

    A second process may make it at the same time. The key of the first one counts.
    """
    try:
        path = key_path()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    except (OSError, RuntimeError):
        return None
    return _key()
