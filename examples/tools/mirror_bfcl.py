"""Make a mirror of BFCL's rows from a checkout of github.com/ShishirPatil/gorilla.

    python mirror_bfcl.py gorilla/berkeley-function-call-leaderboard/bfcl_eval/data MIRROR v3

Commit faa6bdc6 has the last rows of v3, commit 6ea57973 those of v4. The files of the repository are no
dataset that `datasets` can read: the accepted calls are in files of their own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

REPO = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file in JSON Lines, or none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines() if line] if path.is_file() else []


def mirror(data: Path, target: Path, release: str) -> int:
    """Write one file for each category, with the accepted calls in `ground_truth`, and count the rows."""
    count = 0
    for path in sorted(data.glob(f"BFCL_{release}_*.json")):
        if path.stem.endswith("_format_sensitivity"):
            continue  # no rows: the ids of 200 rows of other categories, as one object
        rows = read(path)
        accepted = {row["id"]: row["ground_truth"] for row in read(data / "possible_answer" / path.name)}
        own = path.stem.removeprefix(f"BFCL_{release}_")  # v4 calls three categories simple_python …
        category = "simple" if own == "simple_python" else own.removeprefix("simple_")
        place = target / REPO / category / f"{release}.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        joined = (
            row | ({"ground_truth": accepted[row["id"]]} if row["id"] in accepted else {}) for row in rows
        )
        place.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in joined), encoding="utf-8"
        )
        count += len(rows)
    copy_documents(data / "multi_turn_func_doc", target / REPO, release)
    return count


def copy_documents(source: Path, target: Path, release: str) -> None:
    """Write the functions of the multi-turn categories, one file for each simulated service."""
    folder = target / ("multi_turn_func_doc" if release == "v3" else f"multi_turn_func_doc_{release}")
    for path in sorted(source.glob("*.json")):
        folder.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in read(path))
        (folder / f"{path.stem}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    print(f"{mirror(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]):,} rows")
