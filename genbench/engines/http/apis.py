"""What each kind of server takes and says: its fields, their width, its words for the end of a reply and for
a refused prompt.

`APIS` is the only place that knows a server by its kind. A server that differs from its kind is described in
a suite (`engine.fields` …), which changes the row for that suite.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from genbench.suite.block import ApiName, RequestForm
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeServer
from genbench.types import FinishReason

NEUTRAL: Mapping[str, Any] = {
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "min_tokens": 0,
    "stop": [],
    "stop_token_ids": [],
    "ignore_eos": False,
    "thinking_token_budget": None,
}
"""The values that change nothing. A server that fills no field from elsewhere has them without being told."""

_OPENAI = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "stop")
"""Decoding keys that OpenAI's API has a field for. vLLM's has one for each of them."""
_SAME = {name: name for name in ("max_tokens", "seed")}


def _taken(*names: str, **renamed: str) -> dict[str, str]:
    """Return the fields that a server takes, by our names. Each also takes max_tokens and a seed."""
    return _SAME | {name: name for name in names} | renamed


@dataclass(frozen=True, slots=True)
class Api:
    """One kind of server: a row of `APIS`.

    Args:
        name: what it is called in messages.
        fields: our name of a field -> the server's. A field that is not here is never sent.
        always: fields that are sent with a neutral value too. The server would take another one from
            elsewhere, such as a checkpoint's generation_config.
        constant: sent with every request.
        values: by field, values that the server writes in another way.
        seed_bits: width of the largest seed. A seed keeps its low bits, which are as well mixed as all.
        most_stops: texts of `stop` that are taken at most. None: any number.
        parts: whether the content of a message is sent as a list of parts.
        greedy_alone: whether top_p must not be sent with temperature 0.
        messages_only: whether it has no /completions for token ids.
        keeps_tokens: sent for a model under test, so that its text comes back as it was drawn.
        pins_eos: whether the end token can be sent as a stop token instead of the server's own list.
        scores: whether it gives log-probabilities of given texts by token id.
        continued: sent if the last message is the beginning of the reply. None: it cannot be continued.
        template_kwargs: whether it takes `chat_template_kwargs`.
        constrains: the field that constrains the text. None: there is none.
        most_likely: first tokens that it names with their log-probabilities at most.
        key_header: the header with the key. `Authorization` has `Bearer` before it.
        lists_all: whether a model that /models does not list is not served.
        listed_as: what /models puts before the name of a model.
        context_keys: where /models states the context, in tokens.
        tokenize: the page, from the root, that counts the tokens of messages. None: there is none.
        chosen: what the server chooses by itself unless a field of the body says which.
        in_flight: requests in flight at first. A hosted API answers a larger burst with refusals.
    """

    name: str
    fields: Mapping[str, str]
    always: frozenset[str] = frozenset({"temperature", "top_p"})
    constant: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    seed_bits: int = 63
    most_stops: int | None = 4
    parts: bool = False
    greedy_alone: bool = False
    messages_only: bool = True
    keeps_tokens: Mapping[str, Any] = field(default_factory=dict)
    pins_eos: bool = False
    scores: bool = False
    continued: Mapping[str, Any] | None = None
    template_kwargs: bool = False
    constrains: str | None = None
    most_likely: int = 5
    key_header: str = "Authorization"
    lists_all: bool = True
    listed_as: str = ""
    context_keys: tuple[str, ...] = ("max_model_len",)
    tokenize: str | None = None
    chosen: tuple[str, ...] = ()
    in_flight: int = 64

    def asked_as(self, form: RequestForm) -> Api:
        """Return the row with what a suite says of its server."""
        named = {**self.fields, **{str(name): value for name, value in form.fields.items()}}
        fields = {name: value for name, value in named.items() if value != "none" and name != "content"}
        return replace(
            self,
            fields=fields,
            parts=form.fields.get("content", "parts" if self.parts else "text") == "parts",
            seed_bits=form.seed_bits or self.seed_bits,
            key_header=form.key_header or self.key_header,
        )

    def sampling(self, decoding: Decoding, max_tokens: int, seed: int) -> dict[str, Any]:
        """Return the fields of one request that say how its tokens are drawn."""
        wanted = {"max_tokens": max_tokens, "seed": seed & ((1 << self.seed_bits) - 1), **decoding.sampling}
        found: dict[str, Any] = {}
        for name, value in wanted.items():
            is_neutral = name in NEUTRAL and (value == NEUTRAL[name] and name not in self.always)
            is_idle = self.greedy_alone and name == "top_p" and decoding.temperature == 0
            if name in self.fields and value is not None and not (is_neutral or is_idle):
                ours, theirs = self.values.get(name, (None, None))
                found[self.fields[name]] = theirs if name in self.values and value == ours else value
        return {**self.constant, **found}

    def not_pinned(self, decodings: Iterable[Decoding], body: Mapping[str, Any]) -> list[str]:
        """Return what shapes a reply and cannot be said to this server, or is left to it, by our names.

        Args:
            body: the fields that the suite adds to each request.
        """
        left = {
            name
            for decoding in decodings
            for name, value in decoding.sampling.items()
            if name not in self.fields and value != NEUTRAL[name]
        }
        left |= {name for name in ("max_tokens", "seed") if name not in self.fields}
        return sorted(left | {name for name in self.chosen if name not in body})

    def refused_key(self, decoding: Decoding) -> str | None:
        """Return why the server cannot draw under a decoding that a suite sets, or None."""
        for name, value in decoding.sampling.items():
            is_set = name in decoding.model_fields_set
            if is_set and name not in self.fields and value != NEUTRAL[name]:
                return (
                    f"decoding.{name} is {getattr(decoding, name)!r}, but {self.name} has no such field: "
                    f"leave it out, or name the server's own: engine.fields: {{{name}: NAME}}"
                )
        if self.most_stops is not None and len(decoding.stop) > self.most_stops:
            return f"decoding.stop: {self.name} takes {self.most_stops}, found {len(decoding.stop)}"
        return None

    def content(self, text: str | None) -> Any:
        """Return the content of a message as the server takes it."""
        return [{"type": "text", "text": text}] if self.parts and text is not None else text


_PLAIN = {"n": 1, "stream": False}

APIS: Mapping[ApiName, Api] = {
    "vllm": Api(
        name="vLLM's API",
        fields=_taken(*NEUTRAL),
        always=frozenset(NEUTRAL),
        constant=_PLAIN,
        most_stops=None,
        messages_only=False,
        keeps_tokens={
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
            "include_stop_str_in_output": False,
            "add_special_tokens": False,
        },
        pins_eos=True,
        scores=True,
        continued={"add_generation_prompt": False, "continue_final_message": True},
        template_kwargs=True,
        constrains="structured_outputs",
        most_likely=20,
        tokenize="/tokenize",
        in_flight=256,
    ),
    # SGLang fills what is left out from generation_config (--sampling-defaults model), and refuses top_k 0:
    # -1 switches it off. With ignore_eos it obeys no stop token either. No width of its seed is stated.
    "sglang": Api(
        name="SGLang's API",
        fields=_taken(*(name for name in NEUTRAL if name != "thinking_token_budget")),
        always=frozenset(NEUTRAL),
        constant=_PLAIN,
        values={"top_k": (0, -1)},
        seed_bits=31,
        most_stops=None,
        messages_only=False,
        keeps_tokens={"skip_special_tokens": False},
        continued={"continue_final_message": True},
        template_kwargs=True,
        in_flight=256,
    ),
    "openai": Api(name="OpenAI's API", fields=_taken(*_OPENAI), constant=_PLAIN, messages_only=False),
    # o-series and gpt-5: max_tokens is refused, as is each value of temperature, top_p and the penalties but
    # the default; o3 and later refuse `stop` (OpenAI's reference of chat completions).
    "openai_reasoning": Api(
        name="the API of OpenAI's reasoning models",
        fields=_taken(max_tokens="max_completion_tokens"),
        always=frozenset(),
    ),
    # The key goes into a header of its own. The list of models is that of the region, not of deployments.
    "azure": Api(
        name="Azure's API",
        fields=_taken(*_OPENAI),
        key_header="api-key",
        lists_all=False,
    ),
    # "Unknown name "seed": Cannot find field", likewise for the penalties and n.
    "gemini": Api(
        name="Gemini's OpenAI-compatible API",
        fields={name: name for name in ("max_tokens", "temperature", "top_p", "stop")},
        listed_as="models/",
    ),
    # Every unknown field is refused with status 422, and top_p other than 1 if sampling is greedy. The seed
    # is called random_seed. No width is stated.
    "mistral": Api(
        name="Mistral's API",
        fields=_taken(*_OPENAI, seed="random_seed"),
        seed_bits=31,
        most_stops=None,
        greedy_alone=True,
        context_keys=("max_context_length",),
    ),
    # The request is handed to one of several providers, some of which read 32 bits of a seed.
    "openrouter": Api(
        name="OpenRouter's API",
        fields=_taken(*_OPENAI, "top_k", "min_p", "repetition_penalty"),
        seed_bits=31,
        context_keys=("context_length",),
        chosen=("provider",),
    ),
    # Its reference has no seed and no n. Up to 16 stops.
    "deepseek": Api(
        name="DeepSeek's API",
        fields={name: name for name in ("max_tokens", *_OPENAI)},
        most_stops=16,
    ),
}
"""The kinds of servers. Sources: the documents of each server as of November 2026, vLLM 0.32."""


def judge_api(server: JudgeServer) -> Api:
    """Return what the server of a judge or of a simulated user takes."""
    default: ApiName = "vllm" if server.structured == "vllm" else "openai"
    return APIS[server.api or default].asked_as(server)


FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
}
"""What servers call the end of a completion, in small letters. Gemini's address passes its own words on. Any
other word, such as `abort`, is not a whole reply."""


def finish_of(word: str) -> FinishReason | None:
    """Return what a server's word for the end of a completion means, or None if it is not a whole reply."""
    return FINISH.get(word.partition(":")[0].strip().lower())  # Gemini: "content_filter: RECITATION"


Refusal = Literal["content_filter", "length"]
"""Why a prompt is refused: by a filter of what it says, or because it is too long for the context."""

_REFUSALS: Mapping[Refusal, tuple[str, ...]] = {
    "content_filter": (
        "content_filter",  # OpenAI, Azure: the code of the error
        "responsibleaipolicyviolation",  # Azure: the code of the inner error
        "content management policy",  # Azure
        "flagged as potentially violating",  # OpenAI's reasoning models
        "flagged_input",  # OpenRouter, with status 403
        "requires moderation",  # OpenRouter, with status 403
        "content exists risk",  # DeepSeek
        "prohibited_content",  # Gemini
    ),
    "length": (
        "context_length_exceeded",  # OpenAI, Azure: the code of the error
        "maximum context length",  # OpenAI, vLLM, DeepSeek, Mistral, OpenRouter
        "context length is only",  # vLLM
        "longer than the model's context length",  # SGLang
        "longer than the maximum model length",  # vLLM
        "exceeds the maximum number of tokens allowed",  # Gemini
    ),
}
"""Words of servers that refuse one prompt, in small letters, and who says them."""
REFUSING = frozenset({400, 403, 413, 422})
"""Statuses that a refused prompt may have."""


@dataclass(frozen=True, slots=True)
class ServerWords:
    """What a server says of an error.

    Args:
        text: its message, or the whole body if it has none.
        codes: the codes and types next to it, with blanks between them.
        status: the status that it gives inside the reply.
    """

    text: str
    codes: str = ""
    status: int | None = None

    @property
    def refusal(self) -> Refusal | None:
        """Return why the server refuses the prompt, or None if it is another error."""
        said = f"{self.text} {self.codes}".lower()
        return next((why for why, words in _REFUSALS.items() if any(word in said for word in words)), None)

    @classmethod
    def of(cls, body: bytes) -> ServerWords:
        """Return the words of the body of an error."""
        raw = cls(body[:_MOST_SAID].decode(errors="replace"))
        try:
            record = json.loads(body)
        except (ValueError, RecursionError):
            return raw
        return cls.of_record(record[0] if isinstance(record, list) and record else record) or raw  # Gemini

    @classmethod
    def of_record(cls, record: Any) -> ServerWords | None:
        """Return the error that a reply contains, or None if it has none."""
        if not isinstance(record, dict):
            return None
        error = record if record.get("object") == "error" else record.get("error")  # Mistral, SGLang
        if not isinstance(error, dict):
            return cls(str(error)) if error else None
        text = next((error[key] for key in ("message", "detail", "reason") if error.get(key)), error)
        code = error.get("code")
        inner, metadata = error.get("innererror"), error.get("metadata")  # Azure, OpenRouter
        raw = metadata.get("raw") if isinstance(metadata, dict) else None
        return cls(
            _shown(text) + (f" ({_shown(raw)})" if raw else ""),
            _shown([code, error.get("type"), error.get("status"), inner, metadata]),
            code if type(code) is int and 400 <= code < 600 else None,
        )


_MOST_SAID = 2_000


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:_MOST_SAID]
