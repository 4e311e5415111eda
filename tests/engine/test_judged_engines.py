"""The tiny checkpoint as judge: in process after the models under test, and behind vLLM's own server."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from genbench import shipped
from genbench.engines.checkpoint import folder_digest

from .conftest import Place, lines

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SUITE = """\
name: judged
models:
  base: {path: "shipped:checkpoints/tiny-base"}
  tuned: {path: "shipped:checkpoints/tiny-tuned"}
engine: {max_num_seqs: 32}
decoding: {temperature: 0.8, max_tokens: 128, seed: 5}
judge:
  JUDGE
tasks:
  - name: graded
    kind: judge
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    verifier: {judge: short.yaml}
    k: 2
    limit: 6
  - name: plain
    kind: math
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 2
    limit: 6
"""
PROMPT = "{answer}\n"


def _tiny() -> tuple[Path, str]:
    folder = shipped.folder("checkpoints") / "tiny-tuned"
    return folder, f"sha256:{folder_digest(folder.resolve())}"


def _place(path: Path, judge: str) -> Place:
    import hashlib

    (path / "short.txt").write_text(PROMPT)
    digest = hashlib.sha256(PROMPT.encode()).hexdigest()
    (path / "short.yaml").write_text(
        f"name: short\nform: label\nprompt: short.txt\nprompt_digest: sha256:{digest}\n"
        "labels: {RIGHT: 1, WRONG: 0}\nreason: false\ndecoding: {temperature: 0, top_p: 1, max_tokens: 16}\n"
        "max_answer_chars: 200\n"
    )
    (path / "suite.yaml").write_text(SUITE.replace("JUDGE", judge))
    return Place(path)


def _verdicts(folder: Path) -> list[dict[str, Any]]:
    found = lines(folder, "graded", "verdicts")
    assert len(found) == 12
    for verdict in found:
        if verdict["status"] != "unclosed_trace":
            assert verdict["extracted"] in ("RIGHT", "WRONG")
    return found


def test_a_judge_in_process_follows_all_models_with_one_engine(tmp_path: Path) -> None:
    folder, digest = _tiny()
    place = _place(
        tmp_path, f"model: {{path: '{folder}', revision: '{digest}', engine: {{max_num_seqs: 32}}}}"
    )
    report = place.results("--run-dir", "runs")
    for name in ("base", "tuned"):
        statuses = report["models"][name]["tasks"]["graded"]["status_counts"]
        assert sum(statuses.values()) == 12 and "unscored" not in statuses
        assert lines(tmp_path / "runs" / name, "graded", "judgments")
        engine = report["models"][name]["tasks"]["graded"]["judge"]["engine"]
        assert engine["identity"] == digest and engine["proven"] is True
        assert len(lines(tmp_path / "runs" / name, "plain", "verdicts")) == 12
        _verdicts(tmp_path / "runs" / name)
    assert (tmp_path / "runs" / "base" / "engine" / "judge" / "engine.log").exists()
    assert not (tmp_path / "runs" / "tuned" / "engine" / "judge").exists()
    before = [_verdicts(tmp_path / "runs" / name) for name in ("base", "tuned")]
    scored = place.run("score", "runs/tuned", "--again", "--json", timeout_s=300)
    assert scored.returncode == 0, scored.stderr
    key = ("problem_id", "sample_index", "extracted", "status")
    assert sorted([v[k] for k in key] for v in _verdicts(tmp_path / "runs" / "tuned")) == sorted(
        [v[k] for k in key] for v in before[1]
    )
    assert not (tmp_path / "runs" / "tuned" / "engine" / "judge").exists()


def test_other_weights_than_were_pinned_are_refused_before_any_engine(tmp_path: Path) -> None:
    folder, _ = _tiny()
    place = _place(tmp_path, f"model: {{path: '{folder}', revision: 'sha256:{'0' * 64}'}}")
    done = place.run("run", "suite.yaml", "--run-dir", "runs")
    assert done.returncode == 2
    assert "is not the one that was pinned" in done.stderr
    assert not list(tmp_path.rglob("engine.log"))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """vLLM's own server with the tiny checkpoint, as the model `grader`."""
    folder, _ = _tiny()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    command += ["--served-model-name", "grader", "--port", str(port), "--host", "127.0.0.1"]
    command += [
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        "--max-num-seqs",
        "16",
        "--dtype",
        "bfloat16",
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            _wait_until_ready(process, f"http://127.0.0.1:{port}/health", tmp_path / "server.log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            if httpx.get(url, timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(1)
    raise AssertionError(log.read_text()[-3000:])


def test_a_judge_behind_vllms_server_judges_in_the_stream(tmp_path: Path, served: str) -> None:
    _, digest = _tiny()
    place = _place(tmp_path, f"server: {{base_url: '{served}', model: grader, revision: '{digest}'}}")
    report = place.results("--run-dir", "runs", "--model", "tuned")
    task = report["models"]["tuned"]["tasks"]["graded"]
    assert sum(task["status_counts"].values()) == 12 and "unscored" not in task["status_counts"]
    assert task["judge"]["engine"]["version"].startswith("0.")
    assert task["judge"]["engine"]["proven"] is False
    _verdicts(tmp_path / "runs" / "tuned")
    assert json.loads((tmp_path / "runs" / "tuned" / "manifest.json").read_text())["tasks"]["graded"]["judge"]
