from collections.abc import Callable
from types import SimpleNamespace as Score
from typing import Any

__all__ = ["Score", "accuracy", "scorer", "value_to_float"]


def accuracy() -> None:
    pass


def scorer(metrics: list[Any]) -> Callable[[Any], Any]:
    return lambda made: made


def value_to_float() -> Callable[[str], float]:
    return {"C": 1.0, "P": 0.5, "I": 0.0}.__getitem__
