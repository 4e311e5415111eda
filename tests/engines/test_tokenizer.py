"""Tokenizers of checkpoints: the shipped one loads, and a folder without one says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import DataError
from genbench.suite.shipped import resolve

TINY = str(resolve("shipped:checkpoints/tiny-base", Path()))


def test_the_tokenizer_of_a_folder_has_a_chat_template_and_encodes() -> None:
    from genbench.engines.tokenizer import load_tokenizer

    found = load_tokenizer(TINY, None, False)
    assert isinstance(found.chat_template, str)
    text = "2 + 2 ="
    assert found.decode(found.encode(text, add_special_tokens=False)) == text


def test_a_long_prompt_gives_no_warning_of_transformers(recwarn: pytest.WarningsRecorder) -> None:
    from genbench.engines.tokenizer import load_tokenizer

    found = load_tokenizer(TINY, None, False)
    assert len(found.encode("7 " * 20_000)) > 10_000
    assert not list(recwarn)


def test_a_folder_without_a_tokenizer_says_what_it_needs(tmp_path: Path) -> None:
    from genbench.engines.tokenizer import load_tokenizer

    with pytest.raises(
        DataError, match=r"the folder needs tokenizer\.json and tokenizer_config\.json"
    ) as error:
        load_tokenizer(str(tmp_path), None, False)
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)
