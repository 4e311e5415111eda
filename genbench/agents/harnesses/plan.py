"""What a suite says of an agent harness."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genbench.agents.harnesses.harness import NAMES, Harness, harness_named
from genbench.errors import ConfigError, nearest

if TYPE_CHECKING:
    from genbench.agents.images.plan import ImagePlan


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
    box: dict[str, Any] | None = Field(
        None, description="what the box of an image may use: memory_mb, cpus, disk_mb, pids"
    )


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
        images: the boxes of the rollouts, None if they are in no image.
    """

    name: str
    command: tuple[str, ...]
    settings: Mapping[str, Any]
    limits: Limits
    version: str
    environment: tuple[str, ...] = ()
    peers: Mapping[str, Peer] = field(default_factory=dict)
    parser: str = "auto"
    missing: str | None = field(default=None, compare=False)
    images: ImagePlan | None = None

    @property
    def harness(self) -> Harness:
        """Return the harness."""
        return harness_named(self.name)

    @property
    def has_images(self) -> bool:
        """Return whether its problems have container images."""
        return self.images is not None

    @property
    def environment_folder(self) -> Path | None:
        """Return the virtual environment that the harness is run with, None if it needs none."""
        if self.harness.takes_command or not self.command:
            return None
        return Path(self.command[0]).parent.parent

    def terms_without(self, unasked: Sequence[str]) -> dict[str, Any]:
        """Return what two runs must have in common to be compared. Paths of a machine are not part of it.

        Args:
            unasked: the names of the rows that cannot be asked. With images they are those without a proof.
        """
        limits = self.limits.model_dump(mode="json", exclude={"concurrent", "first_request_s", "box"})
        images = {} if self.images is None else {"images": {**self.images.terms, "excluded": list(unasked)}}
        if self.images is not None:
            limits["box"] = self.images.limits._asdict()
        peers = {name: peer.model_dump(mode="json", exclude={"key"}) for name, peer in self.peers.items()}
        return {
            "harness": self.name,
            "version": self.version,
            "settings": dict(self.settings),
            "limits": limits,
            "parser": self.parser,
            "environment": list(self.environment),
            **({"peers": peers} if peers else {}),
            **images,
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
    images: str | None = None,
    grader: str | None = None,
    kit: str | None = None,
) -> HarnessPlan:
    """Check the options of a task and return its plan.

    Args:
        command: the program of the harness `command`. A relative path was resolved by the caller.
        python: folder of the virtual environment that the harness is installed in. `command` needs none.
        peers: other models by the part that they play, each with the keys of Peer.
        install: the commands that make the virtual environment. Without `python` they are named as what is
            missing.
        images: the lock of the images of the problems, None if they need none.
        grader: folder of the virtual environment of swebench.
        kit: folder of what tests fetch.

    Raises:
        ConfigError: an unknown harness, no program is named, or a limit or a peer is wrong.
    """
    if harness not in NAMES:
        raise ConfigError(f"agent: harness is '{harness}'{nearest(harness, NAMES)}")
    own = harness_named(harness)
    if own.takes_command != bool(command):
        needs = "needs options.command, a list" if own.takes_command else "takes no options.command"
        raise ConfigError(f"agent: harness {harness} {needs}")
    found = _checked(Limits, limits, "limits")
    known = {name: _checked(Peer, peer, f"peers.{name}") for name, peer in (peers or {}).items()}
    boxes = _image_plan(images, grader, kit, found.box)
    program = own.program(command, python, install, boxed=boxes is not None)
    missing = program.missing or own.lacking(known)
    unset = [
        f"peers.{part}.key: {peer.key}" for part, peer in known.items() if peer.key not in {None, *os.environ}
    ]
    if unset:
        missing = missing or f"options.{unset[0]} is not a variable of this process"
    return HarnessPlan(
        harness,
        program.words,
        dict(settings),
        found,
        program.version,
        tuple(environment),
        known,
        parser,
        missing=missing,
        images=boxes,
    )


def _image_plan(
    images: str | None, grader: str | None, kit: str | None, box: Mapping[str, Any] | None
) -> ImagePlan | None:
    """Return the boxes of a task. Nothing of images is loaded if it has none."""
    if images is None:
        given = {"options.grader": grader, "options.kit": kit, "limits.box": box}
        unused = next((name for name, value in given.items() if value is not None), None)
        if unused is not None:
            raise ConfigError(f"agent: {unused} needs options.images, the lock of the images")
        return None
    from genbench.agents.images.plan import BoxOptions, read_image_plan  # noqa: PLC0415

    return read_image_plan(images, grader, kit, _checked(BoxOptions, box or {}, "limits.box"))


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
