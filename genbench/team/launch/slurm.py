"""A run as a job array of Slurm."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass

from genbench.errors import InputError, UnavailableError
from genbench.team.launch.plan import ShardPlan, job_name

_RESTARTS = 50
_SUBMIT_S = 60


@dataclass(frozen=True, slots=True)
class SlurmScripts:
    """The script of the array, and that of the job after it."""

    draw: str
    join: str

    def text(self) -> str:
        """Return one shell script that submits both."""
        return (
            "#!/bin/bash\nset -euo pipefail\n"
            f"draw=$(sbatch --parsable <<'GENBENCH_DRAW'\n{self.draw}GENBENCH_DRAW\n)\n"
            f"sbatch --dependency=afterok:${{draw%%;*}} <<'GENBENCH_JOIN'\n{self.join}GENBENCH_JOIN\n"
        )


def slurm_scripts(plan: ShardPlan, options: tuple[str, ...] = ()) -> SlurmScripts:
    """Return the scripts of a plan.

    Args:
        options: further options of sbatch for both, such as `--partition=gpu`.

    Raises:
        InputError: an option has a line break.
    """
    if any("\n" in text for text in (*options, *plan.setup, *plan.arguments)):
        raise InputError("options for sbatch, set-up and arguments are single lines")
    name, minutes = job_name(plan.suite), round(plan.hours * 60)
    gpus = [f"--gpus-per-task={plan.gpus}"] if plan.gpus else []
    head = [f"--array=1-{plan.shards}", "--ntasks=1", *gpus, f"--cpus-per-task={plan.cpus}", "--requeue"]
    log = f"--output={shlex.quote(str(plan.run_dir / 'slurm-%A-%a.log'))}"
    lines = [
        *_header(f"{name}", [*head, f"--time={minutes}", log, *options]),
        *plan.setup,
        plan.draw("$SLURM_ARRAY_TASK_ID"),
        "code=$?",
        "# 130: stopped cleanly by its limit of hours. The same command goes on in the same job.",
        f'if [ "$code" = 130 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {_RESTARTS} ]; then',
        '  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"',
        "fi",
        "exit $code",
    ]
    after = [*_header(f"{name}-join", ["--ntasks=1", f"--cpus-per-task={plan.cpus}", "--time=240", *options])]
    joined = [*after, *plan.setup, plan.join()]
    return SlurmScripts("\n".join(lines) + "\n", "\n".join(joined) + "\n")


def _header(name: str, options: list[str]) -> list[str]:
    return ["#!/bin/bash", f"#SBATCH --job-name={name}", *(f"#SBATCH {text}" for text in options)]


def submit_slurm(scripts: SlurmScripts) -> tuple[str, str]:
    """Send both scripts with sbatch. Return the numbers of the array and of the job that joins.

    Raises:
        UnavailableError: sbatch is not there.
        InputError: Slurm refused a script.
    """
    draw = _sbatch(scripts.draw, ())
    return draw, _sbatch(scripts.join, (f"--dependency=afterok:{draw}",))


def _sbatch(script: str, options: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(
            ["sbatch", "--parsable", *options],
            input=script,
            capture_output=True,
            text=True,
            timeout=_SUBMIT_S,
            check=False,
        )
    except FileNotFoundError:
        raise UnavailableError(
            "sbatch is not installed here; leave out --submit to print the script"
        ) from None
    except subprocess.TimeoutExpired:
        raise InputError(
            f"sbatch did not answer within {_SUBMIT_S} s; is the controller of Slurm up?"
        ) from None
    if done.returncode:
        raise InputError(f"sbatch refused the script: {done.stderr.strip()[:500]}")
    return done.stdout.strip().partition(";")[0]
