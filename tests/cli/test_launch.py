"""`genbench launch`: scripts on stdout, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from genbench.team.commands import launch
from tests.team.queue.test_spec import SUITE

from .conftest import Outcome

Cli = Callable[..., Outcome]


def test_scripts_are_printed(genbench: Cli, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    common = (tmp_path / "suite.yaml", "--run-dir", tmp_path / "r", "--shards", "4", "--model", "tuned=./c")
    slurm = genbench("launch", "slurm", *common, "--option=--partition=h100")
    assert slurm.code == 0 and slurm.out.startswith("#!/bin/bash\n")
    assert "--model=tuned=./c" in slurm.out and "#SBATCH --partition=h100" in slurm.out
    places = ("--image", "g:1", "--claim", "shared", "--mount", tmp_path)
    k8s = genbench("launch", "k8s", *common, *places)
    assert len(json.loads(k8s.out)["items"]) == 2 and "kubectl apply" in k8s.err
    wrong = genbench("launch", "slurm", *common[:-1], "tund")
    assert wrong.code == 2 and "no model 'tund'" in wrong.err
    assert not (tmp_path / "r").exists() and callable(launch.launch_slurm)
