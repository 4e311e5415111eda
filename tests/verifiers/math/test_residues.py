"""Moduli and bases."""

from __future__ import annotations

import pytest

from genbench.verifiers.math.expression import Based, read_based, split_modulus
from tests.table import each_row


@each_row(
    "text",
    [
        "204 \\pmod{1000}",
        "204\\pmod {1000}",
        "204 \\bmod 1000",
        "204 \\mod 1000",
        "204 (\\text{mod } 1000)",
        "204 \\text{ mod } 1000",
        "204 mod 1000",
        "204 (mod 1000)",
        "204 \\ (\\mathrm{mod}\\ 1000)"[:0] or "204 \\pmod 1000",
    ],
)
def test_a_modulus_is_split_off(text: str) -> None:
    assert split_modulus(text) == ("204", "1000")


def test_a_congruence_is_an_equation() -> None:
    assert split_modulus("x \\equiv 204 \\pmod{1000}") == ("x = 204", "1000")


@pytest.mark.parametrize("text", ["204", "\\text{model}", "\\pmod{7}"])
def test_other_texts_have_no_modulus(text: str) -> None:
    assert split_modulus(text) == (text, None)


@each_row(
    "text",
    [
        "204_5",
        "204_{5}",
        "(204)_5",
        "204_{\\text{five}}",
        "204_{five}",
        "204 \\text{ (base 5)}",
        "204 \\text{ base } 5",
        "204 base 5",
        "0204_5",
    ],
)
def test_a_base_is_read(text: str) -> None:
    assert read_based(text) == Based("204", 5)


def test_hexadecimal_digits_have_no_case() -> None:
    assert read_based("a3_{16}") == read_based("A3_{16}") == Based("A3", 16)


@pytest.mark.parametrize("text", ["204", "a_5", "x_1", "F_{30}", "2+3_5", "\\text{base}"])
def test_other_texts_have_no_base(text: str) -> None:
    assert read_based(text) is None
