"""Scoring of given texts against transformers, and against lm-evaluation-harness with the same vLLM.

    python benchmarks/likelihood.py reference [--model DIR]
    python benchmarks/likelihood.py rows --lm-eval PYTHON --data DIR [--limit N] [--task NAME]
    python benchmarks/likelihood.py speed --lm-eval PYTHON [--rounds 3]

`reference` compares sums, tokens and greedy with the log-softmax of transformers. `rows` compares each row
of PIQA, of five subjects of MMLU and of texts at boundaries with lm-eval. `speed` compares wall times.

The other Python has lm-eval 0.4.13 and the same vLLM. With the CPU build it also needs an empty distribution
called vllm, because lm-eval asks for the version of that name. Each side is a process with an engine of its
own that is loaded once. Rounds alternate between the sides, and every round has new texts, so that no prefix
of an earlier round is in a cache.
"""
# ruff: noqa: PLC0415  each side imports the packages of its own environment

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from genbench.engines import environment

ROOT = Path(__file__).resolve().parents[1]
SUBJECTS = ("anatomy", "business_ethics", "college_chemistry", "econometrics", "human_sexuality")
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
Pairs = list[list[list[str]]]
"""For each question, pairs of context and continuation."""
Results = list[list[list[Any]]]
"""For each question, log-probability and greedy of each pair."""
_ENGINE = {"max_model_len": 4096, "max_num_seqs": 64, "max_num_batched_tokens": 4096, "enforce_eager": True}


class Side:
    """One process with an engine, which scores questions that it is sent."""

    def __init__(self, python: str, side: str, model: Path, dtype: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [python, str(Path(__file__).resolve()), side, str(model), dtype]
        log = Path(tempfile.mkdtemp()) / f"{side}.log"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
            env=environment,
        )
        print(f"{side}: loading (log {log})", flush=True)
        self._read()

    def score(self, pairs: Pairs) -> tuple[float, Results]:
        """Return the seconds of scoring, and the results."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(pairs) + "\n")
        self._process.stdin.flush()
        found = self._read()
        return found["seconds"], found["results"]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("REPLY "):
                return json.loads(line.removeprefix("REPLY "))
        raise SystemExit("a side ended; see its log")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def serve(score: Callable[[Pairs], Results]) -> None:
    """Answer each line of questions on stdin."""
    print("REPLY {}", flush=True)
    for line in sys.stdin:
        pairs = json.loads(line)
        started = time.monotonic()
        results = score(pairs)
        print("REPLY " + json.dumps({"seconds": time.monotonic() - started, "results": results}), flush=True)


def lm_eval_side(model: str, dtype: str) -> None:
    """Score with lm-eval's vLLM model."""
    from lm_eval.api.instance import Instance  # type: ignore[import-not-found]
    from lm_eval.models.vllm_causallms import VLLM  # type: ignore[import-not-found]

    engine = VLLM(pretrained=model, dtype=dtype, batch_size="auto", **_ENGINE)

    def score(pairs: Pairs) -> Results:
        asked = [
            Instance("loglikelihood", {}, (context, text), place)
            for place, (context, text) in enumerate(pair for question in pairs for pair in question)
        ]
        found = iter(engine.loglikelihood(asked, disable_tqdm=True))
        return [[list(next(found)) for _ in question] for question in pairs]

    serve(score)


def genbench_side(model: str, dtype: str) -> None:
    """Score with genbench's engine."""
    from genbench.engines.tokenizer import load_tokenizer
    from genbench.engines.vllm import VllmEngine
    from genbench.engines.vllm_settings import VllmSettings
    from genbench.models.continuations import ContinuationEncoder, sizes
    from genbench.suite.config import Decoding
    from genbench.types import Ask, Choice, Message, SampleId, ScoreRequest, Scoring

    folder = Path(model)
    settings = VllmSettings(
        folder,
        folder,
        None,
        dtype,
        False,
        _ENGINE["max_model_len"],
        _ENGINE["max_num_seqs"],
        _ENGINE["max_num_batched_tokens"],
        {"t": Decoding(temperature=0.0, max_tokens=1)},
        extra={"enforce_eager": True},
        work=Path(tempfile.mkdtemp()),
    )
    loop = asyncio.new_event_loop()
    engine = VllmEngine(settings)
    loop.run_until_complete(engine.start())
    tokenizer = load_tokenizer(model, None, False)
    encoder = ContinuationEncoder(tokenizer, lambda said: said[-1].content, False, _ENGINE["max_model_len"])

    async def one(place: int, question: Sequence[Sequence[str]], limit: asyncio.Semaphore) -> list[list[Any]]:
        choices = tuple(Choice(context, text, text, "") for context, text in question)
        scoring = Scoring(choices)
        encoded = encoder.encode(Ask((Message("user", choices[0].context),), {}, scoring=scoring))
        sample = SampleId("t", f"{time.monotonic_ns()}-{place}", 0)
        asked = ScoreRequest(
            sample, 0, (), 0, 1, "d", continuations=encoded.continuations, sizes=sizes(scoring)
        )
        async with limit:
            found = await engine.score(asked, 1)
        return [[choice.logprob, choice.greedy, choice.tokens] for choice in found.choices]

    async def all_of(pairs: Pairs) -> Results:
        limit = asyncio.Semaphore(settings.workers)
        return list(await asyncio.gather(*(one(place, item, limit) for place, item in enumerate(pairs))))

    serve(lambda pairs: loop.run_until_complete(all_of(pairs)))


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


def speed(arguments: argparse.Namespace) -> None:
    """Print the wall time of both sides in alternating rounds."""
    with tempfile.TemporaryDirectory() as folder:
        model = random_model(Path(folder))
        sides = {
            "lm-eval": Side(arguments.lm_eval, "lm-eval-side", model, arguments.dtype),
            "genbench": Side(sys.executable, "genbench-side", model, arguments.dtype),
        }
        ratios = []
        for number in range(arguments.rounds + 1):
            asked = questions(number, 2 if number == 0 else arguments.questions, 300, model)
            seconds, results = {}, {}
            for name, side in sides.items():
                seconds[name], results[name] = side.score(asked)
            difference = max_difference(results["lm-eval"], results["genbench"])
            if number == 0:
                continue  # warms up both engines
            ratios.append(seconds["genbench"] / seconds["lm-eval"])
            print(
                f"round {number}: lm-eval {seconds['lm-eval']:.2f} s, genbench {seconds['genbench']:.2f} s, "
                f"ratio {ratios[-1]:.3f}, largest difference {difference:.2g} nats",
                flush=True,
            )
        for side in sides.values():
            side.close()
    print(
        f"median ratio {sorted(ratios)[len(ratios) // 2]:.3f} (bar 0.4), {arguments.dtype}, load "
        f"{os.getloadavg()[0]:.1f}"
    )


def max_difference(left: Results, right: Results) -> float:
    """Return the largest difference of two log-probabilities."""
    pairs = [pair for one, other in zip(left, right, strict=True) for pair in zip(one, other, strict=True)]
    return max(abs(float(a[0]) - float(b[0])) for a, b in pairs)


def rows(arguments: argparse.Namespace) -> None:
    """Print how many rows of PIQA, of five subjects of MMLU and at boundaries are equal on both sides."""
    model = Path(arguments.model or ROOT / "genbench" / "_shipped" / "checkpoints" / "tiny-base")
    if arguments.task != "boundaries":
        task_rows(arguments, model)
    if not arguments.task or arguments.task == "boundaries":
        boundaries(arguments.lm_eval, model)


def task_rows(arguments: argparse.Namespace, model: Path) -> None:
    """Print how many rows of tasks are equal on both sides."""
    made = subprocess.run(
        [arguments.lm_eval, __file__, "lm-eval-tasks", arguments.data, str(arguments.limit or 0)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HF_DATASETS_OFFLINE": "1"},
    )
    line = next((line for line in made.stdout.splitlines() if line.startswith("REPLY ")), None)
    if line is None:
        raise SystemExit(made.stderr[-3000:])
    theirs = {
        name: found
        for name, found in json.loads(line.removeprefix("REPLY ")).items()
        if not arguments.task or name.startswith(arguments.task)
    }
    ours = {name: own_rows(name, arguments.data, arguments.limit) for name in theirs}
    for name, found in theirs.items():
        same = sum(one["pairs"] == other["pairs"] for one, other in zip(found, ours[name], strict=True))
        print(
            f"{name}: {same} of {len(found)} rows have the contexts and continuations of lm-eval", flush=True
        )
    scored = {}
    for label, python, kind in (
        ("lm-eval", arguments.lm_eval, "lm-eval-side"),
        ("genbench", sys.executable, "genbench-side"),
    ):
        side = Side(python, kind, model, "float32")
        for name, found in theirs.items():
            seconds, scored[label, name] = side.score([row["pairs"] for row in found])
            print(f"{label} {name}: {seconds:.1f} s", flush=True)
        side.close()
    for name, found in theirs.items():
        left, right = scored["lm-eval", name], scored["genbench", name]
        verdicts = [
            accuracies(row, a) == accuracies(row, b) for row, a, b in zip(found, left, right, strict=True)
        ]
        print(
            f"{name}: acc and acc_norm equal in {sum(verdicts)} of {len(found)} rows, largest difference "
            f"{max_difference(left, right):.2g} nats",
            flush=True,
        )


def boundaries(python: str, model: Path) -> None:
    """Print how many texts at boundaries both sides score alike. A merged token is counted differently."""
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(str(model), None, False)
    asked = [[list(pair)] for pair in PAIRS]
    found = []
    for command, kind in ((python, "lm-eval-side"), (sys.executable, "genbench-side")):
        side = Side(command, kind, model, "float32")
        found.append(side.score(asked)[1])
        side.close()
    merged = [reference_tokens(tokenizer, *pair)[2] for pair in PAIRS]
    apart = [abs(left[0][0] - right[0][0]) for left, right in zip(*found, strict=True)]
    same = [left[0][1] == right[0][1] for left, right in zip(*found, strict=True)]
    plain = [place for place in range(len(PAIRS)) if not merged[place]]
    print(
        f"texts at boundaries: {sum(apart[place] < 1e-3 and same[place] for place in plain)} of {len(plain)} "
        f"equal within 1e-3 nats and in greedy; {sum(merged)} more have a token over the boundary, which "
        "lm-eval leaves in the context",
        flush=True,
    )


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


def accuracies(row: dict[str, Any], found: Sequence[Sequence[Any]]) -> tuple[bool, bool]:
    """Return acc and acc_norm of a row, as lm-eval computes them."""
    sums = [pair[0] for pair in found]
    normed = [value / max(1, size) for value, size in zip(sums, row["sizes"], strict=True)]
    return sums.index(max(sums)) == row["gold"], normed.index(max(normed)) == row["gold"]


def lm_eval_tasks(data: str, limit: int) -> None:
    """Print the requests that lm-eval's own tasks make of local rows."""
    import lm_eval.tasks as lm_tasks  # type: ignore[import-not-found]

    tasks = Path(lm_tasks.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        write = Path(folder)
        piqa = f"{data}/baber/piqa/default/validation.jsonl"
        (write / "piqa_local.yaml").write_text(
            f"include: {tasks}/piqa/piqa.yaml\ntask: piqa_local\ntag: null\ndataset_path: json\n"
            f"dataset_kwargs: {{data_files: {{validation: {piqa}}}}}\ntraining_split: null\n"
        )
        for subject in SUBJECTS:
            rows_ = f"{data}/cais/mmlu/{subject}"
            (write / f"mmlu_{subject}_local.yaml").write_text(
                f"include: {tasks}/mmlu/default/mmlu_{subject}.yaml\ntask: mmlu_{subject}_local\ntag: null\n"
                "dataset_path: json\ndataset_name: default\n"
                f"dataset_kwargs: {{data_files: {{test: {rows_}/test.jsonl, dev: {rows_}/dev.jsonl}}}}\n"
            )
        manager = lm_tasks.TaskManager(include_path=folder, include_defaults=False)
        names = ["piqa_local", *(f"mmlu_{subject}_local" for subject in SUBJECTS)]
        found = {}
        for name, task in lm_tasks.get_task_dict(names, manager).items():
            task.set_config("num_fewshot", 5 if name.startswith("mmlu") else 0)
            task.build_all_requests(limit=limit or None, rank=0, world_size=1)
            grouped: dict[int, list[Any]] = {}
            for instance in task.instances:
                grouped.setdefault(instance.doc_id, []).append(instance)
            found[name] = [
                {
                    "pairs": [list(one.args) for one in own],
                    "gold": task.doc_to_target(own[0].doc),
                    "sizes": [len(choice) for choice in task.doc_to_choice(own[0].doc)],
                }
                for _, own in sorted(grouped.items())
            ]
    print("REPLY " + json.dumps(found), flush=True)


def own_rows(name: str, data: str, limit: int | None) -> list[dict[str, Any]]:
    """Return the requests that genbench's page makes of the same rows."""
    from genbench import registry

    kind = "piqa" if name.startswith("piqa") else "mmlu_likelihood"
    task = registry.load("task", kind)()
    if kind == "piqa":
        found = _lines(f"{data}/baber/piqa/default/validation.jsonl")
    else:
        subject = name.removeprefix("mmlu_").removesuffix("_local")
        place = f"{data}/cais/mmlu/{subject}"
        found = [{**row, "config": subject} for row in _lines(f"{place}/test.jsonl")]
        task = task.with_examples([{**row, "config": subject} for row in _lines(f"{place}/dev.jsonl")])
    made = []
    for problem in task.problems(found)[: limit or None]:
        scoring = task.ask(problem, 0, ()).scoring
        made.append({"pairs": [[one.context, one.delimiter + one.text] for one in scoring.choices]})
    return made


def _lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n") if line]


def main() -> None:
    """Run what the command line asks for."""
    sides = {"lm-eval-side": lm_eval_side, "genbench-side": genbench_side}
    if len(sys.argv) > 2 and sys.argv[1] in sides:
        sides[sys.argv[1]](sys.argv[2], sys.argv[3])
        return
    if len(sys.argv) > 2 and sys.argv[1] == "lm-eval-tasks":
        lm_eval_tasks(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("reference", "rows", "speed"))
    parser.add_argument("--lm-eval", help="a Python with lm-eval 0.4.13 and the same vLLM")
    parser.add_argument("--data", help="folder of mirrored datasets, for rows")
    parser.add_argument("--model", help="checkpoint; default: tiny-base for rows, a random Llama")
    parser.add_argument("--task", help="only tasks of rows that begin so: piqa, mmlu_anatomy, boundaries")
    parser.add_argument("--limit", type=int, help="rows of each task")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument("--dtype", default="bfloat16", help="of both engines, for speed")
    arguments = parser.parse_args()
    environment.prepare()  # both sides inherit the variables that vLLM reads
    if arguments.what != "reference" and not arguments.lm_eval:
        parser.error(f"{arguments.what} needs --lm-eval")
    {"reference": reference, "rows": rows, "speed": speed}[arguments.what](arguments)


if __name__ == "__main__":
    main()
