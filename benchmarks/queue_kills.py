"""The queue under kills: each job is done once, whatever dies and whatever the clock says.

Four workers do 200 jobs, half of them submitted through a service. Workers, children and the service are
killed with SIGKILL, 30 times by a seed, and the workers' clock is set back an hour in the middle. Then every
job must have ended once, with each sample stored once. Jobs are a small program that writes samples as
`genbench run` does, so that 200 of them take minutes.

    python benchmarks/queue_kills.py                       # SQLite and PostgreSQL
    python benchmarks/queue_kills.py --jobs 20 --kills 6 --database sqlite
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from tests.nights.ledger.postgres import postgres_server
from tests.team.queue.killing import kill_at_random


def main() -> None:
    """Run the kills, print what was found, and exit with 1 if a job was lost or done twice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--limit", type=float, default=1800, help="seconds for each database")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    options = parser.parse_args()
    failed = False
    for kind in ("sqlite", "postgres") if options.database == "both" else (options.database,):
        with tempfile.TemporaryDirectory(prefix="genbench-kills-") as folder:
            place = Path(folder)
            server = postgres_server() if kind == "postgres" else nullcontext(str(place / "l.sqlite3"))
            print(f"{kind}: {options.jobs} jobs, {options.kills} kills, seed {options.seed} …", flush=True)
            with server as ledger:
                done = kill_at_random(
                    place,
                    ledger,
                    jobs=options.jobs,
                    kills=options.kills,
                    seed=options.seed,
                    limit_s=options.limit,
                    served=options.jobs // 2,
                )
        faults = done.faults(options.jobs)
        failed = failed or bool(faults)
        killed = ", ".join(f"{count} {what}" for what, count in sorted(done.kills.items()))
        print(f"  killed: {killed}; {done.starts} starts, {done.seconds:.0f} s; {faults or 'each job once'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
