"""Who plays a simulated user."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from genbench.suite.judge import SimulatedUser

SERVER = {"base_url": "http://127.0.0.1:1/v1", "model": "u"}


def test_a_user_is_a_pinned_model_or_a_server() -> None:
    assert SimulatedUser.model_validate({"server": SERVER}).max_tokens == 512
    pinned = {"path": "./m", "revision": "sha256:" + "0" * 64}
    assert SimulatedUser.model_validate({"model": pinned}).temperature == 0.0
    for wrong in ({}, {"server": SERVER, "model": pinned}, {"model": {"path": "./m"}}):
        with pytest.raises(ValidationError):
            SimulatedUser.model_validate(wrong)
