"""Runs one rollout of mini-swe-agent in the box of an image.

The prompts are those of the package's swebench.yaml, and the result is the patch that the model submits.
Settings are those of the plain driver; `environment` has no meaning here.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import genbench_box
import yaml  # type: ignore[import-untyped]

_PLAIN = Path(__file__).parents[1] / "mini_swe.py"
_PREFIX = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class BoxEnvironment:
    """An environment of mini-swe-agent whose commands run in the box."""

    def __init__(
        self, *, cwd: str = "", env: dict[str, str] | None = None, timeout: int = 60, **_: Any
    ) -> None:
        self.config = {"cwd": cwd, "env": env or {}, "timeout": timeout}
        self._box = genbench_box.Box()

    def execute(self, action: Any, cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """Run a command. What it prints as errors is part of its output."""
        command = action if isinstance(action, str) else action.get("command", "")
        limit = timeout or self.config["timeout"]
        done = self._box.exec(
            ["bash", "-c", command],
            cwd=cwd or self.config["cwd"] or None,
            env=self.config["env"],
            timeout_s=limit,
            merged=True,
        )
        found = {
            "output": done.output.decode("utf-8", "replace"),
            "returncode": done.exit,
            "exception_info": "",
        }
        if done.timed_out:
            info = f"An error occurred while executing the command: it took longer than {limit} s"
            return {**found, "returncode": -1, "exception_info": info}
        self._check_finished(found)
        return found

    @staticmethod
    def _check_finished(found: dict[str, Any]) -> None:
        """End the rollout if the command has said so, as the package's own environments do."""
        from minisweagent.exceptions import Submitted  # noqa: PLC0415

        lines = found["output"].lstrip().splitlines(keepends=True)
        if lines and lines[0].strip() == _PREFIX and found["returncode"] == 0:
            text = "".join(lines[1:])
            extra = {"exit_status": "Submitted", "submission": text}
            raise Submitted({"role": "exit", "content": text, "extra": extra})

    def get_template_vars(self, **_: Any) -> dict[str, Any]:
        """Return what prompts may name. The kernel's version is left out: it differs between machines."""
        return {
            **self.config,
            "system": platform.system(),
            "release": "",
            "version": "",
            "machine": platform.machine(),
        }

    def serialize(self) -> dict[str, Any]:
        """Return what a trajectory keeps."""
        return {"info": {"config": {"environment": self.config, "environment_type": "genbench_box"}}}


def main() -> None:
    """Run the rollout that the environment describes, and write result.json with the patch."""
    spec = spec_from_file_location("mini_swe_driver", _PLAIN)
    assert spec is not None and spec.loader is not None
    plain = module_from_spec(spec)
    sys.modules[spec.name] = plain
    spec.loader.exec_module(plain)
    out, place = Path(os.environ["GENBENCH_OUT"]), Path(os.environ["GENBENCH_PROBLEM"])
    os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = str(out / "tmp")
    from minisweagent.config import builtin_config_dir  # noqa: PLC0415

    problem = json.loads(place.read_text(encoding="utf-8"))
    own = yaml.safe_load(next(builtin_config_dir.rglob("swebench.yaml")).read_text(encoding="utf-8"))
    settings = problem["settings"]
    for part in ("agent", "model"):
        kept = {key: value for key, value in own.get(part, {}).items() if key not in _REPLACED}
        settings[f"{part}_settings"] = {**kept, **settings.get(f"{part}_settings", {})}
    place_of = {**own.get("environment", {}), **settings.get("environment_settings", {})}
    kept = {key: place_of[key] for key in ("cwd", "env", "timeout") if key in place_of}
    if "instance_id" not in problem:
        kept.pop("cwd", None)
    vars(plain)["_environment"] = lambda *_: BoxEnvironment(**kept)
    status, steps, why = plain._solved(problem, out, out)
    patch = _submission(out / "trajectory.json")
    record = {
        "ending": {"exit_status": status, "resolved": _resolved(problem)},
        "patch": patch,
        "detail": {"exit_status": status, "steps": steps, **({"why": why} if why else {})},
    }
    (out / "result.json").write_text(json.dumps(record), encoding="utf-8")


_REPLACED = ("mode", "step_limit", "cost_limit", "model_name", "model_kwargs", "cost_tracking")
"""What the limits of the suite and the run's decoding decide."""


def _resolved(problem: dict[str, Any]) -> bool | None:
    """Return what the check of a row says in the box. Without one genbench decides on the patch."""
    if not problem.get("check"):
        return False if "instance_id" in problem else None
    limit = problem["settings"].get("check_s", 600)
    return bool(genbench_box.Box().exec(["bash", "-c", problem["check"]], timeout_s=limit).exit == 0)


def _submission(path: Path) -> str:
    if not path.exists():
        return ""
    info = json.loads(path.read_text(encoding="utf-8")).get("info", {})
    return str(info.get("submission") or "")


if __name__ == "__main__":
    main()
