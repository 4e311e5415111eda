"""Tasks of harbor's form, as Terminal-Bench has them: a folder whose tests/test.sh writes a reward.

The tests run in the box of the agent after it has ended, as harbor does in its shared mode. What they mean is
decided here and not by the harness, so that every harness can have such tasks, and a proof is the same act as
a verdict.
"""

from __future__ import annotations

import json
import math
import re
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.agents.harnesses.outcome import Outcome, share
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.agents.images.kit import Kit
from genbench.errors import DataError

SOLUTION = "solution/solve.sh"
_TESTS = "tests/test.sh"
_LOGS = "/logs/verifier"
_MOST_TEXT, _SHOWN = 200_000, 500
"""Characters of what tests print that are read, and that are kept."""
_TEMPLATE = re.compile(r"\$\{(\w+)(?::-(.*))?\}")
_SURE = 0.5
"""Tests that take too long are the model's fault if those of the known solution took less of the time."""
_TESTS_S, _AGENT_S = 600.0, 1800.0
"""Seconds of the tests (harbor's own default) and of the solution, if a task names none."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A task.

    `tests_s` and `solution_s` are the seconds that its tests and its solution may take. `folder` is the one
    of the description, `workdir` the one in the box, None for that of the image.
    """

    folder: Path
    tests_s: float
    solution_s: float
    tests_env: Mapping[str, str]
    solution_env: Mapping[str, str]
    tests_user: str | None
    solution_user: str | None
    workdir: str | None


def is_terminal(folder: Path | None) -> bool:
    """Return whether a folder describes a task of this form."""
    return folder is not None and (folder / "task.toml").is_file()


def read_task(folder: Path) -> Terminal:
    """Read a task.

    Raises:
        DataError: it cannot be read, or needs what a box has not. Says what.
    """
    try:
        found = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        place, tests, agent, solution = (
            dict(found.get(part) or {}) for part in ("environment", "verifier", "agent", "solution")
        )
        own = _values(place, folder)
        wanted = {
            "several steps": bool(found.get("steps")),
            "several services": bool(list(folder.glob("environment/docker-compose.y*ml"))),
            "tests in an image of their own": bool(tests.get("environment"))
            or tests.get("environment_mode") == "separate",
            "another system than Linux": str(place.get("os") or "linux").lower() != "linux",
        }
        made = Terminal(
            folder,
            float(tests.get("timeout_sec") or _TESTS_S),
            float(agent.get("timeout_sec") or _AGENT_S),
            {**own, **_values(tests, folder)},
            {**own, "DEBIAN_FRONTEND": "noninteractive", **_values(solution, folder)},
            _name(tests.get("user")),
            _name(agent.get("user")),
            place.get("workdir"),
        )
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{folder / 'task.toml'}: {error}") from None
    refused = [what for what, is_so in wanted.items() if is_so]
    if refused:
        raise DataError(f"it wants {refused[0]}, which a box has not")
    lacking = [name for name in (_TESTS, SOLUTION) if not (folder / name).is_file()]
    if lacking:
        raise DataError(
            f"it has no {' and no '.join(lacking)}, so nothing can show that it can be judged here"
        )
    return made


def _values(part: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return the variables of a part of a task.toml. A template gets its default.

    Raises:
        DataError: one is to come from this machine.
    """
    found = {}
    for name, value in dict(part.get("env") or {}).items():
        match = _TEMPLATE.fullmatch(str(value))
        if match is not None and match[2] is None:
            raise DataError(f"it wants the variable {match[1]} of this machine, which a box does not get")
        found[str(name)] = str(value) if match is None else match[2]
    return found


def _name(user: Any) -> str | None:
    return None if user is None else str(user)


def prepare(box: Box, task: Terminal) -> None:
    """Make what harbor makes in a box before an agent begins.

    Raises:
        BoxGoneError: it cannot be written.
    """
    _require(box, "mkdir -p /logs/agent /logs/verifier /logs/artifacts && chmod -R 777 /logs")
    place = task.folder / "environment"
    if place.is_dir() and any(place.iterdir()) and not (place / "Dockerfile").exists():
        done = box.exec(["/bin/sh", "-c", "pwd"], cwd=task.workdir)
        box.put(place, task.workdir or done.output.decode().strip() or "/")


def solve(box: Box, task: Terminal) -> str:
    """Run the known solution of a task. Return what its last line says, if it failed.

    Raises:
        BoxGoneError: the box failed.
    """
    box.put((task.folder / SOLUTION).parent, "/solution")
    _require(box, "chmod +x /solution/solve.sh")
    done = box.exec(
        ["bash", "-c", "/solution/solve.sh"],
        cwd=task.workdir,
        env=task.solution_env,
        user=task.solution_user,
        timeout_s=task.solution_s,
        merged=True,
    )
    if done.timed_out:
        return f"solve.sh took longer than {task.solution_s:g} s"
    last = done.output.decode("utf-8", "replace").strip().rpartition("\n")[2][-200:]
    return f"solve.sh ended with status {done.exit}: {last}" if done.exit else ""


@dataclass(frozen=True, slots=True)
class Graded:
    """What the tests of a task said.

    `reward` is None if they wrote none, or one that is not a number, see `why`. `lacking` is what they fetch
    and the kit has not. `said` is the end of what they printed.
    """

    reward: float | None
    seconds: float
    timed_out: bool
    lacking: tuple[str, ...]
    why: str = ""
    said: str = ""


def evaluate(box: Box, task: Terminal, kit: Kit, path: str) -> Graded:
    """Run the tests of a task in a box.

    Args:
        path: the PATH of the image.

    Raises:
        BoxGoneError: the box failed, or the disk of the images is full.
    """
    _require(box, f"mkdir -p {_LOGS} && rm -f {_LOGS}/reward.txt {_LOGS}/reward.json && chmod 777 {_LOGS}")
    box.put((task.folder / _TESTS).parent, "/tests")
    _require(box, "chmod +x /tests/test.sh")
    kit.enter(box)
    began = time.monotonic()
    done = box.exec(
        ["bash", "-c", f"/tests/test.sh > {_LOGS}/test-stdout.txt 2>&1"],
        cwd=task.workdir,
        env={**kit.environment(path), **task.tests_env},
        user=task.tests_user,
        timeout_s=task.tests_s,
    )
    seconds = time.monotonic() - began
    stats = box.stats()
    if stats["gone"] or stats["full"]:
        raise BoxGoneError("the box ended, or the disk of the images was full, while the tests ran")
    output = _text(box, f"{_LOGS}/test-stdout.txt")
    lacking, said = tuple(kit.lacking(box, output)), output.strip()[-_SHOWN:]
    for name, read in (("reward.json", _of_json), ("reward.txt", float)):
        text = _text(box, f"{_LOGS}/{name}")
        if text.strip():
            try:
                return Graded(read(text), seconds, done.timed_out, lacking, said=said)
            except (ValueError, TypeError, LookupError):
                why = f"{name} is {text.strip()[:80]!r}"
                return Graded(None, seconds, done.timed_out, lacking, why, said)
    return Graded(None, seconds, done.timed_out, lacking, said=said)


def _of_json(text: str) -> float:
    found = json.loads(text)
    return float(found["reward"] if "reward" in found else next(iter(found.values())))


def _text(box: Box, path: str) -> str:
    done = box.exec(["head", "-c", str(_MOST_TEXT), path], cwd="/", user="root")
    return done.output.decode("utf-8", "replace") if done.exit == 0 else ""


def _require(box: Box, command: str) -> None:
    done = box.exec(["/bin/sh", "-c", command], cwd="/", user="root")
    if done.exit != 0:
        raise BoxGoneError(f"{command}: {done.error.decode('utf-8', 'replace')[-200:]}")


def outcome_of(graded: Graded, *, limit_s: float, proof_s: float) -> Outcome:
    """Return what the tests mean. A fault of ours is never a zero.

    Args:
        limit_s: the seconds that they may take.
        proof_s: the seconds that they took after the known solution.
    """
    detail: dict[str, Any] = {"seconds": round(graded.seconds, 1), "tests_said": graded.said}
    why, is_wrong = "", False
    if graded.timed_out:
        why, is_wrong = "the tests took too long", proof_s < _SURE * limit_s and not graded.lacking
    elif graded.reward is None:
        why = graded.why or "the tests wrote no reward"
    elif not math.isfinite(graded.reward) or graded.reward > 1:
        why = f"the reward is {graded.reward}"
    elif graded.reward < 1 and graded.lacking:
        why = "the tests fetch what is not here"
    if graded.lacking:
        detail["lacking"] = list(graded.lacking)
        why = f"{why}: {'; '.join(graded.lacking[:3])}" if why else ""
    if not why:
        return Outcome(share(graded.reward or 0.0), None, detail)
    detail["ended_by"] = why
    return Outcome(0.0, None, detail) if is_wrong else Outcome(None, "verifier_error", detail)
