"""Policy files: which tasks a nightly gate fails by, and what loss each may have.

Mistakes in a file are named with file, line and key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from genbench.errors import ConfigError, nearest
from genbench.suite import shipped
from genbench.suite.block import NAME_PATTERN, Strict
from genbench.suite.suitefile import place
from genbench.suite.yamlfile import Loc, read_yaml_file

Tier = Literal["critical", "supporting", "advisory"]
Rule = Literal["not_worse", "proven"]


class TaskPolicy(Strict):
    """What is asked of one task."""

    tier: Tier = Field(
        description="critical: its failure fails the gate; supporting: several do; advisory: only shown"
    )
    margin: float | None = Field(
        None, ge=0, le=100, description="loss in points of 100 that is acceptable; default 0"
    )
    relative: float | None = Field(
        None, gt=0, le=100, description="the same in percent of the base's score, instead of margin"
    )
    rule: Rule = Field(
        "not_worse",
        description="not_worse: fails if a loss above the margin is shown; proven: fails unless a loss as "
        "large as the margin is excluded. Both are decided by intervals",
    )
    required: bool | None = Field(
        None, description="whether a run without this task fails; default: true for critical tasks"
    )

    @model_validator(mode="after")
    def _one_margin(self) -> Self:
        if self.margin is not None and self.relative is not None:
            raise ValueError("give either 'margin' (points) or 'relative' (percent of the base), not both")
        if self.rule == "proven" and not (self.margin or self.relative):
            raise ValueError("rule 'proven' needs a 'margin' or 'relative' above 0; no run excludes any loss")
        return self

    @property
    def is_required(self) -> bool:
        """Whether a run without this task fails the gate."""
        return self.tier == "critical" if self.required is None else self.required


Measure = Literal["stopping", "bpb_gold"]
"""What a gate may ask for next to the score: the share of replies that end by themselves, and the bits per
byte of the right choice. Both are known of each problem."""


class MeasurePolicy(TaskPolicy):
    """What is asked of one measure."""

    tasks: tuple[str, ...] = Field((), description="the tasks that it is asked of; default: all that have it")


class Policy(Strict):
    """A policy: tiers and acceptable losses by task. It is kept apart from the suite."""

    name: str = Field(pattern=NAME_PATTERN, max_length=100, description="name of the policy")
    description: str = Field("", max_length=2000, description="what it is for")
    tasks: dict[str, TaskPolicy] = Field(default_factory=dict, description="by name of the task")
    measures: dict[Measure, MeasurePolicy] = Field(
        default_factory=dict,
        description="what is asked of measures next to the score: stopping (replies that end by themselves, "
        "in points of 100) or bpb_gold (bits per byte of the right choice; its loss is given by relative)",
    )
    others: Tier | Literal["gating"] = Field(
        "advisory",
        description="tier of the other tasks; gating: critical if the suite says so, else advisory",
    )
    supporting_failures: int = Field(
        1, ge=0, description="failing supporting tasks that are accepted; one more fails the gate"
    )
    pooled: Tier = Field(
        "critical", description="tier of the pooled difference over critical tasks, tonight and in history"
    )
    alarms_per_year: float | None = Field(
        None,
        gt=0,
        le=365,
        description="false alarms of the gate in a year; default: the track's budget",
    )

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.tasks and self.others == "advisory" and not self.measures:
            raise ValueError("no task can fail: name tasks, or set 'others' to gating or critical")
        bits = self.measures.get("bpb_gold")
        if bits is not None and bits.margin:
            raise ValueError("measures.bpb_gold has no points: give 'relative' (percent), not 'margin'")
        return self

    def of(self, task: str, gating: bool) -> TaskPolicy:
        """Return what is asked of a task.

        Args:
            gating: whether it gates: the suite declares it gating, or declares no task gating.
        """
        if task in self.tasks:
            return self.tasks[task]
        if self.others == "gating":
            return TaskPolicy(tier="critical" if gating else "advisory", required=False)
        return TaskPolicy(tier=self.others, required=False)


BY_SUITE = Policy(
    name="suite",
    others="gating",
    description="the tasks that the suite declares gating, all if it declares none",
)
"""The policy of a gate without a policy file."""


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
