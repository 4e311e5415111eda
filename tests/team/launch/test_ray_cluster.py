"""A run in shards on a real cluster of Ray on this machine, with one shard killed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from genbench.errors import InputError
from genbench.pipeline import merge
from genbench.team.launch.plan import ShardPlan
from genbench.team.launch.ray_cluster import draw_shard, ray_script, require_unjoined
from tests.ready_runs import RIGHT, SUITE, WRONG, rows, score_responses, write_lines

SHARDS = 4
DRIVER = """
import sys
from pathlib import Path
from genbench.team.launch.plan import ShardPlan
from genbench.team.launch.ray_cluster import draw_on_ray
suite, run_dir, responses = sys.argv[1:]
plan = ShardPlan(suite, Path(run_dir), 4, gpus=0, cpus=1, arguments=(f"--responses={responses}",)).checked()
print(draw_on_ray(plan, address="local", say=lambda line: print(line, flush=True)))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A suite of 40 problems, with ready responses of which some are wrong."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_lines(tmp_path / "rows.jsonl", rows(40))
    write_lines(
        tmp_path / "responses.jsonl",
        [
            {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": RIGHT if i % 3 else WRONG}
            for i in range(40)
            for j in range(4)
        ],
    )
    return tmp_path


def shard_processes(run_dir: Path, index: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if f"--run-dir={run_dir}" in words and f"--shard={index}/{SHARDS}" in words:
            yield process


def sample(line: str) -> tuple[object, ...]:
    """What a line says about its sample, without times."""
    record = json.loads(line)
    return tuple(record.get(key) for key in ("problem_id", "sample_index", "text", "score", "status"))


@pytest.mark.slow
def test_a_killed_shard_is_started_again_and_the_joined_run_is_the_undisturbed_one(place: Path) -> None:
    paths = [str(place / name) for name in ("suite.yaml", "parts", "responses.jsonl")]
    with (place / "driver.txt").open("wb") as log:
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, *paths], stdout=log, stderr=log)
    until = time.monotonic() + 240
    killed = False
    while driver.poll() is None and time.monotonic() < until and not killed:
        for process in shard_processes(place / "parts", 3):
            process.kill()
            killed = True
        time.sleep(0.2)  # looking at all processes costs time, and a shard takes seconds
    assert driver.wait(240) == 0, (place / "driver.txt").read_text()[-3000:]
    told = (place / "driver.txt").read_text()
    assert killed and "shard 3/4: killed by signal 9; started again (1 of 3)" in told
    assert told.count(": drawn (") == SHARDS and told.endswith("[0, 0, 0, 0]\n")

    merge([place / "parts"], quiet=True)
    whole = score_responses(place, "whole")
    both = (place / "parts" / "m", whole)
    for name in ("completions.jsonl", "verdicts.jsonl"):
        joined, wanted = (sorted(map(sample, (run / "sums" / name).read_text().splitlines())) for run in both)
        assert joined == wanted and len(joined) == 160
    joined, wanted = (json.loads((run / "results.json").read_text())["tasks"] for run in both)
    assert joined == wanted
    with pytest.raises(InputError, match="is drawn and joined already"):
        require_unjoined(ShardPlan(paths[0], place / "parts", SHARDS))


@pytest.mark.slow
def test_a_refused_shard_is_told_in_its_own_words(place: Path) -> None:
    end = draw_shard(
        ["run", "--shard=9/4", "--", str(place / "suite.yaml")], str(place / "r" / "shard-9-of-4")
    )
    assert end.code == 2 and "--shard 9/4" in end.output
    assert (place / "r" / "shard-9-of-4.log").read_text() == end.output


def test_the_script_hands_the_whole_run_to_the_cluster(place: Path) -> None:
    plan = ShardPlan(str(place / "suite.yaml"), place / "a b", 8, gpus=2, arguments=("--model=m=./x y",))
    script = ray_script(plan.checked(models=["m=./x y"]))
    line = shlex.split(script.splitlines()[-1])
    assert line[:5] == ["ray", "job", "submit", "--no-wait", "--"]
    assert line[5:9] == ["genbench", "launch", "ray", "--submit"] and "--model=m=./x y" in line
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=True).returncode == 0
