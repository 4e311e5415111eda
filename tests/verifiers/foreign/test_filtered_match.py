"""Answers of imported tasks: stops, filters, exact match, and patterns that hang."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.foreign.filtered_match import FilteredMatchVerifier, Matcher, make_step
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec
from tests.table import each_row

STRICT = {"name": "strict", "filter": [{"function": "regex", "regex_pattern": "answer is ([0-9]+)"}]}
LAST = {"name": "last", "filter": [{"function": "regex", "regex_pattern": "([0-9]+)", "group_select": -1}]}


def case(text: str, golds: list[str], status: Any = "absent", choices: list[str] | None = None) -> Case:
    reference = {"golds": golds} | ({"choices": choices} if choices else {})
    return Case(SampleId("t", "0", 0), (Answer(text, status, "", False),), reference)


def test_every_filter_has_a_part_and_the_first_makes_the_score() -> None:
    found = FilteredMatchVerifier([STRICT, LAST]).verify(case("It is 7. The answer is 8. Or 9", ["9"]))
    assert (found.score, found.extracted) == (0.0, "8")
    assert found.parts == {"strict": 0.0, "last": 1.0}


def test_another_filter_can_be_the_headline() -> None:
    found = FilteredMatchVerifier([STRICT, LAST], headline="last").verify(case("The answer is 8 or 9", ["9"]))
    assert (found.score, found.extracted) == (1.0, "9")
    with pytest.raises(ConfigError, match="filters: strict, last"):
        FilteredMatchVerifier([STRICT, LAST], headline="best")


def test_no_match_is_no_answer() -> None:
    found = FilteredMatchVerifier([STRICT]).verify(case("I do not know", ["9"]))
    assert (found.score, found.reason, found.extracted) == (0.0, "no_answer", None)


def test_stops_act_after_the_trace_was_removed() -> None:
    verifier = FilteredMatchVerifier([LAST], until=["\n\n", "Q:"])
    assert verifier.verify(case("\n\n8\n\n9", ["8"], "closed")).score == 1.0
    assert verifier.verify(case("8 Q: 9", ["8"])).score == 1.0


@each_row(
    "block, text, wanted",
    [
        ({"function": "regex", "regex_pattern": "(a+)|(b+)"}, "xx bb", "bb"),
        ({"function": "regex", "regex_pattern": "z", "fallback": "none"}, "x", "none"),
        ({"function": "regex", "regex_pattern": "x", "group_select": 3}, "x", None),
        ({"function": "map", "mapping_dict": {"yes": 1}, "default_value": 0}, "no", "0"),
        ({"function": "uppercase"}, "ab", "AB"),
        ({"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))"}, "so (B) it is", "(B)"),
        ({"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))"}, "the red house", "(B)"),
        ({"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))"}, "Answer: A", "(A)"),
    ],
)
def test_steps_extract_as_lm_eval_does(block: dict[str, Any], text: str, wanted: str | None) -> None:
    assert make_step(block)(text, ["red", "red house"]) == wanted


def test_exact_match_changes_both_sides() -> None:
    match = Matcher([r"\.$", ","], ignore_case=True, ignore_punctuation=True, ignore_numbers=True)
    assert match.equal("The, Cat!1", "the cat.")
    assert not Matcher().equal("a", "A")


def test_unknown_filters_and_references_are_refused() -> None:
    with pytest.raises(ConfigError, match="filter 'format_span' cannot be used"):
        FilteredMatchVerifier([{"name": "n", "filter": [{"function": "format_span"}]}])
    with pytest.raises(DataError, match="golds"):
        FilteredMatchVerifier().check({"golds": []})


def test_a_pattern_that_hangs_costs_one_sample() -> None:
    regex = {"function": "regex", "regex_pattern": r"(a+)+$"}
    options = {"filters": [{"name": "n", "filter": [regex]}], "limit_s": 0.3}

    async def verdicts() -> list[str]:
        async with VerifierPool(workers=1) as pool:
            spec = VerifierSpec("filtered_match", options)
            await pool.open(spec)
            found = [await pool.verify(spec, case(text, ["a"])) for text in ("a" * 60 + "!", "a")]
        return [item.reason if item.score == 0 else "correct" for item in found]

    assert asyncio.run(verdicts()) == ["timeout", "correct"]
