"""The commands of a job, one after the other, each a process that outlives the worker that started it.

The commands are the run, the ledger, and the search for changes. What becomes of the job is decided from the
exit code and the folder that a command leaves.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from genbench.errors import InputError
from genbench.store.lock import writer_of
from genbench.team.queue.jobs import job_folder
from genbench.team.queue.records import Job

_PASSED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR"),
        *("PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS", "HTTP_PROXY"),
        *("HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE"),
        *("REQUESTS_CA_BUNDLE", "OPENAI_API_KEY", "SOURCE_DATE_EPOCH"),
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


WAITS_S = (60.0, 300.0, 1500.0)
"""Seconds before the second, third and later attempts."""
MOST_ATTEMPTS = 3
"""Attempts in a row that add no sample, after which a job has failed."""
STOPPED = 130
BAD_INPUT = 2
_NOT_COMPARABLE = 3
_LEAST_FREE = 0.05
"""The share of a disk below which nothing starts."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What happens next. `again` is queued once more, after `wait_s` seconds."""

    what: Literal["done", "again", "failed"]
    attempts: int = 0
    wait_s: float = 0.0
    note: str = ""


def job_result(
    code: int | None,
    *,
    grew: bool,
    asked_to_stop: bool,
    attempts: int,
    marked: bool,
    waits_s: Sequence[float] = WAITS_S,
) -> JobResult:
    """Return what becomes of a job whose command has ended.

    Args:
        code: the exit code, negative for a signal. None if an earlier worker started the process.
        grew: whether samples were added since the command was started.
        asked_to_stop: whether this worker stopped it.
        attempts: earlier attempts in a row that added no sample.
        marked: whether the run has ended and is marked as failed (too many excluded samples, a gate).
    """
    if code == 0 or (code == 1 and marked):
        return JobResult("done")
    if code in (BAD_INPUT, _NOT_COMPARABLE):
        return JobResult("failed", attempts, note=f"exit code {code}")
    if asked_to_stop or (code == STOPPED and grew):
        return JobResult("again", attempts)
    if code is None:
        # Nothing is known of it, so its command is asked again. A finished run draws nothing.
        return JobResult("again", 0 if grew else attempts)
    return _retry(code, 0 if grew else attempts + 1, waits_s)


def _retry(code: int, fruitless: int, waits_s: Sequence[float]) -> JobResult:
    """Return whether a command that died is tried again, after how many fruitless attempts."""
    if fruitless >= MOST_ATTEMPTS:
        return JobResult("failed", fruitless, note=f"{fruitless} attempts in a row added no sample")
    wait = waits_s[min(max(0, fruitless - 1), len(waits_s) - 1)]
    return JobResult("again", fruitless, wait, f"signal {-code}" if code < 0 else f"exit code {code}")


def stored_bytes(run_dir: Path) -> int:
    """Return the bytes of all completions below a folder. They only ever grow."""
    return sum(path.stat().st_size for path in _files(run_dir, "*/*/completions.jsonl"))


def is_marked_failed(run_dir: Path) -> bool:
    """Return whether a run below a folder has results that must not be used."""
    for path in _files(run_dir, "*/results.json"):
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(path.read_bytes()).get("failed"):
                return True
    return False


def other_writer(run_dir: Path) -> str | None:
    """Return who writes a run below a folder now, if anybody does: a process of another host, or by hand."""
    for owner in _files(run_dir, "*/owner.json"):
        writer = writer_of(owner.parent)
        if writer is not None and writer.alive is not False:
            return str(writer)
    return None


def _files(run_dir: Path, pattern: str) -> Iterator[Path]:
    if run_dir.is_dir():
        yield from sorted(run_dir.glob(pattern))


def disk_is_full(folder: Path) -> bool:
    """Return whether less than a twentieth of the disk is free."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    return usage.free < _LEAST_FREE * usage.total


STAGES = ("run", "ledger", "trend")


def stage_command(job: Job, stage: int, program: Sequence[str], ledger: str | None) -> list[str] | None:
    """Return the command of a stage, or None if the job has no such stage.

    Args:
        program: the words of the `genbench` command itself.
        ledger: the ledger that the run is added to. None means the default.
    """
    where = [] if ledger is None else [f"--ledger={ledger}"]
    match STAGES[stage] if stage < len(STAGES) else None:
        case "run":
            return [*program, *job.spec.arguments(job.run_dir)]
        case "ledger":
            return [*program, "ledger", "add", *where, "--", job.run_dir]
        case "trend" if job.track:
            return [*program, "trend", *where, "--", job.track]
        case _:
            return None


class RunningJob:
    """A job that this worker has, with its devices and the process of its present stage.

    Args:
        devices: the devices that it occupies.
        clock: seconds by a monotonic clock when it was leased.
    """

    def __init__(self, job: Job, devices: tuple[str, ...], clock: float) -> None:
        self.job, self.devices, self.leased_at = job, devices, clock
        self.stage = 0
        self.process = JobProcess(job_folder(job))
        self.is_started = False
        self.is_waiting_for = ""
        self.unwritten = ""  # the command that was started, until the queue knows it
        self.asked_at: float | None = None
        self.cancelled = False
        self.is_lost = False
        self._stored = 0

    def left_s(self, clock: float) -> float | None:
        """Return the seconds after which it ends at the latest, or None if it has no limit."""
        hours = self.job.max_hours
        return None if hours is None else max(0.0, hours * 3600 - (clock - self.leased_at))

    def note_start(self) -> None:
        """Remember how many samples there are as a stage starts."""
        self.is_started, self.is_waiting_for = True, ""
        self._stored = stored_bytes(Path(self.job.run_dir))

    @property
    def grew(self) -> bool:
        """Whether samples were added since the stage started."""
        return stored_bytes(Path(self.job.run_dir)) > self._stored

    def next_stage(self) -> None:
        """Go on to the next command, in a new process."""
        self.stage += 1
        self.process = JobProcess(job_folder(self.job))
        self.is_started = False
