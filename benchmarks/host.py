"""CPU of the host process a token and a sample, without the cost of a model.

    python benchmarks/host.py                     # 256 requests of 4,096 tokens, about 3 minutes
    python benchmarks/host.py --tokens 40 --k 8   # short answers
    python benchmarks/host.py --tokens 80 --k 8 --slots 64 --limit 100 --uneven    # those of throughput.py

The front end is vLLM's own, AsyncLLM with its sockets, its decoder of messages and its output processor. A
stand-in for the engine's core runs in a process of its own. It sends what the core sends: one message a step
with one token of each running request and the scheduler's state. Its tokens are those of a text. It steps
every 5 ms, so that 256 requests give 51,200 tokens a second.

Arms in turn: `genbench run` to its last verdict, AsyncLLM as it comes, and AsyncLLM that decodes no texts.
The CPU is that of this process from the first request on, all threads.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec
import vllm
import zmq
from tokenizers import Tokenizer
from vllm.usage.usage_lib import UsageContext
from vllm.v1.engine import (
    EngineCoreOutput,
    EngineCoreOutputs,
    EngineCoreReadyResponse,
    EngineCoreRequest,
    EngineCoreRequestType,
    FinishReason,
    UtilityOutput,
)
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.executor.abstract import Executor
from vllm.v1.metrics.stats import PrefillStats, SchedulerStats
from vllm.v1.serial_utils import MsgpackDecoder, MsgpackEncoder, UtilityResult

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.throughput import (
    Bench,
    Shared,
    genbench_round,
    in_one_loop,
    raw_round,
    say,
    suite,
    write_byte_code,
)
from benchmarks.throughput_figures import Clock
from genbench.engines.vllm import environment

BAR_US, CORE_TOKENS = 1.0, 50_000
TEXTS = ("README.md", "docs/architecture.md", "docs/gpus.md")


class Core:
    """The stand-in: it answers each request with `max_tokens` tokens of a text, or 1 to that, one a step."""

    def __init__(
        self, inputs: str, outputs: str, slots: int, step_s: float, tokens: Sequence[int], *, is_uneven: bool
    ) -> None:
        context = zmq.Context()
        self._in, self._out = context.socket(zmq.DEALER), context.socket(zmq.PUSH)
        self._in.setsockopt(zmq.IDENTITY, (0).to_bytes(2, "little"))
        self._in.connect(inputs)
        self._out.connect(outputs)
        self._slots, self._step_s, self._tokens = slots, step_s, tokens
        self._is_uneven = is_uneven
        self._requests, self._plain = MsgpackDecoder(EngineCoreRequest), MsgpackDecoder()
        self._encoder = MsgpackEncoder()
        self._waiting: deque[EngineCoreRequest] = deque()
        self._running: dict[str, Iterator[EngineCoreOutput]] = {}

    def serve(self, ready: EngineCoreReadyResponse) -> None:
        """Step for ever. The process is killed at the end."""
        self._in.send(msgspec.msgpack.encode(ready))
        due = time.monotonic()
        while True:
            self._hear(0 if self._running or self._waiting else None)
            while self._waiting and len(self._running) < self._slots:
                request = self._waiting.popleft()
                self._running[request.request_id] = self._answer(request)
            if self._running:
                self._step()
                due = max(due + self._step_s, time.monotonic() - self._step_s)
                time.sleep(max(0.0, due - time.monotonic()))

    def _hear(self, timeout_ms: int | None) -> None:
        """Take all messages of the front end. Wait for one if there is nothing to do."""
        while self._in.poll(timeout_ms):
            timeout_ms = 0
            kind, *frames = self._in.recv_multipart(copy=False)
            kind = EngineCoreRequestType(bytes(kind.buffer))
            if kind is EngineCoreRequestType.ADD:
                self._waiting.append(self._requests.decode(frames))
            elif kind is EngineCoreRequestType.ABORT:
                for name in self._plain.decode(frames):
                    self._running.pop(name, None)
            elif kind is EngineCoreRequestType.UTILITY:
                _, call, method, _ = self._plain.decode(frames)
                result = ("generate",) if method == "get_supported_tasks" else None
                self._send(
                    EngineCoreOutputs(utility_output=UtilityOutput(call, result=UtilityResult(result)))
                )

    def _answer(self, request: EngineCoreRequest) -> Iterator[EngineCoreOutput]:
        params, prompt = request.sampling_params, len(request.prompt_token_ids)
        most = params.max_tokens
        place, stop = params.seed % len(self._tokens), (params.seed % most if self._is_uneven else most - 1)
        prefill = PrefillStats()
        prefill.set(prompt, 0, 0)
        for number in range(stop + 1):
            token = self._tokens[(place + number) % len(self._tokens)]
            yield EngineCoreOutput(
                request.request_id,
                [token],
                finish_reason=FinishReason.LENGTH if number == stop else None,
                prefill_stats=prefill if number == 0 else None,
            )

    def _step(self) -> None:
        outputs = [next(answer) for answer in self._running.values()]
        for output in outputs:
            if output.finish_reason is not None:
                del self._running[output.request_id]
        running, waiting = len(self._running), len(self._waiting)
        stats = SchedulerStats(num_running_reqs=running, num_waiting_reqs=waiting, kv_cache_usage=0.5)
        self._send(EngineCoreOutputs(outputs=outputs, scheduler_stats=stats))

    def _send(self, outputs: EngineCoreOutputs) -> None:
        self._out.send_multipart(self._encoder.encode(outputs))


def core(arguments: Sequence[str]) -> None:
    """Run the stand-in with the arguments that `Replayed` gives it."""
    inputs, outputs, slots, step_s, uneven, tokenizer, ready = arguments
    text = "".join(Path(__file__).parents[1].joinpath(name).read_text(encoding="utf-8") for name in TEXTS)
    ids = Tokenizer.from_file(tokenizer).encode(text.encode("ascii", "ignore").decode()).ids
    response = msgspec.json.decode(ready, type=EngineCoreReadyResponse)
    Core(inputs, outputs, int(slots), float(step_s), ids, is_uneven=uneven == "True").serve(response)


class Replayed(Shared):
    """The engine of genbench's arm with a stand-in for its core."""

    step_s = 0.005
    is_uneven = False
    processes: ClassVar[list[subprocess.Popen[bytes]]] = []

    def _load(self) -> AsyncLLM:
        arguments = self._arguments()
        config = arguments.create_engine_config(UsageContext.LLM_CLASS)
        folder = Path(tempfile.mkdtemp(prefix="host-"))
        addresses = {name: f"ipc://{folder}/{name}" for name in ("input_address", "output_address")}
        config.cache_config.num_gpu_blocks = 1_000_000
        ready = EngineCoreReadyResponse(
            max_model_len=config.model_config.max_model_len,
            num_gpu_blocks=1_000_000,
            block_size=config.cache_config.block_size or 16,
            dp_stats_address=None,
            dtype="bfloat16",
            vllm_version=vllm.__version__,
            world_size=1,
            data_parallel_size=1,
            tensor_parallel_size=1,
            pipeline_parallel_size=1,
            decode_context_parallel_size=1,
            data_parallel_rank=0,
            max_num_seqs=config.scheduler_config.max_num_seqs,
            max_num_batched_tokens=config.scheduler_config.max_num_batched_tokens,
            instance_id=config.instance_id,
            supports_lora=False,
            max_loras=0,
        )
        command = [sys.executable, __file__, "--core", *addresses.values()]
        command += [str(self.settings.max_num_seqs), str(self.step_s), str(self.is_uneven)]
        command += [str(self.settings.tokenizer / "tokenizer.json"), msgspec.json.encode(ready).decode()]
        self.processes.append(subprocess.Popen(command))
        executor = Executor.get_class(config)
        return AsyncLLM(config, executor, log_stats=True, log_requests=False, client_addresses=addresses)


def measured(rounds: int, k: int, tokens: int, slots: int, limit: int | None) -> dict[str, list[Clock]]:
    """Return the clocks of each arm. Texts and tokens of all rounds are asserted equal.

    Args:
        k: samples of each problem.
        limit: problems of each of the four tasks. None: all hundred.
    """
    problems = 400 if limit is None else 4 * limit
    bench = Bench(slots=slots, samples=problems * k)
    found: dict[str, list[Clock]] = {"genbench": [], "bare": [], "bare, no texts": []}
    environment.prepare()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = suite(folder, k, slots, tokens)
        try:
            with in_one_loop(bench, Replayed) as loop:
                warm = genbench_round(bench, path, folder / "warm", limit)
                texts = bench.texts
                for number in range(rounds):
                    arms = {
                        "genbench": partial(genbench_round, bench, path, folder / f"run{number}", limit),
                        "bare": partial(raw_round, bench, loop, 2 * number),
                        "bare, no texts": partial(raw_round, bench, loop, 2 * number + 1, decodes=False),
                    }
                    for arm in arms if number % 2 else reversed(arms):
                        found[arm].append(arms[arm]())
                        assert found[arm][-1].tokens == warm.tokens
                        assert arm == "bare, no texts" or bench.texts == texts
                    say(f"round {number + 1} of {rounds}")
        finally:
            for process in Replayed.processes:
                process.kill()
                process.wait()
    return found


def sample_us(found: dict[str, list[Clock]], samples: int) -> dict[str, float]:
    """Return the microseconds of CPU a sample of each arm, the median of its rounds."""
    return {
        name: statistics.median(1e6 * clock.drawing_cpu / samples for clock in clocks)
        for name, clocks in found.items()
    }


def report(found: dict[str, list[Clock]], samples: int) -> bool:
    """Print the table, and return whether the bar is met."""
    tokens = sum(found["bare"][0].tokens.values())
    us = {name: value * samples / tokens for name, value in sample_us(found, samples).items()}
    versions = f"Python {platform.python_version()}, vLLM {vllm.__version__}"
    print(f"{samples} requests, {tokens:,} tokens; {versions}")
    columns = ("arm", "CPU us a token", "us a sample", "of a core at 50,000 tokens/s", "tokens/s of a core")
    print(f"| {' | '.join(columns)} | wall, s |\n|" + 6 * "---|")
    for name, clocks in found.items():
        walls = ", ".join(f"{clock.wall:.1f}" for clock in clocks)
        print(
            f"| {name} | {us[name]:.2f} | {us[name] * tokens / samples:.0f} | "
            f"{us[name] * CORE_TOKENS / 1e6:.0%} | {1e6 / us[name]:,.0f} | {walls} |"
        )
    more = us["genbench"] - min(us["bare"], us["bare, no texts"])
    met = more <= BAR_US
    print(
        f"genbench beyond the cheaper bare arm: {more:+.2f} us a token, {more * tokens / samples:+.0f} us a "
        f"sample; at most {BAR_US} us a token: {'met' if met else 'MISSED'}"
    )
    return met


def main() -> None:
    if sys.argv[1:2] == ["--core"]:
        core(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=4096, help="of each answer")
    parser.add_argument("--k", type=int, default=4, help="samples of each problem")
    parser.add_argument("--limit", type=int, default=16, help="problems of each of the four tasks")
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument(
        "--uneven",
        action="store_true",
        help="answers of 1 to TOKENS tokens, so that few of them end in the same step",
    )
    options = parser.parse_args()
    Replayed.is_uneven = options.uneven
    write_byte_code()
    found = measured(options.rounds, options.k, options.tokens, options.slots, options.limit)
    sys.exit(0 if report(found, 4 * options.limit * options.k) else 1)


if __name__ == "__main__":
    main()
