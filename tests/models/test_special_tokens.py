"""What ends a reply and begins a text, worked out from template, tokenizer and generation config."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.tokenizer import load_tokenizer
from genbench.models.prepare import PreparedModel, prepare_model
from genbench.models.prompts import Renderer
from genbench.models.special_tokens import end_tokens
from genbench.suite import shipped
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task

PAD, BOS, END = 0, 1, 2
SUITE = """\
models: {m: {path: ./model}}
decoding: {max_tokens: 16}
tasks:
  - name: t
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: q, reference: a}}
    prompt: "{question}"
    k: 1
"""
SCORED = """\
  - name: scored
    kind: likelihood
    data: {path: scored.jsonl, fields: {id: id, question: q, options: o, reference: a}}
    prompt: "{question}"
    k: 1
"""
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GLM = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def checkpoint(place: Path, **files: dict[str, Any]) -> Path:
    """The shipped tiny checkpoint with other keys in its files. Its template ends a reply by `<|end|>`."""
    model = place / "model"
    shutil.copytree(shipped.folder("checkpoints") / "tiny-tuned", model)
    for name, keys in files.items():
        file = model / f"{name}.json"
        record = json.loads(file.read_text()) | keys
        file.write_text(json.dumps({key: value for key, value in record.items() if value is not None}))
    (place / "s.yaml").write_text(SUITE)
    (place / "rows.jsonl").write_text('{"id": "1", "q": "1+1?", "a": "2"}\n')
    return model


def prepared(place: Path, *overrides: str) -> PreparedModel:
    suite = read_suite(place / "s.yaml", overrides)
    return prepare_model(suite, "m", [load_task(suite, entry, None, None) for entry in suite.config.tasks])


def stop_ids(model: PreparedModel) -> list[int]:
    found: list[int] = model.terms["decoding"]["t"]["stop_token_ids"]
    return found


@pytest.mark.parametrize(
    ("eos", "listed", "ends", "further"),
    [
        # As before there was such a rule: EOS closes a reply, and what else is listed is only named.
        ("<|end|>", END, {END}, []),
        ("<|end|>", [END, 7], {END}, []),
        # Gemma and Phi: the tokenizer's EOS is another token, with and without a list.
        ("<|pad|>", [PAD, END], {PAD, END}, [END]),
        ("<|pad|>", PAD, {PAD, END}, [END]),
        ("<|pad|>", [END, 7], {PAD, END, 7}, [END, 7]),
        # A tokenizer without EOS.
        (None, [END], {END}, [END]),
        # An id that the model has no embedding for.
        ("<|pad|>", [END, 99_999], {PAD, END}, [END]),
    ],
)
def test_a_reply_ends_where_the_template_closes_it(
    tmp_path: Path, eos: str | None, listed: Any, ends: set[int], further: list[int]
) -> None:
    checkpoint(tmp_path, tokenizer_config={"eos_token": eos}, generation_config={"eos_token_id": listed})
    model = prepared(tmp_path)
    assert set(model.special.ends) == ends and stop_ids(model) == further
    assert model.settings.decodings["t"].stop_token_ids == tuple(further)  # type: ignore[attr-defined]


def test_without_a_template_in_force_only_eos_ends_a_text_as_before(tmp_path: Path) -> None:
    checkpoint(tmp_path, tokenizer_config={"eos_token": "<|pad|>"})
    assert stop_ids(prepared(tmp_path, "models.m.prompt_style=plain")) == []


def test_what_the_suite_says_of_stopping_stays(tmp_path: Path) -> None:
    checkpoint(tmp_path, tokenizer_config={"eos_token": "<|pad|>"})
    assert stop_ids(prepared(tmp_path, "decoding.stop_token_ids=[9, 2]")) == [9, END]
    assert stop_ids(prepared(tmp_path, "decoding.ignore_eos=true")) == []


def test_a_suite_that_named_the_end_token_itself_has_the_terms_that_it_had(tmp_path: Path) -> None:
    """Runs before this rule followed the advice to set stop_token_ids. They compare with new ones."""
    checkpoint(tmp_path, tokenizer_config={"eos_token": "<|pad|>"})
    named, found = prepared(tmp_path, "decoding.stop_token_ids=[2]"), prepared(tmp_path)
    assert named.terms == found.terms


@pytest.mark.parametrize(
    ("template", "added", "closing"),
    [
        (CHATML, ["<|im_start|>", "<|im_end|>"], "<|im_end|>"),
        (GLM, ["<|user|>", "<|assistant|>"], "<|user|>"),  # nothing closes a reply but the next question
        (CHATML, [], None),  # the tags are plain text for this tokenizer
    ],
)
def test_the_closing_token_is_the_first_added_one_after_a_reply(
    template: str, added: list[str], closing: str | None
) -> None:
    tokenizer = load_tokenizer(str(shipped.folder("checkpoints") / "tiny-tuned"), None, False)
    tokenizer.add_tokens(added)
    renderer = Renderer(tokenizer, template)
    found = end_tokens(tokenizer, renderer.after_reply, (), None)
    assert list(found.values()) == ["<|end|>", *([closing] if closing else [])]


@pytest.mark.parametrize(
    ("config", "stated", "adds"),
    [
        ({"model_type": "gemma3_text"}, {}, True),
        ({"model_type": "gemma2"}, {"add_bos_token": False}, False),
        ({}, {"add_bos_token": True}, True),
        ({}, {}, False),
    ],
)
def test_a_bos_that_the_tokenizer_should_add_and_does_not_is_added_and_said(
    tmp_path: Path, config: dict[str, Any], stated: dict[str, Any], adds: bool
) -> None:
    checkpoint(tmp_path, config=config, tokenizer_config=stated)
    (tmp_path / "s.yaml").write_text(SUITE + SCORED)
    (tmp_path / "scored.jsonl").write_text('{"id": "1", "q": "One", "o": ["two", "six"], "a": 0}\n')
    suite = read_suite(tmp_path / "s.yaml", ("models.m.prompt_style=plain",))
    tasks = [load_task(suite, entry, None, None) for entry in suite.config.tasks]
    model = prepare_model(suite, "m", tasks)
    for task in tasks:
        request = model.maker.request(task, task.problems[0], 0, ())
        assert request is not None and (request.token_ids[0] == BOS) is adds
    assert model.terms.get("bos") == ("<|bos|>" if adds else None)
    assert any("puts no <|bos|> in front of a text" in said for said in model.warnings) is adds


def test_a_chat_template_without_bos_is_named_and_not_changed(tmp_path: Path) -> None:
    model = checkpoint(tmp_path, config={"model_type": "gemma2"})
    assert prepared(tmp_path).special.warnings == ()
    template = model / "chat_template.jinja"
    template.write_text(template.read_text().replace("{{ bos_token }}", ""))
    (said,) = prepared(tmp_path).special.warnings
    assert "the chat template writes none either" in said
