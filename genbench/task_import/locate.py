"""The origin of definitions: the folder of an installed lm-eval, its version, commit and licence."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LICENCES = (
    ("Apache License", "Apache-2.0"),
    ("MIT License", "MIT"),
    ("BSD 3-Clause", "BSD-3-Clause"),
    ("GNU GENERAL PUBLIC LICENSE", "GPL"),
)
_PARENTS = 6
"""Folders above the definitions that are searched for a licence, a repository or a package."""


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a folder of definitions."""

    framework: str
    version: str | None
    commit: str | None
    licence: str


def installed_folder() -> Path | None:
    """Return the folder of definitions of the lm-eval that is installed here, which is not imported."""
    spec = importlib.util.find_spec("lm_eval")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    folder = Path(places[0]) / "tasks" if places else None
    return folder if folder is not None and folder.is_dir() else None


def source_of(folder: Path, framework: str = "lm-eval") -> Source:
    """Return the version, commit and licence of a folder of definitions, as far as files tell."""
    folder = folder.resolve()
    version, licence = _package(folder)
    return Source(framework, version, _commit(folder), licence or _licence(folder) or "not stated")


def _parents(folder: Path) -> Iterator[Path]:
    yield from [folder, *folder.parents][:_PARENTS]


def _package(folder: Path) -> tuple[str | None, str | None]:
    """Return version and licence of the installed package that contains a folder."""
    for parent in _parents(folder):
        found = (parent.parent.glob(f"{kind}{parent.name}-*.dist-info/METADATA") for kind in ("", "*_"))
        for info in (path for paths in found for path in sorted(paths)):  # a package of its own name first
            lines = info.read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
            facts = dict(line.split(": ", 1) for line in reversed(lines) if ": " in line)
            named = facts.get("License-Expression") or facts.get("License")
            classified = [line for line in lines if line.startswith("Classifier: License ::")]
            licence = named or (classified[0].rpartition(":: ")[2] if classified else None)
            return facts.get("Version"), licence.strip() if licence else None
    return None, None


def _licence(folder: Path) -> str | None:
    for parent in _parents(folder):
        for name in ("LICENSE", "LICENSE.md", "LICENSE.txt"):
            try:
                text = (parent / name).read_text(encoding="utf-8", errors="replace")[:2000]
            except OSError:
                continue
            return next((short for words, short in _LICENCES if words in text), f"see {name}")
    return None


def _commit(folder: Path) -> str | None:
    """Return the commit of the git repository that a folder is tracked in, or None."""
    if not any((parent / ".git").exists() for parent in _parents(folder)):
        return None
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
