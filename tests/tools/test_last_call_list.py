"""The last list of calls in a text."""

from __future__ import annotations

from genbench.tools.call_lists import last_call_list


def test_the_last_list_of_calls_is_found_in_prose_and_fences() -> None:
    text = "First [f(a=1)], no:\n```python\n[g(b='x]'), h()]\n```\nDone."
    assert [call.name for call in last_call_list(text)] == ["g", "h"]
    assert last_call_list("nothing [1]") == ()


def test_a_list_of_java_is_one_call_with_texts() -> None:
    (call,) = last_call_list("Use [A.b(x=1L)].", "java")
    assert call.arguments == {"x": "1L"}
