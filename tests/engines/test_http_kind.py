"""The engine kind `http`: which models go with it, and what servers say before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.engines.http.kind import HttpConfig, HttpKind, HttpSettings
from genbench.engines.kind import ModelSource, PromptFacts
from genbench.errors import ConfigError, EngineError
from genbench.suite.config import Decoding, ModelConfig, ServedModel
from genbench.suite.engine import SuiteMistake

from .conftest import Server

URL = "http://127.0.0.1:1/v1"
TINY = "shipped:checkpoints/tiny-tuned"


def mistake(config: HttpConfig, models: dict[str, ModelConfig], name: str = "m") -> str:
    with pytest.raises(SuiteMistake) as caught:
        config.check_model(name, models)
    assert str(caught.value).startswith(".".join(map(str, caught.value.loc)))
    return str(caught.value)


def test_a_model_needs_a_server() -> None:
    said = mistake(HttpConfig(), {"m": ModelConfig(path="x")})
    assert said == "models.m: no server: set engine.base_urls or models.m.server.base_urls"
    own = ModelConfig(path="x", server=ServedModel(base_urls=(URL,)))
    HttpConfig().check_model("m", {"m": own})


def test_two_models_at_one_place_are_told_apart_by_their_served_names() -> None:
    models = {"m": ModelConfig(path="x"), "n": ModelConfig(path="x")}
    assert "the same model at the same servers as n" in mistake(HttpConfig(base_urls=(URL,)), models)
    models["n"] = ModelConfig(path="x", server=ServedModel(model="other"))
    HttpConfig(base_urls=(URL,)).check_model("m", models)


def test_two_efforts_of_a_model_are_asked_at_one_place_in_two_ways(
    servers: Callable[[], Server], tmp_path: Path
) -> None:
    config = HttpConfig(base_urls=(servers().url,), model="tuned", prompts="chat", body={"user": "me"})
    models = {
        f"m-{name}": ModelConfig.model_validate(
            {
                "path": "org/model",
                "effort": {name: {"reasoning_effort": name}},
                "server": {"body": {"reasoning_effort": name}},
            }
        )
        for name in ("low", "high")
    }
    config.check_model("m-low", models)
    asked = []
    for name, model in models.items():
        found = HttpKind(config).find(
            ModelSource(name, model, tmp_path, {"t": Decoding(max_tokens=16)}, models)
        )
        assert found.served.address.form.body == found.served.terms["engine"]["body"]
        asked.append((found.identity, found.served.address.form.body))
    (low, low_body), (high, high_body) = asked
    assert low == high
    assert low_body == {"user": "me", "reasoning_effort": "low"}
    assert high_body == {"user": "me", "reasoning_effort": "high"}


def test_an_adapter_is_the_servers_to_load() -> None:
    models = {"m": ModelConfig(path="x", adapter="a")}
    said = mistake(HttpConfig(base_urls=(URL,)), models)
    assert said == "models.m.adapter: a server has its adapters loaded; name it with models.m.server.model"


@pytest.mark.parametrize(
    "model",
    [
        ModelConfig(path="x", prompt_style="plain"),
        ModelConfig(path="x", chat_template="t.jinja"),
        ModelConfig(path="x", tokenizer="y"),
    ],
)
def test_a_chat_is_rendered_by_the_server_alone(model: ModelConfig) -> None:
    config = HttpConfig(base_urls=(URL,), prompts="chat")
    assert "the server renders prompts; use token_ids" in mistake(config, {"m": model})


def test_openai_has_no_template_arguments() -> None:
    config = HttpConfig(base_urls=(URL,), prompts="chat", api="openai")
    models = {"m": ModelConfig(path="x", chat_template_kwargs={"enable_thinking": False})}
    assert "OpenAI's API has no such field" in mistake(config, models)


def test_check_says_how_servers_are_asked() -> None:
    config = HttpConfig(base_urls=(URL,), api="openai", prompts="chat")
    assert HttpKind(config).check() == "http: OpenAI-compatible servers, openai fields, chat prompts"


def source(base: Path, decoding: Decoding | None = None, path: str = TINY) -> ModelSource:
    return ModelSource("m", ModelConfig(path=path), base, {"t": decoding or Decoding(max_tokens=16)})


def test_servers_that_answer_give_identity_and_context(servers: Callable[[], Server], tmp_path: Path) -> None:
    server = servers()
    kind = HttpKind(HttpConfig(base_urls=(server.url, URL), model="tuned", timeout_s=2))
    found = kind.find(source(tmp_path))
    assert found.identity.startswith("served:tuned from /weights/tuned, declared sha256:")
    assert found.context == 4096 and found.tokenizer is not None
    (warning,) = found.warnings(PromptFacts({}, Decoding()))
    assert f"server {URL} does not answer now" in warning
    settings = found.settings(PromptFacts({"t": Decoding()}, Decoding(), ("<a>", "</a>"), 9))
    assert (settings.eos_token_id, settings.trace_tags) == (9, ("<a>", "</a>"))
    assert settings.terms["engine"]["version"] == "9.9" and server.requests == []


def test_a_chat_model_is_what_the_suite_declares(servers: Callable[[], Server], tmp_path: Path) -> None:
    config = HttpConfig(base_urls=(servers().url,), model="tuned", prompts="chat", declared={"kv": "fp8"})
    found = HttpKind(config).find(source(tmp_path, path="org/model"))
    assert found.tokenizer is None and found.context is None
    assert found.identity == "served:tuned from /weights/tuned, declared org/model"
    assert found.served.terms["declared"] == {"kv": "fp8"}
    with pytest.raises(ConfigError, match="leaves no prompt in the servers' context of 4096"):
        HttpKind(config).find(source(tmp_path, Decoding(max_tokens=5000)))


def test_no_server_is_an_error_that_names_each(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=rf"server {URL}: .*\nno server of the model answers"):
        HttpKind(HttpConfig(base_urls=(URL,))).find(source(tmp_path))


def test_what_openai_cannot_say_is_a_mistake_at_the_decoding(tmp_path: Path) -> None:
    kind = HttpKind(HttpConfig(base_urls=(URL,), api="openai", prompts="chat"))
    with pytest.raises(SuiteMistake, match=r"task t: decoding\.top_k is 5, but OpenAI") as caught:
        kind.find(source(tmp_path, Decoding(top_k=5)))
    assert caught.value.loc == ("decoding",)


def test_requests_in_flight_grow_unless_the_suite_says_how_many() -> None:
    settings = HttpSettings(HttpConfig(prompts="chat"), (URL,), "m", {}, {"version": "1"})
    assert (settings.first_workers, settings.workers) == (256, 4096)
    assert replace(settings, config=HttpConfig(api="openai")).first_workers == 64
    assert settings.circumstances["concurrency"] == "grows"


def test_each_server_is_one_engine() -> None:
    settings = HttpSettings(HttpConfig(concurrency=3), (URL, "http://h/v1", URL), "m", {}, {"version": "1"})
    assert list(settings.members) == [f"server {URL}", "server http://h/v1"]
    assert settings.opening == "asking 2 servers" and settings.workers == settings.first_workers == 3
    assert settings.address.base_url == URL and str(settings.address) == f"server {URL}"
    assert settings.circumstances["served"] == {"version": "1"} and settings.share_key is None
    assert settings.at(Path("run")).log == Path("run/engine.log")
