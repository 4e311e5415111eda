"""Runs whose model is behind real HTTP servers that misbehave, die and come back."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.engines.http.engine import HttpEngine
from genbench.engines.http.kind import HttpConfig, HttpSettings
from genbench.errors import ConfigError, EngineError, NotComparableError, RunFolderError
from genbench.runs.execution.preflight import check_suite
from genbench.suite.config import Decoding

from .conftest import Drawn, Server

Servers = Callable[[], Server]
COMMON = {
    "model": "tuned",
    "n": 1,
    "stream": False,
    "temperature": 0.8,
    "top_p": 0.95,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "max_tokens": 32,
    "stop": [],
}
VLLM = {
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "min_tokens": 0,
    "skip_special_tokens": False,
    "spaces_between_special_tokens": False,
    "include_stop_str_in_output": False,
    "add_special_tokens": False,
}


def _without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


@pytest.mark.slow
def test_every_sampling_field_is_sent_and_the_token_ids_are_the_prompts_own(
    drawn: Drawn, servers: Servers
) -> None:
    server = servers()
    drawn.write(server, more="prompts: token_ids")
    report = drawn.run()
    drawn.assert_whole()
    asked = {(r.problem_id, r.sample_index): r for r in pipeline.prompts(drawn.options())}
    stored = drawn.completions()
    by_seed = {body["seed"]: body for body in server.requests}
    assert len(by_seed) == len(server.requests) == 20
    for key, record in asked.items():
        body = by_seed[record.seed]
        assert body["prompt"] == list(record.prompt_token_ids) and stored[key]["seed"] == record.seed
        assert stored[key]["prompt_tokens"] == len(body["prompt"]) and stored[key]["completion_tokens"] == 3
        assert _without(body, "prompt", "seed", "stop_token_ids", "ignore_eos") == COMMON | VLLM
        assert body["ignore_eos"] is True and len(body["stop_token_ids"]) == 1
    assert (
        report.results["m"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 20} or report.results
    )


@pytest.mark.slow
def test_a_plain_server_gets_only_the_fields_of_openais_api(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    drawn.write(server, more="prompts: chat, api: openai")
    drawn.run()
    drawn.assert_whole()
    messages = [{"role": "user", "content": "What is 2 + 2 (3)?"}]
    assert messages in [body["messages"] for body in server.requests]
    neutral = ("presence_penalty", "frequency_penalty", "stop")  # some servers refuse them, with any value
    sent = _without(COMMON, *neutral)
    assert all(_without(body, "messages", "seed") == sent for body in server.requests)


@pytest.mark.parametrize(
    "key", ["top_k=20", "min_p=0.1", "stop_token_ids=[5]", "ignore_eos=true", "stop=[a, b, c, d, e]"]
)
def test_what_openais_api_cannot_say_is_refused(drawn: Drawn, servers: Servers, key: str) -> None:
    server = servers()
    drawn.write(server, more="prompts: chat, api: openai")
    with pytest.raises(ConfigError, match=rf"decoding\.{key.partition('=')[0]}"):
        drawn.run(f"decoding.{key}")
    assert server.requests == []


@pytest.mark.slow
def test_faults_of_every_kind_lose_nothing(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    kinds = ["429", "500", "503", "404", "stall", "broken", "half", "cut", "other", "aborted"]
    server.fault = lambda number, body: kinds[number // 3 % len(kinds)] if number % 3 == 0 else None
    drawn.write(server, n=20)
    report = drawn.run()
    drawn.assert_whole(20)
    assert report.failures == [] and max(server.answered.values()) == 1
    assert server.most_at_once <= 4 + 1  # a stalled request outlives its client


@pytest.mark.slow
def test_a_server_that_asks_for_patience_gets_it(drawn: Drawn, servers: Servers) -> None:
    server, times = servers(), list[float]()

    def fault(number: int, body: dict[str, Any]) -> str | None:
        times.append(time.monotonic())
        return "429" if number == 0 else None

    server.fault = fault
    drawn.write(server, n=1, more="prompts: chat")
    drawn.run("engine.concurrency=1", "tasks.0.k=1")
    assert len(times) == 2 and times[1] - times[0] >= 0.3


@pytest.mark.slow
def test_the_requests_of_a_server_that_dies_go_to_the_other(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    first.fault = lambda number, body: "die" if number == 6 else None
    drawn.write(first, second, n=30)
    drawn.run()
    drawn.assert_whole(30)
    assert not first.alive and sum(second.answered.values()) > 30
    log = (drawn.path / "runs" / "m" / "engine.log").read_text()
    assert f"{first.url} is gone" in log


@pytest.mark.slow
def test_a_server_that_comes_back_is_asked_again(drawn: Drawn, servers: Servers) -> None:
    server = servers()

    def fault(number: int, body: dict[str, Any]) -> str | None:
        if number != 6:
            return None
        threading.Timer(0.7, server.revive).start()
        return "die"

    server.fault = fault
    drawn.write(server, n=20)
    drawn.run("engine.outage_s=30")
    drawn.assert_whole(20)
    assert len(server.answered) == 40  # some twice: their first answers were cut off


@pytest.mark.slow
def test_a_server_that_is_cut_off_is_noticed_long_before_its_replies_are_due(
    drawn: Drawn, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genbench.engines.http.engine._HEARTBEAT_S", 0.05)
    monkeypatch.setattr("genbench.engines.http.server._ASIDE_S", 0.2)
    first, second = servers(), servers()

    def fault(number: int, body: dict[str, Any]) -> str | None:
        first.deaf = number >= 6
        return "stall" if first.deaf else None

    first.fault = fault
    drawn.write(first, second, n=20)
    drawn.run("engine.timeout_s=100000")
    drawn.assert_whole(20)
    assert f"{first.url} has not answered for a while" in (drawn.path / "runs/m/engine.log").read_text()


@pytest.mark.slow
def test_when_all_servers_are_gone_the_run_stops_and_can_go_on(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    first.fault = second.fault = lambda number, body: "die" if number == 4 else None
    drawn.write(first, second, n=20)
    with pytest.raises(EngineError, match=r"(?s)all 2 engines.*gone for 1 s.*the same command") as error:
        drawn.run("engine.outage_s=1")
    assert first.url in str(error.value) and second.url in str(error.value)
    before = drawn.completions()
    assert 0 < len(before) < 40
    first.fault = second.fault = lambda number, body: None
    first.revive()  # one is enough
    drawn.run("engine.outage_s=1")
    drawn.assert_whole(20)
    assert before.items() <= drawn.completions().items()


def test_no_server_at_the_start_is_told_at_once(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    drawn.write(server)
    server.die()
    with pytest.raises(
        EngineError, match=r"no server of the model answers; start one, or mend engine\.base_urls"
    ):
        drawn.run()
    assert not (drawn.path / "runs").exists()


@pytest.mark.slow
def test_a_silent_server_beside_another_is_a_warning(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    drawn.write(first, second)
    second.die()
    drawn.run()
    drawn.assert_whole()
    manifest = json.loads((drawn.path / "runs" / "m" / "manifest.json").read_text())
    assert any(second.url in line and "does not answer now" in line for line in manifest["warnings"])


def test_another_model_is_refused_before_anything_is_drawn(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.models = [{"id": "other-model"}]
    drawn.write(server)
    with pytest.raises(ConfigError, match=r"does not serve 'tuned'; it serves: other-model"):
        drawn.run()
    assert server.requests == []


@pytest.mark.slow
def test_answers_of_another_model_are_never_kept(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.fault = lambda number, body: "other"
    drawn.write(server, retries=0)
    with pytest.raises(EngineError, match=r"another model answered: 'another' instead of 'tuned'"):
        drawn.run()
    assert drawn.completions() == {}


def test_servers_that_differ_do_not_draw_one_run(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    second.version = "9.8"
    drawn.write(first, second)
    with pytest.raises(ConfigError, match=r"differ in version: .* '9\.9', .* '9\.8'"):
        drawn.run()


@pytest.mark.slow
def test_a_server_that_came_back_as_another_is_not_asked(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    before = list[int]()

    def come_back() -> None:
        before.append(len(first.requests))
        first.version = "10.0"
        first.revive()

    def fault(number: int, body: dict[str, Any]) -> str | None:
        if number != 2:
            return None
        threading.Timer(0.5, come_back).start()
        return "die"

    first.fault = fault
    drawn.write(first, second, n=20)
    second.fault = lambda number, body: time.sleep(0.25)
    drawn.run()
    drawn.assert_whole(20)
    assert before == [len(first.requests)]


@pytest.mark.slow
def test_a_request_that_always_fails_alone_is_marked_and_no_other(drawn: Drawn, servers: Servers) -> None:
    server = servers()

    def fault(number: int, body: dict[str, Any]) -> str | None:
        return "500" if "(3)" in body["messages"][-1]["content"] else None

    server.fault = fault
    drawn.write(server, retries=0)
    report = drawn.run()
    found = drawn.completions()
    bad = {key for key, record in found.items() if record["finish_reason"] == "error"}
    assert bad == {("q3", 0), ("q3", 1)} and len(found) == 20
    assert "got no answer twice while alone" in found["q3", 0]["text"]
    assert report.results["m"].to_json()["tasks"]["free"]["status_counts"]["engine_error"] == 2


@pytest.mark.slow
def test_a_refused_request_is_an_error_of_its_own(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.fault = lambda number, body: "400" if "(3)" in body["messages"][-1]["content"] else None
    drawn.write(server)
    drawn.run()
    found = drawn.completions()
    assert [key[0] for key, record in found.items() if record["finish_reason"] == "error"] == ["q3", "q3"]


def test_a_server_that_refuses_everything_marks_nothing(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.fault = lambda number, body: "400"
    drawn.write(server)
    with pytest.raises(EngineError, match=r"refuses every request: status 400: .*as told"):
        drawn.run()
    assert drawn.completions() == {} and len(server.requests) == 4


def test_a_server_that_changes_the_prompt_is_found_out(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    server.fault = lambda number, body: "counts"
    drawn.write(server, more="prompts: token_ids")
    with pytest.raises(EngineError, match=r"counts \d+ prompt tokens where \d+ were sent"):
        drawn.run()


@pytest.mark.slow
def test_the_key_comes_from_the_environment_and_reaches_no_file(
    drawn: Drawn, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, secret = servers(), "sk-never-in-a-file"
    drawn.write(server, more="prompts: chat, api_key_env: SERVED_KEY")
    with pytest.raises(ConfigError, match="the variable SERVED_KEY is not set; export SERVED_KEY="):
        drawn.run()
    monkeypatch.setenv("SERVED_KEY", secret)
    drawn.run()
    assert server.keys == {f"Bearer {secret}"}
    files = [path for path in drawn.path.rglob("*") if path.is_file()]
    assert files and not any(secret.encode() in path.read_bytes() for path in files)


@pytest.mark.slow
def test_what_no_server_proves_is_declared_and_compared(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    drawn.write(server)
    drawn.run(run_dir="plain")
    drawn.run("engine.declared={quantization: fp8}", "models.m.dtype=float16", run_dir="quantized")
    terms = json.loads((drawn.path / "quantized" / "m" / "manifest.json").read_text())["terms"]
    assert terms["declared"] == {"dtype": "float16", "quantization": "fp8"}
    assert terms["engine"] == {"name": "http", "api": "vllm", "prompts": "chat", "version": "9.9"}
    with pytest.raises(NotComparableError, match=r"terms\.declared\.quantization"):
        _compare(drawn.path / "plain" / "m", drawn.path / "quantized" / "m")


@pytest.mark.slow
def test_a_folder_goes_on_only_with_the_model_it_began_with(drawn: Drawn, servers: Servers) -> None:
    server = servers()
    drawn.write(server)
    drawn.run()
    manifest = json.loads((drawn.path / "runs" / "m" / "manifest.json").read_text())
    assert manifest["model_identity"].startswith("served:tuned from /weights/tuned, declared shipped:")
    assert manifest["attempts"][0]["circumstances"]["engine"]["served"]["root"] == "/weights/tuned"
    server.models[0]["root"] = "/weights/later"
    with pytest.raises(RunFolderError, match="model_identity"):
        drawn.run()


@pytest.mark.slow
def test_each_model_may_have_a_server_of_its_own(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    second.models[0]["root"] = "/weights/base"
    drawn.write(first)
    other = f"{{path: nowhere, server: {{base_urls: ['{second.url}']}}}}"
    report = drawn.run(f"models.base={other}")
    assert report.results.keys() == {"m", "base"}
    assert len(first.requests) == len(second.requests) == 20
    with pytest.raises(ConfigError, match=r"models\.\w+: the same model at the same servers as \w+"):
        drawn.run("models.base={path: nowhere}")


def test_a_trace_that_the_server_parsed_out_is_kept(drawn: Drawn, servers: Servers) -> None:
    from genbench.engines.http.engine import Reply, read_reply
    from genbench.suite.config import Decoding
    from genbench.types import Request, SampleId

    settings = HttpSettings(
        HttpConfig(prompts="chat"), (), "tuned", {"t": Decoding()}, {}, trace_tags=("<a>", "</a>")
    )
    request = Request(SampleId("t", "p", 0), 0, (), 1, 8, "")
    for content, wanted in (("four", "<a>hm</a>four"), (None, "<a>hm")):
        message = {"content": content, "reasoning": "hm"}
        record = {"choices": [{"message": message, "finish_reason": "length"}]}
        assert read_reply(settings, record, request) == Reply(wanted, "length")


def test_the_check_tells_of_servers_before_a_run(drawn: Drawn, servers: Servers) -> None:
    first, second = servers(), servers()
    drawn.write(first, second, more="prompts: token_ids")
    second.die()
    lines = [str(line) for line in check_suite(drawn.options())]
    assert any(line.startswith("warning") and second.url in line for line in lines)
    assert any("context 4,096" in line for line in lines)
    assert first.requests == []


def _compare(base: Path, tuned: Path) -> None:
    from genbench.analysis.comparison.compare import compare

    compare(base, tuned)


def test_an_engine_whose_server_stays_away_gives_up(servers: Servers) -> None:
    server = servers()
    server.die()
    settings = HttpSettings(
        HttpConfig(retries=0, outage_s=0.01), (server.url,), "tuned", {"t": Decoding()}, {}
    )

    async def work() -> None:
        engine = HttpEngine(settings, first_pause_s=0.02)
        try:
            await engine.start()
        finally:
            await engine.close()

    with pytest.raises(EngineError, match=r"gone for 0\.01 s .* mend engine\.base_urls"):
        asyncio.run(work())
