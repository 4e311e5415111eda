"""The toolbox of a verifier: folders that are named, folders that are found, and what the notes say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from nltk.tag.perceptron import PerceptronTagger
from nltk.tokenize.punkt import PunktParameters, save_punkt_params

from genbench.data.nltk_data import FETCH_PUNKT
from genbench.errors import UnavailableError
from genbench.verifiers.instructions.toolbox import Toolbox, open_toolbox
from genbench.verifiers.instructions.verifier import ConstraintVerifier


def save_tables(folder: Path) -> Path:
    """Write tables that know one abbreviation of their own."""
    folder.mkdir(parents=True)
    parameters = PunktParameters()
    parameters.abbrev_types = {"zzq"}
    save_punkt_params(parameters, str(folder))
    return folder


def save_tagger(place: Path) -> Path:
    """Train a tiny tagger and write it to where nltk's downloader would put one."""
    folder = place / "taggers" / "averaged_perceptron_tagger_eng"
    folder.mkdir(parents=True)
    tagger = PerceptronTagger(load=False)
    tagger.train([[("Run", "VB"), ("home", "NN")], [("The", "DT"), ("home", "NN")]] * 8)
    tagger.save_to_json(lang="eng", loc=str(folder))
    return folder


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nltk's downloader has never run, as far as home and environment go."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "data"))
    return tmp_path


def test_without_data_the_note_names_the_command_and_the_name_says_abbreviations(empty: Path) -> None:
    tools = open_toolbox(None, None)
    assert "punkt-abbreviations-" in tools.name and tools.name.endswith("no tagger")
    assert len(tools.notes) == 1 and FETCH_PUNKT in tools.notes[0]


def test_a_tagger_that_nltk_fetched_is_found(empty: Path) -> None:
    save_tagger(empty / "data")
    tools = open_toolbox(None, None)
    assert tools.has_tagger and "averaged_perceptron_tagger_eng-" in tools.name
    assert tools.first_tag(["Run", "home"]) == "VB"


def test_tables_of_a_named_folder_are_used_and_said_to_differ(empty: Path) -> None:
    tools = open_toolbox(str(save_tables(empty / "own")), None)
    assert tools.sentences("He met zzq. Smith. They left.") == ["He met zzq. Smith.", "They left."]
    assert tools.notes[0].startswith("punkt_dir: abbrev_types.txt")
    assert "punkt-tables-" in tools.name


def test_a_named_folder_without_tables_is_refused(empty: Path) -> None:
    with pytest.raises(UnavailableError, match=r"no abbrev_types\.txt, collocations\.tab"):
        open_toolbox(str(empty), None)


def test_another_splitter_replaces_sentences_but_not_those_under_tokens() -> None:
    tools = Toolbox(split=lambda text: text.split("|"))
    assert tools.sentences("a. b|c") == ["a. b", "c"]
    assert tools.tokens("A cat. It sat.") == ["A", "cat", ".", "It", "sat", "."]


@pytest.mark.slow
def test_a_language_is_none_without_letters() -> None:
    tools = Toolbox()
    assert tools.language("12345") is None
    assert tools.language("Guten Tag, wie geht es Ihnen heute?") == "de"


def test_a_toolbox_without_a_tagger_cannot_tag() -> None:
    with pytest.raises(UnavailableError, match="name a folder with tagger_dir"):
        Toolbox().first_tag(["Run"])


def test_a_verifier_of_mended_rules_has_no_notes_on_the_official_code(empty: Path) -> None:
    assert ConstraintVerifier().notes and not ConstraintVerifier(mode="fixed").notes


@pytest.mark.slow
def test_the_tools_are_loaded_without_scipy_which_others_can_import_afterwards() -> None:
    code = (
        "import sys\n"
        "import genbench.verifiers.instructions.verifier, genbench.verifiers.structured.json_schema\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] == 'scipy']\n"
        "import scipy.stats\n"
        "print(scipy.stats.norm.cdf(0.0))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0.5\n"
