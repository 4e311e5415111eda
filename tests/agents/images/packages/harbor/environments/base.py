from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple


class ExecResult(NamedTuple):
    stdout: str
    stderr: str
    return_code: int


class BaseEnvironment:
    def __init__(self, environment_dir: Path, task_env_config: SimpleNamespace) -> None:
        self.environment_dir, self.task_env_config = environment_dir, task_env_config

    def _merge_env(self, env: dict[str, str] | None) -> dict[str, str] | None:
        return env

    def _resolve_user(self, user: Any) -> Any:
        return user
