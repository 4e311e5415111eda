"""Manifests for Kubernetes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.team.launch.kubernetes import kubernetes_manifest, kubernetes_steps
from genbench.team.launch.plan import ShardPlan

PLAN = ShardPlan("/data/night.yaml", Path("/data/runs/n"), 8, gpus=2, setup=("export HF_HUB_OFFLINE=1",))


def manifest(**changed: str) -> Any:
    names = {"image": "reg.example.org/genbench:0.2", "claim": "shared", "mount": "/data"}
    return json.loads(kubernetes_manifest(PLAN, **{**names, **changed}))


def test_each_index_draws_its_part_and_the_second_job_waits() -> None:
    draw, join = manifest()["items"]
    spec = draw["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 8, 8)
    (container,) = spec["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    script = container["command"][-1]
    shown = subprocess.run(
        ["bash", "-c", 'genbench() { echo "$@"; }\n' + script.replace("exec ", "")],
        capture_output=True,
        text=True,
        env={"JOB_COMPLETION_INDEX": "3", "PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert "--shard=4/8" in shown.stdout
    assert join["spec"]["suspend"] is True and "merge -- /data/runs/n" in str(join)
    assert kubernetes_steps(PLAN)[1] == "kubectl wait --for=condition=complete --timeout=-1s job/night"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"image": "a b"}, "wanted the name of an image"),
        ({"claim": "A_B"}, "small letters"),
        ({"mount": "/other"}, "must lie below /other"),
        ({"mount": "/dat"}, "must lie below /dat"),
    ],
)
def test_what_the_cluster_would_refuse_is_refused_here(changed: dict[str, str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        manifest(**changed)
