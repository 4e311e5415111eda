"""Which variants of an answer loose accuracy looks at."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from genbench.verifiers.instructions.verifier import Outcome, variants

Judge = Callable[..., Outcome]


def test_the_eight_variants_of_a_text_with_stars_and_lines() -> None:
    text = "Sure!\n * a *\n b \nBye*"
    assert variants(text) == (
        text,
        "* a *\n b \nBye*",
        "Sure!\n * a *\n b",
        "* a *\n b",
        "Sure!\n  a \n b \nBye",
        " a \n b \nBye",
        "Sure!\n  a \n b",
        " a \n b",
    )


def test_one_line_has_itself_and_itself_without_stars() -> None:
    assert variants("*a*") == ("*a*", "a")


def test_lines_end_at_newlines_alone() -> None:
    assert variants("a\u2028b\rc") == ("a\u2028b\rc",)


@given(st.text(alphabet="*ab \n", max_size=12))
def test_variants_are_never_blank_and_never_twice(text: str) -> None:
    found = variants(text)
    assert all(variant.strip() for variant in found)
    assert len(set(found)) == len(found)
    assert not found or found[0] == text or not text.strip()


def test_a_polite_first_line_is_forgiven_loosely_only(judge: Judge) -> None:
    kwargs = {"prompt_to_repeat": "Sing."}
    found = judge("combination:repeat_prompt", kwargs, "Of course:\nSing. La.")
    assert (found.strict, found.loose) == (False, True)
    assert found.why == "begins with 'Of course:\\nSing. La.', not with 'Sing.'"


def test_what_is_followed_strictly_is_followed_loosely(judge: Judge) -> None:
    found = judge("detectable_format:number_bullet_lists", {"num_bullets": 1}, "* one")
    assert (found.strict, found.loose) == (True, True)
