"""Token ids of scored texts: the boundary rule of lm-eval, prefixes, windows and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genbench.errors import PromptError
from genbench.models.continuations import (
    ContinuationEncoder,
    boundary,
    sizes,
    split_space,
    text_digest,
)
from genbench.models.requests import PackedContinuations
from genbench.types import Ask, Choice, Message, Scoring, TextSize

BOS, EOS = 1, 2


class Letters:
    """A tokenizer with one token for each character, that joins `merges` in one token."""

    def __init__(self, merges: Sequence[str] = (), *, bos: int | None = BOS, adds: bool = True) -> None:
        self.bos_token_id, self.eos_token_id = bos, EOS
        self._merges, self._adds = merges, adds

    def __call__(
        self, text: str | list[str], *, add_special_tokens: bool = True, **options: Any
    ) -> dict[str, Any]:
        begin = [self.bos_token_id] if add_special_tokens and self._adds and self.bos_token_id else []
        if isinstance(text, list):
            return {"input_ids": [begin + self._ids(one) for one in text]}
        return {"input_ids": begin + self._ids(text)}

    def _ids(self, text: str) -> list[int]:
        found, place = [], 0
        while place < len(text):
            merged = next((one for one in self._merges if text.startswith(one, place)), text[place])
            special = text.startswith("<s>", place)
            found.append(BOS if special else sum(map(ord, merged)) + 1000 * (len(merged) > 1))
            place += 3 if special else len(merged)
        return found


def plain(messages: tuple[Message, ...]) -> str:
    return "\n\n".join(message.content for message in messages)


def encoder(tokenizer: Any = None, context: int | None = 100, *, chat: bool = False) -> ContinuationEncoder:
    def templated(messages: tuple[Message, ...]) -> str:
        return "<s>" + "".join(f"[{message.content}]" for message in messages)

    return ContinuationEncoder(tokenizer or Letters(), templated if chat else plain, chat, context)


def ask(*choices: Choice, document: bool = False, window: int | None = None) -> Ask:
    return Ask((Message("user", choices[0].context),), {}, scoring=Scoring(choices, document, window))


def codes(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))


def test_context_and_continuation_are_encoded_together_after_bos() -> None:
    [first, second] = (
        encoder().encode(ask(Choice("Q:", "yes", "yes"), Choice("Q:", "no", "no"))).continuations
    )
    assert first.context == (BOS, *codes("Q:"))
    assert (first.token_ids, second.token_ids) == (codes(" yes"), codes(" no"))
    assert first.context is second.context


def test_white_space_at_the_end_of_a_context_belongs_to_the_continuation() -> None:
    assert split_space("Q: \n", "a") == ("Q:", " \na")
    [found] = encoder().encode(ask(Choice("Q:\n", "a", "a", delimiter=""))).continuations
    assert found.token_ids == codes("\na")


def test_a_token_over_the_boundary_belongs_to_the_continuation_and_is_known() -> None:
    [found] = encoder(Letters(["né"])).encode(ask(Choice("Bon", "é", "é", delimiter=""))).continuations
    assert found.context == (BOS, *codes("Bo"))
    assert len(found.token_ids) == 1 and found.is_merged


def test_an_empty_context_is_the_prefix_token() -> None:
    [found] = encoder().encode(ask(Choice("", "ab", "ab"))).continuations
    assert (found.context, found.token_ids) == ((BOS,), codes(" ab"))
    [found] = encoder(Letters(bos=None)).encode(ask(Choice(" ", "ab", "ab"))).continuations
    assert (found.context, found.token_ids) == ((EOS,), codes("  ab"))


def test_a_prior_has_its_own_context() -> None:
    found = encoder().encode(ask(Choice("Q: x A:", "b", "b", prior="A:"))).continuations
    assert [(item.context, item.is_prior) for item in found] == [
        ((BOS, *codes("Q: x A:")), False),
        ((BOS, *codes("A:")), True),
    ]


def test_after_a_chat_template_there_is_neither_delimiter_nor_second_bos() -> None:
    [found] = encoder(chat=True).encode(ask(Choice("Q", "b", "b"))).continuations
    assert found.context == (BOS, *codes("[Q]"))
    assert found.token_ids == codes("b")


def test_windows_of_a_document_are_disjoint_and_see_one_token_before() -> None:
    document = Choice("", "abcdefg", "abcdefg", "")
    found = encoder().encode(ask(document, document=True, window=3)).continuations
    assert [item.token_ids for item in found] == [codes("abc"), codes("def"), codes("g")]
    assert [item.context for item in found] == [(BOS,), codes("c"), codes("f")]
    whole = encoder(context=6).encode(ask(document, document=True)).continuations
    assert [len(item.token_ids) for item in whole] == [4, 3]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (Choice("<s>Q", "b", "b"), "begins with two BOS tokens"),
        (Choice("Q" * 98, "b", "b"), "context and continuation have 101 tokens"),
        (Choice("Q", "", "", delimiter=""), "adds no token"),
        (Choice("Q", "\ud800", "x"), "half of a surrogate pair"),
    ],
)
def test_what_would_shift_or_cut_scores_is_refused(choice: Choice, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        encoder().encode(ask(choice))


def test_the_longest_request_leaves_one_token_to_draw() -> None:
    encoder(context=6).encode(ask(Choice("QQ", "b", "b")))
    with pytest.raises(PromptError, match="takes 4 of them"):
        encoder(context=5).encode(ask(Choice("QQ", "b", "b")))


def test_a_tokenizer_that_changes_the_context_is_refused() -> None:
    assert boundary([5, 6, 7], [5, 6, 9, 9]) == 2
    with pytest.raises(PromptError, match="token 1 of 20 changes"):
        boundary(list(range(20)), [0, *range(100, 130)])


def test_a_text_without_any_prefix_token_is_refused() -> None:
    bare = Letters(bos=None)
    bare.eos_token_id = None  # type: ignore[assignment]
    with pytest.raises(PromptError, match="neither BOS nor EOS"):
        encoder(bare).encode(ask(Choice("", "ab", "ab")))


def test_kept_problems_come_back_as_they_were() -> None:
    item = encoder().encode(ask(Choice("Q:", "yes", "yes", prior="A:"), Choice("Q:", "no", "no", prior="A:")))
    kept = PackedContinuations()
    kept.keep("t", "p", item)
    assert kept.get("t", "p") == item
    assert kept.get("t", "q") is None


def test_the_digest_is_that_of_all_token_ids_and_sizes_are_those_of_the_counted_text() -> None:
    one, other = (ask(Choice("Q:", text, "né né")) for text in ("yes", "yet"))
    assert encoder().encode(one).digest != encoder().encode(other).digest
    assert one.scoring is not None and other.scoring is not None
    assert text_digest(one.scoring) != text_digest(other.scoring)
    assert sizes(one.scoring) == (TextSize(5, 7, 2),)
