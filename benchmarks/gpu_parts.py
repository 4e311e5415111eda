"""The parts of benchmarks/gpu.py: what each of them measures, as rows of its table."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from benchmarks.gpu_engine import Bare, Meter, Place, row
from benchmarks.throughput_figures import Clock

GREEDY_PROBES = 16


def ratio(place: Place) -> list[dict[str, Any]]:
    """Compare `genbench run` with the bare engine. They share it, so neither arm pays for its start."""
    from benchmarks import throughput  # noqa: PLC0415
    from genbench.engines.vllm import environment as engine_environment  # noqa: PLC0415

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
    ours: list[Clock] = []
    raw: list[Clock] = []
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
        command = [
            sys.executable,
            str(Path(__file__).with_name("gpu.py")),
            "--here-first-token",
            json.dumps(place.arguments(model)),
        ]
        began = time.monotonic()
        subprocess.run(command, check=True, env=cache, stdout=subprocess.DEVNULL)
        found.append(row(f"process start to first token and exit, {what}", time.monotonic() - began, "s"))
    return found


async def first_token(arguments: Mapping[str, Any]) -> None:
    bare = Bare.start(arguments)
    await bare.draw(1, 1)
    bare.llm.shutdown()


async def reload(place: Place) -> list[dict[str, Any]]:
    """Read another checkpoint's weights into a running engine. Compare with a fresh engine.

    Small models share the weights of embedding and output (tied), and larger ones do not.
    """
    return [line for tied in (False, True) for line in await _reload(place, tied)]


async def _reload(place: Place, tied: bool) -> list[dict[str, Any]]:
    """Sleep at level 2, if the platform can, read the weights, and wake."""
    kind, sleeps = "tied" if tied else "untied", can_sleep()
    first, second = (place.model(f"{kind}-{seed}", weights_seed=seed, tied=tied) for seed in (1, 2))

    async def probe(bare: Bare) -> dict[int, tuple[int, ...]]:
        return (await bare.draw(GREEDY_PROBES, place.scale.tokens // 8 or 4, temperature=0.0))[1]

    def start_of(model: Path, **more: Any) -> tuple[Bare, float]:
        began = time.monotonic()
        bare = Bare.start(place.arguments(model, load_format="auto", **more))
        return bare, time.monotonic() - began

    fresh, _ = start_of(second)
    wanted = await probe(fresh)
    fresh.llm.shutdown()
    running, load_s = start_of(first, **({"enable_sleep_mode": True} if sleeps else {}))
    other = await probe(running)
    began = time.monotonic()
    if sleeps:
        await running.llm.sleep(2)
        await running.llm.wake_up(["weights"])
    await running.llm.collective_rpc("reload_weights", kwargs={"weights_path": str(second)})
    if sleeps:
        await running.llm.wake_up(["kv_cache"])
    await running.llm.reset_prefix_cache()
    reload_s = time.monotonic() - began
    got = await probe(running)
    running.llm.shutdown()
    equal = sum(got[index] == wanted[index] for index in wanted)
    moved = sum(other[index] != wanted[index] for index in wanted)
    return [
        row(f"{kind}: fresh engine, compile cache filled", load_s, "s"),
        row(f"{kind}: other weights into the running engine", reload_s, "s", 3),
        row(f"{kind}: greedy texts equal to a fresh engine's, of {GREEDY_PROBES}", str(equal), "texts"),
        row(f"{kind}: texts that the two checkpoints write differently", str(moved), "texts"),
    ]


def can_sleep() -> bool:
    """Whether vLLM can free the memory of a running engine here."""
    from vllm.platforms import current_platform  # noqa: PLC0415  seconds; only this part pays for it

    return bool(current_platform.is_sleep_mode_available())


async def continued(place: Place) -> list[dict[str, Any]]:
    """Draw texts whole, and again from their first half under the same seed. Count those that are equal."""
    bare, tokens = Bare.start(place.arguments(place.model())), max(8, place.scale.tokens // 8)
    rows = []
    for name, temperature in (("greedy", 0.0), ("seeded, temperature 0.6", 0.6)):
        _, whole = await bare.draw(GREEDY_PROBES, tokens, temperature=temperature)
        halves = {index: text[: tokens // 2] for index, text in whole.items()}
        _, rest = await bare.draw(GREEDY_PROBES, tokens, temperature=temperature, begun=halves)
        equal = sum((*halves[index], *rest[index]) == whole[index] for index in whole)
        rows.append(row(f"{name}: texts equal when continued, of {GREEDY_PROBES}", str(equal), "texts"))
    bare.llm.shutdown()
    return rows


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
    "continued": in_loop(continued),
}
