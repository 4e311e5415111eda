"""Reads numbers that are written with words, and the units after numbers.

``1.5 \\text{ million}`` is 1500000, "two and a half" is 5/2, "18万" is 180000, and ``12 \\text{ cm}`` is 12
with the unit "cm". Units are an open class: any words after a number are its unit, except a closed class of
words that make another number of it or deny it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction


def _listed(words: str) -> list[str]:
    return words.split()


def _numbered(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(_listed(words))}


SMALL_NUMBERS = _numbered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
) | _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_PARTS = _numbered(
    "half third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    2,
) | {"quarter": 4, "hundredth": 100, "thousandth": 1000, "millionth": 10**6, "billionth": 10**9}
_PARTS |= {f"{word}s": value for word, value in _PARTS.items()} | {"halves": 2}
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "quadrillion": 10**15,
    "dozen": 12,
    "lakh": 10**5,
    "crore": 10**7,
}
_SCALES |= {f"{word}s": value for word, value in _SCALES.items()} | {
    **dict.fromkeys(("十", "십"), 10),
    **dict.fromkeys(("百", "백"), 100),
    **dict.fromkeys(("千", "천"), 10**3),
    **dict.fromkeys(("万", "萬", "만"), 10**4),
    **dict.fromkeys(("亿", "億", "억"), 10**8),
}
_CHINESE = _numbered("零 一 二 三 四 五 六 七 八 九") | {"两": 2, "〇": 0}
_CHANGING = frozenset(
    _listed("""
        percent squared cubed factorial plus minus negative divided over squares root power reciprocal twice
        double triple not no never cannot can't isn't except excluding but or nor either neither if unless
        than least most is are was were be may might could remainder r mod modulo base choose wrong incorrect
        impossible between to
    """)
)
"""Words after a number that change its value or deny it, next to those of parts and scales.

"22 times" is a number of times, so "times" is a unit."""
_LEADING = frozenset(
    _listed("""
        about approximately approx around roughly exactly only just precisely therefore thus hence so total
        answer usd eur gbp inr jpy cny cad aud rmb krw rs us
    """)
)
"""Words before a number that leave it as it is: "USD 70,000", "approximately 12"."""
_TOUCHING = frozenset(_listed("mm cm km kg kgs ft lb lbs hrs mins secs mph nm ml mL kJ kW Hz kHz GB MB"))
"""Units that may touch their number without a wrapper. 70xy and 2mg may be products."""
_SYMBOLS = (
    "kPa|MPa|GPa|Pa|kHz|MHz|GHz|Hz|keV|MeV|GeV|eV|mol|mm|cm|dm|km|nm|pm|mg|kg|ml|mL|dL|ms|ns|kN|kJ|MJ|kWh|kW|MW|GW|mW|"
    "kV|mV|mA|kcal|cal|atm|rad|min|hr|yr|ft|in|yd|mi|lb|oz|week|day|year|hour|month|kB|MB|GB|TB|"
    r"\\Omega|\\mu\s*[A-Z]|[mgsACFNJKWVLlhTb]"
)
_SYMBOL = rf"(?:{_SYMBOLS})(?![A-Za-z])(?:\s*\^\s*(?:\{{\s*-?\d\s*\}}|-?\d))?"
# "540 m/s", "25 m^2", "25\ \Omega": letters after a number and a blank may be a unit.
_BARE_SYMBOLS = re.compile(
    rf"(?<=[\d}}])(?P<unit>m\^\{{?[23]\}}?|\s+{_SYMBOL}(?:\s*(?:/|\\cdot|·|\*|\s)\s*{_SYMBOL})*|\s*\\frac\s*\{{{_SYMBOL}\}}\s*\{{{_SYMBOL}\}})\s*$"
)
_COPULAS = re.compile(r"\s*(?:です|である|だ|입니다|이다|이에요|예요)$")
"""What ends a Japanese or Korean sentence: "18です", "18달러입니다"."""

_SIGNS = "".join(sorted(sign for sign in {*_CHINESE, *_SCALES} if len(sign) == 1))
_WORD_CHARS = 4
"""Bare letters from this many on are a word: AB and xyz are letters of a formula."""
_CHARS = 200
"""A longer text is not a number with words."""
_WRAP = r"\\(?:text|mathrm|mbox|textnormal|textbf|textrm|textit|textsf|hbox|rm|operatorname)"
_WRAPPER = rf"{_WRAP}\s*\{{(?P<text>[^{{}}]*)\}}"
_WRAPPED_UNIT = rf"{_WRAP}\s*\{{[^{{}}]*\}}(?:\^\{{?-?\d\}}?)?"
_STACKED = re.compile(rf"\\frac\s*\{{\s*({_WRAPPED_UNIT})\s*\}}\s*\{{\s*({_WRAPPED_UNIT})\s*\}}")
_PREFIXED = re.compile(rf"\\mu\s*(?={_WRAP})")
_TOKEN = re.compile(
    rf"{_WRAPPER}(?P<power>\s*\^\s*(?:\{{\s*-?\d\s*\}}|-?\d))?"
    r"|(?P<word>(?<![\\A-Za-z])[A-Za-z]{2,}(?:['-][A-Za-z]+)*(?![A-Za-z])|(?<=/)[A-Za-z](?![A-Za-z])|(?<![\\A-Za-z])an?(?=\s+[a-z]{3})"
    rf"|[{_SIGNS}]|[^\W\d_A-Za-z{_SIGNS}]+)(?P<raised>\^(?:\{{-?\d\}}|-?\d))?"
    r"|(?P<separator>[=<>,;:]|\\(?:leq?|geq?|lt|gt|neq?|in|approx|cup|cap|to|setminus)(?![A-Za-z]))"
    r"|(?P<mathematics>\\[A-Za-z]+|\\.|.)",
    re.DOTALL,
)
_INNER = re.compile(
    rf"(?P<word>[{_SIGNS}]|[^\W\d_{_SIGNS}]+(?:['.][^\W\d_]+)*)|(?P<number>-?(?:\d+(?:\.\d+)?|\.\d+))"
    r"|(?P<other>\^-?\d|[^\s.,()-])"
)
_WORDED = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2}|[^\W\d_A-Za-z]|\\(?:text|mathrm|mbox|hbox|rm|operatorname)")
# `3`, `1.5`, `\frac{3}{2}`, `1\frac{1}{2}`.
_PLAIN = re.compile(
    r"(?P<sign>[+-]?)\s*(?P<number>\d*\.?\d+)?\s*(?:\\frac\{(?P<above>\d+)\}\{(?P<below>\d+)\})?"
)
_GLUE = re.compile(r"(?:[\s/·*().%]|\\cdot|\\times|\^\{?-?\d\}?)*")
"""What is between the words of a unit: "km/h", `J/(kg\\cdot K)`."""
_ORDINAL = re.compile(
    r"(\d)\s*(?:\^\s*\{?\s*)?(?:\\(?:text|mathrm|textsuperscript)\s*\{\s*)?(?:st|nd|rd|th)(?![A-Za-z])\s*\}?\s*\}?"
)
_JOINING = frozenset({"and", "or"})


@dataclass(frozen=True, slots=True)
class Worded:
    """A text in which numerals stand for numbers in words, without units."""

    latex: str
    units: tuple[str, ...] = ()
    """The unit of each part that has one, in lower case."""
    complete: bool = True
    """Whether every word was a part of a number or of a unit."""
    ambiguous: bool = False
    """Whether a unit may also be a product of letters, as in ``540 m``."""


def read_words(text: str) -> Worded:
    """Read tidy LaTeX part by part: ``x=\\text{minus }7`` becomes ``x=-7``, ``3\\text{ cm}`` becomes 3."""
    if len(text) > _CHARS:
        return Worded(text)
    if (bare := _BARE_SYMBOLS.search(text)) is not None:
        before = read_words(text[: bare.start()])
        return replace(before, units=(*before.units, _plain_unit(bare["unit"])), ambiguous=True)
    if not _WORDED.search(text):
        return Worded(text)
    text = _ORDINAL.sub(r"\1", _COPULAS.sub("", text))
    text = _PREFIXED.sub("", _STACKED.sub(r"\1/\2", re.sub(r"\^\{\s*(-?\d)\s*\}(?=[^{]*\})", r"^\1", text)))
    parts = [part for segment, items in _segments(text) for part in _read_segment(segment, items)]
    return Worded(
        "".join(part.latex for part in parts),
        tuple(unit for part in parts for unit in part.units),
        all(part.complete for part in parts),
    )


def is_spoken(text: str) -> bool:
    """Return whether all words of a text are words of numbers: "one thousand", but not "Three Kings"."""
    spoken = {*SMALL_NUMBERS, *_PARTS, *_SCALES, "and", "a", "an", "of", "minus", "negative"}
    return all(word.lower() in spoken for word in re.findall(r"[^\W\d_]+", text))


def _plain_unit(unit: str) -> str:
    """Return a unit without LaTeX: ``m^{2}`` becomes "m^2"."""
    return re.sub(r"[\\{}\s]", "", re.sub(r"\\frac\s*\{(.*)\}\s*\{(.*)\}", r"\1/\2", unit))


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece of a phrase: a word, or mathematics."""

    text: str
    is_word: bool
    touches: bool = False
    """It is a bare word right after a number."""
    is_bare: bool = False
    """It has no wrapper, so that it may be letters of a formula: ``AB``."""

    @property
    def is_prose(self) -> bool:
        """Return whether it is a word that no formula has."""
        short = self.is_bare and self.text.isascii() and len(self.text) < _WORD_CHARS
        return self.is_word and not (short and self.text.lower() not in _CHANGING)


def _segments(text: str) -> Iterator[tuple[str, list[_Item]]]:
    """Yield the parts of a text between separators outside brackets, as written and in pieces."""
    items: list[_Item] = []
    start = depth = 0
    for match in _TOKEN.finditer(text):
        depth += 0 if match.lastgroup != "mathematics" else (match[0][-1] in "({[") - (match[0][-1] in ")}]")
        if depth:
            _add_mathematics(items, match[0])
        elif match["separator"]:
            yield text[start : match.start()], items
            yield match[0], []
            items, start = [], match.end()
        elif match["text"] is not None:
            items += [
                _Item(found[0], found.lastgroup != "number") for found in _INNER.finditer(match["text"])
            ]
        elif match["word"]:
            touches = match.start() > 0 and text[match.start() - 1].isalnum() and match["word"].isascii()
            items += [_Item(word, True, touches, is_bare=True) for word in match["word"].split("-")]
        else:
            _add_mathematics(items, match[0])
    yield text[start:], items


def _add_mathematics(items: list[_Item], text: str) -> None:
    if items and not items[-1].is_word:
        items[-1] = _Item(items[-1].text + text, False)
    elif text.strip():
        items.append(_Item(text, False))


def _read_segment(segment: str, items: list[_Item]) -> Iterator[Worded]:
    """Yield a segment as one number with words, or what "and" and "or" part in it, or as it is written."""
    joins = [at for at, item in enumerate(items) if item.is_word and item.text.lower() in _JOINING]
    whole = _read(items)
    if whole is not None or not joins:
        yield whole or Worded(segment, complete=not any(item.is_prose for item in items))
        return
    start = 0
    for at in [*joins, len(items)]:
        part = items[start:at]
        yield _read(part) or Worded(_written(part), complete=not any(item.is_prose for item in part))
        if at < len(items):
            yield Worded(f"\\text{{ {items[at].text.lower()} }}")
        start = at + 1


def _written(items: list[_Item]) -> str:
    return " ".join(f"\\text{{ {item.text} }}" if item.is_prose else item.text for item in items)


def _read(items: list[_Item]) -> Worded | None:
    """Return the numeral and the unit of pieces, or None if they are not a number with words."""
    if not any(item.is_word for item in items):
        return None
    phrase = _Phrase(items)
    number = phrase.number()
    unit = phrase.unit() if number is not None else None
    return None if unit is None else Worded(f" {number} ", (unit,) if unit else ())


class _Phrase:
    """One pass over the pieces of a phrase."""

    def __init__(self, items: list[_Item]) -> None:
        self._items = items
        self._at = 0
        while self._word() in _LEADING and len(items) > self._at + 1:
            self._at += 1

    def number(self) -> str | None:
        """Return the number at the beginning as LaTeX."""
        if self._word() in {"minus", "negative"}:
            self._at += 1
            inner = self.number()
            return None if inner is None else f"-{inner}" if inner.isdigit() else f"-({inner})"
        if (chinese := self._chinese()) is not None:
            return str(chinese)
        value = self._cardinal()
        if self._word() in _PARTS and (self._word().endswith("s") or value in (None, 1)):
            return self._part(Fraction(1) if value is None else value)
        if self._word() in {"a", "an"} and self._word(1) in _PARTS:
            self._at += 1
            return self._part(Fraction(1))
        if value is None:
            return self._mathematics()
        return _latex(value)

    def unit(self) -> str | None:
        """Return the rest if it is a unit: any words, and what joins them."""
        rest = self._items[self._at :]
        if not rest:
            return ""
        short = len(rest[0].text) < _WORD_CHARS and rest[0].text not in _TOUCHING
        if not rest[0].is_word or (rest[0].touches and short):
            return None
        for item in rest:
            word = item.text.lower()
            if item.is_word and (
                word in _CHANGING
                or word in _SCALES
                or word in SMALL_NUMBERS
                or word in _JOINING
                or item.text == "k"
            ):
                return None
            if not item.is_word and not _GLUE.fullmatch(item.text):
                return None
        return (
            "".join(item.text if item.is_word else item.text.strip() for item in rest)
            if any(not item.is_word for item in rest)
            else " ".join(item.text.lower() for item in rest)
        )

    def _word(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._items[at].text.lower() if at < len(self._items) and self._items[at].is_word else ""

    def _part(self, value: Fraction) -> str | None:
        """Read "3 halves". The value of "two thirds of 6" is not read."""
        if value.denominator != 1:
            return None
        self._at += 1
        return _latex(value / _PARTS[self._word(-1)])

    def _cardinal(self) -> Fraction | None:
        """Read "twenty-one", "5 thousand", "one hundred and five", "2 and a half"."""
        current = self._small()
        if current is None:
            return None
        total, ceiling = Fraction(0), Fraction(10**30)
        while (scale := _SCALES.get(self._word())) is not None:
            self._at += 1
            current *= scale
            if scale == 100 and self._word() in _SCALES:
                continue
            if current >= ceiling:
                return None
            skipped = self._word() == "and" and self._word(1) in SMALL_NUMBERS
            self._at += skipped
            total, ceiling, current = total + current, Fraction(scale), self._small() or Fraction(0)
        return total + current + self._part_after_and()

    def _part_after_and(self) -> Fraction:
        """Read "and a half", "and three quarters"."""
        count = (
            Fraction(1)
            if self._word(1) in {"a", "an", "one"}
            else Fraction(SMALL_NUMBERS.get(self._word(1), 0))
        )
        if self._word() != "and" or self._word(2) not in _PARTS:
            return Fraction(0)
        self._at += 3
        return count / _PARTS[self._word(-1)]

    def _small(self) -> Fraction | None:
        """Read a number in digits, or one below a hundred in words."""
        if self._at < len(self._items) and not self._items[self._at].is_word:
            value = _plain_value(self._items[self._at].text.strip())
            if value is None or not {self._word(1), self._word(3)} & {*_SCALES, *_PARTS}:
                return None
            self._at += 1
            return value
        small = SMALL_NUMBERS.get(self._word())
        if small is None:
            return None
        self._at += 1
        if small >= 20 and 0 < SMALL_NUMBERS.get(self._word(), 0) < 10:
            small += SMALL_NUMBERS[self._word()]
            self._at += 1
        return Fraction(small)

    def _mathematics(self) -> str | None:
        """Return mathematics as it is written: ``\\sqrt{3}`` of ``\\sqrt{3} \\text{ cm}``."""
        item = self._items[self._at] if self._at < len(self._items) else None
        if item is None or item.is_word or not re.search(r"[\w)}\]!'%]\s*$", item.text):
            return None
        self._at += 1
        return item.text.strip()

    def _chinese(self) -> int | None:
        """Read "一千八百" if it is all of a word run."""
        total = section = digit = 0
        start = self._at
        while self._word() in _CHINESE or self._word() in _SCALES:
            word, scale = self._word(), _SCALES.get(self._word(), 0)
            if word.isascii() or (scale and self._at == start and word != "十"):
                break
            self._at += 1
            if not scale:
                digit = _CHINESE[word]
            elif scale >= 10**4:
                total, section, digit = total + (section + digit) * scale, 0, 0
            else:
                section, digit = section + (digit or 1) * scale, 0
        return total + section + digit if self._at > start else None


def _plain_value(text: str) -> Fraction | None:
    """Return the value of digits or a fraction of digits."""
    match = _PLAIN.fullmatch(text)
    if (
        match is None
        or not (match["number"] or match["above"])
        or (match["below"] and not int(match["below"]))
    ):
        return None
    value = Fraction(match["number"] or "0")
    if match["above"]:
        value += Fraction(int(match["above"]), int(match["below"]))
    return -value if match["sign"] == "-" else value


def _latex(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
