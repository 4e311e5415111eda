"""How fast this machine draws: from a run on this host, or from the speed of its CPU."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from genbench.runs.execution.speed import Speed, cpu_speed, measured_speed


def stored(place: Path, identity: str = "sha256:a", host: str = "", tokens: int = 50_000) -> Path:
    """Write what is read of a finished run."""
    from tests.nights.ledger.synthetic import flat, make_run

    folder = make_run(place, {"t": flat()}, identity=identity)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["attempts"][0]["circumstances"]["machine"] = {"host": host or socket.gethostname()}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    results = json.loads((folder / "results.json").read_text())
    results["totals"] |= {
        "tokens_per_s": 42.0,
        "samples": 100,
        "tokens": {"prompt": 1, "trace": 0, "answer": tokens, "completion": tokens},
    }
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def test_a_run_of_the_model_on_this_host_gives_its_speed_and_the_length_of_its_replies(
    tmp_path: Path,
) -> None:
    folder = stored(tmp_path / "runs" / "n-1" / "m")
    assert measured_speed("sha256:a", tmp_path / "runs") == Speed(42.0, 500, f"measured: {folder}")


def test_other_models_other_hosts_and_short_runs_say_nothing(tmp_path: Path) -> None:
    stored(tmp_path / "runs" / "a" / "m", identity="sha256:b")
    stored(tmp_path / "runs" / "b" / "m", host="another")
    stored(tmp_path / "runs" / "c" / "m", tokens=100)
    assert measured_speed("sha256:a", tmp_path / "runs") is None
    assert measured_speed("sha256:a", tmp_path / "nothing here") is None


def test_a_cpu_of_100_gflops_draws_a_model_of_135_million_parameters_at_about_the_measured_130_tokens() -> (
    None
):
    found = cpu_speed(135_000_000, 100e9)
    assert found.tokens_per_s == pytest.approx(123, abs=1) and found.mean_tokens is None
    assert found.source == "this CPU at 100 GFLOP/s, 135M parameters"
