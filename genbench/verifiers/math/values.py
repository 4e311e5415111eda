"""Values of answers: their types, and whether two of them are equal.

A value is a number with or without a unit, a time of day, a date, a ratio, a set of reals, a sequence of
other values, an expression or words. Each type is compared by its own rule, and different types are different
unless a rule here says how one becomes the other. What no rule understands is words: it equals only itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from genbench.errors import asking_for_extras
from genbench.verifiers.math.expression import (
    Expression,
    assignments,
    equation_sides,
    is_equation,
    read_expression,
    read_formula,
    stated_values,
    system_values,
)
from genbench.verifiers.math.intervals import has_inequality, read_real_set, sets_equal
from genbench.verifiers.math.sampling import refuted
from genbench.verifiers.notation.latex import has_letters, is_balanced, pairs, split_outside, tidy, unwrap
from genbench.verifiers.notation.numbers import Number, numbers_equal

if TYPE_CHECKING:
    from genbench.verifiers.math.algebra import Equivalence

Rule = Callable[[Expression, Expression], bool | None]
"""Compares a reference and an answer, or returns None if it does not decide."""
Kind = Literal["time", "date", "ratio", "words", "mathematics"]


@dataclass(frozen=True, slots=True)
class Value:
    """What a short text states."""

    kind: Kind
    expression: Expression
    parts: tuple[str, ...] = ()
    """Hours, minutes, seconds and half of the day; year, month and day as written; members of a ratio."""

    @property
    def number(self) -> Number | None:
        """Return the number, if the value is one, without its unit."""
        return self.expression.number if self.kind == "mathematics" else None

    @property
    def vote(self) -> str:
        """Return what maj@k counts. It depends on the value only, so that wrong answers group too."""
        return ":".join(self.parts) if self.parts else self.expression.vote


# Marks around a value: `42`, __42__, **42**, <b>42</b>, "42", 「42」, = 42, > 42.
_MARKS = re.compile(
    r"^(?:>\s*(?=[*_`])|[`*_~#=≈\s\"“”„«»「」『』‘’✅✓✔☑]|<[a-z]{1,6}>|\\therefore(?![A-Za-z]))+"
    r"|(?:(?<=[*_`])!|(?<=\d)'|[`*_~\s\"“”«»「」『』‘’✅✓✔☑.,]|</[a-z]{1,6}>|\\checkmark)+$"
)
_QUOTED = re.compile(r"^'(.*)'$|^\*\*([^*]+)\*\*(?=\D)", re.DOTALL)
_COLOURED = re.compile(
    r"\\text\s*\{\s*\([a-i]\)\s*\}(?=\s*[-\d\\$])|\\(?:textcolor|color|colorbox|tag)\s*\{[^{}]*\}\s*"
)
_ALIGNED = re.compile(
    r"\\(?:begin|end)\s*\{(?:aligned|align\*?|gathered|split|equation\*?)\}|(?<!\\)&(?=\s*=)"
)
_ESCAPED = re.compile(r"\\\\(?=[A-Za-z])")
"""A command with the backslash of a program's text: `\\\\frac`."""
_CURRENCY = re.compile(r"\\(?:yen|pounds|euro)(?![A-Za-z])|(?<=\d)\s*[€£¥₹￥₩](?=/)")
_DOLLARS = re.compile(r"(?<![A-Za-z])(?:US|AU|CA|NZ|HK|A|C|S)(?=\\?\$\s?\d)")
_VOWEL_SIGNS = re.compile(
    "[\u064b-\u0652\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09d7\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"
)
"""Signs on letters of Arabic, Devanagari, Bengali and Thai, not letters for a regex: "18 ดอลลาร์"."""
_SPACING = re.compile(r"\\[,;:! ]|~")
_LETTER = r"\\(?:mathrm|mathit|mathbf|text|rm|mathsf)\s*\{\s*(?P<letter>[A-Za-z])\s*\}"
_UPRIGHT = re.compile(
    rf"\\(?:mathrm|mathit|text|rm)\s*(?:\{{\s*(?P<constant>[eid])\s*\}}|\s(?P<bare>[eid])(?![A-Za-z]))|(?<=[-+*/^(=]){_LETTER}"
)
"""The constants e, i and d in roman, and letters after an operator. `5\\,\\mathrm{m}` is five metres."""


def _plain(text: str) -> str:
    """Return a text without marks around it and without what only typesets it."""
    if "\\" in text:
        if "\\begin" not in text:
            text = _ESCAPED.sub(r"\\", text)
        text = _ALIGNED.sub(" ", _COLOURED.sub("", text))
    if text.count("$") < 2:
        text = _MARKS.sub("", _QUOTED.sub(r"\1\2", text.strip()))
    text = _DOLLARS.sub("", _VOWEL_SIGNS.sub("", text))
    text = _CURRENCY.sub(lambda sign: r"\text{ euros}" if sign[0][0] != "\\" else "", text)
    return _UPRIGHT.sub(lambda match: match["constant"] or match["bare"] or match["letter"], text)


_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?"
    r"\s*(?P<half>[ap]\.?\s?m\b\.?|noon|midnight|in the (?:morning|afternoon|evening))?",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})/(\d{1,2})/(\d{4})")
_HALVES = {
    "a": "am",
    "p": "pm",
    "noon": "pm",
    "midnight": "am",
    "in the morning": "am",
    "in the afternoon": "pm",
    "in the evening": "pm",
}
_RATIO = re.compile(r"(?:[A-Za-z](?::[A-Za-z])+=)?[^:=<>,;|]+(?::[^:=<>,;|]+)+")
_QUANTIFIER = re.compile(
    r"\s*,?\s*(?:\\text\s*\{\s*)?(?:,?\s*for\s+(?:all|any|every|each)\b|\\forall).*$", re.DOTALL
)
"""Where an equation is valid: "f(x)=2x for all x" states f(x)=2x."""


@lru_cache(1 << 14)
def read_value(text: str) -> Value:
    """Read a short text, as it is in a box or after "Answer:"."""
    if len(text) > _CHARS:
        return Value("words", read_expression(text))
    plain = _plain(text)
    if "=" in plain and ("for" in plain or "forall" in plain):
        plain = _QUANTIFIER.sub("", plain)
    bare = " ".join(unwrap(_SPACING.sub(" ", plain)).replace("{:}", ":").replace("$", "").split()).strip(
        " .\\"
    )
    return _time(bare) or _date(bare) or _ratio(bare) or _other(plain, text)


def _time(text: str) -> Value | None:
    match = _TIME.fullmatch(text)
    if match is None or int(match["hour"]) > 24 or not (match["minute"] or match["half"]):
        return None
    half = _HALVES.get((match["half"] or "").lower(), "") or _HALVES.get(
        (match["half"] or "")[:1].lower(), ""
    )
    hour = int(match["hour"])
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    minute, second = match["minute"] or "00", match["second"] or "00"
    parts = (f"{hour:02d}", minute, second, half or ("pm" if hour > 12 else ""))
    return Value("time", read_expression(match["hour"] if not match["minute"] else text), parts)


def _date(text: str) -> Value | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    return Value("date", read_expression(text), tuple(part.lstrip("0") for part in match.groups() if part))


def _ratio(text: str) -> Value | None:
    whole = tidy(text)
    if not (match := _RATIO.fullmatch(whole)) or re.search(r"[A-Za-z]{3}", re.sub(r"\\[A-Za-z]+", "", whole)):
        return None
    parts = split_outside(re.sub(r"^[A-Za-z](?::[A-Za-z])+=", "", match[0]), ":")
    return (
        Value("ratio", read_expression(text), tuple(part.strip() for part in parts))
        if len(parts) > 1
        else None
    )


def _other(plain: str, text: str) -> Value:
    found = _as_amount(read_expression(_parted(plain)), text)
    if found.has_words and found.word is None and (told := _told(found)) is not None:
        return _other(told, text)
    return Value("words" if found.has_words and read_real_set(found.latex) is None else "mathematics", found)


# "The answer is 5", "There are 12 ways", "Area: 12".
_COPULA = re.compile(r".*(?:\b(?:is|are|equals?)\b\s*\}?|:)\s*(?=.*\S)", re.DOTALL | re.IGNORECASE)


def _told(found: Expression) -> str | None:
    """Return what follows the last "is", "are", colon or equals sign of a phrase, if it is a value."""
    sides = split_outside(found.latex, "(?<![<>!])=")
    if len(sides) > 1 and not any(read_expression(side).has_words for side in sides[1:]):
        return sides[-1]
    match = _COPULA.match(found.latex)
    if match is None:
        return None
    rest = found.latex[match.end() :]
    if rest.count("}") > rest.count("{"):
        rest = "\\text{" + rest
    return rest if not read_expression(rest).has_words else None


def _steps(text: str) -> dict[tuple[str, str], int]:
    """Read "hour minute 60" as the number of the smaller unit in the larger one."""
    rows = [row.split() for row in text.split(";")]
    return {(larger, smaller): int(factor) for larger, smaller, factor in rows}


_LARGER = _steps("""
    dollar cent 100; euro cent 100; pound pence 100; hour minute 60; minute second 60; degree minute 60;
    day hour 24; week day 7; year month 12; foot inch 12; pound ounce 16; kilometer meter 1000;
    meter centimeter 100; kilogram gram 1000
""")
"""Units that make one amount together, as in "5 feet 6 inches"."""
_NAMES = pairs("""
    m meter; metre meter; km kilometer; cm centimeter; mm millimeter; ft foot; feet foot; in inch; inche inch;
    kg kilogram; g gram; mg milligram; lb pound; oz ounce; hr hour; h hour; min minute; sec second; s second;
    l liter; litre liter; ml milliliter; yd yard; mi mile; ms millisecond; penny cent
""")
"""The usual names of units. The first one may be in the singular."""
_MEASURES = frozenset({*_NAMES.values(), *(name for pair in _LARGER for name in pair), "mile", "yard"})
_SEVERAL = re.compile(
    r"(?<![A-Za-z\\])(?P<unit>(?:dollar|euro|pound|hour|minute|degree|day|week|year|foot|feet|kilometer|km|meter|m|kilogram|kg|ft|lb|hr|h)s?)\s*\}?\s*,?\s*"
    r"(?P<next>(?:\\text\s*\{\s*)?\d)"
)


def _name_of(unit: str) -> str:
    """Return the usual name of a unit in the singular: "ft" is foot."""
    return _NAMES.get(
        unit, _NAMES.get(unit.removesuffix("s"), unit.removesuffix("s") if len(unit) > 2 else unit)
    )


def _parted(text: str) -> str:
    """Return "5 feet and 6 inches" for "5 feet 6 inches"."""

    def joined(match: re.Match[str]) -> str:
        closed = "}" if "}" in match[0] else ""
        return f"{match['unit']}{closed} and {match['next']}"

    return _SEVERAL.sub(joined, text) if re.match(r"\s*(?:\\text\s*\{)?\s*\$?\d", text) else text


def _as_amount(found: Expression, text: str) -> Expression:
    """Return "29 dollars and 50 cents" as 29.5 dollars: one amount in its largest unit."""
    numbers = [
        read_expression(part).number for part in split_outside(found.latex, r"\\text\s*\{\s*and\s*\}|,")
    ]
    units = [_name_of(unit) for unit in found.units]
    if len(units) == len(numbers) - 1 and units[-1:] == ["cent"] and "$" in text:
        units = ["dollar", *units]
    if len(numbers) < 2 or len(units) != len(numbers):
        return found
    total, size = Fraction(0), 1
    for at, number in enumerate(numbers):
        factor = _LARGER.get((units[at - 1], units[at]), 0) if at else 1
        if number is None or not factor:
            return found
        size *= factor
        total += number.value / size
    latex = f"\\frac{{{total.numerator}}}{{{total.denominator}}}"
    return replace(read_expression(latex), units=(units[0],))


_CHARS = 4_000
_OPPOSITES = pairs("""
    am pm; bc ad; bce ce; profit loss; gain loss; north south; n s; east west; e w; ago now; left right;
    more fewer; increase decrease; clockwise counterclockwise; above below; up down; noon midnight;
    before after; earlier later
""").items()
"""Words of which an answer must not have the one if its reference has the other."""


def _contradicts(reference: Expression, answer: Expression) -> bool:
    """Return whether units differ: "5 loss" for "5 profit", "5 m" for "5 cm". Unknown words never do."""
    wanted, given = (
        frozenset(re.findall(r"[^\W\d_]+", " ".join(side.units).lower().replace(".", "")))
        for side in (reference, answer)
    )
    if not wanted or not given or reference.units == answer.units:
        return False
    if any(
        (one in wanted and two in given and one not in given)
        or (two in wanted and one in given and two not in given)
        for one, two in _OPPOSITES
    ):
        return True
    names = [_name_of(side.units[0]) for side in (reference, answer)]
    return (
        len(reference.units) == len(answer.units) == 1
        and names[0] != names[1]
        and all(
            name.partition("^")[0] in _MEASURES or _name_of(name.partition("^")[0]) in _MEASURES
            for name in names
        )
    )


class Comparison:
    """Compares values."""

    def __init__(self) -> None:
        self.algebra: Equivalence | None = None
        """Loaded by the first pair that needs it."""
        self.notes: dict[str, Any] = {}
        """What a comparison used, and what it could not do."""

    def equal(self, reference: Value, answer: Value) -> bool:
        """Return whether an answer is the value of a reference, whose form decides: x=5 accepts 5.

        Raises:
            ComparisonFailedError: the comparison itself failed.
        """
        if _contradicts(reference.expression, answer.expression):
            return False
        if "ratio" in (reference.kind, answer.kind):
            return self._ratios_equal(reference, answer)
        if reference.kind == answer.kind == "time":
            return _times_equal(reference.parts, answer.parts)
        if reference.kind == answer.kind == "date":
            return reference.parts == answer.parts
        # "5 p.m." is right for 5, but 5 is not for "5 p.m.".
        typed = reference.kind in ("time", "date") or answer.kind == "date"
        return not typed and self.expressions_equal(reference.expression, answer.expression)

    def _ratios_equal(self, reference: Value, answer: Value) -> bool:
        """Compare all parts of two ratios by proportion. A ratio of two is also a number: 5:3 is 5/3."""
        one, two = reference.parts, answer.parts
        if reference.kind != answer.kind:
            numbers = [_quotient(side) for side in (reference, answer)]
            return None not in numbers and self.expressions_equal(*filter(None, numbers))
        if len(one) != len(two) or any("dots" in part for part in (*one, *two)):
            return list(map(read_expression, one)) == list(map(read_expression, two))
        return all(
            self._latex_equal(f"({above})\\cdot({two[0]})", f"({below})\\cdot({one[0]})")
            for above, below in zip(one[1:], two[1:], strict=True)
        )

    def _latex_equal(self, reference: str, answer: str) -> bool:
        return self.expressions_equal(read_expression(reference), read_expression(answer))

    def expressions_equal(self, reference: Expression, answer: Expression) -> bool:
        """Compare mathematics or words."""
        if answer.product is not None and (has_letters(reference.key) or reference.product is not None):
            products = [
                side if side.product is None else read_formula(side.product) for side in (reference, answer)
            ]
            if products[0].key == products[1].key or has_letters(reference.key):
                return self._decided(products[0], products[1])
        return self._decided(reference, answer)

    def _decided(self, reference: Expression, answer: Expression) -> bool:
        worded = reference.has_words or answer.has_words
        steps: tuple[Rule, ...] = (
            _numbers,
            _spelling,
            self._sets,
            *(() if worded else (self._equations, self._sequences)),
        )
        for step in steps:
            decided = step(reference, answer)
            if decided is not None:
                return decided
        same_words = reference.key.casefold() == answer.key.casefold()
        return same_words if worded else self._by_algebra(reference, answer)

    def _sets(self, reference: Expression, answer: Expression) -> bool | None:
        """Compare sets of real numbers. A bound never states a value."""
        inequalities = [has_inequality(side.latex) for side in (reference, answer)]
        if not any(inequalities) and not any(_SET.search(side.latex) for side in (reference, answer)):
            return None
        one, two = (read_real_set(side.latex) for side in (reference, answer))
        if one is not None and two is not None:
            return sets_equal(one, two, self._latex_equal)
        return False if any(inequalities) and not all(inequalities) else None

    def _equations(self, reference: Expression, answer: Expression) -> bool | None:
        """Compare equations, or an equation with a value."""
        if "=" not in reference.key + answer.key:
            return None
        if "=" not in reference.key:
            return self._states(reference, answer)
        return self._two_equations(reference, answer) if "=" in answer.key else self._named(reference, answer)

    def _named(self, reference: Expression, answer: Expression) -> bool | None:
        """Compare a value with an equation: ``x=5`` accepts 5, and ``x=3,y=2`` accepts 3,2 in this order."""
        if (sides := equation_sides(reference.key)) is not None:
            return self._decided(_read(sides[1]), answer)
        if assignments(reference.key) is not None and _sequence(answer.latex)[0] == "list":
            return self._latex_equal(str(_system_text(reference.key, "(,)")), f"({answer.latex})")
        wanted = _system_text(reference.key, answer.key)
        if wanted is None:
            return False if answer.number else None
        return self._decided(_read(wanted), answer)

    def _two_equations(self, reference: Expression, answer: Expression) -> bool | None:
        named, given = equation_sides(reference.key), equation_sides(answer.key)
        if named is not None and given is not None:
            if named[0] == given[0]:
                return self._latex_equal(named[1], given[1])
            if len(named[0]) == len(given[0]) == 1:
                return False
        one, two = assignments(reference.key), assignments(answer.key)
        if one is not None and two is not None:
            return one.keys() == two.keys() and all(self._latex_equal(one[name], two[name]) for name in one)
        texts = _system_text(reference.key, ""), _system_text(answer.key, "")
        return self._latex_equal(*texts) if texts[0] is not None and texts[1] is not None else None  # type: ignore[arg-type]

    def _states(self, reference: Expression, answer: Expression) -> bool | None:
        """Compare a value with what an equation states: ``x=5`` states 5, ``x^2=4`` states nothing."""
        stated = stated_values(answer.key)
        if stated:
            return any(self._decided(reference, _read(value)) for value in stated)
        system = _system_text(answer.key, reference.key)
        if system is not None:
            return self._decided(reference, _read(system))
        return False if reference.number or is_equation(answer.key) else None

    def _sequences(self, reference: Expression, answer: Expression) -> bool | None:
        """Compare lists, sets, tuples and matrices by their members."""
        (shape, wanted), (other, given) = _sequence(reference.latex), _sequence(answer.latex)
        if not shape or not other:
            if shape == other or "matrix" in shape + other:
                return None
            several = shape + other in ("set", "list")
            return several and self._single(reference, wanted, answer, given)
        if not _shapes_agree(shape, other, len(wanted)):
            return False
        if {shape, other} <= {"list", "set"}:
            return self._members_equal(wanted, given)
        return len(wanted) == len(given) and all(map(self._latex_equal, wanted, given))

    def _single(self, reference: Expression, wanted: list[str], answer: Expression, given: list[str]) -> bool:
        """Compare one value with a sequence, of which all members must be that value: ``{7}`` is 7."""
        ones = list(map(_read, wanted)) or [reference]
        others = list(map(_read, given)) or [answer]
        return all(self._decided(one, other) for one in ones for other in others)

    def _members_equal(self, wanted: Sequence[str], given: Sequence[str]) -> bool:
        """Compare members in any order. Equal ones count once."""
        one, two = ({member.key: member for member in map(_read, side)} for side in (wanted, given))
        if one.keys() == two.keys():
            return True
        if len(one) != len(two) or len(one) > _MEMBERS:
            return False
        left = [two[key] for key in two.keys() - one.keys()]
        for member in (one[key] for key in one.keys() - two.keys()):
            found = next((other for other in left if self._decided(member, other)), None)
            if found is None:
                return False
            left.remove(found)
        return True

    def _by_algebra(self, reference: Expression, answer: Expression) -> bool:
        """Ask computer algebra, and note what it could not do."""
        if refuted(reference.sample, answer.sample):
            return False
        if not _fit_for_algebra(answer.latex):
            self.notes["refused"] = _UNFIT
            return False
        self.notes["compared"] = "algebra"
        if self.algebra is None:
            # A worker that sees only numbers is spared the import.
            with asking_for_extras():
                from genbench.verifiers.math.algebra import Equivalence  # noqa: PLC0415  seconds of SymPy
            self.algebra = Equivalence()
        try:
            outcome = self.algebra.compare(unwrap(reference.latex), unwrap(answer.latex))
        except MemoryError:
            raise
        except Exception as error:  # our own comparison failed: never a wrong answer
            raise ComparisonFailedError(
                f"comparing {answer.latex[:200]!r} with {reference.latex[:200]!r}: {error}"
            ) from error
        if outcome == "refused":
            self.notes["refused"] = TOO_LARGE
        elif outcome == "unreadable":
            self.notes["unreadable"] = answer.latex[:200]
        return outcome == "equal"


class ComparisonFailedError(Exception):
    """Our own comparison failed on an answer that can be read."""


_read = lru_cache(1 << 14)(read_expression)
_SET = re.compile(
    r"\\cup|\\setminus|\\backslash|\\mathbb|\\\{.*(?:\\mid|\||:)|\breals?\b|^\s*\]|[\d}]\[\s*$|;|\\in(?![A-Za-z])"
)
"""What shows a set of reals, next to the sign of an inequality."""
_MEMBERS = 60
TOO_LARGE = "too many digits"
_UNFIT = "too long, deep or large for computer algebra, or brackets left open"
_ALGEBRA_CHARS = 1_500
"""Longest expression given to computer algebra. The longest answer of MATH-500 has 60 characters."""
_ALGEBRA_LEVELS = 30
"""Deepest nesting of braces given to computer algebra."""
_HUGE = r"[^{}]*(?:\d{5}|\^|!)"
_EAGER = re.compile(
    rf"binom\s*(?:\{{[^{{}}]*\}}\s*)?\{{{_HUGE}|\{{{_HUGE}[^{{}}]*\\choose|\\choose{_HUGE}|(?:gcd|lcm)[^=]*[\^!]"
)
"""What latex2sympy2-extended 1.11.0 evaluates while it parses, with arguments that explode."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
"""Read as one number only if the reference has a decimal point: 1,2 may be a list."""
_LETTERS = re.compile(r"[A-Za-z]+")
_TUPLE = re.compile(r"[(\[].*,.*[)\]]", re.DOTALL)
_SEPARATOR = r",|;|\\text\s*\{\s*(?:and|or)\s*\}|(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])"
_MATRIX = re.compile(
    r"^[(\[]?\s*\\begin\{(?:[bpvBV]?matrix|array)\}(?:\{[lcr|]*\})?(.*)\\end\{(?:[bpvBV]?matrix|array)\}\s*[)\]]?$",
    re.DOTALL,
)
_BRACED = re.compile(r"\\\{(.*)\\\}|\{(?=.*,)(.*)\}", re.DOTALL)
_ROW_END = re.compile(r"\\\\(?:\s*\[[^\[\]]*\])?")


def _times_equal(one: Sequence[str], two: Sequence[str]) -> bool:
    """Compare hours, minutes and seconds, and the halves of the day if both are known."""
    if one[3] and two[3]:
        return one[:3] == two[:3]
    hours = [int(side[0]) % 12 if one[3] or two[3] else int(side[0]) for side in (one, two)]
    return hours[0] == hours[1] and one[1:3] == two[1:3]


def _quotient(side: Value) -> Expression | None:
    """Return a number, or a ratio of two as a fraction."""
    if side.kind == "ratio" and len(side.parts) == 2:
        return read_expression(f"\\frac{{{side.parts[0]}}}{{{side.parts[1]}}}")
    return side.expression if side.kind in ("mathematics", "words") else None


def _numbers(reference: Expression, answer: Expression) -> bool | None:
    """Compare two numbers, which never need algebra. Most answers are numbers."""
    if reference.modulus and answer.modulus:
        return _residues_equal(reference, answer)
    if reference.number and answer.number:
        return numbers_equal(reference.number, answer.number)
    if reference.number and reference.number.decimal and _DECIMAL_COMMA.fullmatch(answer.key):
        return _numbers(reference, _read(answer.key.replace(",", ".")))
    return None


def _residues_equal(reference: Expression, answer: Expression) -> bool | None:
    """Compare residues: 4 mod 3 is 1 mod 3, but 1 mod 4 is not."""
    if reference.modulus != answer.modulus:
        return False
    one, two = reference.number, answer.number
    if one and two and str(reference.modulus).isdigit() and int(str(reference.modulus)):
        return (one.value - two.value) % int(str(reference.modulus)) == 0
    return _numbers(replace(reference, modulus=None), replace(answer, modulus=None))


def _spelling(reference: Expression, answer: Expression) -> bool | None:
    """Compare two texts as they are written. Return None if that does not decide."""
    if reference.key == answer.key:
        return bool(reference.key)
    # The base counts, not the value: `204_5` does not state 204.
    if reference.based or answer.based:
        return _bases_equal(reference, answer)
    both = reference.latex + "\n" + answer.latex
    if "\\ldots" in reference.key + answer.key or _SET.search(both):
        return None if _SET.search(both) else False
    words = [side.word or side.key.casefold() for side in (reference, answer)]
    if reference.word is None and (answer.word is None or not _LETTERS.fullmatch(reference.key)):
        return None if answer.word is None else False
    return words[0] == words[1]


def _bases_equal(reference: Expression, answer: Expression) -> bool:
    """Compare digits and bases. An answer may leave out the base that the question asks for, not add one."""
    if reference.based and answer.based:
        return reference.based == answer.based
    digits = answer.key.upper().lstrip("0") or "0"
    return reference.based is not None and digits == reference.based.digits


def _system_text(key: str, other: str) -> str | None:
    """Return ``x=1,y=5`` as the list 1,5, or as a tuple if that is what it is compared with."""
    system = system_values(key)
    if system is None:
        return None
    values, one_name = system
    joined = ",".join(values)
    if (found := assignments(key)) is not None:
        joined = ",".join(found[name] for name in _in_order(list(found)))
    return f"({joined})" if not one_name and _TUPLE.fullmatch(other) else joined


def _in_order(names: list[str]) -> list[str]:
    """Return names that follow each other in the alphabet in its order: ``y=3,x=2`` is the point (2,3).

    Others stay as they are written: ``x=-5,p=2``.
    """
    ordered = sorted(names)
    follow = all(len(name) == 1 for name in ordered) and all(
        ord(two) - ord(one) == 1 for one, two in pairwise(ordered)
    )
    return ordered if follow else names


def _sequence(latex: str) -> tuple[str, list[str]]:
    """Return the shape and the members of a list, set, tuple or matrix, or "" for anything else."""
    text = re.sub(r"^\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*\\in(?![A-Za-z])\s*", "", latex.strip())
    if (matrix := _MATRIX.match(text)) is not None:
        rows = [row.split("&") for row in _ROW_END.split(matrix[1]) if row.strip()]
        widths = {len(row) for row in rows}
        cells = [cell.strip() for row in rows for cell in row]
        return f"matrix {len(rows)} {max(widths)}" if len(widths) == 1 else "", cells
    parts = [
        signed
        for part in split_outside(text, _SEPARATOR)
        if part.strip()
        for signed in _with_signs(part.strip())
    ]
    if len(parts) > 1:
        return "list", parts
    if (braced := _BRACED.fullmatch(text)) is not None and is_balanced(
        inside := braced[1] or braced[2] or ""
    ):
        inner = split_outside(inside, ",|;")
        return "set", [signed for part in inner for signed in _with_signs(part.strip())]
    opening = next((one for one in ("(", "[", "\\langle") if text.startswith(one)), "")
    closing = {"(": ")", "[": "]", "\\langle": "\\rangle"}.get(opening, "")
    if opening and text.endswith(closing) and is_balanced(within := text[len(opening) : -len(closing)]):
        members = [part.strip() for part in split_outside(within, ",|;")]
        return (f"tuple {opening}", members) if len(members) > 1 else ("", [])
    return "", []


def _with_signs(part: str) -> list[str]:
    """Return ``\\frac{3 \\pm i}{2}`` as its two values. Several ``\\pm`` need not go together."""
    if "\\pm" not in part and "\\mp" not in part:
        return [part]
    if part.count("\\pm") > 1 and "\\mp" not in part:
        return [part]
    return [part.replace("\\pm", sign).replace("\\mp", other) for sign, other in ("+-", "-+")]


def _shapes_agree(one: str, two: str, members: int) -> bool:
    """Return whether two shapes may be equal: a list in its order is a tuple, a row of a matrix too."""
    if one == two or {one, two} <= {"list", "set"}:
        return True
    kinds = {one.split(maxsplit=1)[0], two.split(maxsplit=1)[0]}
    if kinds == {"tuple"}:
        return members > 2
    if kinds == {"tuple", "matrix"}:
        return "1" in (one + " " + two).split()
    return kinds == {"tuple", "list"}


def _fit_for_algebra(latex: str) -> bool:
    """Return whether an answer is short, shallow, balanced and free of what explodes while it is parsed."""
    if len(latex) > _ALGEBRA_CHARS or _EAGER.search(latex):
        return False
    depth = 0
    for char in latex:
        depth += (char in "{([") - (char in "})]")
        if not 0 <= depth <= _ALGEBRA_LEVELS:
            return False
    return depth == 0
