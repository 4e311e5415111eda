"""Suites of clients: what they may set, and every key that is refused with its line."""

from __future__ import annotations

import collections
import copy
import datetime
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml  # type: ignore[import-untyped]
from pydantic import BaseModel
from starlette.testclient import TestClient

from genbench.errors import ConfigError
from genbench.suite.config import ServedModel, SuiteConfig, VerifyConfig
from genbench.suite.engine import EngineConfig
from genbench.suite.judge import JudgeModel, JudgeServer
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from genbench.team.service.submitted_suites import KEYS, store_suite
from genbench.team.service.tokens import add_token

JOBS = "/api/v1/jobs"
SUITE = """\
models:
  tuned: {path: org/model, chat_template_kwargs: {thinking: true}}
engine: {tensor_parallel_size: 2}
decoding: {temperature: 0.6, max_tokens: 16}
track: nightly
tasks:
  - gsm8k
  - {task: math500, k: 4, metrics: [avg@k]}
  - name: sums
    kind: math
    data: {hub: {repo: org/sums}, fields: {question: q, reference: a}}
    prompt: "{question} see https://example.org or ../x"
    verifier: {tolerance: 0.1}
    k: 4
"""


@pytest.fixture
def open_service(service: Service) -> Service:
    return replace(service, allow_suites=True)


@pytest.fixture
def submitter(open_service: Service) -> Iterator[TestClient]:
    with TestClient(make_app(open_service), base_url="http://127.0.0.1:8321") as client:
        client.headers["Authorization"] = f"Bearer {add_token(open_service.queue, 'ci', 'submit', 1)}"
        yield client


def test_a_suite_of_a_client_becomes_a_job_once(submitter: TestClient, open_service: Service) -> None:
    body = {"suite": "mine", "suite_text": SUITE, "night": "2026-11-20"}
    made = submitter.post(JOBS, json=body)
    assert made.status_code == 201, made.text
    kept = Path(made.json()["spec"]["suite"])
    assert kept.name == "mine.yaml" and kept.read_text() == SUITE
    assert kept.is_relative_to(open_service.runs.resolve() / "submitted")
    assert (made.json()["track"], made.json()["slots"]) == ("nightly", 2)
    assert submitter.post(JOBS, json=body).status_code == 200


def test_a_service_that_takes_no_suites_says_which_it_offers(writer: TestClient) -> None:
    refused = writer.post(JOBS, json={"suite": "mine", "suite_text": SUITE})
    assert refused.status_code == 403
    assert "takes no suites of clients" in refused.json()["detail"] and "nightly" in refused.json()["detail"]


MODEL, ENGINE, TASK = "path: org/model", "tensor_parallel_size: 2", "k: 4, metrics"
VERIFIER, DATA = "{tolerance: 0.1}", "hub: {repo: org/sums}"


def blocks(kind: object) -> set[type[BaseModel]]:
    """Return the blocks that the annotation of a suite's field can be, and the blocks in them."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        inner = (field.annotation for field in kind.model_fields.values())
        return {kind}.union(*map(blocks, inner))
    return set().union(*map(blocks, get_args(kind)))


def test_every_key_of_a_suite_is_classed_as_allowed_or_refused() -> None:
    refused_whole = {VerifyConfig, ServedModel, JudgeModel, JudgeServer, EngineConfig}
    assert blocks(SuiteConfig) - refused_whole == set(KEYS)
    for block, keys in KEYS.items():
        allowed, refused = keys.allowed.split(), keys.refused.split()
        assert sorted([*allowed, *refused]) == sorted(block.model_fields), block


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (MODEL, f"{MODEL}, trust_remote_code: true", "2: models.tuned.trust_remote_code"),
        (MODEL, f"{MODEL}, chat_template: /etc/passwd", "2: models.tuned.chat_template"),
        (MODEL, "path: /etc", "2: models.tuned.path"),
        (MODEL, f"{MODEL}, adapter: ../x", "2: models.tuned.adapter"),
        (MODEL, 'path: m/m, server: {base_urls: ["http://a/v1"]}', "2: models.tuned.server"),
        (ENGINE, 'base_urls: ["http://a/v1"]', "3: engine.base_urls"),
        (ENGINE, "kind: http", "3: engine.kind"),
        (ENGINE, "kind: evil.module:Engine", "3: engine.kind"),
        (ENGINE, "hf_token: abc", "3: engine.hf_token"),
        (ENGINE, "worker_cls: evil.Worker", "3: engine.worker_cls"),
        ("track: nightly", "judge: {server: {base_url: 'http://a', model: m}}", "5: judge.server"),
        ("track: nightly", "judge: {use: ./mine.yaml}", "5: judge.use"),
        ("track: nightly", "verify: {workers: 1000}", "5: verify"),
        ("  - gsm8k", "  - evil.module:Task", "7: tasks.0.task"),
        ("  - gsm8k", "  - imported:x.lock.json", "7: tasks.0.task"),
        ("  - gsm8k", "  - {task: agent, k: 1, options: {command: [id]}}", "7: tasks.0.task"),
        ("  - gsm8k", "  - ./page.yaml", "7: tasks.0.task"),
        ("metrics: [avg@k]", "metrics: ['evil.module:Metric']", "8: tasks.1.metrics.0"),
        (TASK, "k: 4, options: {functions: 'f.py:make'}, metrics", "8: tasks.1.options.functions"),
        (TASK, "k: 4, options: {any: 'http://a/b'}, metrics", "8: tasks.1.options.any"),
        (TASK, "k: 4, options: {any: [{deep: ~/x}]}, metrics", "8: tasks.1.options.any.0.deep"),
        (DATA, "path: /etc/passwd", "11: tasks.2.data.path"),
        (DATA, "path: https://example.org/x.jsonl", "11: tasks.2.data.path"),
        (DATA, "path: shipped:data/../../x", "11: tasks.2.data.path"),
        (DATA, f"path: shipped:data/{'x' * 5000}", "11: tasks.2.data.path"),
        (DATA, "hub: {repo: /srv/rows}", "11: tasks.2.data.hub.repo"),
        (DATA, "hub: {repo: ../rows}", "11: tasks.2.data.hub.repo"),
        (DATA, "hub: {repo: org/../rows}", "11: tasks.2.data.hub.repo"),
        (DATA, "hub: {repo: json}", "11: tasks.2.data.hub.repo"),
        (DATA, "hub: {repo: org/sums, data_files: /etc/passwd}", "11: tasks.2.data.hub.data_files"),
        (VERIFIER, "{use: [exact]}", "13: tasks.2.verifier.use"),
        (VERIFIER, "{use: evil.module:V}", "13: tasks.2.verifier.use"),
        (VERIFIER, "{use: foreign_score}", "13: tasks.2.verifier.use"),
        (VERIFIER, "{unsafe_local_exec: true}", "13: tasks.2.verifier.unsafe_local_exec"),
        (VERIFIER, "{trust_task_code: true}", "13: tasks.2.verifier.trust_task_code"),
        (VERIFIER, "{punkt_dir: x}", "13: tasks.2.verifier.punkt_dir"),
        (VERIFIER, "{judge: ../j.yaml}", "13: tasks.2.verifier.judge"),
        (VERIFIER, "{cascade: [exact, judge], rule: {python: x}}", "13: tasks.2.verifier.rule.python"),
    ],
)
def test_what_runs_code_or_reaches_elsewhere_is_refused_by_line_and_key(
    open_service: Service, old: str, new: str, told: str
) -> None:
    assert old in SUITE
    with pytest.raises(ConfigError) as error:
        store_suite(open_service, "mine", SUITE.replace(old, new, 1))
    assert str(error.value).startswith(f"mine.yaml:{told} is refused: a submitted suite may not "), error
    assert not (open_service.runs / "submitted").exists()


def test_the_suites_own_mistakes_are_told_without_paths_of_the_service(submitter: TestClient) -> None:
    body = {"suite": "mine", "suite_text": SUITE.replace("temperature: 0.6", "temperatur: 0.6")}
    refused = submitter.post(JOBS, json=body)
    assert refused.status_code == 422 and refused.json()["detail"].startswith("mine.yaml:4: ")
    for name in ("../mine", "a/b", "", ".x"):
        assert submitter.post(JOBS, json={"suite": name, "suite_text": SUITE}).status_code == 422
    for text in ("- a list", "a: &x [*x]", "a: {", "models: 3\ntasks: {}"):
        assert submitter.post(JOBS, json={"suite": "mine", "suite_text": text}).status_code == 422


def places(node: Any, loc: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every value of a suite."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*loc, key)
        yield from places(value, (*loc, key))


def hostile_suite(canary: Path, choose: random.Random) -> str:
    """Return a suite with one to three values or keys that mean to read files or run code of the service."""
    tree: Any = yaml.safe_load(SUITE)
    up = "../" * 12
    values: list[Any] = [
        *(
            str(canary / "rows.jsonl"),
            str(canary),
            f"{up}{canary}",
            f"~/..{canary}",
            f"file://{canary}/rows.jsonl",
        ),
        *(
            "canary_module:f",
            "canary_module",
            "os:system",
            "shipped:../../x",
            "shipped:data/../../../etc/passwd",
        ),
        *(
            "imported:x.lock.json",
            "http://127.0.0.1:9/v1",
            "page.yaml",
            "\0",
            "x" * 5000,
            "\udc80",
            "ORG/NAME",
        ),
        *(
            None,
            True,
            -1,
            10**40,
            1e999,
            [],
            {},
            [[]],
            {"a": 1},
            {1: 2},
            {None: 0},
            [str(canary)],
            [{}],
            ["x"] * 400,
        ),
        *(
            {"path": str(canary / "rows.jsonl")},
            {"use": ["exact"]},
            {"use": "canary_module:f"},
            datetime.date.today(),
        ),
        *(
            {"hub": {"repo": str(canary)}},
            {"hub": {"repo": f"a/{up}"}},
            {"judge": str(canary / "rows.jsonl")},
        ),
    ]
    keys: list[Any] = [key for block in KEYS.values() for key in f"{block.allowed} {block.refused}".split()]
    keys += [
        "python",
        "definitions",
        "functions",
        "data_dir",
        "base_url",
        "unsafe_local_exec",
        1,
        None,
        "worker_cls",
    ]
    for _ in range(choose.randint(1, 3)):
        *within, last = choose.choice([*places(tree)])
        node = tree
        for key in within:
            node = node[key]
        if isinstance(node, dict) and choose.random() < 0.6:
            last = choose.choice(keys)
        node[last] = copy.deepcopy(choose.choice(values))
    return str(yaml.safe_dump(tree, allow_unicode=False))


@pytest.mark.slow
def test_no_submitted_suite_reads_a_file_imports_a_module_or_breaks_the_service(
    open_service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    canary.mkdir()
    (canary / "rows.jsonl").write_text('{"q": "?", "a": "1"}\n')
    (canary / "canary_module.py").write_text("f = 1\n")
    monkeypatch.syspath_prepend(str(canary))
    monkeypatch.chdir(canary)
    touched: list[str] = []
    posting = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        # No hook is ever removed, and this one is called for the tests that follow too.
        if not posting or event not in ("open", "import", "subprocess.Popen", "socket.connect"):
            return
        told = str(arguments[:1])
        if event not in ("open", "import") or "canary" in told or "etc/passwd" in told:
            touched.append(f"{event} {told}")

    sys.addaudithook(watch)
    token = add_token(open_service.queue, "ci", "submit", 1)
    own = replace(open_service, most_per_second=10**6)
    with TestClient(make_app(own), base_url="http://127.0.0.1:8321", raise_server_exceptions=False) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        codes: collections.Counter[int] = collections.Counter()
        for seed in range(500):
            text = hostile_suite(canary, random.Random(seed))
            answer = client.post(JOBS, json={"suite": "mine", "suite_text": text, "night": "2026-11-20"})
            codes[answer.status_code] += 1
            assert answer.status_code in (200, 201, 422, 429), (seed, answer.text, text)
            if answer.status_code < 300:
                kept = yaml.safe_load(text)
                for task in kept["tasks"]:
                    named = {} if isinstance(task, str) else {**task, "prompt": None, "system": None}
                    assert "/canary" not in str(named) and "canary_module:" not in str(named), (seed, text)
    posting = False
    assert touched == []
    assert codes[422] > 300 and codes[201] > 10, codes
    assert "canary_module" not in sys.modules
