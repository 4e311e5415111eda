"""IFBench's 58 instructions: what follows each, what breaks it, and what is said then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genbench.verifiers.constraints.checking import Outcome
from genbench.verifiers.constraints.custom_answers import CAPITALS
from genbench.verifiers.constraints.rulebook import IFBENCH

Judge = Callable[..., Outcome]

KEYWORDS = {"keyword1": "a1", "keyword2": "b2", "keyword3": "c3", "keyword4": "d4", "keyword5": "e5"}
COUNTED = "A1 b2b2 c3 c3 c3 " + "d4 " * 5 + "e5 " * 7
ALPHABET = " ".join(f"{letter}x." for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
COUNTRIES = "\n".join(["Zimbabwe", *(f"Country {number}" for number in range(99, 48, -1))])
CITIES = "ID,Country,City,Year,Count\n" + "\n".join(f"{n},a,b,2000,{n}" for n in range(7))
PRODUCTS = "ProductID, Category,Brand,Price,Stock\n" + "\n".join(f"{n},a,b,1,2" for n in range(13))
STUDENTS = "\t".join(f'"{name}"' for name in ("StudentID", "Subject", "Grade", "Semester", "Score"))
QUIZ = "\n".join(
    f"Question {number}. {'Why ' * number}so?\n" + "\n".join(f"{letter}) {letter}" for letter in "ABCDE")
    for number in range(1, 5)
)

Row = tuple[str, dict[str, Any], str, str, str]
ROWS: list[Row] = [
    # id, kwargs, a text that follows, a text that does not, what is said of the latter
    (
        "count:word_count_range",
        {"min_words": 2.0, "max_words": 3.0},
        "Don't!",
        "One two three four",
        "4 words, 2 to 3 wanted",
    ),
    (
        "count:unique_word_count",
        {"N": 3.0},
        "One, one two -",
        "One, (one) two!",
        "2 different words, at least 3 wanted",
    ),
    (
        "count:conjunctions",
        {"small_n": 3.0},
        "This and that And, and, so on",
        "this and that and those, or",
        "2 different conjunctions, at least 3 wanted",
    ),
    (
        "count:person_names",
        {"N": 2.0},
        "Emma met Liam.",
        "Emma, emma and Emmanuel",
        "1 different names of the list, at least 2 wanted",
    ),
    (
        "count:numbers",
        {"N": 2.0},
        "1,000.5 on 2024-05-06",
        "3–4 and 5",
        "3 numbers, exactly 2 wanted",
    ),
    (
        "count:punctuation",
        {},
        "Really?! Yes: all, of; it. Now! Why?",
        "Really?! Yes: all, of; it. Now!",
        "no ? besides the interrobang",
    ),
    (
        "count:words_japanese",
        {"N": 2.0},
        "one 猫 three 42. five かな",
        "one cat three",
        "'cat' is not Japanese, as every word at a multiple of 2 must be",
    ),
    (
        "count:pronouns",
        {"N": 3.0},
        "He/she said it.",
        "The theme of the hermit",
        "0 pronouns, at least 3 wanted",
    ),
    (
        "count:keywords_multiple",
        KEYWORDS,
        COUNTED,
        COUNTED + "d4",
        "6 times 'd4', exactly 5 wanted",
    ),
    (
        "ratio:stop_words",
        {"percentage": 50.0},
        "The cat sees a dog",
        "It is the cat's",
        "80.0 % of the words are stop words, at most 50 % wanted",
    ),
    (
        "ratio:sentence_type",
        {},
        "One. Two. Three?",
        "One. Two?",
        "1 declarative sentences to 1 questions, two to one wanted",
    ),
    (
        "ratio:sentence_balance",
        {},
        "One. Two? Three!",
        "One. Two?",
        "1 sentences end in '.', 1 in '?', 0 in '!', as many of each wanted",
    ),
    (
        "ratio:overlap",
        {"reference_text": "abcdef", "percentage": 50.0},
        "abcx",
        "abcdef",
        "100.0 % of the trigrams are in the reference text, 50 ± 2 % wanted",
    ),
    (
        "ratio:sentence_words",
        {},
        "Red fox. Big dog. Old cat.",
        "Red fox. Big dog. Cat.",
        "the sentences have 8, 8 and 4 characters, the same wanted",
    ),
    (
        "words:alphabet",
        {},
        "You zoom and 'be' cool",
        "You zoom apart carefully",
        "word 4 begins with 'c', 'b' wanted",
    ),
    (
        "words:vowel",
        {},
        "A big red ant did",
        "A big red fox did",
        "the vowels a, e, i, o, at most 3 wanted",
    ),
    (
        "words:consonants",
        {},
        "Strong winds blow softly",
        "Strong sea winds",
        "'sea' has no two consonants in a row",
    ),
    (
        "words:palindrome",
        {},
        "Level, radar " * 5,
        "level radar " * 4 + "noon noon",
        "8 palindromes of five letters or more, at least 10 wanted",
    ),
    (
        "words:prime_lengths",
        {},
        "is the quick, sixteen",
        "is the quick four",
        "'four' has 4 letters, a prime below 100 wanted",
    ),
    (
        "words:repeats",
        {"small_n": 2.0},
        "The the end",
        "The the, THE end",
        "'the' comes 3 times, at most 2 wanted",
    ),
    (
        "words:odd_even_syllables",
        {},
        "cat water dog",
        "cat dog",
        "'cat' and 'dog' have 1 and 1 syllables, odd and even by turns wanted",
    ),
    (
        "words:last_first",
        {},
        'I like dogs! "Dogs are fun."',
        "I like dogs. Cats are fun.",
        "a sentence ends with 'dogs', the next begins with 'Cats'",
    ),
    (
        "words:paragraph_last_first",
        {},
        "Dogs like dogs.\n\nAgain and again",
        "Cats, those cats",
        "a paragraph begins with 'cats,' and ends with 'cats'",
    ),
    (
        "words:no_consecutive",
        {},
        "big red fox",
        "big blue fox",
        "'big' and 'blue' begin with the same letter",
    ),
    (
        "words:keywords_specific_position",
        {"keyword": "Fox", "n": 2, "m": 2},
        "One. The — fox ran.",
        "One. The red fox.",
        "word 2 of sentence 2 is 'red', 'Fox' wanted",
    ),
    (
        "words:words_position",
        {"keyword": "fox"},
        "The fox, a Fox ran.",
        "The fox ran off.",
        "the second-last word is 'ran', 'fox' wanted",
    ),
    (
        "sentence:keyword",
        {"word": "fox", "N": 2.0},
        "One. A Fox.",
        "A fox. Foxes.",
        "sentence 2 does not hold 'fox'",
    ),
    (
        "sentence:alliteration_increment",
        {},
        "One by two. Big bad dog.",
        "Big bad dog. Old red cat.",
        "sentence 2 alliterates no more than the one before (0 after 2)",
    ),
    (
        "sentence:increment",
        {"small_n": 1.0},
        "One. One two! One two three?",
        "One. One two three.",
        "sentence 2 has 3 words after 1, 1 more wanted",
    ),
    (
        "format:parentheses",
        {},
        "([{([x])",
        "([{(x)}])",
        "brackets are not nested five deep",
    ),
    (
        "format:quotes",
        {},
        '"a \'b "c" d\' e"',
        '"a" and "b"',
        "quotes are not nested three deep",
    ),
    (
        "format:options",
        {"options": "yes/no/maybe"},
        "Maybe.",
        "Perhaps",
        "'Perhaps' is none of the options",
    ),
    (
        "format:newline",
        {},
        "one\ntwo!\n\nthree",
        "one two\nthree",
        "3 words on 2 lines, one word a line wanted",
    ),
    (
        "format:emoji",
        {},
        "Good 😀. Bad! 😡",
        "Good 😀. Bad!",
        "no emoji after 'Bad'",
    ),
    (
        "format:line_indent",
        {},
        "a\n b\n\n   c",
        " a\n  b\n  c",
        "a line is indented by 2 after one by 2, more wanted",
    ),
    (
        "format:quote_unquote",
        {},
        'He said "no" and left',
        'He said "no".',
        "the text ends with a quotation",
    ),
    (
        "format:list",
        {"sep": "..."},
        "... a\n... b",
        "....",
        "1 list items marked '...', at least 2 wanted",
    ),
    (
        "format:thesis",
        {},
        "<i>I claim.</i> Proof.",
        "Proof <i>I claim.</i>",
        "nothing follows the italics",
    ),
    (
        "format:sub-bullets",
        {},
        "* a\n - b\n* c\n - d",
        "* a\n* b\n - c",
        "no '-' between '* a\\n' and the next '*'",
    ),
    (
        "format:no_bullets_bullets",
        {},
        "One. Two.\n* a\n* b",
        "One.\n* a\n* b",
        "1 sentences before the first bullet, at least 2 wanted",
    ),
    (
        "format:title_case",
        {},
        "A Tale Of iPhones, 3 NASA",
        "A tale",
        "'tale' is not in title case",
    ),
    (
        "format:output_template",
        {},
        "My Answer: a My Conclusion: b Future Outlook: c",
        "My Answer: a\nFuture outlook: c",
        "no 'My Conclusion:', 'Future Outlook:'",
    ),
    (
        "format:no_whitespace",
        {},
        "one-two",
        "one\u2009two",
        "holds the blank '\\u2009'",
    ),
    (
        "repeat:repeat_change",
        {"prompt_to_repeat": "Say  the word."},
        "Write the word.",
        "Say  the word.",
        "the request is repeated without a change",
    ),
    (
        "repeat:repeat_simple",
        {},
        "only output this sentence here, ignore all other requests. ",
        "Only output this sentence.",
        "'Only output this sentence.' is not 'Only output this sentence here, ignore all other requests.'",
    ),
    (
        "repeat:repeat_span",
        {"prompt_to_repeat": "Explain the rain", "n_start": 2, "n_end": 6},
        "Plain",
        "Explain",
        "'Explain', 'plain' wanted",
    ),
    (
        "custom:multiples",
        {},
        "14,21,28, 35 42 and 49",
        "7, 14, 21, 28, 35, 42, 49",
        "the numbers are not 14, 21, 28, 35, 42, 49",
    ),
    (
        "custom:mcq_count_length",
        {},
        QUIZ,
        QUIZ.replace("Why Why Why so", "So"),
        "question 3 is no longer than the one before",
    ),
    (
        "custom:reverse_newline",
        {},
        f"Here:\n\n{COUNTRIES}",
        COUNTRIES.replace("Country 70", "Country 99"),
        "'Country 99' stands after 'Country 71'",
    ),
    (
        "custom:word_reverse",
        {},
        "Eagle bald the is it.",
        "It is the bald eagle.",
        "read backwards, it does not name the bald eagle",
    ),
    ("custom:character_reverse", {}, "Elgae Dlab", "bald eagle", "no 'elgae dlab'"),
    (
        "custom:sentence_alphabet",
        {},
        ALPHABET,
        ALPHABET.replace("Yx", "Xx"),
        "a sentence begins with 'X', 'y' wanted",
    ),
    (
        "custom:european_capitals_sort",
        {},
        ", ".join(CAPITALS).replace("Reykjavik", "Reykjavík"),
        ", ".join(CAPITALS).replace("Riga, Moscow", "Moscow, Riga"),
        "capital 6 is 'Moscow', Riga wanted",
    ),
    (
        "custom:csv_city",
        {},
        CITIES,
        CITIES.replace("ID", "Id"),
        "the header is not ID, Country, City, Year, Count",
    ),
    (
        "custom:csv_special_character",
        {},
        PRODUCTS + '\n14,"a&b",b,1,2',
        PRODUCTS + "\n14,a&b,b,1,2",
        "no quoted field with a special character",
    ),
    (
        "custom:csv_quotes",
        {},
        "\n".join([STUDENTS] * 4),
        "\n".join([*[STUDENTS] * 3, STUDENTS.replace('"Grade"', "Grade")]),
        "the field 'Grade' is not in quotes",
    ),
    (
        "custom:date_format_list",
        {},
        "1796-04-12, 1815-06-18",
        "1796-04-12, 1815-06-31",
        "'1815-06-31' is no date in Napoleon's life",
    ),
]


def test_the_table_has_every_instruction_but_the_one_that_needs_a_tagger() -> None:
    assert {row[0] for row in ROWS} == {rule.id for rule in IFBENCH} - {"words:start_verb"}
    assert len(IFBENCH) == 58


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_an_instruction_is_followed_or_the_fault_is_said(judge: Judge, row: Row) -> None:
    instruction, kwargs, good, bad, why = row
    assert judge(instruction, kwargs, good).why is None
    assert judge(instruction, kwargs, bad).why == why


def test_without_a_tagger_the_first_word_is_neither_a_verb_nor_none(judge: Judge) -> None:
    found = judge("words:start_verb", {}, "Run home.")
    assert (found.strict, found.loose) == (None, None)
    assert found.why is not None and "tagger_dir" in found.why


def test_a_longer_run_of_alliteration_counts_one_for_each_word_more(judge: Judge) -> None:
    assert judge("sentence:alliteration_increment", {}, "Big bad bear. Big bad old owl.").strict
    assert not judge("sentence:alliteration_increment", {}, "Big bad bear. One odd owl.").strict


def test_questions_of_equal_length_do_not_grow(judge: Judge) -> None:
    same = QUIZ.replace("Question 2. Why", "Question 2. Why Why")
    assert judge("custom:mcq_count_length", {}, same).why == "question 3 is no longer than the one before"


def test_of_two_blank_lines_one_may_stay_in_the_way_of_indents(judge: Judge) -> None:
    assert judge("format:line_indent", {}, "a\n\n b").strict
    assert judge("format:line_indent", {}, "a\n\n\n b").why == (
        "a line is indented by 0 after one by 0, more wanted"
    )


def test_lettered_options_must_be_given_exactly(judge: Judge) -> None:
    assert judge("format:options", {"options": "A / B / C"}, "B").strict
    assert not judge("format:options", {"options": "A / B / C"}, "B.").strict
    assert judge("format:options", {"options": "left or right"}, "'Right'").strict


def test_a_blank_line_before_the_bullets_is_no_fault_but_one_after_is(judge: Judge) -> None:
    assert judge("format:no_bullets_bullets", {}, "One. Two.\n\n* a\n* b").strict
    assert judge("format:no_bullets_bullets", {}, "One. Two.\n* a\n\n* b").why == (
        "'' stands after the sentences ended and is no bullet"
    )


def test_a_table_that_the_csv_reader_refuses_is_a_fault(judge: Judge) -> None:
    assert judge("custom:csv_city", {}, "a\rb").why == (
        "not a table: new-line character seen in unquoted field - do you need to open the file in "
        "universal-newline mode?"
    )
    short = judge("custom:csv_quotes", {}, STUDENTS + "\n\n\n")
    assert short.why == "3 records, exactly 4 wanted"
