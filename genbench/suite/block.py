"""What the blocks of a suite share: their base class, the types of values that several of them have, and the
names of models and tasks, which become folders of a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

T = TypeVar("T")
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Names that can be a folder on every file system."""

BaseUrl = Annotated[
    str,
    Field(
        pattern=r"^https?://[^\s@?#]+$",
        description="address of the API up to /completions, usually ending in /v1; without a key",
    ),
]
ApiKeyEnv = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="name of the environment variable with the key"),
]


class Strict(BaseModel):
    """Base of a block of a suite: frozen, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


ApiName = Literal[
    "vllm",
    "sglang",
    "openai",
    "openai_reasoning",
    "azure",
    "gemini",
    "mistral",
    "openrouter",
    "deepseek",
]
"""Kinds of servers. What each takes is in genbench.engines.http.apis."""
FieldName = Literal[
    "max_tokens",
    "seed",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "min_tokens",
    "stop",
    "stop_token_ids",
    "ignore_eos",
    "thinking_token_budget",
    "content",
]
RepliesAs = Annotated[
    str | None,
    Field(
        description="name of the model in the replies, if a server is asked by another one, as by that of a "
        "deployment"
    ),
]
_OURS = frozenset(get_args(FieldName)) | {"model", "messages", "prompt", "n", "stream", "tools"}
_OURS_ELSEWHERE = frozenset({"max_completion_tokens", "random_seed"})
_KEY_NAMES = frozenset(
    {"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key", "x-goog-api-key", "key"}
    | {"api_key", "apikey", "token", "access_token"}
)


def not_ours(body: dict[str, Any]) -> dict[str, Any]:
    """Refuse fields of a request that genbench sends itself.

    Raises:
        ValueError: names the field.
    """
    for name in body:
        if name in _OURS | _OURS_ELSEWHERE:
            raise ValueError(
                f"'{name}' is sent by genbench itself; its value belongs to the decoding, and its "
                "name at the server under 'fields'"
            )
    return body


RequestBody = Annotated[dict[str, Any], AfterValidator(not_ours)]
"""Fields that a suite adds to each request of a server."""


class RequestForm(Strict):
    """How a server is asked, where it differs from its kind."""

    fields: dict[FieldName, str] = Field(
        default_factory=dict,
        description="the server's name of a field, or `none` if it has no such field, as in {max_tokens: "
        "max_completion_tokens, seed: none}; content: parts sends messages as lists of parts",
    )
    seed_bits: int | None = Field(None, ge=8, le=63, description="width of the largest seed that is taken")
    headers: dict[str, str] = Field(default_factory=dict, description="further headers, without a key")
    query: dict[str, str] = Field(
        default_factory=dict, description="what each address ends in, such as {api-version: 2024-10-21}"
    )
    body: RequestBody = Field(
        default_factory=dict, description="further fields of each request, such as {reasoning_effort: low}"
    )
    key_header: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9-]+$",
        description="header with the key, such as api-key; in Authorization the key has Bearer before it",
    )

    @model_validator(mode="after")
    def _says_what_it_may(self) -> Self:
        for place, names in (("headers", self.headers), ("query", self.query)):
            for name in names:
                if name.lower() in _KEY_NAMES:
                    raise ValueError(
                        f"{place}: '{name}' is a key, and a suite is kept in files: put the key into a "
                        "variable, and name that with api_key_env (and the header with key_header)"
                    )
        if self.fields.get("content", "text") not in ("text", "parts"):
            raise ValueError(f"fields: content is '{self.fields['content']}', wanted text or parts")
        return self


PART = "@"
"""What separates a task from one of its further verifiers, in the names of the scores: `tickets@polite`."""


def draw_of(name: str) -> str:
    """Return the task whose samples a score is made from: `tickets` for `tickets@polite` and for itself."""
    return name.partition(PART)[0]


def is_headline(name: str) -> bool:
    """Return whether a score is that of a task's first verifier, which represents the task."""
    return PART not in name


def headlines(scores: Mapping[str, T]) -> dict[str, T]:
    """Return the scores that represent their tasks. If there are none of these, return all."""
    return {name: score for name, score in scores.items() if is_headline(name)} or dict(scores)


FOLDER_RULE = "becomes a folder: use letters, digits, '.', '_' and '-'"
LONGEST = 200
"""Bytes of a name. File systems take 255."""
_FOLDER_NAME = re.compile(
    rf"\w[\w.:-]*({PART}\w[\w.-]*)?"
)  # with a colon, since a task may be `package.module:attribute`
_TASKS_RESERVED = frozenset(
    {"engine", "engine.log", "lock", "report.files", "report.html", "samples.parquet"}
)
_MODELS_RESERVED = frozenset({"report.files", "report.html"})
_SHARD = re.compile(r"shard-\d+-of-\d+")  # the folder of a part of a job array, see data.subset.Shard


def name_mistake(name: str) -> str | None:
    """Return why a name cannot be the name of a folder, or None."""
    if len(name.encode("utf-8", "surrogatepass")) > LONGEST:
        return f"is longer than {LONGEST} bytes"
    if not _FOLDER_NAME.fullmatch(name):
        return FOLDER_RULE
    return None


def model_mistake(name: str) -> str | None:
    """Return why a model cannot have this name, or None. Its folder is next to the report of the run."""
    if name in _MODELS_RESERVED or _SHARD.fullmatch(name):
        return "is the name of a file or folder that genbench writes itself; choose another"
    return name_mistake(name)


def task_mistake(name: str) -> str | None:
    """Return why a task cannot have this name, or None. Its folder is in the run folder."""
    if name in _TASKS_RESERVED or name.endswith(".json"):
        return "is the name of a file or folder that genbench writes itself; choose another"
    return name_mistake(name)
