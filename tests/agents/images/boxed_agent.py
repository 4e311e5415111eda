"""A harness of its own in the box of an image: it asks the model once, and does what its row says."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path

import genbench_box

PROBLEM = json.loads(Path(os.environ["GENBENCH_PROBLEM"]).read_text())
OUT = Path(os.environ["GENBENCH_OUT"])
body = {"model": "any", "messages": [{"role": "user", "content": PROBLEM["instruction"]}]}
request = urllib.request.Request(
    f"{os.environ['GENBENCH_BASE_URL']}/chat/completions",
    json.dumps(body).encode(),
    {"Authorization": f"Bearer {os.environ['GENBENCH_KEY']}", "Content-Type": "application/json"},
)
said = json.loads(urllib.request.urlopen(request).read())["choices"][0]["message"]["content"]
box = genbench_box.Box()
do = PROBLEM.get("do") or ""
if do == "gone":
    box.kill()
elif do:
    assert box.exec(["bash", "-c", do], cwd="/testbed").exit == (PROBLEM.get("exit") or 0)
patch = PROBLEM.get("submit") or ""
if not patch and do != "gone":
    patch = box.exec(["git", "diff"], cwd="/testbed").output.decode()
hidden = [name for name in PROBLEM if name in ("patch", "eval_script", "FAIL_TO_PASS", "test_patch")]
record = {"score": 0.0, "patch": patch, "detail": {"said": said, "hidden": hidden}}
(OUT / "result.json").write_text(json.dumps(record))
sys.exit(0)
