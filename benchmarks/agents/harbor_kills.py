"""Whether faults and kills change what a run of harbor draws. It needs bubblewrap and tmux, and no model.

    python benchmarks/agents/harbor_kills.py --python envs/harbor --folder kills       # 12 x 3, 3 kills
    python benchmarks/agents/harbor_kills.py --python envs/harbor --folder kills --problems 2 --k 1

A scripted engine plays the model for harbor's agent terminus-2: it looks around, writes a word into a file,
the right one for two seeds of three, and says that it is done. The run is drawn once undisturbed. It is drawn
again with a quarter of the gateway's replies made into errors 500, half of them after the text was drawn,
and with `kill -9` at three moments, after each of which the same command goes on. Then statuses, seeds,
prompts and texts are compared, completion by completion. The exit status is 1 if any status or seed differs,
or if a completion was drawn twice.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from genbench.engines.simple import SimpleConfig, SimpleEngine  # noqa: E402  found through the line above
from genbench.types import Completion, Request  # noqa: E402

_TOML = """\
version = "1.0"
[verifier]
timeout_sec = 60
[agent]
timeout_sec = 900
[environment]
build_timeout_sec = 600
"""
_TEST = """\
#!/bin/bash
if [ "$(cat /app/answer.txt 2>/dev/null)" = {word} ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


class Config(SimpleConfig):
    """How long a reply takes."""

    seconds: float = 0.5


class Engine(SimpleEngine):
    """Says what terminus-2 expects, by problem, turn and seed."""

    Config: ClassVar[type[SimpleConfig]] = Config
    version: ClassVar[str] = "1"

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the reply of a turn."""
        import asyncio  # noqa: PLC0415

        await asyncio.sleep(self.config.seconds)
        word = request.sample.problem_id if request.seed % 3 else "wrong"
        keys = ["ls /app\n", f"echo {word} > /app/answer.txt\n"]
        commands = [{"keystrokes": keys[request.turn], "duration": 0.5}] if request.turn < len(keys) else []
        said: dict[str, Any] = {"analysis": f"seed {request.seed}", "plan": "next", "commands": commands}
        said["task_complete"] = request.turn >= len(keys)
        return self.completion(request, attempt, json.dumps(said), prompt_tokens=7, completion_tokens=5)


def faulty(app: Any) -> Any:
    """Return a server that makes every fourth reply an error, each second time after the text was drawn."""
    counts = {"requests": 0, "faults": 0}

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        counts["requests"] += 1
        if scope["type"] != "http" or counts["requests"] % 4:
            await app(scope, receive, send)
            return
        counts["faults"] += 1
        if counts["faults"] % 2:

            async def drop(message: Any) -> None:
                del message

            await app(scope, receive, drop)
        await send({"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    return serve


def child(folder: Path, name: str) -> None:
    """Draw the run in this process, with faults of the gateway if its name is `disturbed`."""
    from genbench import pipeline  # noqa: PLC0415
    from genbench.agents.gateway import http  # noqa: PLC0415
    from genbench.consent import allow_code  # noqa: PLC0415
    from genbench.pipeline import RunOptions  # noqa: PLC0415

    if name == "disturbed":
        plain = http.application
        http.application = lambda gateway: faulty(plain(gateway))
    allow_code(folder)
    suite = str(folder / "suite.yaml")
    pipeline.run(RunOptions(suite=suite, run_dir=folder / name, quiet=True))


def write(folder: Path, given: argparse.Namespace) -> None:
    """Write the tasks in harbor's form, and the suite."""
    for number in range(given.problems):
        word = f"word{number}"
        place = folder / "tasks" / word
        (place / "tests").mkdir(parents=True)
        (place / "environment").mkdir()
        (place / "task.toml").write_text(_TOML, encoding="utf-8")
        (place / "instruction.md").write_text(f"Write {word} into /app/answer.txt.\n", encoding="utf-8")
        (place / "tests" / "test.sh").write_text(_TEST.format(word=word), encoding="utf-8")
        (place / "environment" / "Dockerfile").write_text("FROM scratch\n", encoding="utf-8")
    options = {
        "source": "tasks",
        "harness": "harbor",
        "python": str(given.python.absolute()),
        "limits": {"turns": 8, "wall_s": 600, "first_request_s": 300, "concurrent": given.concurrent},
    }
    suite = {
        "name": "kills",
        "models": {"m": {"path": "m"}},
        "engine": {"kind": "harbor_kills:Engine"},
        "decoding": {"temperature": 0.5, "max_tokens": 256, "seed": 4},
        "tasks": [{"name": "words", "task": "agent", "k": given.k, "options": options}],
    }
    (folder / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    (folder / "harbor_kills.py").symlink_to(Path(__file__).resolve())


def lines(folder: Path, name: str, file: str) -> list[dict[str, Any]]:
    """Return the whole lines of a file of the run."""
    path = folder / name / "m" / "words" / f"{file}.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def draw(folder: Path, name: str, kills: int, total: int) -> float:
    """Draw a run, and kill it on its way as often as told. Return the seconds."""
    began = time.monotonic()
    for number in range(kills + 1):
        words = [sys.executable, __file__, "--child", name, "--folder", str(folder)]
        process = subprocess.Popen(words, cwd=folder, start_new_session=True)
        stop = total * (number + 1) // (kills + 1)
        while process.poll() is None:
            if number < kills and len(lines(folder, name, "completions")) >= stop:
                os.killpg(process.pid, signal.SIGKILL)
                print(f"killed after {len(lines(folder, name, 'completions'))} completions", flush=True)
            time.sleep(0.1)
        if number == kills and process.returncode:
            raise SystemExit(f"{name}: ended with status {process.returncode}")
    return time.monotonic() - began


def drawn(folder: Path, name: str) -> dict[tuple[str, int, int], tuple[Any, ...]]:
    """Return seed, prompt and text of each completion of the model."""
    found: dict[tuple[str, int, int], tuple[Any, ...]] = {}
    for line in lines(folder, name, "completions"):
        if not line.get("final"):
            key = line["problem_id"], line["sample_index"], line["turn"]
            if key in found:
                raise SystemExit(f"{name}: {key} was drawn twice")
            found[key] = line["seed"], line["prompt_digest"], line["text"]
    return found


def main() -> int:
    """Draw both runs, print what differs and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--python", type=Path, help="virtual environment with harbor")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where the runs are made; it must not exist"
    )
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--concurrent", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.folder, given.child)
        return 0
    folder = given.folder.absolute()
    folder.mkdir(parents=True)
    write(folder, given)
    seconds = draw(folder, "plain", 0, 0)
    first = drawn(folder, "plain")
    seconds_2 = draw(folder, "disturbed", given.kills, len(first))
    second = drawn(folder, "disturbed")
    statuses = [
        {
            (line["problem_id"], line["sample_index"]): line["status"]
            for line in lines(folder, name, "verdicts")
        }
        for name in ("plain", "disturbed")
    ]
    seeds = sum(first[key][0] == second.get(key, (None,))[0] for key in first)
    prompts = sum(first[key][1] == second.get(key, (None, None))[1] for key in first)
    texts = sum(first[key][2] == second.get(key, (None, None, None))[2] for key in first)
    replayed = sum(line["detail"]["rollout"]["replayed"] for line in lines(folder, "disturbed", "verdicts"))
    print(
        f"{len(first)} completions undisturbed ({seconds:.0f} s), {len(second)} disturbed ({seconds_2:.0f} s)"
    )
    print(f"equal: {seeds} seeds, {prompts} prompts, {texts} texts; replies given again: {replayed}")
    print(f"statuses: {sorted(statuses[0].values())}")
    differ = [key for key in statuses[0] if statuses[0][key] != statuses[1].get(key)]
    print(f"{len(differ)} of {len(statuses[0])} rollouts have another status")
    return 1 if differ or seeds < len(first) or len(second) != len(first) else 0


if __name__ == "__main__":
    sys.exit(main())
