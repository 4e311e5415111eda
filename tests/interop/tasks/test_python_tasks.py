"""Import of tasks of lighteval and Inspect, with small packages of the same names in their place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import DataError, InputError
from genbench.interop.tasks.programs import inspect_rows, lighteval_rows
from genbench.interop.tasks.python_tasks import convert_python, inspect_rules, lighteval_rules, python_source
from genbench.sandbox.foreign import ForeignPython

LIGHTEVAL = {
    "lighteval/__init__.py": "",
    "lighteval/tasks/__init__.py": "",
    "task.py": """
from enum import Enum
from types import SimpleNamespace as N
class Category(Enum):
    LOGPROBS = 1
class LoglikelihoodAcc:
    logprob_normalization = None
def prompt(line, name):
    if line["q"] == "none":
        return None
    return N(query="Pick. " + line["q"], instruction="Pick. ", choices=[" a", " b"], gold_index=line["g"],
             images=None, get_golds=lambda: [" b"])
metric = N(metric_name="acc", category=Category.LOGPROBS, sample_level_fn=LoglikelihoodAcc())
TASKS_TABLE = [N(name="picks", prompt_function=prompt, hf_repo="org/picks", hf_subset="default",
    hf_revision=None, hf_filter=None, evaluation_splits=("test",), num_fewshots=0,
    stop_sequence=(), generation_size=1, num_samples=None, version=3, metrics=(metric,))]
""",
    "lighteval-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: lighteval\nVersion: 0.0.1\n",
}
FACTS: dict[str, Any] = {
    "shots": 0,
    "stop": ["\n"],
    "shuffled": False,
    "limit": None,
    "metrics": [
        {
            "name": "em",
            "category": "GENERATIVE",
            "computation": "ExactMatches",
            "norm": None,
            "first_space": False,
            "plain": True,
        }
    ],
}
DOC: dict[str, Any] = {
    "id": "test-0",
    "context": "c",
    "choices": [" a", " b"],
    "gold": [1],
    "golds": [" b"],
    "images": False,
}
SAMPLE: dict[str, Any] = {
    "id": "1",
    "messages": [{"role": "user", "content": "q"}],
    "choices": ["x", "y"],
    "target": ["B"],
    "extras": False,
}


def inspect_head(scorer: str, *solvers: str, **params: Any) -> dict[str, Any]:
    names = [f"inspect_ai/{name}" for name in solvers or ("generate",)]
    return {"solvers": names, "scorers": [{"name": f"inspect_ai/{scorer}", "params": params, "regex": None}]}


def test_the_script_of_lighteval_prints_facts_and_rows(tmp_path: Path) -> None:
    for name, text in LIGHTEVAL.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def printed(**more: Any) -> list[dict[str, Any]]:
        found = subprocess.run(
            [sys.executable, lighteval_rows.__file__],
            input=json.dumps({"name": "picks", "file": str(tmp_path / "task.py"), **more}),
            env={"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return [json.loads(line) for line in found.stdout.splitlines()]

    (facts,) = printed()
    assert (facts["repo"], facts["splits"], facts["version"]) == ("org/picks", ["test"], 3)
    rows = printed(splits={"test": [{"q": "one", "g": 1}, {"q": "none", "g": 0}]})
    assert [(row["id"], row["context"], row["gold"]) for row in rows] == [("test-0", "Pick. \n\none", [1])]
    made = lighteval_rules(facts, rows)
    assert (made.output, made.options) == ("multiple_choice", {"rule": "acc"})
    assert made.rows[0]["continuations"] == [" a", " b"]
    assert (made.rows[0]["choices"], made.rows[0]["delimiter"]) == (["a", "b"], " ")


def test_a_module_of_lighteval_that_has_the_name_and_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "lighteval" / "tasks").mkdir(parents=True)
    (tmp_path / "lighteval" / "__init__.py").write_text("")
    (tmp_path / "lighteval" / "tasks" / "quiz.py").write_text('import no_such_package\nNAME = "picks"\n')
    found = subprocess.run(
        [sys.executable, lighteval_rows.__file__],
        input=json.dumps({"name": "picks", "file": None}),
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode != 0
    last = found.stderr.strip().splitlines()[-1]
    assert "no task of lighteval is called 'picks'" in last
    assert "quiz.py has the name" in last and "No module named 'no_such_package'" in last


def test_exact_match_of_lighteval_is_a_generated_answer() -> None:
    made = lighteval_rules(FACTS, [DOC])
    assert made.rows == [{"id": "test-0", "context": "c", "reference": {"golds": ["b"]}}]
    assert made.options["until"] == ["\n"]


def test_what_lighteval_computes_with_its_own_code_is_refused() -> None:
    metrics = [FACTS["metrics"][0] | {"plain": False, "name": "qem"}]
    with pytest.raises(InputError, match="metric qem is code of lighteval"):
        lighteval_rules(FACTS | {"metrics": metrics}, [DOC])
    with pytest.raises(InputError, match="5 exemplars"):
        lighteval_rules(FACTS | {"shots": 5}, [DOC])


def test_scorers_of_inspect_become_verifiers() -> None:
    choice = inspect_rules(FACTS, [inspect_head("choice", "multiple_choice"), SAMPLE])
    assert choice.verifier == "choice"
    assert choice.rows[0]["reference"] == {"letter": "B", "options": ["x", "y"]}
    found = inspect_rules(FACTS, [inspect_head("pattern", pattern="A: (.*)"), SAMPLE])
    assert found.options["filters"][0]["filter"][0]["regex_pattern"] == "(?i)A: (.*)"
    assert inspect_rules(FACTS, [inspect_head("includes"), SAMPLE]).rows[0]["reference"] == {"texts": ["B"]}
    assert inspect_rules(FACTS, [inspect_head("exact"), SAMPLE]).rows[0]["reference"] == ["B"]


@pytest.mark.parametrize(
    ("head", "sample", "words"),
    [
        (inspect_head("choice", "basic_agent"), SAMPLE, "agents and tools"),
        (inspect_head("choice", "generate", "generate"), SAMPLE, "do not ask the model once"),
        (inspect_head("model_graded_qa"), SAMPLE, "a suite with a judge"),
        (inspect_head("exact"), SAMPLE | {"extras": True}, "sandbox"),
        (inspect_head("choice"), SAMPLE | {"target": ["E"]}, "the letter of one choice"),
    ],
)
def test_other_tasks_of_inspect_are_refused(head: dict[str, Any], sample: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        inspect_rules(FACTS, [head, sample])


def test_sources_name_a_framework_a_file_and_a_task(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("", encoding="utf-8")
    found = python_source(f"inspect:{tmp_path / 't.py'}:quiz")
    assert found is not None and (found.framework, found.name) == ("inspect", "quiz")
    assert python_source("gsm8k_cot") is None
    with pytest.raises(InputError, match="wanted inspect:FILE"):
        python_source("inspect:quiz")
    with pytest.raises(InputError, match="no file"):
        python_source("lighteval:/no/such.py:quiz")
    with pytest.raises(InputError, match="Python classes of their own kind"):
        python_source("helm:mmlu")


def test_nothing_runs_without_the_switch() -> None:
    found = python_source("lighteval:piqa")
    assert found is not None
    with pytest.raises(InputError, match="--trust-task-code"):
        convert_python(found, None, None)


def test_a_python_without_inspect_says_so(tmp_path: Path, mirror: Path) -> None:
    (tmp_path / "t.py").write_text("", encoding="utf-8")
    found = python_source(f"inspect:{tmp_path / 't.py'}:quiz")
    assert found is not None and Path(inspect_rows.__file__).exists()
    with pytest.raises(DataError, match="inspect_ai"):
        convert_python(found, ForeignPython(Path(sys.executable)), mirror)
