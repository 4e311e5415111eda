"""What the simulated services have in common: how they are made, and what of them is state."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeVar

Release = Literal["v3", "v4"]
Result = dict[str, Any]
"""What a function returns. An error is a result with the key `error`."""

_Value = TypeVar("_Value")


class Service:
    """One simulated service of one conversation.

    The public methods of a class are its functions. Their results and their error messages are those of the
    benchmark, because models read them. The public attributes are the state that is compared.

    Args:
        config: the initial state of a row. It is copied.
        padded: whether results are lengthened, as in the category long_context.
        release: `v3` or `v4`, which have a few different functions and messages.
    """

    only_in: ClassVar[Mapping[str, Release]] = {}
    """The functions that only one release has."""

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        self._config = config
        self._padded = padded
        self._is_v4 = release == "v4"

    def _given(self, key: str, default: _Value) -> _Value:
        """Return a copy of a value of the initial state, or the default if the row has none."""
        value: _Value = copy.deepcopy(self._config.get(key, default))
        return value


def failed(why: str) -> Result:
    """Return the result of a function that refuses its arguments."""
    return {"error": why}
