"""Conversations tokenized piece by piece have the ids that they have as a whole."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from genbench.engines.tokenizer import load_tokenizer
from genbench.models.prompts import JoinedIds, PieceTokens
from genbench.suite.shipped import folder

WORDS = [
    "a",
    "Wagen",
    "können",
    "日本",
    "x=1;",
    "\n",
    "  ",
    "\t",
    "don't",
    "<tool_call>",
    "é",
    "🙂",
    "<|user",
]
MARKS = ["<|user|>", "<|assistant|>", "<|end|>"]


def conversations(seed: int, count: int = 60) -> list[str]:
    """Texts with marks between words, with and without spaces around them, each longer than the last."""
    chance = random.Random(seed)
    found, text = [], ""
    for _ in range(count):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(1, 40))]
        text += chance.choice(["", " ", "\n"]) + chance.choice(MARKS) + chance.choice(["", " "]).join(words)
        found.append(text if chance.random() < 0.8 else text[chance.randrange(len(text)) :])
    return found


def trained(pre: Any, normalizer: Any = None, *, marks: Any = None) -> PreTrainedTokenizerFast:
    """A small BPE tokenizer with a way of its own to deal with spaces."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<unk>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator([" ".join(WORDS) * 3, "the Wagen can", *conversations(1)], trainer)
    tokenizer.add_special_tokens(
        marks or [AddedToken(mark, special=True, normalized=False) for mark in MARKS]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


KINDS = {
    "byte level": lambda: trained(pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "byte level with a space in front": lambda: trained(pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "metaspace, first": lambda: trained(pre_tokenizers.Metaspace(prepend_scheme="first")),
    "metaspace, always": lambda: trained(pre_tokenizers.Metaspace(prepend_scheme="always")),
    "lower case": lambda: trained(pre_tokenizers.Whitespace(), normalizers.Lowercase()),
    "normalizer that prepends": lambda: trained(
        pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.Prepend("_")
    ),
    "shipped": lambda: load_tokenizer(str(folder("checkpoints") / "tiny-tuned"), None, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_have_the_ids_of_the_whole(kind: str) -> None:
    tokenizer = KINDS[kind]()

    def encode(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])

    pieces = PieceTokens(tokenizer, encode)
    for text in [*conversations(2), *conversations(3)]:
        assert pieces.ids(text) == encode(text)


def test_a_longer_conversation_costs_only_what_is_new() -> None:
    tokenizer, asked = KINDS["shipped"](), []

    def encode(text: str) -> list[int]:
        asked.append(len(text))
        return list(tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])

    pieces = PieceTokens(tokenizer, encode)
    plain = pieces._encoded

    def encoded(piece: str) -> list[int]:
        asked.append(len(piece))
        return plain(piece)

    pieces._encoded = encoded  # type: ignore[method-assign]
    texts = [
        "".join(f"<|user|>{n} {'the road is long ' * 30}" for n in range(turns)) for turns in range(1, 60)
    ]
    for text in texts[:40]:
        pieces.ids(text)
    asked.clear()
    for text in texts[40:]:
        pieces.ids(text)
    assert 20 * 400 < sum(asked) < 20 * 600


@pytest.mark.slow
def test_a_tokenizer_that_cuts_texts_off_is_asked_without_that() -> None:
    tokenizer = KINDS["shipped"]()

    def encode(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])

    pieces = PieceTokens(tokenizer, encode)
    texts = conversations(6)
    wanted = [encode(text) for text in texts]
    for text in texts[:17]:  # until the whole is not tokenized any more
        pieces.ids(text)
    pieces._known.clear()
    tokenizer.backend_tokenizer.enable_truncation(3)
    assert [pieces.ids(text) for text in texts] == wanted


def test_the_digest_of_a_prompt_is_that_of_its_ids_in_json() -> None:
    tokenizer = KINDS["shipped"]()
    pieces = PieceTokens(tokenizer, lambda text: list(tokenizer(text, add_special_tokens=False)["input_ids"]))
    for text in [*conversations(7), ""]:
        found = pieces.ids(text)
        assert not isinstance(found, JoinedIds) or found.json == json.dumps(found)
    assert isinstance(found, JoinedIds)


@pytest.mark.slow
def test_marks_that_swallow_spaces_are_no_places_to_cut() -> None:
    marks = [AddedToken(mark, special=True, normalized=False, lstrip=True, rstrip=True) for mark in MARKS]
    tokenizer = trained(pre_tokenizers.ByteLevel(add_prefix_space=False), marks=marks)
    asked = []

    def encode(text: str) -> list[int]:
        asked.append(text)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    pieces = PieceTokens(tokenizer, encode)
    for text in conversations(4):
        assert pieces.ids(text) == list(tokenizer(text, add_special_tokens=False)["input_ids"])
    assert asked == conversations(4)


def test_a_tokenizer_whose_pieces_have_other_ids_is_used_on_whole_texts() -> None:
    """Here a text has one token, its length, which is not that of its pieces."""
    pieces = PieceTokens(KINDS["shipped"](), lambda text: [len(text)])
    for text in conversations(5):
        assert pieces.ids(text) == [len(text)]
