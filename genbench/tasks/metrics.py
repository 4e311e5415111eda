"""The check of a task's metrics before any sample is drawn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from genbench import registry
from genbench.errors import ConfigError, InputError, call_mistake, nearest, place_of
from genbench.stats.metrics import parse_metric

_VALID = ("acc", "avg@k", "pass@k", "pass^k", "maj@k")


def is_built_in(metric: str) -> bool:
    """Return whether a metric is one of genbench's own, with `k` or with a number in its place."""
    try:
        parse_metric(metric)
    except InputError:
        return False
    return True


def check_metric(metric: str, k: int, folder: str | None) -> None:
    """Refuse a metric that cannot be estimated from k samples of each problem.

    Raises:
        ConfigError: it has no such name, it needs another k, or its plug-in cannot be used.
    """
    if not is_built_in(metric):
        load_metric(metric, folder)
        return
    wanted = parse_metric(metric).k
    if wanted is None or wanted == k:
        return
    if wanted > k:
        raise ConfigError(
            f"'{metric}' needs {wanted} samples of every problem, but k is {k}; set k: {wanted}, or ask for "
            f"{metric.replace(str(wanted), 'k')} or a number up to {k}"
        )
    if metric.startswith("avg@"):
        raise ConfigError(
            f"'{metric}' is the mean over {wanted} samples, but k is {k}; write avg@k or avg@{k}"
        )


def load_metric(metric: str, folder: str | None = None) -> Callable[[Any], Any]:
    """Return the function of a plug-in metric. A class is built without arguments.

    Raises:
        ConfigError: nothing has the name, or it is not a function of one argument.
    """
    if ":" not in metric and metric not in registry.names("metric"):
        known = [name for name in registry.names("metric") if name not in _VALID]
        hint = nearest(metric, (*_VALID, *known))
        named = "" if "valid:" in hint else f"; valid: {', '.join((*_VALID, *known))}"
        raise ConfigError(f"unknown metric '{metric}'{hint}{named} (k or a number)")
    plug_in = registry.find("metric", metric, folder)
    found = plug_in.load()
    found = plug_in.build({}) if inspect.isclass(found) else found
    mistake = call_mistake(found, 1)
    if mistake is not None:
        raise ConfigError(
            f"{plug_in.words}: {mistake}; a metric is a function of one genbench.protocols.ProblemScores "
            f"({place_of(found)})"
        )
    return found  # type: ignore[no-any-return]
