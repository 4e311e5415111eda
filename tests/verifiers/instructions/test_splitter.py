"""Sentences and tokens: nltk's own, from an abbreviation list or from the tables of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, save_punkt_params

from genbench.errors import UnavailableError
from genbench.verifiers.instructions.toolbox import Punkt, Splitter, WordTokenizer
from genbench.verifiers.instructions.word_lists import ABBREVIATIONS

MARKS = "abIA1.?!,:;'\"()[]{}<>*-–`@#$%&…“”‘’«» \n\t\xa0\u2028ſİ"
WORDS = (
    "Mr.",
    "e.g.",
    "The",
    "...",
    "--",
    "''",
    "``",
    "cannot",
    "'tis",
    "n't ",
    "'ll ",
    "'s ",
    "wanna ",
    "d'ye",
    "   ",
)
PIECES = st.sampled_from([*MARKS, *WORDS, "Gimme"])
TEXTS = st.lists(PIECES, max_size=25).map("".join)


def parameters() -> PunktParameters:
    found = PunktParameters()
    found.abbrev_types = set(ABBREVIATIONS)
    found.collocations = {("no", "##number##")}
    found.sent_starters = {"the"}
    found.ortho_context.update({"the": 0b110, "a": 0b10010})
    return found


def plain() -> PunktSentenceTokenizer:
    tokenizer = PunktSentenceTokenizer()
    tokenizer._params = parameters()
    return tokenizer


@pytest.mark.slow
@settings(max_examples=500)
@given(TEXTS)
def test_sentences_are_exactly_those_of_nltk(text: str) -> None:
    assert Punkt(parameters()).sentences(text) == plain().tokenize(text)


@pytest.mark.slow
@settings(max_examples=500)
@given(TEXTS)
def test_tokens_are_exactly_those_of_nltk(text: str) -> None:
    assert WordTokenizer().tokens(text) == NLTKWordTokenizer().tokenize(text)


def test_abbreviations_of_the_list_do_not_end_a_sentence() -> None:
    splitter = Splitter()
    assert splitter.sentences("Dr. Ito met Mr. Fox at 5 p.m. yesterday. They spoke, e.g. of rain.") == [
        "Dr. Ito met Mr. Fox at 5 p.m. yesterday.",
        "They spoke, e.g. of rain.",
    ]
    assert len(Splitter(abbreviations=()).sentences("Dr. Ito left.")) == 2


def test_list_numbers_are_sentences_and_newlines_end_none() -> None:
    splitter = Splitter()
    assert len(splitter.sentences("1. First\n2. Second")) == 3
    assert splitter.sentences("no mark\n\nat all") == ["no mark\n\nat all"]


def test_a_named_folder_replaces_the_list(tmp_path: Path) -> None:
    own = PunktParameters()
    own.abbrev_types = {"zug"}
    own.collocations = {("a", "b")}
    own.sent_starters = {"the"}
    own.ortho_context.update({"the": 2})
    save_punkt_params(own, dir=str(tmp_path))
    splitter = Splitter(tmp_path)
    assert splitter.sentences("Zug. nach Mr. Fox") == ["Zug. nach Mr.", "Fox"]
    assert "punkt-tables-" in splitter.name


def test_the_name_tells_list_and_tables_apart(tmp_path: Path) -> None:
    save_punkt_params(parameters(), dir=str(tmp_path))
    first = Splitter(tmp_path).name
    (tmp_path / "sent_starters.txt").write_text("they")
    names = {first, Splitter(tmp_path).name, Splitter().name, Splitter(abbreviations=("dr",)).name}
    assert len(names) == 4
    assert all(name.startswith("nltk 3.9") for name in names)


def test_a_folder_without_the_tables_is_refused(tmp_path: Path) -> None:
    (tmp_path / "collocations.tab").write_text("")
    with pytest.raises(UnavailableError, match=r"no abbrev_types.txt, ortho_context.tab, sent_starters.txt"):
        Splitter(tmp_path)
