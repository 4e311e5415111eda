"""Whether recorded logs mean what swebench's run_evaluation says of them. It needs swebench 5, and no Docker.

    python benchmarks/agents/swebench_logs.py --swebench envs/swebench --folder logs

The logs are those of tests/agents/images/swebench_logs.jsonl. run_evaluation writes its reports again from
logs that are there, with a client of Docker that does nothing. Its `resolved` of each is compared with a
score of 1 here. The exit status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from genbench.agents.images.swe import Evaluated, Grader, outcome_of  # noqa: E402  found through the line above
from tests.agents.images.test_swebench_logs import LOGS, PATCH, row_of  # noqa: E402

_RUN = """
from unittest.mock import MagicMock
import docker
docker.from_env = MagicMock()  # nothing is asked of it: the logs are there, and are only read again
from swebench.harness.run_evaluation import main
main(dataset_name="rows.json", split="test", instance_ids=[], predictions_path="predictions.json",
    max_workers=1, open_file_limit=1024, run_id="logs", timeout=1800, rewrite_reports=True, modal=False)
"""
_LATE = "\n\nTimeout error: 1800 seconds exceeded."
"""What run_evaluation writes at the end of a log whose tests took too long."""


def resolved(folder: Path, swebench: Path, rows: dict[str, dict[str, Any]]) -> dict[str, bool]:
    """Return what run_evaluation says of each log, by the name of its row."""
    folder.mkdir(parents=True)
    for name, log in zip(rows, LOGS, strict=True):
        place = folder / "logs" / "run_evaluation" / "logs" / "genbench" / name
        place.mkdir(parents=True)
        (place / "test_output.txt").write_text(log["log"] + _LATE * log["timed_out"], encoding="utf-8")
    predictions = [
        {"instance_id": name, "model_name_or_path": "genbench", "model_patch": PATCH} for name in rows
    ]
    (folder / "rows.json").write_text(json.dumps(list(rows.values())), encoding="utf-8")
    (folder / "predictions.json").write_text(json.dumps(predictions), encoding="utf-8")
    subprocess.run([str(swebench / "bin" / "python"), "-c", _RUN], cwd=folder, check=True)
    found = {}
    for path in folder.glob("logs/run_evaluation/logs/genbench/*/report.json"):
        found[path.parent.name] = bool(json.loads(path.read_text())[path.parent.name]["resolved"])
    return found


def main() -> int:
    """Compare, print what differs and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--swebench", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="it must not exist")
    given = parser.parse_args()
    swebench: Path = given.swebench.absolute()
    rows = {f"own__calc-{number}": row_of(log) for number, log in enumerate(LOGS)}
    rows = {name: {**row, "instance_id": name} for name, row in rows.items()}
    theirs = resolved(given.folder.absolute(), swebench, rows)
    grader, bad = Grader(swebench), 0
    for (name, row), log in zip(rows.items(), LOGS, strict=True):
        evaluated = Evaluated(log["log"], 10.0, log["timed_out"])
        found = outcome_of(PATCH, evaluated, grader.report(row, PATCH, log["log"]), proof_s=10)
        differs = (found.score == 1) != theirs[name]
        bad += differs
        print(f"{log['name']}: {theirs[name]}, {found.status or found.score}{' DIFFERS' * differs}")
    grader.close()
    print(f"swebench {grader.version}: {len(LOGS) - bad} of {len(LOGS)} are equal")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
