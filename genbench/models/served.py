"""A suite's model behind servers made ready: who answers, with which prompts, under which terms."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from genbench.engines.checkpoint import Checkpoint, context_length, find
from genbench.engines.http import address
from genbench.engines.http_server import HttpServer, Transient
from genbench.engines.settings import HttpSettings
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.models import traceformats
from genbench.models.prepared import (
    PreparedModel,
    Reasoning,
    added_tokens,
    decoding_terms,
    end_tokens,
    task_renderers,
    template,
    trace_format,
    with_stop,
)
from genbench.models.prompts import Renderer, fit
from genbench.models.requests import RequestMaker
from genbench.models.tokencount import TokenCounter
from genbench.suite.config import Decoding, HttpEngineConfig, ServedModel
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import Message

_LISTEN_S = 20.0
_NOT_OPENAI = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "min_tokens",
    "stop_token_ids",
    "ignore_eos",
    "thinking_token_budget",
)
"""Decoding keys that OpenAI's API has no field for."""
_OPENAI_STOPS = 4


def prepare_served(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], engine: HttpEngineConfig
) -> PreparedModel:
    """Asks the model's servers who they are, and fixes its terms; draws nothing.

    Raises:
        EngineError: no server answers. ConfigError: they serve another model, or differ among
            themselves; or the decoding has what OpenAI's API does not take.
        DataError, PromptError: what is wrong with the model's tokenizer.
    """
    for task in tasks:
        _check_decoding(suite, task, engine)
    settings, silent = _settings(suite, name, tasks, engine)
    whole = _by_chat if engine.prompts == "chat" else _by_token_ids
    model = whole(suite, name, tasks, settings)
    return replace(model, warnings=(*model.warnings, *silent))


def _check_decoding(suite: Suite, task: LoadedTask, engine: HttpEngineConfig) -> None:
    if engine.api != "openai":
        return
    where = f"{suite.where('decoding')}: task {task.name}: decoding"
    for key in _NOT_OPENAI:
        found = getattr(task.decoding, key)
        if found != Decoding.model_fields[key].default:
            raise ConfigError(
                f"{where}.{key} is {found!r}, but OpenAI's API has no such field: leave it out, or say "
                "engine.api: vllm where the servers take it"
            )
    if len(task.decoding.stop) > _OPENAI_STOPS:
        raise ConfigError(
            f"{where}.stop: OpenAI's API takes {_OPENAI_STOPS}, found {len(task.decoding.stop)}"
        )


def _settings(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], engine: HttpEngineConfig
) -> tuple[HttpSettings, list[str]]:
    """What the servers will be asked with, and a warning for each that does not answer now."""
    config = suite.config.models[name]
    own = config.server or ServedModel()
    settings = HttpSettings(
        base_urls=own.base_urls or engine.base_urls or (),
        model=own.model or engine.model or config.path,
        api=engine.api,
        prompts=engine.prompts,
        api_key_env=engine.api_key_env,
        concurrency=engine.concurrency,
        timeout_s=engine.timeout_s,
        retries=engine.retries,
        outage_s=engine.outage_s,
        max_model_len=engine.max_model_len,
        decodings={task.name: task.decoding for task in tasks},
        told={},
        chat_template_kwargs=config.chat_template_kwargs,
    )
    with ThreadPoolExecutor(max_workers=1) as pool:  # a notebook has a loop of its own
        told, silent = pool.submit(asyncio.run, _ask_all(settings)).result()
    return replace(settings, told=told), silent


async def _ask_all(settings: HttpSettings) -> tuple[dict[str, Any], list[str]]:
    members = list(settings.members.values())
    answers = await asyncio.gather(*(_ask(member) for member in members))
    told = {
        url: found for url, (found, _) in zip(settings.members, answers, strict=True) if found is not None
    }
    if not told:
        raise EngineError(
            "\n".join(f"{address(member)}: {why}" for member, (_, why) in zip(members, answers, strict=True))
            + "\nno server of the model answers; start one, or mend engine.base_urls"
        )
    first, *others = told.items()
    for url, found in others:
        for key in first[1].keys() | found.keys():
            if found.get(key) != first[1].get(key):
                raise ConfigError(
                    f"the servers of one model differ in {key}: {first[0]} says {first[1].get(key)!r}, "
                    f"{url} {found.get(key)!r}; samples of one run must come from one"
                )
    silent = [
        f"{address(member)} does not answer now ({why}); the others draw its share until it does"
        for member, (found, why) in zip(members, answers, strict=True)
        if found is None
    ]
    return dict(first[1]), silent


async def _ask(member: HttpSettings) -> tuple[dict[str, Any] | None, str]:
    server = HttpServer(address(member))
    server.open()
    try:
        return await server.served(_LISTEN_S), ""
    except (Transient, RequestFailedError) as error:
        return None, str(error)
    finally:
        await server.close()


def _by_token_ids(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], settings: HttpSettings
) -> PreparedModel:
    """Prompts are rendered here, with the tokenizer of the model's path; its weights need not be here."""
    config = suite.config.models[name]
    checkpoint = find(config.path, config.revision, suite.folder, weights=False)
    source = find(config.tokenizer, None, suite.folder, weights=False) if config.tokenizer else checkpoint
    load_tokenizer = importlib.import_module("genbench.engines.tokenizer").load_tokenizer
    tokenizer = load_tokenizer(str(source.path), None, config.trust_remote_code)
    chat_template = template(config, suite.folder) or getattr(tokenizer, "chat_template", None)
    fmt = trace_format(suite, chat_template, added_tokens(tokenizer))
    rendering = task_renderers(config, tasks, tokenizer, chat_template, fmt)
    context = _context(settings, checkpoint)
    settings = replace(
        settings,
        max_model_len=context,
        eos_token_id=getattr(tokenizer, "eos_token_id", None),
        decodings={task.name: with_stop(task.decoding, rendering[task.name].stop) for task in tasks},
    )

    def render(task: str, messages: tuple[Message, ...]) -> Any:
        return rendering[task].render(messages)

    return PreparedModel(
        name=name,
        config=config,
        identity=_identity(settings, checkpoint.identity),
        reasoning=Reasoning(fmt, end_tokens(tokenizer)),
        maker=RequestMaker(
            render, lambda prompt, wanted: fit(prompt, wanted, context), suite.config.decoding.seed
        ),
        terms=_terms(suite, name, settings),
        settings=settings,
        count=TokenCounter(tokenizer),
    )


def _context(settings: HttpSettings, checkpoint: Checkpoint) -> int:
    served = settings.told.get("max_model_len")
    wanted, own = settings.max_model_len, context_length(checkpoint.config)
    if served is not None and wanted is not None and wanted > served:
        raise ConfigError(f"engine.max_model_len is {wanted}, but the servers say {served}")
    context = wanted or served or own
    if context is None:
        raise ConfigError(
            f"neither the servers nor {checkpoint.path} state a context; set engine.max_model_len"
        )
    return int(context)


def _by_chat(suite: Suite, name: str, tasks: Sequence[LoadedTask], settings: HttpSettings) -> PreparedModel:
    """The server renders; nothing of the model is opened here, so no prompt can be measured."""
    config, wanted = suite.config.models[name], suite.config.reasoning
    fmt = traceformats.FORMATS["think"] if wanted == "auto" else trace_format(suite, None, ())
    served = settings.max_model_len or settings.told.get("max_model_len")
    for task in tasks:
        if served is not None and task.decoding.max_tokens >= served:
            raise ConfigError(
                f"task {task.name}: decoding.max_tokens is {task.decoding.max_tokens}, which leaves no "
                f"prompt in the servers' context of {served} tokens; lower it"
            )
    renderer = Renderer(None, system_prompt=config.system_prompt)
    settings = replace(settings, max_model_len=served, trace_tags=_tags(fmt))
    return PreparedModel(
        name=name,
        config=config,
        identity=_identity(settings, config.path + (f"@{config.revision}" if config.revision else "")),
        reasoning=Reasoning(fmt, ()),
        maker=RequestMaker(
            lambda task, messages: renderer.render(messages),
            lambda prompt, wanted: (wanted, False),
            suite.config.decoding.seed,
        ),
        terms=_terms(suite, name, settings) | {"chat_template_kwargs": dict(config.chat_template_kwargs)},
        settings=settings,
    )


def _tags(fmt: traceformats.TraceFormat) -> tuple[str, str]:
    return (fmt.opens[0], fmt.closes[0]) if fmt.opens and fmt.closes else ("", "")


def _identity(settings: HttpSettings, declared: str) -> str:
    """The served name, what the server says to have loaded under it, and what the suite says it is."""
    root = settings.told.get("root")
    loaded = f" from {root}" if root and root != settings.model else ""
    return f"served:{settings.model}{loaded}, declared {declared}"


def _terms(suite: Suite, name: str, settings: HttpSettings) -> dict[str, Any]:
    """What shapes the draws, as far as a server tells; what nothing proves stands under `declared`."""
    config, engine = suite.config.models[name], suite.config.engine
    if not isinstance(engine, HttpEngineConfig):
        raise AssertionError("asked for a model in process")
    said: Mapping[str, Any] = {"dtype": config.dtype} if "dtype" in config.model_fields_set else {}
    own = config.server.declared if config.server else {}
    return {
        "engine": {
            "name": "http",
            "api": settings.api,
            "prompts": settings.prompts,
            "version": settings.told.get("version"),
        },
        "declared": {**said, **engine.declared, **own},
        "eos_token_id": settings.eos_token_id,
        "skip_special_tokens": False if settings.api == "vllm" else None,
        "structured_outputs": None,
        "trust_remote_code": config.trust_remote_code,
        "decoding": {task: decoding_terms(decoding) for task, decoding in settings.decodings.items()},
    }
