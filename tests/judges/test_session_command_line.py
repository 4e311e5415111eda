"""Judges from the command line: refusals with exit code 2, faults of a server, kills, order of work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.suite.shipped import folder
from tests import warm

from .conftest import Case, Server

KINDS = ("429", "500", "503", "stall", "broken", "half", "cut", "other")


def command(judged: Case, *arguments: str, key: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "GRADER_KEY"}
    return warm.run(
        arguments, cwd=judged.path, text=True, env=environment | ({"GRADER_KEY": key} if key else {})
    )


RUN = ("run", "suite.yaml", "--run-dir", "runs", "--responses", "answers.jsonl")


def own_judge(judged: Case) -> Path:
    """Copy the shipped judges next to the suite, to be changed."""
    shutil.copytree(folder("judges"), judged.path / "judges")
    judged.write(n=2, k=1, judge="judges/free_form.yaml")
    return judged.path / "judges"


def _moving_name(judged: Case) -> None:
    own_judge(judged)
    suite = judged.path / "suite.yaml"
    suite.write_text(re.sub(r"revision: \w+", "revision: main", suite.read_text()))


def _no_revision(judged: Case) -> None:
    own_judge(judged)
    suite = judged.path / "suite.yaml"
    suite.write_text(re.sub(r", revision: \w+", "", suite.read_text()))


def _changed_prompt(judged: Case) -> None:
    prompt = own_judge(judged) / "prompts" / "free_form.txt"
    prompt.write_text(prompt.read_text() + "Be kind.\n")


def _unknown_label(judged: Case) -> None:
    file = own_judge(judged) / "free_form.yaml"
    file.write_text(file.read_text() + "statuses: {DIFERENT: no_answer}\n")


def _unknown_calibration_label(judged: Case) -> None:
    file = own_judge(judged) / "calibration" / "free_form.jsonl"
    file.write_text(file.read_text().replace('"label": "EQUAL"', '"label": "SAME"', 1))


def _missing_key(judged: Case) -> None:
    judged.write(n=2, k=1, more=", api_key_env: GRADER_KEY")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            _moving_name,
            r"revision 'main' is not pinned.*give a commit.*judge.server.revision.*judge.allow_unpinned=true",
        ),
        (_no_revision, r"revision None is not pinned.*give a commit"),
        (
            _changed_prompt,
            r"free_form\.txt is not the prompt that was pinned \(sha256:\w+ -> sha256:\w+\); restore it",
        ),
        (_unknown_label, r"statuses: unknown label 'DIFERENT'; did you mean 'DIFFERENT'\?"),
        (_unknown_calibration_label, r"free_form\.jsonl:1: unknown label 'SAME'; valid: DIFFERENT, EQUAL"),
        (_missing_key, r"the variable GRADER_KEY is not set; export GRADER_KEY=… before the run"),
    ],
)
def test_what_cannot_be_trusted_ends_with_exit_2_and_says_what_to_do(
    judged: Case, server: Server, spoil: Callable[[Case], None], words: str
) -> None:
    spoil(judged)
    done = command(judged, *RUN)
    assert done.returncode == 2, done.stderr
    assert re.search(words, done.stderr.replace("\n", " ")), done.stderr
    assert "Traceback" not in done.stderr and not server.requests
    judge = "free_form" if spoil is _missing_key else "judges/free_form.yaml"
    checked = command(judged, "judge", "check", judge, "--suite", "suite.yaml")
    assert checked.returncode == 2 and re.search(words, checked.stderr.replace("\n", " "))


@pytest.mark.slow
def test_an_unpinned_judge_is_called_so_in_every_report(judged: Case, server: Server) -> None:
    _moving_name(judged)
    suite = judged.path / "suite.yaml"
    suite.write_text(suite.read_text().replace("judge:\n", "judge:\n  allow_unpinned: true\n", 1))
    done = command(judged, *RUN)
    assert done.returncode == 0, done.stderr
    assert "is unpinned (revision 'main')" in done.stdout and "UNPINNED" in done.stdout
    assert "UNPINNED" in (judged.path / "runs" / "m" / "report.html").read_text()
    assert "UNPINNED" in command(judged, "report", "runs/m", "--format", "md").stdout


@pytest.mark.slow
def test_a_faulty_server_loses_nothing_and_the_killed_run_asks_nothing_twice(
    judged: Case, server: Server
) -> None:
    """Half of the requests fail, each kind of fault by turns; the run is killed in the middle of them."""
    judged.write(n=16, k=2, more=", concurrency: 4")
    server.faults = {number: KINDS[number // 2 % len(KINDS)] for number in range(0, 200, 2)}
    process = warm.Popen(RUN, cwd=judged.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = judged.path / "runs" / "m" / "free" / "judgments.jsonl"
    end = time.monotonic() + 120
    while time.monotonic() < end and not (kept.exists() and kept.read_bytes().count(b"\n") >= 8):
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = [json.loads(line) for line in kept.read_text().splitlines() if line.endswith("}")]
    assert 8 <= len(before) < 32
    asked = server.asked.copy()
    answered = {prompt for prompt, count in server.answered.items() if count}
    done = command(judged, *RUN)
    assert done.returncode == 0, done.stderr
    results = json.loads((judged.path / "runs" / "m" / "results.json").read_text())
    assert results["tasks"]["free"]["status_counts"] == {"correct": 32}
    again = {
        prompt for prompt, count in server.asked.items() if count > asked[prompt] and "What is" in prompt
    }
    # What was answered but not yet written when the run was killed is asked once more; nothing else.
    assert len(again & answered) <= 4
    assert len(kept.read_text().splitlines()) == 32 + (0 if kept.read_bytes().endswith(b"\n") else 1)
    assert len({json.loads(line)["key"] for line in kept.read_text().splitlines()}) == 32
    assert command(judged, *RUN).returncode == 0
    assert sum(server.asked.values()) == sum(server.answered.values()) + _failed(server)


def _failed(server: Server) -> int:
    """Requests that were spoiled."""
    return sum(number in server.faults for number in range(len(server.requests)))


@pytest.mark.slow
def test_a_run_that_only_scores_asks_its_judge_before_the_rules(judged: Case, server: Server) -> None:
    judged.write(n=3, k=1)
    suite = judged.path / "suite.yaml"
    rule = (
        suite.read_text()
        .split("tasks:\n")[1]
        .replace("name: free", "name: exact")
        .replace("judge\n", "exact\n", 1)
    )
    rule = re.sub(r"    verifier: .*\n", "", rule)
    suite.write_text(suite.read_text().replace("tasks:\n", "tasks:\n" + rule))
    lines = (judged.path / "answers.jsonl").read_text()
    (judged.path / "answers.jsonl").write_text(lines + lines.replace('"free"', '"exact"'))
    assert command(judged, *RUN).returncode == 0
    for file in ("judgments", "verdicts"):
        (judged.path / "runs" / "m" / "free" / f"{file}.jsonl").unlink()
    (judged.path / "runs" / "m" / "exact" / "verdicts.jsonl").unlink()
    server.down = True
    suite.write_text(suite.read_text().replace("retries: 4", "retries: 0"))
    done = command(judged, "score", "runs/m")
    assert done.returncode == 1 and "start it, or mend judge.server.base_url" in done.stderr
    assert not (judged.path / "runs" / "m" / "exact" / "verdicts.jsonl").exists()
    server.down = False
    assert command(judged, "score", "runs/m").returncode == 0
    assert list(json.loads((judged.path / "runs" / "m" / "results.json").read_text())["tasks"]) == [
        "exact",
        "free",
    ]
