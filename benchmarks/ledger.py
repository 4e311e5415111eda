"""A ledger of ten years: 3,650 nights of 300 tasks, on SQLite and on PostgreSQL.

Measures the size of the database, Monday's record (what `genbench trend` says about the newest 60 nights of
all tasks), one series with and without the scores of every problem, and the adding of one night. With --part
folders it writes real run folders, deletes the database, makes it again, and kills a process that adds: the
rows must be equal.

    python benchmarks/ledger.py --nights 3650 --tasks 300 --where sqlite
    python benchmarks/ledger.py --nights 3650 --tasks 300 --where postgres
    python benchmarks/ledger.py --part folders --nights 200
    python benchmarks/ledger.py --part check

Filling takes minutes. With --folder the database stays there, and it can be read later, on a quiet machine:

    python benchmarks/ledger.py --where sqlite --folder DIR --part fill
    python benchmarks/ledger.py --where sqlite --folder DIR --part read
    python benchmarks/ledger.py --where sqlite --folder DIR --part search
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, insert, literal, select, text

from genbench.analysis.results.run_state import require_results
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import recent, task_series, track_history
from genbench.nights.ledger.ingest import add, ingest, rebuild
from genbench.nights.ledger.run_facts import RunFacts, TaskFacts, check_results, read_facts, read_manifest
from genbench.nights.ledger.vectors import Vector
from genbench.nights.trend.compose import trend
from genbench.nights.trend.detect import detect_changes, mark_searched
from genbench.store.folder import RunFolder
from genbench.store.manifest import AboutRecord, TrackRecord
from genbench.store.sums import read_sums

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.postgres import postgres_server
from tests.nights.ledger.synthetic import flat, make_run

PROBLEMS = (30, 60, 100, 198, 250)
"""Sizes of tasks, in turn."""
FLOATS = ("value", "ci_low", "ci_high", "difference", "difference_low", "difference_high", "tokens", "cost")
"""Columns whose numbers differ from night to night."""
ASKED = 20
"""Repetitions of each reading."""


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nights", type=int, default=3650)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--added", type=int, default=40, help="nights that are added as runs are")
    parser.add_argument("--where", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument(
        "--part", choices=("scale", "fill", "read", "search", "folders", "check"), default="scale"
    )
    parser.add_argument("--folder", type=Path, help="where the database stays, with --part fill and read")
    options = parser.parse_args()
    if (options.part in ("fill", "read", "search")) != (options.folder is not None):
        parser.error("--folder goes with --part fill, --part read and --part search")
    print(
        f"{platform.node()}: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, python "
        f"{platform.python_version()}, sqlalchemy {version('sqlalchemy')}, {time.strftime('%Y-%m-%d')}"
    )
    with tempfile.TemporaryDirectory() as folder:
        place: Path = (options.folder or Path(folder)).resolve()
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
        with opened(options.where, place, keep=options.folder is not None) as ledger:
            if options.part == "check":
                check(place)
            if options.part == "folders":
                folders(ledger, place, options.nights)
            if options.part in ("scale", "fill"):
                fill(ledger, place, options.nights, options.tasks, options.added)
            if options.part in ("scale", "read"):
                read(ledger)
            if options.part == "search":
                search(ledger)


@contextmanager
def opened(where: str, place: Path, *, keep: bool) -> Iterator[Ledger]:
    """Open a ledger, a new one unless it is kept in `place`. PostgreSQL runs in a folder of its own."""
    if where == "sqlite":
        with open_ledger(place / "ledger.sqlite3") as ledger:
            yield ledger
        return
    with postgres_server(place if keep else None) as url, open_ledger(url, place / "notes.jsonl") as ledger:
        yield ledger


def fill(ledger: Ledger, place: Path, nights: int, tasks: int, added: int) -> None:
    """Fill a ledger with synthetic nights, and print its size.

    The first nights are added as runs are. Their rows are then written again for later nights, with other
    numbers, because adding 3,650 nights by the day would take an hour.
    """
    rng = np.random.default_rng(0)
    abilities = [rng.beta(2, 2, PROBLEMS[number % len(PROBLEMS)]) for number in range(tasks)]
    times: list[float] = []
    for night in range(min(added, nights)):
        facts = synthetic_facts(night, abilities, rng)
        asked = time.perf_counter()
        with ledger.write() as connection:
            ingest(ledger, connection, facts)
        times.append(1000 * (time.perf_counter() - asked))
    print(
        f"adding a night of {tasks} tasks: median {np.median(times):.0f} ms, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    copy_nights(ledger, nights, rng)
    with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    print(f"size: {size_of(ledger, place) / 1e9:.3f} GB of {nights:,} nights x {tasks} tasks", flush=True)


def read(ledger: Ledger) -> None:
    """Measure reading, of a track in which changes were looked for last night."""
    mark_searched(ledger, track_history(ledger, "nightly", tasks=()), {})
    report("Monday's record (60 nights, all tasks)", lambda: trend(ledger, "nightly"))
    report("the same of 30 nights, as on the service's page", lambda: trend(ledger, "nightly", points=30))
    report("the scores alone (60 nights, all tasks)", lambda: recent(ledger, "nightly", 60))
    report(
        "a series of all nights, scores of every problem",
        lambda: track_history(ledger, "nightly", tasks=["task3"]),
    )
    report("a series of all nights", lambda: task_series(ledger, "nightly", "task3"))


def search(ledger: Ledger) -> None:
    """Measure the first search for changes, as after `ledger rebuild`: all nights of all tasks."""
    with ledger.write() as connection:
        connection.execute(delete(tables.meta).where(tables.meta.c.key.like("looked %")))
    began, cpu = time.perf_counter(), time.process_time()
    detect_changes(ledger, "nightly")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"the first search of all nights: {time.perf_counter() - began:.0f} s, own CPU "
        f"{time.process_time() - cpu:.0f} s, memory at most {peak:.0f} MiB, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def copy_nights(ledger: Ledger, nights: int, rng: np.random.Generator) -> None:
    """Write the rows of later nights from those of the first ones."""
    began = time.perf_counter()
    with ledger.read() as connection:
        rows = connection.execute(select(tables.run).order_by(tables.run.c.id))
        runs = [dict(row._mapping) for row in rows]
    for start in range(len(runs), nights, 50):
        with ledger.write() as connection:
            for night in range(start, min(start + 50, nights)):
                source = runs[1 + night % (len(runs) - 1)]
                copy_night(connection, source, night, float(rng.normal(0, 0.01)))
        if start % 500 < 50:
            print(f"  {start:,} of {nights:,} nights, {time.perf_counter() - began:,.0f} s", flush=True)


def copy_night(connection: Connection, source: dict[str, Any], night: int, move: float) -> None:
    """Write the rows of one night from those of another. Its scores are moved."""
    number, position = night + 1, 16_000 + night
    uid = f"{night:08x}-0000-4000-8000-000000000000"
    own = {"id": number, "position": position, "uid": uid, "source_digest": f"{night:064x}"}
    connection.execute(insert(tables.run).values(**(source | own)))
    place = {"path": f"/runs/nightly/{night}", "run_id": number, "host": "h", "present": True}
    connection.execute(insert(tables.location).values(**place))
    score = tables.score
    replaced = {"position": literal(position), "run_id": literal(number)}
    moved = {name: score.c[name] + move for name in FLOATS}
    columns = [(replaced | moved).get(column.name, column).label(column.name) for column in score.c]
    chosen = select(*columns).where(score.c.run_id == source["id"])
    connection.execute(insert(score).from_select([column.name for column in score.c], chosen))


def report(what: str, read: Callable[[], object]) -> None:
    """Print the median and the 95 % quantile of the time of a reading, warm."""
    read()
    times = []
    for _ in range(ASKED):
        began = time.perf_counter()
        read()
        times.append(1000 * (time.perf_counter() - began))
    cpu = time.process_time()
    read()
    cpu = 1000 * (time.process_time() - cpu)
    print(
        f"{what}: median {np.median(times):.0f} ms, 95 % {np.quantile(times, 0.95):.0f} ms, fastest "
        f"{min(times):.0f} ms, own CPU {cpu:.0f} ms (n = {ASKED}, load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def size_of(ledger: Ledger, place: Path) -> int:
    """Return the bytes of the database."""
    if ledger.engine.dialect.name == "postgresql":
        with ledger.read() as connection:
            return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar() or 0)
    return sum(file.stat().st_size for file in place.glob("ledger.sqlite3*"))


def synthetic_facts(night: int, abilities: list[np.ndarray], rng: np.random.Generator) -> RunFacts:
    """Return the facts of one night."""
    k = 4
    tasks = {}
    for number, ability in enumerate(abilities):
        sums = rng.binomial(k, ability).astype(np.float64)
        n, value = len(ability), float(sums.sum() / (k * len(ability)))
        tasks[f"task{number}"] = TaskFacts(
            key={"task": number, "terms": "equal"},
            problem_ids=tuple(f"p{row}" for row in range(n)),
            groups=None,
            vector=Vector(sums, np.full(n, k)),
            k=k,
            gating=number < 5,
            value=value,
            ci=(value - 0.03, value + 0.03),
            rerun_ci=(value - 0.01, value + 0.01),
            excluded=0,
            truncated=float(rng.random()),
            loops=float(rng.random()),
            empty=0.0,
            measures=None,
            tokens=float(rng.random() * 8000),
            cost=float(rng.random()),
            chance=None,
        )
    return RunFacts(
        about=AboutRecord(),
        path=f"/runs/nightly/{night}",
        uid=f"{night:08x}-0000-4000-8000-000000000000",
        run_id="run",
        track=TrackRecord(name="nightly", kind="night", position=16_000 + night),
        model="tuned",
        identity=f"identity {night}",
        suite="nightly",
        suite_digest="d" * 64,
        run_seed=0,
        terms_digest="t" * 64,
        circumstances_digest="c" * 64,
        packages={"vllm": "0.32.0", "genbench": "0.2.0"},
        state="finished",
        failed=(),
        created=f"night {night:05}",
        seconds=3600.0,
        tokens=10**8,
        cost=12.5,
        currency="USD",
        version="0.2.0",
        git="a" * 40,
        sealed_lines=1000,
        seal_digest="s" * 64,
        source_digest=f"{night:064x}",
        alarms_per_year=1.0,
        tasks=tasks,
    )


def check(place: Path) -> None:
    """Measure what it takes to read a run of 20 tasks, and to compute its results again from the sums."""
    rng = np.random.default_rng(0)
    sizes = [(30, 16), (198, 8), (500, 4), (541, 1), (164, 8), (1319, 1), (12032, 1), (500, 4), (30, 64)]
    sizes = [*sizes, (1140, 2)] * 2
    draws = {f"task{at}": rng.random((n, k)) for at, (n, k) in enumerate(sizes)}
    for name, digits in (("right or wrong", 0), ("fractions", 2)):
        run = make_run(place / name[:5], {task: own.round(digits).tolist() for task, own in draws.items()})
        whole, part = [], []
        for _ in range(ASKED):
            began = time.process_time()
            read_facts(run)
            whole.append(1000 * (time.process_time() - began))
        manifest, results = read_manifest(run), require_results(RunFolder(run))
        sums = read_sums(run, results.sums or "")
        for _ in range(ASKED):
            began = time.process_time()
            check_results(run, manifest, results, sums)
            part.append(1000 * (time.process_time() - began))
        print(
            f"{name}, {len(sizes)} tasks, {sum(n for n, _ in sizes):,} problems: read and checked in "
            f"{np.median(whole):.0f} ms of CPU, {np.median(part):.0f} ms of it to compute the results again, "
            f"load {os.getloadavg()[0]:.1f}"
        )


def folders(ledger: Ledger, place: Path, nights: int) -> None:
    """Add real folders, delete the database, make it again; then kill a process in the middle of adding."""
    began = time.perf_counter()
    runs = place / "runs"
    for night in range(nights):
        scores = {name: flat(50, 2, 0.5, 10 * night + number) for number, name in enumerate("abc")}
        role, model = ("anchor", "base") if night == 0 else ("point", "tuned")
        make_run(runs / f"n{night}", scores, position=20_000 + night, role=role, model=model)
    print(f"{nights} run folders written in {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    add(ledger, [runs])
    print(f"added in {time.perf_counter() - began:.1f} s")
    wanted = all_rows(ledger)
    began = time.perf_counter()
    rebuild(ledger)
    print(f"made again in {time.perf_counter() - began:.1f} s: rows equal {all_rows(ledger) == wanted}")
    target, notes = place / "killed.sqlite3", ledger.notes.path
    for number in range(3):
        for old in place.glob("killed.sqlite3*"):
            old.unlink()
        shutil.copy(notes, place / "killed.notes.jsonl")
        command = [sys.executable, "-m", "genbench", "ledger", "rebuild", "--ledger", str(target)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and added_so_far(target) < (number + 1) * nights // 5:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = added_so_far(target)
        with open_ledger(target) as killed:
            rebuild(killed)
            equal = all_rows(killed) == wanted
        print(f"killed with {before} of {nights} runs added; made again: rows equal {equal}", flush=True)


def added_so_far(path: Path) -> int:
    """Return the number of runs in a SQLite ledger that another process fills."""
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute("SELECT count(*) FROM run").fetchone()[0])
    except sqlite3.OperationalError:  # no tables yet
        return 0


if __name__ == "__main__":
    main()
