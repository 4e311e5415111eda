"""A run in shards on a cluster of Ray: one process a shard, started again if it was killed.

Only Ray's core is used. A task of Ray gets all its devices on one machine, so no placement group is needed.
The engine runs in a process of its own, which Ray does not see.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import (
    EngineDiedError,
    InputError,
    InterruptedRunError,
    UnavailableError,
    install_command,
)
from genbench.runs.event_loop import StopSwitch, stop_on_signals
from genbench.store.lock import writer_of
from genbench.team.launch.plan import ShardPlan

STARTS = 4
"""How often a shard is started: once, and three times after it was killed."""
_STOPPED = 130
_REFUSED = (2, 3)
_TURNS = 50
"""How often a shard is continued after its limit of hours."""
_POLL_S = 0.5
_STOP_S = 120.0
_WRITER_S = 600.0
LOCAL = "local"


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """How the process of a shard ended: its exit code, negative for a signal, and the end of its output."""

    code: int
    output: str


def ray_script(plan: ShardPlan) -> str:
    """Return a shell script that hands the whole run to a cluster, as a job of Ray."""
    words = ["genbench", "launch", "ray", "--submit", f"--run-dir={plan.run_dir}", f"--shards={plan.shards}"]
    sizes = [f"--gpus={plan.gpus}", f"--cpus={plan.cpus}", f"--hours={plan.hours:g}"]
    command = shlex.join([*words, *sizes, *plan.arguments, "--", plan.suite])
    return (
        "#!/bin/bash\nset -euo pipefail\n"
        "# RAY_ADDRESS names the cluster, such as http://head:8265\n"
        f"ray job submit --no-wait -- {command}\n"
    )


def require_unjoined(plan: ShardPlan) -> None:
    """Check that the parts of a run are not joined yet.

    Raises:
        InputError: they are.
    """
    for path in sorted(plan.run_dir.glob("*/results.json")):
        raise InputError(f"{path.parent}: is drawn and joined already; see genbench show {path.parent}")


def draw_on_ray(plan: ShardPlan, *, address: str | None = None, say: Callable[[str], None]) -> list[int]:
    """Draw all shards of a plan on a cluster, and return their exit codes in order: 0, or 1 for "failed".

    Ctrl-C and SIGTERM stop all shards cleanly. The same command continues.

    Args:
        address: the cluster, as `ray.init` takes it. `local` starts one here that ends with the run. None:
            RAY_ADDRESS, a cluster that runs on this machine, or else a local one.
        say: called with a line for each thing that happened.

    Raises:
        UnavailableError: Ray is not installed, or the cluster cannot be reached.
        InputError: a shard was refused, with its own words, or no machine of a local cluster is large enough.
        EngineDiedError: a shard was killed as often as it may be started.
        InterruptedRunError: it was stopped.
    """
    ray = _connected(address)
    switch = StopSwitch()
    try:
        _check_size(ray, plan, say)
        with stop_on_signals(switch.stop):
            return _Shards(ray, plan, say).finish(switch)
    finally:
        ray.shutdown()


def _connected(address: str | None) -> Any:
    """Return the module of Ray, connected to a cluster."""
    # A cluster that is started here sends nothing about its use to the makers of Ray.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UnavailableError(f"Ray is not installed: {install_command('ray')} (not ray[llm])") from error
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        with suppress(ConnectionError):
            if address != LOCAL:
                ray.init(address=address or "auto", **quiet)
        if not ray.is_initialized():
            if address not in (None, LOCAL) or os.environ.get("RAY_ADDRESS"):
                raise ConnectionError("no cluster answers")
            _start_local(ray, quiet)
    except Exception as error:  # what Ray's start raises is not documented
        named = address or os.environ.get("RAY_ADDRESS") or "this machine"
        raise UnavailableError(f"--address {named}: {str(error).partition(chr(10))[0][:300]}") from error
    return ray


def _start_local(ray: Any, options: Mapping[str, Any]) -> None:
    """Start a cluster on this machine. Ray (2.60) gives up after 30 seconds, so try three times."""
    for is_last in (False, False, True):
        try:
            ray.init(address=LOCAL, include_dashboard=False, **options)
            return
        except Exception as error:  # Ray raises a plain Exception here
            if is_last or "timed out during startup" not in str(error):
                raise
            ray.shutdown()


def _check_size(ray: Any, plan: ShardPlan, say: Callable[[str], None]) -> None:
    """Say that no machine is large enough for a shard. A cluster that grows may get one later."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if any(item.get("CPU", 0) >= plan.cpus and item.get("GPU", 0) >= plan.gpus for item in machines):
        return
    gpus, cpus = max(((item.get("GPU", 0), item.get("CPU", 0)) for item in machines), default=(0, 0))
    has = f"the largest has {cpus:g} CPUs and {gpus:g} GPUs"
    text = f"--cpus {plan.cpus} --gpus {plan.gpus}: no machine of the cluster has so many; {has}"
    if len(machines) == 1:
        raise InputError(text)
    say(f"{text}. Waiting for one")


class _Shards:
    """The shards of one run on a connected cluster, and how often each was started."""

    def __init__(self, ray: Any, plan: ShardPlan, say: Callable[[str], None]) -> None:
        self._ray, self._plan, self._say = ray, plan, say
        # The number of retries is for deaths of Ray's own worker or of a whole machine.
        task = ray.remote(draw_shard)
        self._task = task.options(num_cpus=plan.cpus, num_gpus=plan.gpus, max_retries=STARTS - 1)
        self._killed = dict.fromkeys(range(1, plan.shards + 1), 0)
        self._turns = dict(self._killed)
        self._codes: dict[int, int] = {}
        self._pending: dict[Any, int] = {}

    def finish(self, switch: StopSwitch) -> list[int]:
        """Draw all shards. Return their exit codes in order."""
        for index in self._killed:
            self._start(index)
        try:
            while self._pending:
                if switch.reason is not None:
                    raise InterruptedRunError(f"stopped by {switch.reason}; the same command goes on")
                ready, _ = self._ray.wait(list(self._pending), timeout=_POLL_S)
                for reference in ready:
                    self._note(self._pending.pop(reference), reference)
        finally:
            self._stop()
        return [self._codes[index] for index in sorted(self._codes)]

    def _start(self, index: int) -> None:
        reference = self._task.remote(self._plan.draw_words(index), str(self._plan.folder(index)))
        self._pending[reference] = index

    def _note(self, index: int, reference: Any) -> None:
        name = f"shard {index}/{self._plan.shards}"
        try:
            end: ShardEnd = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            raise EngineDiedError(f"{name}: {str(error).strip()[-500:]}") from error
        if end.code in _REFUSED:
            raise InputError(f"{name} was refused: {end.output.strip()}")
        if end.code in (0, 1):
            self._codes[index] = end.code
            self._say(f"{name}: drawn ({len(self._codes)} of {self._plan.shards})")
            return
        if end.code == _STOPPED:
            self._turns[index] += 1
            if self._turns[index] > _TURNS:
                raise EngineDiedError(f"{name}: stopped {_TURNS} times by its limit of hours; see --hours")
            self._say(f"{name}: goes on after its limit of hours")
        else:
            self._killed[index] += 1
            how = f"killed by signal {-end.code}" if end.code < 0 else f"exit code {end.code}"
            if self._killed[index] >= STARTS:
                raise EngineDiedError(f"{name}: {how}, {STARTS} times. Its last lines:\n{end.output}")
            self._say(f"{name}: {how}; started again ({self._killed[index]} of {STARTS - 1})")
        self._start(index)

    def _stop(self) -> None:
        """Stop what still runs: each shard ends cleanly and keeps its samples."""
        if not self._pending:
            return
        for reference in self._pending:
            self._ray.cancel(reference)
        self._ray.wait(list(self._pending), num_returns=len(self._pending), timeout=_STOP_S)


def draw_shard(arguments: Sequence[str], folder: str) -> ShardEnd:
    """Run `genbench` with some arguments as a process of its own, and wait for it. Runs on the cluster.

    Args:
        folder: the folder of the shard. A process that writes it is waited for: Ray may have started this
            task again while the process of its first start still lives.
    """
    _wait_for_writer(Path(folder))
    log = Path(folder).with_name(f"{Path(folder).name}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        start = file.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "genbench", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            code = process.wait()
        except BaseException:  # Ray cancels a task by KeyboardInterrupt
            process.terminate()
            process.wait()
            raise
    with log.open("rb") as file:
        file.seek(max(start, log.stat().st_size - 4000))
        return ShardEnd(code, file.read().decode("utf-8", "replace"))


def _wait_for_writer(folder: Path) -> None:
    """Wait until no process writes a run below a folder. After ten minutes the run itself refuses."""
    until = time.monotonic() + _WRITER_S
    while time.monotonic() < until:
        writers = [writer_of(path.parent) for path in folder.glob("*/owner.json")]
        if not any(writer is not None and writer.alive for writer in writers):
            return
        time.sleep(_POLL_S)
