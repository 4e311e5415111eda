"""The judge block of a suite: one engine, on this machine or behind a server."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from genbench.suite.judge import JudgeConfig, JudgeModel, JudgeServer

SERVER = {"base_url": "http://h/v1", "model": "m"}


def test_a_judge_has_a_model_or_a_server_but_not_both() -> None:
    assert JudgeConfig.model_validate({"server": SERVER}).model is None
    with pytest.raises(ValidationError, match="give either 'model' or 'server'"):
        JudgeConfig.model_validate({"server": SERVER, "model": {"path": "m"}})


def test_a_judge_on_this_machine_has_one_engine() -> None:
    assert JudgeModel.model_validate({"path": "m"}).engine.kind == "vllm"
    with pytest.raises(ValidationError, match="a judge has one engine; leave out 'replicas'"):
        JudgeModel.model_validate({"path": "m", "engine": {"kind": "vllm", "replicas": 2}})


def test_a_judge_on_this_machine_is_a_vllm_engine() -> None:
    with pytest.raises(ValidationError, match="wanted vllm, found 'http'"):
        JudgeModel.model_validate({"path": "m", "engine": {"kind": "http", "base_urls": ["http://h/v1"]}})


@pytest.mark.parametrize("key", ["concurrency", "timeout_s"])
def test_a_server_needs_positive_limits(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        JudgeServer.model_validate(SERVER | {key: 0})
