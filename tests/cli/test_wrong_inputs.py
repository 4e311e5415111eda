"""Every wrong input costs seconds: `check` refuses it with one message, exit code 2 and no traceback.

The odd inputs at the end are valid, and pass.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.suite import shipped
from tests.engines.tensorfiles import write_adapter, write_tensors

from .conftest import Outcome

Cli = Callable[..., Outcome]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "problem": "1+1?", "answer": "2"},
    {"id": "b", "problem": "2+2?", "answer": "4"},
]
SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: mine
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 2
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GENBENCH_DATA_DIR", raising=False)
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_rows(tmp_path, ROWS)
    shutil.copytree(shipped.folder("checkpoints") / "tiny-base", tmp_path / "model")
    return tmp_path


def write_rows(place: Path, rows: list[Any]) -> None:
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def edited(place: Path, *changes: tuple[str, str]) -> None:
    text = (place / "suite.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (place / "suite.yaml").write_text(text)


SUITE_MISTAKES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "metric of no such name": (
        "    k: 2",
        "    k: 2\n    metrics: [accuracy]",
        (":10:", "'accuracy'", "acc"),
    ),
    "pass@16 at k 2": ("    k: 2", "    k: 2\n    metrics: [pass@16]", (":10:", "'pass@16'", "k: 16")),
    "avg@1 at k 2": ("    k: 2", "    k: 2\n    metrics: [avg@1]", (":10:", "'avg@1'", "avg@k")),
    "pass@0": ("    k: 2", "    k: 2\n    metrics: [pass@0]", (":10:", "pass@0")),
    "no metrics": ("    k: 2", "    k: 2\n    metrics: []", (":10:", "metrics")),
    "metrics in one word": ("    k: 2", "    k: 2\n    metrics: avg@k", (":10:", "metrics")),
    "min_tokens above max_tokens": (
        "max_tokens: 16",
        "max_tokens: 16, min_tokens: 17",
        (":3:", "min_tokens is 17"),
    ),
    "min_tokens of a task": (
        "    k: 2",
        "    k: 2\n    decoding: {min_tokens: 99}",
        (":10:", "'mine'", "min_tokens is 99", "max_tokens 16"),
    ),
    "empty stop": ("max_tokens: 16", 'max_tokens: 16, stop: [""]', (":3:", "decoding.stop")),
    "stop in one word": ("max_tokens: 16", "max_tokens: 16, stop: END", (":3:", "decoding.stop")),
    "negative stop id": (
        "max_tokens: 16",
        "max_tokens: 16, stop_token_ids: [-1]",
        (":3:", "stop_token_ids", "-1"),
    ),
    "stop id that is not a token": (
        "max_tokens: 16",
        "max_tokens: 16, stop_token_ids: [512]",
        ("stop_token_ids names 512", "0 to 511"),
    ),
    "no tokens": ("max_tokens: 16", "max_tokens: 0", (":3:", "decoding.max_tokens")),
    "half a token": ("max_tokens: 16", "max_tokens: 16.5", (":3:", "decoding.max_tokens")),
    "top_p of zero": ("max_tokens: 16", "max_tokens: 16, top_p: 0", (":3:", "decoding.top_p")),
    "top_p above 1": ("max_tokens: 16", "max_tokens: 16, top_p: 95", (":3:", "decoding.top_p")),
    "top_k below 0": ("max_tokens: 16", "max_tokens: 16, top_k: -1", (":3:", "decoding.top_k")),
    "min_p above 1": ("max_tokens: 16", "max_tokens: 16, min_p: 2", (":3:", "decoding.min_p")),
    "temperature NaN": ("temperature: 0.6", "temperature: .nan", (":3:", "decoding.temperature")),
    "temperature infinite": ("temperature: 0.6", "temperature: .inf", (":3:", "decoding.temperature")),
    "repetition penalty 0": (
        "max_tokens: 16",
        "max_tokens: 16, repetition_penalty: 0",
        (":3:", "repetition_penalty"),
    ),
    "presence penalty 3": (
        "max_tokens: 16",
        "max_tokens: 16, presence_penalty: 3",
        (":3:", "presence_penalty"),
    ),
    "unknown reasoning format": ("decoding:", "reasoning: none\ndecoding:", (":3:", "'none'")),
    "negative seed": ("max_tokens: 16", "max_tokens: 16, seed: -1", (":3:", "decoding.seed")),
    "k of zero": ("k: 2", "k: 0", (":9:", "k")),
    "k in words": ("k: 2", "k: two", (":9:", "k", "'two'")),
    "no k": ("    k: 2\n", "", (":5:", "'k'")),
    "no kind": ("    kind: exact\n", "", (":5:", "kind")),
    "limit of zero": ("    k: 2", "    k: 2\n    limit: 0", (":10:", "limit")),
    "margin of zero": ("    k: 2", "    k: 2\n    margin: 0", (":10:", "margin")),
    "unknown role": ("    k: 2", "    k: 2\n    role: holdout", (":10:", "role", "'holdout'")),
    "option of a kind without any": ("    k: 2", "    k: 2\n    options: {order: as_given}", ("options",)),
    "prompt without its column": ('"{question}"', '"{question} {hint}"', ("hint",)),
    "open brace in a prompt": ('"{question}"', '"{question"', ("prompt",)),
    "two sources": ("{path: rows.jsonl,", "{path: rows.jsonl, hub: {repo: a/b},", (":7:", "'path' or 'hub'")),
    "no such column": ("reference: answer", "reference: anser", ("'anser'", "did you mean 'answer'")),
    "no such field": ("reference: answer", "refernce: answer", ("refernce",)),
    "a folder as data": ("path: rows.jsonl", "path: model", ("model",)),
    "unknown verifier": ("    k: 2", "    k: 2\n    verifier: {use: exakt}", (":10:", "'exakt'", "'exact'")),
    "unknown verifier option": ("    k: 2", "    k: 2\n    verifier: {cass: 1}", ("cass",)),
    "style without template": (
        "./model}",
        "./model, prompt_style: chatty}",
        (":2:", "prompt_style", "'chatty'"),
    ),
    "few_shot without exemplars": ("./model}", "./model, prompt_style: few_shot}", (":2:", "no exemplars")),
    "template switch that is none": (
        "./model}",
        "./model, chat_template_kwargs: {enable_thinkin: false}}",
        (":2:", "enable_thinkin"),
    ),
    "unknown dtype": ("./model}", "./model, dtype: fp16}", (":2:", "dtype", "'fp16'")),
    "adapter that is not there": (
        "./model}",
        "./model, adapter: ./lora}",
        (":2:", "'./lora'", "no such folder"),
    ),
    "tokenizer that is not there": (
        "./model}",
        "./model, tokenizer: ./tok}",
        (":2:", "'./tok'", "no such folder"),
    ),
    "revision of a folder": ("./model}", "./model, revision: abc}", (":2:", "'revision' is for hub ids")),
    "server without http": ("./model}", "./model, server: {model: m}}", (":2:", "kind: http")),
    "no models": ("  m: {path: ./model}\n", "", (":1:", "models")),
    "a model without a path": ("{path: ./model}", "{}", (":2:", "models.m.path")),
    "unknown engine": ("decoding:", "engine: {kind: sglang}\ndecoding:", (":3:", "'sglang'")),
    "tabs": ("  m:", "\tm:", ("suite.yaml:2", "not valid YAML")),
    "share above 1": ("decoding:", "max_excluded_share: 2\ndecoding:", (":3:", "max_excluded_share")),
    "no workers": ("decoding:", "verify: {workers: 0}\ndecoding:", (":3:", "verify.workers")),
}


@pytest.mark.parametrize("mistake", SUITE_MISTAKES)
def test_a_wrong_suite_is_refused_by_check(genbench: Cli, place: Path, mistake: str) -> None:
    old, new, said = SUITE_MISTAKES[mistake]
    edited(place, (old, new))
    refused(genbench("check", "suite.yaml"), *said)


ROW_MISTAKES: dict[str, tuple[str, list[Any], tuple[str, ...]]] = {
    "open fraction": ("math", [ROWS[0], {**ROWS[1], "answer": "\\frac{1}{"}], ("problem b", "never closed")),
    "several open fractions": (
        "math",
        [{**ROWS[0], "answer": "\\sqrt{"}, {**ROWS[1], "answer": "\\frac{1}{"}],
        ("rows.jsonl: 2 references", "problem a (row 1)", "problem b (row 2)"),
    ),
    "empty reference": ("exact", [{**ROWS[0], "answer": ""}], ("row 1", "empty")),
    "null reference": ("exact", [{**ROWS[0], "answer": None}], ("row 1",)),
    "empty box": ("math", [{**ROWS[0], "answer": "$ $"}], ("empty",)),
    "null question": ("exact", [{**ROWS[0], "problem": None}], ("row 1", "'problem'")),
    "two rows of one id": ("exact", [ROWS[0], ROWS[0]], ("'a'",)),
    "a row that is a list": ("exact", [[1, 2]], ("rows.jsonl:1",)),
    "no rows": ("exact", [], ("rows.jsonl",)),
}


@pytest.mark.parametrize("mistake", ROW_MISTAKES)
def test_a_wrong_row_is_refused_by_check(genbench: Cli, place: Path, mistake: str) -> None:
    kind, rows, said = ROW_MISTAKES[mistake]
    edited(place, ("kind: exact", f"kind: {kind}"))
    write_rows(place, rows)
    refused(genbench("check", "suite.yaml"), *said)


def no_weights(place: Path) -> None:
    (place / "model/model.safetensors").unlink()


def half_a_file(place: Path) -> None:
    file = place / "model/model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def missing_shard(place: Path) -> None:
    index = {"weight_map": {"a": "model-00002-of-00002.safetensors"}}
    (place / "model/model.safetensors.index.json").write_text(json.dumps(index))


def still_copying(place: Path) -> None:
    (place / "model/.model-00002.safetensors.aB3x9Z").touch()


def no_config(place: Path) -> None:
    (place / "model/config.json").unlink()


def broken_config(place: Path) -> None:
    (place / "model/config.json").write_text('{"hidden_size": ')


def no_tokenizer(place: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (place / "model" / name).unlink()


def broken_tokenizer(place: Path) -> None:
    (place / "model/tokenizer.json").write_text('{"version"')


def broken_template(place: Path) -> None:
    (place / "model/chat_template.jinja").write_text("{% for message in messages %}")


def no_template(place: Path) -> None:
    (place / "model/chat_template.jinja").unlink()


def changed_config(place: Path, **change: Any) -> None:
    file = place / "model/config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))


def another_config(place: Path) -> None:
    changed_config(place, vocab_size=520)


def grown_tokenizer(place: Path) -> None:
    changed_config(place, vocab_size=100)
    write_tensors(place / "model/model.safetensors", {"model.embed_tokens.weight": (100, 8)})


def no_context(place: Path) -> None:
    changed_config(place, max_position_embeddings=None)


def adapter_as_model(place: Path) -> None:
    write_adapter(place / "lora")
    edited(place, ("./model", "./lora"))


def adapted(place: Path, **adapter: Any) -> None:
    write_adapter(place / "lora", **adapter)
    edited(place, ("./model}", "./model, adapter: ./lora}"))


def dora(place: Path) -> None:
    adapted(place, use_dora=True)


def adapter_of_another_base(place: Path) -> None:
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
    adapted(place, shapes={name: (8, 96)})


def low_rank_of_the_suite(place: Path) -> None:
    adapted(place, rank=64)
    edited(place, ("decoding:", "engine: {max_lora_rank: 16}\ndecoding:"))


MODEL_MISTAKES: dict[Callable[[Path], None], tuple[str, ...]] = {
    no_weights: ("has a config and no weights",),
    half_a_file: ("model.safetensors", "was copied only in part"),
    missing_shard: ("lacks model-00002-of-00002.safetensors",),
    still_copying: ("has not ended",),
    no_config: ("no config.json",),
    broken_config: ("config.json is not valid JSON",),
    no_tokenizer: ("tokenizer",),
    broken_tokenizer: ("tokenizer",),
    broken_template: ("chat template",),
    no_template: ("no chat template", "prompt_style: plain"),
    another_config: ("vocab_size 520", "512 rows"),
    grown_tokenizer: ("embedding ends at id 99", "task mine, problem a"),
    no_context: ("no context length", "engine.max_model_len"),
    adapter_as_model: ("is an adapter", "'adapter'"),
    dora: ("is a DoRA adapter", "merge"),
    adapter_of_another_base: ("has 128 inputs there and 96",),
    low_rank_of_the_suite: ("max_lora_rank is 16", "needs 64"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MODEL_MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_wrong_model_is_refused_before_any_engine_loads(
    genbench: Cli, place: Path, mistake: Callable[[Path], None]
) -> None:
    mistake(place)
    # A run prepares its models as `check` does, and loads no verifier when one is wrong.
    outcome = genbench("run", "suite.yaml", "--run-dir", "out")
    refused(outcome, *MODEL_MISTAKES[mistake])
    assert "suite.yaml:" in outcome.err or "task mine, problem a: " in outcome.err
    assert not list(place.glob("out/*/engine.log"))


def refused(outcome: Outcome, *parts: str) -> None:
    assert outcome.code == 2, outcome
    text = outcome.out + outcome.err
    assert "Traceback" not in text and "pydantic" not in text
    wrong = [line for line in text.splitlines() if line.startswith("error") or "Error" in line]
    assert len(wrong) <= 1, text
    for part in parts:
        assert part in text, (part, text)


def test_the_tables_are_long_enough() -> None:
    assert len(SUITE_MISTAKES) + len(ROW_MISTAKES) + len(MODEL_MISTAKES) >= 60


def csv_rows(place: Path) -> None:
    with (place / "rows.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ROWS[0])
        writer.writeheader()
        writer.writerows(ROWS)
    edited(place, ("rows.jsonl", "rows.csv"))


def rank_64(place: Path) -> None:
    adapted(place, rank=64)


def larger_rank_of_the_suite(place: Path) -> None:
    adapted(place, rank=8)
    edited(place, ("decoding:", "engine: {max_lora_rank: 64}\ndecoding:"))


def optimizer_states(place: Path) -> None:
    (place / "model/optimizer.pt").touch()
    (place / "model/global_step5").mkdir()
    (place / "model/global_step5/part.pt").touch()


def edits(*changes: tuple[str, str]) -> Callable[[Path], None]:
    return lambda place: edited(place, *changes)


VALID: dict[str, Callable[[Path], None]] = {
    "CSV": csv_rows,
    "an adapter of rank 64": rank_64,
    "more rank than needed": larger_rank_of_the_suite,
    "optimizer states next to the weights": optimizer_states,
    "min_tokens equal to max_tokens": edits(("max_tokens: 16", "max_tokens: 16, min_tokens: 16")),
    "stop of a space": edits(("max_tokens: 16", 'max_tokens: 16, stop: [" ", "\\n\\n"]')),
    "last token as stop": edits(("max_tokens: 16", "max_tokens: 16, stop_token_ids: [511]")),
    "temperature 0 at k 1": edits(("0.6", "0"), ("k: 2", "k: 1")),
    "a whole number as temperature": edits(("0.6", "1")),
    "a number as text": edits(('"{question}"', "12 {question}")),
    "braces in a prompt": edits(('"{question}"', '"{{x}} {question}"')),
    "more tokens than the context": edits(("max_tokens: 16", "max_tokens: 100000")),
    "pass@1 at k 2": edits(("    k: 2", "    k: 2\n    metrics: [pass@1, pass^2, maj@k]")),
    "plain prompts": edits(("./model}", "./model, prompt_style: plain}")),
    "a task of digits": edits(("name: mine", "name: '2024'")),
    "numbers as references": lambda place: write_rows(place, [{**row, "answer": 4} for row in ROWS]),
    "whole numbers as ids": lambda place: write_rows(
        place, [{**row, "id": place_} for place_, row in enumerate(ROWS)]
    ),
    "no ids": edits(("id: id, ", "")),
    "a comment and a blank line": edits(("models:", "# mine\n\nmodels:")),
}


@pytest.mark.slow
@pytest.mark.parametrize("odd", VALID)
def test_an_odd_input_that_is_valid_passes_check(genbench: Cli, place: Path, odd: str) -> None:
    VALID[odd](place)
    outcome = genbench("check", "suite.yaml")
    assert outcome.code == 0, outcome
    assert len(VALID) >= 12


def test_a_run_stops_at_the_same_place_as_check(genbench: Cli, place: Path) -> None:
    grown_tokenizer(place)
    outcome = genbench("run", "suite.yaml", "--run-dir", "out")
    refused(outcome, "embedding ends at id 99")
    assert not list(place.glob("out/*/engine.log"))
