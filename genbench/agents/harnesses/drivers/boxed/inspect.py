"""Runs one sample of an Inspect task whose sandbox is the box of an image. Its tools and its scorer use it.

Settings are those of the plain driver.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import genbench_box
from inspect_ai.util import ExecResult, SandboxEnvironment, sandboxenv

_PLAIN = Path(__file__).parents[1] / "inspect.py"


@sandboxenv(name="genbench")
class BoxSandbox(SandboxEnvironment):  # type: ignore[misc]  # inspect_ai is not installed here
    """A sandbox of Inspect that is the box of the rollout."""

    def __init__(self) -> None:
        self._box = genbench_box.Box()

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: dict[str, str]) -> dict[str, Any]:
        """Return the one sandbox of a sample."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Any, interrupted: bool) -> None:
        """Leave the box to genbench, which ends it."""

    async def exec(  # noqa: PLR0917  the signature of Inspect
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        **_: Any,
    ) -> ExecResult[str]:
        """Run a command."""
        done = await asyncio.to_thread(
            self._box.exec,
            cmd,
            cwd=cwd,
            env=env or {},
            user=user,
            timeout_s=timeout,
            input=input.encode() if isinstance(input, str) else input or b"",
        )
        if done.timed_out:
            raise TimeoutError(f"the command took longer than {timeout} s")
        output, error = (data.decode("utf-8", "replace") for data in (done.output, done.error))
        return ExecResult(done.exit == 0, done.exit, output, error)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file. A relative path starts from the image's working folder."""
        data = contents.encode() if isinstance(contents, str) else contents
        words = ["sh", "-c", 'mkdir -p "$(dirname "$1")" && cat > "$1"', "sh", file]
        done = await asyncio.to_thread(self._box.exec, words, input=data)
        if done.exit != 0:
            raise OSError(done.error.decode("utf-8", "replace").strip())

    async def read_file(self, file: str, text: bool = True) -> Any:
        """Read a file."""
        done = await asyncio.to_thread(self._box.exec, ["cat", file])
        if done.exit != 0:
            raise FileNotFoundError(done.error.decode("utf-8", "replace").strip())
        return done.output.decode() if text else done.output


def main() -> None:
    """Run the sample that the environment describes, and write result.json."""
    spec = spec_from_file_location("inspect_driver", _PLAIN)
    assert spec is not None and spec.loader is not None
    plain = module_from_spec(spec)
    sys.modules[spec.name] = plain
    spec.loader.exec_module(plain)
    place = Path(os.environ["GENBENCH_PROBLEM"])
    problem = json.loads(place.read_text(encoding="utf-8"))
    problem["settings"]["eval_args"] = {"sandbox": "genbench", **problem["settings"].get("eval_args", {})}
    with tempfile.TemporaryDirectory(dir=os.environ["GENBENCH_OUT"]) as folder:
        told = Path(folder) / "problem.json"
        told.write_text(json.dumps(problem), encoding="utf-8")
        os.environ["GENBENCH_PROBLEM"] = str(told)
        place.unlink()
        plain.main()


if __name__ == "__main__":
    main()
