"""Texts that `likelihood.py` scores: at boundaries of tokens, and after contexts of a given length."""
# ruff: noqa: PLC0415  torch and transformers take seconds to import

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from benchmarks.likelihood_sides import ROOT, Pairs

PAIRS = (
    ("", "Hello world"),
    ("", " Hello"),
    (" ", "Hello"),
    ("\n", "a"),
    ("Question: why?\nAnswer:", " because"),
    ("Question: why?\nAnswer: ", "because"),
    ("Question: why?\nAnswer:\n", "because"),
    ("Question: why? \t", " because"),
    ("The answer is 1", "23"),
    ("The quest", "ion is open"),
    ("Question: wh", "ich one?"),
    ("an", "other"),
    ("x", " y"),
    ("Tu as ét", "é"),
    ("Bon caf", "é noir"),
    ("\u65e5", "\u672c"),
    ("\u3053\u308c\u306f\u65e5", "\u672c\u3067\u3059"),
    ("\u041e\u043d \u0441\u043a\u0430\u0437\u0430\u043b \u043f\u0440\u0438", "\u0432\u0435\u0442"),
    ("e", "\u0301"),
    ("a\u0301 e", "\u0301"),
    ("\U0001f469", "\u200d\U0001f4bb"),
    ("\uc548\ub155\ud558", "\uc138\uc694"),
    ("tab", "\tend"),
    ("lines", "\n\nend"),
)
"""Contexts and continuations at boundaries: no context, white space, digits, and characters that tokenizers
merge with what comes before."""


def random_model(place: Path) -> Path:
    """Write a random Llama of eight layers with a vocabulary of 32,000, and the tiny tokenizer."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=4096,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(place)
    tiny = ROOT / "genbench" / "_shipped" / "checkpoints" / "tiny-base"
    AutoTokenizer.from_pretrained(tiny).save_pretrained(place)
    return place


def questions(seed: int, count: int, tokens: int, model: Path) -> Pairs:
    """Return questions of four choices after a context of about `tokens` tokens."""
    from transformers import AutoTokenizer

    tokenizer, draw = AutoTokenizer.from_pretrained(model), random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def words(number: int) -> str:
        return " ".join("".join(draw.choices(letters, k=draw.randint(2, 7))) for _ in range(number))

    found = []
    for _ in range(count):
        context = words(tokens)
        ids = tokenizer(context, add_special_tokens=False)["input_ids"][:tokens]
        context = tokenizer.decode(ids).rstrip()
        found.append([[context, " " + words(3)] for _ in range(4)])
    return found


def reference_tokens(tokenizer: Any, context: str, text: str) -> tuple[list[int], list[int], bool]:
    """Return the tokens of context and continuation, and whether a token has characters of both."""
    kept = context.rstrip()
    text = context[len(kept) :] + text
    bos = tokenizer.bos_token_id
    if not kept:
        return (
            [tokenizer.eos_token_id if bos is None else bos],
            tokenizer(text, add_special_tokens=False)["input_ids"],
            False,
        )
    before, whole = tokenizer(kept)["input_ids"], tokenizer(kept + text)["input_ids"]
    end = 0
    while end < len(before) and before[end] == whole[end]:
        end += 1
    return whole[:end], whole[end:], end < len(before)
