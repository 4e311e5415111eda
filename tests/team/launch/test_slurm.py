"""Scripts for Slurm: bash reads them, and a stand-in for sbatch takes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from genbench.errors import InputError, UnavailableError
from genbench.team.launch.plan import ShardPlan
from genbench.team.launch.slurm import slurm_scripts, submit_slurm

PLAN = ShardPlan("/s/night.yaml", Path("/scratch/n"), 8, gpus=2, cpus=16, setup=("source /opt/g/activate",))
DRAW = """\
#!/bin/bash
#SBATCH --job-name=night
#SBATCH --array=1-8
#SBATCH --ntasks=1
#SBATCH --gpus-per-task=2
#SBATCH --cpus-per-task=16
#SBATCH --requeue
#SBATCH --time=240
#SBATCH --output=/scratch/n/slurm-%A-%a.log
#SBATCH --partition=h100
source /opt/g/activate
genbench run --run-dir=/scratch/n --max-hours=3.83 --shard="$SLURM_ARRAY_TASK_ID/8" -- /s/night.yaml
code=$?
"""
SBATCH = """#!/bin/sh
echo "$@" >> "$0.log"
cat >> "$0.log"
echo "$((40 + $(grep -c '^--parsable' "$0.log")));cluster"
"""


def test_the_script_of_the_array_is_as_it_should_be() -> None:
    scripts = slurm_scripts(PLAN, ("--partition=h100",))
    assert scripts.draw.startswith(DRAW)
    assert scripts.join.endswith("genbench merge -- /scratch/n\n")
    assert subprocess.run(["bash", "-n"], input=scripts.text(), text=True, check=True).returncode == 0


def test_a_part_that_stopped_by_its_limit_is_queued_again(tmp_path: Path) -> None:
    (tmp_path / "genbench").write_text("#!/bin/sh\nexit 130\n")
    (tmp_path / "scontrol").write_text('#!/bin/sh\necho "$@"\n')
    for name in ("genbench", "scontrol"):
        (tmp_path / name).chmod(0o755)
    variables = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3"}
    plan = ShardPlan("/s/n.yaml", Path("/n"), 8)
    done = subprocess.run(
        ["bash"],
        input=slurm_scripts(plan).draw,
        capture_output=True,
        text=True,
        env={**os.environ, **variables, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "requeue 7_3\n")


def test_both_jobs_are_sent_and_the_second_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sbatch").write_text(SBATCH)
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert submit_slurm(slurm_scripts(PLAN)) == ("41", "42")
    assert "--parsable --dependency=afterok:41" in (tmp_path / "sbatch.log").read_text()
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho 'invalid partition' >&2\nexit 1\n")
    with pytest.raises(InputError, match="sbatch refused the script: invalid partition"):
        submit_slurm(slurm_scripts(PLAN))


def test_without_slurm_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="leave out --submit"):
        submit_slurm(slurm_scripts(PLAN))


def test_an_option_cannot_bring_a_second_line() -> None:
    with pytest.raises(InputError, match="single lines"):
        slurm_scripts(PLAN, ("--partition=a\nrm -rf /",))
