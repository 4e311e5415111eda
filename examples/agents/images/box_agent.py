"""A small agent: the model says commands, they run in the box, and the diff of a repository is the result."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import genbench_box

ASK = "Reply with one line of bash. Say DONE if the problem is solved."


def reply(messages: list[dict[str, str]]) -> str:
    """Return what the model says."""
    body = json.dumps({"model": os.environ["GENBENCH_MODEL"], "messages": messages}).encode()
    headers = {"Authorization": f"Bearer {os.environ['GENBENCH_KEY']}", "Content-Type": "application/json"}
    url = f"{os.environ['GENBENCH_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found["choices"][0]["message"]["content"] or ""


def main() -> None:
    """Let the model work for some turns, and write the patch."""
    problem = json.loads(Path(os.environ["GENBENCH_PROBLEM"]).read_text(encoding="utf-8"))
    box = genbench_box.Box()
    place = "/testbed" if "instance_id" in problem else None  # a row of SWE-bench, or a task of harbor's form
    messages = [{"role": "user", "content": f"{problem['instruction']}\n\n{ASK}"}]
    for _ in range(problem["limits"]["turns"]):
        said = reply(messages)
        if "DONE" in said:
            break
        done = box.exec(["bash", "-c", said], cwd=place, timeout_s=60, merged=True)
        shown = done.output.decode("utf-8", "replace")[-2000:]
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"{done.exit}\n{shown}"},
        ]
    result: dict[str, Any] = {"score": 0, "detail": {"turns": len(messages) // 2}}
    if place is not None:
        result["patch"] = box.exec(["git", "diff"], cwd=place).output.decode("utf-8", "replace")
    (Path(os.environ["GENBENCH_OUT"]) / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
