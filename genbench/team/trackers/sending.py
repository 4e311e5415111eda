"""A program that hands scores to one tracker: `python -m …trackers.sending TRACKER PROJECT < JSON`.

It is a process of its own, so the package of a tracker cannot harm a worker or delay a run.
The JSON has `track`, `kind` (night or step), `number` (that of the message) and `points`.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from genbench.store.clock import wall_seconds

_INIT_S = 30
_ROWS = 1000
"""More than the points of a message."""


def to_wandb(project: str, order: Mapping[str, Any]) -> None:
    """Log points to Weights & Biases: one run a track, whose axis is the training step.

    W&B drops rows whose own step goes back, so the axis is a metric and late checkpoints arrive.
    """
    import wandb  # noqa: PLC0415 - an extra

    axis = _axis(order)
    run = wandb.init(
        project=project,
        id=re.sub(r"[^A-Za-z0-9_.-]", "-", order["track"])[:120],
        name=order["track"],
        resume="allow",
        settings=wandb.Settings(init_timeout=_INIT_S, silent=True, x_disable_stats=True, console="off"),
    )
    run.define_metric(axis)
    run.define_metric("*", step_metric=axis)
    for number, point in enumerate(order["points"]):
        # A row of its own step, also in a run that is continued offline and cannot know its last one.
        run.log({axis: point["position"], **point["values"]}, step=order["number"] * _ROWS + number)
    run.finish()


def to_mlflow(project: str, order: Mapping[str, Any]) -> None:
    """Log points to MLflow: one run a track, found again by its tag."""
    from mlflow import MlflowClient  # noqa: PLC0415 - an extra
    from mlflow.entities import Metric  # noqa: PLC0415

    client = MlflowClient()
    known = client.get_experiment_by_name(project)
    experiment = client.create_experiment(project) if known is None else known.experiment_id
    quoted = order["track"].replace("'", "")
    found = client.search_runs([experiment], f"tags.`genbench.track` = '{quoted}'", max_results=1)
    if found:
        run = found[0].info.run_id
    else:
        made = client.create_run(experiment, tags={"genbench.track": quoted}, run_name=order["track"])
        run = made.info.run_id
    moment = int(wall_seconds() * 1000)
    metrics = [
        Metric(_plain(name), value, moment, point["position"])
        for point in order["points"]
        for name, value in point["values"].items()
    ]
    for start in range(0, len(metrics), 500):
        client.log_batch(run, metrics=metrics[start : start + 500])


def to_trackio(project: str, order: Mapping[str, Any]) -> None:
    """Log points to Trackio: one run a track.

    Raises:
        OSError: they could not be written. Trackio (0.43) only warns about it.
    """
    import trackio  # noqa: PLC0415 - an extra

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        trackio.init(project=project, name=order["track"], resume="allow", embed=False, auto_log_cpu=False)
        for point in order["points"]:
            trackio.log({_axis(order): point["position"], **point["values"]}, step=point["position"])
        trackio.finish()
    for warning in told:
        if "trackio failed" in str(warning.message):
            raise OSError(str(warning.message))


def _axis(order: Mapping[str, Any]) -> str:
    return "train/step" if order["kind"] == "step" else "night"


def _plain(name: str) -> str:
    """Return a name that MLflow takes."""
    return re.sub(r"[^\w\-. :/]", "_", name)[:250]


SENDERS: Mapping[str, Callable[[str, Mapping[str, Any]], None]] = MappingProxyType(
    {"wandb": to_wandb, "mlflow": to_mlflow, "trackio": to_trackio}
)
"""How each tracker takes points, by the name of its package."""


def main() -> None:
    """Send what is on stdin. Exit with 1 and one line on stderr if it did not arrive."""
    tracker, project = sys.argv[1:]
    order = json.load(sys.stdin)
    try:
        SENDERS[tracker](project, order)
    except Exception as error:  # what the packages raise is their own
        print(f"\n{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
