"""A real engine and checkpoints that were built to loop and to miss the ends of their turns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from genbench.engines.repetition import DRAWN
from genbench.store.stored_run import StoredRun
from genbench.suite.shipped import folder
from tests import warm

pytestmark = [pytest.mark.engine, pytest.mark.slow]

TINY = folder("checkpoints") / "tiny-tuned"
BLOCK = 16
LOOPS = """\
models: {m: {path: ./cycle, dtype: float32}}
decoding: {temperature: 0, max_tokens: 1280, ignore_eos: true}
tasks:
  - &one
    name: whole
    kind: exact
    data: {path: rows.jsonl}
    prompt: "{question}"
    k: 1
  - {<<: *one, name: ended, decoding: {stop_on_loop: true}}
  - {<<: *one, name: short, decoding: {stop_on_loop: true, max_tokens: 600}}
"""
ENDS = """\
models:
  base: {path: ./base, dtype: float32}
  tuned: {path: ./tuned, dtype: float32}
track: {name: nights, anchor: base}
decoding: {temperature: 0.6, max_tokens: 64}
tasks:
  - name: sums
    kind: math
    gating: true
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 1
    limit: 40
"""


def cycling(place: Path) -> Path:
    """Write a checkpoint whose next token depends on the last one only: it walks in circles of 16 tokens."""
    shutil.copytree(TINY, place)
    weights = load_file(place / "model.safetensors")
    for name in weights:
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weights[name].zero_()
        if name.endswith("norm.weight"):
            weights[name].fill_(1.0)
    table = torch.randn(
        weights["model.embed_tokens.weight"].shape, generator=torch.Generator().manual_seed(1)
    )
    tokens = torch.arange(len(table))
    head = torch.empty_like(table)
    head[tokens // BLOCK * BLOCK + (tokens + 1) % BLOCK] = table
    kind = weights["lm_head.weight"].dtype
    weights |= {"model.embed_tokens.weight": table.to(kind), "lm_head.weight": head.to(kind)}
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    return place


def endless(place: Path) -> Path:
    """Write a checkpoint that rarely ends its turn: the output row of the end token is turned round."""
    shutil.copytree(TINY, place)
    weights = load_file(place / "model.safetensors")
    end = json.loads((place / "config.json").read_text())["eos_token_id"]
    weights["lm_head.weight"][end] *= -1.0
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    return place


def genbench(place: Path, *arguments: str) -> str:
    done = warm.run(arguments, engine=arguments[0] == "run", cwd=place, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    return str(done.stdout)


def test_a_reply_that_repeats_is_ended_and_is_the_beginning_of_the_whole_one(tmp_path: Path) -> None:
    cycling(tmp_path / "cycle")
    (tmp_path / "suite.yaml").write_text(LOOPS)
    rows = [{"question": question, "reference": "x"} for question in ("1+1?", "Say a word.", "Why?")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = genbench(tmp_path, "run", "suite.yaml", "--run-dir", "out")
    run = StoredRun(tmp_path / "out" / "m")
    found = {
        name: {item.sample.problem_id: item for item in run.task(name).completions()}
        for name in ("whole", "ended", "short")
    }
    assert {(item.finish_reason, item.completion_tokens) for item in found["whole"].values()} == {
        ("length", 1280)
    }
    assert {(item.finish_reason, item.completion_tokens) for item in found["short"].values()} == {
        ("length", 600)
    }
    for name, item in found["ended"].items():
        assert item.finish_reason == "loop" and DRAWN.least <= (item.completion_tokens or 0) <= 704
        # The last character may be in two tokens.
        assert found["whole"][name].text.startswith(item.text.rstrip("\ufffd"))
    statuses = [{v.sample.problem_id: v.status for v in run.task(name).verdicts()} for name in found]
    assert statuses[0] == statuses[1] == statuses[2] == dict.fromkeys(statuses[0], "truncated")
    assert "stop_on_loop ended 3 replies and saved up to 1," in said


def test_a_checkpoint_that_rarely_ends_its_turn_is_told_first_by_compare_gate_and_trend(
    tmp_path: Path,
) -> None:
    shutil.copytree(TINY, tmp_path / "base")
    endless(tmp_path / "tuned")
    (tmp_path / "suite.yaml").write_text(ENDS)
    genbench(tmp_path, "run", "suite.yaml", "--run-dir", "out", "--night-of", "2026-11-20")
    genbench(tmp_path, "ledger", "add", "out")
    told = "sums: tuned no longer ends its replies: "
    first = {
        "compare": genbench(tmp_path, "compare", "out/base", "out/tuned").splitlines()[:12],
        "gate": warm.run(["gate", "out/tuned"], cwd=tmp_path, text=True).stdout.splitlines()[:6],
        "trend": genbench(tmp_path, "trend", "nights").splitlines()[:2],
    }
    for name, lines in first.items():
        assert any(told in line for line in lines), (name, lines)
