"""A harness of its own for tasks in a terminal: it asks the model once, and does what its settings say."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path

import genbench_box

PROBLEM = json.loads(Path(os.environ["GENBENCH_PROBLEM"]).read_text())
body = {"model": "any", "messages": [{"role": "user", "content": PROBLEM["instruction"]}]}
request = urllib.request.Request(
    f"{os.environ['GENBENCH_BASE_URL']}/chat/completions",
    json.dumps(body).encode(),
    {"Authorization": f"Bearer {os.environ['GENBENCH_KEY']}", "Content-Type": "application/json"},
)
urllib.request.urlopen(request).read()
do = PROBLEM["settings"].get("do", {}).get(PROBLEM["id"], "true")
done = genbench_box.Box().exec(["bash", "-c", do])
assert done.exit == 0, done.error
result = {"score": 0.5, "detail": {"seen": done.output.decode()}}
(Path(os.environ["GENBENCH_OUT"]) / "result.json").write_text(json.dumps(result))
