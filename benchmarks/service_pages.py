"""The pages of `genbench serve` over a ledger of ten years: time of each, memory, and fifty readers at once.

    python benchmarks/ledger.py --where sqlite --folder DIR --part fill     # ten years, in minutes
    python benchmarks/service_pages.py DIR

Starts the server as users do. Each page is asked for 50 times, warm, by one client on the same machine, so
that the times contain the client and the loopback device. `/runs` has the scores of five tasks as columns.
Then 50 clients read all pages for a minute. The memory is that of the server's process. Exits with 1 if a
goal is missed: 95 % of Monday's page, of a track and of the list of runs below 200 ms, of a series below
100 ms, of a run below 50 ms, memory below 500 MB, and no error.
"""

from __future__ import annotations

import argparse
import os
import platform
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import httpx
import numpy as np
import psutil
from sqlalchemy import select, update

from genbench.nights.ledger import tables
from genbench.nights.ledger.database import open_ledger
from genbench.team.queue.database import open_queue
from genbench.team.service.tokens import add_token

ASKED = 50
REPORT_BYTES = 3 << 20
"""The size of the report that is served, about that of a night with 300 tasks."""
GOALS_MS = {"Monday": 200.0, "track": 200.0, "runs": 200.0, "series": 100.0, "run": 50.0}
GOAL_MB = 500.0


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder with ledger.sqlite3")
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    place: Path = options.folder.resolve()
    pages = prepared(place)
    with open_queue(place / "ledger.sqlite3") as queue:
        tokens = [add_token(queue, uuid.uuid4().hex, "read", 1) for _ in range(options.readers)]
    print(
        f"{platform.node()}: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, python "
        f"{platform.python_version()}, fastapi {version('fastapi')}, {time.strftime('%Y-%m-%d')}",
        flush=True,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "genbench", "serve", f"--port={port}"]
    server = subprocess.Popen([*command, f"--ledger={place / 'ledger.sqlite3'}", f"--runs={place / 'runs'}"])
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url)
        missed = [name for name, path in pages.items() if not page(url, name, path, server.pid, tokens[0])]
        missed += readers(url, list(pages.values()), tokens, options.seconds)
        memory = psutil.Process(server.pid).memory_info().rss / 1e6
        print(f"memory of the server: {memory:.0f} MB (goal {GOAL_MB:g})", flush=True)
    finally:
        server.terminate()
        server.wait(30)
    missed += ["memory"] * (memory >= GOAL_MB)
    print(f"missed: {', '.join(missed)}" if missed else "all goals are met")
    return 1 if missed else 0


def prepared(place: Path) -> dict[str, str]:
    """Give the newest run a folder with a report. Return the pages that are read."""
    run, location = tables.run, tables.location
    folder = place / "runs" / "newest"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text("{}")
    (folder / "report.html").write_bytes(b"<!doctype html>" + b"x" * REPORT_BYTES)
    with open_ledger(place / "ledger.sqlite3") as ledger, ledger.write() as connection:
        newest = connection.execute(select(run).order_by(run.c.position.desc())).first()
        assert newest is not None, "fill the ledger first"
        mine = location.c.run_id == newest.id
        connection.execute(update(location).where(mine).values(path=str(folder), present=True))
        connection.execute(update(run).where(run.c.id == newest.id).values(kept="none"))
    columns = "&".join(f"column=task:task{number}" for number in range(5))
    return {
        "Monday": "/",
        "track": "/tracks/nightly",
        "runs": f"/runs?{columns}&column=tags&column=tokens",
        "series": "/tracks/nightly/series/task3",
        "run": f"/runs/{newest.uid}",
    }


def wait_for(url: str) -> None:
    """Wait until the server answers."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            httpx.get(f"{url}/api/v1/health")
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def page(url: str, name: str, path: str, pid: int, token: str) -> bool:
    """Measure one page, and return whether it meets its goal."""
    server, times = psutil.Process(pid), []
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        assert client.get(path).status_code == 200, path
        before = server.cpu_times()
        for _ in range(ASKED):
            began = time.perf_counter()
            answer = client.get(path)
            times.append(1000 * (time.perf_counter() - began))
        after = server.cpu_times()
    own = 1000 * (after.user + after.system - before.user - before.system) / ASKED
    p95 = float(np.quantile(times, 0.95))
    size, load = len(answer.content) / 1e3, os.getloadavg()[0]
    print(
        f"{name}: median {np.median(times):.0f} ms, 95 % {p95:.0f} ms (goal {GOALS_MS[name]:g}), server's "
        f"CPU {own:.0f} ms, {size:.0f} kB (n = {ASKED}, load {load:.1f})",
        flush=True,
    )
    return p95 < GOALS_MS[name]


def readers(url: str, paths: list[str], tokens: list[str], seconds: float) -> list[str]:
    """Let many clients read at the same time. Return what was missed."""
    statuses: Counter[str] = Counter()
    lock, until = threading.Lock(), time.monotonic() + seconds

    def read(number: int) -> None:
        headers = {"Authorization": f"Bearer {tokens[number]}"}
        with httpx.Client(base_url=url, timeout=60, headers=headers) as client:
            turn = number
            while time.monotonic() < until:
                try:
                    status = str(client.get(paths[turn % len(paths)]).status_code)
                except httpx.HTTPError as error:
                    status = type(error).__name__
                turn += 1
                with lock:
                    statuses[status] += 1

    threads = [threading.Thread(target=read, args=(number,)) for number in range(len(tokens))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(tokens)} readers for {seconds:g} s: {dict(statuses)}", flush=True)
    return [] if set(statuses) == {"200"} else ["readers"]


if __name__ == "__main__":
    raise SystemExit(main())
