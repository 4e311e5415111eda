"""Physical units after a number."""

from __future__ import annotations

from genbench.verifiers.math.verifier import without_unit
from tests.table import each_row


@each_row(
    "written, number",
    [
        ("4.5e33 erg/s", "4.5e33"),
        ("4.5e33 ergs s^{-1}", "4.5e33"),
        ("3 \\times 10^8 m/s", "3 \\times 10^8"),
        ("3\\cdot 10^{8} \\frac{m}{s}", "3\\cdot 10^{8}"),
        ("5 \\mathrm{~J\\,s}", "5"),
        ("5 J \\cdot s", "5"),
        ("1.2 kg m^2 s^{-2}", "1.2"),
        ("0.5613 \\AA", "0.5613"),
        ("2 M_{\\odot}", "2"),
        ("-7 \\mu m", "-7"),
        ("700 nm", "700"),
        ("20 (km/s)", "20"),
        ("10 \\text{ per second}", None),
        ("3x", None),
        ("3 x y", None),
        ("5", None),
        ("m", None),
        ("3 + 4 m", None),
        ("3 of 4 m", None),
        ("3 or 5 m", None),
    ],
)
def test_a_number_and_a_unit_are_told_from_other_texts(written: str, number: str | None) -> None:
    assert without_unit(written) == number


def test_a_long_text_is_no_number_with_a_unit() -> None:
    assert without_unit("5 " + "m " * 200) is None
