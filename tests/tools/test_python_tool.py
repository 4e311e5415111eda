"""Scripts of models in the sandbox: what they are shown, and that no script sees another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.pipeline import RunOptions
from genbench.sandbox.threads import SandboxWish
from genbench.tasks.page.reader import read_page
from genbench.tasks.page.task import page_task
from genbench.tasks.pages import page_path
from genbench.tools.calls import Call
from genbench.tools.python_tool import CALLS, PythonTool
from tests.ready_runs import run_bare
from tests.tasks.shapes import SHAPES, write_mirror


@pytest.fixture(scope="module")
def tool() -> Iterator[PythonTool]:
    made = PythonTool(SandboxWish())
    yield made
    made.close()


def shown(tool: PythonTool, *codes: str) -> tuple[str, ...]:
    return tool.run([[Call("python", {"code": code}) for code in codes]]).turns[0].results


@pytest.mark.slow
def test_a_script_is_shown_with_what_it_printed_and_the_error_that_ended_it(tool: PythonTool) -> None:
    found = shown(
        tool,
        "from sympy import *\nx = symbols('x')\nprint(solve(x**2 - 2))",
        "x = 1\nprint(2**10)\nprint(1 / 0)",
        "print(x)",
        "def f(:",
        "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)",
        "y = 3",
        "import os\nos._exit(0)",
        "import sys\nprint(5)\nsys.exit(1)",
    )
    assert found[:3] == (
        "[-sqrt(2), sqrt(2)]\n",
        "1024\nZeroDivisionError: division by zero (line 3)\n",
        "NameError: name 'x' is not defined (line 1)\n",
    )
    assert "SyntaxError: invalid syntax" in found[3] and "PermissionError" in found[4]
    assert found[5] == "(it printed nothing)" and found[6].startswith("error: the script broke off")
    assert found[7] == "5\n"


@pytest.mark.slow
def test_the_middle_of_a_long_output_is_left_out_and_calls_are_limited(tool: PythonTool) -> None:
    [long] = shown(tool, "print('a' * 5000 + 'b' * 5000)")
    assert long.startswith("a" * 2000 + "\n[... 6001 characters") and long.endswith("b" * 1999 + "\n")
    last, over = shown(tool, *["print(1)"] * (CALLS + 1))[-2:]
    assert last == "1\n" and over.startswith(f"error: all {CALLS} calls are used up")
    wrong = tool.run([[Call("sh", {"code": "ls"}), Call("python", {"text": "1"})]]).turns[0].results
    assert [text.split(";")[0] for text in wrong] == [
        "error: there is no function 'sh'",
        "error: python takes one text, 'code'",
    ]


SUITE = """\
models:
  m: {path: ./model}
tasks:
  - {task: imo_answerbench, k: 1, options: {grading: rule}}
  - {task: imo_answerbench, name: imo_python, k: 1, options: {grading: rule, tools: python}}
"""
CALL = '[python(code="from fractions import Fraction\\nprint(Fraction(14, 36))")]'
PLAIN = ["It is \\boxed{1}.", "It is \\boxed{1}.", "It is \\boxed{4, 5}."]
TURNS = [["It is \\boxed{1}."], [CALL, "So \\boxed{\\frac{7}{18}}."], [CALL, CALL.replace("14", "1")]]


@pytest.mark.slow
def test_a_benchmark_with_python_is_scored_by_its_own_rule_on_the_last_reply(tmp_path: Path) -> None:
    file = read_page(page_path("imo_answerbench"))
    data = page_task(file, "genbench", {}).info.dataset
    assert data is not None
    write_mirror(tmp_path / "mirror", data, SHAPES["imo_answerbench"])
    (tmp_path / "suite.yaml").write_text(SUITE)
    said = [
        {"task": "imo_answerbench", "problem_id": f"imo-{n}", "sample_index": 0, "text": text}
        for n, text in enumerate(PLAIN)
    ]
    said += [
        {"task": "imo_python", "problem_id": f"imo-{n}", "sample_index": 0, "turn": turn, "text": text}
        for n, texts in enumerate([*TURNS[:2], [*TURNS[2], "Then \\boxed{4}."]])
        for turn, text in enumerate(texts)
    ]
    (tmp_path / "responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
    done = run_bare(
        RunOptions(
            suite=str(tmp_path / "suite.yaml"),
            run_dir=tmp_path / "runs",
            data_dir=tmp_path / "mirror",
            responses=tmp_path / "responses.jsonl",
            quiet=True,
        )
    )
    tasks = done.results["m"].to_json()["tasks"]
    assert list(tasks) == ["imo_answerbench", "imo_python"]
    assert [tasks[name]["value"] for name in tasks] == [pytest.approx(1 / 3)] * 2
    folder = done.folders["m"]
    lines = (folder / "imo_python" / "verdicts.jsonl").read_text().splitlines()
    verdicts: dict[str, Any] = {line["problem_id"]: line for line in map(json.loads, lines)}
    assert [verdicts[f"imo-{n}"]["status"] for n in range(3)] == ["wrong", "correct", "wrong"]
    asked = [
        json.loads(line)
        for line in (folder / "imo_python" / "completions.jsonl").read_text().split("\n")[:-1]
    ]
    assert "7/18" in str(next(line for line in asked if line["problem_id"] == "imo-1" and line["turn"] == 1))


def test_python_is_offered_only_where_a_page_has_it() -> None:
    file = read_page(page_path("imo_answerbench"))
    assert page_task(file, "genbench", {"tools": "python"}).info.version == "1-python-tool1"
    assert page_task(file, "genbench", {"tools": "none"}).info.version == "1"
    with pytest.raises(ConfigError, match="nothing runs in a sandbox"):
        page_task(file, "genbench", {"sandbox": {"tier": "a"}})
    with pytest.raises(ConfigError, match="wanted some of"):
        page_task(file, "genbench", {"tools": "python", "sandbox": {"wall_s": 1}})
    with pytest.raises(ConfigError, match="tools"):
        page_task(read_page(page_path("gsm8k")), "genbench", {"tools": "python"})
