"""The suite of SmolLM3's authors, whole, on a tiny checkpoint in one engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.results.run_state import require_results
from genbench.store.folder import RunFolder
from genbench.tasks.python.bfcl import CATEGORIES, LIVE, NON_LIVE
from genbench.tools.bfcl.world import DOCUMENTS
from tests import warm

LANGUAGES = ("de", "fr", "it", "pt", "es")
LCB = "livecodebench/code_generation_lite"
SAME = (
    "yentinglin/aime_2025/default/train.jsonl",
    "google/IFEval/default/train.jsonl",
    "qintongli/GSM-Plus/default/testmini.jsonl",
    "MixEval/MixEval/MixEval_Hard/multiple_choice.jsonl",
)
COPIED = {**{name: name for name in SAME}, f"{LCB}/v4/test.jsonl": f"{LCB}/v4_v5_small/test.jsonl"}
"""Files of the mirror, and the public copies that they are made of."""
BFCL = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def mirror(place: Path, hub: Path) -> None:
    """Make a mirror of the suite's data: copies where they are public, else rows in the same columns."""
    for name, source in COPIED.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(hub / source, place / name)
    for category in (*NON_LIVE, *LIVE["v3"]):
        (place / BFCL / category).mkdir(parents=True)
        lines = (hub / BFCL / category / "v3.jsonl").read_text().splitlines(keepends=True)
        # The tokens of the tiny checkpoint are short, so only short rows fit its context.
        (place / BFCL / category / "v3.jsonl").write_text("".join(sorted(lines, key=len)[:4]))
    conversations(place / BFCL, hub / BFCL)
    wrong = {f"Incorrect Answer {number}": f"metal {number}" for number in (1, 2, 3)}
    strata = {"High-level domain": "x", "Subdomain": "y", "Writer's Difficulty Estimate": "z"}
    gpqa = [
        {
            "Record ID": f"r{n}",
            "Question": f"Which floats, {n}?",
            "Correct Answer": "lithium",
            **wrong,
            **strata,
        }
        for n in range(4)
    ]
    write(place / "Idavidrein/gpqa/gpqa_diamond/train.jsonl", gpqa)
    options = {f"option_{letter}": f"{letter}-word" for letter in "abcd"}
    facts = {"subject": "s", "subject_category": "STEM", "cultural_sensitivity_label": "CS", "answer": "A"}
    for language in LANGUAGES:
        rows = [{"sample_id": f"s/{n}", "question": f"{language} {n}?", **options, **facts} for n in range(4)]
        write(place / f"CohereForAI/Global-MMLU-Lite/{language}/test.jsonl", rows)
    paragraphs = [f"Paragraph {n} is about the number {n}." for n in range(40)]
    squad = [
        {"title": "t", "context": text, "question": "Which number?", "answers": {"text": [str(n)]}}
        for n, text in enumerate(paragraphs)
    ]
    write(place / "rajpurkar/squad_v2/squad_v2/validation.jsonl", squad)
    context = {"title": ["a", "b"], "sentences": [[paragraphs[0]], [paragraphs[1]]]}
    hotpot = [{"question": "Which number?", "answer": "0", "context": context}]
    write(place / "hotpotqa/hotpot_qa/distractor/validation.jsonl", hotpot)


def conversations(place: Path, hub: Path) -> None:
    """Copy short multi-turn rows, with as many functions as the tiny checkpoint has space for."""
    needed: set[str] = set()
    for category in CATEGORIES:
        lines = (hub / category / "v3.jsonl").read_text().splitlines()
        rows = sorted(map(json.loads, lines), key=lambda row: len(json.dumps(row)))[:2]
        needed |= {call.partition("(")[0] for row in rows for turn in row["ground_truth"] for call in turn}
        write(place / category / "v3.jsonl", rows)
    for name in DOCUMENTS.values():
        lines = (hub / "multi_turn_func_doc" / f"{name}.jsonl").read_text().splitlines()
        kept = [item for item in map(json.loads, lines) if item["name"] in needed]
        write(place / "multi_turn_func_doc" / f"{name}.jsonl", kept or [json.loads(lines[0])])


@pytest.mark.gold
@pytest.mark.engine
@pytest.mark.slow
def test_the_whole_suite_runs_in_one_engine_and_its_report_folds_the_languages(
    tmp_path: Path, shared: Path
) -> None:
    mirror(tmp_path / "mirror", shared / "data" / "hub")
    command = [
        *("run", "smollm3", "--model", "base=shipped:checkpoints/tiny-tuned"),
        *("--data-dir", str(tmp_path / "mirror"), "--limit", "1", "--run-dir", str(tmp_path / "run")),
        *("--set", "decoding.max_tokens=24", "--set", "engine.max_model_len=null"),
        *("--set", "engine.max_num_seqs=64"),
        # RULER's prompts at a length that the tiny model has.
        *("--set", "tasks.ruler_32k.options.length=4000", "--set", "tasks.ruler_32k.options.rows=1"),
    ]
    done = warm.run(command, engine=True, cwd=tmp_path, text=True)
    assert done.returncode in (0, 1), done.stderr
    results = require_results(RunFolder(tmp_path / "run" / "base"))
    assert len(results.tasks) == 15
    assert results.tasks["ruler_32k"].n == 1
    assert results.groups["bfcl_v3"].tasks == (
        "bfcl_v3_non_live",
        "bfcl_v3_live",
        "bfcl_v3_multi_turn",
    )
    assert all(not task.lacking for task in results.tasks.values())
    assert results.groups["global_mmlu_lite"].tasks == tuple(f"global_mmlu_lite_{code}" for code in LANGUAGES)
    assert len(json.loads((tmp_path / "run" / "base" / "manifest.json").read_text())["attempts"]) == 1
    page = (tmp_path / "run" / "base" / "report.html").read_text()
    assert "<summary>global_mmlu_lite: the 5 tasks</summary>" in page
