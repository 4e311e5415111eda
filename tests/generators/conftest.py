"""A tokenizer of the tests: a token is a word, a digit, or a sign, as in the tokenizers of large models."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from genbench.generators.sizing import PieceCounts, Tokens

_TOKEN = re.compile(r" ?[A-Za-z]{1,5}|\d| ?[^\sA-Za-z\d]+\n*|\s+")


def split_tokens(texts: Sequence[str]) -> list[int]:
    return [len(_TOKEN.findall(text)) for text in texts]


@pytest.fixture(scope="session")
def tokens() -> Tokens:
    return split_tokens


@pytest.fixture(scope="session")
def counts() -> PieceCounts:
    return PieceCounts(split_tokens)
