"""Makes a task of the form of SWE-bench, as small as one can be: a wrong sum in a repository, and an image.

    python make_task.py FOLDER

The folder gets rows.jsonl, images.lock, and layout/ with an image of programs of this machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_image

CALC = '"""Sums."""\n\n\ndef add(a, b):\n    """Return the sum."""\n    return a - b\n'
GOOD = CALC.replace("a - b", "a + b")
TESTS = """\
import sys
sys.path.insert(0, "/testbed")
failed = False
for name in ("test_add", "test_zero"):
    try:
        import calc
        wanted = calc.add(1, 1) == 2 if name == "test_add" else calc.add(0, 0) == 0
    except Exception:
        wanted = False
    print("PASSED" if wanted else "FAILED", f"tests/test_calc.py::{name}")
    failed |= not wanted
sys.exit(failed)
"""
SCRIPT = f"""\
#!/bin/bash
set -uxo pipefail
cd /testbed
git status
cat > /tmp/run_tests.py <<'EOF'
{TESTS}EOF
: '>>>>> Start Test Output'
python3 /tmp/run_tests.py
: '>>>>> End Test Output'
git checkout HEAD -- .
"""


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    place = folder / "testbed"
    place.mkdir()
    (place / "calc.py").write_text(CALC)
    git = ["git", "-C", str(place), "-c", "user.name=n", "-c", "user.email=n@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A sum"]):
        subprocess.run([*git, *words], check=True)
    return place


def patch(text: str = GOOD, name: str = "calc.py") -> str:
    """The patch that replaces a file of the repository, or adds one."""
    before = CALC if name == "calc.py" else ""
    old, new = before.splitlines(keepends=True), text.splitlines(keepends=True)
    head = f"diff --git a/{name} b/{name}\n"
    head += f"--- a/{name}\n" if before else "new file mode 100644\n--- /dev/null\n"
    start = 1 if before else 0
    lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return head + f"+++ b/{name}\n@@ -{start},{len(old)} +1,{len(new)} @@\n" + "".join(lines)


def row(name: str = "own__calc-1", image: str = "test:1", **more: Any) -> dict[str, Any]:
    """A row as swebench 5 has them."""
    return {
        "instance_id": name,
        "repo": "own/calc",
        "version": "1",
        "image": image,
        "problem_statement": "add(1, 1) is 0. It should be 2.",
        "patch": patch(),
        "test_patch": "",
        "eval_script": SCRIPT,
        "log_parser": "parse_log_pytest",
        "eval_type": "pass_and_fail",
        "FAIL_TO_PASS": '["tests/test_calc.py::test_add"]',
        "PASS_TO_PASS": '["tests/test_calc.py::test_zero"]',
        **more,
    }


def main() -> None:
    """Write the folder that the command line names."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    library = next(Path("/usr/lib").glob("python3.[0-9]*"))
    parts = [
        *library.glob("*.py"),
        *(library / name for name in ("encodings", "collections", "importlib", "re")),
    ]
    added = [(str(part), str(part)) for part in parts]
    layers = [
        make_image.layer_of([*make_image.PROGRAMS, "git", "/usr/bin/python3"], added),
        make_image.layer_of([], [(str(repository(folder)), "/testbed")]),
    ]
    config = {"Env": ["PATH=/usr/bin:/bin"], "WorkingDir": "/testbed"}
    digest = make_image.write_layout(folder / "layout", "own/calc:1", layers, config)
    (folder / "images.lock").write_text(json.dumps({"images": {"own/calc:1": digest}}))
    (folder / "rows.jsonl").write_text(json.dumps(row(image="own/calc:1")) + "\n")
    print(f"{folder}: one task, image {digest}")


if __name__ == "__main__":
    main()
