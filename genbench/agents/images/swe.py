"""Tasks of the form of SWE-bench: an image, an issue, and a script whose log decides.

The patch of a rollout is tried in a fresh box, in the order of swebench's run_evaluation. What its log says
is read by swebench itself, in an environment of its own (`driver.py`). What its report means is here.
"""

from __future__ import annotations

import re
import shlex
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genbench.agents.harnesses.endings import swebench_outcome
from genbench.agents.harnesses.outcome import Outcome
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.data.environments import locked
from genbench.errors import ConfigError, DataError
from genbench.sandbox.foreign import ForeignProcess, ForeignPython

_COLUMNS = (
    "image",
    "eval_script",
    "log_parser",
    "eval_type",
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
    "repo",
    "version",
)
PROVEN = (*_COLUMNS, "instance_id", "patch", "image_assets")
"""Columns that decide whether a task can be judged."""
HIDDEN = (
    "eval_script",
    "patch",
    "test_patch",
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
    "log_parser",
    "eval_type",
    "hints_text",
)
"""Columns that no harness is told: tests, the script of the verdict, and the solution."""
_FOLDER, _PATCH, _SCRIPT = "/testbed", "/tmp/patch.diff", "/eval.sh"
_APPLY = (
    "git apply --verbose",
    "git apply --verbose --3way",
    "git apply --verbose --reject",
    "patch --batch --forward --fuzz=5 -p1 -i",
)
_AGAIN = "git checkout -- . ; git clean -fd"
"""A failed command may leave half a patch behind, above all --reject."""
_COMMAND_S = 600
EVALUATION_S = 1800.0
_SURE = 0.5
"""A run of tests that takes too long is the patch's fault if the known solution took less of the time."""
_PATHS = re.compile(r"^(?:diff --git a/(\S+) b/(\S+)|\+\+\+ b/(\S+)|rename to (\S+))", re.MULTILINE)
_DECIDING = re.compile(
    r"(?:^|/)(?:conftest\.py|pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|(?:site|user)customize\.py|[^/]+\.pth)$"
)


def is_swe(row: Mapping[str, Any]) -> bool:
    """Return whether a row is of this form."""
    return "instance_id" in row and "problem_statement" in row


def as_problem(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the columns of a problem.

    Raises:
        DataError: it is of an older revision, which does not say how a log is read.
    """
    lacking = [
        name for name in _COLUMNS if not row.get(name) and name not in ("FAIL_TO_PASS", "PASS_TO_PASS")
    ]
    lacking += [name for name in ("FAIL_TO_PASS", "PASS_TO_PASS") if name not in row]
    if lacking:
        raise DataError(
            f"{row['instance_id']}: no {', '.join(lacking)}; take a revision of the dataset that swebench 5 "
            "reads"
        )
    own = {"id": row["instance_id"], "instruction": row["problem_statement"], "group": row["repo"]}
    return {**own, **row}


def deciding_paths(patch: str) -> list[str]:
    """Return the files of a patch that decide how tests run: conftest.py, their settings, *.pth.

    A conftest.py that turns every report to passed makes a wrong patch resolved.
    """
    paths = {path for found in _PATHS.findall(patch) for path in found if path}
    return sorted(path for path in paths if _DECIDING.search(path))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What happened to a patch in a fresh box. `log` is None if it did not apply."""

    log: str | None
    seconds: float = 0.0
    timed_out: bool = False


def evaluate(box: Box, patch: str, script: str, limit_s: float = EVALUATION_S) -> Evaluated:
    """Try a patch in a box that nobody has used. An empty patch is left out.

    Raises:
        BoxGoneError: the box failed.
    """
    if patch and not _applied(box, patch):
        return Evaluated(None)
    _write(box, _SCRIPT, script)
    began = time.monotonic()
    done = box.exec(["/bin/bash", _SCRIPT], cwd=_FOLDER, user="root", timeout_s=limit_s, merged=True)
    stats = box.stats()
    if stats["gone"] or stats["full"]:
        raise BoxGoneError("the box ended, or the disk of the images was full, while the tests ran")
    log = done.output.decode("utf-8", "replace")
    return Evaluated(log, time.monotonic() - began, done.timed_out)


def _applied(box: Box, patch: str) -> bool:
    _write(box, _PATCH, patch)
    for number, words in enumerate(_APPLY):
        if number:
            _in_repository(box, ["/bin/bash", "-c", _AGAIN])
        if _in_repository(box, [*shlex.split(words), _PATCH]):
            return True
    return _in_repository(box, ["git", "apply", "--check", "--reverse", _PATCH])


def _in_repository(box: Box, words: Sequence[str]) -> bool:
    done = box.exec(words, cwd=_FOLDER, user="root", timeout_s=_COMMAND_S)
    if done.timed_out:
        raise BoxGoneError(f"{words[0]} took longer than {_COMMAND_S} s in {_FOLDER}")
    return done.exit == 0


def _write(box: Box, path: str, text: str) -> None:
    words = ["/bin/sh", "-c", f"cat > {path}"]
    done = box.exec(words, cwd="/", user="root", input=text.encode("utf-8", "surrogateescape"))
    if done.exit != 0:
        raise BoxGoneError(f"{path} cannot be written: {done.error.decode('utf-8', 'replace')[-200:]}")


def outcome_of(
    patch: str,
    evaluated: Evaluated,
    report: Mapping[str, Any],
    *,
    proof_s: float,
    limit_s: float = EVALUATION_S,
) -> Outcome:
    """Return what an evaluation means.

    Args:
        report: what swebench says of the log.
        proof_s: the seconds that the known solution took.
    """
    detail = {"deciding": deciding_paths(patch), "seconds": round(evaluated.seconds, 1)}
    if report.get("patch_successfully_applied") and not evaluated.timed_out:
        found = swebench_outcome("resolved" if report.get("resolved") else "unresolved")
        return replace(found, detail={**found.detail, **detail})
    reason = report.get("infra_failure_reason")
    if evaluated.log is None:
        is_wrong, why = True, "the patch does not apply"
    elif evaluated.timed_out:
        is_wrong, why = proof_s < _SURE * limit_s, "the tests took too long"
    else:  # what may be a fault or a bad patch is the patch, since the known solution met no fault
        is_wrong = bool(reason) and not report.get("infra_failure")
        why = reason or "the log has no results of the tests"
    detail["ended_by"] = why
    return Outcome(0.0, None, detail) if is_wrong else Outcome(None, "verifier_error", detail)


class Grader:
    """swebench in an environment of its own, which sees rows and logs and nothing else.

    Its process is started when it is first needed. Threads may share it.

    Args:
        folder: its virtual environment.

    Raises:
        ConfigError: swebench 5 is not installed there.
    """

    def __init__(self, folder: Path) -> None:
        self.version = swebench_version(folder)
        self._python = ForeignPython(folder / "bin" / "python")
        self._process: ForeignProcess | None = None
        self._lock = threading.Lock()

    def script(self, row: Mapping[str, Any]) -> str:
        """Return the script that runs the tests of a task."""
        return str(self._ask({"row": _told(row)})["script"])

    def report(self, row: Mapping[str, Any], patch: str, log: str) -> dict[str, Any]:
        """Return what swebench says of a log."""
        found: dict[str, Any] = self._ask({"row": _told(row), "patch": patch, "log": log})["report"]
        return found

    def close(self) -> None:
        """End its process."""
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None

    def _ask(self, order: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._process is None:
                self._process = ForeignProcess(self._python, Path(__file__).with_name("driver.py"))
            return self._process.ask(order)


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in PROVEN if name in row}


def swebench_version(folder: Path) -> str:
    """Return the version of swebench in a virtual environment.

    Raises:
        ConfigError: there is none of version 5.
    """
    found = [line.partition("==")[2] for line in locked(folder) if line.startswith("swebench==")]
    if not found or not found[0].startswith("5."):
        raise ConfigError(
            f"options.grader: {folder} is no virtual environment with swebench 5; make one: python3 -m venv "
            f"{folder} && {folder}/bin/pip install swebench==5.0.2"
        )
    return found[0]
