"""The cache of what a task has been asked for."""

from __future__ import annotations

from genbench.tasks.loaded_task import AskCache
from genbench.types import Ask, Message


def ask(text: str) -> Ask:
    return Ask((Message("user", text),), "reference")


def test_an_ask_is_made_once_for_each_key() -> None:
    made: list[str] = []

    def make(text: str) -> Ask:
        made.append(text)
        return ask(text)

    cache = AskCache()
    found = [cache.get(key, lambda key=key: make(key)) for key in ("a", "b", "a", "a")]  # type: ignore[misc]
    assert [one.messages[0].content for one in found if one] == ["a", "b", "a", "a"]
    assert made == ["a", "b"]


def test_the_end_of_a_conversation_is_kept_too() -> None:
    calls: list[int] = []

    def end() -> None:
        calls.append(1)

    cache = AskCache()
    assert cache.get("k", end) is None and cache.get("k", end) is None
    assert calls == [1]


def test_beyond_the_budget_the_one_used_longest_ago_is_made_again() -> None:
    calls: list[str] = []

    def get(cache: AskCache, key: str) -> None:
        cache.get(key, lambda: calls.append(key) or ask("x" * 500))  # type: ignore[func-returns-value]

    cache = AskCache(characters=2500)
    for key in ("a", "b", "a", "c", "a", "b"):
        get(cache, key)
    assert calls == ["a", "b", "c", "b"]
