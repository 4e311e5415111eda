"""Runs one sample of an Inspect task. This file is run by the Python that inspect_ai is installed in.

A problem has, besides `id` and `instruction` (which readers see; the model gets the task's own input):

    path       file with the task, or nothing if `task` is the name of an installed one
    task       name of the @task function, or `package/name`. The file must define it itself
    sample_id  id of the sample in the task's dataset; the problem's own id unless told
    task_args  arguments of the task

Settings:

    score      name of the scorer that decides; the first one unless told
    eval_args  arguments of inspect_ai.eval, such as message_limit and sandbox

The samples of a task are the problems of a suite, and its epochs are `k`. A score is taken as Inspect's
value_to_float reads it: C, P and I are 1, 0.5 and 0.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_RETRIES = 3


def main() -> None:
    """Run the sample that the environment describes, and write result.json."""
    out, place = Path(os.environ["GENBENCH_OUT"]), Path(os.environ["GENBENCH_PROBLEM"])
    problem: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    place.unlink()
    # Inspect keeps caches and traces in the home folder of its user, which is that of the rollout.
    from inspect_ai import eval as evaluate  # noqa: PLC0415
    from inspect_ai.model import get_model  # noqa: PLC0415

    settings = problem["settings"]
    base_url, key, model = (
        os.environ.pop(name) for name in ("GENBENCH_BASE_URL", "GENBENCH_KEY", "GENBENCH_MODEL")
    )
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        os.environ.pop(name, None)
    task = f"{problem['path']}@{problem['task']}" if problem.get("path") else problem["task"]
    (log,) = evaluate(
        task,
        model=get_model(f"openai-api/genbench/{model}", base_url=base_url, api_key=key),
        task_args=problem.get("task_args", {}),
        sample_id=problem.get("sample_id", problem["id"]),
        epochs=1,
        display="none",
        log_dir=str(out / "logs"),
        log_format="json",
        log_realtime=False,
        log_images=False,
        max_retries=_RETRIES,
        **{"turn_limit": problem["limits"]["turns"], **settings.get("eval_args", {})},
    )
    ending, detail = _ending(log, settings.get("score"))
    (out / "trajectory.json").write_bytes(Path(str(log.location).removeprefix("file://")).read_bytes())
    (out / "result.json").write_text(json.dumps({"ending": ending, "detail": detail}), encoding="utf-8")


def _ending(log: Any, scorer: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how the sample ended, and what is kept of it."""
    from inspect_ai.scorer import value_to_float  # noqa: PLC0415

    if not log.samples:
        why = log.error.message if log.error else "Inspect ran no sample"
        return {"error": why, "limit": None, "score": None}, {"why": why[:1000]}
    sample = log.samples[0]
    scores = sample.scores or {}
    found = scores.get(scorer) if scorer else next(iter(scores.values()), None)
    score = None if found is None else float(value_to_float()(found.value))
    error = sample.error.message if sample.error else None
    limit = sample.limit.type if sample.limit else None
    detail = {"scores": {name: str(item.value) for name, item in scores.items()}, "limit": limit}
    if error:
        detail["why"] = error[:1000]
    return {"error": error, "limit": limit, "score": score}, detail


if __name__ == "__main__":
    main()
