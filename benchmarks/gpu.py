"""What genbench and its settings cost on a GPU, with models of real sizes and dummy weights.

    python benchmarks/gpu.py                   # every part; about 20 minutes on one GPU with 80 GiB
    python benchmarks/gpu.py --small           # the same in small, also on the CPU build: does it work
    python benchmarks/gpu.py --part ratio --shape 8b

Parts, each in a process of its own so that one that fails does not end the others:

    ratio      `genbench run` beside the bare engine, alternating rounds of the same requests
    sampling   tokens/s with seeds, without seeds, and without detokenization, one engine, rounds in turn
    invariant  tokens/s with VLLM_BATCH_INVARIANT=1, and the share of texts that stay equal in another batch
    plain      the same without it
    watermark  preemptions and wall time in a tight KV cache, watermark 0 and 0.05
    start      seconds to the first token: compile cache empty, then filled
    reload     other weights into a running engine: seconds beside a fresh engine, and whether texts are equal

Prints one Markdown table. Figures go into RESULTS.md with machine, versions and date.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.plugins.random_model import make_model  # noqa: E402  found through the line above

PARTS = ("ratio", "sampling", "plain", "invariant", "watermark", "start", "reload")
RESULT = "@@result "
GREEDY_PROBES = 16


@dataclass(frozen=True, slots=True)
class Scale:
    """How much one part draws.

    `tokens` is the length of an answer, `requests` how many are drawn in a round, `rounds` how often each
    arm is measured. `pairs` and `k` are of the part `ratio`, which has 400 problems.
    """

    shape: str
    requests: int
    tokens: int
    rounds: int
    slots: int
    pairs: int
    k: int
    max_tokens: Mapping[str, int]


LARGE = Scale(
    "1.7b", 1024, 512, 3, 512, 4, 2, {"arithmetic": 1024, "choice": 256, "code": 512, "instructions": 512}
)
SMALL = Scale("tiny", 24, 16, 1, 8, 1, 1, {"arithmetic": 12, "choice": 4, "code": 8, "instructions": 8})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--shape", choices=("tiny", "1.7b", "8b"), help="size of the model; 1.7b unless told")
    parser.add_argument("--small", action="store_true", help="a few requests to a tiny model")
    parser.add_argument("--out", type=Path, help="a file that gets every row as JSON")
    parser.add_argument("--engine", action="append", default=[], metavar="KEY=JSON", help="argument of vLLM")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that one part may take")
    parser.add_argument("--here", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        rows = measure(options)
        print(RESULT + json.dumps(rows), flush=True)
        return
    rows = []
    for part in options.part or PARTS:
        rows += run_part(part, options)
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))
    print(table(rows))
    if any(row["value"] is None for row in rows):
        sys.exit(1)


def run_part(part: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One part in a process of its own; a part that fails gives one row that says so."""
    print(f"== {part}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, *forwarded(options), "--here", part]
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=options.timeout,
            env=environment(part),
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith(RESULT)]
    except subprocess.TimeoutExpired:
        lines = []
    print(f"   {part}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    if not lines:
        return [{"part": part, "what": "did not finish; its messages are above", "value": None, "unit": ""}]
    found: list[dict[str, Any]] = json.loads(lines[-1].removeprefix(RESULT))
    for row in found:
        print(f"   {row['what']}: {row['value']} {row['unit']}", file=sys.stderr, flush=True)
    return found


def forwarded(options: argparse.Namespace) -> list[str]:
    given = ["--small"] if options.small else []
    given += ["--shape", options.shape] if options.shape else []
    return given + [word for item in options.engine for word in ("--engine", item)]


def environment(part: str) -> dict[str, str]:
    """Variables of one part's process."""
    mine = {"VLLM_BATCH_INVARIANT": "1"} if part == "invariant" else {}
    return {**os.environ, **mine, "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING")}


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    scale = SMALL if options.small else LARGE
    shape = options.shape or scale.shape
    extra = {key: json.loads(value) for key, _, value in (item.partition("=") for item in options.engine)}
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), shape, scale, extra)
        found = PART_FUNCTIONS[options.here](place)
    return [{"part": options.here, "shape": shape, **row} for row in found]


@dataclass(slots=True)
class Place:
    """Where one part works, and with which sizes."""

    folder: Path
    shape: str
    scale: Scale
    extra: Mapping[str, Any]

    def model(self, name: str = "model", weights_seed: int | None = None) -> Path:
        return make_model(self.folder / name, self.shape, weights_seed=weights_seed)

    def arguments(self, model: Path, **more: Any) -> dict[str, Any]:
        """What the bare engine is started with: genbench's own sizes, and what the platform needs."""
        from vllm.platforms import current_platform  # noqa: PLC0415  seconds; only the parts pay for it

        on_cpu = current_platform.is_cpu()
        cpu = {
            "enforce_eager": True,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": 8192,
            "distributed_executor_backend": "uni",
            "gpu_memory_utilization": 0.2,
        }
        base = {
            "model": str(model),
            "load_format": "dummy",
            "dtype": "bfloat16",
            "max_model_len": 4096,
            "max_num_seqs": self.scale.slots,
            "disable_log_stats": True,
            "seed": 0,
        }
        return base | (cpu if on_cpu else {}) | dict(self.extra) | more


@dataclass(slots=True)
class Meter:
    """Counts what the scheduler says at every step."""

    preempted: int = 0
    steps: int = 0
    most_running: int = 0

    def logger(self, config: Any, engine_index: int = 0) -> Any:
        from vllm.v1.metrics.loggers import StatLoggerBase  # noqa: PLC0415

        meter = self

        class Logger(StatLoggerBase):  # type: ignore[misc]  # vLLM carries no types
            def __init__(self, config: Any, engine_index: int = 0) -> None:
                return

            def record(self, scheduler_stats: Any, iteration_stats: Any, *_: Any, **__: Any) -> None:
                if iteration_stats is not None:
                    meter.steps += 1
                    meter.preempted += iteration_stats.num_preempted_reqs
                if scheduler_stats is not None:
                    meter.most_running = max(meter.most_running, scheduler_stats.num_running_reqs)

            def log_engine_initialized(self) -> None:
                return

        return Logger(config, engine_index)


@dataclass(slots=True)
class Bare:
    """The bare engine and rounds of requests to it."""

    llm: Any
    numbers: int = field(default=0)

    @classmethod
    def start(cls, arguments: Mapping[str, Any], meter: Meter | None = None) -> Bare:
        from vllm.engine.arg_utils import AsyncEngineArgs  # noqa: PLC0415
        from vllm.v1.engine.async_llm import AsyncLLM  # noqa: PLC0415

        given = dict(arguments) | ({"disable_log_stats": False} if meter else {})
        loggers = [meter.logger] if meter else None
        return cls(AsyncLLM.from_engine_args(AsyncEngineArgs(**given), stat_loggers=loggers))

    async def draw(
        self,
        requests: int,
        tokens: int,
        *,
        seeded: bool = True,
        detokenize: bool = True,
        temperature: float = 0.6,
        in_flight: int | None = None,
    ) -> tuple[float, dict[int, tuple[int, ...]]]:
        """Wall seconds of one round, and the token ids of each request."""
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.sampling_params import RequestOutputKind  # noqa: PLC0415

        self.numbers += 1
        gate = asyncio.Semaphore(in_flight or requests)
        texts: dict[int, tuple[int, ...]] = {}

        async def one(place: int) -> None:
            parameters = SamplingParams(
                temperature=temperature,
                top_p=0.95 if temperature else 1.0,
                seed=place if seeded and temperature else None,
                max_tokens=tokens,
                ignore_eos=True,
                detokenize=detokenize,
                output_kind=RequestOutputKind.FINAL_ONLY,
            )
            prompt = {"prompt_token_ids": [1 + (place * 7 + step) % 200 for step in range(64)]}
            async with gate:
                async for output in self.llm.generate(prompt, parameters, f"{self.numbers}-{place}"):
                    texts[place] = tuple(output.outputs[0].token_ids)

        began = time.monotonic()
        await asyncio.gather(*(one(place) for place in range(requests)))
        return time.monotonic() - began, texts


def row(what: str, value: float | str, unit: str, digits: int = 1) -> dict[str, Any]:
    return {"what": what, "value": round(value, digits) if isinstance(value, float) else value, "unit": unit}


def ratio(place: Place) -> list[dict[str, Any]]:
    """`genbench run` beside the bare engine; the engine is shared, so neither arm pays for its start."""
    from benchmarks import throughput  # noqa: PLC0415
    from genbench.engines import environment as engine_environment  # noqa: PLC0415

    scale = place.scale
    engine_environment.prepare()
    bench = throughput.Bench(slots=scale.slots, samples=400 * scale.k)
    path = throughput.suite(place.folder, scale.k, scale.slots, max(scale.max_tokens.values()))
    record = json.loads(path.read_text())
    record["models"] = {"tuned": {"path": str(place.model())}}
    record["engine"] |= {"load_format": "dummy", "max_model_len": 4096, **place.extra}
    record["decoding"]["ignore_eos"] = True
    record["max_excluded_share"] = 1.0
    for task in record["tasks"]:
        task["decoding"] = {"max_tokens": scale.max_tokens[task["name"]]}
    path.write_text(json.dumps(record))
    ours: list[throughput.Clock] = []
    raw: list[throughput.Clock] = []
    with throughput.in_one_loop(bench) as loop:
        warm = throughput.genbench_round(bench, path, place.folder / "warm")
        throughput.raw_round(bench, loop, 0)
        for number in range(1, scale.pairs + 1):
            for arm in ("genbench", "bare") if number % 2 else ("bare", "genbench"):
                if arm == "genbench":
                    ours.append(throughput.genbench_round(bench, path, place.folder / f"run{number}"))
                else:
                    raw.append(throughput.raw_round(bench, loop, number))
            assert ours[-1].tokens == raw[-1].tokens == warm.tokens
            print(
                f"   pair {number} of {scale.pairs}: {ours[-1].wall:.2f} / {raw[-1].wall:.2f} s",
                file=sys.stderr,
            )
    ratios = [mine.wall / bare.wall for mine, bare in zip(ours, raw, strict=True)]
    tokens = sum(warm.tokens.values())
    wall = statistics.median(clock.wall for clock in raw)
    return [
        row(
            f"genbench over the bare engine, wall, median of {scale.pairs} pairs",
            statistics.median(ratios),
            "x",
            3,
        ),
        row("lowest and highest pair", f"{min(ratios):.3f} to {max(ratios):.3f}", "x"),
        row(f"bare engine, {bench.samples} requests, {scale.slots} slots", tokens / wall, "tokens/s", 0),
        row(
            "engine starved, worst round",
            100 * max(clock.starved / clock.wall for clock in ours),
            "% of wall",
            2,
        ),
        row("after the last token", statistics.median(clock.after for clock in ours), "s", 2),
        row("genbench's host process", statistics.median(clock.host_cpu for clock in ours), "CPU s"),
        row("bare engine's host process", statistics.median(clock.host_cpu for clock in raw), "CPU s"),
    ]


async def sampling(place: Place) -> list[dict[str, Any]]:
    """Rounds in turn: seeded, unseeded, seeded without detokenization."""
    bare = Bare.start(place.arguments(place.model()))
    scale = place.scale
    arms: dict[str, dict[str, Any]] = {
        "seeded": {},
        "unseeded": {"seeded": False},
        "seeded, detokenize=False": {"detokenize": False},
    }
    walls: dict[str, list[float]] = {name: [] for name in arms}
    cpu: dict[str, list[float]] = {name: [] for name in arms}
    await bare.draw(scale.requests, scale.tokens)
    for number in range(scale.rounds):
        for name, options in arms.items():
            began = time.process_time()
            wall, _ = await bare.draw(scale.requests, scale.tokens, **options)
            walls[name].append(wall)
            cpu[name].append(time.process_time() - began)
        print(f"   round {number + 1} of {scale.rounds}", file=sys.stderr)
    bare.llm.shutdown()
    tokens = scale.requests * scale.tokens
    return [row(name, tokens / statistics.median(walls[name]), "tokens/s", 0) for name in arms] + [
        row(f"{name}: host process", 1e6 * statistics.median(cpu[name]) / tokens, "CPU us a token", 2)
        for name in arms
    ]


async def batching(place: Place) -> list[dict[str, Any]]:
    """Tokens/s, and how many texts are the same when fewer requests share a batch."""
    scale = place.scale
    bare = Bare.start(place.arguments(place.model()))
    await bare.draw(scale.requests, scale.tokens)
    walls: list[float] = []
    full: dict[int, tuple[int, ...]] = {}
    for _ in range(scale.rounds):
        wall, full = await bare.draw(scale.requests, scale.tokens)
        walls.append(wall)
    some = min(64, scale.requests)
    wall_few, few = await bare.draw(some, scale.tokens, in_flight=max(2, some // 8))
    bare.llm.shutdown()
    same = sum(few[place_] == full[place_] for place_ in range(some)) / some
    tokens = scale.requests * scale.tokens
    return [
        row(f"{scale.requests} requests at once", tokens / statistics.median(walls), "tokens/s", 0),
        row(f"{some} requests, {max(2, some // 8)} at once", some * scale.tokens / wall_few, "tokens/s", 0),
        row(f"texts equal in both batches, of {some}", 100 * same, "%"),
    ]


async def watermark(place: Place) -> list[dict[str, Any]]:
    """A KV cache for about a third of the slots, so that the scheduler must preempt."""
    scale, found = place.scale, []
    length = 4 * scale.tokens
    slots = min(scale.slots, 256)
    blocks = max(16, slots * length // 3 // 16)
    for share in (0.0, 0.05):
        meter = Meter()
        arguments = place.arguments(
            place.model(), num_gpu_blocks_override=blocks, watermark=share, max_num_seqs=slots
        )
        bare = Bare.start(arguments, meter)
        await bare.draw(slots, 8)
        before = meter.preempted
        wall, _ = await bare.draw(2 * slots, length)
        bare.llm.shutdown()
        found += [
            row(f"watermark {share}: preemptions a request", (meter.preempted - before) / (2 * slots), "", 2),
            row(f"watermark {share}: wall of {2 * slots} requests of {length} tokens", wall, "s"),
        ]
    return found


def start(place: Place) -> list[dict[str, Any]]:
    """Seconds from a new process to its first token, the compile cache empty and then filled."""
    model, found = place.model(), []
    cache = {**os.environ, "VLLM_CACHE_ROOT": str(place.folder / "cache")}
    for what in ("compile cache empty", "compile cache filled"):
        command = [sys.executable, __file__, "--here-first-token", json.dumps(place.arguments(model))]
        began = time.monotonic()
        subprocess.run(command, check=True, env=cache, stdout=subprocess.DEVNULL)
        found.append(row(f"process start to first token and exit, {what}", time.monotonic() - began, "s"))
    return found


async def first_token(arguments: Mapping[str, Any]) -> None:
    bare = Bare.start(arguments)
    await bare.draw(1, 1)
    bare.llm.shutdown()


async def reload(place: Place) -> list[dict[str, Any]]:
    """Sleep at level 2, read another checkpoint's weights, wake; beside a fresh engine of the same files."""
    first, second = place.model("first", weights_seed=1), place.model("second", weights_seed=2)

    async def probe(bare: Bare) -> dict[int, tuple[int, ...]]:
        return (await bare.draw(GREEDY_PROBES, place.scale.tokens // 8 or 4, temperature=0.0))[1]

    def start_of(model: Path, **more: Any) -> tuple[Bare, float]:
        began = time.monotonic()
        bare = Bare.start(place.arguments(model, load_format="auto", **more))
        return bare, time.monotonic() - began

    fresh, _ = start_of(second)
    wanted = await probe(fresh)
    fresh.llm.shutdown()
    running, load_s = start_of(first, enable_sleep_mode=True)
    other = await probe(running)
    began = time.monotonic()
    await running.llm.sleep(2)
    await running.llm.wake_up(["weights"])
    await running.llm.collective_rpc("reload_weights", kwargs={"weights_path": str(second)})
    await running.llm.wake_up(["kv_cache"])
    await running.llm.reset_prefix_cache()
    reload_s = time.monotonic() - began
    got = await probe(running)
    running.llm.shutdown()
    equal = sum(got[index] == wanted[index] for index in wanted)
    moved = sum(other[index] != wanted[index] for index in wanted)
    return [
        row("fresh engine, compile cache filled", load_s, "s"),
        row("other weights into the running engine", reload_s, "s"),
        row(f"greedy texts equal to a fresh engine's, of {GREEDY_PROBES}", str(equal), "texts"),
        row("of them different from the first checkpoint's", str(moved), "texts"),
    ]


def in_loop(part: Callable[[Place], Coroutine[Any, Any, list[dict[str, Any]]]]) -> Callable[[Place], Any]:
    return lambda place: asyncio.run(part(place))


PART_FUNCTIONS: dict[str, Callable[[Place], list[dict[str, Any]]]] = {
    "ratio": ratio,
    "sampling": in_loop(sampling),
    "plain": in_loop(batching),
    "invariant": in_loop(batching),
    "watermark": in_loop(watermark),
    "start": start,
    "reload": in_loop(reload),
}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as Markdown, under a line that says where they were measured."""
    lines = [where(), "", "| part | model | what | value |", "|---|---|---|---|"]
    for item in rows:
        value = "failed" if item["value"] is None else f"{item['value']} {item['unit']}".strip()
        lines.append(f"| {item['part']} | {item.get('shape', '')} | {item['what']} | {value} |")
    return "\n".join(lines)


def where() -> str:
    import torch  # noqa: PLC0415
    import vllm  # noqa: PLC0415

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return (
        f"{device}, {os.cpu_count()} cores, {platform.system()}; vLLM {vllm.__version__}, "
        f"torch {torch.__version__}, transformers {version('transformers')}; {time.strftime('%Y-%m-%d')}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here-first-token"]:
        asyncio.run(first_token(json.loads(sys.argv[2])))
    else:
        main()
