"""Secrets are recognised by name, by form and by value; ordinary settings and texts stay as they are."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from genbench.engines.vllm.environment import LogFile
from genbench.errors import ConfigError, EngineError
from genbench.safetext.redaction import hidden, is_secret_name, secrets_of, without_secrets
from genbench.store.continuation import machine
from genbench.store.folder import RunFolder
from tests.manifests import manifest
from tests.table import each_row

HF = "hf_" + "aB3dE6gH9jK2mN5p"


@pytest.mark.parametrize(
    "name", ["hf_token", "token", "VLLM_API_TOKEN", "OPENAI_API_KEY", "api-key", "password", "AWS_SECRET_KEY"]
)
def test_name_of_a_secret_is_known(name: str) -> None:
    assert is_secret_name(name)


@each_row(
    "name",
    [
        "max_tokens",
        "stop_token_ids",
        "eos_token",
        "pad_token",
        "end_tokens",
        "api_key_env",
        "key",
        "label_key",
    ],
)
def test_name_of_a_plain_setting_is_none(name: str) -> None:
    assert not is_secret_name(name)


def test_secrets_are_collected_from_settings_and_variables() -> None:
    settings = {
        "engine": {"hf_token": "token-of-mine", "max_tokens": "512512"},
        "x": [{"password": "hunter2"}],
    }
    found = secrets_of(settings, {"HF_TOKEN": "from-environment", "HOME": "/home/somebody", "X_TOKEN": "1"})
    assert found == {"token-of-mine", "hunter2", "from-environment"}


def test_value_is_replaced_by_name_and_wherever_else_it_is() -> None:
    record = {"engine": {"hf_token": "abcdefgh", "dtype": "auto"}, "why": ["failed with abcdefgh"], "n": 3}
    found = without_secrets(record, {"abcdefgh"})
    assert found == {
        "engine": {"hf_token": "<hidden>", "dtype": "auto"},
        "why": ["failed with <hidden>"],
        "n": 3,
    }
    assert without_secrets(found, {"abcdefgh"}) == found


def test_columns_and_prompts_are_kept() -> None:
    record = {"fields": {"token": "tok", "password": "pw"}, "prompt": "Write the password: {x}", "token": ""}
    assert without_secrets(record) == record


@pytest.mark.parametrize(
    "secret",
    [HF, "sk-proj-0123456789abcdefgh", "ghp_" + "a1" * 18, "AKIA" + "A1" * 8, "xoxb-1234567890-abc"],
)
def test_key_of_a_service_is_known_by_its_form(secret: str) -> None:
    assert hidden(f"got {secret}, which is wrong") == "got <hidden>, which is wrong"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("args: {'hf_token': 'abc def', 'x': 1}", "args: {'hf_token': <hidden>, 'x': 1}"),
        ("--set engine.hf_token=abc", "--set engine.hf_token=<hidden>"),
        ("Authorization: Bearer abc", "Authorization: Bearer <hidden>"),
        ("http://user:pw@host/v1", "http://<hidden>@host/v1"),
        ("max_tokens: 32, stop_token_ids=[3]", "max_tokens: 32, stop_token_ids=[3]"),
        ("eos_token='</s>'", "eos_token='</s>'"),
    ],
)
def test_line_of_a_log_has_no_value_of_a_secret(text: str, safe: str) -> None:
    assert hidden(text) == safe


def test_message_of_an_error_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "value-of-the-key")
    assert str(EngineError("the server said: no such key value-of-the-key")).endswith("no such key <hidden>")
    assert HF not in str(ConfigError(f"engine.hf_token: {HF}"))


def test_log_of_an_engine_has_no_secret(tmp_path: Path) -> None:
    handler = LogFile(tmp_path / "engine.log")
    handler.emit(
        logging.LogRecord("vllm", logging.INFO, "f", 1, f"non-default args: hf_token={HF}", (), None)
    )
    handler.close()
    assert (tmp_path / "engine.log").read_text() == "non-default args: hf_token=<hidden>\n"


def test_manifest_has_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret-of-the-user")
    monkeypatch.setenv("VLLM_SOME_TOKEN", "secret-of-vllm")
    monkeypatch.setenv("VLLM_PLAIN", "3")
    record = manifest()
    config = {"engine": {"hf_token": "my-own-token"}, "models": {}}
    suite = record.suite.model_copy(update={"config": config, "overrides": ("engine.hf_token=my-own-token",)})
    origin = record.origin.model_copy(update={"command": "genbench run x --set engine.hf_token=my-own-token"})
    folder = RunFolder(tmp_path)
    warnings = ("the hub said secret-of-the-user", "vllm said secret-of-vllm")
    folder.write_manifest(record.model_copy(update={"suite": suite, "origin": origin, "warnings": warnings}))
    text = folder.manifest_path.read_text()
    assert not [
        secret for secret in ("my-own-token", "secret-of-the-user", "secret-of-vllm") if secret in text
    ]
    assert folder.require_manifest().suite.overrides == ("engine.hf_token=<hidden>",)
    environment = machine()["environment"]
    assert environment["VLLM_SOME_TOKEN"] == "<hidden>" and environment["VLLM_PLAIN"] == "3"
