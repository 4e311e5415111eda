"""Consent to the code that a suite names, which runs with the rights of whoever runs the suite.

Consent is given once for a folder of one's own, and then covers later changes, or for the files of a folder
as they are, by their digest. It is kept with the user's other state, and GENBENCH_TRUST_CODE adds to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, InputError

VARIABLE = "GENBENCH_TRUST_CODE"
"""Folders and digests, separated like PATH, for machines on which nobody is asked."""
FOLDER = "folder"
"""The word for a folder with all its later changes."""
_DIGEST = re.compile(r"[0-9a-f]{32}")
_NAMED = (".yaml", ".yml")
"""Files that say which code is called, and with what."""
_MOST_FILES = 5000
_MOST_BYTES = 64 << 20
_allowed: set[Path] = set()


class NoConsentError(ConfigError):
    """A suite names code, and nobody has allowed it."""


def state_folder() -> Path:
    """Return the folder of this user's state: genbench in XDG_STATE_HOME or ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "genbench"


def require_consent(folder: Path | str, what: str) -> None:
    """Refuse code that nobody has allowed. On a terminal, ask.

    Args:
        folder: the folder of the suite, page or judge that names the code.
        what: what it names, for the question.

    Raises:
        NoConsentError: it is not allowed. Says how it can be.
    """
    place = Path(folder).resolve()
    if _is_known(place):
        return
    digest, why = "", ""
    try:
        digest = code_digest(place)
        if digest in _digests():
            return
    except InputError as error:
        why = str(error)
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty() and _ask(place, what, digest):
        return
    files = f" or --trust-code {digest} (its files as they are now)" if digest else f" ({why})"
    raise NoConsentError(
        f"{what} is code that runs with your rights, and you have not allowed code of {place}; read it, then "
        f"add to genbench check or genbench run: --trust-code {FOLDER} (the folder is yours: later changes "
        f"too){files}"
    )


def allow_code(folder: Path | str) -> None:
    """Allow the code of a folder as long as this process lives: the user has said so in another way."""
    _allowed.add(Path(folder).resolve())


def give_consent(folder: Path | str, word: str) -> None:
    """Keep the user's consent.

    Args:
        folder: the folder of a suite.
        word: `folder`, or the digest of its files, which they must still have.

    Raises:
        InputError: it is neither, the files are others, or the consent cannot be kept.
    """
    place = Path(folder).resolve()
    if word == FOLDER:
        _keep("folders", str(place))
        return
    if not _DIGEST.fullmatch(word):
        raise InputError(f"--trust-code {word[:80]}: wanted '{FOLDER}' or the digest that the refusal named")
    found = code_digest(place)
    if found != word:
        raise InputError(
            f"--trust-code {word}: the files of {place} have the digest {found} now; read them again, and "
            "give that one"
        )
    _keep("digests", word)


def code_digest(folder: Path) -> str:
    """Return the digest of what decides which code of a folder runs: modules, libraries, suites and pages.

    Raises:
        InputError: there is too much, or it cannot be read.
    """
    total, size = hashlib.sha256(), 0
    for count, path in enumerate(_files(folder)):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        size += len(data)
        if count >= _MOST_FILES or size > _MOST_BYTES:
            raise InputError(
                f"{folder} has too many files for a digest; put the suite and its code into a folder of "
                "their own"
            )
        name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
        total.update(b"%d %b %d " % (len(name), name, len(data)) + data)
    return total.hexdigest()[:32]


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files that a digest covers, in order. Links to folders are not followed."""
    endings = (*all_suffixes(), *_NAMED)
    for count, (place, folders, names) in enumerate(os.walk(folder)):
        if count >= _MOST_FILES:
            raise InputError(f"{folder} has too many folders for a digest")
        folders.sort()
        yield from (Path(place, name) for name in sorted(names) if name.endswith(endings))
        # An import would follow a link to a package.
        yield from (Path(place, name, "__init__.py") for name in folders if Path(place, name).is_symlink())


def _is_known(place: Path) -> bool:
    known = {*_allowed, *(Path(text) for text in _kept("folders"))}
    known |= {Path(text).resolve() for text in _given() if not _DIGEST.fullmatch(text)}
    return any(place.is_relative_to(item) for item in known)


def _digests() -> set[str]:
    return {*_kept("digests"), *(text for text in _given() if _DIGEST.fullmatch(text))}


def _given() -> list[str]:
    return [text for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]


def _store() -> Path:
    return state_folder() / "trusted-code.json"


def _read() -> dict[str, Any]:
    try:
        found = json.loads(_store().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):
        return {}
    return found if isinstance(found, dict) else {}


def _kept(kind: str) -> list[str]:
    found = _read().get(kind)
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _keep(kind: str, text: str) -> None:
    record = {name: _kept(name) for name in ("folders", "digests")}
    record[kind] = [*dict.fromkeys((*record[kind], text))]
    path = _store()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = path.with_name(f".{path.name}.{os.getpid()}")
        made.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        made.replace(path)
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"{path}: the consent cannot be kept ({error}); set XDG_STATE_HOME to a folder that you can "
            f"write, or {VARIABLE}={text}"
        ) from error


def _ask(place: Path, what: str, digest: str) -> bool:
    """Ask on the terminal, and keep a yes."""
    once = " [o] only its files as they are now" if digest else ""
    print(
        f"{what} is code that runs with your rights, named in {place}.\n"
        f"Allow it? [y] yes, the folder is mine: also later changes{once} [N] no: ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes"):
        give_consent(place, FOLDER)
    elif answer == "o" and digest:
        give_consent(place, digest)
    else:
        return False
    return True
