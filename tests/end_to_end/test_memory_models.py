"""Models that a process has in memory: vLLM draws what `genbench run` draws, and all stay as they were."""

from __future__ import annotations

import json

import pytest

from tests import warm

from .conftest import Place, texts

pytestmark = [pytest.mark.engine, pytest.mark.slow]

HEAD = """
import asyncio, json, sys
from pathlib import Path
import genbench
from genbench.suite.shipped import resolve

CHECKPOINT = resolve("shipped:checkpoints/tiny-tuned", Path())
TASKS = ["arithmetic", "choice"]


def evaluate(model, run_dir, **more):
    report = genbench.evaluate(
        model, "suite.yaml", step=7, run_dir=run_dir, limit=10, tasks=TASKS, **more
    )
    return report.folders["step-7"]
"""
VLLM = (
    HEAD
    + """
ENGINE = dict(
    model=str(CHECKPOINT), dtype="float32", max_num_seqs=64, enforce_eager=True, enable_chunked_prefill=False,
    distributed_executor_backend="uni",
)


def as_llm():
    from vllm import LLM, SamplingParams

    llm = LLM(**ENGINE)
    evaluate(llm, "llm")
    assert llm.generate(["1"], SamplingParams(max_tokens=2), use_tqdm=False)[0].outputs[0].token_ids


def as_async_llm():
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    async def main():
        llm = AsyncLLM.from_engine_args(AsyncEngineArgs(**ENGINE))
        try:
            try:
                evaluate(llm, "blocked")
            except genbench.errors.ConfigError as error:
                print(error)
            await asyncio.to_thread(evaluate, llm, "async")
        finally:
            llm.shutdown()

    asyncio.run(main())


if __name__ == "__main__":
    import genbench.errors

    {"llm": as_llm, "async": as_async_llm}[sys.argv[1]]()
"""
)
TRANSFORMERS = (
    HEAD
    + """
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from genbench.engines.memory import memory_model
from genbench.suite.config import Decoding
from genbench.types import Request, SampleId

model = AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32)
model.train()
model.lm_head.eval()  # as a trainer that keeps a part frozen
torch.manual_seed(5)
before = torch.random.get_rng_state()
HOT = ["decoding.temperature=2", "decoding.top_p=1"]
evaluate(model, "one", batch=8, overrides=HOT)
# Requests share a batch by the time at which they come, and a batch has one random state.
evaluate(model, "two", batch=1, overrides=HOT)
evaluate(model, "three", batch=1, overrides=HOT, tokenizer=AutoTokenizer.from_pretrained(CHECKPOINT))
COLD = ["decoding.temperature=0", "tasks.arithmetic.k=1", "tasks.choice.k=1"]
evaluate(model, "greedy", batch=8, overrides=COLD)


async def drawn(order):
    held = memory_model(model, None, 8)
    prompts = {seed: held._own_tokenizer().encode(f"{seed} + 7")[: 3 + seed % 3] for seed in order}
    requests = [Request(SampleId("t", str(seed), 0), 0, tuple(prompts[seed]), seed, 16, "") for seed in order]
    hot = Decoding(temperature=2.0)
    texts = await asyncio.gather(*(held.draw(request, hot) for request in requests))
    return {seed: drawn.text for seed, drawn in zip(order, texts)}


texts = [asyncio.run(drawn(order)) for order in (range(11, 19), [13, 18, 11, 16, 14, 12, 17, 15])]
assert texts[0] == texts[1] and len(set(texts[0].values())) == 8, texts
assert torch.equal(before, torch.random.get_rng_state())
assert model.training and model.model.training and not model.lm_head.training
"""
)


def script(place: Place, text: str, *arguments: str) -> str:
    """Run a program, forked from a process that has imported vLLM."""
    (place.path / "script.py").write_text(text)
    done = warm.run(arguments, engine=True, program=("script.py",), cwd=place.path, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return str(done.stdout)


def drawn(place: Place, folder: str) -> dict[tuple[str, str, int], str]:
    return texts(place.path / folder / "step-7")


@pytest.mark.parametrize("kind", ["llm", "async"])
def test_an_engine_of_vllm_in_memory_draws_the_texts_of_a_run(reference: Place, kind: str) -> None:
    said = script(reference, VLLM, kind)
    found, whole = drawn(reference, kind), texts(reference.path / "whole" / "tuned")
    assert len(found) == 10 * 6
    assert found.items() <= whole.items()
    assert kind == "llm" or "await asyncio.to_thread(genbench.evaluate" in said


def test_a_model_of_transformers_repeats_itself_and_stays_as_it_was(reference: Place) -> None:
    script(reference, TRANSFORMERS)
    one, two = drawn(reference, "one"), drawn(reference, "two")
    assert len(one) == len(two) == 10 * 6 and two == drawn(reference, "three")
    assert len(set(one.values())) > len({key[:2] for key in one})  # samples of a problem differ
    cold = [
        f"--set={line}" for line in ("decoding.temperature=0", "tasks.arithmetic.k=1", "tasks.choice.k=1")
    ]
    done = reference.run("run", "suite.yaml", "--run-dir", "cold", "--limit", "10", *cold)
    assert done.returncode == 0, done.stderr
    greedy, wanted = drawn(reference, "greedy"), texts(reference.path / "cold" / "tuned")
    same = sum(wanted[key] == text for key, text in greedy.items())
    assert same >= 0.9 * len(greedy) == 18  # rounding differs between the two libraries
    manifest = json.loads((reference.path / "one/step-7/manifest.json").read_text())
    assert manifest["terms"]["engine"]["options"] == {"seeds": "batch"}
