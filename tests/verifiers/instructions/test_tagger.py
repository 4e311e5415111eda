"""Without a tagger words:start_verb is unavailable; with a folder that holds one it is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from nltk.tag.perceptron import PerceptronTagger

from genbench.errors import UnavailableError
from genbench.verifiers.instructions.rulebook import Rulebook
from genbench.verifiers.instructions.toolbox import CONTEXT, Tagger, Toolbox
from genbench.verifiers.instructions.verifier import outcomes

SENTENCES = [
    [("Run", "VB"), ("to", "TO"), ("the", "DT"), ("shop", "NN")],
    [("Write", "VB"), ("a", "DT"), ("song", "NN")],
    [("The", "DT"), ("song", "NN"), ("ends", "VBZ")],
    [("Dogs", "NNS"), ("bark", "VBP"), ("at", "IN"), ("night", "NN")],
] * 8


@pytest.fixture
def tagger_dir(tmp_path: Path) -> Path:
    tagger = PerceptronTagger(load=False)
    tagger.train([list(sentence) for sentence in SENTENCES])
    tagger.save_to_json(lang="eng", loc=str(tmp_path))
    return tmp_path


def test_a_trained_tagger_tells_a_verb_from_a_noun(tagger_dir: Path) -> None:
    tools = Toolbox(tagger_dir=tagger_dir)
    constraint = Rulebook().constraint({"id": "words:start_verb"}, "test")
    assert outcomes("Write a song.", [constraint], tools)[0].strict
    assert outcomes("The song ends.", [constraint], tools)[0].why == (
        "the first word is tagged DT, not as a verb"
    )
    assert "averaged_perceptron_tagger_eng-" in tools.name


def test_three_tokens_tag_the_first_as_the_whole_text_does(tagger_dir: Path) -> None:
    tools = Toolbox(tagger_dir=tagger_dir)
    whole = PerceptronTagger(loc=str(tagger_dir))
    for words in ("Run a song", "Dogs", "Bark at the dogs that bark", "Song the write run"):
        assert tools.first_tag(words.split()) == whole.tag(words.split())[0][1]


def test_a_folder_without_the_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"no averaged_perceptron_tagger_eng\.weights\.json"):
        Toolbox(tagger_dir=tmp_path)


def test_a_tagger_is_known_by_the_digest_of_its_files(tagger_dir: Path) -> None:
    tagger = Tagger(tagger_dir)
    assert tagger.first_tag(["Run"]) == "VB" and CONTEXT == 3
    weights = tagger_dir / "averaged_perceptron_tagger_eng.weights.json"
    weights.write_text(weights.read_text() + " ")
    assert Tagger(tagger_dir).name != tagger.name
