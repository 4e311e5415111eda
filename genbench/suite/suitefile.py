"""Read a suite, from a YAML file or from options of the command line, with overrides and messages that name
the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from genbench.consent import NoConsentError, require_consent
from genbench.errors import ConfigError, nearest
from genbench.suite.block import FOLDER_RULE, NAME_PATTERN, draw_of, model_mistake, task_mistake
from genbench.suite.config import Decoding, ModelConfig, SuiteConfig
from genbench.suite.effort import family_of, with_efforts
from genbench.suite.engine import DEFAULT_KIND, KIND_ERROR, EngineConfig, SuiteMistake, config_class
from genbench.suite.shipped import at_home
from genbench.suite.yamlfile import Loc, read_yaml, read_yaml_file


def is_within(loc: Loc, outer: Loc) -> bool:
    """Tell whether one error is inside another. An item that is wrong also makes its list too short."""
    return len(loc) > len(outer) and loc[: len(outer)] == outer


def message(
    item: Mapping[str, Any],
    path: Path,
    lines: Mapping[Loc, int | str],
    keys_at: Callable[[Loc], Iterable[str]],
) -> str:
    """Return one validation error as `file:line: key: what is wrong, found VALUE`.

    Args:
        item: the error, as pydantic reports it.
        lines: the line of each key, or the option that set it.
        keys_at: returns the valid keys of a block.
    """
    loc: Loc = tuple(part for part in item["loc"] if not (isinstance(part, str) and part in _UNION_PARTS))
    key = ".".join(str(part) for part in loc)
    where = place(path, loc, lines)
    if item["type"] == "extra_forbidden":
        return f"{where}: unknown key '{key}'{nearest(str(loc[-1]), keys_at(loc[:-1]))}"
    if item["type"] == "missing":
        return f"{where}: '{key}' is missing"
    said = re.sub(r"^(Value|Assertion) error, ", "", item["msg"])
    told = item["type"] == KIND_ERROR or isinstance(item["input"], dict | list | BaseModel)
    found = "" if told else f", found {item['input']!r}"
    return f"{where}: {key + ': ' if key else ''}{said[0].lower() + said[1:]}{found}"


_UNION_PARTS = frozenset({"str", "TraceTags", "constrained-str"})
"""Parts of an error's place that name a type instead of a key."""


def place(path: Path, loc: Loc, lines: Mapping[Loc, int | str]) -> str:
    """Return `file:line` of the nearest written ancestor of `loc`, or the option that set it."""
    for end in range(len(loc), 0, -1):
        found = lines.get(loc[:end])
        if found is not None:
            return found if isinstance(found, str) else f"{path}:{found}"
    return f"{path}:1"


def _keys_at(loc: Loc, raw: Any) -> Iterable[str]:
    """Return the valid keys of the block at `loc`, found by walking the configuration's types."""
    kind: type[BaseModel] = SuiteConfig
    for part in loc:
        raw = _below(raw, part)
        if isinstance(part, int) or part not in kind.model_fields:
            continue
        kind = block_in(kind.model_fields[part].annotation) or SuiteConfig
        if kind is EngineConfig:
            kind = config_class(str(raw.get("kind", DEFAULT_KIND)) if isinstance(raw, dict) else DEFAULT_KIND)
    return tuple(kind.model_fields)


def _below(node: Any, part: str | int) -> Any:
    if isinstance(node, dict):
        return node.get(part)
    return node[part] if isinstance(node, list) and isinstance(part, int) else None


def block_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first block of keys in the type of a field, or None if its values are not blocks."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := block_in(inner))), None)


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as it was read: the validated configuration, and the line of each key.

    `overrides` are the `key=value` texts of the command line that were applied.
    """

    config: SuiteConfig
    path: Path
    overrides: tuple[str, ...]
    lines: Mapping[Loc, int | str]
    written: Mapping[str, ModelConfig] = field(default_factory=dict)
    """The models as the file has them. In `config` each effort of a model is a model of its own."""

    @property
    def name(self) -> str:
        """Return the suite's name: its key `name`, or the file's name without its ending."""
        return self.config.name or self.path.stem

    @property
    def folder(self) -> Path:
        """Return the folder that relative paths in the suite start from."""
        return self.path.resolve().parent

    def models_named(self, name: str) -> list[str]:
        """Return the models of a name: all efforts of one, or the one. Empty if there is none."""
        models = self.config.models
        return [own for own, model in models.items() if name in (own, family_of(own, model))]

    def where(self, *loc: str | int) -> str:
        """Return `file:line` of a key, for messages."""
        return place(self.path, loc, self.lines)

    def where_task(self, label: str) -> str:
        """Return `file:line` of a task, or of one of its verifiers."""
        return self.where(*self.loc_of(label))

    def loc_of(self, label: str) -> Loc:
        """Return the place of a task, or of one of its verifiers, in the suite."""
        labels = [entry.label for entry in self.config.tasks]
        index = labels.index(draw_of(label))
        scores = [entry.label for entry in self.config.tasks[index].scores]
        at = scores.index(label)
        return ("tasks", index, "verifiers", at) if at else ("tasks", index)


@contextmanager
def located(suite: Suite) -> Iterator[None]:
    """Add file and line to a mistake at one key of the suite."""
    try:
        yield
    except SuiteMistake as mistake:
        raise ConfigError(f"{suite.where(*mistake.loc)}: {mistake}") from None


def read_suite(
    path: Path,
    overrides: Sequence[str] = (),
    models: Mapping[str, str] | None = None,
    *,
    like: str | None = None,
) -> Suite:
    """Read and check a suite.

    Args:
        path: the YAML file.
        overrides: `key.sub=value` texts. Values are YAML. List items are named by index or by name.
        models: models to add or to take from another path, name -> path.
        like: a model of the suite. Models that are added take its keys, all but path and revision.

    Raises:
        ConfigError: names file, line, key, what was found and what is wanted.
    """
    raw, lines = read_yaml_file(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: a suite is a mapping with 'models' and 'tasks'; see `genbench init`")
    _expand_tasks(raw)
    for name, model_path in (models or {}).items():
        _model_from_option(raw, name, model_path, like)
    return checked_suite(raw, path, overrides, lines)


def checked_suite(
    raw: dict[str, Any], path: Path, overrides: Sequence[str], lines: dict[Loc, int | str]
) -> Suite:
    """Return the suite of a parsed file with its overrides applied.

    Args:
        raw: the content of the file. The overrides change it.
        lines: the line of each key, or the option that set it.

    Raises:
        ConfigError: names file, line, key, what was found and what is wanted.
    """
    for text in overrides:
        _apply_override(raw, text, lines)
        _expand_tasks(raw)
    suite = _with_efforts(Suite(_validate(raw, path, lines), path, tuple(overrides), lines))
    _check_tasks(suite)
    _check_models(suite)
    _check_remote_code(suite)
    return suite


def _with_efforts(suite: Suite) -> Suite:
    """Return the suite with each effort of a model as a model of its own, at the lines of the model."""
    with located(suite):
        config = with_efforts(suite.config)
    lines = dict(suite.lines)
    for name, model in config.models.items():
        family = family_of(name, model)
        for loc, line in suite.lines.items() if family != name else ():
            if loc[:2] == ("models", family):
                lines["models", name, *loc[2:]] = line
    return replace(suite, config=config, lines=lines, written=suite.config.models)


def _check_remote_code(suite: Suite) -> None:
    """Ask for consent to the code of checkpoints, unless the command line itself allows it."""
    judge = suite.config.judge.model
    models = {("models", name): model for name, model in suite.config.models.items()}
    asked: list[Loc] = [loc for loc, model in models.items() if model.trust_remote_code]
    asked += [("judge", "model")] if judge is not None and judge.trust_remote_code else []
    for loc in asked:
        key = (*loc, "trust_remote_code")
        if isinstance(suite.lines.get(key), str):
            continue
        try:
            require_consent(suite.folder, f"what comes with the checkpoint of {'.'.join(map(str, loc))}")
        except NoConsentError as error:
            raise NoConsentError(f"{suite.where(*key)}: {error}") from None


def _expand_tasks(raw: dict[str, Any]) -> None:
    tasks = raw.get("tasks")
    if isinstance(tasks, list):
        raw["tasks"] = [{"task": entry} if isinstance(entry, str) else entry for entry in tasks]


def _model_from_option(raw: dict[str, Any], name: str, model_path: str, like: str | None) -> None:
    if not isinstance(raw.get("models"), dict):
        raw["models"] = {}
    here, other = raw["models"].get(name), raw["models"].get(like)
    path = at_home(model_path)
    known = str(path.resolve() if path.exists() else path)
    if is_adapter(path):
        raw["models"][name] = _base_of_adapter(here or other, name, path) | {"adapter": known}
        return
    if here is None and isinstance(other, dict):
        here = {key: value for key, value in other.items() if key not in ("path", "revision")}
    raw["models"][name] = (here if isinstance(here, dict) else {}) | {"path": known}


def is_adapter(path: Path) -> bool:
    """Return whether a folder contains an adapter and no model."""
    return (path / "adapter_config.json").is_file() and not (path / "config.json").exists()


def _base_of_adapter(model: Any, name: str, path: Path) -> dict[str, Any]:
    """Return the keys of the model that an adapter belongs to.

    Raises:
        ConfigError: the suite names none.
    """
    if not isinstance(model, dict) or not model.get("path"):
        raise ConfigError(
            f"--model {name}={path}: is an adapter, and the suite has no model '{name}' with its base; write "
            f"models: {{{name}: {{path: BASE}}}}"
        )
    return model


def _apply_override(raw: dict[str, Any], text: str, lines: dict[Loc, int | str]) -> None:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"--set {text}: wanted KEY=VALUE, for instance decoding.temperature=0.7")
    try:
        parsed, _ = read_yaml(value, "the value")
    except ConfigError as error:
        raise ConfigError(f"--set {text}: {error}") from error
    *parents, last = key.split(".")
    node: Any = raw
    loc: Loc = ()
    for part in parents:
        loc = (*loc, _index(node, part, text) if isinstance(node, list) else part)
        node = _step(node, part, text)
    if not isinstance(node, list | dict):
        raise ConfigError(f"--set {text}: '{'.'.join(parents)}' is a value, it has no key '{last}'")
    at: Any = _index(node, last, text) if isinstance(node, list) else last
    node[at] = parsed
    for known in [known for known in lines if known[: len(loc) + 1] == (*loc, at)]:
        del lines[known]
    lines[*loc, at] = f"--set {text}"


def _step(node: Any, part: str, text: str) -> Any:
    if isinstance(node, list):
        return node[_index(node, part, text)]
    if isinstance(node, dict):
        if node.get(part) is None:
            node[part] = {}
        return node[part]
    raise ConfigError(f"--set {text}: there is nothing below '{part}'")


def _index(items: list[Any], part: str, text: str) -> int:
    if part.isdigit() and int(part) < len(items):
        return int(part)
    names = [str(item.get("name") or item.get("task")) for item in items if isinstance(item, dict)]
    if part in names:
        return names.index(part)
    raise ConfigError(f"--set {text}: no item '{part}'{nearest(part, names)}")


def _validate(raw: dict[str, Any], path: Path, lines: Mapping[Loc, int | str]) -> SuiteConfig:
    try:
        return SuiteConfig.model_validate(raw, context={"folder": path.resolve().parent})
    except ValidationError as error:
        found: list[dict[str, Any]] = [dict(item) for item in error.errors(include_url=False)]
        causes = [item for item in found if not any(is_within(other["loc"], item["loc"]) for other in found)]
        messages = [message(item, path, lines, lambda loc: _keys_at(loc, raw)) for item in causes]
        raise ConfigError(_folded(list(dict.fromkeys(messages)))) from None


_MOST_MISTAKES = 20


def _folded(messages: Sequence[str]) -> str:
    """Return the first mistakes of a suite, a line each, and how many more there are."""
    more = len(messages) - _MOST_MISTAKES
    left_out = [f"… and {more} more mistakes of this file"] if more > 0 else []
    return "\n".join([*messages[:_MOST_MISTAKES], *left_out])


def _check_tasks(suite: Suite) -> None:
    """Refuse two tasks of one name, and several draws that would all be the same text."""
    seen: dict[str, int] = {}
    for index, entry in enumerate(suite.config.tasks):
        where = suite.where("tasks", index)
        mistake = task_mistake(entry.label)
        if mistake is not None:
            raise ConfigError(f"{where}: task name '{entry.label}' {mistake}")
        if entry.label in seen:
            first = suite.where("tasks", seen[entry.label]).rpartition(":")[2]
            raise ConfigError(
                f"{where}: two tasks are called '{entry.label}' (the first on line {first}); "
                "give one of them another 'name'"
            )
        seen[entry.label] = index
        try:
            decoding = suite.config.decoding_of(entry)
        except ValidationError as error:
            reason = re.sub(r"^Value error, ", "", error.errors(include_url=False)[0]["msg"])
            key = suite.where("tasks", index, "decoding")
            raise ConfigError(f"{key}: task '{entry.label}': with the suite's decoding, {reason}") from None
        check_k(entry.k or 1, decoding, f"{where}: task '{entry.label}'")


def _check_models(suite: Suite) -> None:
    """Refuse model names that are not folder names, and models that do not go with the engine."""
    models = suite.config.models
    for name in models:
        mistake = model_mistake(name) if re.fullmatch(NAME_PATTERN, name) else FOLDER_RULE
        if mistake is not None:
            raise ConfigError(f"{suite.where('models', name)}: model name '{name}' {mistake}")
        with located(suite):
            suite.config.engine.check_model(name, models)
    anchor = suite.config.track.anchor if suite.config.track else None
    if anchor is not None and anchor not in models:
        raise ConfigError(
            f"{suite.where('track', 'anchor')}: track.anchor: no model '{anchor}'{nearest(anchor, models)}; "
            f"models: {', '.join(models)}"
        )


def check_k(k: int, decoding: Decoding, where: str) -> None:
    """Refuse more than one draw at temperature 0: all would be the same text."""
    if k > 1 and decoding.temperature == 0:
        raise ConfigError(
            f"{where} wants k = {k} at temperature 0, where all draws are the same; set k: 1 or a "
            "temperature above 0"
        )


_PLACE = "command-line"
"""The name of the suite in messages, which has no file. Relative paths start from the working folder."""
_NAME_CHARS = 60


def quick_suite(
    models: Sequence[str],
    tasks: Sequence[str],
    k: int | None,
    overrides: Sequence[str] = (),
    entry: Mapping[str, Any] | None = None,
) -> Suite:
    """Return the suite of `genbench run --model M --task T --k K`.

    Args:
        models: texts PATH or NAME=PATH. A path can be a hub id. Its last part names the model.
        tasks: names of tasks.
        k: samples of each problem. None means each task's own.
        overrides: `key=value` texts, as in `--set`.
        entry: a task of the command's own, instead of tasks by name. Its models get plain prompts.

    Raises:
        ConfigError: no model or no task, two models of one name, or a wrong value.
    """
    if not models or not tasks:
        raise ConfigError("give a suite, or both --model PATH and --task NAME (see `genbench tasks`)")
    paths: dict[str, str] = {}
    for text in models:
        name, path = _named(text)
        if name in paths:
            raise ConfigError(f"--model {text}: two models are called '{name}'; write --model NAME=PATH")
        paths[name] = path
    style = {} if entry is None else {"prompt_style": "plain"}
    sizes: dict[str, Any] = {} if k is None else {"k": k}
    raw = {
        "name": plain_name("-".join(tasks))[:_NAME_CHARS],
        "models": {name: {"path": path, **style} for name, path in paths.items()},
        "tasks": [{"task": task, **sizes} for task in tasks] if entry is None else [dict(entry)],
    }
    lines: dict[tuple[str | int, ...], int | str] = {("models",): "--model", ("tasks",): "--task"}
    return checked_suite(raw, Path(_PLACE), overrides, lines)


def model_name(text: str) -> str:
    """Return the name of the model that an option gives: NAME of NAME=PATH, or the last part of PATH."""
    return _named(text)[0]


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if equals:
        return name, path
    return plain_name(text.rstrip("/").rpartition("/")[2]) or "model", text


def plain_name(text: str) -> str:
    """Return a text as a name of files: letters, digits, dots, dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip("._-")
