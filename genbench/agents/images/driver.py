"""Reads logs of SWE-bench tasks. This file is run by the Python that swebench 5 is installed in.

An order is a line of JSON: a `row`, and with `patch` and `log` what happened to it. The reply has the script
that runs the tests, or swebench's own report.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer orders until the input ends."""
    from swebench.harness.grading import get_eval_report  # noqa: PLC0415
    from swebench.harness.utils import make_test_spec  # noqa: PLC0415

    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        try:
            spec = make_test_spec(order["row"])
            said: dict[str, Any] = {"script": spec.eval_script}
            if "log" in order:
                said = {"report": _report(get_eval_report, spec, order)}
        except Exception as error:
            said = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


def _report(grade: Any, spec: Any, order: dict[str, Any]) -> dict[str, Any]:
    name = order["row"]["instance_id"]
    prediction = {"instance_id": name, "model_name_or_path": "genbench", "model_patch": order["patch"]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_text(order["log"], encoding="utf-8", errors="replace")
        found: dict[str, Any] = grade(spec, prediction, str(path), True)[name]
    found.pop("tests_status", None)
    return found


if __name__ == "__main__":
    main()
