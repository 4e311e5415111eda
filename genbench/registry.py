"""Names of plug-ins to "module:attr"; the only dynamic import."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from genbench.errors import ConfigError, nearest

TASKS: dict[str, str] = {
    "aime24": "genbench.tasks.aime:aime24",
    "aime25": "genbench.tasks.aime:aime25",
    "math500": "genbench.tasks.math500:math500",
    "gsm8k": "genbench.tasks.gsm8k:gsm8k",
    "gpqa_diamond": "genbench.tasks.gpqa:gpqa_diamond",
    "ifeval": "genbench.tasks.ifeval:ifeval",
    "ifbench": "genbench.tasks.ifbench:ifbench",
    "multi_if": "genbench.tasks.multi_if:multi_if",
    "livecodebench": "genbench.tasks.livecodebench:livecodebench",
    "humaneval": "genbench.tasks.humaneval:humaneval",
    "humaneval_plus": "genbench.tasks.humaneval:humaneval_plus",
    "mbpp": "genbench.tasks.mbpp:mbpp",
    "mbpp_plus": "genbench.tasks.mbpp:mbpp_plus",
    "simpleqa": "genbench.tasks.simpleqa:simpleqa",
    "mixeval_hard_free_form": "genbench.tasks.mixeval:mixeval_hard_free_form",
    "arena_hard": "genbench.tasks.arena:arena_hard",
    "alpaca_eval": "genbench.tasks.arena:alpaca_eval",
}
KINDS: dict[str, str] = {
    "math": "genbench.tasks.custom:custom_task",
    "choice": "genbench.tasks.custom:custom_task",
    "exact": "genbench.tasks.custom:custom_task",
    "ifeval": "genbench.tasks.custom:custom_task",
    "ifbench": "genbench.tasks.custom:custom_task",
    "json_schema": "genbench.tasks.custom:custom_task",
    "code": "genbench.tasks.custom:custom_task",
    "judge": "genbench.tasks.custom:custom_task",
}
VERIFIERS: dict[str, str] = {
    "math": "genbench.verifiers.math:MathVerifier",
    "choice": "genbench.verifiers.choice:ChoiceVerifier",
    "exact": "genbench.verifiers.exact:ExactVerifier",
    "ifeval": "genbench.verifiers.ifeval:ConstraintVerifier",
    "ifbench": "genbench.verifiers.ifeval:IFBenchVerifier",
    "json_schema": "genbench.verifiers.json_schema:JsonSchemaVerifier",
    "code": "genbench.verifiers.code:CodeVerifier",
}
ENGINES: dict[str, str] = {
    "vllm": "genbench.engines.vllm:VllmEngine",
    "http": "genbench.engines.http:HttpEngine",
}


def load(table: dict[str, str], name: str, what: str) -> Any:
    """The object behind `name`.

    Raises:
        ConfigError: the name is neither in `table` nor of the form "module:attr".
    """
    target = table.get(name, name if ":" in name else None)
    if target is None:
        raise ConfigError(f"unknown {what} '{name}'{nearest(name, table)}")
    module, _, attr = target.partition(":")
    return getattr(import_module(module), attr)
