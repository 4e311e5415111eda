"""Parity cards, and runs next to what others report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.pipeline import RunOptions, run
from genbench.reports.parity import (
    ParityCard,
    card_markdown,
    cards_record,
    cards_text,
    parity_cards,
    parity_report,
    parity_text,
)
from genbench.reports.parity_state import stored_states
from genbench.suite.shipped import suite_path


@pytest.fixture(scope="module")
def cards() -> list[ParityCard]:
    return parity_cards()


def test_every_card_has_two_models_with_published_scores(cards: list[ParityCard]) -> None:
    assert len(cards) >= 14
    for card in cards:
        assert {item.model for item in card.scores} == set(card.suite.config.models), card.name
        assert len(card.suite.config.models) == 2, card.name


def test_nothing_counts_as_reproduced_that_was_not_run(cards: list[ParityCard]) -> None:
    assert {item.state for card in cards for item in card.scores} == {"not yet run"}
    assert "agrees" not in cards_text(cards)


def test_a_card_is_a_shipped_suite(cards: list[ParityCard]) -> None:
    assert suite_path("parity/mmlu").name == "mmlu.yaml"
    page = card_markdown(next(card for card in cards if card.name == "mmlu"))
    assert "`genbench run parity/mmlu`" in page
    assert "| llama-8b | mmlu | simple-evals | 68.4 | 14042 × 1 |" in page


def test_a_run_is_compared_with_what_is_published_for_its_model(tmp_path: Path) -> None:
    folder = tmp_path / "mirror" / "yentinglin" / "aime_2025" / "default"
    folder.mkdir(parents=True)
    rows = [{"id": str(number), "problem": f"{number}+1?", "answer": number + 1} for number in range(30)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = "models: {m: {path: Qwen/Qwen3-4B}}\ntasks:\n  - {task: aime25, k: 2}\n"
    (tmp_path / "suite.yaml").write_text(suite)
    lines = [
        {
            "task": "aime25",
            "problem_id": str(n),
            "sample_index": k,
            "text": f"\\boxed{{{n + 1 + (n + k) % 3}}}",
        }
        for n in range(30)
        for k in range(2)
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunOptions(
        tmp_path / "suite.yaml",
        responses=tmp_path / "r.jsonl",
        run_dir=tmp_path / "run",
        data_dir=tmp_path / "mirror",
        quiet=True,
    )
    run(options)
    found = parity_report([tmp_path / "run" / "m"])
    states = {(score.published, score.state) for score in found.scores}
    assert (0.656, "differs") in states and len(states) == 4
    assert all(score.measured == pytest.approx(1 / 3) for score in found.scores)
    assert "Qwen3 Technical Report" in parity_text(found)


def test_a_whole_card_stores_its_state_and_a_part_does_not(tmp_path: Path, cards: list[ParityCard]) -> None:
    folder = tmp_path / "mirror" / "yentinglin" / "aime_2025" / "default"
    folder.mkdir(parents=True)
    rows = [{"id": str(number), "problem": f"{number}+1?", "answer": number + 1} for number in range(30)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    card = next(card for card in cards if card.name == "aime25")
    model, _ = card.suite.config.models
    entry = card.suite.config.tasks[0]
    lines = [
        {
            "model": model,
            "task": entry.label,
            "problem_id": str(n),
            "sample_index": k,
            "text": f"\\boxed{{{n + 1}}}",
        }
        for n in range(30)
        for k in range(64)
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def drawn(limit: int | None, *overrides: str) -> list[str]:
        options = RunOptions(
            suite_path("parity/aime25"),
            models=[model],
            responses=tmp_path / "r.jsonl",
            run_dir=tmp_path / "runs" / f"run{limit}{len(overrides)}",
            data_dir=tmp_path / "mirror",
            overrides=overrides,
            limit=limit,
            quiet=True,
        )
        return [line for line in run(options).notes if line.startswith("parity/")]

    assert drawn(5) == [f"parity/aime25, {model}: not yet run, because problems were left out"]
    (refused,) = drawn(2, "decoding.top_p=0.9")
    assert refused.endswith("not yet run, because --set changed decoding.top_p=0.9")
    assert stored_states(tmp_path / "runs") == {}
    assert {line.rpartition(": ")[2] for line in drawn(None)} == {"differs"}
    states = stored_states(tmp_path / "runs")
    assert "differs" in cards_text(cards, states)
    stored = cards_record(cards, tmp_path / "runs")["aime25"]
    assert {item["state"] for item in stored if item["model"] == model} == {"differs"}
    assert {item["state"] for item in stored if item["model"] != model} == {"not yet run"}
    (tmp_path / "runs" / "runNone0" / model / "parity.json").write_text("{")
    with pytest.raises(InputError, match=r"parity\.json: cannot be read"):
        stored_states(tmp_path / "runs")
