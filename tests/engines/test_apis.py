"""Hosted APIs and servers of others: the suites of docs/models.md, run against a stand-in of each server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from genbench import pipeline
from genbench.engines.http.apis import APIS, NEUTRAL
from genbench.engines.http.kind import HttpConfig, HttpSettings
from genbench.errors import PromptError
from genbench.suite.block import ApiName, FieldName, RequestForm
from genbench.suite.config import Decoding, DecodingOverride
from tests.ready_runs import run_bare, write_lines
from tests.table import each_row

from .apis import KEY, STAND_INS, Running

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text()
SUITES: dict[str, Any] = {
    name: YAML(typ="safe").load(text)
    for name, text in re.findall(r'```yaml title="(\w+)\.yaml"\n(.*?)```', PAGE, re.DOTALL)
    if name in get_args(ApiName)
}
ASKED = ("api", "fields", "seed_bits", "headers", "query", "body", "key_header", "replies_as", "api_key_env")
ROWS = [{"id": f"p{i}", "question": f"What is {i} + {i}?", "answer": str(2 * i)} for i in (1, 2, 3)]


class Served:
    """The suite of one kind in a folder, with its stand-in, and a judge behind the same stand-in."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.suite = json.loads(json.dumps(SUITES[kind]))
        engine = self.suite["engine"]
        path = self.suite["models"]["m"]["path"]
        address = urlsplit(engine["base_urls"][0])
        self.running = Running(STAND_INS[kind], address.path, path, engine.get("replies_as", path))
        base_url = f"http://127.0.0.1:{self.running.http.server_port}{address.path}"
        self.suite["engine"] |= {"base_urls": [base_url], "retries": 0, "timeout_s": 20, "concurrency": 8}
        engine.setdefault("api_key_env", "STAND_IN_KEY")
        asked = {key: engine[key] for key in ASKED if key in engine}
        if kind == "openai_reasoning":
            asked["fields"] = {"max_tokens": "none"}
        server = {"base_url": base_url, "model": path, "retries": 0, **asked}
        self.suite["judge"] = {"server": server, "allow_unpinned": True}

    def run(self, *extra: str) -> pipeline.RunReport:
        rows = [*ROWS, *({"id": word, "question": f"{word} What is 1 + 1?", "answer": "2"} for word in extra)]
        write_lines(self.folder / "sums.jsonl", rows)
        write_lines(self.folder / "free.jsonl", ROWS[:1])
        judged = {
            "name": "free",
            "kind": "judge",
            "data": {
                "path": "free.jsonl",
                "fields": {"id": "id", "question": "question", "reference": "answer"},
            },
            "verifier": {"judge": "free_form"},
            "k": 1,
        }
        tasks = {"tasks": [*self.suite["tasks"], judged]}
        (self.folder / "suite.yaml").write_text(json.dumps(self.suite | tasks))
        options = pipeline.RunOptions(
            suite=str(self.folder / "suite.yaml"), run_dir=self.folder / "runs", quiet=True
        )
        return run_bare(options)

    @property
    def manifest(self) -> Any:
        return json.loads((self.folder / "runs" / "m" / "manifest.json").read_text())


@pytest.fixture
def served(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Served]:
    made = Served(request.param, tmp_path)
    monkeypatch.setenv(made.suite["engine"]["api_key_env"], KEY)
    yield made
    made.running.close()


def test_each_kind_of_server_has_a_suite_in_the_docs_and_a_stand_in() -> None:
    kinds = set(get_args(ApiName))
    assert kinds == APIS.keys() and kinds - {"openai"} == SUITES.keys() == STAND_INS.keys()
    assert all(f"`{kind}`" in PAGE for kind in kinds)


def test_the_table_knows_every_field_of_a_decoding() -> None:
    assert Decoding().sampling.keys() == NEUTRAL.keys()
    assert set(get_args(FieldName)) == NEUTRAL.keys() | {"max_tokens", "seed", "content"}


def asked(kind: str, decoding: Decoding, **form: Any) -> dict[str, Any]:
    api = APIS[kind].asked_as(RequestForm(**form))  # type: ignore[index]
    return api.sampling(decoding, 16, 2**62 + 7)


def test_a_suite_says_how_a_server_differs_from_its_kind() -> None:
    greedy = Decoding(temperature=0, stop=("END",))
    fields = {"max_tokens": "max_completion_tokens", "seed": "none"}
    plain = {"n": 1, "stream": False, "temperature": 0.0, "top_p": 0.95, "stop": ["END"]}
    assert asked("openai", greedy, fields=fields) == plain | {"max_completion_tokens": 16}
    assert asked("openai", greedy, seed_bits=31) == plain | {"max_tokens": 16, "seed": 7}
    assert asked("gemini", greedy, fields={"seed": "seed"})["seed"] == 2**62 + 7
    parts = APIS["openai"].asked_as(RequestForm(fields={"content": "parts"}))
    assert parts.content("2 + 2?") == [{"type": "text", "text": "2 + 2?"}] and parts.content(None) is None


@each_row(
    "form, words",
    [
        ({"fields": {"max_token": "x"}}, "max_token"),
        ({"fields": {"content": "list"}}, "content is 'list', wanted text or parts"),
        ({"headers": {"Authorization": "Bearer sk"}}, "'Authorization' is a key.*api_key_env"),
        ({"query": {"key": "sk"}}, "'key' is a key"),
        ({"body": {"temperature": 1}}, "'temperature' is sent by genbench itself"),
    ],
)
def test_what_a_suite_may_not_say_of_a_server_is_told(form: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        RequestForm.model_validate(form)


def test_only_what_a_suite_sets_and_a_server_cannot_be_told_is_refused() -> None:
    api = APIS["openai_reasoning"]
    assert api.refused_key(DecodingOverride.model_validate({"max_tokens": 5}).over(Decoding())) is None
    assert api.refused_key(Decoding(temperature=1.0, top_p=1.0)) is None
    set_here = DecodingOverride.model_validate({"temperature": 0.6}).over(Decoding())
    assert "decoding.temperature is 0.6, but the API of OpenAI's reasoning" in (
        api.refused_key(set_here) or ""
    )


def test_terms_of_runs_with_servers_are_those_of_before_unless_something_new_is_said() -> None:
    for kind in ("vllm", "openai"):
        settings = HttpSettings(HttpConfig(api=kind, prompts="chat"), ("u",), "m", {"t": Decoding()}, {})
        assert settings.terms["engine"] == {"name": "http", "api": kind, "prompts": "chat", "version": None}
    config = HttpConfig(api="deepseek", body={"thinking": {"type": "disabled"}})
    terms = HttpSettings(config, ("u",), "m", {"t": Decoding()}, {}).terms["engine"]
    assert terms["body"] == {"thinking": {"type": "disabled"}} and terms["not_pinned"] == ["seed"]
    with pytest.raises(ValidationError, match="Gemini's OpenAI-compatible API takes messages only"):
        HttpConfig(api="gemini", prompts="token_ids")


NOT_PINNED = {
    "openai_reasoning": ["temperature", "top_p"],
    "gemini": ["seed"],
    "deepseek": ["seed"],
}
WITHOUT_FILTER = {"mistral", "vllm", "sglang"}


@pytest.mark.slow
@pytest.mark.parametrize("served", SUITES, indirect=True)
def test_a_server_is_asked_and_judges_as_the_docs_say(served: Served) -> None:
    refused = ["LONG"] * (served.kind != "vllm") + ["FILTERED"] * (served.kind not in WITHOUT_FILTER)
    report = served.run(*refused)
    results = report.results["m"].to_json()
    sums, free = results["tasks"]["sums"], results["tasks"]["free"]
    counts = {"correct": 6, "truncated": 2 * len(refused)}
    assert sums["status_counts"] == {name: count for name, count in counts.items() if count}
    assert free["status_counts"] == {"correct": 1} and report.failures == []
    kinds = {"LONG": "context", "FILTERED": "content_filter"}
    assert sums.get("refused", {}) == {kinds[word]: 2 for word in refused}
    is_left_out = served.kind == "azure"
    assert sums["value"] == (1.0 if is_left_out else 3 / (3 + len(refused)))
    assert sums["excluded"] == (2 * len(refused) if is_left_out else 0)
    terms = served.manifest["terms"]["engine"]
    assert terms.get("not_pinned", []) == NOT_PINNED.get(served.kind, [])
    judge = served.manifest["tasks"]["free"]["judge"]["engine"]
    left = {*NOT_PINNED.get(served.kind, ())} | (
        {"max_tokens"} if served.kind == "openai_reasoning" else set()
    )
    assert {*judge.get("not_pinned", ())} == left - {"top_p"}  # a judge's top_p is 1
    assert all(status == 403 or "message" in json.dumps(body) for status, body in served.running.refused)


@pytest.mark.slow
@pytest.mark.parametrize("served", ["vllm"], indirect=True)
def test_a_prompt_that_the_server_counts_as_too_long_is_told_before_drawing(served: Served) -> None:
    with pytest.raises(
        PromptError, match=r"task sums, problem LONG: the prompt has 9000 tokens and .*4096.*refused"
    ):
        served.run("LONG")
    assert served.running.requests == []
    served.suite["tasks"][0]["refused"] = "excluded"
    report = served.run("LONG")
    sums = report.results["m"].to_json()["tasks"]["sums"]
    assert sums["value"] == 1.0 and sums["unanswered"] == sums["excluded"] == 2
    assert sums["reasons"][0]["first"] == ["LONG", 0] and "fills the context" in sums["reasons"][0]["why"]
    assert served.running.refused == []
