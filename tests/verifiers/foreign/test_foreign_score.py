"""Scores by the code of an imported task. A small package stands in the place of lm-eval."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.verifiers.foreign import lm_eval_scores
from genbench.verifiers.foreign.foreign_score import ForeignScoreVerifier, _share, code_digest

STAND_IN = {
    "datasets.py": "class Dataset:\n    from_list = staticmethod(list)\nclass DatasetDict(dict): pass\n",
    "lm_eval-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: lm_eval\nVersion: 0.0.1\n",
    "lm_eval/__init__.py": "",
    "lm_eval/tasks/__init__.py": "",
    "lm_eval/tasks/_yaml_loader.py": "def load_yaml(path, resolve_func): return {'path': path}\n",
    "lm_eval/models/__init__.py": "",
    "lm_eval/models/utils.py": "def postprocess_generated_text(text, until, _):\n"
    "    return text.split(until[0])[0]\n",
    "lm_eval/api/__init__.py": "",
    "lm_eval/api/instance.py": """
class Instance:
    def __init__(self, kind, doc, arguments, idx, metadata): self.doc, self.filtered_resps = doc, {}
""",
    "lm_eval/api/task.py": """
class ConfigurableTask:
    def __init__(self, config): print("a print of the task")
    def apply_filters(self):
        for item in self._instances:
            item.filtered_resps = {"strip": item.resps[0].strip()}
    def process_results(self, doc, results):
        return {"acc": float(results[0] == doc["a"]), "length": len(results[0]) // doc["n"]}
""",
}


def options(root: Path, **more: Any) -> dict[str, Any]:
    (root / "t.yaml").write_text("task: t\n", encoding="utf-8")
    (root / "utils.py").write_text("x = 1\n", encoding="utf-8")
    found = {"python": sys.executable, "root": str(root), "definition": "t.yaml", "folders": ["."]}
    return found | {"digest": code_digest(root, ["."]), "metrics": ["acc"], "trust_task_code": True} | more


def test_the_script_scores_an_answer_as_the_task_does(tmp_path: Path) -> None:
    for name, text in STAND_IN.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    order = {"text": " so \nQ: more", "until": ["Q:"], "metrics": ["acc"]}
    lines = [{"path": "t.yaml"}, order | {"doc": {"a": "so", "n": 1}}, order | {"doc": {"a": "so", "n": 0}}]
    found = subprocess.run(
        [sys.executable, "-P", lm_eval_scores.__file__],
        input="".join(json.dumps(line) + "\n" for line in lines),
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    version, good, bad = [json.loads(line) for line in found.stdout.splitlines()]
    assert version == {"version": "0.0.1"}
    assert good == {"scores": {"strip": {"acc": 1.0}}, "filtered": {"strip": "so"}}
    assert bad["failed"].startswith("ZeroDivisionError")


def test_code_runs_only_if_the_suite_trusts_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="trust_task_code: true"):
        ForeignScoreVerifier(**options(tmp_path, trust_task_code=False))


def test_code_that_was_changed_after_the_import_is_refused(tmp_path: Path) -> None:
    given = options(tmp_path)
    ForeignScoreVerifier(**given).close()
    (tmp_path / "utils.py").write_text("x = 2\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="missing or was changed"):
        ForeignScoreVerifier(**given)


def test_a_python_without_lm_eval_ends_the_load_with_its_words(tmp_path: Path) -> None:
    verifier = ForeignScoreVerifier(**options(tmp_path))
    with pytest.raises(DataError, match="has no lm-eval"):
        assert verifier.version


def test_references_have_the_row_and_metrics_are_shares(tmp_path: Path) -> None:
    verifier = ForeignScoreVerifier(**options(tmp_path))
    with pytest.raises(DataError, match="want"):
        verifier.check({"golds": ["x"]})
    assert _share("acc", True) == 1.0
    with pytest.raises(DataError, match="wanted a number from 0 to 1"):
        _share("bleu", 34.2)
