"""Makes a task of Terminal-Bench's form whose tests fetch something, an image for it, and a kit.

    python make_terminal.py FOLDER [PROGRAM ...]

The folder gets tasks/, images.lock, layout/ with an image of programs of this machine, and kit/ with what the
tests fetch. harbor's agent terminus-2 works in tmux: name `tmux tput dirname` for it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import make_image

URL = "https://checks.example/1.0/check.sh"
TOML = """\
version = "1.0"
[verifier]
timeout_sec = 60
[agent]
timeout_sec = 60
[environment]
docker_image = "{image}"
"""
TEST = f"""\
#!/bin/bash
apt-get update
apt-get install -y curl
curl -LsSf {URL} -o /tmp/check.sh
bash /tmp/check.sh
if [ $? -eq 0 ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
"""
CHECK = """\
[ "$(cat /tmp/answer 2>/dev/null)" = 42 ]
"""


def write_task(
    folder: Path, image: str = "own/sum:1", *, test: str = TEST, solution: str = "echo 42"
) -> Path:
    """Write a task that asks for a number in a file."""
    (folder / "tests").mkdir(parents=True)
    (folder / "solution").mkdir()
    (folder / "environment").mkdir()
    (folder / "task.toml").write_text(TOML.format(image=image))
    (folder / "instruction.md").write_text("Write the sum of 40 and 2 into /tmp/answer.\n")
    (folder / "tests" / "test.sh").write_text(test)
    (folder / "solution" / "solve.sh").write_text(f"#!/bin/bash\n{solution} > /tmp/answer\n")
    return folder


def write_kit(folder: Path) -> Path:
    """Write what the tests fetch."""
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "check.sh").write_text(CHECK)
    (folder / "urls.txt").write_text(f"{URL} files/check.sh\n")
    return folder


def main() -> None:
    """Write the folder that the command line names."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    folder, programs = Path(sys.argv[1]), sys.argv[2:]
    write_task(folder / "tasks" / "sum")
    write_kit(folder / "kit")
    found = [path for path in ("/usr/lib/locale/C.utf8", "/lib/terminfo") if Path(path).is_dir()]
    layer = make_image.layer_of([*make_image.PROGRAMS, "ln", *programs], [(path, path) for path in found])
    config = {"Env": ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TERM=xterm"], "WorkingDir": "/tmp"}
    digest = make_image.write_layout(folder / "layout", "own/sum:1", [layer], config)
    (folder / "images.lock").write_text(json.dumps({"images": {"own/sum:1": digest}}))
    print(f"{folder}: one task, image {digest}")


if __name__ == "__main__":
    main()
