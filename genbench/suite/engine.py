"""The model and the engine of a suite: where weights come from, what an hour costs, and the block of
each kind of engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from genbench import registry
from genbench.errors import ConfigError
from genbench.protocols import HubSource, is_hub_name
from genbench.suite.block import Strict

if TYPE_CHECKING:
    from genbench.suite.config import ModelConfig


class DataSource(Strict):
    """Where the rows of a custom task come from, and the meaning of their columns."""

    path: str | None = Field(None, description="JSONL, Parquet or CSV; relative to the suite's folder")
    hub: HubSource | None = None
    fields: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either 'path' or 'hub'")
        # `datasets` would read a folder of this machine, and takes `json` as the name of a reader.
        if self.hub is not None and not is_hub_name(self.hub.repo):
            raise ValueError(f"hub.repo: wanted ORG/NAME, found '{self.hub.repo}'; a file goes under 'path'")
        return self


class Price(Strict):
    """The price of drawing samples: of a machine by the hour, or of a server by its tokens."""

    per_hour: float | None = Field(None, ge=0, description="price of one hour of all devices together")
    per_million_prompt_tokens: float | None = Field(None, ge=0)
    per_million_completion_tokens: float | None = Field(None, ge=0)
    currency: str = "USD"

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        by_tokens = [self.per_million_prompt_tokens, self.per_million_completion_tokens].count(None)
        if (self.per_hour is None, by_tokens) not in ((False, 2), (True, 0)):
            raise ValueError("give either 'per_hour' or both prices per million tokens")
        return self


DEFAULT_KIND = "vllm"
KIND_ERROR = "engine_kind"
"""Type of the validation error for a `kind` that names no engine."""


class SuiteMistake(ConfigError):  # noqa: N818  a class of its own only until file and line are known
    """A mistake at one key of a suite. Whoever has the suite file adds its name and the line.

    Args:
        loc: the key, from the top of the suite: ("engine", "dtype").
        text: the whole message after file and line.
    """

    def __init__(self, loc: Sequence[str | int], text: str) -> None:
        super().__init__(text)
        self.loc = tuple(loc)


class EngineConfig(BaseModel):
    """Base of the keys under `engine:`. Each kind of engine has a subclass with keys of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str

    def fields_of_request(self, switches: Mapping[str, Any]) -> tuple[str, ...]:
        """Return those switches of an effort that are fields of a request, not variables of a template."""
        return ()

    def check_model(self, name: str, models: Mapping[str, ModelConfig]) -> None:
        """Refuse a model that does not go with this engine.

        Raises:
            SuiteMistake: names the key of the model and what to write instead.
        """
        if models[name].server is not None:
            raise SuiteMistake(
                ("models", name, "server"), f"models.{name}.server: needs engine: {{kind: http}}"
            )


class StoredEngineConfig(EngineConfig):
    """The `engine:` block of a stored run. It is kept as it is, since the engine need not be installed."""

    model_config = ConfigDict(extra="allow", frozen=True)


STORED: Mapping[str, Any] = {"stored": True}
"""The validation context of a stored suite."""


def config_class(kind: str, folder: Path | None = None) -> type[EngineConfig]:
    """Return the configuration class of a kind of engine: a registered name, or "module:Class".

    Args:
        folder: a folder that is searched for the module, in addition to the installed packages.

    Raises:
        ConfigError: there is no such engine, or it has no class `Config`.
    """
    plug_in = registry.find("engine", kind, folder)
    found = plug_in.load()
    config = getattr(found, "Config", None)
    if not (isinstance(config, type) and issubclass(config, EngineConfig)):
        raise ConfigError(
            f"{plug_in.words} has no class 'Config' derived from genbench.suite.engine.EngineConfig; add one"
        )
    return config


class ByKind:
    """Marks a field whose value is checked by the class that its own key `kind` names.

    The class is loaded when a value is checked, so that a suite's configuration imports no engine.

    Args:
        only: the kinds that the field takes. None means all.
    """

    def __init__(self, only: Sequence[str] | None = None) -> None:
        self._only = only

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        dump = core_schema.plain_serializer_function_ser_schema(_dumped, info_arg=True)
        return core_schema.with_info_plain_validator_function(self._checked, serialization=dump)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """List the keys of the built-in kinds for editors. Further kinds have keys of their own."""
        kinds = self._only or tuple(registry.BUILT_IN["engine"])
        known = [handler(config_class(kind).__pydantic_core_schema__) for kind in kinds]
        default = {"default": default_engine().model_dump(mode="json")}
        if self._only is not None:
            return {**default, "oneOf": known}
        other = {
            "type": "object",
            "description": "an engine of another package: kind is module:Class, or a name that it registers",
            "properties": {"kind": {"type": "string", "not": {"enum": list(kinds)}}},
            "required": ["kind"],
        }
        return {**default, "oneOf": [*known, other]}

    def _checked(self, value: Any, info: core_schema.ValidationInfo) -> EngineConfig:
        kind = value.get("kind", DEFAULT_KIND) if isinstance(value, dict) else DEFAULT_KIND
        kind = value.kind if isinstance(value, EngineConfig) else str(kind)
        if self._only is not None and kind not in self._only:
            raise _kind_error(kind, f"wanted {' or '.join(self._only)}, found '{kind}'")
        context = info.context or {}
        if isinstance(value, EngineConfig):
            return value
        if self._only is None and context.get("stored"):
            return StoredEngineConfig.model_validate(
                {"kind": kind} | value if isinstance(value, dict) else value
            )
        try:
            found = config_class(kind, context.get("folder"))
        except ConfigError as error:
            raise _kind_error(kind, str(error)) from error
        return found.model_validate(value)


def default_engine() -> EngineConfig:
    """Return the engine of a suite that names none."""
    return config_class(DEFAULT_KIND).model_validate({"kind": DEFAULT_KIND})


def _kind_error(kind: str, why: str) -> ValidationError:
    """Return an error at the key `kind`, with braces of the text kept as they are."""
    error = PydanticCustomError(KIND_ERROR, "{why}", {"why": why})
    return ValidationError.from_exception_data(
        "engine", [InitErrorDetails(type=error, loc=("kind",), input=kind)]
    )


def _dumped(value: EngineConfig, info: core_schema.SerializationInfo) -> dict[str, Any]:
    return value.model_dump(
        mode=info.mode,
        exclude_unset=info.exclude_unset,
        exclude_defaults=info.exclude_defaults,
        exclude_none=info.exclude_none,
    )
