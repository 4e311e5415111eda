"""Sessions of browsers: who a cookie is, and cookies that somebody made up."""

from __future__ import annotations

from genbench.team.service.tokens import COOKIE, Sessions
from tests.table import each_row


def test_a_cookie_says_whose_session_it_is_and_ends_with_its_process() -> None:
    sessions = Sessions()
    cookie = f"{COOKIE}={sessions.open('ada')}"
    assert sessions.name_of(cookie) == "ada"
    assert Sessions().name_of(cookie) is None


def test_a_session_that_was_ended_is_worthless_also_for_who_has_a_copy() -> None:
    sessions = Sessions()
    first, second = (f"{COOKIE}={sessions.open('ada')}" for _ in range(2))
    sessions.close(first)
    sessions.close("nonsense")
    assert sessions.name_of(first) is None
    assert sessions.name_of(second) == "ada"


@each_row(
    "value", ["", "x", "6164.", "6164.00", "616400", '"6164.é"', '"zz.é"', "6164003939.ff", ".", "é" * 9]
)
def test_a_cookie_that_somebody_made_up_is_nobodys(value: str) -> None:
    assert Sessions().name_of(f"{COOKIE}={value}") is None


def test_a_form_token_is_one_persons() -> None:
    sessions = Sessions()
    assert sessions.is_form_token("ada", sessions.form_token("ada"))
    assert not sessions.is_form_token("eve", sessions.form_token("ada"))
    assert not sessions.is_form_token("ada", "é")
