"""Read a policy file. Mistakes are named with file, line and key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from genbench.errors import ConfigError, nearest
from genbench.policy.config import Policy, TaskPolicy
from genbench.suite import shipped
from genbench.suite.messages import place
from genbench.suite.yamlfile import Loc, read_yaml_file


def policy_path(name: str) -> Path:
    """Return the policy file that `name` means: a path, or the name of a shipped policy.

    Raises:
        ConfigError: there is neither.
    """
    local = shipped.at_home(name)
    if local.is_file():
        return local
    folder = shipped.folder("policies")
    names = [file.stem for file in sorted(folder.glob("*.yaml"))]
    if name in names:
        return folder / f"{name}.yaml"
    raise ConfigError(f"policy '{name}': no such file and no shipped policy{nearest(name, names)}")


def read_policy(path: Path) -> Policy:
    """Read and check a policy.

    Raises:
        ConfigError: names file, line, key, what was found and what is wanted.
    """
    raw, lines = read_yaml_file(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}:1: wanted a mapping with the keys name and tasks; see docs/nightly.md")
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        found: list[dict[str, Any]] = [dict(item) for item in error.errors(include_url=False)]
        messages = [_message(item, path, lines) for item in found]
        raise ConfigError("\n".join(dict.fromkeys(messages))) from None


def _message(item: Mapping[str, Any], path: Path, lines: Mapping[Loc, int | str]) -> str:
    """Return one mistake as `file:line: key: what is wrong, found VALUE`."""
    loc: Loc = tuple(item["loc"])
    key, where = ".".join(map(str, loc)), place(path, loc, lines)
    if item["type"] == "extra_forbidden":
        known = TaskPolicy.model_fields if loc[0] == "tasks" else Policy.model_fields
        return f"{where}: unknown key '{key}'{nearest(str(loc[-1]), known)}"
    if item["type"] == "missing":
        return f"{where}: '{key}' is missing"
    text = re.sub(r"^Value error, ", "", item["msg"])
    found = "" if isinstance(item["input"], dict | list) else f", found {item['input']!r}"
    return f"{where}: {key or 'the policy'}: {text[0].lower() + text[1:]}{found}"
