"""vLLM's own server, started once: as the engine of a run, and as its judge."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from genbench.engines.http.chat import ChatServer
from genbench.suite import shipped
from genbench.suite.config import Decoding
from tests import warm
from tests.judges.judgefiles import sample, served_by

from .conftest import TASKS, Place, lines, texts, verdicts
from .test_agents import AGENT
from .test_judged_engines import judged_place, judged_verdicts, tiny

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """vLLM's own server with the tiny checkpoint, as the model `tiny`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["--host", "127.0.0.1"]
    command += ["--port", str(port), "--model", str(shipped.folder("checkpoints") / "tiny-tuned")]
    command += ["--served-model-name", "tiny", "--enforce-eager", "--no-enable-chunked-prefill"]
    command += ["--max-num-seqs", "64", "--dtype", "float32"]
    # Nothing is compiled, and the engine has no worker process that would poll it on the cores of the tests.
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "TORCH_COMPILE_DISABLE": "1",
    }
    log = tmp_path_factory.mktemp("server") / "server.log"
    with log.open("wb") as stream:
        process = warm.Popen(
            command,
            engine=True,
            program=("-m", "vllm.entrypoints.openai.api_server"),
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + 300
        while not _is_healthy(f"http://127.0.0.1:{port}/health"):
            assert process.poll() is None and time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize(("prompts", "tasks"), [("token_ids", TASKS), ("chat", TASKS[:2])])
def test_vllms_server_writes_what_the_engine_in_process_writes(
    reference: Place, served: str, prompts: str, tasks: tuple[str, ...]
) -> None:
    engine = f"engine={{kind: http, base_urls: ['{served}'], model: tiny, prompts: {prompts}}}"
    only = [part for task in tasks for part in ("--task", task)]
    reference.results("--run-dir", prompts, "--set", engine, *only)
    folder, whole = reference.path / prompts / "tuned", reference.path / "whole" / "tuned"
    assert texts(folder) == texts(whole, tasks)
    wanted = verdicts(whole).items()
    assert verdicts(folder) == {key: verdict for key, verdict in wanted if key[0] in tasks}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["terms"]["engine"]["version"].startswith("0.")
    assert manifest["model_identity"].startswith("served:tiny from ")


def test_a_judge_behind_vllms_server_judges_in_the_stream(tmp_path: Path, served: str) -> None:
    _, digest = tiny()
    place = judged_place(tmp_path, f"server: {{base_url: '{served}', model: tiny, revision: '{digest}'}}")
    report = place.results("--run-dir", "runs", "--model", "tuned")
    task = report["models"]["tuned"]["tasks"]["graded"]
    assert sum(task["status_counts"].values()) == 12 and "unscored" not in task["status_counts"]
    assert task["judge"]["engine"]["version"].startswith("0.")
    assert task["judge"]["engine"]["proven"] is False
    judged_verdicts(tmp_path / "runs" / "tuned")
    assert json.loads((tmp_path / "runs" / "tuned" / "manifest.json").read_text())["tasks"]["graded"]["judge"]


def test_a_judge_behind_vllms_server_is_read_from_its_first_token(tmp_path: Path, served: str) -> None:
    """The server gives the log-probability that it gives for the token when it is part of the prompt."""
    keys = "labels: {A: 1, B: 0}\nfirst_token: {least_mass: 0, tokens: {A: '4', B: '5'}}\n"
    judge = served_by(
        served, f"form: first_token\n{keys}", folder=tmp_path, prompt="{answer} = \n", model="tiny"
    )
    [question] = judge.questions(sample("2 + 2"))

    async def read() -> dict[str, float | None]:
        assert judge.file.server is not None
        engine = ChatServer(judge.file.server.model_copy(update={"timeout_s": 60}), Decoding())
        await engine.start()
        try:
            read: dict[str, float | None] = json.loads(await engine.reply(question))
            return read
        finally:
            await engine.close()

    found = asyncio.run(read())
    listed = [text for text in ("4", "5") if found[text] is not None]
    assert listed
    for text in listed:
        body = {"model": "tiny", "prompt": f"2 + 2 = {text}", "max_tokens": 1, "prompt_logprobs": 0}
        rows = httpx.post(f"{served}/completions", json=body, timeout=60).json()["choices"][0][
            "prompt_logprobs"
        ]
        [entry] = rows[-1].values()
        assert entry["logprob"] == pytest.approx(found[text], abs=1e-4)


@pytest.mark.parametrize("prompts", ["token_ids", "chat"])
def test_a_harness_is_served_by_vllms_server_and_told_of_a_full_context(
    tmp_path: Path, served: str, prompts: str
) -> None:
    """A server that renders the prompts itself is the first to find that one is too long."""
    path = shipped.folder("checkpoints") / "tiny-tuned" if prompts == "token_ids" else "tiny"
    options = {
        "source": "rows.jsonl",
        "command": [sys.executable, str(AGENT)],
        "settings": {"do": "fill"},
        "limits": {"turns": 8},
    }
    (tmp_path / "rows.jsonl").write_text('{"id": "p", "instruction": "Compute 1 + 4.", "answer": "4"}\n')
    engine = {"kind": "http", "base_urls": [served], "model": "tiny", "prompts": prompts, "api": "vllm"}
    suite = {
        "models": {"m": {"path": str(path)}},
        "engine": engine,
        "decoding": {"temperature": 0.8, "max_tokens": 24},
        "tasks": [{"task": "agent", "k": 2, "options": options}],
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    Place(tmp_path).results("--run-dir", "out")
    found = lines(tmp_path / "out" / "m", "agent", "verdicts")
    assert [verdict["detail"]["rollout"]["turns"] for verdict in found] == [3, 3]
    for verdict in found:
        status, said = verdict["detail"]["extra"]
        assert status == 400
        assert "maximum context length" in said


def test_a_server_is_a_variant_that_is_told_by_drift_and_by_score(
    reference: Place, tmp_path: Path, served: str
) -> None:
    """The server has the weights of the run, and `base` are other ones."""
    shutil.copytree(reference.path / "whole" / "tuned", tmp_path / "same" / "tuned")
    place = Place(tmp_path)
    (tmp_path / "suite.yaml").write_text((reference.path / "suite.yaml").read_text())
    server = f"engine={{kind: http, base_urls: ['{served}'], model: tiny}}"
    few = ("--task", "arithmetic", "--task", "choice", "--limit", "8")
    place.results("--run-dir", "there", "--set", server, "--task", "arithmetic", "--task", "choice")
    scored = []
    for more in (("--set", server), ()):
        done = place.run("drift", "same/tuned", "suite.yaml", *few, "--json", *more)
        assert done.returncode == 0, done.stderr
        scored.append(json.loads(done.stdout))
    assert [one["base_is_scored"] for one in scored] == [False, True]
    compared = ("compare", "same/tuned", "there/tuned", "--task", "arithmetic", "--task", "choice")
    refused = place.run(*compared)
    assert refused.returncode == 3 and refused.stderr.rstrip().endswith("declare it: --treatment server")
    done = place.run(*compared, "--treatment", "server", "--json", "--card", "card")
    assert done.returncode == 0, done.stderr
    variant = json.loads(done.stdout)["variant"]
    assert variant["recovery"]["value"] == 1
    drift = variant["drift"]
    assert (drift["replies"], drift["left_out"], drift["parted"]) == (16, 0, 0)
    assert abs(drift["loss"]) < 1e-4
    assert "| arithmetic |" in (tmp_path / "card.md").read_text()

    # Another model in process: the file of the first command is used again, and only more replies are scored.
    base = "--model", "tuned=shipped:checkpoints/tiny-base"
    done = place.run("drift", "same/tuned", "suite.yaml", *few[:-1], "4", "--json", *base)
    assert done.returncode == 0, done.stderr
    other = json.loads(done.stdout)["models"]["tuned"]
    assert (other["replies"], other["left_out"]) == (8, 8)
    assert other["ci"][0] > 0 and other["loss"] > 100 * abs(drift["loss"])
    done = place.run("drift", "same/tuned", "suite.yaml", *few, "--json", *base)
    more = json.loads(done.stdout)["models"]["tuned"]
    assert (more["replies"], more["left_out"]) == (16, 0)
