"""The code of the pages for trainers runs: in a real trainer of TRL, else as its documentation calls it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from genbench.runs.rewards import close_verifiers
from genbench.suite.shipped import resolve
from tests import warm

ROOT = Path(__file__).resolve().parents[2]
RIGHT, WRONG = "<think>1+1=2</think>\\boxed{2}", "\\boxed{3}"

SUITE = """\
models: {tuned: {path: trained}}
decoding: {temperature: 0.8, max_tokens: 24}
tasks:
  - name: arithmetic
    kind: math
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 1
"""
TRAINING = """\
import json
import sys

import torch
from datasets import Dataset
from evaluate_callback import Evaluate
from rewards import math_reward
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

checkpoint = sys.argv[1]
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
rewards = []


def watched(**columns):
    found = math_reward(**columns)
    rewards.append(found)
    return found


rows = [{"prompt": [{"role": "user", "content": f"{n} + 5"}], "answer": str(n + 5)} for n in range(10, 18)]
trainer = GRPOTrainer(
    model=AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32),
    processing_class=tokenizer,
    reward_funcs=[watched],
    train_dataset=Dataset.from_list(rows),
    args=GRPOConfig(
        output_dir="out", use_cpu=True, report_to=[], per_device_train_batch_size=4, num_generations=4,
        max_completion_length=24, max_steps=2, eval_steps=1, save_strategy="no", learning_rate=1e-6,
    ),
    callbacks=[Evaluate("suite.yaml", tokenizer, track="grpo", limit=4, run_dir="evaluated")],
)
trainer.train()
print(json.dumps(rewards), file=open("rewards.json", "w"))
"""


def block(page: str, title: str) -> str:
    text = (ROOT / "docs" / page).read_text()
    found = re.search(rf'```python title="{re.escape(title)}"\n(.*?)```', text, re.DOTALL)
    assert found is not None, f"docs/{page} has no block {title}"
    return found[1]


def function(folder: Path, title: str, name: str) -> Any:
    (folder / title).write_text(block("rewards.md", title))
    return runpy.run_path(str(folder / title))[name]


def test_the_rewards_of_the_page_score_what_their_trainers_hand_over(tmp_path: Path) -> None:
    texts, answers = [RIGHT, WRONG], ["2", "2"]
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    trl = function(tmp_path, "rewards.py", "math_reward")
    assert trl(prompts=[[]] * 2, completions=chats, answer=answers, completion_ids=[[1]] * 2) == [1.0, 0.0]
    verl = function(tmp_path, "verl_reward.py", "compute_score")
    assert [verl(data_source="d", solution_str=text, ground_truth="2", extra_info={}) for text in texts] == [
        1,
        0,
    ]
    prime = function(tmp_path, "prime_reward.py", "correct")
    found = [asyncio.run(prime(completion=chat, answer="2", state={})) for chat in (*chats, RIGHT)]
    assert found == [1.0, 0.0, 1.0]
    close_verifiers()


@pytest.mark.slow
def test_a_trainer_of_trl_takes_the_reward_and_the_callback_as_they_are_printed(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(block("rewards.md", "rewards.py"))
    (tmp_path / "evaluate_callback.py").write_text(block("loop.md", "evaluate_callback.py"))
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "train.py").write_text(TRAINING)
    checkpoint = resolve("shipped:checkpoints/tiny-tuned", tmp_path)
    done = warm.run(
        (str(checkpoint),),
        engine=True,
        program=("train.py",),
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    rewards = json.loads((tmp_path / "rewards.json").read_text())
    assert len(rewards) == 2 and all(set(found) <= {0.0, 1.0} for found in rewards)
    for step in (1, 2):
        folder = tmp_path / "evaluated" / f"step-{step}"
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["model_identity"] == f"declared: step {step} of grpo"
        results = json.loads((folder / "results.json").read_text())
        assert results["tasks"]["arithmetic"]["n"] == 4
        assert str({"arithmetic": results["tasks"]["arithmetic"]["value"]}) in done.stdout
