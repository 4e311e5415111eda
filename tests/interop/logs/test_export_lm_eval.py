"""lm-eval's results file next to the samples, and both exports read by the tools themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.interop.logs.export import export
from genbench.interop.logs.export_lm_eval import lm_eval_line
from genbench.interop.logs.import_log import import_scores
from genbench.pipeline import RunOptions
from tests.interop.logs.talks import TALK, write_talk
from tests.ready_runs import run_bare

READ_INSPECT = """\
import sys
from inspect_ai.analysis import evals_df, messages_df, samples_df
from inspect_ai.log import list_eval_logs, read_eval_log

(found,) = list_eval_logs(sys.argv[1])
log = read_eval_log(found)
scores = log.results.scores[0].metrics
assert log.eval.model_generate_config.temperature == 0.6
assert scores["ci_low"].value <= scores["avg@2"].value <= scores["ci_high"].value
assert log.stats.model_usage["m"].output_tokens == 60
assert [message.role for message in log.samples[0].messages] == ["user", "assistant"] * 2
evals, samples = evals_df(sys.argv[1]), samples_df(sys.argv[1])
assert len(evals) == 1 and len(samples) == 6
messages = messages_df(sys.argv[1])
assert len(messages) == 24 and messages["message_id"].is_unique
assert set(messages["role"]) == {"user", "assistant"}
print("read by inspect", samples["total_tokens"].sum())
"""
READ_LM_EVAL = """\
import glob
import json
import sys
from lm_eval.utils import get_latest_filename, get_results_filenames, make_table

results = json.load(open(get_latest_filename(get_results_filenames(glob.glob(sys.argv[1] + "/*")))))
print(make_table(results))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("talk")
    write_talk(place)
    options = RunOptions(place / "suite.yaml", responses=place / "r.jsonl", run_dir=place / "out", quiet=True)
    return run_bare(options).folders["m"]


@pytest.mark.slow
def test_the_results_are_next_to_the_samples(folder: Path, tmp_path: Path) -> None:
    samples, results = export(folder, "lm-eval", tmp_path / "lm")
    assert samples.parent == results.parent and results.name.startswith("results_")
    record = json.loads(results.read_text())
    task = record["results"]["talk_x"]
    assert task["avg@2,none"] == pytest.approx(1 / 3) and task["avg@2_stderr,none"] > 0
    assert record["n-samples"]["talk_x"] == {"original": TALK, "effective": TALK}
    assert record["configs"]["talk_x"]["repeats"] == 2 and record["model_name"] == "m"
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    assert sum(line["score"] for line in lines) / len(lines) == pytest.approx(task["avg@2,none"])
    assert lm_eval_line.__name__ == "lm_eval_line" and lines[0]["filter"] == "none"
    assert import_scores(str(samples), str(tmp_path / "s.jsonl")) == 2 * TALK


@pytest.mark.slow
def test_inspect_and_lm_eval_read_the_exports(folder: Path, tmp_path: Path) -> None:
    export(folder, "inspect", tmp_path / "logs")
    export(folder, "lm-eval", tmp_path / "lm")
    python = tmp_path / "venv" / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")  # ten times as fast as pip
    subprocess.run([str(uv), "venv", "-q", "-p", sys.executable, str(tmp_path / "venv")], check=True)
    for more in (
        ["inspect-ai==0.3.285", "pandas", "pyarrow", "pytablewriter", "jinja2", "more_itertools"],
        ["--no-deps", "lm-eval==0.4.13"],
    ):
        subprocess.run([str(uv), "pip", "install", "-q", "-p", str(python), *more], check=True)
    for code, place, said in ((READ_INSPECT, "logs", "read by inspect"), (READ_LM_EVAL, "lm", "|talk_x|")):
        command = [str(python), "-c", code, str(tmp_path / place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and said in done.stdout, done.stdout + done.stderr
