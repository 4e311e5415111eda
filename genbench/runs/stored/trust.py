"""What a stored run would make a command do: run code, use the network, read variables or other files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from genbench import registry
from genbench.consent import allow_code
from genbench.errors import ConfigError, InputError, RunFolderError, nearest
from genbench.judges.judged_tasks import EXTRACTION
from genbench.judges.spec import judge_path, validated_judge
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.store.signature import is_sealed, seal
from genbench.suite.config import ModelConfig, SuiteConfig, TaskEntry
from genbench.suite.engine import STORED
from genbench.suite.judge import JudgeModel, JudgeServer
from genbench.suite.shipped import PREFIX, folder, resolve
from genbench.tasks.factory import FILE_OPTIONS, TARGETS
from genbench.tasks.metrics import is_built_in


def stored_config(manifest: Manifest, where: Path) -> SuiteConfig:
    """Return the configuration of a stored suite.

    Args:
        where: the manifest's file, for messages.

    Raises:
        RunFolderError: it is not one of a suite.
    """
    try:
        return SuiteConfig.model_validate(manifest.suite.config, context=STORED)
    except (ValueError, RecursionError) as error:
        why = str(error).strip().split("\n")[0]
        raise RunFolderError(f"{where}: the stored suite cannot be read: {why}") from None


Kind = Literal["code", "network", "environment", "files"]
KINDS: tuple[Kind, ...] = get_args(Kind)
EVERYTHING = frozenset(KINDS)
_JUDGE = "judge"
_UNSAFE = "unsafe_local_exec"
_ENGINE_KEYS = frozenset(
    {
        "kind",
        "replicas",
        "load_timeout_s",
        "stall_timeout_s",
        "batch_invariant",
        "max_num_seqs",
        "max_num_batched_tokens",
        "max_model_len",
        "gpu_memory_utilization",
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "data_parallel_size",
        "enforce_eager",
        "enable_prefix_caching",
        "kv_cache_dtype",
        "share",
    }
)
"""Keys of an engine that load no code. Others may name a class of any module."""


@dataclass(frozen=True, slots=True)
class Request:
    """One thing that a stored run asks for. `is_always_asked` is not covered by a seal."""

    kind: Kind
    what: str
    is_always_asked: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def read_kinds(given: Collection[str]) -> frozenset[Kind]:
    """Return the kinds that `--trust-run` names.

    Raises:
        InputError: there is no such kind.
    """
    for name in given:
        if name not in KINDS:
            raise InputError(f"--trust-run {name}: wanted one of {', '.join(KINDS)}{nearest(name, KINDS)}")
    return frozenset(kind for kind in KINDS if kind in given)


def require_trust(
    stored: RunFolder,
    manifest: Manifest,
    data_dir: Path | None,
    trusted: Collection[Kind],
    *,
    draws: bool = False,
) -> None:
    """Refuse a stored run that asks for something that the user has not allowed.

    Args:
        data_dir: the mirror of the data that the user named, if any.
        trusted: the kinds that the user has allowed.
        draws: whether its model is drawn from too.

    Raises:
        RunFolderError: lists everything that is not allowed, and the option that allows it.
    """
    lacking = lacking_trust(stored, manifest, data_dir, trusted, draws=draws)
    if not lacking:
        return
    listed = "\n".join(f"  {item}" for item in dict.fromkeys(lacking))
    words = " ".join(f"--trust-run {kind}" for kind in KINDS if any(item.kind == kind for item in lacking))
    raise RunFolderError(
        f"{stored.path}: you have not allowed what this run folder asks for (a folder from elsewhere, or "
        f"one whose suite was changed):\n{listed}\n"
        f"nothing was done; look at each line, and if you trust the folder add: {words}"
    )


def lacking_trust(
    stored: RunFolder,
    manifest: Manifest,
    data_dir: Path | None,
    trusted: Collection[Kind],
    tasks: Collection[str] | None = None,
    *,
    draws: bool = False,
) -> list[Request]:
    """Return what a stored run asks for and the user has not allowed. If that is nothing, its code may load.

    Args:
        tasks: only what these tasks ask for. None: what all tasks of the run ask for.
        draws: whether its model is drawn from too.

    Raises:
        RunFolderError: the stored suite cannot be read.
    """
    names = manifest.tasks if tasks is None else tasks
    found = requests_of(stored, manifest, data_dir, trusted, names, draws=draws)
    own = is_sealed(stored, manifest)
    lacking = [item for item in found if item.kind not in trusted and (item.is_always_asked or not own)]
    if not lacking and any(item.kind == "code" for item in found):
        allow_code(Path(manifest.suite.path).resolve().parent)  # by --trust-run code, or by the run itself
    return lacking


def take_seal(source: RunFolder, manifest: Manifest, target: RunFolder) -> None:
    """Seal a folder whose suite is from `source`, if that was sealed."""
    if is_sealed(source, manifest):
        seal(target)


def requests_of(
    stored: RunFolder,
    manifest: Manifest,
    data_dir: Path | None,
    trusted: Collection[Kind] = (),
    tasks: Collection[str] | None = None,
    *,
    draws: bool = False,
) -> list[Request]:
    """Return everything that scoring a stored run would do beyond reading the folder.

    Args:
        trusted: the allowed kinds. A judge file outside the folder is opened only if `files` is among them.
        tasks: the tasks that are scored. None: all tasks of the run.
        draws: whether its model is drawn from too.

    Raises:
        RunFolderError: the stored suite cannot be read.
    """
    config = stored_config(manifest, stored.manifest_path)
    reader = _Requests(stored.path, manifest, config, data_dir, trusted)
    names = manifest.tasks if tasks is None else tasks
    entries = [entry for entry in config.scores if entry.label in names]
    drawing = list(reader.of_drawing()) if draws else []
    return [*drawing, *(item for entry in entries for item in reader.of_task(entry))]


@dataclass(frozen=True, slots=True)
class _Requests:
    """A reader of the requests of one stored suite."""

    place: Path
    manifest: Manifest
    config: SuiteConfig
    data_dir: Path | None
    trusted: Collection[Kind]

    @property
    def suite_folder(self) -> Path:
        """Return the folder that the stored suite's relative paths start from."""
        return Path(self.manifest.suite.path).resolve().parent

    def of_task(self, entry: TaskEntry) -> Iterator[Request]:
        """Yield the requests of one task."""
        name = f"task '{entry.label}'"
        yield from self._of_data(entry, name)
        yield from self._of_functions(entry, name)
        if entry.task is not None and entry.task not in TARGETS:
            yield from _of_plug_in("task", entry.task, name)
        for metric in entry.metrics or ():
            if not is_built_in(metric):
                yield from _of_plug_in("metric", metric, name)
        yield from self._of_verifier(entry, name)

    def of_drawing(self) -> Iterator[Request]:
        """Yield the requests of drawing from the run's model once more."""
        name, engine = "the model under test", self.config.engine.model_dump()
        model = self.config.models[self.manifest.model.name]
        yield from _of_plug_in("engine", engine["kind"], name)
        for path in (model.adapter, model.tokenizer, model.chat_template):
            if path is not None:
                yield from self._of_file(path, f"for {name}")
        if engine["kind"] == "http":
            for url in (model.server and model.server.base_urls) or engine.get("base_urls") or ():
                yield Request("network", f"send prompts to {url}, {name}")
                if engine.get("api_key_env"):
                    yield Request("environment", f"send the variable {engine['api_key_env']} to {url}")
            return
        own = set(engine) - _ENGINE_KEYS
        yield from self._of_model(model, name, [f"engine.{key}" for key in sorted(own)])

    def _of_data(self, entry: TaskEntry, name: str) -> Iterator[Request]:
        for key, file in (("subset", entry.subset), ("rulings", entry.rulings)):
            if file is not None:
                yield from self._of_file(file, f"the {key} of {name}")
        task = self.manifest.tasks.get(entry.label)
        is_generated = task is not None and task.data.get("datasets") == []
        if entry.data is not None and entry.data.path is not None:
            yield from self._of_file(entry.data.path, f"the data of {name}")
        elif self.data_dir is not None or entry.task in FILE_OPTIONS or is_generated:
            return
        elif self.manifest.origin.data_dir is not None:
            yield Request("files", f"{name}: read the data in {self.manifest.origin.data_dir}")
        else:
            source = entry.data.hub.repo if entry.data is not None and entry.data.hub else entry.label
            yield Request("network", f"{name}: get its data ({source}) from the Hugging Face hub")

    def _of_functions(self, entry: TaskEntry, name: str) -> Iterator[Request]:
        """Yield requests for the files of a task with code of the suite, and for running it unprotected."""
        for option in FILE_OPTIONS.get(entry.task or "", ()):
            if isinstance(entry.options.get(option), str):
                path, _, last = entry.options[option].rpartition(":")
                yield from self._of_file(path or last, f"the {option} of {name}")
        sandbox = entry.options.get("sandbox")
        if isinstance(sandbox, Mapping) and sandbox.get(_UNSAFE):
            yield Request("code", f"{name}: run its generator without a sandbox", is_always_asked=True)

    def _of_file(self, text: str, what: str) -> Iterator[Request]:
        """Yield a request for a file that is neither shipped nor in the run folder."""
        path = self._outside(text)
        if path is not None:
            yield Request("files", f"read {path}, {what}")

    def _outside(self, text: str) -> Path | None:
        try:
            path = resolve(text, self.suite_folder).resolve()
            own = [self.place.resolve()]
            own += [folder(text.removeprefix(PREFIX).split("/")[0]).resolve()] if _is_shipped(text) else []
        except (ConfigError, OSError, RuntimeError, ValueError):
            return Path(text.replace("\0", "?"))
        return None if any(path.is_relative_to(place) for place in own) else path

    def _of_verifier(self, entry: TaskEntry, name: str) -> Iterator[Request]:
        if entry.used_verifier is not None and entry.used_verifier != _JUDGE:
            yield from _of_plug_in("verifier", entry.used_verifier, name)
        cascade = entry.verifier.get("cascade", ())
        for rule in cascade if isinstance(cascade, list | tuple) else (cascade,):
            if rule != _JUDGE:
                yield from _of_plug_in("verifier", str(rule), name)
        yield from self._of_options(entry.verifier, name)
        if entry.verifier.get("guess") == _JUDGE:
            yield from self._of_judge(entry.verifier.get("judge", EXTRACTION), name)
        elif _JUDGE in (entry.kind, entry.used_verifier) or "cascade" in entry.verifier or entry.task:
            yield from self._of_judge(entry.verifier.get("judge") or self.config.judge.use, name)

    def _of_options(self, options: Mapping[str, Any], name: str) -> Iterator[Request]:
        """Yield the requests of a verifier's options, and of those of the rule before a judge."""
        for key, value in options.items():
            if key == _UNSAFE and value:
                what = f"{name}: run the programs that the model wrote without a sandbox ({_UNSAFE})"
                yield Request("code", what, is_always_asked=True)
            elif isinstance(value, Mapping) and key == "rule":
                yield from self._of_options(value, name)
            elif key == "baseline":
                for path in _opponents(value):
                    yield from self._of_file(path, f"verifier.{key} of {name}")
            elif isinstance(value, str) and key.endswith("_dir"):
                yield from self._of_file(value, f"verifier.{key} of {name}")

    def _of_judge(self, used: object, name: str) -> Iterator[Request]:
        """Yield the requests of a task's judge. The suite's engine counts before the judge file's."""
        judge = self.config.judge
        yield from self._of_engines(judge, name)
        if used is None:
            return
        try:
            path = judge_path(str(used), self.suite_folder)
        except (ConfigError, OSError, ValueError):
            return  # the command says later that there is no such judge
        if path.resolve().is_relative_to(folder("judges").resolve()):
            return
        inside = path.resolve().is_relative_to(self.place.resolve())
        if not inside:
            yield Request("files", f"read {path}, the judge of {name}")
        if not inside and "files" not in self.trusted:
            return
        file = validated_judge(path)
        yield from _of_plug_in("judge_form", file.form, name)
        for beside in (file.prompt, file.calibration):
            if beside is not None:
                yield from self._of_file(str(path.parent / beside), f"named by the judge of {name}")
        if judge.model is None and judge.server is None:
            yield from self._of_engines(file, name)

    def _of_engines(self, named: Any, name: str) -> Iterator[Request]:
        """Yield the requests of the model or server of a judge (JudgeConfig or JudgeFile)."""
        if named.server is not None:
            yield from _of_server(named.server, name)
        if named.model is not None:
            own = set(named.model.engine.model_dump(exclude_defaults=True)) - _ENGINE_KEYS
            keys = [f"judge.model.engine.{key}" for key in sorted(own)]
            yield from self._of_model(named.model, f"the judge of {name}", keys)

    def _of_model(
        self, model: JudgeModel | ModelConfig, name: str, further: Sequence[str]
    ) -> Iterator[Request]:
        """Yield the requests of loading a model.

        Args:
            further: keys of its engine that may load code.
        """
        path = self._outside(model.path)
        if path is not None and path.exists():
            yield Request("files", f"load the checkpoint {path}, {name}")
        elif not _is_shipped(model.path) and not (self.suite_folder / model.path).is_dir():
            yield Request("network", f"get the checkpoint {model.path} from the Hugging Face hub")
        if model.trust_remote_code:
            yield Request("code", f"run the code of the checkpoint {model.path} (trust_remote_code)")
        if further:
            yield Request("code", f"start {name} with {further[0]}")


def _of_server(server: JudgeServer, name: str) -> Iterator[Request]:
    yield Request("network", f"send answers to {server.base_url}, the judge of {name}")
    if server.api_key_env is not None:
        yield Request("environment", f"send the variable {server.api_key_env} to {server.base_url}")


def _of_plug_in(category: registry.Category, name: str, where: str) -> Iterator[Request]:
    """Yield a request for code that is not genbench's own."""
    if name not in registry.BUILT_IN[category]:
        yield Request("code", f"{where}: load the {category.replace('_', ' ')} {name}")


def _is_shipped(text: str) -> bool:
    return text.startswith(PREFIX)


def _opponents(baseline: object) -> Iterator[str]:
    """Yield the run folders and files that the opponents of a task are in."""
    if isinstance(baseline, str):
        yield baseline
    elif isinstance(baseline, Mapping):
        for key in ("path", "of", "each"):
            found = baseline.get(key)
            for one in found.values() if isinstance(found, Mapping) else (found,):
                yield from _opponents(one)
