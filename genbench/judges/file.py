"""Reads a judge file: prompt, labels, pinned model; refuses what could change unseen."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from genbench.errors import ConfigError, nearest
from genbench.store.contract import digest
from genbench.suite import shipped
from genbench.suite.config import NAME_PATTERN, Decoding, JudgeConfig, JudgeModel, JudgeServer, Strict
from genbench.types import STATUSES, Status

Form = Literal["label", "pairwise", "rubric", "checklist"]
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_PIN = re.compile(r"[0-9a-f]{40}|sha256:[0-9a-f]{64}")
_FIELD = re.compile(r"\{(question|reference|answer|first|second|checklist|labels|dimensions)\}")
_SHOWN: Mapping[str, frozenset[str]] = {
    "label": frozenset({"answer"}),
    "pairwise": frozenset({"question", "first", "second"}),
    "rubric": frozenset({"answer", "dimensions"}),
    "checklist": frozenset({"answer", "checklist"}),
}
"""What the prompt of each form must show."""


class JudgeFile(Strict):
    """A judge as people write it. Scores of labels are in [0, 1]."""

    name: str = Field(pattern=NAME_PATTERN)
    form: Form
    prompt: str = Field(description="the prompt file, relative to this file")
    prompt_digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    labels: dict[str, float] = Field(default_factory=dict)
    statuses: dict[str, Status] = Field(default_factory=dict, description="of labels that score 0")
    dimensions: dict[str, str] = Field(default_factory=dict, description="rubric: name -> what it means")
    points: int = Field(5, ge=2, le=9, description="rubric: each dimension is scored from 1 to this")
    reason: bool = Field(False, description="one short sentence before the verdict")
    decoding: Decoding = Decoding(temperature=0, top_p=1, max_tokens=256)
    max_answer_chars: int = Field(12000, ge=200)
    calibration: str | None = Field(None, description="JSON Lines with question, reference, answer, label")
    model: JudgeModel | None = None
    server: JudgeServer | None = None
    allow_unpinned: bool = False

    @field_validator("labels", "dimensions")
    @classmethod
    def _plain_words(cls, found: dict[str, Any]) -> dict[str, Any]:
        for name, value in found.items():
            if not _WORD.match(name):
                raise ValueError(f"'{name}': wanted letters, digits and '_'")
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"'{name}' scores {value}: wanted 0 to 1")
        return found

    @model_validator(mode="after")
    def _fits_its_form(self) -> Self:
        if self.form == "label" and len(self.labels) < 2:
            raise ValueError("form 'label' needs two 'labels' or more, each with its score")
        if self.form != "label" and self.labels:
            raise ValueError(f"form '{self.form}' has labels of its own; remove 'labels'")
        if (self.form == "rubric") != bool(self.dimensions):
            raise ValueError("'dimensions' belong to form 'rubric', which needs at least one")
        for label in self.statuses:
            if label not in self.labels:
                raise ValueError(f"statuses: unknown label '{label}'{nearest(label, self.labels)}")
        if self.model is not None and self.server is not None:
            raise ValueError("give either 'model' or 'server'")
        return self


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge file with its prompt and the engine that is to answer; everything checked."""

    file: JudgeFile
    path: Path
    prompt: str

    @property
    def engine(self) -> JudgeModel | JudgeServer:
        found = self.file.model or self.file.server
        if found is None:
            raise AssertionError("read_judge refuses judges without an engine")
        return found

    @property
    def unpinned(self) -> bool:
        return not is_pinned(self.engine.revision)

    @property
    def shows(self) -> frozenset[str]:
        """The fields that the prompt shows."""
        return frozenset(_FIELD.findall(self.prompt))

    def digest(self) -> str:
        """Of all that can change a verdict; a prompt, label or revision that changes makes another judge."""
        facts = self.file.model_dump(
            mode="json",
            include={
                "form",
                "prompt_digest",
                "labels",
                "statuses",
                "dimensions",
                "points",
                "reason",
                "decoding",
                "max_answer_chars",
            },
        )
        engine = self.engine
        who = {"revision": engine.revision, "kwargs": engine.chat_template_kwargs}
        if isinstance(engine, JudgeModel):
            who |= {"path": engine.path if self.unpinned or ":" not in str(engine.revision) else None}
            who |= {"dtype": engine.dtype}
        else:
            # A server that moves to another host is the same judge as long as its revision is named.
            place = engine.base_url if self.unpinned else None
            who |= {"model": engine.model, "base_url": place, "structured": engine.structured}
        return digest([_RULES, facts, who])[:16]


_RULES = "3"
"""Changes with the way answers are delimited, capped and replies are read."""


def is_pinned(revision: str | None) -> bool:
    """A commit or a digest; never a branch, a tag or an alias."""
    return revision is not None and _PIN.fullmatch(revision) is not None


def judge_path(name: str, base: Path) -> Path:
    """The judge file that `name` means: a path beside the suite, or a shipped judge.

    Raises:
        ConfigError: there is neither.
    """
    local = shipped.resolve(name, base)
    if local.is_file():
        return local
    folder = shipped.folder("judges")
    names = [file.stem for file in sorted(folder.glob("*.yaml"))]
    if name in names:
        return folder / f"{name}.yaml"
    raise ConfigError(f"judge '{name}': no such file ({local}) and no shipped judge{nearest(name, names)}")


def read_judge(path: Path, over: JudgeConfig) -> JudgeSpec:
    """Reads and checks a judge.

    Args:
        over: the suite's own word on engine and pinning; stands before the file's.

    Raises:
        ConfigError: unknown key or label, other prompt than was pinned, no engine, unpinned revision.
    """
    file = _engine_over(_validated(path), over)
    prompt_path = path.parent / file.prompt
    try:
        prompt = prompt_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: prompt: cannot read {prompt_path}: {error}") from error
    found = "sha256:" + hashlib.sha256(prompt.encode()).hexdigest()
    if found != file.prompt_digest:
        raise ConfigError(
            f"{path}: {prompt_path} is not the prompt that was pinned ({file.prompt_digest} -> {found}); "
            f"restore it, or calibrate the new one and set prompt_digest: {found}"
        )
    spec = JudgeSpec(file, path, prompt)
    if lacking := _SHOWN[file.form] - spec.shows:
        raise ConfigError(f"{prompt_path}: form '{file.form}' must show {_braced(lacking)}")
    _check_engine(spec)
    return spec


def _braced(names: frozenset[str]) -> str:
    return ", ".join("{" + name + "}" for name in sorted(names))


def _validated(path: Path) -> JudgeFile:
    from ruamel.yaml import YAML  # noqa: PLC0415  0.15 s that `--help` need not pay
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        raw = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    try:
        return JudgeFile.model_validate(raw)
    except ValidationError as error:
        raise ConfigError("\n".join(f"{path}: {_words(item)}" for item in error.errors())) from None


def _words(item: Any) -> str:
    key = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"unknown key '{key}'{nearest(key, JudgeFile.model_fields)}"
    if item["type"] == "literal_error" and key.startswith("statuses"):
        return f"{key}: no such status; one of {', '.join(STATUSES)}"
    return f"{key}: {item['msg'].removeprefix('Value error, ')}" if key else str(item["msg"])


def _engine_over(file: JudgeFile, over: JudgeConfig) -> JudgeFile:
    if over.model is not None or over.server is not None:
        file = file.model_copy(update={"model": over.model, "server": over.server})
    return file.model_copy(update={"allow_unpinned": over.allow_unpinned or file.allow_unpinned})


def _check_engine(spec: JudgeSpec) -> None:
    file = spec.file
    if file.model is None and file.server is None:
        raise ConfigError(
            f"{spec.path}: judge '{file.name}' names no model; pin one in the suite: "
            "judge: {model: {path: ORG/NAME, revision: COMMIT}}, or judge: {server: {base_url: …, model: …}}"
        )
    if spec.unpinned and not file.allow_unpinned:
        raise ConfigError(
            f"{spec.path}: judge '{file.name}': revision {spec.engine.revision!r} is not pinned: a name that "
            "moves gives other verdicts tomorrow; give a commit (40 hex digits) or sha256:… of the weights, "
            "or set allow_unpinned: true, and every report says so"
        )
