"""Adaptive runs with several engines, stops within a round, and a judge that loads between the rounds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.checkpoint import folder_digest
from genbench.errors import InterruptedRunError
from genbench.judges import engines as build
from genbench.judges.local import LocalJudge
from genbench.pipeline import RunOptions, run
from genbench.store.folder import RunFolder
from genbench.suite.shipped import folder as shipped_folder
from genbench.types import Question
from tests.engines.rate_engine import RateEngine, StopsAt, dies

SUITE = """\
models: {{base: {{path: a}}, tuned: {{path: b}}}}
engine: {{kind: "tests.engines.rate_engine:{engine}", concurrency: 8, lost: {lost}}}
decoding: {{temperature: 0.6, max_tokens: 16}}
verify: {{workers: 1}}
{judge}
tasks:
  - name: sums
    kind: {kind}
    data: {{path: rows.jsonl, fields: {{id: id, question: question, reference: sum}}}}
    prompt: "{{question}}"
    k: 8
    {verifier}
"""
N = 24


def draw_base(place: Path, *, kind: str = "math", judge: str = "", verifier: str = "") -> RunOptions:
    """Write a suite, draw its base, and return the options of a night that lost a few problems."""
    lost = place / "lost.json"
    text = SUITE.format(engine="RateEngine", lost=lost, kind=kind, judge=judge, verifier=verifier)
    (place / "suite.yaml").write_text(text)
    rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": str(i + 1)} for i in range(N)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lost.write_text("[]")
    many = ("tasks.sums.k=16",)
    run(RunOptions(place / "suite.yaml", ("base",), place / "stored", overrides=many, quiet=True))
    lost.write_text(json.dumps(list(range(9))))
    stored = place / "stored" / "base"
    return RunOptions(
        place / "suite.yaml", run_dir=place / "night", against=stored, adaptive=True, quiet=True
    )


def decisions(folder: Path) -> dict[str, Any]:
    """Return the state of an adaptive run."""
    record = RunFolder(folder).require_manifest().adaptive
    assert record is not None
    return record.state.to_json()


def drawn(folder: Path) -> Counter[tuple[str, int]]:
    """Return how often each sample is on disk."""
    return Counter(
        (item.sample.problem_id, item.sample.sample_index) for item in RunFolder(folder).completions("sums")
    )


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> RunOptions:
    """A night that one engine drew without a stop."""
    options = draw_base(tmp_path_factory.mktemp("night"))
    run(options)
    return options


@pytest.fixture(scope="module")
def whole(night: RunOptions) -> Path:
    """The run folder of that night."""
    assert night.run_dir is not None
    return Path(night.run_dir) / "tuned"


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [lambda number: 0.0, dies], ids=["both live", "one dies for good"])
def test_two_engines_take_the_decisions_of_one(
    tmp_path: Path,
    night: RunOptions,
    whole: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[int], float],
) -> None:
    monkeypatch.setattr(RateEngine, "before_each", staticmethod(spoil))
    two = ("engine.kind=tests.engines.rate_engine:PairedRateEngine",)
    folder = run(replace(night, run_dir=tmp_path, overrides=two)).folders["tuned"]
    assert len(decisions(whole)["looks"]) > 1
    assert decisions(folder) == decisions(whole)
    assert drawn(folder) == drawn(whole)
    assert set(drawn(folder).values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("looks", [1, -1], ids=["second round", "confirmation"])
def test_a_stop_within_a_round_takes_no_look_at_a_part_of_it(
    tmp_path: Path, night: RunOptions, whole: Path, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    options, wanted = replace(night, run_dir=tmp_path), decisions(whole)
    looks = looks % (len(wanted["looks"]) + 1)
    before = wanted["looks"][looks - 1]["tasks"]["sums"]["samples"]
    with monkeypatch.context() as patched:
        patched.setattr(RateEngine, "before_each", staticmethod(StopsAt(before + 30)))
        with pytest.raises(InterruptedRunError, match="Continue with"):
            run(options)
    folder = tmp_path / "tuned"
    assert before < sum(drawn(folder).values()) < sum(drawn(whole).values())
    assert decisions(folder)["looks"] == wanted["looks"][:looks]
    run(options)
    assert decisions(folder) == wanted
    assert drawn(folder) == drawn(whole)


class ReadyJudge(LocalJudge):
    """A judge on this machine that needs no engine: it adds for itself."""

    asked: list[int]
    """For each load, the number of questions about samples of this suite."""

    async def start(self) -> None:
        """Count a load."""
        self.asked.append(0)

    async def reply(self, question: Question) -> str:
        """Compare the sum with the answer in the box."""
        text = question.messages[-1].content
        numbers = re.search(r"(\d+)\+1", text)
        box = re.search(r"boxed\D*(\d+)", text)
        if numbers is None or box is None:
            return "EQUAL"
        self.asked[-1] += 1
        return "EQUAL" if int(numbers[1]) + 1 == int(box[1]) else "DIFFERENT"

    async def close(self) -> None:
        """Do nothing."""


@pytest.mark.slow
def test_a_judge_of_this_machine_loads_after_each_round(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(build, "LocalJudge", type("Judge", (ReadyJudge,), {"asked": asked}))
    model = (shipped_folder("checkpoints") / "tiny-tuned").resolve()
    judge = f"judge: {{model: {{path: '{model}', revision: 'sha256:{folder_digest(model)}'}}}}"
    verifier = "verifier: {judge: free_form}"
    options = draw_base(tmp_path, kind="judge", judge=judge, verifier=verifier)
    asked.clear()
    folder = run(options).folders["tuned"]
    assert decisions(folder) == decisions(whole)
    assert drawn(folder) == drawn(whole)
    assert len(asked) == len(decisions(whole)["looks"]) + 1  # the confirmation
    assert 0 not in asked
