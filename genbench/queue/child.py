"""The process of a job: a command with a log of its own, which outlives the worker that started it.

The process inherits a lock of the job's folder. The lock is free when the process and every child that it
forked have ended, whoever started it. So a worker never starts a job whose process is still alive.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from genbench.errors import InputError

_PASSED = frozenset(
    {
        *(
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "LANGUAGE",
            "TZ",
            "TERM",
            "TMPDIR",
            "PYTHONPATH",
        ),
        *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS", "HTTP_PROXY", "HTTPS_PROXY"),
        *("NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
        *("OPENAI_API_KEY", "SOURCE_DATE_EPOCH"),
    }
)
_PASSED_PREFIXES = (
    *("LC_", "CUDA_", "NCCL_", "NVIDIA_", "VLLM_", "HF_", "HUGGING_FACE_", "TRANSFORMERS_", "TORCH", "XDG_"),
    *("GENBENCH_DATA", "GENBENCH_LEDGER", "PYTORCH_", "TRITON_", "RAY_"),
)
_PROGRAM = 'echo $$ >"$0"; exec "$@"'
"""A shell writes its process number, then becomes the command. So the number is known before it runs."""


def job_environment(
    environment: Mapping[str, str], *, more: Sequence[str] = (), devices: Sequence[str] | None = None
) -> dict[str, str]:
    """Return the variables that a job inherits.

    Args:
        more: names of further variables.
        devices: the GPUs of the job. None leaves CUDA_VISIBLE_DEVICES as it is.
    """
    passed = {
        name: value
        for name, value in environment.items()
        if name in _PASSED or name.startswith(_PASSED_PREFIXES) or name in more
    }
    return passed if devices is None else passed | {"CUDA_VISIBLE_DEVICES": ",".join(devices)}


class JobProcess:
    """The process of one job, started by this worker or by an earlier one.

    Args:
        folder: the folder with lock, process number and log of the job. It is made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_ours(self) -> bool:
        """Whether this object started the process, so that its exit code will be known."""
        return self._process is not None

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Start the command in a session of its own. Return False if a process of this job is alive.

        Raises:
            InputError: the command cannot be started.
        """
        lock = self._lock()
        if lock is None:
            return False
        try:
            with (self._folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", _PROGRAM, str(self._folder / "pid"), *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(environment),
                    pass_fds=(lock,),
                    start_new_session=True,
                )
        except OSError as error:
            raise InputError(f"{command[0]}: cannot be started: {error.strerror}") from error
        finally:
            os.close(lock)
        return True

    def is_alive(self) -> bool:
        """Return whether a process of this job is alive."""
        if self._process is not None and self._process.poll() is None:
            return True
        lock = self._lock()
        if lock is None:
            return True
        os.close(lock)
        return False

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process. None if it is alive, or if an earlier worker started it."""
        return None if self._process is None else self._process.poll()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to the process of this job. SIGKILL goes to all processes of its group.

        The group is that of the command. So SIGKILL also ends children that outlived it, such as an engine.
        """
        pid = self._pid()
        if pid is None:
            return
        # The process ended meanwhile, or its number belongs to a process of another user by now.
        with suppress(ProcessLookupError, PermissionError):
            if number == signal.SIGKILL:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)

    def _pid(self) -> int | None:
        """Return the number of the process, if it is one that inherited the lock."""
        if self._process is not None:
            return self._process.pid
        try:
            pid = int((self._folder / "pid").read_text())
            inherited = {str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
        except (OSError, ValueError):
            return None
        return pid if str((self._folder / "lock").resolve()) in inherited else None

    def _lock(self) -> int | None:
        """Return a descriptor that has the lock, or None if a process has it.

        Raises:
            InputError: the folder cannot be made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            fd = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InputError(f"{self._folder}: cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return None
        return fd
