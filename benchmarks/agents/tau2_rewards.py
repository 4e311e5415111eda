"""Whether tau2-bench's rewards through genbench are those of tau2 itself. No model and no network is needed.

    python benchmarks/agents/tau2_rewards.py --python envs/tau2 --tasks retail/tasks.json --domain retail

A scripted server plays all three models. The agent does what the task's reference does, and forgets the last
call in every second task. The user says which task it is, and stops when it has got an answer. The judge
agrees. The tasks are run once by `tau2.run.run_tasks`, which writes its results file, and once by
`genbench run` with `harness: tau2`. Both rewards are printed for each task. The exit status is 1 if any
differ.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_NAMED = re.compile(r"This is task <(.*?)>\.")
_OWN = """
import json, sys
from tau2.data_model.tasks import Task
from tau2.evaluator.evaluator import EvaluationType
from tau2.evaluator import evaluator_nl_assertions as judge
from tau2.run import run_tasks
order = json.loads(sys.argv[1])
client = {"api_base": order["url"], "api_key": "none"}
judge.DEFAULT_LLM_NL_ASSERTIONS, judge.DEFAULT_LLM_NL_ASSERTIONS_ARGS = "openai/judge", client
names = "DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"
for asserts in (False, True):
    tasks = [Task.model_validate(row) for row in order["rows"]]
    tasks = [
        task for task in tasks
        if asserts == ("NL_ASSERTION" in {basis.value for basis in task.evaluation_criteria.reward_basis})
    ]
    if tasks:
        run_tasks(
            domain=order["domain"], tasks=tasks, agent="llm_agent", user="user_simulator",
            llm_agent="openai/agent", llm_args_agent=client, llm_user="openai/user", llm_args_user=client,
            max_steps=200, save_to=f"{order['out']}/{asserts}.json", console_display=False, seed=300,
            evaluation_type=EvaluationType.ALL_WITH_NL_ASSERTIONS if asserts else EvaluationType.ALL,
        )
"""
"""Runs the tasks with tau2 itself. Those with assertions in natural language are evaluated with them."""


class Script:
    """What the three models say about the tasks of a domain."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self._rows = {str(row["id"]): row for row in rows}
        self._places = {str(row["id"]): place for place, row in enumerate(rows)}
        self.asked: dict[str, int] = dict.fromkeys(("agent", "genbench", "user", "judge"), 0)

    def message(self, model: str, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the reply of a model to a conversation."""
        self.asked[model] += 1
        said = "\n".join(str(message.get("content") or "") for message in messages)
        if model == "judge":
            agreed = {"expectedOutcome": "all", "reasoning": "scripted", "metExpectation": True}
            return {"role": "assistant", "content": json.dumps({"results": [agreed]})}
        if model == "user":
            content = "###STOP###" if _NAMED.search(said) else self._presented(said)
            return {"role": "assistant", "content": content}
        places = [n for n, message in enumerate(messages) if _NAMED.search(str(message.get("content")))]
        found = _NAMED.search(str(messages[places[0]]["content"]))
        assert found is not None
        return self._done(found[1], sum(bool(item.get("tool_calls")) for item in messages[places[0] :]))

    def _presented(self, prompt: str) -> str:
        """Return the first words of a user, whose prompt has the scenario of one of the tasks."""
        fitting = [name for name, row in self._rows.items() if _scenario(row) in prompt]
        return f"This is task <{'|'.join(fitting)}>."

    def _done(self, names: str, calls: int) -> dict[str, Any]:
        row = self._rows[names.split("|", maxsplit=1)[0]]
        criteria = row.get("evaluation_criteria") or {}
        actions = [item for item in criteria.get("actions") or () if item.get("requestor") != "user"]
        if self._places[str(row["id"])] % 2:
            actions = actions[:-1]
        if calls < len(actions):
            action = actions[calls]
            function = {"name": action["name"], "arguments": json.dumps(action["arguments"])}
            call = {"id": f"call_{calls}", "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        told = ", ".join(map(str, criteria.get("communicate_info") or ()))
        return {"role": "assistant", "content": f"It is done. {told}".strip()}


def _scenario(row: dict[str, Any]) -> str:
    found = row["user_scenario"]["instructions"]
    return str(found["reason_for_call"] if isinstance(found, dict) else found)


def serve(script: Script) -> ThreadingHTTPServer:
    """Start the server of the scripted models on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": "genbench", "max_model_len": 100_000}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = script.message(body["model"], body["messages"])
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            choice = {"index": 0, "message": message, "finish_reason": reason}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            about = {"id": "one", "object": "chat.completion", "created": 0, "model": body["model"]}
            self._send({**about, "choices": [choice], "usage": usage})

        def _send(self, record: dict[str, Any]) -> None:
            text = json.dumps(record).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def by_tau2(python: Path, order: dict[str, Any]) -> dict[str, float]:
    """Return the rewards by task of the results files that tau2 writes."""
    subprocess.run([str(python / "bin" / "python"), "-c", _OWN, json.dumps(order)], check=True)
    found: dict[str, float] = {}
    for path in sorted(Path(order["out"]).glob("*.json")):
        for item in json.loads(path.read_text(encoding="utf-8"))["simulations"]:
            found[str(item["task_id"])] = float(item["reward_info"]["reward"])
    return found


def by_genbench(python: Path, order: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the scores by task of a run of genbench."""
    (folder / "tasks.json").write_text(json.dumps(order["rows"]), encoding="utf-8")
    peers = {name: {"base_url": order["url"], "model": name} for name in ("user", "judge")}
    options = {
        "harness": "tau2",
        "python": str(python.absolute()),
        "source": "tasks.json",
        "settings": {"domain": order["domain"]},
        "peers": peers,
        "limits": {"concurrent": 2, "first_request_s": 300},
    }
    suite = {
        "name": "tau2",
        "models": {"m": {"path": "genbench"}},
        "engine": {"kind": "http", "base_urls": [order["url"]], "prompts": "chat", "api": "openai"},
        "decoding": {"temperature": 0.6, "max_tokens": 512},
        "tasks": [{"name": "tau2", "task": "agent", "options": options}],
    }
    (folder / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    words = ["-m", "genbench", "run", "suite.yaml", "--run-dir", "out", "--trust-code", "folder"]
    subprocess.run([sys.executable, *words], check=False, cwd=folder)
    lines = (folder / "out" / "m" / "tau2" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = [json.loads(line) for line in lines]
    return {item["problem_id"]: item["score"] for item in verdicts}


def main() -> int:
    """Run both, print the rewards and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--python", type=Path, required=True, help="virtual environment with tau2")
    parser.add_argument("--tasks", type=Path, required=True, help="tasks.json of the domain, or its lines")
    parser.add_argument("--domain", required=True)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--without", default="", help="ids of tasks that the installed version lacks")
    given = parser.parse_args()
    text = given.tasks.read_text(encoding="utf-8")
    rows = (
        json.loads(text)
        if given.tasks.suffix == ".json"
        else [json.loads(line) for line in text.splitlines()]
    )
    rows = [row for row in rows if str(row["id"]) not in given.without.split(",")][: given.limit]
    script = Script(rows)
    server = serve(script)
    with tempfile.TemporaryDirectory(prefix="tau2-", dir=Path.cwd()) as place:
        folder = Path(place)
        (folder / "own").mkdir()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        order = {"url": url, "rows": rows, "domain": given.domain, "out": str(folder / "own")}
        began = time.monotonic()
        own = by_tau2(given.python, order)
        between = time.monotonic()
        found = by_genbench(given.python, order, folder)
        seconds = between - began, time.monotonic() - between
    different = [name for name in own if own[name] != found.get(name)]
    for name, reward in own.items():
        print(f"{name:60} tau2 {reward:g}  genbench {found.get(name)}")
    print(
        f"{given.domain}: {len(own)} tasks, mean {sum(own.values()) / len(own):.2f}, {len(different)} differ"
    )
    print(f"tau2 {seconds[0]:.0f} s, genbench {seconds[1]:.0f} s; requests: {script.asked}")
    return 1 if different or set(own) != set(found) else 0


if __name__ == "__main__":
    sys.exit(main())
