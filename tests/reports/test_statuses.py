"""Every status has words for people and a colour of its own in both themes of the report."""

from __future__ import annotations

import re
from pathlib import Path

from genbench import reports
from genbench.stats.comparison.causes import status_words
from genbench.types import STATUSES
from tests.table import each_row

CSS = (Path(reports.__path__[0]) / "templates" / "report.css").read_text()
LIGHT, DARK = CSS.split("@media (prefers-color-scheme: dark)", 1)


def colours(block: str) -> dict[str, str]:
    """Return the value of each `--s-STATUS` of a block of CSS."""
    return dict(re.findall(r"--s-([a-z_]+): (#[0-9a-f]{3,6})", block))


@each_row("status", STATUSES)
def test_a_status_has_a_colour_that_both_themes_use(status: str) -> None:
    assert status in colours(LIGHT)
    assert f".s-{status} {{ --c: var(--s-{status}); }}" in CSS


def test_no_two_statuses_share_a_colour() -> None:
    for theme in (colours(LIGHT), colours(LIGHT) | colours(DARK)):
        own = [theme[status] for status in STATUSES]
        assert len(set(own)) == len(own)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    digits = colour.lstrip("#")
    whole = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = [int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@each_row("status", STATUSES)
@each_row("block", [LIGHT, DARK])
def test_a_colour_can_be_told_from_the_paper(status: str, block: str) -> None:
    (paper,) = re.findall(r"--paper: (#[0-9a-f]{3,6})", block)[:1]
    own, ground = luminance((colours(LIGHT) | colours(block))[status]), luminance(paper)
    assert (max(own, ground) + 0.05) / (min(own, ground) + 0.05) > 1.4


@each_row("status", STATUSES)
def test_a_status_has_words_with_its_share(status: str) -> None:
    words = status_words(status, 0.25)
    assert words and "_" not in words
