"""A run in shards: the command of each shard, and the command that joins them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from genbench.errors import InputError
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions, check_options
from genbench.suite.shipped import suite_path

MOST_SHARDS = 10_000


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """What is drawn in shards, and what each shard needs.

    Args:
        suite: a suite file or the name of a shipped suite.
        run_dir: the folder of the run, which all machines see.
        shards: parts of the run.
        gpus: devices of one shard.
        cpus: CPU cores of one shard.
        hours: time limit of one job. The run stops cleanly a little earlier and continues in a new job.
        arguments: further arguments of `genbench run`, such as `--model tuned=./ckpt`.
        setup: lines of shell before the command, such as the activation of an environment.
    """

    suite: str
    run_dir: Path
    shards: int
    gpus: int = 1
    cpus: int = 8
    hours: float = 4.0
    arguments: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()

    def checked(self, models: Sequence[str] = (), overrides: Sequence[str] = ()) -> ShardPlan:
        """Return the plan with absolute paths, after its suite was read.

        Raises:
            InputError: the suite or an option is wrong, or a number is out of range.
        """
        for name, value, most in (
            ("--shards", self.shards, MOST_SHARDS),
            ("--gpus", self.gpus, 64),
            ("--cpus", self.cpus, 1024),
        ):
            least = 0 if name == "--gpus" else 1
            if not least <= value <= most:
                raise InputError(f"{name} {value}: wanted {least} to {most}")
        if not 0.2 < self.hours <= 10_000:
            raise InputError(f"--hours {self.hours:g}: wanted more than 0.2")
        options = RunOptions(suite=self.suite, models=models, overrides=overrides, shard=f"1/{self.shards}")
        check_options(options)
        open_suite(options)
        return replace(self, suite=str(suite_path(self.suite).resolve()), run_dir=self.run_dir.resolve())

    def draw(self, index: str) -> str:
        """Return the command of one shard for a shell.

        Args:
            index: a shell expression of its number, from 1.
        """
        words = shlex.join(["genbench", *self._run_words()])
        return f'{words} --shard="{index}/{self.shards}" -- {shlex.quote(self.suite)}'

    def draw_words(self, index: int) -> list[str]:
        """Return the arguments of the `genbench` command that draws shard `index`, from 1."""
        return [*self._run_words(), f"--shard={index}/{self.shards}", "--", self.suite]

    def folder(self, index: int) -> Path:
        """Return the folder that shard `index` writes."""
        return self.run_dir / f"shard-{index}-of-{self.shards}"

    def _run_words(self) -> list[str]:
        # A twentieth of the time, at most ten minutes, is left for a clean stop.
        stop = f"--max-hours={self.hours - min(1 / 6, self.hours / 20):.3g}"
        return ["run", f"--run-dir={self.run_dir}", *self.arguments, stop]

    def join(self) -> str:
        """Return the command that joins the shards, for a shell."""
        return shlex.join(["genbench", "merge", "--", str(self.run_dir)])


def job_name(text: str) -> str:
    """Return a name that schedulers take: small letters, digits and '-', at most 40."""
    return re.sub(r"[^a-z0-9]+", "-", Path(text).stem.lower()).strip("-")[:40].strip("-") or "genbench"
