"""The example of nightly runs: scripts that parse, a valid suite, and a night of ready responses."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.suite.suitefile import read_suite
from genbench.suite.yamlfile import read_yaml_file
from tests import warm

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "nightly"


@pytest.mark.parametrize(("shell", "name"), [("sh", "night.sh"), ("bash", "night.sbatch")])
def test_the_scripts_parse(shell: str, name: str) -> None:
    done = subprocess.run([shell, "-n", str(FOLDER / name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_line_of_the_crontab_is_a_variable_a_remark_or_a_time_with_a_command() -> None:
    lines = [line for line in (FOLDER / "crontab").read_text().splitlines() if line and line[0] != "#"]
    times = [line.split(None, 5) for line in lines if "=" not in line.split()[0]]
    assert len(times) == 3
    assert all(len(fields) == 6 and fields[0].isdigit() for fields in times)


def test_the_workflow_and_the_suite_are_valid() -> None:
    workflow, _ = read_yaml_file(FOLDER / "github.yml")
    assert workflow["jobs"]["night"]["steps"][1]["run"] == "./night.sh"
    track = read_suite(FOLDER / "nightly.yaml").config.track
    assert track is not None and (track.name, track.anchor) == ("nightly", "base")


@pytest.mark.slow
def test_a_night_of_ready_responses_passes_and_leaves_report_and_ledger(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "night.sh", tmp_path)
    shutil.copy(FOLDER / "nightly.yaml", tmp_path)
    rows = "".join(
        json.dumps({"id": f"p{i}", "question": "1+1?", "reference": "2"}) + "\n" for i in range(20)
    )
    (tmp_path / "rows.jsonl").write_text(rows)
    text = (tmp_path / "nightly.yaml").read_text()
    (tmp_path / "nightly.yaml").write_text(
        text.replace("shipped:data/quickstart/arithmetic.jsonl", "rows.jsonl")
    )
    answers = [
        {"task": "arithmetic", "problem_id": f"p{i}", "sample_index": j, "text": "\\boxed{2}"}
        for i in range(20)
        for j in range(4)
    ]
    (tmp_path / "responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    tools = warm.write_tools(tmp_path / "bin", genbench=warm.GENBENCH)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    left_out = ("GENBENCH_LEDGER", "GENBENCH_LEDGER_NOTES")
    known = {key: value for key, value in os.environ.items() if key not in left_out}
    done = subprocess.run(
        ["sh", "night.sh", "--responses", "responses.jsonl"],
        cwd=tmp_path,
        env=known | {"PATH": path, "SUITE": "nightly.yaml"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "PASS: tuned" in done.stdout
    assert "PASS: tuned" in (tmp_path / "runs" / "tonight" / "night.md").read_text()
    assert (tmp_path / "runs" / "ledger.sqlite3").exists()
    assert json.loads((tmp_path / "runs" / "tonight" / "gate.json").read_text())["exit_code"] == 0


def test_the_first_commands_of_the_page_work_as_they_are_printed(tmp_path: Path) -> None:
    page = (FOLDER.parent.parent / "docs" / "nightly.md").read_text()
    block = page.partition("```sh\n")[2].partition("```")[0]
    (tmp_path / "nightly.yaml").write_text(
        "models: {base: {path: ./base}, tuned: {path: ./tuned}}\n"
        "tasks:\n- name: sums\n  kind: exact\n"
        "  data: {path: rows.jsonl, fields: {id: id, question: q, reference: a}}\n"
        "  prompt: '{question}'\n  k: 1\n"
    )
    ids = range(20)
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"id": "{i}", "q": "1+1?", "a": "2"}}\n' for i in ids))
    lines = [{"task": "sums", "problem_id": str(i), "sample_index": 0, "text": "2"} for i in ids]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    tools = warm.write_tools(tmp_path / "bin", genbench=warm.GENBENCH)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    left_out = ("GENBENCH_LEDGER", "GENBENCH_LEDGER_NOTES")
    known = {key: value for key, value in os.environ.items() if key not in left_out} | {"PATH": path}
    for line in block.splitlines():
        command = line.partition("#")[0].strip()
        if command.startswith("genbench run"):
            command += " --responses r.jsonl"
        for printed in re.findall(r"runs/nightly/[\w-]+/tuned", command):
            (folder,) = (tmp_path / "runs" / "nightly").glob("*/tuned")
            command = command.replace(printed, str(folder.relative_to(tmp_path)))
        done = subprocess.run(
            shlex.split(command), cwd=tmp_path, env=known, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert (tmp_path / "trend.html").exists()
