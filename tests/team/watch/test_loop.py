"""Servers whose weights change: no reply of two versions is counted, and steps are evaluated in order."""

from __future__ import annotations

import asyncio
import json
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import genbench
from genbench.cli import app
from genbench.engines.http.server import WeightWatch
from genbench.errors import ConfigError, EngineError, InputError
from genbench.nights.ledger.checking import check
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.store.folder import RunFolder
from genbench.suite.shipped import resolve
from tests import warm
from tests.loopback import QuietHandler, send

SUITE = """\
name: loop
models: {policy: {path: any}}
engine:
  {kind: http, prompts: chat, base_urls: [URL], model: policy, concurrency: 8,
   weights: "/get_model_info:weight_version"}
decoding: {temperature: 0.8, max_tokens: 32}
tasks:
  - name: free
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 4
"""


class Trainer:
    """A server of a training: its replies say which weights it had at their beginning and at their end."""

    def __init__(self) -> None:
        self.weights, self.follows, self.answered = "step-1", True, 0
        self.swap_at: int | None = None
        self.kills_at: int | None = None
        self.lock = threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def _handler(owner: Trainer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802  http.server's own name
            if self.path.endswith("/models"):
                send(self, 200, {"data": [{"id": "policy"}]})
            elif self.path == "/get_model_info":
                send(self, 200, {"weight_version": owner.weights})
            else:
                send(self, 404, {})

        def do_POST(self) -> None:  # noqa: N802  http.server's own name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with owner.lock:
                owner.answered += 1
                swap = owner.answered == owner.swap_at
                if owner.answered == owner.kills_at:
                    _WarmPopen.latest.kill()
            begun = owner.weights
            time.sleep(0.002)
            if swap:
                owner.weights = "step-2"
            drawn = f"{body['seed']}" if owner.follows else "0"
            text = f"{begun} {owner.weights} \\\\boxed{{{drawn if owner.follows else 0}}}"
            if owner.follows:
                text += f" {owner.weights}"
            message = {"message": {"content": text}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 3, "completion_tokens": 3}
            send(self, 200, {"model": "policy", "choices": [message], "usage": usage})

    return Handler


class _WarmPopen(warm.AnyPopen):
    """A process of any program. One of a module is forked, as a step is: it would import for 3 s."""

    latest: _WarmPopen

    def __init__(self, args: Any, *more: Any, **options: Any) -> None:
        if args[:2] == [sys.executable, "-m"]:
            _WarmPopen.latest = self
            warm.Popen.__init__(self, args[3:], program=args[1:3], **options)
        else:
            super().__init__(args, *more, **options)


@pytest.fixture(autouse=True)
def warm_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", _WarmPopen)


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[Trainer]:
    made = Trainer()
    rows = [{"id": f"p{i}", "question": f"{i}?", "reference": "1"} for i in range(100)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "suite.yaml").write_text(SUITE.replace("URL", made.url))
    yield made
    made.close()


def loop(tmp_path: Path, **options: object) -> genbench.Loop:
    return genbench.Loop(tmp_path / "suite.yaml", "grpo", runs=tmp_path / "runs", **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_no_reply_of_two_versions_is_counted_in_random_schedules() -> None:
    async def schedule(seed: int) -> int:
        rng = random.Random(seed)
        now = ["a"]

        async def some_time() -> None:
            for _ in range(rng.randrange(4)):
                await asyncio.sleep(0)

        async def read() -> str:
            await some_time()
            found = now[0]
            await some_time()
            return found

        async def draw() -> tuple[str, str]:
            begun = now[0]
            await some_time()
            return begun, now[0]

        async def swap() -> None:
            for version in ("b", "c"):
                for _ in range(rng.randrange(8)):
                    await some_time()
                now[0] = version

        watch = WeightWatch(read, "a")
        swapping = asyncio.create_task(swap())
        asked = await asyncio.gather(*(watch.under(draw) for _ in range(8)), return_exceptions=True)
        await swapping
        counted = [found for found in asked if not isinstance(found, BaseException)]
        assert all(found == ("a", "a") for found in counted), seed
        assert all(isinstance(found, tuple | EngineError) for found in asked)
        return watch.void

    async def everything() -> int:
        return sum(await asyncio.gather(*(schedule(seed) for seed in range(250))))

    assert asyncio.run(everything()) > 75


@pytest.mark.slow
def test_a_step_is_declared_by_its_weights(trainer: Trainer, tmp_path: Path) -> None:
    found = loop(tmp_path).evaluate(1).result(120)
    assert found is not None and found.tasks["free"].samples == 400 == trainer.answered
    manifest = RunFolder(tmp_path / "runs/grpo/step-1/policy").require_manifest()
    assert manifest.model_identity.startswith("declared: weights step-1 of served:policy")
    assert manifest.track is not None and (manifest.track.kind, manifest.track.position) == ("step", 1)


@pytest.mark.slow
def test_a_step_whose_weights_move_on_is_void_and_the_next_is_not(trainer: Trainer, tmp_path: Path) -> None:
    trainer.swap_at = 150
    own = loop(tmp_path)
    started = time.perf_counter()
    first = own.evaluate(1)
    assert time.perf_counter() - started < 0.05
    assert not first.is_over and trainer.answered == 0
    said = r"void: the server has weights 'step-2' now, the run began under 'step-1'; \d+ replies were not"
    with pytest.raises(EngineError, match=said):
        first.result(120)
    texts = [item.text for item in RunFolder(first.folder).completions("free")]
    assert 100 < len(texts) < 150 and not any("step-2" in text for text in texts)
    assert not (first.folder / "results.json").exists()
    second = own.evaluate(2).result(120)
    assert second is not None and second.tasks["free"].samples == 400
    own.close(60)
    with open_ledger(str(tmp_path / "ledger.sqlite3"), None) as ledger:
        add(ledger, [tmp_path / "runs"])
        assert {run.state for run in check(ledger).runs} == {"ok"}


@pytest.mark.slow
def test_a_server_that_never_got_the_weights_is_named(trainer: Trainer, tmp_path: Path) -> None:
    own = loop(tmp_path, limit=3, full_every=None)
    trainer.follows = False
    trainer.weights = "x"
    own.evaluate(1).result(120)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        own.evaluate(2).result(120)
    assert any("step 2 of grpo: all replies are those of step-1" in str(item.message) for item in said)


@pytest.mark.slow
def test_every_few_steps_are_whole_and_the_others_are_subsets(trainer: Trainer, tmp_path: Path) -> None:
    own = loop(tmp_path, limit=10, full_every=2)
    evaluations = [own.evaluate(step) for step in (1, 2)]
    sizes = [known.tasks["free"].n for item in evaluations if (known := item.result(120)) is not None]
    assert sizes == [100, 10] and all(item.is_over for item in evaluations)
    ids = [set(RunFolder(item.folder).problems("free")) for item in evaluations]
    assert ids[1] < ids[0]


@pytest.mark.slow
def test_a_step_whose_process_is_killed_says_so(trainer: Trainer, tmp_path: Path) -> None:
    trainer.kills_at = 3
    with pytest.raises(EngineError, match=r"^step 1 was not evaluated: its process was killed by signal 9$"):
        loop(tmp_path).evaluate(1).result(120)


def test_a_server_that_does_not_tell_its_weights_is_refused(trainer: Trainer, tmp_path: Path) -> None:
    suite = (tmp_path / "suite.yaml").read_text()
    (tmp_path / "suite.yaml").write_text(suite.replace("weight_version", "nothing"))
    with pytest.raises(ConfigError, match="/get_model_info has no 'nothing', found weight_version"):
        genbench.check_suite(genbench.RunOptions(tmp_path / "suite.yaml")) and genbench.run(
            genbench.RunOptions(tmp_path / "suite.yaml", quiet=True)
        )
    (tmp_path / "suite.yaml").write_text(suite.replace(',\n   weights: "/get_model_info:weight_version"', ""))
    with pytest.raises(
        InputError, match=r"engine\.weights is not set, so replies of two versions could be mixed"
    ):
        loop(tmp_path).evaluate(1)


@pytest.mark.slow
def test_a_written_checkpoint_waits_in_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(resolve("shipped:checkpoints/tiny-tuned", tmp_path), tmp_path / "out/checkpoint-500")
    own = genbench.Loop("quickstart", "sft", runs=tmp_path / "runs", limit=2)
    started = time.perf_counter()
    asked = own.later(500, tmp_path / "out/checkpoint-500")
    assert time.perf_counter() - started < 0.05
    assert not asked.is_over and asked.result(120) is None
    listed = CliRunner().invoke(app, ["queue", "list", "--json"])
    assert "step-500" in listed.output and "sft" in listed.output


def snippet(title: str) -> str:
    page = (Path(__file__).parents[3] / "docs/loop.md").read_text()
    found = re.search(rf'```python title="{title}"\n(.*?)```', page, re.DOTALL)
    assert found is not None, title
    return found.group(1)


@pytest.mark.slow
def test_the_snippets_of_the_guide(trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rl.yaml").write_text((tmp_path / "suite.yaml").read_text())
    for title, call in (("after_update.py", "after_update"), ("before_update.py", "before_update")):
        names: dict[str, Any] = {}
        exec(compile(snippet(title), title, "exec"), names)  # noqa: S102  a text of our own
        assert names[call](49) is None
        trainer.weights = f"of {title}"
        found = names[call](50 if call == "after_update" else 100)
        results = found.result(120) if call == "after_update" else found
        assert results.tasks["free"].n == 64


@pytest.mark.slow
def test_the_callback_of_the_guide_puts_checkpoints_into_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    shutil.copytree(resolve("shipped:checkpoints/tiny-tuned", tmp_path), tmp_path / "out/checkpoint-20")
    names: dict[str, Any] = {}
    exec(compile(snippet("later_callback.py"), "later", "exec"), names)  # noqa: S102  a text of our own
    callback = names["Later"]("quickstart", "sft", limit=2)
    state = SimpleNamespace(is_world_process_zero=True, global_step=20)
    callback.on_save(SimpleNamespace(output_dir=str(tmp_path / "out")), state, None)
    callback.loop.close(120)
    assert "step-20" in CliRunner().invoke(app, ["queue", "list", "--json"]).output
