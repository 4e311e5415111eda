"""The one tree of errors: what went wrong, where, what to do now, and the exit code of each kind."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class GenbenchError(Exception):
    """An error that speaks to the person who can act; the command line prints it without a traceback."""

    exit_code = 1


class InputError(GenbenchError):
    """What was given cannot be used: a suite, a path, a file line, an option."""

    exit_code = 2


class ConfigError(InputError):
    """A suite, judge or option is wrong; says file, line and key."""


class DataError(InputError):
    """A dataset is missing, unreadable, gated, or not the one that was pinned."""


class PromptError(InputError):
    """A prompt cannot be made: no chat template, or it does not fit the context."""


class ResponsesError(InputError):
    """A file of ready responses is wrong; says the line."""


class RunFolderError(InputError):
    """A run folder cannot be used as asked: other terms, a damaged line, not writable."""


class RunLockedError(RunFolderError):
    """Another process is writing the run folder."""


class UnavailableError(InputError):
    """Something that this machine lacks is needed; says what to install."""


class NotComparableError(GenbenchError):
    """Two runs differ in what must be equal; the differences are listed."""

    exit_code = 3


class EngineError(GenbenchError):
    """The engine could not be started or died for good; ends with its last log lines."""


class EngineDiedError(EngineError):
    """The engine's process was killed or died; another engine can be started and draw what it had."""


class RequestFailedError(EngineError):
    """One request failed; the engine goes on."""


class RequestStuckError(EngineError):
    """One request got no answer in all its tries; it is drawn again later, and the engine may be fine."""


class RunFailedError(GenbenchError):
    """The run ended, but its numbers must not be used (too many samples were excluded)."""


class InterruptedRunError(GenbenchError):
    """The run was stopped cleanly (signal, time limit) and can be continued."""

    exit_code = 130


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint for a misspelt name: `` (did you mean 'x'?)`` or the valid names when none is near."""
    names = sorted(valid)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; valid: {', '.join(names)}" if names else ""
