"""Foreign code: what it can reach in its sandbox, and what happens without the tool."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.errors import DataError, InputError
from genbench.interop.tasks.harness.convert import ImportOptions, convert, rows_by_code
from genbench.interop.tasks.harness.definition import read_tree
from genbench.interop.tasks.harness.levels import classify
from genbench.interop.tasks.harness.plan import make_plan
from genbench.interop.tasks.programs import lm_eval_rows
from genbench.interop.tasks.sources import source_of
from genbench.sandbox.foreign import ForeignPython, foreign_python, run_foreign

PYTHON = ForeignPython(Path(sys.executable))
ATTACK = """
import json, os, socket, sys
order = json.load(sys.stdin)
found = {}
try:
    socket.create_connection(("127.0.0.1", order["port"]), timeout=1)
    found["network"] = True
except OSError:
    found["network"] = False
found["secret"] = os.path.exists(order["secret"])
found["home"] = os.environ.get("HOME")
try:
    open(__file__, "a")
    found["writes"] = True
except OSError:
    found["writes"] = False
found["processes"] = len([name for name in os.listdir("/proc") if name.isdigit()])
print(json.dumps(found))
"""
STAND_IN = {
    "datasets.py": "class Dataset:\n    from_list = staticmethod(list)\nclass DatasetDict(dict): pass\n",
    "lm_eval/__init__.py": "",
    "lm_eval/tasks/__init__.py": "",
    "lm_eval/tasks/_yaml_loader.py": "def load_yaml(path, resolve_func): return {'path': path}\n",
    "lm_eval/api/__init__.py": "",
    "lm_eval/api/task.py": """
from types import SimpleNamespace as N
import datasets
class ConfigurableTask:
    multiple_input = 0
    def __init__(self, config):
        print("a print of the task")
        self.config, self.rows = N(doc_to_choice=None), datasets.load_dataset()["test"]
        self.shots = config["num_fewshot"]
    def set_fewshot_seed(self, seed): pass
    def build_all_requests(self, **_):
        row = self.rows[0]
        self.instances = [N(doc_id=0, doc=row, args=(f"{self.shots} {row['q']}",))]
    def doc_to_target(self, doc): return doc["a"]
""",
}


def test_code_has_no_network_and_no_files_of_the_user(tmp_path: Path) -> None:
    script, secret = tmp_path / "attack.py", tmp_path / "secret"
    script.write_text(ATTACK, encoding="utf-8")
    secret.write_text("x", encoding="utf-8")
    (found,) = run_foreign(PYTHON, script, {"port": 22, "secret": str(secret)})
    assert found == {"network": False, "secret": False, "home": "/tmp", "writes": False, "processes": 1}


def test_code_that_fails_is_said_in_its_own_words(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("raise ValueError('no rows for you')", encoding="utf-8")
    with pytest.raises(DataError, match="ValueError: no rows for you"):
        run_foreign(PYTHON, script, {})
    script.write_text("print('hello')", encoding="utf-8")
    with pytest.raises(DataError, match="not JSON"):
        run_foreign(PYTHON, script, {})


def test_the_switch_and_the_interpreter_are_both_needed() -> None:
    with pytest.raises(InputError, match="--trust-task-code"):
        foreign_python(Path(sys.executable), trusted=False)
    with pytest.raises(InputError, match="--python"):
        foreign_python(None, trusted=True)
    with pytest.raises(InputError, match="no such program"):
        foreign_python(Path("/no/python"), trusted=True)


@pytest.mark.slow
def test_a_python_without_the_tool_says_so(definitions: Path, mirror: Path) -> None:
    found = classify(read_tree(definitions).tasks["sums_rows"])
    with pytest.raises(DataError, match="No module named"):
        convert(found, source_of(definitions), ImportOptions(Path(), mirror, foreign=PYTHON))
    plan = make_plan(found, rows_given=True)
    with pytest.raises(DataError, match="No module named"):
        rows_by_code(found.definition, plan, PYTHON, mirror, None)


def test_the_script_prints_what_the_tool_makes_of_each_row(tmp_path: Path) -> None:
    for name, text in STAND_IN.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    order = {"path": "t.yaml", "shots": 2, "splits": {"test": [{"q": "why", "a": "so", "choices": ["so"]}]}}
    found = subprocess.run(
        [sys.executable, lm_eval_rows.__file__],
        input=json.dumps(order),
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    wanted = {"contexts": ["2 why"], "choices": None, "target": "so", "index": None, "listed": ["so"]}
    assert [json.loads(line) for line in found.stdout.splitlines()] == [wanted]
