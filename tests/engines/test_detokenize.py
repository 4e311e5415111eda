"""One decode of a whole completion against vLLM's way, step by step, on texts that are hard to cut."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer, decoders, models

from genbench.engines.vllm.detokenizer import TextDecoder, is_context_free
from genbench.suite import shipped
from tests.engines.made_tokenizers import END, THINK, byte_level, sentencepiece
from tests.table import each_row


def stepwise(tokenizer: Tokenizer, prompt: list[int], ids: list[int]) -> str:
    """Return the text as vLLM 0.32 makes it, with `spaces_between_special_tokens=False`."""
    stream = decoders.DecodeStream(ids=prompt, skip_special_tokens=False)
    added, text, last_was_added = tokenizer.get_added_tokens_decoder(), "", False
    for token in ids:
        piece = stream.step(tokenizer, token)
        if token in added and last_was_added:
            piece = added[token].content
        last_was_added = token in added
        text += piece or ""
    return text


def decoder_of(tokenizer: Tokenizer) -> TextDecoder:
    made = TextDecoder.of(SimpleNamespace(_tokenizer=tokenizer))
    assert made is not None
    return made


def test_texts_of_random_bytes_and_special_tokens_are_equal() -> None:
    tokenizer, rng = byte_level(), random.Random(5)
    decoder, prompt = decoder_of(tokenizer), tokenizer.encode("a prompt: €").ids
    specials = list(tokenizer.get_added_tokens_decoder())
    size = tokenizer.get_vocab_size()
    for _ in range(400):
        ids = [
            rng.choice([rng.randrange(size), rng.choice(specials), 10**6 if rng.random() < 0.02 else 33])
            for _ in range(rng.randrange(1, 60))
        ]
        assert decoder.decode(prompt, ids) == stepwise(tokenizer, prompt, ids)
    decoder.close()


@each_row(
    "text",
    [
        "",
        " leads with a space",
        "  two",
        "ends in half a clef 𝄞",
        "é",
        "�",
        "a�",
        f"{END}{END} x",
        f"{THINK} €",
    ],
)
def test_every_cut_of_a_text_is_decoded_as_step_by_step(text: str) -> None:
    tokenizer = byte_level()
    decoder, prompt = decoder_of(tokenizer), tokenizer.encode("p").ids
    ids = tokenizer.encode(text).ids
    for cut in range(len(ids) + 1):
        assert decoder.decode(prompt, ids[:cut]) == stepwise(tokenizer, prompt, ids[:cut])
    assert asyncio.run(decoder.text(prompt, ids)) == stepwise(tokenizer, prompt, ids)


def test_long_completions_are_decoded_in_a_thread_with_the_same_text() -> None:
    tokenizer = byte_level()
    decoder, ids = decoder_of(tokenizer), tokenizer.encode("ab€ c").ids * 400
    assert asyncio.run(decoder.text([33], ids)) == "ab€ c" * 400


def test_an_incomplete_character_at_the_end_is_left_out_with_its_tokens() -> None:
    tokenizer = byte_level()
    decoder, ids = decoder_of(tokenizer), tokenizer.encode("ab€").ids
    assert decoder.decode([33], ids) == "ab€" and decoder.decode([33], ids[:-1]) == "ab"


def test_a_prompt_that_ends_inside_a_character_is_noticed() -> None:
    tokenizer = byte_level()
    decoder, ids = decoder_of(tokenizer), tokenizer.encode("a long prompt of words €").ids
    assert decoder.ends_whole(ids) and not decoder.ends_whole(ids[:-1])


def test_a_sentencepiece_tokenizer_keeps_vllms_way_because_texts_would_differ() -> None:
    tokenizer = sentencepiece()
    assert not is_context_free(tokenizer) and TextDecoder.of(SimpleNamespace(_tokenizer=tokenizer)) is None
    prompt, ids = [3], [4, 5]
    assert stepwise(tokenizer, prompt, ids) == " world!"
    assert tokenizer.decode(ids, skip_special_tokens=False) == "world!"


@pytest.mark.parametrize("content", ["<é>", "Ġx", "<�>"])
def test_an_added_token_that_is_decoded_differently_next_to_another_keeps_vllms_way(content: str) -> None:
    assert not is_context_free(byte_level(content))


def test_other_tokenizers_keep_vllms_way() -> None:
    assert TextDecoder.of(SimpleNamespace()) is None
    words = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    assert not is_context_free(words)


@pytest.mark.parametrize("name", ["tiny-base", "tiny-tuned"])
def test_the_shipped_checkpoints_are_decoded_once(name: str) -> None:
    assert is_context_free(Tokenizer.from_file(str(shipped.folder("checkpoints") / name / "tokenizer.json")))


def test_offsets_are_those_of_the_text_cut_after_a_power_of_tokens() -> None:
    tokenizer, rng = byte_level(), random.Random(9)
    decoder = decoder_of(tokenizer)
    ids = tokenizer.encode("".join(rng.choice("aé€😀 \n") for _ in range(4000))).ids[:5000]
    assert len(ids) == 5000
    text = decoder.decode([], ids)
    found = asyncio.run(decoder.offsets(ids))
    assert len(found) == 3 and list(found) == sorted(found)
    for number, end in enumerate(found):
        assert text[:end] == decoder.decode([], ids[: 1024 << number])
    assert asyncio.run(decoder.offsets(ids[:1024])) == ()
