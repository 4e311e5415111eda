"""Evaluation from inside a training: calls that return at once, for a server whose weights change.

Nothing of the evaluation runs in the trainer's process: each step is a process of its own, in order.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import require_results
from genbench.errors import ConfigError, EngineError, GenbenchError, InputError
from genbench.runs.command import run_models
from genbench.runs.options import RunOptions
from genbench.store.folder import RunFolder
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import read_suite

_LINES = 12
"""Last lines of a failed evaluation that its error has."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A step that is evaluated, or waits for it. `folder` is its run folder once it is drawn."""

    step: int
    folder: Path
    _done: Future[Results | None] = field(repr=False)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._done.done()

    def result(self, timeout_s: float | None = None) -> Results | None:
        """Wait for the scores. None: the step was put into the queue, and a worker draws it later.

        Raises:
            EngineError: the step is void, or its engine failed. The track has a hole there, never a score.
            TimeoutError: it has not ended by then, and goes on.
        """
        return self._done.result(timeout_s)


class Loop:
    """Evaluates steps of one training. Calls return at once, and steps are drawn in their order.

    Args:
        suite: its first model is the one that is trained. `evaluate` wants the suite's
            `engine: {kind: http, weights: PATH:FIELD}`; `later` takes any engine.
        track: the name of the track. Steps are its points.
        runs: the folder below which run folders are made.
        limit: at most so many problems of each task.
        full_every: every so many steps that are evaluated, all problems are drawn. None: always `limit`.
        tasks: only these tasks.
        overrides: KEY=VALUE texts, as `--set`, such as `engine.base_urls=["http://127.0.0.1:8000/v1"]`.
        data_dir: the mirror of datasets.

    Raises:
        InputError: the suite cannot be read.
    """

    def __init__(
        self,
        suite: str | Path,
        track: str,
        *,
        runs: str | Path = "runs",
        limit: int | None = None,
        full_every: int | None = None,
        tasks: Sequence[str] = (),
        overrides: Sequence[str] = (),
        data_dir: str | Path | None = None,
    ) -> None:
        known = read_suite(suite_path(str(suite)), list(overrides))
        self._model = next(iter(known.written))
        if known.written[self._model].effort:
            raise ConfigError(
                f"{known.where('models', self._model, 'effort')}: a training loop asks a model in one way; "
                "set its chat_template_kwargs instead"
            )
        self._versioned = getattr(known.config.engine, "weights", None) is not None
        self._suite, self._track, self._runs = str(suite), track, Path(runs)
        self._limit, self._full_every = limit, full_every
        self._common = {
            "tasks": list(tasks),
            "overrides": list(overrides),
            "data_dir": None if data_dir is None else str(data_dir),
        }
        self._count = 0
        self._last: Path | None = None
        self._waiting: queue.SimpleQueue[tuple[Evaluation, list[str]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="genbench loop", daemon=True)
        self._thread.start()

    def evaluate(self, step: int, *, unversioned: bool = False) -> Evaluation:
        """Draw from the server as it is now. Return at once; `result` of what comes back waits.

        Every reply must be of the weights that the server had when the step began. If they move on before
        all is drawn, the step is void.

        Args:
            unversioned: accept a server that does not tell which weights it has. Nothing is then checked.

        Raises:
            InputError: the suite's engine has no `weights`, and `unversioned` was not said.
        """
        if not (self._versioned or unversioned):
            raise InputError(
                f"{self._suite}: engine.weights is not set, so replies of two versions could be mixed; set "
                "it (PATH:FIELD of the server), or say unversioned=True"
            )
        whole = self._full_every is not None and self._count % self._full_every == 0
        self._count += 1
        place = self._runs / self._track / f"step-{step}"
        asked = {
            "suite": self._suite,
            "model": self._model,
            "step": step,
            "track": self._track,
            "run_dir": str(place),
            "limit": None if whole else self._limit,
            **self._common,
        }
        command = [sys.executable, "-m", "genbench.team.watch.loop", json.dumps(asked)]
        return self._put(Evaluation(step, place / self._model, Future()), command)

    def later(self, step: int, checkpoint: str | Path) -> Evaluation:
        """Put a written checkpoint into the queue, from which `genbench queue work` draws it. Return at once.

        Args:
            checkpoint: its folder. It must stay until it is drawn; `genbench watch` also keeps such files.
        """
        command = [sys.executable, "-m", "genbench", "queue", "submit", self._suite]
        command += ["--checkpoint", str(checkpoint), "--track", self._track, "--runs", str(self._runs)]
        for task in self._common["tasks"] or ():
            command += ["--task", task]
        for override in self._common["overrides"] or ():
            command += ["--set", override]
        if self._limit is not None:
            command += ["--limit", str(self._limit)]
        if self._common["data_dir"] is not None:
            command += ["--data-dir", str(self._common["data_dir"])]
        return self._put(Evaluation(step, self._runs / self._track, Future()), command)

    def close(self, timeout_s: float | None = None) -> None:
        """Wait until all steps are evaluated. A trainer that ends without it leaves the last ones undone."""
        self._waiting.put(None)
        self._thread.join(timeout_s)

    def _put(self, evaluation: Evaluation, command: list[str]) -> Evaluation:
        self._waiting.put((evaluation, command))
        return evaluation

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            evaluation, command = item
            try:
                evaluation._done.set_result(self._one(evaluation, command))
            except BaseException as error:  # whoever waits for the result gets it
                evaluation._done.set_exception(error)

    def _one(self, evaluation: Evaluation, command: list[str]) -> Results | None:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            code = done.returncode
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            lines = (done.stderr or done.stdout).strip().splitlines()[-_LINES:]
            said = [f"step {evaluation.step} was not evaluated: its process {how}", *lines]
            raise EngineError("\n".join(said))
        if command[2] != "genbench.team.watch.loop":
            return None
        if self._last is not None and is_stalled(self._last, evaluation.folder):
            same = self._last.parent.name
            warnings.warn(
                f"step {evaluation.step} of {self._track}: all replies are those of {same}: the server "
                "probably did not get the new weights",
                stacklevel=2,
            )
        self._last = evaluation.folder
        return require_results(RunFolder(evaluation.folder))


def is_stalled(earlier: Path, later: Path) -> bool:
    """Return whether two steps of one track have the same replies, byte for byte, in all tasks alike."""
    first, second = (RunFolder(path).require_manifest().drawn for path in (earlier, later))
    shared = [name for name in first if name in second and first[name].lines == second[name].lines]
    return bool(shared) and all(first[name].digest == second[name].digest for name in shared)


def _run_step(asked: dict[str, Any]) -> None:
    """Evaluate one step in this process."""
    run_models(
        RunOptions(
            suite=asked["suite"],
            models=[asked["model"]],
            steps={asked["model"]: asked["step"]},
            track=asked["track"],
            run_dir=asked["run_dir"],
            limit=asked["limit"],
            tasks=asked["tasks"],
            overrides=asked["overrides"],
            data_dir=asked["data_dir"],
            quiet=True,
            command=f"genbench.Loop({asked['suite']!r}, {asked['track']!r}).evaluate({asked['step']})",
        )
    )


if __name__ == "__main__":
    try:
        _run_step(json.loads(sys.argv[1]))
    except GenbenchError as error:
        sys.exit(f"genbench: {error}")
