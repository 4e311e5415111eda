"""Data of nltk that the official checkers of instructions load: where it is found, and how to fetch it."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PUNKT_TABLES = {
    "abbrev_types.txt": "92a3e070f43d9b4c5534758ca40ad7343b04e7e29bfe0c2eb658a39445a4f779",
    "collocations.tab": "8e2da1225e4dd2cc9dba261ee231ccb134859e21b46006e7f472c5ee269af0cf",
    "ortho_context.tab": "4bbcca25ed3d3f06c02402abf8419b9f033b8adc06e7b482eca4e45f81a5dc4c",
    "sent_starters.txt": "f3f8535483e1dba487241b764945168123bca3209a9645e59acd1225dc76edac",
}
"""File -> SHA-256 of Punkt's English tables, as the official code of IFEval and IFBench loads them."""
TAGGER_FILES = tuple(
    f"averaged_perceptron_tagger_eng.{part}.json" for part in ("weights", "tagdict", "classes")
)
FETCH_PUNKT = "python -m nltk.downloader punkt_tab"
FETCH_TAGGER = "python -m nltk.downloader averaged_perceptron_tagger_eng"
"""nltk publishes no digest of the unpacked files. The verifier's version records the one that was used."""


@dataclass(frozen=True, slots=True)
class NltkData:
    """A folder of nltk's data, or why there is none."""

    folder: Path | None
    note: str | None
    """What differs from the official code, and the command that mends it. None if nothing differs."""


def search_path() -> list[Path]:
    """Return the folders in which nltk's downloader puts data: NLTK_DATA, the home, the environment."""
    named = [Path(item) for item in os.environ.get("NLTK_DATA", "").split(os.pathsep) if item]
    prefixes = (Path(sys.prefix), Path(sys.prefix, "share"), Path(sys.prefix, "lib"))
    system = [Path(base, part) for base in ("/usr", "/usr/local") for part in ("share", "lib")]
    return [*named, *(base / "nltk_data" for base in (Path.home(), *prefixes, *system))]


def find_punkt(places: Iterable[Path]) -> NltkData:
    """Find Punkt's English tables in the first of `places` that has them. Other tables are not used."""
    lines: list[str] = []
    for place in places:
        folder = place / "tokenizers" / "punkt_tab" / "english"
        if not folder.is_dir():
            continue
        wrong = wrong_tables(folder)
        if not wrong:
            return NltkData(folder, None)
        lines.append(f" ({folder} is not used: {', '.join(wrong)} differ from the official tables)")
    return NltkData(
        None,
        "sentences are split with an abbreviation list instead of Punkt's tables, so about one verdict in "
        f"26,000 differs from the official code; fetch the tables: {FETCH_PUNKT}{''.join(lines)}",
    )


def find_tagger(places: Iterable[Path]) -> NltkData:
    """Find the English perceptron tagger in the first of `places` that has it."""
    for place in places:
        folder = place / "taggers" / "averaged_perceptron_tagger_eng"
        if all((folder / name).is_file() for name in TAGGER_FILES):
            return NltkData(folder, None)
    return NltkData(
        None,
        "words:start_verb needs a part-of-speech tagger, so its problems are left out; fetch it: "
        f"{FETCH_TAGGER}",
    )


def wrong_tables(folder: Path) -> list[str]:
    """Return the names of Punkt's tables that `folder` lacks, or has with another content."""
    return [name for name, digest in PUNKT_TABLES.items() if _digest(folder / name) != digest]


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def notes() -> list[str]:
    """Return what lacks on this machine for verdicts equal to the official code, with the commands."""
    places = search_path()
    found = (find_punkt(places), find_tagger(places))
    return [item.note for item in found if item.note is not None]
