"""What texts are read with: a sentence splitter, a word tokenizer, a language detector and perhaps a tagger.

Sentences are split by nltk's Punkt with its tables, or with an abbreviation list. nltk's word tokenizer has
quicker replacements here, and gives the same tokens. The detector finds the language as langdetect does,
seeded and with its inner loops in numpy. The tagger is nltk's averaged perceptron with the weights of a
folder.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from string import whitespace
from typing import ClassVar, Protocol

import numpy as np
from langdetect import LangDetectException
from langdetect.detector import Detector
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
from langdetect.lang_detect_exception import ErrorCode
from langdetect.utils.ngram import NGram
from numpy.typing import NDArray

from genbench.data.nltk_data import (
    PUNKT_TABLES,
    TAGGER_FILES,
    find_punkt,
    find_tagger,
    search_path,
    wrong_tables,
)
from genbench.errors import UnavailableError
from genbench.verifiers.instructions.word_lists import ABBREVIATIONS


@contextmanager
def _without(package: str) -> Iterator[None]:
    """Have imports of a package fail meanwhile, unless it is loaded already."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


# Loading nltk takes 2.3 s of CPU in each process, of which scipy takes 1.6. nltk imports scipy for Fisher's
# exact test of collocations and for aligned translations, and does without it if it is not installed.
with _without("scipy"):
    from nltk.data import FileSystemPathPointer
    from nltk.tag.perceptron import PerceptronTagger
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, load_punkt_params

LONG_GAP = re.compile(r"(\s)\s+(\s)")
SINGLE_CHARACTERS = re.compile(r"\(?\[((?:\\.|[^\\\[\]^-]|.-.)+)\]\)?")
PADDED = (r" \1 ", r" \g<0> ")


class Replacer(Protocol):
    """The part of a compiled pattern that nltk's tokenizer calls."""

    def sub(self, replacement: str, text: str, /) -> str:
        """Return the text with each match replaced."""
        ...


class Pad:
    """Puts blanks around each of some characters. A pattern would call Python for each of them."""

    def __init__(self, characters: str) -> None:
        self._padded = [(character, f" {character} ") for character in characters]

    def sub(self, _: str, text: str) -> str:
        """Return the text with blanks around each of the characters."""
        for character, padded in self._padded:
            text = text.replace(character, padded)
        return text


class Swap:
    """Replaces a fixed text."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def sub(self, _: str, text: str) -> str:
        """Return the text with the new text in place of the old one."""
        return text.replace(self._old, self._new)


class Expand:
    """Puts groups into a template. Before Python 3.12 `re` does that in slow Python."""

    def __init__(self, pattern: re.Pattern[str], template: str) -> None:
        self._pattern = pattern
        self._whole = template == PADDED[1]
        self._filled = template.replace(r"\1", "{0}").replace(r"\2", "{1}").replace(r"\3", "{2}").format

    def sub(self, _: str, text: str) -> str:
        """Return the text with each match replaced by the filled template."""
        if self._whole:
            return self._pattern.sub(lambda match: f" {match[0]} ", text)
        return self._pattern.sub(lambda match: self._filled(*match.groups()), text)


class Contraction:
    """Splits a word such as "cannot". The pattern is tried only if an ASCII text has the word."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._word = "".join(re.findall(r"\(([a-z']+)\)", pattern.pattern))

    def sub(self, replacement: str, text: str) -> str:
        """Return the text with each match replaced, if the word is in it."""
        if text.isascii() and self._word not in text.lower():
            return text
        return self._pattern.sub(replacement, text)


TokenRule = tuple[Replacer, str]


def sooner(rule: TokenRule) -> TokenRule:
    """Return a quicker `rule` if it only pads single characters or replaces a fixed text."""
    pattern, replacement = rule
    if not isinstance(pattern, re.Pattern):
        return rule
    plain = pattern.pattern.strip("()")
    new = replacement.replace(r"\1", plain).replace(r"\g<0>", plain)
    if plain in ("''", "``", '"', "--"):
        return Swap(plain, new), ""
    characters = _class_members(pattern)
    if characters and replacement in PADDED:
        return Pad(characters), ""
    return (Expand(pattern, replacement), "") if "\\" in replacement else rule


def _class_members(pattern: re.Pattern[str]) -> str:
    """Return the characters of a pattern that is one character class, or an empty text if it is not."""
    if not SINGLE_CHARACTERS.fullmatch(pattern.pattern):
        return ""
    return "".join(character for character in map(chr, range(0x3000)) if pattern.fullmatch(character))


class WordTokenizer(NLTKWordTokenizer):  # type: ignore[misc]  # nltk has no types
    """nltk's tokens of one sentence in time linear in its length."""

    STARTING_QUOTES: ClassVar = [
        (Pad("«“‘„"), ""),
        (Expand(re.compile("`+"), PADDED[1]), ""),
        *(sooner(rule) for rule in NLTKWordTokenizer.STARTING_QUOTES[1:]),
    ]
    PUNCTUATION: ClassVar = [sooner(rule) for rule in NLTKWordTokenizer.PUNCTUATION]
    ENDING_QUOTES: ClassVar = [sooner(rule) for rule in NLTKWordTokenizer.ENDING_QUOTES]
    PARENS_BRACKETS = sooner(NLTKWordTokenizer.PARENS_BRACKETS)
    DOUBLE_DASHES = sooner(NLTKWordTokenizer.DOUBLE_DASHES)
    CONTRACTIONS2: ClassVar = [Contraction(pattern) for pattern in NLTKWordTokenizer.CONTRACTIONS2]
    CONTRACTIONS3: ClassVar = [Contraction(pattern) for pattern in NLTKWordTokenizer.CONTRACTIONS3]

    def tokens(self, sentence: str) -> list[str]:
        """Return the word tokens of a sentence."""
        # Two of the patterns are quadratic in the length of one run of blanks. What they and the others
        # see of a run is its first and its last character, so the middle can go.
        found: list[str] = self.tokenize(LONG_GAP.sub(r"\1\2", sentence))
        return found


TABLES = tuple(PUNKT_TABLES)
CLOSING = frozenset("\"')]}")
"""The characters that `re_boundary_realignment` can begin with."""


class Punkt(PunktSentenceTokenizer):  # type: ignore[misc]  # nltk has no types
    """nltk's splitter in one loop and with a cache, because loose variants ask about the same places."""

    def __init__(self, parameters: PunktParameters) -> None:
        super().__init__()
        self._params = parameters
        self._remembered = lru_cache(maxsize=4096)(self.text_contains_sentbreak)

    def sentences(self, text: str) -> list[str]:
        """Return what `tokenize` gives. Closing quotes and brackets belong to the sentence before."""
        pieces = self._pieces(text)
        found: list[str] = []
        drawn = 0
        for (start, stop), (after, limit) in zip(pieces, [*pieces[1:], (0, 0)], strict=True):
            if after < limit and text[after] in CLOSING and (closing := self._closing(text, after, limit)):
                found.append(text[start + drawn : after + len(closing.rstrip())])
                drawn = len(closing)
            else:
                if start + drawn < stop:
                    found.append(text[start + drawn : stop])
                drawn = 0
        return found

    def _closing(self, text: str, start: int, stop: int) -> str:
        """Return the closing marks at the start of a piece of `text`, with the blanks after them."""
        match = self._lang_vars.re_boundary_realignment.match(text, start, stop)
        return match.group() if match else ""

    def _pieces(self, text: str) -> list[tuple[int, int]]:
        """Return starts and ends of sentences by their end marks only."""
        pieces: list[tuple[int, int]] = []
        start, breaks = 0, self._breaks
        for mark, word in self._last_marks(text):
            end = mark.end()
            after, following = mark.group("after_tok", "next_tok")
            if breaks(text[word:end] + after):
                pieces.append((start, end))
                start = mark.start("next_tok") if following else end
        return [*pieces, (start, len(text.rstrip()))]

    def _last_marks(self, text: str) -> Iterator[tuple[re.Match[str], int]]:
        """Yield the last mark of each word that may end a sentence, and the start of that word."""
        mark: re.Match[str] | None = None
        word = before = 0
        for following in self._lang_vars.period_context_re().finditer(text):
            here = following.start()
            blank = here - 1
            while blank > before and text[blank] not in whitespace:
                blank -= 1
            start = blank + 1 if blank > before else word
            if mark is not None and before <= start:
                yield mark, word
            mark, before, word = following, here, start
        if mark is not None:
            yield mark, word

    def _breaks(self, context: str) -> bool:
        """Return whether a sentence ends between the words around a mark. Long ones are not cached."""
        found: bool = (self._remembered if len(context) < 200 else self.text_contains_sentbreak)(context)
        return found


class Splitter:
    """Splits English text into sentences and tokens.

    `folder` contains the four `punkt_tab` tables that the official code loads. Without it, Punkt knows only
    the abbreviations of this package, which are the same on every machine.
    """

    def __init__(self, folder: Path | None = None, abbreviations: Collection[str] = ABBREVIATIONS) -> None:
        self._punkt = Punkt(_tables(folder) if folder else _untrained(abbreviations))
        self.name = f"nltk {version('nltk')} {_name(folder, abbreviations)}"
        self._tokens_of = lru_cache(maxsize=512)(WordTokenizer().tokens)

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text."""
        return self._punkt.sentences(text)

    def tokens(self, text: str) -> list[str]:
        """Return the word tokens of all sentences."""
        return [token for sentence in self.sentences(text) for token in self._tokens_of(sentence)]


def _untrained(abbreviations: Collection[str]) -> PunktParameters:
    parameters = PunktParameters()
    parameters.abbrev_types = set(abbreviations)
    return parameters


def _tables(folder: Path) -> PunktParameters:
    """Read the tables in `folder`.

    Raises:
        UnavailableError: one of the four files is missing.
    """
    missing = [name for name in TABLES if not (folder / name).is_file()]
    if missing:
        raise UnavailableError(
            f"{folder}: no {', '.join(missing)}; punkt_dir must contain the English punkt_tab tables "
            f"({', '.join(TABLES)}), or be left out"
        )
    return load_punkt_params(FileSystemPathPointer(str(folder)))


def _name(folder: Path | None, abbreviations: Collection[str]) -> str:
    if folder is None:
        digest = hashlib.sha256("\n".join(sorted(abbreviations)).encode())
        return f"punkt-abbreviations-{digest.hexdigest()[:12]}"
    digest = hashlib.sha256()
    for name in TABLES:
        digest.update((folder / name).read_bytes())
    return f"punkt-tables-{digest.hexdigest()[:12]}"


SEED = 0
"""Langdetect draws at random, and its seed is part of the version of verdicts."""
LONGEST_MATCH = 3000
"""More characters than langdetect's patterns of addresses (which it blanks) can span together."""

REMEMBERED = 20_000
LONG_WORD = 30

Floats = NDArray[np.float64]


class Alphabet(dict[str, str]):
    """A table of langdetect's normal form of each character, filled as characters come."""

    def __missing__(self, character: str) -> str:
        normal: str = NGram.normalize(character)
        self[character] = normal
        return normal


class Factory(DetectorFactory):  # type: ignore[misc]  # langdetect has no types
    """langdetect's profiles in one order on every machine, as arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.set_seed(SEED)
        # Its own loader takes the files in the order of the folder listing, which differs by machine.
        files = sorted(path for path in Path(PROFILES_DIRECTORY).iterdir() if not path.name.startswith("."))
        self.load_json_profile([path.read_text(encoding="utf-8") for path in files])
        self.alphabet = Alphabet()
        self.vector = lru_cache(maxsize=REMEMBERED)(self._vector)
        self._short = lru_cache(maxsize=REMEMBERED)(self._grams)

    def grams(self, word: str) -> tuple[str, ...]:
        """Return the grams of a word that are in some profile. A blank at its end belongs to the word."""
        return self._short(word) if len(word) < LONG_WORD else self._grams(word)

    def _grams(self, word: str) -> tuple[str, ...]:
        """Return the grams of one to three characters that end at each character, except inside capitals."""
        found: list[str] = []
        grams = last = " "
        for character in word if word != " " else "":
            grams = grams[-2:] + character
            if not (character.isupper() and last.isupper()):
                found += (character, grams[-2:], grams) if len(grams) > 2 else (character, grams)
            last = character
        return tuple(gram for gram in found if gram in self.word_lang_prob_map and gram != " ")

    def _vector(self, gram: str) -> Floats:
        return np.array(self.word_lang_prob_map[gram])


class QuickDetector(Detector):  # type: ignore[misc]
    """langdetect's detector with the same result to the last bit: the same draws, products and sums."""

    def __init__(self, factory: Factory) -> None:
        super().__init__(factory)
        self._factory = factory

    def _extract_ngrams(self) -> list[str]:
        """Return the grams of every word. A word includes the blank after it, so the last one may differ."""
        text = "".join(map(self._factory.alphabet.__getitem__, self.text))
        *words, last = text.split(" ")
        found = [gram for word in words for gram in self._factory.grams(word + " ")]
        return [*found, *self._factory.grams(last)]

    def _detect_block(self) -> None:
        """Return each language's probability, the mean over trials. A trial draws grams until one is sure.

        Raises:
            LangDetectException: no gram of the text is in any profile.
        """
        self.cleaning_text()
        grams = self._extract_ngrams()
        if not grams:
            raise LangDetectException(ErrorCode.CantDetectError, "No features in text.")
        self.random.seed(self.seed)
        total = np.zeros(len(self.langlist))
        for _ in range(self.n_trial):
            total += self._trial(grams) / self.n_trial
        self.langprob = total.tolist()

    def _trial(self, grams: list[str]) -> Floats:
        vector, choice = self._factory.vector, self.random.choice
        weight = (self.alpha + self.random.gauss(0.0, 1.0) * self.ALPHA_WIDTH) / self.BASE_FREQ
        likely = np.full(len(self.langlist), 1.0 / len(self.langlist))
        factor = np.empty_like(likely)
        for draw in range(self.ITERATION_LIMIT + 1):
            np.add(vector(choice(grams)), weight, out=factor)
            np.multiply(likely, factor, out=likely)
            if draw % 5 == 0:
                likely /= sum(likely.tolist())
                if likely.max() > self.CONV_THRESHOLD:
                    break
        return likely


class LanguageDetector:
    """Detects languages. Each text has draws of its own, so the order of texts does not matter."""

    name = f"langdetect {version('langdetect')} seed {SEED}"

    @cached_property
    def _factory(self) -> Factory:
        return Factory()

    def language(self, text: str) -> str | None:
        """Return the code of the likeliest language, or None if `text` has no letters to go by."""
        detector = QuickDetector(self._factory)
        try:
            detector.append(head(text, detector))
            code: str = detector.detect()
        except LangDetectException:
            return None
        return code


def head(text: str, detector: Detector) -> str:
    """Return the part of `text` that the detector reads, which is cut after addresses are blanked.

    Its pattern of mail addresses tries 64 lengths at every letter, which takes long on long texts.
    """
    size = 2 * detector.max_text_length
    while size < len(text):
        left = detector.MAIL_RE.sub(" ", detector.URL_RE.sub(" ", text[:size]))
        if len(left) >= detector.max_text_length + LONGEST_MATCH:
            return text[:size]
        size *= 2
    return text


CONTEXT = 3
"""The number of words that decide the first tag: the tagger looks two words ahead."""


class Tagger:
    """Tags the first word of a text as nltk's `pos_tag` does."""

    def __init__(self, folder: Path) -> None:
        missing = [name for name in TAGGER_FILES if not (folder / name).is_file()]
        if missing:
            raise UnavailableError(
                f"{folder}: no {', '.join(missing)}; tagger_dir must contain nltk's tagger "
                "averaged_perceptron_tagger_eng as three JSON files, "
                "or be left out (words:start_verb is then unavailable)"
            )
        self._folder = folder
        digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in TAGGER_FILES))
        self.name = f"averaged_perceptron_tagger_eng-{digest.hexdigest()[:12]}"

    @cached_property
    def _tagger(self) -> PerceptronTagger:
        return PerceptronTagger(loc=str(self._folder))

    def first_tag(self, tokens: list[str]) -> str:
        """Return the Penn Treebank tag of the first of `tokens` (at least one)."""
        tag: str = self._tagger.tag(tokens[:CONTEXT])[0][1]
        return tag


class Toolbox:
    """The tools of one verifier.

    Args:
        punkt_dir: a folder with Punkt's tables. None: the abbreviation list of this package.
        tagger_dir: a folder with nltk's English tagger. None: no tagger.
        split: replaces Punkt's sentences, but not those under the word tokens.
        notes: how these tools differ from those of the official code.
    """

    def __init__(
        self,
        punkt_dir: Path | None = None,
        tagger_dir: Path | None = None,
        split: Callable[[str], list[str]] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._splitter = Splitter(punkt_dir)
        self._detector = LanguageDetector()
        self._tagger = Tagger(tagger_dir) if tagger_dir else None
        self._split = split
        self._language_of = lru_cache(maxsize=16)(self._detector.language)
        self.notes = notes

    @property
    def name(self) -> str:
        """Every tool with its version. Verdicts of other tools are not comparable."""
        tagger = self._tagger.name if self._tagger else "no tagger"
        return f"{self._splitter.name}; {self._detector.name}; {tagger}"

    @property
    def has_tagger(self) -> bool:
        """Whether `first_tag` works."""
        return self._tagger is not None

    def sentences(self, text: str) -> list[str]:
        """Split a text into sentences."""
        return self._split(text) if self._split else self._splitter.sentences(text)

    def tokens(self, text: str) -> list[str]:
        """Split a text into nltk's word tokens."""
        return self._splitter.tokens(text)

    def language(self, text: str) -> str | None:
        """Return the ISO 639-1 code of a text's language, or None if it has no letters to go by."""
        return self._language_of(text)

    def first_tag(self, tokens: list[str]) -> str:
        """Return the part of speech of the first token.

        Raises:
            UnavailableError: there is no tagger.
        """
        if self._tagger is None:
            raise UnavailableError("no tagger: name a folder with tagger_dir")
        return self._tagger.first_tag(tokens)


def open_toolbox(
    punkt_dir: str | None, tagger_dir: str | None, split: Callable[[str], list[str]] | None = None
) -> Toolbox:
    """Return the tools of a suite's options. A folder that is not named is sought where nltk keeps its data.

    Raises:
        UnavailableError: a named folder does not have the files.
    """
    places = search_path()
    notes: list[str] = []
    punkt, tagger = Path(punkt_dir) if punkt_dir else None, Path(tagger_dir) if tagger_dir else None
    if punkt is None:
        found = find_punkt(places)
        punkt = found.folder
        notes += [found.note] if found.note else []
    elif wrong := wrong_tables(punkt):
        notes.append(f"punkt_dir: {', '.join(wrong)} differ from the tables that the official code loads")
    return Toolbox(punkt, tagger or find_tagger(places).folder, split, tuple(notes))
