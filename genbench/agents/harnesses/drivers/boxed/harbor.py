"""Runs one trial of harbor in the box of an image. genbench runs the tests of the task, in the same box.

Settings are those of the plain driver.
"""

from __future__ import annotations

import asyncio
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import genbench_box
from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

_PLAIN = Path(__file__).parents[1] / "harbor.py"


class BoxEnvironment(BaseEnvironment):  # type: ignore[misc]  # harbor is not installed here
    """A container of harbor that is the box of the rollout."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._box = genbench_box.Box()

    @staticmethod
    def type() -> str:
        """Return the name of the kind of environment."""
        return "genbench_box"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        """Return what it can do. A box has no network but its own loopback."""
        return EnvironmentCapabilities(disable_internet=True, network_allowlist=True)

    def _validate_definition(self) -> None:
        """Accept every definition: the image is the one of the problem."""

    async def start(self, force_build: bool) -> None:
        """Make the folders of logs in the box, which runs already."""
        await asyncio.to_thread(
            self._box.exec, ["mkdir", "-p", "/logs/agent", "/logs/verifier", "/logs/artifacts"]
        )
        upload = getattr(self, "_upload_environment_dir_after_start", None)
        if upload is not None:
            await upload()

    async def stop(self, delete: bool) -> None:
        """Leave the box to genbench, which ends it."""

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Copy a file in."""
        await asyncio.to_thread(self._box.put, source_path, str(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copy a folder in."""
        await asyncio.to_thread(self._box.put, source_dir, str(target_dir))

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copy a file out."""
        await asyncio.to_thread(self._box.get, str(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copy a folder out."""
        await asyncio.to_thread(self._box.get, str(source_dir), target_dir)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a command. What it leaves running stays until the rollout ends."""
        user = self._resolve_user(user)
        done = await asyncio.to_thread(
            self._box.exec,
            ["bash", "-c", command],
            cwd=cwd or self.task_env_config.workdir or None,
            env=self._merge_env(env) or {},
            user=None if user is None else str(user),
            timeout_s=timeout_sec,
        )
        if done.timed_out:
            raise RuntimeError(f"the command took longer than {timeout_sec} s")
        return ExecResult(
            stdout=done.output.decode("utf-8", "replace"),
            stderr=done.error.decode("utf-8", "replace"),
            return_code=done.exit,
        )


def main() -> None:
    """Run the trial that the environment describes, and write result.json."""
    spec = spec_from_file_location("harbor_driver", _PLAIN)
    assert spec is not None and spec.loader is not None
    plain = module_from_spec(spec)
    sys.modules[spec.name] = plain
    spec.loader.exec_module(plain)
    vars(plain).update(
        BubblewrapEnvironment=BoxEnvironment, BoxEnvironment=BoxEnvironment, _HAS_VERIFIER=False
    )
    plain.main()


if __name__ == "__main__":
    main()
