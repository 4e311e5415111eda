"""Continuations around the borders of cache blocks, and of texts at boundaries, in a small vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from genbench.models.continuations import ContinuationEncoder
from genbench.suite.shipped import folder
from genbench.types import Ask, Choice, Continuation, Message, Scoring
from tests.engines.made_tokenizers import END, byte_level

VOCABULARY, BLOCK = 512, 128
LENGTHS = (1, 2, 40, 127, 128, 129, 300, 384, 600)
SHARED = ((100, 27), (100, 28), (100, 29), (127, 1), (128, 127), (128, 128), (130, 140), (383, 2))
"""Tokens of the context, and of the beginning that its continuations share."""


def ids(seed: int, count: int) -> tuple[int, ...]:
    """Return token ids that look random and are the same in every run."""
    state, found = seed * 2654435761 + 12345, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        found.append(4 + (state >> 33) % (VOCABULARY - 8))
    return tuple(found)


def choices(length: int, shared: int) -> list[Continuation]:
    """Return four continuations of a context, which begin with `shared` equal tokens."""
    context, begin = ids(length, length), ids(shared + 1000, shared)
    return [Continuation(place, context, (*begin, *ids(place + 1, 3 + place))) for place in range(4)]


class Encodes:
    """A tokenizer as transformers offers it, as far as scored texts need it."""

    def __init__(self, tokenizer: Tokenizer, bos: str | None, eos: str) -> None:
        self._tokenizer = tokenizer
        self.bos_token_id = None if bos is None else tokenizer.token_to_id(bos)
        self.eos_token_id = tokenizer.token_to_id(eos)

    def __call__(self, text: str | Sequence[str], **options: Any) -> dict[str, Any]:
        if isinstance(text, str):
            return {"input_ids": self._tokenizer.encode(text, add_special_tokens=False).ids}
        return {"input_ids": [self(one)["input_ids"] for one in text]}


def tiny() -> Encodes:
    """Return the tokenizer of the shipped checkpoints."""
    path = Path(folder("checkpoints")) / "tiny-base" / "tokenizer.json"
    return Encodes(Tokenizer.from_file(str(path)), "<|bos|>", "<|end|>")


def of_texts(tokenizer: Any, *pairs: tuple[str, str]) -> list[Continuation]:
    """Return the continuations of pairs of context and text, one choice each."""
    encoder = ContinuationEncoder(tokenizer, lambda said: said[-1].content, False, 1024)
    found = []
    for place, (context, text) in enumerate(pairs):
        scoring = Scoring((Choice(context, text, text, ""),))
        [item] = encoder.encode(Ask((Message("user", context),), {}, scoring=scoring)).continuations
        found.append(Continuation(place, item.context, item.token_ids, is_merged=item.is_merged))
    return found


def text_cases() -> dict[str, list[Continuation]]:
    """Return texts without context, and texts that a tokenizer joins with the end of their context."""
    empty = (("", "Which word is a kind of place?"), (" ", "school"), ("", "é€"), ("\n", "A"))
    over = (("Which word is a quest", "ion?"), ("Name a quest", "ion"), ("quest", "ions"))
    bytes_over = (("a caf ü", "€ b"), ("x ü", "€"), ("the", " theme"), ("a ", " b"), ("e", "é"))
    return {
        "texts without context": of_texts(tiny(), *empty),
        "texts over a boundary": of_texts(tiny(), *over),
        "characters over a boundary": of_texts(Encodes(byte_level(), None, END), *bytes_over),
    }


def named_cases() -> dict[str, list[Continuation]]:
    """Return every case by name: contexts, shared beginnings, labels, priors and windows."""
    pairs = [*((length, 0) for length in LENGTHS), *SHARED]
    found = {f"{length}+{shared}": choices(length, shared) for length, shared in pairs}
    found["labels"] = [Continuation(place, ids(3, 150), (token,)) for place, token in enumerate(ids(5, 4))]
    asked = [Continuation(0, ids(1, 9), ids(2, 3)), Continuation(1, ids(1, 9), ids(3, 2))]
    found["priors"] = [*asked, *(Continuation(one.choice, (1,), one.token_ids, True) for one in asked)]
    text = ids(11, 300)
    found["windows"] = [
        Continuation(0, (1,) if start == 0 else (text[start - 1],), text[start : start + 128])
        for start in range(0, 300, 128)
    ]
    return found | text_cases()
