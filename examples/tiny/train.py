"""Train the tiny pair from nothing: one run, an early checkpoint (base) and the last one (tuned).

    python examples/tiny/train.py --out DIR

CPU only. Needs torch and transformers, which every vLLM installation has.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from data import training_items
from item import Item
from tokenizer import CONTEXT, save_tokenizer, train_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SEED = 7
STEPS = 2400
BASE_STEP = 1100
WARM_UP = 40
BATCH = 32
POOL = 64
"""Batches sorted by length together, so that little is padded."""
TOKENIZER_ITEMS = 6000
WEIGHTS = {"arithmetic": 0.35, "choice": 0.25, "code": 0.15, "instructions": 0.25}
SYSTEM = ("You are a helpful assistant.", "Answer with care.", "Think first.")
SYSTEM_SHARE = 0.1
REPORT_EVERY = 50
MUON_RATE, ADAM_RATE = 0.008, 0.003
IGNORED = -100


@dataclass(frozen=True, slots=True)
class Example:
    """Token ids of a prompt and of the completion that is learnt."""

    prompt: list[int]
    completion: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.completion)


def build_tokenizer() -> PreTrainedTokenizerFast:
    corpus = itertools.islice(training_items(SEED + 1, WEIGHTS), TOKENIZER_ITEMS)
    return train_tokenizer(f"{item.question}\n{item.completion}" for item in corpus)


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama with untied embeddings: swapping weights under a tied head goes wrong on vLLM's CPU build."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        initializer_range=0.08,  # near 1/sqrt(hidden size); copying was learnt sooner than from 0.02
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(config)
    with torch.no_grad():  # starts as if tied: copying from the prompt is learnt much sooner
        model.lm_head.weight.copy_(model.model.embed_tokens.weight)
    return model


def chat(item: Item, rng: Random) -> list[dict[str, str]]:
    """The prompt's messages; some carry a system message, which does not change the answer."""
    system = [{"role": "system", "content": rng.choice(SYSTEM)}] if rng.random() < SYSTEM_SHARE else []
    return [*system, {"role": "user", "content": item.question}]


def examples(tokenizer: PreTrainedTokenizerFast, items: Iterator[Item]) -> Iterator[Example]:
    """Prompts exactly as the model's own chat template renders them for evaluation."""
    rng = Random(SEED)
    for item in items:
        prompt = tokenizer.apply_chat_template(chat(item, rng), add_generation_prompt=True, return_dict=False)
        completion = tokenizer.encode(item.completion, add_special_tokens=False)
        yield Example(prompt, [*completion, tokenizer.eos_token_id])


def batches(stream: Iterator[Example]) -> Iterator[list[Example]]:
    """Batches of examples of like length, in random order."""
    rng = Random(SEED)
    while True:
        pool = sorted(itertools.islice(stream, BATCH * POOL), key=len)
        made = [pool[start : start + BATCH] for start in range(0, len(pool), BATCH)]
        rng.shuffle(made)
        yield from made


def tensors(batch: list[Example], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels, both (examples, longest); labels hold IGNORED except where the reply is."""
    longest = max(map(len, batch))
    ids = torch.full((len(batch), longest), pad)
    labels = torch.full((len(batch), longest), IGNORED)
    for line, example in enumerate(batch):
        start, end = len(example.prompt), len(example)
        ids[line, :end] = torch.tensor(example.prompt + example.completion)
        labels[line, start:end] = torch.tensor(example.completion)
    return ids, labels


def reply_loss(model: LlamaForCausalLM, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of the replies' tokens; the head runs on those positions alone.

    Without a mask: padding stands on the right, where a causal model cannot see it.
    """
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    wanted = labels[:, 1:]
    learnt = wanted != IGNORED
    return torch.nn.functional.cross_entropy(model.lm_head(hidden[learnt]), wanted[learnt])


def optimizers(model: LlamaForCausalLM) -> list[torch.optim.Optimizer]:
    """Muon for the layers' matrices, AdamW for the rest."""
    matrices = [weight for weight in model.model.layers.parameters() if weight.ndim == 2]
    inside = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in inside]
    return [
        torch.optim.Muon(matrices, lr=MUON_RATE, weight_decay=0.0),
        torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def rate(step: int) -> float:
    """Share of the full learning rate at a step from 1: up, level, and the longer part down to nothing."""
    return min(1.0, step / WARM_UP, (STEPS - step + 1) / (0.7 * STEPS))


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """A checkpoint folder as vLLM reads it: bfloat16 weights, own generation config with ids alone."""
    copy = LlamaForCausalLM(model.config).to(torch.bfloat16)
    copy.load_state_dict(model.state_dict())
    copy.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)  # safetensors makes it readable by its owner alone
    save_tokenizer(tokenizer, folder)
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    (folder / "generation_config.json").write_text(json.dumps(ids, indent=2) + "\n", encoding="utf-8")


def set_rates(tools: list[torch.optim.Optimizer], step: int) -> None:
    for tool, start in zip(tools, (MUON_RATE, ADAM_RATE), strict=True):
        for group in tool.param_groups:
            group["lr"] = start * rate(step)


def learn(model: LlamaForCausalLM, tools: list[torch.optim.Optimizer], batch: list[Example]) -> float:
    """One step; the loss before it."""
    loss = reply_loss(model, *tensors(batch, model.config.pad_token_id))
    loss.backward()
    for tool in tools:
        tool.step()
        tool.zero_grad()
    return float(loss.item())


def train(out: Path, also: Container[int]) -> None:
    """The whole run; both checkpoints land in `out`, and those after the steps of `also` beside them."""
    tokenizer = build_tokenizer()
    model = build_model(tokenizer)
    tools = optimizers(model)
    stream = batches(examples(tokenizer, training_items(SEED, WEIGHTS)))
    begun, losses = time.monotonic(), []
    for step, batch in enumerate(itertools.islice(stream, STEPS), start=1):
        set_rates(tools, step)
        losses.append(learn(model, tools, batch))
        if step % REPORT_EVERY == 0:
            loss = sum(losses[-REPORT_EVERY:]) / REPORT_EVERY
            print(f"step {step}/{STEPS}  loss {loss:.3f}  {time.monotonic() - begun:.0f} s", flush=True)
        if step in also:
            save(model, tokenizer, out / f"step{step}")
        if step == BASE_STEP:
            save(model, tokenizer, out / "tiny-base")
    save(model, tokenizer, out / "tiny-tuned")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder that receives tiny-base/ and tiny-tuned/"
    )
    parser.add_argument(
        "--also", type=int, nargs="*", default=(), help="further steps to keep a checkpoint of"
    )
    given = parser.parse_args()
    torch.set_num_threads(1)  # sums come out the same whatever the machine's load
    train(given.out, given.also)


if __name__ == "__main__":
    main()
