"""Treatments: what may differ between a model and a variant of it that are compared on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from genbench.errors import ConfigError, nearest


@dataclass(frozen=True, slots=True)
class Treatment:
    """What a treatment may change. Everything else must be equal, and is proven so.

    Args:
        terms: the names of the terms that may differ, or their first parts.
        weights: whether the weights may differ.
        unstated: whether a term may differ that one side does not state, because a server does not tell it.
        asked: whether prompts and limits may differ, as far as an effort shapes them.
    """

    terms: tuple[str, ...]
    weights: bool = False
    unstated: bool = False
    asked: bool = False


TREATMENTS: Mapping[str, Treatment] = MappingProxyType(
    {
        "quantization": Treatment(("arguments.quantization", "declared.quantization"), weights=True),
        "kv_cache": Treatment(("arguments.kv_cache_dtype", "declared.kv_cache_dtype")),
        "dtype": Treatment(("dtype", "declared.dtype")),
        "speculation": Treatment(("arguments.speculative_config", "declared.speculative_config")),
        "lora": Treatment(("adapter", "declared.adapter"), weights=True),
        "engine": Treatment(("engine", "batch_invariant")),
        "server": Treatment(("engine", "declared"), unstated=True),
        "effort": Treatment((), asked=True),
    }
)
"""The treatments by name. A new one is a row here."""


def check_treatments(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of treatments, each of them once.

    Raises:
        ConfigError: there is no such treatment.
    """
    for name in names:
        if name not in TREATMENTS:
            raise ConfigError(
                f"treatment '{name}': unknown{nearest(name, TREATMENTS)}; one of {', '.join(TREATMENTS)}"
            )
    return tuple(dict.fromkeys(names))


def _listed(value: Any) -> Any:
    """Return one name as a list of one name, and refuse unknown names."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return names
    try:
        return check_treatments(names)
    except ConfigError as error:
        raise ValueError(str(error).partition(": ")[2]) from None


def _name_or_list(schema: dict[str, Any]) -> None:
    """Let editors accept one name as well as a list."""
    name = {"type": "string", "enum": list(TREATMENTS)}
    del schema["type"], schema["items"]
    schema["anyOf"] = [name, {"type": "array", "items": name}]


TreatmentNames = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(json_schema_extra=_name_or_list)]
"""The type of the key `treatment` of a suite: one name or a list."""
