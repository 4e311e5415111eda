"""Whether mini-swe-agent, harbor and Inspect work in boxes of images. It needs no model, registry or daemon.

    python benchmarks/agents/boxes.py --mini envs/mini --harbor envs/harbor --inspect envs/inspect \\
        --swebench envs/swebench --folder boxes

A scripted engine plays the model: it solves the problem `oracle` and does nothing for `nop`. The image is
made of programs of this machine. The issue for mini-swe-agent is judged by swebench in a fresh box. The tests
of harbor's task fetch something, which they get from a kit. The exit status is 1 if a score is not the one of
its name.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from genbench.engines.simple import SimpleEngine  # noqa: E402  found through the line above
from genbench.types import Completion, Request  # noqa: E402

PROGRAMS = ("git", "tmux", "tput", "dirname", "ln", "/usr/bin/python3")
"""What the harnesses want of an image: harbor's terminus-2 works in tmux."""
_INSPECT = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from inspect_ai.util import sandbox


@solver
def act():
    async def solve(state, generate):
        state = await generate(state)
        await sandbox().exec(["bash", "-c", state.output.completion])
        return state
    return solve


@scorer(metrics=[accuracy()])
def answer():
    async def score(state, target):
        try:
            found = await sandbox().read_file("/tmp/answer")
        except FileNotFoundError:
            found = ""
        return Score(value="C" if found.strip() == "42" else "I")
    return score


@task
def words():
    samples = [Sample(id=name, input="Write 42 into /tmp/answer.") for name in ("oracle", "nop")]
    return Task(dataset=samples, solver=act(), scorer=answer())
"""
_ANSWER = "echo 42 > /tmp/answer"
_FIX = "sed -i 's/a - b/a + b/' calc.py"
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"


class Engine(SimpleEngine):
    """Says what each harness expects, by task, problem and turn."""

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the reply of a turn."""
        name, turn = request.sample.problem_id, request.turn
        acts = name.endswith("oracle") and turn == 0
        if request.sample.task == "mini":
            call = {"name": "bash", "arguments": {"command": _FIX if acts else _SUBMIT}}
            text = f"Next.\n<tool_call>\n{json.dumps(call)}\n</tool_call>"
        elif request.sample.task == "harbor":
            keys = [{"keystrokes": f"{_ANSWER}\n", "duration": 1.0}] if acts else []
            text = json.dumps({"analysis": "a", "plan": "p", "commands": keys, "task_complete": not acts})
        else:
            text = _ANSWER if acts else "true"
        return self.completion(request, attempt, text, prompt_tokens=7, completion_tokens=5)


def example(name: str) -> ModuleType:
    """Return the example that makes images, or the one that makes a task."""
    spec = spec_from_file_location(name, ROOT / "examples" / "agents" / "images" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def write(folder: Path, environments: Mapping[str, Path], programs: Sequence[str] = PROGRAMS) -> Path:
    """Write an image, the problems and the suite.

    Args:
        environments: the virtual environment of each harness, and of swebench for mini-swe-agent.
        programs: those of this machine that the image has.
    """
    make, swe_tasks, terminal = example("make_image"), example("make_task"), example("make_terminal")
    python = next(Path("/usr/lib").glob("python3.[0-9]*"))
    added = [(str(python), str(python)), (str(swe_tasks.repository(folder)), "/testbed")]
    added += [(path, path) for path in ("/usr/lib/locale/C.utf8", "/lib/terminfo") if Path(path).is_dir()]
    layer = make.layer_of([*make.PROGRAMS, *programs], added)
    config = {"Env": ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TERM=xterm"]}
    digest = make.write_layout(folder / "layout", "own/box:1", [layer], config)
    (folder / "images.lock").write_text(json.dumps({"images": {"own/box:1": digest}}))
    names = ("oracle", "nop")
    rows: dict[str, list[dict[str, Any]]] = {
        "mini": [swe_tasks.row(f"own__calc-{name}", image="own/box:1") for name in names],
        "inspect": [
            {"id": n, "instruction": "Write.", "path": "words.py", "task": "words", "image": "own/box:1"}
            for n in names
        ],
    }
    (folder / "words.py").write_text(_INSPECT)
    terminal.write_kit(folder / "kit")
    for name in names:
        terminal.write_task(folder / "tasks" / name, "own/box:1")
    tasks = []
    for name, harness in (("mini", "mini_swe"), ("harbor", "harbor"), ("inspect", "inspect")):
        if name not in environments:
            continue
        options: dict[str, Any] = {"source": "tasks" if name == "harbor" else f"{name}.jsonl"}
        if name in rows:
            (folder / options["source"]).write_text("".join(json.dumps(row) + "\n" for row in rows[name]))
        options |= {"harness": harness, "python": str(environments[name].absolute()), "images": "images.lock"}
        options |= {"limits": {"turns": 6, "first_request_s": 240, "concurrent": 2}}
        if name == "mini":
            options |= {"grader": str(environments["swebench"].absolute()), "parser": "hermes"}
        if name == "harbor":
            options["kit"] = "kit"
        tasks.append({"name": name, "task": "agent", "k": 1, "options": options})
    suite = {"name": "boxes", "models": {"m": {"path": "m"}}, "tasks": tasks}
    suite |= {
        "engine": {"kind": "benchmarks.agents.boxes:Engine"},
        "decoding": {"temperature": 0.5, "max_tokens": 256},
    }
    (folder / "suite.yaml").write_text(json.dumps(suite))
    return folder / "suite.yaml"


def main() -> int:
    """Run the adapters, print the scores and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("mini", "harbor", "inspect", "swebench"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["GENBENCH_IMAGES"] = str(folder / "store")
    environments = {name: path for name, path in vars(given).items() if path and name != "folder"}
    suite = write(folder, environments)
    shown = [sys.executable, "-m", "genbench"]
    subprocess.run([*shown, "images", "add", str(folder / "layout")], check=True, cwd=ROOT)
    from genbench.agents.images.mirror import prove  # noqa: PLC0415
    from genbench.consent import allow_code  # noqa: PLC0415
    from genbench.pipeline import RunOptions  # noqa: PLC0415
    from tests.ready_runs import run_bare  # noqa: PLC0415

    allow_code(folder)
    for item in prove(suite, workers=2, again=False) if given.mini or given.harbor else ():
        print(item.problem, item.why or "can be judged")
    began = time.monotonic()
    place = run_bare(RunOptions(suite=str(suite), run_dir=folder / "run", quiet=True)).folders["m"]
    bad = 0
    for path in sorted(place.glob("*/verdicts.jsonl")):
        for line in map(json.loads, path.read_text().splitlines()):
            wanted = float(line["problem_id"].endswith("oracle"))
            bad += line["score"] != wanted
            rollout = line["detail"].get("rollout", {})
            print(path.parent.name, line["problem_id"], line["status"], line["score"], rollout.get("wall_s"))
            if line["score"] != wanted:
                print(json.dumps(line["detail"])[:2000])
    print(f"{time.monotonic() - began:.0f} s, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.modules["benchmarks.agents.boxes"] = sys.modules["__main__"]
    sys.exit(main())
