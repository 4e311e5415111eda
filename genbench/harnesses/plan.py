"""What a suite says of an agent harness, and what a rollout of it has found."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genbench.errors import ConfigError, nearest
from genbench.types import STATUSES, Status

Name = Literal["command", "mini_swe", "harbor", "inspect", "tau2"]
NAMES: tuple[Name, ...] = get_args(Name)
_USER = "user"
"""The part of the simulated user of tau2."""
_LONGEST_TEXT = 4_000
"""Characters of one text of a result that are kept."""


class Limits(BaseModel):
    """What one rollout may use, and how many run at the same time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turns: int = Field(100, ge=1, le=10_000, description="completions of the model")
    tokens: int | None = Field(None, ge=1, description="new tokens of all turns together")
    wall_s: float = Field(
        1800, gt=0, description="seconds of the harness and its tools. Waiting for the engine is not counted"
    )
    first_request_s: float = Field(60, gt=0, description="seconds until the first request of a rollout")
    concurrent: int = Field(16, ge=1, description="rollouts at the same time; it changes no result")


class Peer(BaseModel):
    """Another model that takes part in the rollouts, such as a simulated user or a judge of the harness."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = Field(
        pattern=r"^https?://[^\s]+$", description="address of its OpenAI-compatible server, with /v1"
    )
    model: str = Field(min_length=1, description="its name there")
    args: dict[str, Any] = Field(
        default_factory=dict, description="arguments of its requests, such as temperature"
    )
    key: str | None = Field(
        None, description="name of the variable of this process with its key; the harness does not see it"
    )


@dataclass(frozen=True, slots=True)
class HarnessPlan:
    """How the rollouts of a task are run.

    Args:
        name: the harness. `command` is a program of the team's own.
        command: the program and its arguments, as they are run.
        settings: passed on to the harness as JSON.
        limits: what one rollout may use.
        missing: why the harness cannot be run here, or None. Stored rollouts are read all the same.
        version: what the program is: a digest of its files, or the versions of its environment.
        environment: variables of this process that the harness gets too, by name.
        peers: other models that the harness may ask, by the part that they play.
        parser: the family of the function calls.
    """

    name: Name
    command: tuple[str, ...]
    settings: Mapping[str, Any]
    limits: Limits
    version: str
    environment: tuple[str, ...] = ()
    peers: Mapping[str, Peer] = field(default_factory=dict)
    parser: str = "auto"
    missing: str | None = field(default=None, compare=False)

    @property
    def terms(self) -> dict[str, Any]:
        """Return what two runs must have in common to be compared. Paths of a machine are not part of it."""
        limits = self.limits.model_dump(mode="json", exclude={"concurrent", "first_request_s"})
        peers = {name: peer.model_dump(mode="json", exclude={"key"}) for name, peer in self.peers.items()}
        return {
            "harness": self.name,
            "version": self.version,
            "settings": dict(self.settings),
            "limits": limits,
            "parser": self.parser,
            "environment": list(self.environment),
            **({"peers": peers} if peers else {}),
        }


def read_plan(
    *,
    harness: str,
    command: Sequence[str],
    python: str | None,
    settings: Mapping[str, Any],
    limits: Mapping[str, Any],
    environment: Sequence[str],
    parser: str,
    peers: Mapping[str, Any] | None = None,
    install: str | None = None,
) -> HarnessPlan:
    """Check the options of a task and return its plan.

    Args:
        command: the program of the harness `command`. A relative path was resolved by the caller.
        python: folder of the virtual environment that the harness is installed in. `command` needs none.
        peers: other models by the part that they play, each with the keys of Peer.
        install: the commands that make the virtual environment. Without `python` they are named as what is
            missing.

    Raises:
        ConfigError: an unknown harness, no program is named, or a limit or a peer is wrong.
    """
    if harness not in NAMES:
        raise ConfigError(f"agent: harness is '{harness}'{nearest(harness, NAMES)}")
    if (harness == "command") != bool(command):
        needs = "needs options.command, a list" if harness == "command" else "takes no options.command"
        raise ConfigError(f"agent: harness {harness} {needs}")
    found = _checked(Limits, limits, "limits")
    known = {name: _checked(Peer, peer, f"peers.{name}") for name, peer in (peers or {}).items()}
    if harness == "command":
        words, version, missing = _own_program(command)
    else:
        words, version, missing = _driver(harness, python, install)
    if harness == "tau2" and _USER not in known:
        missing = missing or f"options.peers.{_USER}: name the simulated user's server (see docs/agents.md)"
    unset = [
        f"peers.{part}.key: {peer.key}" for part, peer in known.items() if peer.key not in {None, *os.environ}
    ]
    if unset:
        missing = missing or f"options.{unset[0]} is no variable of this process"
    return HarnessPlan(
        harness, words, dict(settings), found, version, tuple(environment), known, parser, missing=missing
    )


def _own_program(command: Sequence[str]) -> tuple[tuple[str, ...], str, str | None]:
    """Return the words of a team's own program, what it is, and why it cannot be run."""
    if not all(isinstance(word, str) and word for word in command):
        raise ConfigError(f"agent: command is {list(command)!r}, wanted a list of texts")
    missing = None
    if shutil.which(command[0]) is None:
        missing = f"options.command: there is no program {command[0]}"
    return tuple(command), _digest_of_files(command), missing


def _driver(harness: str, python: str | None, install: str | None) -> tuple[tuple[str, ...], str, str | None]:
    """Return how a harness is run by the environment that it is installed in, as `_own_program`."""
    make = f"; make one: {install}" if install else " (see docs/agents.md)"
    if python is None:
        wanted = f"options.python: harness {harness} needs the folder of the virtual environment that it is installed in{make}"
        if install is None:
            raise ConfigError(f"agent: {wanted}")
        return (), "", wanted
    driver = Path(__file__).with_name(f"{harness}.py")
    words = (str(Path(python) / "bin" / "python"), "-P", str(driver))
    installed = _installed(Path(python))
    missing = None
    if not installed or not Path(words[0]).exists():
        missing = f"options.python: {python} is no virtual environment in which {harness} is installed{make}"
    return words, f"{installed} {_digest_of_files([str(driver)])}", missing


_Block = TypeVar("_Block", bound=BaseModel)


def _checked(block: type[_Block], given: Any, where: str) -> _Block:
    """Return a block of options.

    Raises:
        ConfigError: it has an unknown key or a wrong value. Says which.
    """
    try:
        return block.model_validate(dict(given) if isinstance(given, Mapping) else given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in (where, *first["loc"]))
        raise ConfigError(f"agent: {key}: {first['msg']}, found {first['input']!r}") from None


def _digest_of_files(words: Sequence[str]) -> str:
    """Return a digest of the words of a command and of the files among them. Their folders are left out."""
    digest = hashlib.sha256()
    for word in words:
        path = Path(word)
        is_text = path.is_file() and path.suffix in (".py", ".sh", ".js", ".toml", ".yaml", ".json")
        digest.update(path.read_bytes() if is_text else path.name.encode("utf-8", "surrogateescape"))
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _installed(folder: Path) -> str:
    """Return a digest of the names and versions of all packages of a virtual environment, or nothing."""
    places = folder.glob("lib/python3*/site-packages/*.dist-info")
    names = sorted(path.name.removesuffix(".dist-info") for path in places)
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16] if names else ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rollout has found.

    `status` is None if the score says it all. `score` is in [0, 1]. It is None if there is none: then the
    status is a defect of ours, or the model used up its budget or refused.
    """

    score: float | None
    status: Status | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Return whether a fault of the environment kept the model from being measured."""
        return self.status == "unavailable"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read result.json of a rollout.

        Raises:
            ValueError: it is no object, or has another score or status. Says which.
        """
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError("result.json is no object with 'score'")
        score, status, detail = found.get("score"), found.get("status"), found.get("detail", {})
        if isinstance(score, bool):
            score = float(score)
        if score is not None and (not isinstance(score, int | float) or not 0 <= score <= 1):
            raise ValueError(f"'score' is {score!r}, wanted a number from 0 to 1, or null")
        if status is not None and status not in STATUSES:
            raise ValueError(f"'status' is {status!r}{nearest(str(status), STATUSES)}")
        if score is None and status is None:
            raise ValueError("there is neither 'score' nor 'status'")
        if not isinstance(detail, dict):
            raise ValueError(f"'detail' is {str(detail)[:80]!r}, wanted an object")
        return cls(None if score is None else float(score), status, _short(detail))


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, dict):
        return {str(key)[:200]: _short(item) for key, item in list(value.items())[:200]}
    if isinstance(value, list):
        return [_short(item) for item in value[:200]]
    return value
