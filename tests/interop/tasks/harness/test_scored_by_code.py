"""Tasks that their own code scores: imported, run with an error of the code, and refused without trust.

A small package stands in the place of lm-eval, in an environment of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.interop.tasks.harness.convert import ImportOptions, convert
from genbench.interop.tasks.harness.definition import read_tree
from genbench.interop.tasks.harness.levels import classify
from genbench.interop.tasks.importer import import_tasks
from genbench.interop.tasks.sources import source_of
from genbench.pipeline import RunOptions, run
from genbench.sandbox.foreign import ForeignPython

STAND_IN = {
    "datasets.py": "class Dataset:\n    from_list = staticmethod(list)\nclass DatasetDict(dict): pass\n",
    "lm_eval-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: lm_eval\nVersion: 0.0.1\n",
    "lm_eval/__init__.py": "",
    "lm_eval/tasks/__init__.py": "",
    "lm_eval/tasks/_yaml_loader.py": "def load_yaml(path, resolve_func): return {'path': path}\n",
    "lm_eval/models/__init__.py": "",
    "lm_eval/models/utils.py": "def postprocess_generated_text(text, until, _): return text.strip()\n",
    "lm_eval/api/__init__.py": "",
    "lm_eval/api/instance.py": """
class Instance:
    def __init__(self, kind, doc, arguments, idx, metadata): self.doc, self.filtered_resps = doc, {}
""",
    "lm_eval/api/task.py": """
from types import SimpleNamespace as N
import datasets
class ConfigurableTask:
    multiple_input = 0
    def __init__(self, config):
        self.config, self.rows = N(doc_to_choice=None), datasets.load_dataset()["test"]
    def set_fewshot_seed(self, seed): pass
    def build_all_requests(self, **_):
        self.instances = [N(doc_id=n, doc=row, args=(row["question"],)) for n, row in enumerate(self.rows)]
    def doc_to_target(self, doc): return doc["answer"]
    def apply_filters(self):
        for item in self._instances:
            item.filtered_resps = {"none": item.resps[0]}
    def process_results(self, doc, results):
        if results[0] == "crash":
            raise KeyError("no such answer")
        return {"exact_match": results[0] == doc["answer"]}
""",
}
SUITE = """\
models: {m: {path: ./model}}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - {task: "imported:out/scored.lock.json", k: 1, options: {trust_task_code: true, python: other/bin/python}}
"""


@pytest.fixture
def other(tmp_path: Path) -> ForeignPython:
    """Return a Python with the stand-in."""
    folder = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for name, text in STAND_IN.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text, encoding="utf-8")
    return ForeignPython(folder / "bin" / "python")


@pytest.mark.slow
def test_code_scores_in_the_sandbox_and_its_error_is_no_wrong_answer(
    definitions: Path, mirror: Path, tmp_path: Path, other: ForeignPython
) -> None:
    options = ImportOptions(tmp_path / "out", mirror, definitions, foreign=other)
    (record,) = import_tasks("scored", options).imported
    assert (record.level, record.door, record.rows) == ("3", 3, 6)
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    texts = ["2", " 4\n", "crash", "0", "10", "12"]
    line = {"task": "scored", "sample_index": 0}
    lines = [line | {"problem_id": str(n), "text": text} for n, text in enumerate(texts)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = run(
        RunOptions(
            suite=str(tmp_path / "suite.yaml"),
            run_dir=tmp_path / "run",
            responses=tmp_path / "r.jsonl",
            quiet=True,
        )
    )
    text = (found.folders["m"] / "scored" / "verdicts.jsonl").read_text(encoding="utf-8")
    verdicts = [json.loads(line) for line in text.splitlines()]
    statuses = {item["problem_id"]: (item["status"], item["score"]) for item in verdicts}
    assert [statuses[str(n)] for n in range(6)] == [
        ("correct", 1.0),
        ("correct", 1.0),
        ("verifier_error", None),
        ("wrong", 0.0),
        ("correct", 1.0),
        ("correct", 1.0),
    ]


def test_code_of_choices_and_of_all_samples_is_refused(definitions: Path) -> None:
    root = definitions / "code" / "more.yaml"
    root.write_text(
        "task: more\ndataset_path: org/sums\ntest_split: test\ndoc_to_text: question\ndoc_to_target: answer\n"
        "metric_list: [{metric: f1, aggregation: !function utils.mean}]\n",
        encoding="utf-8",
    )
    found = classify(read_tree(definitions).tasks["more"])
    python, source = ForeignPython(Path(sys.executable)), source_of(definitions)
    with pytest.raises(InputError, match=r"aggregation is !function utils\.mean"):
        convert(found, source, ImportOptions(Path(), foreign=python))
    choices = replace(found.definition, config=found.definition.config | {"output_type": "multiple_choice"})
    with pytest.raises(InputError, match="cannot be used"):
        convert(classify(choices), source, ImportOptions(Path(), foreign=python))
