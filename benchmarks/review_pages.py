"""Time of the page of one item of a review, next to a run of many samples.

python benchmarks/review_pages.py [--samples 100000]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from genbench import pipeline
from genbench.nights.ledger.database import open_ledger
from genbench.pipeline import RunOptions
from genbench.review.draft import PlanOptions
from genbench.review.plan import plan_review
from genbench.review.reviews import ReviewFolder
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from genbench.team.service.tokens import add_token

SUITE = """\
models:
  m: {path: ./model}
tasks:
  - name: texts
    kind: none
    data: {path: rows.jsonl, fields: {id: id, question: problem}}
    k: 4
"""
HOME = "http://127.0.0.1:8321"


def made(place: Path, samples: int) -> Path:
    """Return the folder of a run with so many samples of 2,000 characters."""
    (place / "suite.yaml").write_text(SUITE)
    with (place / "rows.jsonl").open("w") as rows, (place / "responses.jsonl").open("w") as responses:
        for number in range(samples // 4):
            rows.write(json.dumps({"id": f"p{number}", "problem": f"Question {number}?"}) + "\n")
            for index in range(4):
                line = {"task": "texts", "problem_id": f"p{number}", "sample_index": index}
                responses.write(json.dumps({**line, "text": f"{number} {index} " + "word " * 400}) + "\n")
    options = RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / "runs" / "n",
        responses=place / "responses.jsonl",
        quiet=True,
    )
    return pipeline._run(options, page=False).folders["m"]


def main() -> None:
    """Print the times of the first item, of further items and of votes, in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run = made(place, asked.samples)
        folder = place / "runs" / "n" / "reviews" / "texts"
        plan_review([run], "texts", PlanOptions(n=200), output=folder)
        plan = ReviewFolder.open(folder).plan
        with open_ledger(place / "l.sqlite3") as ledger, open_queue(place / "l.sqlite3") as queue:
            own = Service(ledger=ledger, queue=queue, runs=place / "runs", most_per_second=100_000)
            with TestClient(make_app(own), base_url=HOME) as client:
                client.headers["Authorization"] = f"Bearer {add_token(queue, 'kim', 'reviewer', 1)}"
                times = []
                for item in plan.items:
                    begun = time.perf_counter()
                    answer = client.get(f"/review/{plan.plan}/items/{item.item}")
                    times.append(1000 * (time.perf_counter() - begun))
                    assert answer.status_code == 200
    later = sorted(times[1:])
    print(f"{asked.samples:,} samples: first item {times[0]:,.0f} ms")
    print(f"further items: median {statistics.median(later):.1f} ms, 99th percentile {later[-2]:.1f} ms")


if __name__ == "__main__":
    main()
