"""A run as an indexed Job of Kubernetes, and a suspended Job that joins its shards."""

from __future__ import annotations

import json
import re
from typing import Any

from genbench.errors import InputError
from genbench.team.launch.plan import ShardPlan, job_name

_RETRIES = 20
"""Failures of one shard after which its Job fails. A clean stop by the limit of hours counts as one."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_IMAGE = re.compile(r"[\w.:/@-]{1,255}")


def kubernetes_manifest(plan: ShardPlan, *, image: str, claim: str, mount: str) -> str:
    """Return a List of both Jobs as JSON, which kubectl takes like YAML.

    Args:
        image: a container image with genbench.
        claim: a volume claim that all pods may write.
        mount: where it is mounted. The folder of the run and the suite must lie below it.

    Raises:
        InputError: a name is wrong, or a path is not on the volume.
    """
    if not _IMAGE.fullmatch(image):
        raise InputError(f"--image {image[:80]}: wanted the name of an image, such as registry/genbench:0.2")
    if not _NAME.fullmatch(claim):
        raise InputError(f"--claim {claim[:80]}: wanted small letters, digits and '-'")
    for what, path in (("--run-dir", str(plan.run_dir)), ("the suite", plan.suite)):
        if not f"{path}/".startswith(f"{mount.rstrip('/')}/"):
            raise InputError(f"{what} {path}: must lie below {mount}, the shared volume (see --mount)")
    name = job_name(plan.suite)
    index = "$((JOB_COMPLETION_INDEX + 1))"
    draw = _job(
        name, plan, [*plan.setup, f"exec {plan.draw(index)}"], image, claim, mount=mount, gpus=plan.gpus
    )
    draw["spec"] |= {
        "completionMode": "Indexed",
        "completions": plan.shards,
        "parallelism": plan.shards,
        "backoffLimitPerIndex": _RETRIES,
    }
    join = _job(f"{name}-join", plan, [*plan.setup, f"exec {plan.join()}"], image, claim, mount=mount, gpus=0)
    join["spec"] |= {"suspend": True, "backoffLimit": 2}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [draw, join]}, indent=2) + "\n"


def _job(
    name: str, plan: ShardPlan, lines: list[str], image: str, claim: str, *, mount: str, gpus: int
) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {
        "name": "genbench",
        "image": image,
        "command": ["/bin/bash", "-c", "\n".join(lines)],
        "resources": {"requests": {"cpu": str(plan.cpus)}, "limits": limits},
        "volumeMounts": [{"name": "shared", "mountPath": mount}, {"name": "shm", "mountPath": "/dev/shm"}],
    }
    # vLLM's processes talk through shared memory, of which a container has 64 MB by default.
    volumes = [
        {"name": "shared", "persistentVolumeClaim": {"claimName": claim}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 300,
        "containers": [container],
        "volumes": volumes,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": pod}},
    }


def kubernetes_steps(plan: ShardPlan) -> list[str]:
    """Return the commands that start the Jobs one after the other."""
    name = job_name(plan.suite)
    return [
        "kubectl apply -f jobs.json",
        f"kubectl wait --for=condition=complete --timeout=-1s job/{name}",
        f'kubectl patch job/{name}-join -p \'{{"spec":{{"suspend":false}}}}\'',
    ]
