"""Samples of a small task for tests of the queue and of engines."""

from __future__ import annotations

import json
from pathlib import Path

from genbench.draw.draw_queue import Draw
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task

SUITE = """\
models: {{m: {{path: nowhere}}}}
tasks:
  - name: t
    kind: math
    k: {k}
    data: {{path: rows.jsonl, fields: {{id: id, question: question, reference: r}}}}
"""


def sample_draws(folder: Path, k: int) -> list[Draw]:
    """Return k samples of each of ten problems, q0 to q9. The suite is written into the folder."""
    (folder / "suite.yaml").write_text(SUITE.format(k=k))
    rows = [{"id": f"q{i}", "question": f"{i}?", "r": "1"} for i in range(10)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = read_suite(folder / "suite.yaml")
    task = load_task(suite, suite.config.tasks[0], None, None)
    return [Draw(task, problem, index) for problem in task.problems for index in range(k)]
