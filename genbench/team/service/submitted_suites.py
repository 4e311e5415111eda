"""Suites that clients submit as a text: what they may set, and where they are kept.

A suite on this machine may name code, servers and files. One from a client may set only what shapes prompts,
draws and scores. Every other key is refused with its line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from genbench import registry
from genbench.errors import ConfigError, InputError
from genbench.protocols import HubSource, is_hub_name
from genbench.suite.block import NAME_PATTERN
from genbench.suite.config import (
    Decoding,
    DecodingOverride,
    Effort,
    ModelConfig,
    Reference,
    SuiteConfig,
    TaskEntry,
    TraceTags,
    Turn,
    VerifierEntry,
)
from genbench.suite.engine import DataSource, Price
from genbench.suite.judge import JudgeCeiling, JudgeConfig
from genbench.suite.shipped import PREFIX, resolve
from genbench.suite.track import TrackConfig
from genbench.suite.yamlfile import Loc, read_yaml
from genbench.tasks.kinds import KINDS
from genbench.tasks.metrics import is_built_in
from genbench.team.service.context import Service

MOST_CHARS = 200_000
_MODEL_PLACES = ("path", "adapter", "tokenizer")
_ENGINE = frozenset(
    {"kind", "replicas", "load_timeout_s", "max_num_seqs", "max_num_batched_tokens", "max_model_len"}
    | {"gpu_memory_utilization", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"}
    | {"enforce_eager", "enable_prefix_caching", "kv_cache_dtype"}
)
"""Keys of `engine:`, which vLLM's own arguments extend. No other is taken."""


@dataclass(frozen=True, slots=True)
class KeyClasses:
    """The keys of one block of a suite, as texts with blanks between them.

    Every key is in one of the two, so that a key which suites get later is refused until someone has decided.
    """

    allowed: str
    refused: str = ""


KEYS: Mapping[type[BaseModel], KeyClasses] = {
    SuiteConfig: KeyClasses(
        "name models engine decoding reasoning tasks judge max_excluded_share price track treatment", "verify"
    ),
    ModelConfig: KeyClasses(
        "path revision adapter tokenizer dtype chat_template_kwargs system_prompt prompt_style shots effort",
        "chat_template trust_remote_code server",
    ),
    Effort: KeyClasses("system_prompt thinking_token_budget max_tokens"),
    JudgeConfig: KeyClasses("use allow_unpinned max_unscored_share ceiling", "model server"),
    JudgeCeiling: KeyClasses("calls tokens cost price"),
    Decoding: KeyClasses(
        "temperature top_p top_k min_p presence_penalty frequency_penalty repetition_penalty max_tokens "
        "min_tokens stop stop_on_loop stop_token_ids ignore_eos thinking_token_budget seed"
    ),
    DecodingOverride: KeyClasses(
        "temperature top_p top_k min_p presence_penalty frequency_penalty repetition_penalty max_tokens "
        "min_tokens stop stop_on_loop stop_token_ids ignore_eos thinking_token_budget"
    ),
    TraceTags: KeyClasses("open close"),
    TaskEntry: KeyClasses(
        "task name kind data prompt turns system shots group protocol k limit role gating margin metrics "
        "reference decoding options verifier verifiers refused effort",
        "subset rulings",
    ),
    VerifierEntry: KeyClasses("name kind use reference gating margin"),
    DataSource: KeyClasses("path hub fields"),
    HubSource: KeyClasses("repo config split revision"),
    Turn: KeyClasses("prompt instructions kwargs"),
    Reference: KeyClasses("model value source decoding"),
    Price: KeyClasses("per_hour per_million_prompt_tokens per_million_completion_tokens currency"),
    TrackConfig: KeyClasses("name kind anchor alarms_per_year"),
}
"""What a submitted suite may set. Blocks that are refused whole have no line."""
_BLOCKS: Mapping[str, type[BaseModel]] = {
    "decoding": Decoding,
    "reasoning": TraceTags,
    "price": Price,
    "track": TrackConfig,
}
"""Blocks at the top of which only the keys are looked at."""

_FOREIGN = frozenset({"python", "definitions", "definition", "root", "folders", "functions", "rows", "tier"})
"""Options of tasks and verifiers that name programs, files or the kind of sandbox."""
_FOREIGN_KEY = re.compile(
    r"(trust_|unsafe_).*"  # trust_remote_code
    r"|.*(_dir|_path|_file|_env|url|urls)"  # data_dir, api_key_env, base_url
    r"|baseline"  # replies of another model, in a file
)
_FOREIGN_VALUE = re.compile(
    r"(?s)[/~].*"  # /etc/passwd, ~/key
    r"|\.{1,2}/.*|.*\.\./.*"  # ./rows.jsonl, a/../../b
    r"|[a-z][a-z0-9+.-]*://.*"  # https://host, hf://datasets
    r"|[\w.]+:[A-Za-z_]\w*"  # package.module:Class
)
_REMEDY = "leave it out, or ask for a suite of the service's own (genbench serve --suites)"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A key that a submitted suite may not set, and why."""

    loc: Loc
    why: str


def store_suite(own: Service, name: str, text: str) -> Path:
    """Check a suite that a client submits, and return the file in which it is kept, by its content.

    Args:
        name: its name, which becomes that of the file.

    Raises:
        InputError: the name or the text is wrong, or it sets what it may not. Names line and key.
    """
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > 100:
        raise InputError(f"suite '{name[:100]}': use letters, digits, '.', '_' and '-' for its name")
    file = f"{name}.yaml"
    tree, lines = read_yaml(text, file)
    if not isinstance(tree, dict):
        raise ConfigError(f"{file}: a suite is a mapping with 'models' and 'tasks'")
    refused = list(_of_suite(own, tree))
    if refused:
        raise ConfigError("\n".join(_words(file, item, lines) for item in refused[:20]))
    folder = own.runs.resolve() / "submitted" / hashlib.sha256(text.encode()).hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be kept: {error.strerror}") from error
    return folder / file


def _words(file: str, item: _Refusal, lines: Mapping[Loc, int | str]) -> str:
    line = next((lines[item.loc[:n]] for n in range(len(item.loc), 0, -1) if item.loc[:n] in lines), 1)
    key = ".".join(str(part) for part in item.loc)
    return f"{file}:{line}: {key} is refused: a submitted suite may not {item.why}; {_REMEDY}"


def _of_suite(own: Service, tree: Mapping[str, Any]) -> Iterator[_Refusal]:
    yield from _unclassed(tree, SuiteConfig, ())
    for key, block in (
        ("decoding", Decoding),
        ("reasoning", TraceTags),
        ("price", Price),
        ("track", TrackConfig),
    ):
        yield from _unclassed(tree.get(key), block, (key,))
    for name, model in _items(tree.get("models")):
        yield from _of_model(own, model, ("models", name))
    engine = tree.get("engine")
    if isinstance(engine, Mapping):
        yield from _refused_keys(engine, _ENGINE, ("engine",))
        if engine.get("kind", "vllm") != "vllm":
            yield _Refusal(("engine", "kind"), f"name the engine '{str(engine['kind'])[:50]}', only vllm")
    judge = tree.get("judge")
    if isinstance(judge, Mapping):
        yield from _unclassed(judge, JudgeConfig, ("judge",))
        yield from _of_judge(judge.get("use"), ("judge", "use"))
    tasks = tree.get("tasks")
    for index, entry in enumerate(tasks if isinstance(tasks, list) else ()):
        yield from _of_task({"task": entry} if isinstance(entry, str) else entry, ("tasks", index))


def _of_model(own: Service, model: Any, loc: Loc) -> Iterator[_Refusal]:
    if not isinstance(model, Mapping):
        return
    yield from _unclassed(model, ModelConfig, loc)
    for key in _MODEL_PLACES:
        place = model.get(key)
        if not isinstance(place, str) or _is_shipped(place):
            continue
        try:
            own.model(place)
        except InputError:
            found = f"name '{place[:100]}': wanted ORG/NAME on the hub or a folder below the service's roots"
            yield _Refusal((*loc, key), found)


def _of_task(entry: Any, loc: Loc) -> Iterator[_Refusal]:
    if not isinstance(entry, Mapping):
        return
    yield from _unclassed(entry, TaskEntry, loc)
    task, options, turns = entry.get("task"), entry.get("options"), entry.get("turns")
    if isinstance(task, str) and task not in registry.BUILT_IN["task"]:
        yield _Refusal((*loc, "task"), f"name the task '{task[:100]}', which is none of genbench's own")
    kind = entry.get("kind")
    if isinstance(kind, str) and kind not in KINDS:
        yield _Refusal((*loc, "kind"), f"name the kind '{kind[:100]}', which is none of genbench's own")
    for key in ("protocol", "group"):
        yield from _of_value(entry.get(key), (*loc, key))
    yield from _of_data(entry.get("data"), (*loc, "data"))
    yield from _unclassed(entry.get("decoding"), DecodingOverride, (*loc, "decoding"))
    yield from _unclassed(entry.get("reference"), Reference, (*loc, "reference"))
    for index, turn in enumerate(turns if isinstance(turns, list) else ()):
        yield from _unclassed(turn, Turn, (*loc, "turns", index))
    metrics = entry.get("metrics")
    for index, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if not is_built_in(str(metric)):
            yield _Refusal((*loc, "metrics", index), f"name the metric '{str(metric)[:100]}' of a plug-in")
    if isinstance(options, Mapping):
        yield from _of_options(options, (*loc, "options"))
    verifier = entry.get("verifier")
    if isinstance(verifier, Mapping):
        yield from _of_verifier(verifier, (*loc, "verifier"))
    several = entry.get("verifiers")
    for index, item in enumerate(several if isinstance(several, list) else ()):
        if isinstance(item, Mapping):
            yield from _of_verifier(item, (*loc, "verifiers", index))


def _of_data(data: Any, loc: Loc) -> Iterator[_Refusal]:
    if not isinstance(data, Mapping):
        return
    yield from _unclassed(data, DataSource, loc)
    if data.get("path") is not None and not _is_shipped(data["path"]):
        yield _Refusal((*loc, "path"), "read a file of the service")
    yield from _of_value(data.get("fields"), (*loc, "fields"))
    hub = data.get("hub")
    if isinstance(hub, Mapping):
        yield from _unclassed(hub, HubSource, (*loc, "hub"))
        if not is_hub_name(hub.get("repo")):
            said = f"name the dataset '{str(hub.get('repo'))[:100]}': wanted ORG/NAME on the hub"
            yield _Refusal((*loc, "hub", "repo"), said)


def _of_verifier(verifier: Mapping[str, Any], loc: Loc) -> Iterator[_Refusal]:
    cascade = verifier.get("cascade", [])
    named = [("use", verifier["use"])] if "use" in verifier else []
    rules = [*named, *(("cascade", rule) for rule in (cascade if isinstance(cascade, list) else [cascade]))]
    for key, rule in rules:
        is_own = isinstance(rule, str) and rule in registry.BUILT_IN["verifier"] and rule != "foreign_score"
        if rule != "judge" and not is_own:
            yield _Refusal((*loc, key), f"name the verifier '{str(rule)[:100]}', only one of genbench's own")
    yield from _of_judge(verifier.get("judge"), (*loc, "judge"))
    kind = verifier.get("kind", "math")
    if kind not in KINDS:
        yield _Refusal((*loc, "kind"), f"name the kind '{str(kind)[:100]}', which is none of genbench's own")
    yield from _of_options({key: verifier[key] for key in verifier if key not in ("use", "cascade")}, loc)


def _of_judge(used: object, loc: Loc) -> Iterator[_Refusal]:
    if used is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", str(used)):
        yield _Refusal(loc, f"name the judge '{str(used)[:100]}', only a shipped one by its name")


def _of_options(options: Mapping[str, Any], loc: Loc) -> Iterator[_Refusal]:
    """Yield the refusals of the options of a task or verifier, at any depth."""
    for key, value in options.items():
        if not isinstance(key, str) or key in _FOREIGN or _FOREIGN_KEY.fullmatch(key):
            yield _Refusal((*loc, key), "set this key, because it reaches programs or files of the service")
        else:
            yield from _of_value(value, (*loc, key))


def _of_value(value: Any, loc: Loc) -> Iterator[_Refusal]:
    if isinstance(value, Mapping):
        yield from _of_options(value, loc)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _of_value(item, (*loc, index))
    elif isinstance(value, str) and _FOREIGN_VALUE.fullmatch(value):
        yield _Refusal(loc, f"name '{value[:100]}', which looks like a path, an address or a class")


def _unclassed(block: Any, kind: type[BaseModel], loc: Loc) -> Iterator[_Refusal]:
    """Yield a refusal for each key of a block that its line in `KEYS` does not allow."""
    if isinstance(block, Mapping):
        yield from _refused_keys(block, KEYS[kind].allowed.split(), loc)


def _refused_keys(block: Mapping[str, Any], allowed: Collection[str], loc: Loc) -> Iterator[_Refusal]:
    for key in block:
        if key not in allowed:
            yield _Refusal((*loc, key), "set this key, because it runs code or reaches elsewhere")


def _items(block: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(block, Mapping):
        yield from block.items()


def _is_shipped(text: object) -> bool:
    """Return whether a text names something that ships with genbench."""
    if not isinstance(text, str) or not text.startswith(PREFIX):
        return False
    try:
        resolve(text, Path())
    except (ConfigError, OSError):  # OSError: the name is too long for a file
        return False
    return True
