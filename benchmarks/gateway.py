"""What the gateway of agent tasks costs a turn, beyond the engine that draws it.

    python benchmarks/gateway.py               # about two minutes
    python benchmarks/gateway.py --rollouts 32 --turns 4

The engine's core is replaced by one that waits for 5 to 15 s (or --seconds) and then has a reply of 200
words. The rest is what a run has: the HTTP server on a socket, the chat template and tokenizer of the tiny
checkpoint, the turns of a rollout. Nothing is written to disk. Clients are a process of their own. A rollout
has a conversation that grows to 4,700 tokens of prompt, 3,700 in the mean. Measured are

    CPU of this process for each turn, and of it what rendering takes (template and tokens)
    the time that a client waits longer than the engine took, median and 99th percentile

against as many completions that are made in this process without gateway, prompts and engine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from genbench.agents.gateway.gateway import Gateway  # noqa: E402  found through the line above
from genbench.agents.gateway.rollout import Rollout  # noqa: E402
from genbench.models.prepare import prepare_prompts  # noqa: E402
from genbench.runs.inputs import open_suite  # noqa: E402
from genbench.runs.options import RunOptions  # noqa: E402
from genbench.tasks.loading import load_all  # noqa: E402
from genbench.types import Completion, Request, SampleId  # noqa: E402

SUITE = """\
name: gateway
models: {tiny: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}}
engine: {max_model_len: 8192}
decoding: {max_tokens: 256}
tasks:
  - task: agent
    k: 1
    options: {source: rows.jsonl, command: ["true"], limits: {turns: 1000}}
"""
_SENTENCE = "The file has a line that the test reads and the next one does not"
WORDS = _SENTENCE.split()
PROMPT_TOKENS = 4_000


def reply(request: Request, seconds: float) -> Completion:
    """Return what the engine would have drawn."""
    return Completion(
        sample=request.sample,
        turn=request.turn,
        seed=request.seed,
        prompt_digest=request.prompt_digest,
        text=" ".join([f"{seconds:.6f}", *(WORDS[place % len(WORDS)] for place in range(200))]),
        finish_reason="stop",
        prompt_tokens=len(request.token_ids),
        completion_tokens=200,
        trace_tokens=0,
        max_tokens=request.max_tokens,
        attempt=1,
        seconds=seconds,
        prompt=request.prompt,
    )


async def serve(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    (folder / "suite.yaml").write_text(SUITE)
    rows = [{"id": f"p{n}", "instruction": "go"} for n in range(options.rollouts)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite, _ = open_suite(RunOptions(suite=str(folder / "suite.yaml")))
    (task,) = load_all(suite, suite.config.tasks, None, None)
    model = prepare_prompts(suite, "tiny", [task])
    plan = task.task.plan  # type: ignore[attr-defined]
    chance, rendering, lengths = random.Random(1), [0.0], list[int]()

    async def complete(request: Request) -> Completion:
        lengths.append(len(request.token_ids))
        seconds = chance.uniform(*options.seconds)
        await asyncio.sleep(seconds)
        return reply(request, seconds)

    def asker(sample: SampleId) -> Any:
        def ask(turn: int, messages: Any, offer: Any, most: Any) -> Request:
            began = time.thread_time()
            request = model.maker.of_chat(task, sample, turn, messages, offer, most)
            rendering[0] += time.thread_time() - began
            return request

        return ask

    async with Gateway({task.name: plan}, folder, model="m", version="w") as gateway:
        orders = []
        for row in rows:
            sample = SampleId(task.name, str(row["id"]), 0)
            address = gateway.address(sample)
            gateway._open[address] = Rollout(
                plan, asker(sample), complete, model.reasoning.split, (), "m", "w"
            )
            orders.append([address, gateway.key(address)])
        order = {"socket": str(gateway.socket), "rollouts": orders, "turns": options.turns}
        (folder / "order.json").write_text(json.dumps(order))
        began, cpu = time.monotonic(), time.process_time()
        client = await asyncio.create_subprocess_exec(
            sys.executable, __file__, "--client", str(folder / "order.json"), stdout=asyncio.subprocess.PIPE
        )
        said, _ = await client.communicate()
        spent, wall = time.process_time() - cpu, time.monotonic() - began
        drawn = list(gateway._open.values())
    late = sorted(json.loads(said))
    turns = sum(item.turns for item in drawn)
    assert turns == options.rollouts * options.turns == len(late)
    return {
        "turns": turns,
        "prompt_tokens": (sum(lengths) / len(lengths), max(lengths)),
        "wall_s": wall,
        "cpu_ms": 1e3 * spent / turns,
        "rendering_ms": 1e3 * rendering[0] / turns,
        "late_ms": [1e3 * late[int(share * (len(late) - 1))] for share in (0.5, 0.99)],
    }


async def bare(turns: int, rollouts: int, seconds: Sequence[float]) -> float:
    """CPU milliseconds of a draw without a gateway: requests that are made already."""
    chance = random.Random(1)
    request = Request(SampleId("t", "p", 0), 0, tuple(range(PROMPT_TOKENS)), 1, 256, "d", "x" * 16_000)

    async def rollout() -> None:
        for _ in range(turns):
            took = chance.uniform(*seconds)
            await asyncio.sleep(took / 10)
            reply(request, took)

    cpu = time.process_time()
    await asyncio.gather(*(rollout() for _ in range(rollouts)))
    return 1e3 * (time.process_time() - cpu) / (rollouts * turns)


async def ask_all(order: dict[str, Any]) -> None:
    """The clients: print how much longer than the engine each reply took, in seconds."""
    late: list[float] = []

    async def rollout(address: str, key: str, number: int) -> None:
        await asyncio.sleep(number * 0.02)
        start = " ".join(WORDS[place % len(WORDS)] for place in range(2_500 - 190 * order["turns"]))
        messages = [{"role": "user", "content": start}]
        reader, writer = await asyncio.open_unix_connection(order["socket"])
        for turn in range(order["turns"]):
            body = json.dumps({"model": "m", "messages": messages}).encode()
            head = (
                f"POST {address}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            began = time.monotonic()
            writer.write(head.encode() + body)
            answered = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(answered.partition(b"content-length:")[2].split(b"\r\n")[0])
            found = json.loads(await reader.readexactly(length))
            took = time.monotonic() - began
            late.append(took - float(found["choices"][0]["message"]["content"].split()[0]))
            messages += [found["choices"][0]["message"], {"role": "user", "content": f"Then {turn}."}]
        writer.close()

    await asyncio.gather(*(rollout(address, key, n) for n, (address, key) in enumerate(order["rollouts"])))
    print(json.dumps(late))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rollouts", type=int, default=256)
    parser.add_argument("--turns", type=int, default=6, help="of each rollout")
    parser.add_argument("--seconds", type=float, nargs=2, default=(5.0, 15.0), help="of the engine")
    parser.add_argument("--client", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        asyncio.run(ask_all(json.loads(options.client.read_text())))
        return
    print(f"{options.rollouts} rollouts x {options.turns} turns …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(serve(options, Path(name)))
    anchor = asyncio.run(bare(options.turns, options.rollouts, options.seconds))
    mean, most = found["prompt_tokens"]
    load, turns, wall = os.getloadavg()[0], found["turns"], found["wall_s"]
    print(
        f"load {load:.1f}; {turns} turns in {wall:.0f} s; prompts of {mean:,.0f} tokens, {most:,} at the most"
    )
    print("| what | value |\n|---|---|")
    print(f"| CPU a turn, this process | {found['cpu_ms']:.2f} ms |")
    print(f"| of it rendering | {found['rendering_ms']:.2f} ms |")
    print(f"| CPU a turn without a gateway | {anchor:.2f} ms |")
    print(f"| the gateway beyond that | {found['cpu_ms'] - anchor:.2f} ms |")
    print(f"| a reply later than the engine: median, 99th percentile | {found['late_ms'][0]:.1f}, ", end="")
    print(f"{found['late_ms'][1]:.1f} ms |")


if __name__ == "__main__":
    main()
