"""Runs one trial of harbor. This file is run by the Python that harbor 0.25 is installed in.

A problem has, besides `id` and `instruction` (which readers see; the agent gets the task's own):

    path    folder of a harbor task (task.toml, instruction.md, environment/, tests/test.sh)

Settings:

    agent         name of the agent; terminus-2 unless told
    agent_kwargs  its own arguments
    timeouts      the task's own time limits are multiplied by this; 1 unless told

Commands run under bubblewrap with the programs of this machine. The task's image is not built.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

_FOLDERS = ("app", "logs", "tests", "solution", "tmp", "root", "runtime", "installed-agent", "home")
"""What can be written inside, each in a folder of the rollout."""
_HAS_VERIFIER = True
"""Whether harbor runs the tests. In the box of an image genbench does."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")


class BubblewrapEnvironment(BaseEnvironment):  # type: ignore[misc]  # harbor is not installed here
    """A container of harbor without an image: this machine's programs, and folders of its own."""

    @staticmethod
    def type() -> str:
        """Return the name of the kind of environment."""
        return "bubblewrap"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        """Return what it can do. The network namespace around this process has nothing but the gateway."""
        return EnvironmentCapabilities(disable_internet=True, network_allowlist=True)

    def _validate_definition(self) -> None:
        if shutil.which("bwrap") is None:
            raise FileNotFoundError("there is no bwrap on this machine: install bubblewrap")

    @property
    def _root(self) -> Path:
        return Path(self.trial_paths.trial_dir).resolve() / "root"

    def _place(self, path: str) -> Path:
        """Return where a path inside is outside."""
        parts = PurePosixPath(path).parts
        if parts[:1] != ("/",) or parts[1:2] == () or parts[1] not in _FOLDERS or ".." in parts:
            raise FileNotFoundError(f"{path}: only {', '.join(_FOLDERS)} can be reached from outside")
        return self._root.joinpath(*parts[1:])

    async def start(self, force_build: bool) -> None:
        """Make the folders."""
        for name in _FOLDERS:
            (self._root / name).mkdir(parents=True, exist_ok=True)
        for folder in ("agent", "verifier", "artifacts"):
            (self._root / "logs" / folder).mkdir(exist_ok=True)

    async def stop(self, delete: bool) -> None:
        """Remove the folders, which ends nothing: the namespace of the rollout does that."""
        if delete:
            shutil.rmtree(self._root, ignore_errors=True)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Copy a file in."""
        target = self._place(str(target_path))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, target)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copy a folder in."""
        shutil.copytree(source_dir, self._place(str(target_dir)), dirs_exist_ok=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copy a file out."""
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._place(str(source_path)), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copy a folder out."""
        shutil.copytree(self._place(str(source_dir)), target_dir, dirs_exist_ok=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a command inside. What it leaves running stays until the rollout ends."""
        words = ["bwrap", "--unshare-user", "--unshare-ipc"]
        for folder in _SYSTEM:
            words += ["--ro-bind-try", folder, folder]
        words += ["--proc", "/proc", "--dev", "/dev"]
        for name in _FOLDERS:
            words += ["--bind", str(self._root / name), f"/{name}"]
        variables = {"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "TERM": "xterm"}
        variables |= {"LANG": "C.UTF-8", "TMUX_TMPDIR": "/tmp", **(self._merge_env(env) or {})}
        words.append("--clearenv")
        for name, value in variables.items():
            words += ["--setenv", name, value]
        folder = cwd or self.task_env_config.workdir or "/app"
        process = await asyncio.create_subprocess_exec(
            *words,
            *("--chdir", folder, "bash", "-c", command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise RuntimeError(f"the command took longer than {timeout_sec} s") from None
        return ExecResult(
            stdout=out.decode("utf-8", "replace"),
            stderr=err.decode("utf-8", "replace"),
            return_code=process.returncode or 0,
        )


def main() -> None:
    """Run the trial that the environment describes, and write result.json."""
    out, place = Path(os.environ["GENBENCH_OUT"]), Path(os.environ["GENBENCH_PROBLEM"])
    problem: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    place.unlink()
    record = asyncio.run(_tried(problem, out))
    trajectory = out / "trials" / "trial" / "agent" / "trajectory.json"
    if trajectory.exists():
        shutil.copy(trajectory, out / "trajectory.json")
    (out / "result.json").write_text(json.dumps(record), encoding="utf-8")


async def _tried(problem: dict[str, Any], out: Path) -> dict[str, Any]:
    """Run the trial. Return how it ended and its reward."""
    from harbor.models.trial.config import TrialConfig  # noqa: PLC0415
    from harbor.trial.trial import Trial  # noqa: PLC0415

    settings = problem["settings"]
    own = {"import_path": f"{__name__}:{BubblewrapEnvironment.__name__}"}
    agent = {
        "name": settings.get("agent", "terminus-2"),
        "model_name": f"openai/{os.environ['GENBENCH_MODEL']}",
        "kwargs": {
            "api_base": os.environ["GENBENCH_BASE_URL"],
            "max_turns": problem["limits"]["turns"],
            "record_terminal_session": False,
            "suppress_max_turns_warning": True,
            **settings.get("agent_kwargs", {}),
        },
        "env": {},
    }
    config = TrialConfig.model_validate(
        {
            "task": {"path": problem["path"]},
            "trial_name": "trial",
            "trials_dir": str(out / "trials"),
            "timeout_multiplier": settings.get("timeouts", 1.0),
            "agent": agent,
            "environment": own,
            "verifier": {"disable": not _HAS_VERIFIER},
        }
    )
    trial = await Trial.create(config)
    result = await trial.run()
    rewards = None if result.verifier_result is None else result.verifier_result.rewards
    reward = None if not rewards else rewards.get("reward", next(iter(rewards.values())))
    if not _HAS_VERIFIER:
        reward = 0.0
    raised = result.exception_info
    return {
        "ending": {"exception_type": raised.exception_type if raised else None, "reward": reward},
        "detail": {
            "rewards": rewards,
            **({"why": raised.exception_message[:1000]} if raised else {}),
            "task_checksum": result.task_checksum,
        },
    }


if __name__ == "__main__":
    main()
