"""IFBench's instructions about form, repetition and whole documents: as in ifbench_words."""

from __future__ import annotations

from genbench.verifiers.instructions.ifbench_custom import CAPITALS
from tests.verifiers.instructions.ifbench_words import Row

ALPHABET = " ".join(f"{letter}x." for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
COUNTRIES = "\n".join(["Zimbabwe", *(f"Country {number}" for number in range(99, 48, -1))])
CITIES = "ID,Country,City,Year,Count\n" + "\n".join(f"{n},a,b,2000,{n}" for n in range(7))
PRODUCTS = "ProductID, Category,Brand,Price,Stock\n" + "\n".join(f"{n},a,b,1,2" for n in range(13))
STUDENTS = "\t".join(f'"{name}"' for name in ("StudentID", "Subject", "Grade", "Semester", "Score"))
QUIZ = "\n".join(
    f"Question {number}. {'Why ' * number}so?\n" + "\n".join(f"{letter}) {letter}" for letter in "ABCDE")
    for number in range(1, 5)
)

FORM_ROWS: list[Row] = [
    # id, kwargs, a text that follows, a text that does not, what is said of the latter
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
        "'1815-06-31' is not a date in Napoleon's life",
    ),
]
