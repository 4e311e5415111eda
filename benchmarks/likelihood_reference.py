"""Scores of genbench's engine against the log-softmax of transformers, `reference` of `likelihood.py`."""
# ruff: noqa: PLC0415  torch and transformers take seconds to import

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.likelihood_sides import Side
from benchmarks.likelihood_texts import PAIRS, questions, random_model, reference_tokens


def reference(arguments: argparse.Namespace) -> None:
    """Print the largest difference to the log-softmax of transformers in float32."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments.model) if arguments.model else random_model(Path(folder))
        tokenizer = AutoTokenizer.from_pretrained(path)
        model = AutoModelForCausalLM.from_pretrained(path, dtype="float32")
        lengths = [1, 2, 7, 50, 127, 128, 129, 200, 255, 256, 257, 400, 511, 512, 513, 600]
        asked = [[list(pair)] for pair in PAIRS]
        asked += [questions(length, 1, length, path)[0] for length in lengths]
        side = Side(sys.executable, "genbench-side", path, "float32")
        results = side.score(asked)[1]
        side.close()
        texts = [pair for question in asked for pair in question]
        found = [one for question in results for one in question]
        wanted = [transformers_score(model, tokenizer, *pair) for pair in texts]
    differences = [abs(one[0] - other[0]) for one, other in zip(found, wanted, strict=True)]
    equal = sum(one[1:] == other[1:3] for one, other in zip(found, wanted, strict=True))
    print(
        f"{path.name}: {len(texts)} texts, {sum(other[3] for other in wanted)} with a token over the "
        f"boundary, {sum(not pair[0].strip() for pair in texts)} without context; largest difference "
        f"{max(differences):.2g} nats (bar 1e-3), tokens and greedy equal in {equal}"
    )


def transformers_score(model: Any, tokenizer: Any, context: str, text: str) -> list[Any]:
    """Return the sum of log-probabilities, greedy, tokens, and whether a token is over the boundary."""
    import torch

    before, own, merged = reference_tokens(tokenizer, context, text)
    with torch.no_grad():
        logits = model(torch.tensor([[*before, *own]])).logits[0].float()
    rows = torch.log_softmax(logits, dim=-1)[len(before) - 1 : -1]
    ids = torch.tensor(own)
    total = float(rows[torch.arange(len(own)), ids].sum())
    return [total, bool((rows.argmax(dim=-1) == ids).all()), len(own), merged]
