"""A verifier of a plug-in, with every answer of its code checked and its source in its version."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from genbench.errors import ConfigError, GenbenchError, call_mistake, cause, place_of
from genbench.registry import PlugIn
from genbench.types import Case, Finding, Status

TIME_LIMIT_S = 30.0
"""Of a plug-in without `time_limit_s`."""
_LONGEST_S = 86_400.0
_MOST_CHARACTERS = 4 << 20
"""Of the extracted answer, and of the detail as JSON. Longer ones would fill the memory of the run."""
_REASONS = frozenset(get_args(Status)) - {"correct", "partial"}


class CheckedVerifier:
    """A plug-in's verifier as the worker uses it.

    Only `verify` is required of the plug-in. Without `version` the package and the digest of the source
    tell its verdicts apart, without `time_limit_s` it has 30 s a sample, without `close` nothing is released.

    Args:
        verifier: the object that the plug-in made.
        plug_in: where it comes from.

    Raises:
        ConfigError: a method is missing or takes other arguments, or the version is not a text.
    """

    def __init__(self, verifier: Any, plug_in: PlugIn) -> None:
        self._verifier = verifier
        self._words = f"{plug_in.words} ({place_of(verifier)})"
        for name in ("verify", "time_limit_s", "check"):
            method = getattr(verifier, name, None)
            mistake = None if method is None and name != "verify" else call_mistake(method, 1)
            if mistake is not None:
                raise ConfigError(f"{self._words}: {name}: {mistake}; see genbench.protocols.Verifier")
        own = getattr(verifier, "version", "")
        if not isinstance(own, str):
            raise ConfigError(f"{self._words}: version is {own!r}, wanted text")
        package = f"{plug_in.package} {plug_in.version}".strip()
        parts = (own, package, f"source {source_digest(plug_in, verifier)}")
        self.version = ", ".join(part for part in parts if part)

    @property
    def has_check(self) -> bool:
        """Return whether the plug-in looks at references before anything is drawn."""
        return hasattr(self._verifier, "check")

    def time_limit_s(self, case: Case) -> float:
        """Return the wall seconds that one case may take.

        Raises:
            ConfigError: the plug-in gives no number of seconds between 0 and a day.
        """
        if not hasattr(self._verifier, "time_limit_s"):
            return TIME_LIMIT_S
        found = self._verifier.time_limit_s(case)
        if not _is_number(found) or not 0 < found <= _LONGEST_S:
            raise ConfigError(f"{self._words}: time_limit_s() returned {found!r}, wanted seconds above 0")
        return float(found)

    def check(self, reference: Any) -> None:
        """Ask the plug-in whether it can use a reference.

        Raises:
            GenbenchError: it cannot. ConfigError: the plug-in itself failed.
        """
        try:
            self._verifier.check(reference)
        except GenbenchError:
            raise
        except ValueError as error:
            raise ConfigError(str(error)) from error
        except Exception as error:  # foreign code
            raise ConfigError(f"{self._words}: check() failed: {cause(error)}") from error

    def verify(self, case: Case) -> Finding:
        """Return the plug-in's finding.

        Raises:
            ConfigError: it is not a finding, or one with a wrong value.
        """
        found = self._verifier.verify(case)
        mistake = _mistake(found)
        if mistake is not None:
            raise ConfigError(f"{self._words}: verify() returned {mistake}")
        parts = {name: float(value) for name, value in found.parts.items()}
        return Finding(float(found.score), found.reason, found.extracted, dict(found.detail), parts)

    def close(self) -> None:
        """Release what the plug-in uses."""
        close = getattr(self._verifier, "close", None)
        if callable(close):
            close()


def _mistake(found: Any) -> str | None:
    """Return what is wrong with a finding, or None."""
    if not isinstance(found, Finding):
        return f"{found!r:.200}, wanted genbench.types.Finding"
    score, extracted, parts = _untyped(found)
    if not _is_share(score):
        return f"the score {score!r:.200}, wanted a number from 0 to 1"
    if found.reason not in _REASONS:
        return f"the reason {found.reason!r:.200}, wanted one of {', '.join(sorted(_REASONS))}"
    if not isinstance(parts, Mapping) or not all(
        isinstance(name, str) and _is_share(value) for name, value in parts.items()
    ):
        return f"the parts {parts!r:.200}, wanted names with numbers from 0 to 1"
    return _text_mistake(extracted) or _detail_mistake(found)


def _untyped(found: Finding) -> tuple[Any, Any, Any]:
    """Return score, extracted answer and parts as what foreign code may have put there."""
    return found.score, found.extracted, found.parts


def _text_mistake(extracted: Any) -> str | None:
    if extracted is None:
        return None
    if not isinstance(extracted, str):
        return f"extracted = {extracted!r:.200}, wanted text or None"
    size = str.__len__(extracted)
    return _too_long("an extracted answer", size) if size > _MOST_CHARACTERS else None


def _too_long(what: str, size: int) -> str:
    return f"{what} of {size:,} characters, wanted at most {_MOST_CHARACTERS:,}"


def _detail_mistake(found: Finding) -> str | None:
    try:
        size = len(json.dumps(dict(found.detail), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return f"a detail that is not a JSON object: {error}"
    return _too_long("a detail", size) if size > _MOST_CHARACTERS else None


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number, those of NumPy included."""
    try:
        return math.isfinite(value) and not isinstance(value, str)
    except (TypeError, ValueError, OverflowError):
        return False


def _is_share(value: Any) -> bool:
    return _is_number(value) and bool(0 <= value <= 1)


def source_digest(plug_in: PlugIn, verifier: Any) -> str:
    """Return the first 12 hex digits of the SHA-256 of the plug-in's source.

    This is every Python file of its top-level package (only the file if the module is not a package), and the
    file that defines the verifier's class.
    """
    digest = hashlib.sha256()
    for name, path in sorted(_sources(plug_in.target.partition(":")[0], verifier)):
        digest.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _sources(module: str, verifier: Any) -> set[tuple[str, Path]]:
    top = sys.modules.get(module.partition(".")[0])
    found = set[tuple[str, Path]]()
    if top is not None and getattr(top, "__file__", None) is not None and hasattr(top, "__path__"):
        folder = Path(str(top.__file__)).parent
        found |= {(path.relative_to(folder).as_posix(), path) for path in _python_files(folder)}
    for item in (sys.modules.get(module), sys.modules.get(type(verifier).__module__)):
        file = inspect.getsourcefile(item) if item is not None and hasattr(item, "__file__") else None
        if file is not None and not any(path == Path(file) for _, path in found):
            found.add((Path(file).name, Path(file)))
    return found


def _python_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.py") if path.is_file())
