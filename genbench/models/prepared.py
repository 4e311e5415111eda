"""What a prepared model is, and what every way of preparing one shares: traces, templates, terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.engines.settings import EngineSettings, HttpSettings
from genbench.errors import ConfigError
from genbench.models import traceformats
from genbench.models import traces as reasoning
from genbench.models.prompts import Renderer
from genbench.models.requests import RequestMaker
from genbench.models.tokencount import Count
from genbench.models.traceformats import FORMATS, TraceFormat
from genbench.suite.config import Decoding, ModelConfig, TraceTags
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import Answer, Completion


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How answers are told from traces, as the manifest keeps it."""

    format: TraceFormat
    end_tokens: tuple[str, ...]

    @property
    def record(self) -> dict[str, Any]:
        return {
            "format": self.format.name,
            "open": list(self.format.opens),
            "close": list(self.format.closes),
            "end_tokens": list(self.end_tokens),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Reasoning:
        """What `record` came from; a format of one's own comes back by its tags."""
        name = record["format"]
        if name in FORMATS:
            return cls(FORMATS[name], tuple(record["end_tokens"]))
        tags = {"open": record["open"][0], "close": record["close"][0]}
        return cls(traceformats.resolve(tags), tuple(record["end_tokens"]))

    def split(self, item: Completion) -> Answer:
        return reasoning.split(item.text, self.format, item.trace_opened, item.finish_reason, self.end_tokens)


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """One model of a suite, with what is needed to ask it and to name it."""

    name: str
    config: ModelConfig
    identity: str
    reasoning: Reasoning
    maker: RequestMaker
    terms: Mapping[str, Any]
    settings: EngineSettings | HttpSettings | None
    """None where ready responses stand for the model."""
    warnings: tuple[str, ...] = ()
    count: Count | None = None
    """Tokens of a text by the model's own tokenizer; None where it is not at hand."""


def trace_format(suite: Suite, template: str | None, added: Sequence[str]) -> TraceFormat:
    """The format that the suite names, or for `auto` the one that template and tokenizer show.

    Raises:
        ConfigError: there is no such format.
    """
    wanted = suite.config.reasoning
    try:
        if isinstance(wanted, TraceTags):
            return traceformats.resolve({"open": wanted.open, "close": wanted.close})
        return traceformats.detect(template, added) if wanted == "auto" else traceformats.resolve(wanted)
    except ConfigError as error:
        raise ConfigError(f"{suite.where('reasoning')}: {error}") from None


def template(config: ModelConfig, base: Path) -> str | None:
    """The template file that the suite names instead of the model's own."""
    if config.chat_template is None:
        return None
    path = resolve(config.chat_template, base)
    if not path.is_file():
        raise ConfigError(f"chat_template: no such file: {path}")
    return path.read_text(encoding="utf-8")


def added_tokens(tokenizer: Any) -> list[str]:
    """Tokens that were added to the vocabulary; trace tags are told by them."""
    return [str(token) for token in getattr(tokenizer, "added_tokens_encoder", {})]


def end_tokens(tokenizer: Any) -> tuple[str, ...]:
    """Special tokens that end a turn; the engine hands them over when they are not the stop token."""
    return tuple(dict.fromkeys(str(token) for token in getattr(tokenizer, "all_special_tokens", ())))


def task_renderers(
    config: ModelConfig, tasks: Sequence[LoadedTask], tokenizer: Any, template: str | None, fmt: TraceFormat
) -> dict[str, Renderer]:
    """One renderer a task: few-shot exemplars are the task's."""
    return {
        task.name: Renderer(
            tokenizer,
            chat_template=template,
            chat_template_kwargs=config.chat_template_kwargs,
            system_prompt=config.system_prompt,
            style=config.prompt_style,
            shots=_shots(config, task),
            opens_trace=lambda text: reasoning.opened_by_prompt(text, fmt),
        )
        for task in tasks
    }


def with_stop(decoding: Decoding, stop: Sequence[str]) -> Decoding:
    """A few-shot prompt must also stop where the model begins an exemplar of its own."""
    return decoding.model_copy(update={"stop": (*decoding.stop, *stop)}) if stop else decoding


def _shots(config: ModelConfig, task: LoadedTask) -> tuple[tuple[str, str], ...]:
    if config.prompt_style != "few_shot":
        return ()
    shots = task.task.info.shots
    if not shots:
        raise ConfigError(f"task {task.name} has no exemplars for prompt_style few_shot; use plain or chat")
    return shots[: config.shots]


def decoding_terms(decoding: Decoding) -> dict[str, Any]:
    """Every sampling field; the run seed is no term, it stands beside them."""
    fields = decoding.model_dump(mode="json", exclude={"seed"})
    return {**fields, "n": 1, "seed_rule": "sha256(run seed, task, problem, sample, turn) >> 1"}
