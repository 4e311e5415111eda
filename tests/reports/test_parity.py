"""Parity cards, and runs next to what others report."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.analysis.parity import ParityReport, State, run_agreement
from genbench.analysis.results.means import GroupRecord
from genbench.errors import ConfigError, InputError
from genbench.pipeline import RunOptions, run
from genbench.protocols import PublishedScore
from genbench.reports.parity import (
    FILE,
    MeasuredCard,
    ParityCard,
    card_markdown,
    card_text,
    cards_markdown,
    cards_record,
    cards_text,
    measured_cards,
    named_cards,
    parity_cards,
    parity_report,
    parity_text,
    state_words,
    stored_states,
    write_measured,
)
from genbench.stats.macro import MeanRecord
from genbench.store.folder import RunFolder
from genbench.suite.config import ModelConfig
from genbench.suite.shipped import suite_path
from tests.reports import made


@pytest.fixture(scope="module")
def cards() -> list[ParityCard]:
    return parity_cards()


def test_every_card_has_two_models_with_published_scores(cards: list[ParityCard]) -> None:
    assert len(cards) >= 47
    for card in cards:
        assert {item.model for item in card.scores} == set(card.suite.config.models), card.name
        assert len(card.suite.config.models) == 2, card.name


def test_a_card_lists_the_scores_of_its_group_and_of_its_tasks(cards: list[ParityCard]) -> None:
    card = next(card for card in cards if card.name == "bfcl_v3_parts")
    parts = {"bfcl_v3_non_live (macro)", "bfcl_v3_live", "bfcl_v3_multi_turn"}
    for model in card.suite.config.models:
        scores = {item.label: item.published for item in card.scores if item.model == model}
        assert set(scores) == parts | {"bfcl_v3 (macro)"}
        # The published overall is the mean of the published parts, so it is the group's macro mean.
        assert scores["bfcl_v3 (macro)"] == pytest.approx(sum(map(scores.__getitem__, parts)) / 3, abs=1e-4)
    assert "| nemotron-nano-9b-v2 | bfcl_v3 (macro) | genbench | 67.0 | 4441 × ? |" in card_markdown(card)


@pytest.mark.parametrize(
    ("states", "words"),
    [
        (["not yet run"] * 3, "not yet run"),
        (["agrees", "not yet run", "agrees"], "2 agrees, 1 not yet run"),
        (["differs", "ready responses"], "1 differs, 1 ready responses"),
    ],
)
def test_the_states_of_a_card_are_told_in_a_line(states: list[State], words: str) -> None:
    assert state_words(states) == words


def test_a_card_says_what_is_known_of_its_settings() -> None:
    (card,) = named_cards([Path("parity/hle")])
    text = card_text(card, {})
    assert "The answers need a judge, and the card names none." in text
    assert "nvidia/NVIDIA-Nemotron-Nano-9B-v2" in text and "2158 x 8" in text and "not yet run" in text
    assert "\n    genbench run parity/hle --set judge.server.base_url" in card_markdown(card)


def test_a_name_that_is_no_card_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'bfclv3': no such run folder and no parity card.*bfcl_v3"):
        named_cards([Path("bfclv3")])
    with pytest.raises(ConfigError, match="give either cards or run folders"):
        named_cards([Path("hle"), tmp_path])
    assert named_cards([tmp_path]) == []


def test_a_card_of_a_thinking_model_lists_no_score_without_thinking(cards: list[ParityCard]) -> None:
    card = next(card for card in cards if card.name == "bfcl_v3")
    assert {item.published for item in card.scores} == {0.566, 0.659}


def test_a_run_of_a_group_is_compared_with_what_is_published_for_the_group() -> None:
    tasks = {name: made.task(published=()) for name in ("a", "b")}
    mean = MeanRecord(value=0.5, n=20, parts=2, se=0.1, ci=(0.3, 0.7))
    score = PublishedScore(model="M", value=0.55, source="s", decoding="d", of="this model")
    group = GroupRecord(tasks=("a", "b"), macro=mean, micro=mean, mean="macro", published=(score,))
    results = made.results(tasks=tasks, groups={"both": group})
    model = ModelConfig(path="M")
    (found,) = run_agreement(results, {"b": "smollm3"}, model)
    (part,) = run_agreement(results, {}, model, left_out=["b"])
    assert (part.measured, part.state) == (0.5, "incomplete")
    assert (found.label, found.protocol, found.measured, found.state) == (
        *("both (macro)", "genbench, smollm3", 0.5, "agrees"),
    )
    assert "both (macro)" in parity_text(ParityReport(scores=(found,)))


def test_two_scores_of_one_source_have_a_state_each(tmp_path: Path, cards: list[ParityCard]) -> None:
    """A model card reports both modes of a model, and a suite may say nothing about the mode."""
    card = next(card for card in cards if card.name == "bfcl_v3")
    first = card.scores[0]
    other = first.model_copy(update={"decoding": "no thinking", "published": 0.1})
    both = replace(card, scores=(first, other))
    drawn = [
        item.model_copy(update={"measured": 0.56, "difference": 0.0, "ci": (0, 0), "state": state}).to_json()
        for item, state in ((first, "agrees"), (other, "differs"))
    ]
    folder = tmp_path / "run" / first.model
    folder.mkdir(parents=True)
    (folder / FILE).write_text(json.dumps({"format": 1, "card": card.name, "scores": drawn}))
    states = [(item["published"], item["state"]) for item in cards_record([both], tmp_path)[card.name]]
    assert states == [(first.published, "agrees"), (0.1, "differs")]
    assert "2 published scores, 1 agrees, 1 differs\n" in cards_text([both], stored_states(tmp_path))
    only = replace(card, scores=(first,))
    assert "1 published scores, 1 agrees\n" in cards_text([only], stored_states(tmp_path))


def test_nothing_counts_as_reproduced_that_was_not_run(cards: list[ParityCard]) -> None:
    assert {item.state for card in cards for item in card.scores} == {"not yet run"}
    assert "agrees" not in cards_text(cards)


def test_a_card_is_a_shipped_suite(cards: list[ParityCard]) -> None:
    assert suite_path("parity/mmlu").name == "mmlu.yaml"
    page = card_markdown(next(card for card in cards if card.name == "mmlu"))
    assert "`genbench run parity/mmlu`" in page
    assert "| llama-8b | mmlu | simple-evals | 68.4 | 14042 × 1 |" in page


def test_what_the_project_has_measured_is_in_the_page_of_the_card(
    tmp_path: Path, cards: list[ParityCard]
) -> None:
    card = next(card for card in cards if card.name == "small_gsm8k")
    item = card.scores[0].model_copy(
        update={"measured": 0.02, "difference": 0.006, "ci": (-0.01, 0.022), "state": "agrees"}
        | {"problems": 300, "of": 1319}
    )
    own = MeasuredCard(weights="4 bits", machine="two cores", scores=(item,), reasons={"gsm8k": "Luck."})
    write_measured(tmp_path / "measured.json", {"small_gsm8k": own})
    measured = replace(card, measured=measured_cards(tmp_path / "measured.json")["small_gsm8k"])
    page = card_markdown(measured)
    row = "| smollm2-135m | gsm8k | 1.4 | 2.0 | 300 of 1,319 | +0.6 | [-1.0, 2.2] | agrees |"
    assert row in page and "4 bits. two cores." in page and "`gsm8k`: Luck." in page
    assert "2 | 1 agrees, 1 not yet run |" in cards_markdown([measured])
    assert measured_cards(tmp_path / "none.json") == {}


def test_a_score_that_differs_is_printed_with_the_reason_that_the_project_knows() -> None:
    card = measured_cards()["small"]
    (piqa,) = (item for item in card.scores if item.task == "piqa")
    assert piqa.state == "differs"
    assert card.reasons["piqa"] in parity_text(ParityReport(scores=(piqa,)))
    agreeing = piqa.model_copy(update={"state": "agrees"})
    assert card.reasons["piqa"] not in parity_text(ParityReport(scores=(agreeing,)))


def test_ready_responses_are_no_run_of_this_engine() -> None:
    score = PublishedScore(model="M", value=0.5, source="s", decoding="d", of="this model")
    ready = made.results(
        tasks={"t": made.task(published=(score,))}, model_identity="responses:m@0123", groups={}
    )
    (found,) = run_agreement(ready, {}, ModelConfig(path="M"))
    assert (found.measured, found.state, found.responses) == (0.5, "ready responses", "m@0123")
    (part,) = run_agreement(ready, {}, ModelConfig(path="M"), left_out=["t"])
    assert (part.state, part.responses) == ("incomplete", "m@0123")
    (drawn,) = run_agreement(ready.model_copy(update={"model_identity": "abc"}), {}, ModelConfig(path="M"))
    assert (drawn.state, drawn.responses) == ("agrees", None) and "responses" not in drawn.to_json()


@pytest.mark.parametrize("drawn_last", [True, False])
def test_ready_responses_never_replace_a_drawn_run(
    tmp_path: Path, cards: list[ParityCard], drawn_last: bool
) -> None:
    item = next(card for card in cards if card.name == "bfcl_v3").scores[0]
    known = {"measured": 0.5, "difference": 0.0, "ci": (0, 0)}
    drawn = item.model_copy(update=known | {"state": "agrees"})
    ready = item.model_copy(update=known | {"state": "ready responses", "responses": "m@0"})
    for number, record in enumerate((ready, drawn) if drawn_last else (drawn, ready)):
        folder = tmp_path / f"run{number}" / "m"
        folder.mkdir(parents=True)
        file = folder / FILE
        file.write_text(json.dumps({"format": 1, "card": "bfcl_v3", "scores": [record.to_json()]}))
        os.utime(file, (number, number))
    (found,) = stored_states(tmp_path)["bfcl_v3"].scores
    assert found.state == "agrees"


@pytest.mark.slow
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
    assert (0.656, "ready responses") in states and len(states) == 4
    identity = RunFolder(tmp_path / "run" / "m").require_manifest().model_identity
    digest = identity.removeprefix("responses:")
    assert {score.responses for score in found.scores} == {digest} and digest.startswith("m@")
    assert f"m: from ready responses: {digest}. This engine drew none of them" in parity_text(found)
    page = (tmp_path / "run" / "m" / "report.html").read_text()
    assert f"m: from ready responses: {digest}" in page
    assert all(score.measured == pytest.approx(1 / 3) for score in found.scores)
    assert "Qwen3 Technical Report" in parity_text(found)


@pytest.mark.slow
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

    part = f"parity/aime25, {model}: not yet run, because problems were left out: aime25 has 5 of 30 problems"
    assert drawn(5) == [part]
    of_part = parity_report([tmp_path / "runs" / "run50" / model])
    assert {item.state for item in of_part.scores} == {"incomplete"}
    assert "the difference says nothing" in parity_text(of_part)
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:12]))
    (tmp_path / "r.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines if int(str(line["problem_id"])) < 12)
    )
    (short,) = drawn(None)
    assert short.endswith("problems were left out: aime25 has 12 of 30 rows of the dataset")
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (refused,) = drawn(2, "decoding.top_p=0.9")
    assert refused.endswith("not yet run, because --set changed decoding.top_p=0.9")
    assert stored_states(tmp_path / "runs") == {}
    named_judge = drawn(None, "judge.max_unscored_share=0.1")
    assert all(": from ready responses: " in line for line in named_judge) and named_judge
    states = stored_states(tmp_path / "runs")
    assert "ready responses" in cards_text(cards, states)
    stored = cards_record(cards, tmp_path / "runs")["aime25"]
    assert {item["state"] for item in stored if item["model"] == model} == {"ready responses"}
    assert {item["state"] for item in stored if item["model"] != model} == {"not yet run"}
    (tmp_path / "runs" / "runNone1" / model / "parity.json").write_text("{")
    with pytest.raises(InputError, match=r"parity\.json: cannot be read"):
        stored_states(tmp_path / "runs")


def test_a_pipe_in_the_place_of_stored_scores_is_refused_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "card" / "model"
    folder.mkdir(parents=True)
    os.mkfifo(folder / FILE)
    with pytest.raises(InputError, match="not a plain file"):
        stored_states(tmp_path / "runs")
