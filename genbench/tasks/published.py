"""The scores that others report for a task or for a group of tasks, which a report shows next to those of a
run.

The scores are in the pages, in points of 100 as their sources print them. Check a number in its source
before you rely on it. Two sources may differ on one model by more than ten points (decoding, prompts,
mode), so each score keeps its source and its decoding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import Field, ValidationError

from genbench.errors import ConfigError, nearest
from genbench.protocols import PublishedScore, ScoreOwner
from genbench.suite.block import Strict
from genbench.suite.config import Reference, TaskEntry
from genbench.suite.yamlfile import read_yaml_file
from genbench.tasks.page.model import DEFAULT_PROTOCOL, PublishedBlock


class NamedModel(Protocol):
    """What says of a model which scores are its own: a suite's entry, or the record of a run."""

    @property
    def path(self) -> str:
        """A local folder, a hub id, or the name of a shipped checkpoint."""

    @property
    def revision(self) -> str | None:
        """The commit on the hub."""

    @property
    def adapter(self) -> str | None:
        """The LoRA adapter."""


class AskedModel(Protocol):
    """What says of a model whether it thinks."""

    @property
    def chat_template_kwargs(self) -> Mapping[str, Any]:
        """Arguments of the chat template."""

    @property
    def system_prompt(self) -> str | None:
        """System prompt of every chat."""

    @property
    def effort(self) -> Mapping[str, Any] | None:
        """The effort at which the model is asked, by its name. Empty or None without one."""


_AT_EFFORT = re.compile(r"effort (\w+)")


def is_in_mode(decoding: str, model: AskedModel) -> bool:
    """Return whether a published score may be in the mode in which the model is asked.

    A model with two modes is told by `enable_thinking` or by the system prompt which to use. The decoding of
    a published score begins with its mode, if the source has both. A score without a mode fits every model,
    and a model without a mode every score. A score at a named effort (`effort high; …`) fits only a model
    that is asked at it, since a default run is at another one.
    """
    stated = _AT_EFFORT.match(decoding)
    if stated is not None:
        return stated[1] in {model.chat_template_kwargs.get("reasoning_effort"), *(model.effort or ())}
    of_prompt = {"/think": True, "/no_think": False}.get(model.system_prompt or "")
    asked = model.chat_template_kwargs.get("enable_thinking", of_prompt)
    if asked is None or not decoding.startswith(("thinking;", "no thinking;")):
        return True
    return decoding.startswith("thinking;") == bool(asked)


def references(
    known: Sequence[PublishedScore], model: NamedModel, named: Reference | None
) -> list[PublishedScore]:
    """Return the scores that a task is compared with, each with the reason why.

    `of` is `this model` if a score is of the model under test: of `NAME`, or of `NAME-REVISION` if it is of
    one revision. It is `its family` if the model's name only begins with the score's, and `the suite` for
    scores that the suite names.
    """
    own = _name(model.path)
    of_revision = _name(f"{model.path}-{model.revision}") if model.revision else own
    same = [score for score in known if _name(score.model) in (own, of_revision)]
    of: ScoreOwner = "its family" if model.adapter or not same else "this model"
    found = [(score, of) for score in same or _family(known, own)]
    found += [(score, "the suite") for score in named_scores(known, named)]
    return [
        PublishedScore.model_validate(score.model_dump(exclude_none=True) | {"of": of}) for score, of in found
    ]


def named_scores(known: Sequence[PublishedScore], named: Reference | None) -> list[PublishedScore]:
    """Return the scores that a suite's `reference` refers to.

    Raises:
        ConfigError: it gives no value, and none is known for its model.
    """
    if named is None:
        return []
    if named.value is not None:
        return [PublishedScore.from_object(named, value=round(named.value / 100, 6))]
    found = [score for score in known if _name(score.model) == _name(named.model)]
    if not found:
        hint = nearest(named.model, {score.model for score in known})
        raise ConfigError(f"reference: no score of '{named.model}' is known{hint}; give its 'value'")
    return found


def _family(known: Sequence[PublishedScore], own: str) -> list[PublishedScore]:
    """Return the scores of the longest name that `own` begins with."""
    names = [_name(score.model) for score in known]
    longest = max((name for name in names if own.startswith(f"{name}-")), key=len, default=None)
    return [score for score, name in zip(known, names, strict=True) if name == longest]


def _name(path: str) -> str:
    """Return a name such as `qwen3-4b`.

    It is read from a hub id, a folder, or a folder of the hub's cache (models--ORG--NAME/snapshots/…).
    """
    cached = re.search(r"models--[^/]+?--([^/]+)", path)
    last = cached.group(1) if cached else path.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-")


FOLDER = Path(__file__).parent / "groups"


class GroupTask(Strict):
    """One task of a group, as a suite names it."""

    task: str
    protocol: str = DEFAULT_PROTOCOL
    options: dict[str, Any] = Field(default_factory=dict)


class GroupPage(Strict):
    """A group of tasks for which others report one score."""

    summary: str = Field(min_length=1, description="what the score is, in one line")
    mean: Literal["macro", "micro"] = Field(description="which of the group's two means the scores are")
    tasks: tuple[GroupTask, ...] = Field(min_length=2, description="all tasks of the group")
    published: tuple[PublishedBlock, ...] = Field(min_length=1, description="what others report")

    @property
    def scores(self) -> tuple[PublishedScore, ...]:
        """Return what others report, as fractions of 1."""
        return tuple(score for block in self.published for score in block.as_scores())


def group_page(name: str, entries: Sequence[TaskEntry], folder: Path = FOLDER) -> GroupPage | None:
    """Return the page of a suite's group, or None if no published score belongs to it.

    A page belongs to a group of its name that has exactly its tasks, with their protocols and options. With
    other tasks the mean is another number.

    Args:
        name: the group's name in the suite.
        entries: the suite's tasks in this group.
        folder: the folder of the pages.

    Raises:
        ConfigError: the page is not valid.
    """
    path = folder / f"{name}.yaml"
    if not path.is_file():
        return None
    page = read_group_page(path)
    wanted = _identities((item.task, item.protocol, item.options) for item in page.tasks)
    found = _identities((entry.task or "", entry.protocol, entry.options) for entry in entries)
    return page if found == wanted else None


@lru_cache(maxsize=64)
def read_group_page(path: Path) -> GroupPage:
    """Return the page of a file.

    Raises:
        ConfigError: the file is not a valid page. Names file, key and value.
    """
    raw, _ = read_yaml_file(path)
    try:
        return GroupPage.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the page"
        raise ConfigError(f"{path}: {key}: {first['msg']}, found {first['input']!r}") from None


def _identities(tasks: Iterable[tuple[str, str, Mapping[str, Any]]]) -> list[str]:
    """Return what tells the tasks of a group apart, sorted."""
    return sorted(json.dumps([task, protocol, options], sort_keys=True) for task, protocol, options in tasks)
