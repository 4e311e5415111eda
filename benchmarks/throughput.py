"""What genbench costs over the bare engine: one vLLM engine, alternating rounds, the same requests.

    python benchmarks/throughput.py                                # two pairs: does it work
    python benchmarks/throughput.py --pairs 16 --k 16              # the measurement, about 20 minutes
    python benchmarks/throughput.py --pairs 16 --k 16 --lm-eval PYTHON    # and lm-evaluation-harness
    python benchmarks/throughput.py --pairs 3 --k 8 --add rounds.json    # repeated: one report of all rounds

One arm is `genbench run` into a fresh folder, from the first request that the engine gets to the last
verdict on disk. The other hands the same token ids, seeds and lengths to AsyncLLM.generate, all at once, with
vLLM's own decoding of texts, and does nothing with what comes back. Tokens of every sample are asserted
equal, verdicts complete. The engine is shared, so that neither arm pays for its start. PYTHON is an
interpreter that has lm_eval and vLLM. That arm has an engine, and a floor, of its own (plugins/harness.py).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
from vllm.v1.engine.async_llm import AsyncLLM

from genbench import pipeline
from genbench.engines.vllm import engine as vllm_engine
from genbench.engines.vllm import environment
from genbench.engines.vllm.detokenizer import TextDecoder
from genbench.engines.vllm.engine import VllmEngine
from genbench.engines.vllm.guard import EngineGuard
from genbench.engines.vllm.kind import VllmSettings
from genbench.engines.vllm.monitoring import StepWatch
from genbench.errors import InterruptedRunError
from genbench.runs import command
from genbench.runs.execution import session as runner
from genbench.store.folder import RunFolder
from genbench.types import Completion, Request, SampleId, Verdict
from genbench.verifiers.pool.process import VerifierSpec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.throughput_figures import PAIRS, Clock, Rounds, instructions, report

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "arithmetic": ("math", {"reference": "reference"}),
    "choice": ("choice", {"options": "options", "reference": "answer"}),
    "code": ("code", {"reference": {"fn_name": "fn_name", "tests": "tests"}}),
    "instructions": ("ifeval", {"instructions": "instruction_id_list", "kwargs": "kwargs"}),
}
PLUGINS = Path(__file__).with_name("plugins")


@dataclass(slots=True)
class Bench:
    """The shared engine and the round that is being measured."""

    slots: int
    samples: int
    llm: AsyncLLM | None = None
    clock: Clock = field(default_factory=Clock)
    requests: list[Request] = field(default_factory=list)
    settings: VllmSettings | None = None
    texts: dict[SampleId, str] = field(default_factory=dict)
    """Of the round that is being measured. The bare arm's are decoded step by step by vLLM."""
    stop_at_last_token: bool = False
    _seen: tuple[float, int, int] | None = None
    _finished: int = 0
    _host: float = 0.0
    _drawing: float = 0.0
    _engine: tuple[float, float] = (0.0, 0.0)

    def begin(self) -> Clock:
        self.clock, self._seen, self._finished, self.texts = Clock(), None, 0, {}
        self._host, self._engine = time.process_time(), engine_times()
        return self.clock

    def step(self, waiting: int, running: int, tokens: int, finished: int) -> None:
        """One step of the engine: it starved since the last one if it could have run more than it had."""
        now = time.monotonic()
        if self._seen is not None:
            at, had, left = self._seen
            self.clock.starved += now - at if had < min(self.slots, left) else 0.0
        if tokens:
            self.clock.first_token = min(self.clock.first_token, now)
        self._finished += finished
        self._seen = (now, waiting + running, self.samples - self._finished)

    def asked(self) -> None:
        if self.clock.first_request == math.inf:
            self.clock.first_request, self._drawing = time.monotonic(), time.process_time()

    def verdict(self) -> None:
        self.clock.last_verdict = time.monotonic()
        self.clock.verdicts += 1
        if self.clock.verdicts == self.samples:
            self.clock.drawing_cpu = time.process_time() - self._drawing
            self.clock.verify_cpu = verifier_cpu_s()

    def answered(self, sample: SampleId, tokens: int, text: str) -> None:
        self.clock.tokens[sample], self.texts[sample] = tokens, text
        self.clock.last_token = time.monotonic()
        if len(self.clock.tokens) < self.samples:
            return
        self.clock.host_cpu = time.process_time() - self._host
        self.clock.drawing_cpu = time.process_time() - self._drawing
        now = engine_times()
        self.clock.engine_cpu, self.clock.engine_waited = now[0] - self._engine[0], now[1] - self._engine[1]
        if self.stop_at_last_token:
            signal.raise_signal(signal.SIGINT)


class Meter:
    """Hears of every step of the engine in both arms."""

    def __init__(self, bench: Bench, llm: AsyncLLM) -> None:
        self._bench, self._tokens, self._finished = bench, 0, 0
        processor = llm.output_processor
        self._process, self._update = processor.process_outputs, processor.update_scheduler_stats
        processor.process_outputs, processor.update_scheduler_stats = self._outputs, self._state

    def _outputs(self, outputs: Any, *arguments: Any, **options: Any) -> Any:
        self._tokens += sum(len(output.new_token_ids) for output in outputs)
        self._finished += sum(output.finish_reason is not None for output in outputs)
        return self._process(outputs, *arguments, **options)

    def _state(self, state: Any) -> None:
        if state is not None:
            self._bench.step(state.num_waiting_reqs, state.num_running_reqs, self._tokens, self._finished)
            self._tokens = self._finished = 0
        self._update(state)


class Shared(VllmEngine):
    """The engine of genbench's arm: the real one, loaded once for all rounds."""

    def __init__(self, bench: Bench, settings: VllmSettings) -> None:
        super().__init__(settings)
        self._bench = bench
        bench.settings = bench.settings or settings

    async def start(self) -> None:
        if self._bench.llm is None:
            with environment.output_to(self.settings.log):
                # In a thread, as the engine does: vLLM's output handler must not start before StepWatch.
                self._bench.llm = await asyncio.to_thread(self._load)
            Meter(self._bench, self._bench.llm)
        llm: Any = self._bench.llm
        self.llm, self.decoder = llm, TextDecoder.of(llm.get_tokenizer())
        processor = llm.output_processor
        self._before = processor.process_outputs, processor.update_scheduler_stats
        self._steps = StepWatch(self.llm, self._followers, lambda: None, self.loops)
        vllm_engine.ask_for_end_token_once(llm)

    async def generate(self, request: Request, attempt: int) -> Completion:
        self._bench.asked()
        if len(self._bench.requests) < self._bench.samples:
            self._bench.requests.append(request)
        completion = await super().generate(request, attempt)
        self._bench.answered(request.sample, completion.completion_tokens or 0, completion.text)
        return completion

    async def close(self) -> None:
        if self.llm is not None:
            processor = self.llm.output_processor
            processor.process_outputs, processor.update_scheduler_stats = self._before
            del self.llm.renderer.get_eos_token_id  # the bare engine asks for it as vLLM does
        self.llm = None

    def parameters(self, request: Request, *, decodes: bool = True) -> Any:
        """What vLLM is given. The bare arm decodes step by step, as vLLM does unless it is told otherwise."""
        return self._own.sampling[request.sample.task].params(request, detokenize=decodes)


def suite(folder: Path, k: int, slots: int, max_tokens: int, dtype: str = "auto") -> Path:
    """Math, choice, code and instruction tasks for the shipped tiny model."""
    tasks = [
        {
            "name": name,
            "kind": kind,
            "data": {
                "path": f"shipped:data/quickstart/{name}.jsonl",
                "fields": {"id": "id", "question": "question"} | fields,
            },
            "prompt": "{question}",
            "k": k,
        }
        for name, (kind, fields) in KINDS.items()
    ]
    record = {
        "name": "throughput",
        "models": {"tuned": {"path": "shipped:checkpoints/tiny-tuned", "dtype": dtype}},
        "engine": {"max_num_seqs": slots},
        "decoding": {"temperature": 0.6, "top_p": 0.95, "max_tokens": max_tokens, "seed": 0},
        "verify": {"nice": 12},
        "tasks": tasks,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(record))  # JSON is YAML
    return path


@contextmanager
def in_one_loop(bench: Bench, engine: type[Shared] = Shared) -> Iterator[asyncio.Runner]:
    """Runs take the shared engine, live in one event loop (an AsyncLLM belongs to one), and tell verdicts."""
    append = RunFolder.append_verdict

    def told(folder: RunFolder, item: Verdict) -> None:
        append(folder, item)
        bench.verdict()

    with asyncio.Runner() as loop, EngineGuard():

        def run(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
            return loop.run(work)

        with (
            patch.object(vllm_engine, "VllmEngine", partial(engine, bench)),
            patch.object(RunFolder, "append_verdict", told),
            patch.object(command, "run_coroutine", run),
        ):
            try:
                yield loop
            finally:
                if bench.llm is not None:
                    bench.llm.shutdown()


def engine_times() -> tuple[float, float]:
    """Seconds that the engine's process has run, and that it has waited for a core while it could run."""
    ran = waited = 0
    for child in psutil.Process().children(recursive=True):
        if "VLLM::" in " ".join(child.cmdline()):
            for thread in Path(f"/proc/{child.pid}/task").iterdir():
                times = (thread / "schedstat").read_text().split()
                ran, waited = ran + int(times[0]), waited + int(times[1])
    return ran / 1e9, waited / 1e9


def verifier_cpu_s() -> float:
    """CPU seconds of the verifier workers and all that they started."""
    family: set[psutil.Process] = set()
    for child in psutil.Process().children():
        if "genbench.verifiers.pool.worker" in " ".join(child.cmdline()):
            family |= {child, *child.children(recursive=True)}
    times = [member.cpu_times() for member in family if member.is_running()]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in times))


def genbench_round(bench: Bench, path: Path, folder: Path, limit: int | None = None) -> Clock:
    """One `genbench run` into a fresh folder, of all problems or of the first ones of each task."""
    clock = bench.begin()
    with Path(os.devnull).open("w") as sink, redirect_stdout(sink):
        pipeline.run(pipeline.RunOptions(str(path), run_dir=folder, quiet=True, limit=limit))
    run = folder / "tuned"
    lines = sum(file.read_bytes().count(b"\n") for file in run.glob("*/verdicts.jsonl"))
    assert lines == clock.verdicts == bench.samples, (lines, clock.verdicts, bench.samples)
    return clock


def raw_round(bench: Bench, loop: asyncio.Runner, number: int, *, decodes: bool = True) -> Clock:
    """The same requests, all handed to the engine at once. vLLM decodes their texts, or nobody does."""
    assert bench.settings is not None
    shared = Shared(bench, bench.settings)
    prepared = [(request, shared.parameters(request, decodes=decodes)) for request in bench.requests]
    clock = bench.begin()

    async def one(request: Request, parameters: Any, place: int) -> None:
        assert bench.llm is not None
        prompt = {"prompt_token_ids": list(request.token_ids)}
        bench.asked()
        async for output in bench.llm.generate(prompt, parameters, f"raw-{number}-{place}"):
            answer = output.outputs[0]
            bench.answered(request.sample, len(answer.token_ids), answer.text)

    async def every() -> None:
        await asyncio.gather(*(one(*pair, place) for place, pair in enumerate(prepared)))

    loop.run(every())
    return clock


def sleeping_round(bench: Bench, path: Path, folder: Path) -> Clock:
    """A verifier that sleeps half a second a sample; the run is stopped at its last token."""

    def sleeping(*_: Any) -> dict[str, VerifierSpec]:
        return dict.fromkeys(KINDS, VerifierSpec("sleeping:Sleeping", {}))

    clock = bench.begin()
    bench.stop_at_last_token = True
    try:
        with patch.object(runner, "verifier_specs", sleeping):
            pipeline.run(pipeline.RunOptions(str(path), run_dir=folder, quiet=True))
    except InterruptedRunError:
        return clock
    finally:
        bench.stop_at_last_token = False
    raise AssertionError("a sleeping verifier cannot be done when the engine is")


def harness(python: str, folder: Path, bench: Bench, rounds: int, max_tokens: int) -> None:
    """The same prompts through lm-evaluation-harness, in its own process."""
    prompts = folder / "prompts.jsonl"
    k = max(request.sample.sample_index for request in bench.requests) + 1
    first = [request for request in bench.requests if request.sample.sample_index == 0]
    prompts.write_text("".join(json.dumps({"prompt": r.prompt, "task": r.sample.task}) + "\n" for r in first))
    assert bench.settings is not None
    command = [python, str(PLUGINS / "harness.py"), str(prompts), str(bench.settings.model)]
    options = {"rounds": rounds, "k": k, "slots": bench.slots, "max-tokens": max_tokens}
    command += [f"--{name}={value}" for name, value in options.items()]
    # The shared engine's log file is not this one's.
    clean = {name: value for name, value in os.environ.items() if name != "VLLM_LOGGING_CONFIG_PATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=clean)
    if done.returncode != 0:
        print("lm-evaluation-harness does not run here: " + done.stderr.strip().splitlines()[-1])
    else:
        print(done.stdout.strip())


def write_byte_code() -> None:
    """Write byte code, as Python does unless it is told otherwise.

    Else the verifiers' processes compile sympy and nltk in each round. That is 1 ms of CPU a sample, on the
    core that the engine would have.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    write_byte_code()
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--k", type=int, default=2, help="samples of each of the 400 problems")
    parser.add_argument("--slots", type=int, default=64, help="max_num_seqs")
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument(
        "--dtype",
        default="auto",
        help="float32 on a CPU without bfloat16 instructions, where it is 10 times faster",
    )
    parser.add_argument("--sleeping", type=int, default=2, help="rounds with a verifier that sleeps")
    parser.add_argument(
        "--add", type=Path, help="a file that keeps the rounds of several calls, for one report"
    )
    parser.add_argument("--lm-eval", metavar="PYTHON", help="an interpreter that has lm_eval and vLLM")
    arguments = parser.parse_args()
    environment.prepare()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(PLUGINS), os.environ.get("PYTHONPATH", "")])
    bench = Bench(slots=arguments.slots, samples=400 * arguments.k)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = suite(folder, arguments.k, arguments.slots, arguments.max_tokens, arguments.dtype)
        ours: list[Clock] = []
        raw: list[Clock] = []
        with in_one_loop(bench) as loop:
            warm = genbench_round(bench, path, folder / "warm")
            texts = bench.texts
            raw_round(bench, loop, 0)
            assert texts == bench.texts, "texts of one decode at the end differ from vLLM's step by step"
            say(f"warm: {warm.wall:.1f} s")
            for number in range(1, arguments.pairs + 1):
                arms = [
                    lambda n=number: ours.append(genbench_round(bench, path, folder / f"run{n}")),
                    lambda n=number: raw.append(raw_round(bench, loop, n)),
                ]
                for arm in arms if number % 2 else reversed(arms):
                    arm()
                assert ours[-1].tokens == raw[-1].tokens == warm.tokens and bench.texts == texts
                say(f"pair {number} of {arguments.pairs}: {ours[-1].wall:.2f} / {raw[-1].wall:.2f} s")
            sleeping = [sleeping_round(bench, path, folder / f"sleep{n}") for n in range(arguments.sleeping)]
        tokens = sum(warm.tokens.values())
        print(
            f"{bench.samples} samples, {tokens} tokens a round, {arguments.slots} slots, "
            f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS')}, {arguments.dtype} with {instructions()}"
        )
        rounds = Rounds(ours, raw, sleeping)
        if arguments.add is not None:
            rounds = rounds.added_to(arguments.add)
        met = report(bench.samples, rounds)
        if arguments.lm_eval:
            harness(arguments.lm_eval, folder, bench, max(1, arguments.pairs // 4), arguments.max_tokens)
    sys.exit(0 if met or len(rounds.ours) < PAIRS else 1)


if __name__ == "__main__":
    main()
