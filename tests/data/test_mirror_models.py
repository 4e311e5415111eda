"""Models and nltk's data in a mirror: taken from this machine, or refused with a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.data.mirror import mirror_model, mirror_nltk, nltk_names
from genbench.data.nltk_data import TAGGER_FILES
from genbench.errors import DataError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of nltk's data on this machine with a tagger, and nothing from elsewhere."""
    place = tmp_path / "here" / "taggers" / "averaged_perceptron_tagger_eng"
    place.mkdir(parents=True)
    for name in TAGGER_FILES:
        (place / name).write_text("{}")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "here"))
    return place


def test_data_of_this_machine_are_copied(here: Path, tmp_path: Path) -> None:
    found = mirror_nltk("averaged_perceptron_tagger_eng", tmp_path / "to")
    assert found == tmp_path / "to/taggers/averaged_perceptron_tagger_eng"
    assert {path.name for path in found.iterdir()} == set(TAGGER_FILES)


def test_data_that_are_there_are_kept(here: Path, tmp_path: Path) -> None:
    first = mirror_nltk("averaged_perceptron_tagger_eng", tmp_path / "to")
    (first / TAGGER_FILES[0]).write_text("[]")
    assert mirror_nltk("averaged_perceptron_tagger_eng", tmp_path / "to") == first
    assert (first / TAGGER_FILES[0]).read_text() == "[]"


@pytest.mark.parametrize(
    ("verifier", "names"),
    [
        ("ifeval", ("punkt_tab",)),
        ("ifbench", ("punkt_tab", "averaged_perceptron_tagger_eng")),
        ("math", ()),
    ],
)
def test_only_checkers_of_instructions_need_data(verifier: str, names: tuple[str, ...]) -> None:
    assert nltk_names(verifier) == names


def test_a_model_that_cannot_be_fetched_names_what_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match=r"model no name: cannot be fetched from the hub .*hf auth login"):
        mirror_model("no name", tmp_path / "to")
