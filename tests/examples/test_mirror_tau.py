"""The script that makes a task with a simulated user from tau-bench, on a small clone of the same form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.sandbox.threads import SandboxWish
from genbench.tasks.python.loops import user_loop
from genbench.tools.calls import Call
from genbench.tools.simulated_functions import FunctionFile, FunctionRunner

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "user" / "mirror_tau.py"
TOOL = """
import json
from typing import Any, Dict
from tau_bench.envs.tool import Tool


class CancelOrder(Tool):
    @staticmethod
    def invoke(data: Dict[str, Any], order_id: str, note: str = "none") -> str:
        if order_id not in data["orders"]:
            return "Error: order not found"
        data["orders"][order_id]["status"] = "cancelled"
        return json.dumps({**data["orders"][order_id], "note": note})

    @staticmethod
    def get_info() -> Dict[str, Any]:
        properties = {
            "order_id": {"type": "string", "description": "Such as '#W1'."},
            "note": {"type": "string", "enum": ["none", "sorry"]},
        }
        parameters = {"type": "object", "properties": properties, "required": ["order_id"]}
        facts = {"name": "cancel_order", "description": "Cancel it.", "parameters": parameters}
        return {"type": "function", "function": facts}
"""
TASKS = """
from tau_bench.types import Task, Action

TASKS_TEST = [
    Task(annotator="0", user_id="ada_1", instruction="Cancel it.", outputs=[],
         actions=[Action(name="cancel_order", kwargs={"order_id": "#W1"}),
                  Action(name="respond", kwargs={})]),
]
"""


@pytest.mark.slow
def test_a_clone_becomes_a_task_whose_actions_run(tmp_path: Path) -> None:
    place = tmp_path / "clone" / "tau_bench" / "envs" / "retail"
    for name in ("tools", "data"):
        (place / name).mkdir(parents=True)
    (place / "tools" / "__init__.py").write_text("from .cancel_order import CancelOrder\n")
    (place / "tools" / "cancel_order.py").write_text(TOOL)
    (place / "tasks_test.py").write_text(TASKS)
    (place / "wiki.md").write_text("Be kind.")
    users = {"ada_1": {"orders": ["#W1"]}, "bela_2": {"orders": ["#W2"]}}
    orders = {name: {"status": "pending"} for name in ("#W1", "#W2")}
    for name, rows in (("users", users), ("orders", orders), ("products", {})):
        (place / "data" / f"{name}.json").write_text(json.dumps(rows))
    command = [sys.executable, str(SCRIPT), str(tmp_path / "clone"), "retail", str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True)

    out = tmp_path / "out"
    (row,) = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    assert row["state"] == {
        "users": {"ada_1": users["ada_1"]},
        "orders": {"#W1": orders["#W1"]},
        "products": {},
    }
    assert row["actions"] == [{"name": "cancel_order", "arguments": {"order_id": "#W1"}}]
    file = FunctionFile((out / "functions.py").read_text(), "Retail")
    (document,) = file.documents()
    assert document["parameters"]["required"] == ["order_id"]
    assert document["parameters"]["properties"]["note"]["description"] == "One of none, sorry."
    runner = FunctionRunner(SandboxWish())
    ran = runner.run(file, row["state"], [[Call("cancel_order", {"order_id": "#W1"})]])
    runner.close()
    assert ran.turns[0].results == ('{"status": "cancelled", "note": "none"}',)
    made = user_loop(f"{out}/functions.py:Retail", str(out / "rows.jsonl"), policy=str(out / "policy.md"))
    assert made.problems([row])[0].problem_id == "0"
