"""Stand-ins of servers: each takes and refuses what its documents say, in its own words."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.loopback import QuietHandler, send

Body = dict[str, Any]
Refused = tuple[int, Any]
"""Status and body of an error."""
KEY = "sk-stand-in"
_CHAT = frozenset({"model", "messages"})
_OPENAI = _CHAT | {"n", "stream", "max_tokens", "seed", "temperature", "top_p", "stop"}
_OPENAI |= {"presence_penalty", "frequency_penalty"}


def openai_error(message: str, code: str | None, **more: Any) -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, **more}}


def _reasoning(body: Body) -> Refused | None:
    for name, default in (
        ("temperature", 1),
        ("top_p", 1),
        ("presence_penalty", 0),
        ("frequency_penalty", 0),
    ):
        if body.get(name, default) != default:
            said = (
                f"Unsupported value: '{name}' does not support {body[name]} with this model. Only the default"
            )
            return 400, openai_error(f"{said} ({default}) value is supported.", "unsupported_value")
    for name, instead in (("max_tokens", " Use 'max_completion_tokens' instead."), ("stop", "")):
        if name in body:
            said = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
            return 400, openai_error(said, "unsupported_parameter")
    return None


def _azure(body: Body) -> Refused | None:
    if body.get("stop") == []:
        return 400, openai_error("[] is too short - 'stop'", None)
    return None


def _mistral(body: Body) -> Refused | None:
    if body.get("temperature") == 0 and body.get("top_p", 1) != 1:
        said = "Invalid sampling parameter: top_p must be set to 1 when using greedy sampling."
        return 400, {"object": "error", "message": said, "type": "invalid_request_error", "code": "3051"}
    return None


def _sglang(body: Body) -> Refused | None:
    if body.get("top_k", -1) == 0:
        said = "top_k must be -1 (disable) or at least 1, got 0."
        return 400, {"object": "error", "message": said, "type": "BadRequestError", "code": 400}
    return None


def _unknown_to_openai(name: str) -> Refused:
    return 400, openai_error(f"Unrecognized request argument supplied: {name}", None)


def _unknown_to_gemini(name: str) -> Refused:
    said = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    return 400, [{"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}]


def _unknown_to_mistral(name: str) -> Refused:
    detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]
    return 422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}


def _thought(text: str) -> Body:
    thought = [{"type": "text", "text": "Let me think. \\boxed{0}"}]
    return {"content": [{"type": "thinking", "thinking": thought}, {"type": "text", "text": text}]}


@dataclass(frozen=True)
class StandIn:
    """What one kind of server takes, and what it says.

    `too_long` and `filtered` are how it refuses such prompts; None: it has no filter.
    """

    takes: frozenset[str]
    unknown: Callable[[str], Refused]
    too_long: Refused
    filtered: Refused | Body | None = None
    check: Callable[[Body], Refused | None] = lambda body: None
    key_header: str = "Authorization"
    query: str = ""
    largest_seed: tuple[str, int] = ("seed", 2**63 - 1)
    lists: Callable[[str], Any] | None = lambda model: {"data": [{"id": model, "object": "model"}]}
    message: Callable[[str], Body] = lambda text: {"content": text}
    limit: str = "max_tokens"
    reasons: int = 0
    """Tokens that it writes before its answer."""
    counts: bool = False
    finish: str = "stop"


_LONG = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."
_FILTER = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
_SGLANG_LONG = "The input (9000 tokens) is longer than the model's context length (4096 tokens)."
_GEMINI_LONG = "The input token count (9000) exceeds the maximum number of tokens allowed (4096)."
_MISTRAL_LONG = "Prompt contains 9000 tokens, too large for model with 4096 maximum context length"
_VLLM = _OPENAI | {"top_k", "min_p", "repetition_penalty", "min_tokens", "stop_token_ids", "ignore_eos"}
_VLLM |= {"skip_special_tokens", "chat_template_kwargs"}


def _context_4096(model: str) -> Any:
    return {"data": [{"id": model, "root": model, "max_model_len": 4096}]}


STAND_INS: Mapping[str, StandIn] = {
    "openai_reasoning": StandIn(
        takes=_OPENAI | {"max_completion_tokens", "reasoning_effort"},
        unknown=_unknown_to_openai,
        too_long=(400, openai_error(_LONG, "context_length_exceeded")),
        filtered=(
            400,
            openai_error(
                "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                "invalid_prompt",
            ),
        ),
        check=_reasoning,
        limit="max_completion_tokens",
        reasons=100,
    ),
    "azure": StandIn(
        takes=_OPENAI,
        unknown=_unknown_to_openai,
        too_long=(400, openai_error(_LONG, "context_length_exceeded")),
        filtered=(
            400,
            openai_error(_FILTER, "content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}),
        ),
        check=_azure,
        key_header="api-key",
        query="api-version=2024-10-21",
        lists=None,
    ),
    "gemini": StandIn(
        takes=_CHAT | {"max_tokens", "temperature", "top_p", "stop", "stream"},
        unknown=_unknown_to_gemini,
        too_long=(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": _GEMINI_LONG,
                    }
                }
            ],
        ),
        filtered={"finish_reason": "PROHIBITED_CONTENT", "message": {"role": "assistant"}},
        lists=lambda model: {"data": [{"id": f"models/{model}"}, {"id": "models/other"}]},
    ),
    "mistral": StandIn(
        takes=(_OPENAI | {"random_seed"}) - {"seed"},
        unknown=_unknown_to_mistral,
        too_long=(
            400,
            {
                "object": "error",
                "message": _MISTRAL_LONG,
                "type": "invalid_request_error",
                "code": "3051",
            },
        ),
        check=_mistral,
        largest_seed=("random_seed", 2**31 - 1),
        lists=lambda model: {"data": [{"id": model, "max_context_length": 40960}]},
        message=_thought,
    ),
    "openrouter": StandIn(
        takes=_OPENAI | {"top_k", "min_p", "repetition_penalty", "provider"},
        unknown=_unknown_to_openai,
        too_long=(
            400,
            {"error": {"code": 400, "message": "This endpoint's maximum context length is 4096 tokens."}},
        ),
        filtered=(
            200,
            {
                "error": {
                    "code": 403,
                    "message": 'm requires moderation on Provider. Your input was flagged for "violence".',
                    "metadata": {"reasons": ["violence"], "flagged_input": "What is"},
                }
            },
        ),
        largest_seed=("seed", 2**31 - 1),
        lists=lambda model: {"data": [{"id": model, "context_length": 40960}]},
        message=lambda text: {"content": text, "reasoning": "Let me think."},
    ),
    "deepseek": StandIn(
        takes=_OPENAI - {"n", "seed"},
        unknown=_unknown_to_openai,
        too_long=(400, openai_error(_LONG, "invalid_request_error")),
        filtered=(400, openai_error("Content Exists Risk", "invalid_request_error")),
        message=lambda text: {"content": text, "reasoning_content": "Let me think."},
    ),
    "vllm": StandIn(
        takes=_VLLM
        | {"spaces_between_special_tokens", "include_stop_str_in_output", "add_special_tokens"}
        | {"structured_outputs"},
        unknown=_unknown_to_openai,
        too_long=(400, openai_error(_LONG, None)),
        lists=_context_4096,
        counts=True,
    ),
    "sglang": StandIn(
        takes=_VLLM,
        unknown=_unknown_to_openai,
        too_long=(400, {"object": "error", "message": _SGLANG_LONG, "type": "BadRequestError", "code": 400}),
        check=_sglang,
        largest_seed=("seed", 2**31 - 1),
        lists=_context_4096,
        message=lambda text: {"content": text, "reasoning_content": None},
    ),
}


@dataclass
class Running:
    """A stand-in at work. Prompts with FILTERED or LONG are refused. `requests` are those that were taken."""

    what: StandIn
    path: str
    model: str
    replies_as: str
    requests: list[Body] = field(default_factory=list)
    refused: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        owner = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:  # noqa: N802  http.server's own name
                parts = urlsplit(self.path)
                lists = owner.what.lists
                if parts.path == f"{owner.path}/models" and lists is not None and owner.has_key(self.headers):
                    send(self, 200, lists(owner.model))
                else:
                    send(self, 404, {"error": {"code": "404", "message": "Resource not found"}})

            def do_POST(self) -> None:  # noqa: N802  http.server's own name
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, record = owner.answer(urlsplit(self.path), self.headers, body)
                send(self, status, record)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def has_key(self, headers: Any) -> bool:
        name = self.what.key_header
        return bool(headers.get(name) == (f"Bearer {KEY}" if name == "Authorization" else KEY))

    def answer(self, url: Any, headers: Any, body: Body) -> Refused:
        text = json.dumps(body["messages"])
        if self.what.counts and url.path == "/tokenize":
            return 200, {"count": 9000 if "LONG" in text else 20, "max_model_len": 4096}
        if url.path != f"{self.path}/chat/completions" or url.query != self.what.query:
            return 404, openai_error(f"no such page: {url.path}?{url.query}", None)
        if not self.has_key(headers):
            return 401, openai_error("Incorrect API key provided.", "invalid_api_key")
        refused = self._refusal(body, text)
        if refused is not None:
            self.refused.append(refused)
            return refused
        return self._written(body, text)

    def _written(self, body: Body, text: str) -> Refused:
        self.requests.append(body)
        if "FILTERED" in text and isinstance(self.what.filtered, dict):
            return self._whole(self.what.filtered)
        limit = body.get(self.what.limit, 1 << 20)
        if limit <= self.what.reasons:
            return self._whole({"message": {"content": ""}, "finish_reason": "length"})
        return self._whole({"message": self.what.message(_reply(text)), "finish_reason": "stop"})

    def _refusal(self, body: Body, text: str) -> Refused | None:
        for name in body:
            if name not in self.what.takes:
                return self.what.unknown(name)
        seed, largest = self.what.largest_seed
        if body.get(seed, 0) > largest:
            return 400, openai_error(f"Invalid value for '{seed}': at most {largest}", None)
        if "LONG" in text:
            return self.what.too_long
        if "FILTERED" in text and isinstance(self.what.filtered, tuple):
            return self.what.filtered
        return self.what.check(body)

    def _whole(self, choice: Body) -> Refused:
        usage = {"prompt_tokens": 20, "completion_tokens": 5}
        return 200, {"model": self.replies_as, "choices": [{"index": 0, **choice}], "usage": usage}

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def _reply(asked: str) -> str:
    """Return the sum that is asked for, or a judge's verdict."""
    found = re.search(r"What is (\d+) \+ (\d+)\?\"", asked)
    return f"\\boxed{{{int(found[1]) + int(found[2])}}}" if found else "EQUAL"
