"""Runs in a Python with lm-eval: evaluates a folder of weights on the rows of a mirror, and writes the samples.

side_by_side.py starts it: MIRROR MODEL TASK MAX-TOKENS OUT.
"""

# mypy: ignore-errors
# ruff: noqa

import json
import sys
from pathlib import Path

from lm_eval_side import mirrored


def main():
    mirror, model, task, limit, out = sys.argv[1:]
    import datasets
    import nltk

    nltk.download = lambda *_, **__: True  # tables of NLTK would come from the network
    datasets.load_dataset = mirrored(mirror)
    import lm_eval
    import lm_eval.api.task as task_module

    task_module.datasets.load_dataset = datasets.load_dataset
    found = lm_eval.simple_evaluate(
        model="hf",
        model_args=f"pretrained={model},dtype=float32",
        tasks=[task],
        device="cpu",
        batch_size=8,
        log_samples=True,
        apply_chat_template=task == "ifeval",
        bootstrap_iters=0,
        gen_kwargs=None if task == "piqa" else f"max_gen_toks={limit}",
    )
    kept = [item for item in found["samples"][task] if item["filter"] in ("none", "strict-match")]
    lines = [
        json.dumps({**item, "arguments": [list(one) for one in item["arguments"]]}, default=str)
        for item in kept
    ]
    Path(out, "samples.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")


main()
