"""The engine kind `http`: models behind OpenAI-compatible servers, and what the servers are asked with."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import Field, model_validator

from genbench.engines.checkpoint import DECLARED, context_length, find, vocabulary_size
from genbench.engines.http.apis import APIS, Api
from genbench.engines.http.server import HttpServer, ServerAddress, Transient
from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.protocols import Engine
from genbench.suite.block import ApiKeyEnv, ApiName, RequestForm
from genbench.suite.config import Decoding, ModelConfig, ServedModel
from genbench.suite.effort import siblings
from genbench.suite.engine import EngineConfig, SuiteMistake
from genbench.types import Message

_MOST_IN_FLIGHT = 4096
"""As many as eight GPUs with 512 slots each compute at a time behind one address."""


_LISTEN_S = 20.0


class HttpConfig(ServedModel, RequestForm, EngineConfig):
    """OpenAI-compatible servers of the models under test."""

    kind: Literal["http"] = "http"
    api: ApiName = Field(
        "vllm", description="kind of the servers, which says what fields they take and by what names"
    )
    prompts: Literal["token_ids", "chat"] = Field(
        "token_ids",
        description="whether prompts are token ids for /completions or messages for /chat/completions, "
        "which is the default for servers that take nothing else",
    )
    api_key_env: ApiKeyEnv | None = None
    concurrency: int | None = Field(
        None,
        ge=1,
        description="number of requests in flight at each server; default: grows while that makes it faster",
    )
    timeout_s: float = Field(1800.0, gt=0, description="seconds for one whole reply")
    weights: str | None = Field(
        None,
        pattern=r"^/.+:[^:/]+$",
        description="where a server whose weights change says which it has, as PATH:FIELD, such as "
        "/get_model_info:weight_version; no reply of two versions is counted",
    )
    retries: int = Field(6, ge=0, description="retries of one request at one server before it is drawn later")
    outage_s: float = Field(
        600.0, gt=0, description="seconds after which a server that does not answer is given up"
    )
    max_model_len: int | None = Field(
        None, ge=16, description="context in tokens; default: what the servers or the model state"
    )

    @model_validator(mode="before")
    @classmethod
    def _asked_as_it_takes(cls, given: Any) -> Any:
        """Set `prompts: chat` for a server that takes only messages."""
        named = given.get("api") if isinstance(given, dict) else None
        api = next((row for name, row in APIS.items() if name == named), None)
        if api is None or not api.messages_only:
            return given
        if given.get("prompts", "chat") != "chat":
            raise ValueError(f"prompts: {api.name} takes messages only; write chat, or leave it out")
        return {**given, "prompts": "chat"}

    @property
    def asked_as(self) -> Api:
        """Return what the servers take: the row of their kind, with what is said of them here."""
        return APIS[self.api].asked_as(self)

    def fields_of_request(self, switches: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the switches that servers take next to the messages, if they render the prompts.

        All of them know `reasoning_effort`. vLLM's hands it to the template, or to gpt-oss's own encoder.
        """
        if self.prompts != "chat":
            return ()
        takes_variables = self.asked_as.template_kwargs
        return tuple(name for name in switches if name == "reasoning_effort" or not takes_variables)

    def check_model(self, name: str, models: Mapping[str, ModelConfig]) -> None:
        """Refuse a model that has no server, is served twice, or is rendered by the server against the suite.

        Raises:
            SuiteMistake: names the key and what to write instead.
        """
        model, here = models[name], ("models", name)
        if not ((model.server and model.server.base_urls) or self.base_urls):
            why = f"no server: set engine.base_urls or models.{name}.server.base_urls"
            raise _mistake(here, why)
        place = self._place(model)
        efforts = siblings(name, models).values()
        same = [
            other
            for other, served in models.items()
            if other != name and self._place(served) == place and served not in efforts
        ]
        if same:
            why = f"the same model at the same servers as {same[0]}; set models.{name}.server.model"
            raise _mistake(here, why)
        if model.adapter is not None:
            why = f"a server has its adapters loaded; name it with models.{name}.server.model"
            raise _mistake((*here, "adapter"), why)
        if self.prompts == "chat":
            self._check_chat(model, here)

    def _place(self, model: ModelConfig) -> tuple[object, ...]:
        """Return the servers of a model and its name there."""
        own = model.server or ServedModel()
        return own.base_urls or self.base_urls, own.model or self.model or model.path

    def _check_chat(self, model: ModelConfig, here: tuple[str, ...]) -> None:
        """Refuse keys that would render prompts here: the server renders a chat."""
        for key in ("prompt_style", "chat_template", "tokenizer"):
            if getattr(model, key) != ModelConfig.model_fields[key].default:
                why = "with engine.prompts chat the server renders prompts; use token_ids"
                raise _mistake((*here, key), why)
        api = self.asked_as
        if not api.template_kwargs and model.chat_template_kwargs:
            raise _mistake((*here, "chat_template_kwargs"), f"{api.name} has no such field")


def _mistake(loc: tuple[str, ...], why: str) -> SuiteMistake:
    return SuiteMistake(loc, f"{'.'.join(loc)}: {why}")


@dataclass(frozen=True, slots=True)
class HttpSettings(EngineSettings):
    """Everything that the servers of one model are asked with.

    Args:
        config: the suite's `engine:` block.
        base_urls: the servers. An engine has exactly one.
        model: its name at the servers.
        told: what the servers say of themselves (version, root, max_model_len). A server that says
            otherwise later is not asked.
        eos_token_id: sent as a stop token, so that no server adds the checkpoint's own. None if unknown.
        trace_tags: put around a trace that a server returns apart from the text.
        declared: facts that no server proves, as the suite states them. They are terms.
    """

    config: HttpConfig
    base_urls: tuple[str, ...]
    model: str
    decodings: Mapping[str, Decoding]
    told: Mapping[str, Any]
    eos_token_id: int | None = None
    trace_tags: tuple[str, str] = ("", "")
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    trust_remote_code: bool = False
    replies_as: str | None = None

    @property
    def api(self) -> Api:
        """Return what the servers take."""
        return self.config.asked_as

    @property
    def address(self) -> ServerAddress:
        """Return where the server of an engine is."""
        return ServerAddress(
            what="server",
            url_key="engine.base_urls",
            base_url=self.base_urls[0],
            model=self.model,
            api_key_env=self.config.api_key_env,
            concurrency=self.workers,
            timeout_s=self.config.timeout_s,
            retries=self.config.retries,
            api=self.api,
            form=self.config,
            replies_as=self.replies_as,
        )

    @property
    def no_loop_stop(self) -> str:
        """Return why a reply that repeats cannot be ended."""
        return "servers (engine.kind http) are asked for whole replies"

    @property
    def no_scores(self) -> str:
        """Return why the servers cannot score given texts. Only vLLM's API names the token of each number."""
        api, prompts = self.config.api, self.config.prompts
        if self.api.scores and prompts == "token_ids":
            return ""
        return (
            f"with api: {api} and prompts: {prompts} it gives no log-probabilities by token id; "
            "use engine.kind vllm, or http with api: vllm and prompts: token_ids"
        )

    @property
    def opening(self) -> str:
        """Return what starting the engines means, for people."""
        return f"asking {len(self.members)} server{'s' if len(self.members) > 1 else ''}"

    @property
    def workers(self) -> int:
        """Return how many requests one server gets at most at the same time."""
        return self.config.concurrency or _MOST_IN_FLIGHT

    @property
    def first_workers(self) -> int:
        """Return how many requests one server gets at first."""
        return min(self.workers, self.api.in_flight)

    @property
    def members(self) -> dict[str, HttpSettings]:
        """Return the settings of each server by its name."""
        return {f"server {url}": replace(self, base_urls=(url,)) for url in dict.fromkeys(self.base_urls)}

    @property
    def terms(self) -> dict[str, Any]:
        """Return what shapes the completions, as far as a server tells it."""
        api, prompts = self.config.api, self.config.prompts
        rendered = {"chat_template_kwargs": dict(self.chat_template_kwargs)} if prompts == "chat" else {}
        return {
            "engine": {
                "name": "http",
                "api": api,
                "prompts": prompts,
                "version": self.told.get("version"),
                **({} if self.config.weights is None else {"weights": self.config.weights}),
                **_said_of(self.config),
                **({"not_pinned": left} if (left := self.not_pinned) else {}),
            },
            "declared": dict(self.declared),
            "eos_token_id": self.eos_token_id,
            "skip_special_tokens": self.api.keeps_tokens.get("skip_special_tokens"),
            "structured_outputs": None,
            "trust_remote_code": self.trust_remote_code,
            **rendered,
        }

    @property
    def circumstances(self) -> dict[str, Any]:
        """Return what changes only rounding or speed."""
        return {
            "base_urls": list(self.base_urls),
            "served": dict(self.told),
            "max_model_len": self.max_model_len,
            "concurrency": self.config.concurrency or "grows",
            "timeout_s": self.config.timeout_s,
            "retries": self.config.retries,
            **({"headers": self.config.headers} if self.config.headers else {}),
        }

    @property
    def not_pinned(self) -> list[str]:
        """Return what shapes a reply and is left to the servers, since they cannot be told it."""
        return self.api.not_pinned(self.decodings.values(), self.config.body)

    def make(self) -> Engine:
        """Return a new engine for the first of `base_urls`."""
        from genbench.engines.http.engine import HttpEngine  # noqa: PLC0415  it imports this module

        return HttpEngine(self)


def _said_of(config: HttpConfig) -> dict[str, Any]:
    """Return the terms of what a suite says of its servers. What it does not say is not a term."""
    keys = ("fields", "seed_bits", "query", "body")
    return {key: value for key in keys if (value := getattr(config, key))}


class HttpKind(EngineKind):
    """The engine kind `http`."""

    Config = HttpConfig

    def __init__(self, config: HttpConfig) -> None:
        self._config = config

    def check(self) -> str:
        """Return which API the servers are asked by. They are asked when a model is found."""
        return f"http: OpenAI-compatible servers, {self._config.api} fields, {self._config.prompts} prompts"

    def find(self, model: ModelSource) -> ServedCheckpoint:
        """Ask the model's servers who they are.

        Raises:
            EngineError: no server answers.
            ConfigError: they serve another model, differ among themselves, do not take the decoding, or
                cannot score given texts and a task wants that.
            DataError: the tokenizer's files cannot be downloaded.
        """
        for task, decoding in model.decodings.items():
            _check_decoding(task, decoding, self._config)
        settings, silent = self._asked(model)
        if self._config.prompts == "chat":
            return _rendered_there(model, settings, silent)
        return _rendered_here(model, settings, silent)

    def _asked(self, model: ModelSource) -> tuple[HttpSettings, tuple[str, ...]]:
        """Return what the servers will be asked with, and a warning for each that does not answer now."""
        engine, config = self._config, model.config
        own = config.server or ServedModel()
        if own.body:
            engine = engine.model_copy(update={"body": {**engine.body, **own.body}})
        dtype = {"dtype": config.dtype} if "dtype" in config.model_fields_set else {}
        settings = HttpSettings(
            config=engine,
            base_urls=own.base_urls or engine.base_urls or (),
            model=own.model or engine.model or config.path,
            max_model_len=engine.max_model_len,
            decodings=model.decodings,
            told={},
            chat_template_kwargs=config.chat_template_kwargs,
            declared={**dtype, **engine.declared, **own.declared},
            trust_remote_code=config.trust_remote_code,
            replies_as=own.replies_as or engine.replies_as,
        )
        with ThreadPoolExecutor(max_workers=1) as pool:  # a notebook has a loop of its own
            told, silent = pool.submit(asyncio.run, _ask_all(settings, scores=model.scores)).result()
        return replace(settings, told=told), tuple(silent)


@dataclass(frozen=True, slots=True)
class ServedCheckpoint(FoundModel):
    """A model behind servers that have said what they serve."""

    served: HttpSettings
    silent: tuple[str, ...]

    @property
    def served_context(self) -> int | None:
        """Return the servers' context, if they count the tokens of what they render."""
        return self.served.max_model_len if self.served.api.tokenize is not None else None

    def count(self, messages: Sequence[Message]) -> int | None:
        """Return the tokens of a chat as a server renders it, or None if none of them tells."""
        with ThreadPoolExecutor(max_workers=1) as pool:  # a notebook has a loop of its own
            return pool.submit(asyncio.run, _count(self.served, messages)).result()

    def settings(self, prompts: PromptFacts) -> HttpSettings:
        """Return what the servers are asked with."""
        return replace(
            self.served,
            decodings={
                task: found if self._takes(found) else self.served.decodings[task]
                for task, found in prompts.decodings.items()
            },
            trace_tags=prompts.trace_tags,
            eos_token_id=prompts.eos_token_id,
        )

    def _takes(self, decoding: Decoding) -> bool:
        most = self.served.api.most_stops
        return most is None or len(decoding.stop) <= most

    def warnings(self, prompts: PromptFacts) -> tuple[str, ...]:
        """Name the servers that did not answer, and what cannot be said to those that do."""
        left = self.settings(prompts).not_pinned
        if not left:
            return self.silent
        api = self.served.api
        return (*self.silent, f"not pinned, since {api.name} cannot be told it: {', '.join(left)}")


async def _count(settings: HttpSettings, messages: Sequence[Message]) -> int | None:
    server = HttpServer(settings.address)
    server.open()
    try:
        return await server.count(
            [{"role": item.role, "content": item.content} for item in messages], settings.chat_template_kwargs
        )
    finally:
        await server.close()


def _check_decoding(task: str, decoding: Decoding, engine: HttpConfig) -> None:
    if why := engine.asked_as.refused_key(decoding):
        raise SuiteMistake(("decoding",), f"task {task}: {why}")


async def _ask_all(settings: HttpSettings, *, scores: bool) -> tuple[dict[str, Any], list[str]]:
    members = list(settings.members.values())
    answers = await asyncio.gather(*(_ask(member, scores=scores) for member in members))
    told = {
        member.base_urls[0]: found
        for member, (found, _) in zip(members, answers, strict=True)
        if found is not None
    }
    if not told:
        raise EngineError(
            "\n".join(f"{member.address}: {why}" for member, (_, why) in zip(members, answers, strict=True))
            + "\nno server of the model answers; start one, or mend engine.base_urls"
        )
    _check_alike({f"server {url}": found for url, found in told.items()})
    silent = [
        f"{member.address} does not answer now ({why}); the others draw its share until it does"
        for member, (found, why) in zip(members, answers, strict=True)
        if found is None
    ]
    return dict(next(iter(told.values()))), silent


def _check_alike(told: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse servers of one model that differ in what they say of themselves."""
    first, *others = told.items()
    for name, found in others:
        for key in first[1].keys() | found.keys():
            if found.get(key) != first[1].get(key):
                raise ConfigError(
                    f"the servers of one model differ in {key}: {first[0]} says {first[1].get(key)!r}, "
                    f"{name} {found.get(key)!r}; samples of one run must come from one"
                )


async def _ask(member: HttpSettings, *, scores: bool) -> tuple[dict[str, Any] | None, str]:
    from genbench.engines.http.engine import check_scores  # noqa: PLC0415  it imports this module

    server = HttpServer(member.address)
    server.open()
    try:
        told = await server.served(_LISTEN_S)
        if member.config.weights is not None:
            told["weights"] = await server.weights(member.config.weights)
        if scores and not member.no_scores:
            await check_scores(server, member, _LISTEN_S)
        return told, ""
    except (Transient, RequestFailedError) as error:
        return None, str(error)
    finally:
        await server.close()


def _rendered_here(model: ModelSource, settings: HttpSettings, silent: tuple[str, ...]) -> ServedCheckpoint:
    """Return a model whose prompts are rendered with the tokenizer of its path."""
    config, folder = model.config, model.folder
    checkpoint = find(config.path, config.revision, folder, weights=False)
    source = find(config.tokenizer, None, folder, weights=False) if config.tokenizer else checkpoint
    served, wanted = settings.told.get("max_model_len"), settings.max_model_len
    if served is not None and wanted is not None and wanted > served:
        raise ConfigError(f"engine.max_model_len is {wanted}, but the servers say {served}")
    context = wanted or served or context_length(checkpoint.config)
    if context is None:
        raise ConfigError(
            f"neither the servers nor {checkpoint.path} state a context; set engine.max_model_len"
        )
    settings = replace(settings, max_model_len=int(context))
    identity = _identity(settings, checkpoint.identity)
    size = vocabulary_size(checkpoint.config)
    return ServedCheckpoint(
        settings, silent, identity=identity, tokenizer=source.path, context=int(context), vocab_size=size
    )


def _rendered_there(model: ModelSource, settings: HttpSettings, silent: tuple[str, ...]) -> ServedCheckpoint:
    """Return a model whose server renders prompts. Nothing of it is opened here, so no prompt is measured."""
    config = model.config
    context = settings.max_model_len or settings.told.get("max_model_len")
    for task, decoding in model.decodings.items():
        if context is not None and decoding.max_tokens >= context:
            raise ConfigError(
                f"task {task}: decoding.max_tokens is {decoding.max_tokens}, which leaves no "
                f"prompt in the servers' context of {context} tokens; lower it"
            )
    settings = replace(settings, max_model_len=context)
    declared = config.path + (f"@{config.revision}" if config.revision else "")
    return ServedCheckpoint(settings, silent, identity=_identity(settings, declared))


def _identity(settings: HttpSettings, declared: str) -> str:
    """Return the served name, what the server says it loaded under it, and what the suite says it is."""
    root = settings.told.get("root")
    loaded = f" from {root}" if root and root != settings.model else ""
    loaded += f" as {settings.replies_as}" if settings.replies_as else ""
    served = f"served:{settings.model}{loaded}, declared {declared}"
    version = settings.told.get("weights")
    return served if version is None else f"{DECLARED}weights {version} of {served}"
