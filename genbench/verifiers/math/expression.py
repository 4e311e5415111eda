"""Reads an answer into the forms that a comparison needs: numbers, equations, a modulus, a base, words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from genbench.verifiers.notation.grammar import TooLargeError
from genbench.verifiers.notation.latex import (
    canonical,
    has_letters,
    is_name,
    is_quantity,
    split_outside,
    tidy,
    unwrap,
)
from genbench.verifiers.notation.number_words import SMALL_NUMBERS, read_words
from genbench.verifiers.notation.numbers import (
    Number,
    is_too_large,
    read_number,
)

_TEXT = r"\\(?:text|mathrm|operatorname|mbox|textrm)\s*\{"
# `4 \pmod 7`, `4 (mod 7)`, `4 \text{ mod } 7`, `4 modulo 7` at the end.
_MODULUS = re.compile(
    rf"\s*,?\s*(?:\\p?mod(?![A-Za-z])|\\bmod(?![A-Za-z])|\\pod(?![A-Za-z])|[(\[]?\s*{_TEXT}\s*\(?\s*mod(?:ulo)?\s*\}}?"
    r"|[(\[]?\s*(?<![A-Za-z\\])mod(?:ulo)?(?![A-Za-z])|[(\[]\s*\\b?mod(?![A-Za-z]))"
    r"\s*[{(]?\s*(?P<modulus>[A-Za-z]|\d[\d^{} ]*?)\s*\}?\s*[)\]]?\s*\}?\s*[)\]]?\s*$"
)
_NAMES = {word: base for word, base in SMALL_NUMBERS.items() if 2 <= base <= 16}
_NAMES |= {"binary": 2, "ternary": 3, "octal": 8, "decimal": 10, "hexadecimal": 16, "hex": 16, "dec": 10}
_WORD = r"(?:[a-z]+|\d{1,2})"
# `204_5`, `204_{\text{five}}`, `204 (base 5)`, `204 in base 5`.
_BASED = re.compile(
    r"\(?(?P<digits>[0-9A-Fa-f]*\d[0-9A-Fa-f]*|[A-F]{2,})\)?\s*"
    rf"(?:_\s*\{{?\s*(?:{_TEXT})?\s*(?:base\s*)?(?P<base>{_WORD})\s*\}}*"
    rf"|(?:\\?\(|,)?\s*(?:{_TEXT})?[\s~(]*(?:in\s+)?base\s*[-~]?\s*\}}?\s*(?:{_TEXT})?\s*(?P<spoken>{_WORD})\s*\)?\s*\}}*\)?)"
)
_MODULUS_CHARS = 300


@dataclass(frozen=True, slots=True)
class Based:
    """Digits with the base that they are written in."""

    digits: str
    base: int


def split_modulus(text: str) -> tuple[str, str | None]:
    """Return an answer without its modulus, and the modulus. ``x \\equiv 4 \\pmod 7`` becomes ``x = 4``."""
    if "mod" not in text and "\\pod" not in text:
        return text, None
    found = _MODULUS.search(text) if len(text) <= _MODULUS_CHARS else None
    if found is None or not text[: found.start()].strip():
        return text, None
    return text[: found.start()].replace("\\equiv", "=").strip(), found["modulus"].replace(" ", "")


def read_based(text: str) -> Based | None:
    """Return the digits and the base of ``204_5``, ``204_{\\text{five}}`` or ``204 \\text{ (base 5)}``."""
    if ("_" not in text and "base" not in text) or len(text) > _MODULUS_CHARS:
        return None
    found = _BASED.fullmatch(text)
    if found is None:
        return None
    named = found["base"] or found["spoken"]
    base = int(named) if named.isdigit() else _NAMES.get(named)
    return Based(found["digits"].upper().lstrip("0") or "0", base) if base else None


# An equals sign, not that of <=, !=, == or :=.
_EQUALS = r"(?<![<>!=\\:])=(?!=)"
_HAS_EQUALS = re.compile(_EQUALS)
_PARTS = r",|;|(?<=[^A-Za-z\\])(?:and|or)(?=[A-Za-z\\(])"
_INEQUALITY = re.compile(r"[<>]|\\(?:le|leq|ge|geq|ne|neq|lt|gt)(?![A-Za-z])")
_EQUATION_CHARS = 1_500


def is_equation(key: str) -> bool:
    """Return whether a canonical text has an equals sign outside all brackets, and no inequality."""
    if "=" not in key or len(key) > _EQUATION_CHARS:
        return False
    return len(split_outside(key, _EQUALS)) > 1 and not _INEQUALITY.search(key)


def stated_values(key: str) -> list[str]:
    """Return the values that a canonical equation states, the best first, or none if it states no value.

    ``n=2+3=5`` states 5, ``5=x`` too. ``x^{2}=4`` states none: it is about x. ``\\ln2=0.69`` states both
    sides, since the number is rounded.
    """
    if not _HAS_EQUALS.search(key) or not is_equation(key) or len(split_outside(key, _PARTS)) > 1:
        return []
    parts = [part for part in split_outside(key, _EQUALS) if part]
    if len(parts) < 2:
        return []
    if is_quantity(parts[0]):
        return _values(parts)
    if is_name(parts[-1]) and not has_letters(parts[0]):
        return [parts[0]]
    return [parts[-1]] if not has_letters(parts[0]) else []


def _values(parts: list[str]) -> list[str]:
    last = parts[-1]
    if is_name(last) and not has_letters(parts[0]):
        return [parts[0]]
    number = None if is_too_large(last) else read_number(last)
    if number is not None and number.decimal:
        return [last, *(part for part in parts[:-1] if part != last and _rounds_to(part, number))]
    return [last]


def _rounds_to(part: str, rounded: Number) -> bool:
    """Return whether an exact side of ``\\frac13=0.33`` may be rounded to the other one."""
    exact = None if is_too_large(part) else read_number(part)
    near = exact is None or abs(exact.value - rounded.value) <= abs(rounded.value) / 50
    return near and not has_letters(part)


def equation_sides(key: str) -> tuple[str, str] | None:
    """Return (name, value) of an equation of two sides, one of them a quantity with letters."""
    parts = split_outside(key, _EQUALS) if is_equation(key) else []
    if len(parts) != 2 or not all(parts) or len(split_outside(key, ",|;")) > 1:
        return None
    if has_letters(parts[0]) and is_quantity(parts[0]):
        return parts[0], parts[1]
    if is_name(parts[1]) and not has_letters(parts[0]):
        return parts[1], parts[0]
    return None


def system_values(key: str) -> tuple[list[str], bool] | None:
    """Return the values of ``x=1,y=5`` and whether all names are one, or None for anything else.

    ``x=3,5`` and ``x=3,x=5`` have one name.
    """
    parts = split_outside(key, _PARTS)
    if len(parts) < 2 or not all(parts):
        return None
    sides = [equation_sides(part) for part in parts]
    if sides[0] is not None and not any(_HAS_EQUALS.search(part) for part in parts[1:]):
        return [sides[0][1], *parts[1:]], True
    named = [side for side in sides if side is not None]
    if len(named) != len(parts):
        return None
    names = {name for name, _ in named}
    if 1 < len(names) < len(named):
        return None
    return [value for _, value in named], len(names) == 1


def assignments(key: str) -> dict[str, str] | None:
    """Return the value of each name of ``x=1,y=5`` or ``m=n=4``, or None for anything else."""
    if "=" not in key or not is_equation(key):
        return None
    found: dict[str, str] = {}
    for part in split_outside(key, _PARTS):
        sides = split_outside(part, _EQUALS)
        names = sides[:-1]
        if not names or not all(sides) or not all(has_letters(name) and is_quantity(name) for name in names):
            return None
        for name in names:
            if name in found:
                return None
            found[name] = sides[-1]
    return found if len(found) > 1 else None


_VOTE_CHARS = 300
_WORDS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_WORD_CHARS = 4
"""Bare letters from this many on are a word: "east" is not the product "seat", but xyz is zyx."""
_WRAPPED = re.compile(r"\\(?:text|mbox|mathrm|textbf|textrm|textnormal|textit)\s*\{")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Expression:
    """One formula, number or word: tidy LaTeX without units, and a key that is equal for equal spellings."""

    latex: str
    key: str
    number: Number | None
    word: str | None
    modulus: str | None = None
    based: Based | None = None
    too_large: bool = False
    units: tuple[str, ...] = ()
    """What follows its numbers, in lower case."""
    has_words: bool = False
    """Whether it has words that are not part of a number and not a unit."""
    product: str | None = None
    """The text with its unit as factors, if the unit may be letters: ``540m``."""

    @property
    def sample(self) -> str:
        """Return a text that can be evaluated at a point: the number as a fraction, else the LaTeX."""
        if self.number is None or self.number.percent or self.number.is_huge:
            return self.latex
        return f"\\frac{{{self.number.value.numerator}}}{{{self.number.value.denominator}}}"

    @property
    def vote(self) -> str:
        """Return what maj@k counts. It depends on the answer only, so that wrong answers group too."""
        number = self.number
        if number is None and (values := stated_values(self.key)):
            number = _number(values[0])[0]
        return str(number or self.key[:_VOTE_CHARS])


def read_expression(latex: str) -> Expression:
    """Read LaTeX or plain text: a formula, a number with or without a unit, or words."""
    tidied = tidy(latex)
    text, modulus = split_modulus(tidied)
    if _NO_SOLUTION.fullmatch(bare := canonical(text)):
        return Expression("\\emptyset", "\\emptyset", None, None, modulus)
    if (based := read_based(text)) is not None:
        return Expression(text, bare, None, None, modulus, based)
    worded = read_words(text)
    if worded.complete:
        text = re.sub(r"\s+", " ", worded.latex).strip()
    found = read_formula(text, modulus)
    product = tidied if worded.ambiguous else None
    return replace(found, units=worded.units, has_words=not worded.complete, product=product)


def read_formula(text: str, modulus: str | None = None) -> Expression:
    """Read tidy LaTeX in which no word is a part of a number or a unit."""
    key = canonical(text)
    word = _read_word(text)
    number, too_large = _number(key)
    return Expression(text, key, number, word, modulus, None, too_large)


# "no solution", "No real solutions", "the empty set", `\{\}`.
_NO_SOLUTION = re.compile(
    r"(?:thereis|thereare)?no(?:real)?(?:solutions?|roots?)(?:exists?)?|(?:the)?(?:emptyset|nullset)|\\\{\s*\\\}",
    re.IGNORECASE,
)


def _number(key: str) -> tuple[Number | None, bool]:
    """Return the number of a key, and whether it is one with too many digits."""
    try:
        return read_number(key), False
    except TooLargeError:
        return None, True


def _read_word(text: str) -> str | None:
    bare = unwrap(text).strip("() ")
    if not _WORDS.fullmatch(bare) or not (_WRAPPED.match(text) or len(bare) >= _WORD_CHARS):
        return None
    return _ARTICLE.sub("", bare).casefold()
