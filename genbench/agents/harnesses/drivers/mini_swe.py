"""Runs one rollout of mini-swe-agent. This file is run by the Python that it is installed in.

A problem has, besides `id` and `instruction`:

    files   texts by path, which are written into the working folder first
    setup   a bash command that prepares the working folder
    check   a bash command in the working folder that decides: status 0 means resolved

Settings:

    environment     bubblewrap (the default) or local: where the model's commands run
    environment_settings, agent_settings, model_settings
                    replace those of the package's mini.yaml
    check_s         seconds that `check` may take; 600 unless told

The model's commands run in a folder of their own. Under `bubblewrap` they see no process outside, so neither
the key of the gateway nor the check. Under `local` they can see both.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import traceback
from pathlib import Path
from typing import Any

_CHECK_S = 600
_WAIT_S = 86_400
"""Seconds that the client waits for a reply. The run has its own limits."""
_ISOLATED = ("--unshare-pid", "--unshare-ipc", "--die-with-parent")


def main() -> None:
    """Run the rollout that the environment describes, and write result.json."""
    out, place = Path(os.environ["GENBENCH_OUT"]), Path(os.environ["GENBENCH_PROBLEM"])
    problem = json.loads(place.read_text(encoding="utf-8"))
    place.unlink()  # the model's commands shall not find the check
    work = out / "work"
    work.mkdir()
    for name, text in problem.get("files", {}).items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if problem.get("setup"):
        subprocess.run(["bash", "-c", problem["setup"]], cwd=work, check=True)
    ending, steps, why = _solved(problem, work, out)
    record = {
        "ending": {"exit_status": ending, "resolved": _is_resolved(problem, work)},
        "detail": {"exit_status": ending, "steps": steps, **({"why": why} if why else {})},
    }
    (out / "result.json").write_text(json.dumps(record), encoding="utf-8")


def _solved(problem: dict[str, Any], work: Path, out: Path) -> tuple[str, int, str]:
    """Let the agent work. Return its exit status, its steps, and what went wrong, if anything did."""
    os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = str(out / "tmp")
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415
    from minisweagent.agents.default import DefaultAgent  # noqa: PLC0415
    from minisweagent.config import builtin_config_dir  # noqa: PLC0415
    from minisweagent.models.litellm_model import LitellmModel  # noqa: PLC0415

    settings = problem["settings"]
    own = yaml.safe_load((builtin_config_dir / "mini.yaml").read_text(encoding="utf-8"))
    names = ("GENBENCH_BASE_URL", "GENBENCH_KEY", "GENBENCH_MODEL")
    base_url, key, model = (os.environ.pop(name) for name in names)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        os.environ.pop(name, None)
    model_settings = {**own.get("model", {}), **settings.get("model_settings", {})}
    arguments = {**(model_settings.pop("model_kwargs", None) or {})}
    arguments |= {"api_base": base_url, "api_key": key, "timeout": _WAIT_S, "drop_params": True}
    agent_settings = {name: value for name, value in own["agent"].items() if name != "mode"}
    agent_settings |= {"step_limit": problem["limits"]["turns"], "cost_limit": 0.0}
    agent_settings |= settings.get("agent_settings", {})
    place = {**own.get("environment", {}), **settings.get("environment_settings", {})}
    agent = DefaultAgent(
        LitellmModel(model_name=f"openai/{model}", model_kwargs=arguments, **model_settings),
        _environment(settings, place, work),
        output_path=out / "trajectory.json",
        **agent_settings,
    )
    try:
        ended = agent.run(problem["instruction"])
    except Exception as error:
        traceback.print_exc()
        return type(error).__name__, agent.n_calls, str(error)[:1000]
    return str(ended.get("exit_status", "")), agent.n_calls, ""


def _environment(settings: dict[str, Any], own: dict[str, Any], work: Path) -> Any:
    """Return where the model's commands run."""
    kind = settings.get("environment", "bubblewrap")
    if kind == "local":
        from minisweagent.environments.local import LocalEnvironment  # noqa: PLC0415

        return LocalEnvironment(cwd=str(work), **own)
    if kind != "bubblewrap":
        raise SystemExit(f"settings.environment is '{kind}', wanted bubblewrap or local")
    if shutil.which("bwrap") is None:
        raise SystemExit("settings.environment is bubblewrap, and there is no bwrap: install bubblewrap")
    from minisweagent.environments.extra.bubblewrap import (  # noqa: PLC0415
        BubblewrapEnvironment,
        BubblewrapEnvironmentConfig,
    )

    wrapper = [*BubblewrapEnvironmentConfig().wrapper_args, *_ISOLATED]
    return BubblewrapEnvironment(cwd=str(work), **{"wrapper_args": wrapper, **own})


def _is_resolved(problem: dict[str, Any], work: Path) -> bool | None:
    """Return whether the problem's own check is satisfied, or None if it has none."""
    if not problem.get("check"):
        return None
    limit = problem["settings"].get("check_s", _CHECK_S)
    try:
        done = subprocess.run(["bash", "-c", problem["check"]], cwd=work, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    main()
