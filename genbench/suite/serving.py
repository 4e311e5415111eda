"""Whether a suite's models go with its engine: where each is served, and what a server decides instead."""

from __future__ import annotations

from genbench.suite.config import HttpEngineConfig, ModelConfig, ServedModel, SuiteConfig


def served_mistake(name: str, config: SuiteConfig) -> tuple[tuple[str, ...], str] | None:
    """Where and why a model does not go with the suite's engine; None: it does."""
    model, engine, here = config.models[name], config.engine, ("models", name)
    if not isinstance(engine, HttpEngineConfig):
        return ((*here, "server"), "needs engine: {kind: http}") if model.server is not None else None
    if not ((model.server and model.server.base_urls) or engine.base_urls):
        return here, f"no server: set engine.base_urls or models.{name}.server.base_urls"
    same = [
        other for other in config.models if other != name and _place(other, config) == _place(name, config)
    ]
    if same:
        return here, f"the same model at the same servers as {same[0]}; set models.{name}.server.model"
    if model.adapter is not None:
        why = f"a server has its adapters loaded; name it with models.{name}.server.model"
        return (*here, "adapter"), why
    if engine.prompts == "chat":
        return _chat_mistake(model, engine, here)
    return None


def _place(name: str, config: SuiteConfig) -> tuple[object, ...]:
    """At which servers a model is, and under which name."""
    model, engine = config.models[name], config.engine
    own = model.server or ServedModel()
    if not isinstance(engine, HttpEngineConfig):
        raise AssertionError("asked for a model in process")
    return own.base_urls or engine.base_urls, own.model or engine.model or model.path


def _chat_mistake(
    model: ModelConfig, engine: HttpEngineConfig, here: tuple[str, ...]
) -> tuple[tuple[str, ...], str] | None:
    """The server renders a chat: what would render it here must not be believed to do so."""
    for key in ("prompt_style", "chat_template", "tokenizer"):
        if getattr(model, key) != ModelConfig.model_fields[key].default:
            return (*here, key), "with engine.prompts chat the server renders prompts; use token_ids"
    if engine.api == "openai" and model.chat_template_kwargs:
        return (*here, "chat_template_kwargs"), "OpenAI's API has no such field"
    return None
