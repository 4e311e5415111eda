"""The example that makes a mirror of BFCL's rows from the files of its repository."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "examples" / "tools" / "mirror_bfcl.py"


def test_the_mirror_joins_the_accepted_calls_and_names_categories_as_v3(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("mirror_bfcl", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = tmp_path / "data"
    (data / "possible_answer").mkdir(parents=True)
    for name in ("simple_python", "simple_java", "live_irrelevance"):
        (data / f"BFCL_v4_{name}.json").write_text(json.dumps({"id": f"{name}_0"}) + "\n")
    truth = {"id": "simple_python_0", "ground_truth": [{"f": {}}]}
    (data / "possible_answer" / "BFCL_v4_simple_python.json").write_text(json.dumps(truth) + "\n")
    (data / "BFCL_v4_format_sensitivity.json").write_text('{\n    "simple_python": ["simple_python_0"]\n}')
    assert module.mirror(data, tmp_path / "mirror", "v4") == 3
    found = {
        path.parent.name: json.loads(path.read_text()) for path in (tmp_path / "mirror").rglob("v4.jsonl")
    }
    assert found == {
        "simple": {"id": "simple_python_0", "ground_truth": [{"f": {}}]},
        "java": {"id": "simple_java_0"},
        "live_irrelevance": {"id": "live_irrelevance_0"},
    }
