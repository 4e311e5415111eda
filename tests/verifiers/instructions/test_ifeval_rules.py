"""IFEval's 25 instructions: what follows each, what breaks it, and what is said then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genbench.errors import DataError
from genbench.verifiers.instructions.ifeval_rules import RULES as IFEVAL
from genbench.verifiers.instructions.rulebook import Rulebook
from genbench.verifiers.instructions.verifier import Outcome
from tests.table import each_row

Judge = Callable[..., Outcome]

GERMAN = "Der Zug nach Hamburg fährt heute leider nicht, weil die Strecke wegen Bauarbeiten gesperrt ist."
ENGLISH = "the train to the coast does not run today because the line is closed for repairs."

Row = tuple[str, dict[str, Any], str, str, str]
ROWS: list[Row] = [
    # id, kwargs, a text that follows, a text that does not, what is said of the latter
    (
        "keywords:existence",
        {"keywords": ["harbour", "tide"]},
        "Tides fill the Harbour.",
        "The harbour is dry.",
        "'tide' not found",
    ),
    (
        "keywords:frequency",
        {"keyword": "sea", "frequency": 2, "relation": "at least"},
        "Sea after seal.",
        "One sea.",
        "1 times 'sea', at least 2 wanted",
    ),
    (
        "keywords:forbidden_words",
        {"forbidden_words": ["cat", "dog"]},
        "Concatenate the dogma.",
        "A CAT-flap.",
        "holds the forbidden 'cat'",
    ),
    (
        "keywords:letter_frequency",
        {"letter": "#", "let_frequency": 2, "let_relation": "less than"},
        "# Title",
        "## Title",
        "2 times the letter '#', fewer than 2 wanted",
    ),
    (
        "language:response_language",
        {"language": "de"},
        GERMAN,
        ENGLISH,
        "the language looks like 'en', 'de' wanted",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "less than"},
        "Dr. Mar left. She ran",
        "One. Two! Three?",
        "3 sentences, fewer than 3 wanted",
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        "***\nfirst\n***\nsecond\n***",
        "first\n***\n***\nsecond",
        "nothing between two '***' dividers",
    ),
    (
        "length_constraints:number_words",
        {"num_words": 4, "relation": "at least"},
        "Don't well-known",
        "snake_case 3.5",
        "3 words, at least 4 wanted",
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Rain"},
        "One.\n\n'\"rain's end",
        "One.\n\n*Rain* falls",
        "paragraph 2 begins with '*rain*', 'rain' wanted",
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        "[name] lives in []",
        "[[name]\n[city",
        "1 placeholders in square brackets, at least 2 wanted",
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        "Bye.\nP. S. Write!",
        "Bye.\nPS: write!",
        "no postscript marked 'P.S.'",
    ),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        "* one\n\n  - two",
        "* one\n---\n- two",
        "3 bullet points, exactly 2 wanted",
    ),
    (
        "detectable_format:constrained_response",
        {},
        "Well. My answer is no. Sorry.",
        "My answer is No.",
        "none of the three allowed answers",
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        "***both***",
        "**bold**",
        "1 highlighted sections, at least 2 wanted",
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Part", "num_sections": 2},
        "Part 1 a Part2 b",
        "Part 1\nPart  2",
        "1 sections marked 'Part', at least 2 wanted",
    ),
    (
        "detectable_format:json_format",
        {},
        '```json\n{"a": NaN}\n```',
        'Here: {"a": 1}',
        "not JSON: Expecting value: line 1 column 1 (char 0)",
    ),
    (
        "detectable_format:title",
        {},
        "text <<a title>> text",
        "<<< >>>\n<<a\n>>",
        "no title in <<double angular brackets>>",
    ),
    (
        "combination:two_responses",
        {},
        "this\n******\nthat\n******",
        "same\n******\n same ",
        "the two responses are the same",
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Sing a song. "},
        " sing A song. La la",
        "La la. Sing a song.",
        "begins with 'La la. Sing a song.', not with 'Sing a song.'",
    ),
    (
        "startend:end_checker",
        {"end_phrase": "The end."},
        'So.\n"It is THE END."',
        "The end. Or not",
        "ends with 'the end. or not', not with 'The end.'",
    ),
    (
        "startend:quotation",
        {},
        ' "all of it" ',
        "“all of it”",
        "not wrapped in double quotation marks",
    ),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 3, "capital_relation": "at least"},
        "I met the U.S. TEAM-A",
        "I met the McTeam of 12 U.S.",
        "2 words in capitals, at least 3 wanted",
    ),
    (
        "change_case:english_capital",
        {},
        "WE ARE HAPPY TO ANSWER ALL OF YOUR QUESTIONS ABOUT THE HOUSE. 12!",
        "WE ARE HAPPY TO ANSWER ALL OF YOUR QUESTiONS.",
        "holds the small letter 'i'",
    ),
    (
        "change_case:english_lowercase",
        {},
        ENGLISH,
        ENGLISH + " Now",
        "holds the capital letter 'N'",
    ),
    (
        "punctuation:no_comma",
        {},
        "one， two、 three",
        "one, two, three",
        "holds commas (2), none wanted",
    ),
]


def test_the_table_below_has_every_instruction() -> None:
    assert {row[0] for row in ROWS} == set(IFEVAL)
    assert len(IFEVAL) == 25


@pytest.mark.slow
@each_row("row", ROWS)
def test_an_instruction_is_followed_or_the_fault_is_said(judge: Judge, row: Row) -> None:
    instruction, kwargs, good, bad, why = row
    assert judge(instruction, kwargs, good).why is None
    assert judge(instruction, kwargs, bad).why == why


@each_row("row", ROWS)
def test_a_blank_answer_follows_nothing(judge: Judge, row: Row) -> None:
    instruction, kwargs, _, _, _ = row
    blank = judge(instruction, kwargs, " \n\t ")
    assert (blank.strict, blank.loose, blank.why) == (False, False, "the answer is blank")


def test_a_text_without_letters_counts_as_the_right_language(judge: Judge) -> None:
    assert judge("language:response_language", {"language": "fi"}, "12 : 34").strict


def test_the_index_of_a_paragraph_counts_blank_pieces_but_the_number_does_not(judge: Judge) -> None:
    kwargs: dict[str, Any] = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "two"}
    assert judge("length_constraints:nth_paragraph_first_word", kwargs, "one\n\n\n\ntwo").why == (
        "the piece at place 2 is blank"
    )


def test_a_lone_star_takes_the_next_line_into_its_bullet(judge: Judge) -> None:
    assert judge("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*\n* x").strict
    assert judge("detectable_format:number_bullet_lists", {"num_bullets": 1}, "*\n\n* x").why == (
        "2 bullet points, exactly 1 wanted"
    )


def test_blank_highlights_do_not_count_and_one_letter_makes_a_title(judge: Judge) -> None:
    assert judge(
        "detectable_format:number_highlighted_sections", {"num_highlights": 1}, "* *\n** **"
    ).why == ("0 highlighted sections, at least 1 wanted")
    assert judge("detectable_format:title", {}, "<<a>>").strict
    assert not judge("detectable_format:title", {}, "<<>>").strict


def test_json_that_is_nested_beyond_the_parser_is_a_fault_not_a_crash(judge: Judge) -> None:
    assert judge("detectable_format:json_format", {}, "[" * 100_000).why == "not JSON: nested too deeply"


@each_row(
    "item, message",
    [
        ({"id": "punctuation:no_coma"}, "did you mean 'punctuation:no_comma'"),
        ({"id": "length_constraints:number_words", "num_words": 5}, "relation: Field required"),
        (
            {"id": "length_constraints:number_words", "num_words": -5, "relation": "at least"},
            "num_words: Input should be greater than or equal to 0",
        ),
        (
            {"id": "length_constraints:number_words", "num_words": 5, "relation": "at most"},
            "relation: Input should be 'less than' or 'at least'",
        ),
        ({"id": "punctuation:no_comma", "num_words": 5}, "num_words: Extra inputs are not permitted"),
        ({"id": "keywords:existence", "keywords": ["a("]}, "escape it with backslashes"),
        ({"id": "keywords:existence", "keywords": []}, "at least 1 item"),
        ({"id": "language:response_language", "language": "klingon"}, "knows no language 'klingon'"),
        (
            {
                "id": "keywords:letter_frequency",
                "letter": "ab",
                "let_frequency": 1,
                "let_relation": "at least",
            },
            "one character is wanted, not 'ab'",
        ),
        ({"id": "startend:end_checker", "end_phrase": " "}, "must not be blank"),
        ("punctuation:no_comma", "an instruction is an object with 'id' and its kwargs"),
    ],
)
def test_a_bad_instruction_is_refused_by_name(item: Any, message: str) -> None:
    with pytest.raises(DataError, match="row 7: ") as caught:
        Rulebook().constraint(item, "row 7")
    assert message in str(caught.value)


def test_numbers_may_be_floats_and_absent_kwargs_null() -> None:
    item: dict[str, Any] = {
        "id": "length_constraints:number_words",
        "num_words": 4.0,
        "relation": "at least",
        "N": None,
    }
    assert Rulebook().constraint(item, "row").kwargs == {"num_words": 4, "relation": "at least"}
