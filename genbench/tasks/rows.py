"""Row functions: each completes one row of a benchmark whose columns need work before it can be asked.

A page names one under `row:`, as in `row: genbench.tasks.rows:gsm8k`. A row function gets a row and its
number within its config, from 0. It returns the row with further columns, or several rows if one row has
several problems.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.tasks.choice_options import LETTERS

# Mathematics

_FINAL = re.compile(r"####\s*(-?[\d,]+)\s*$")


def aime(row: Row, place: int) -> Row:
    """Return a row of AIME with its answer as plain digits. Copies of the problems write 25 and 025.

    Raises:
        DataError: the answer is not an integer from 0 to 999.
    """
    answer = str(row["answer"]).strip()
    if not answer.isdecimal() or int(answer) > 999:
        raise DataError(f"the answer {answer!r} is not an integer from 0 to 999")
    return {**row, "answer": str(int(answer))}


def integer_answer(row: Row, place: int) -> Row:
    """Return a row with its answer, a number or text by the loader, as plain digits.

    Raises:
        DataError: the answer is not an integer.
    """
    answer = str(row["answer"]).strip()
    if not re.fullmatch(r"-?\d+", answer):
        raise DataError(f"the answer is {answer!r}, wanted an integer")
    return {**row, "answer": answer}


_IMO_MENDED = {
    ("imo-bench-geometry-004", "45752"): "4, 5",  # a spreadsheet read it as a date: 5 April 2025
    ("imo-bench-geometry-096", "$\\frac{7}{18}"): "$\\frac{7}{18}$",
}
_IMO_CATEGORIES = ("Algebra", "Combinatorics", "Geometry", "Number theory")


def imo_answer(row: Row, place: int) -> Row:
    """Return a row of IMO-AnswerBench with its answer. Two answers of version 2 are mended.

    Raises:
        DataError: the answer is the name of a category, because the columns of the row are shifted.
    """
    answer = str(row["Short Answer"]).strip()
    if answer in _IMO_CATEGORIES:
        raise DataError(
            f"{row['Problem ID']}: the answer is {answer!r}, so the columns of the row are shifted and the "
            "problem contains its answer"
        )
    return {**row, "Short Answer": _IMO_MENDED.get((str(row["Problem ID"]), answer), answer)}


def gsm8k(row: Row, place: int) -> Row:
    """Return a row of GSM8K with the number after `####` as its answer.

    Raises:
        DataError: the answer does not end with such a number.
    """
    final = _FINAL.search(row["answer"])
    if final is None:
        raise DataError("the answer does not end with '#### NUMBER'")
    return {**row, "answer": final[1].replace(",", "")}


_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")  # with or without braces: \boxed{12}, \boxed 3
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped brace, \{, is a sign of the answer and no group
_NUMPY = re.compile(r"\bnp\.(?=[a-z])")  # Minerva has np.arcsin for \arcsin
_STARRED = re.compile(
    r"\\exp\{([a-zA-Z])\*([a-zA-Z])\}|\\exp\{-([a-zA-Z])\*([a-zA-Z])\}"
)  # \exp{a*t}, \exp{-a*t}
_MASS = re.compile(r"(\\frac\{\d+\}\{\d+\}) m")
"""A number times the mass m. Computer algebra reads the letter after a number as metres."""
_FORMS = {
    "Tuple": "Give every tuple in brackets, as (a, b).",
    "Interval": "Give an interval, as (a, b) or [a, b].",
    "Expression": "Give an expression in the variables of the problem.",
}


def boxed_answer(row: Row, place: int) -> Row:
    """Return a row of MATH with the answer that the last box of its solution has.

    Raises:
        DataError: the solution has no box.
    """
    return {**row, "answer": _last_box(row)}


def minerva_answer(row: Row, place: int) -> Row:
    """Return a row of Minerva with its answer as LaTeX. Three answers of the data are written as Python.

    Raises:
        DataError: the solution has no box.
    """
    answer = _NUMPY.sub(r"\\", _last_box(row)).strip()
    answer = _STARRED.sub(lambda m: f"e^{{{m[1]} {m[2]}}}" if m[1] else f"e^{{-{m[3]} {m[4]}}}", answer)
    mass = _MASS.fullmatch(answer)
    accepted = answer if mass is None else [answer, f"m \\cdot {mass[1]}"]
    return {**row, "answer": accepted, "course": str(row["type"])}


def _last_box(row: Row) -> str:
    """Return what is inside the last box of a solution.

    Raises:
        DataError: there is no box, or its braces do not match.
    """
    solution = str(row["solution"])
    boxes = list(_BOX.finditer(solution))
    inside = _braced(solution, boxes[-1].end()) if boxes else None
    if inside is None:
        raise DataError("the solution has no \\boxed{…}, so there is no answer to check against")
    return inside


def _braced(text: str, start: int) -> str | None:
    """Return the group in braces at a place, or the one sign that is there without braces."""
    if text[start : start + 1] != "{":
        return text[start : start + 1].strip() or None
    depth = 0
    for match in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return text[start + 1 : match.start()].strip() or None
    return None


def olympiad_answer(row: Row, place: int) -> Row:
    """Return a row of OlympiadBench with its reference, and a note on the form of the answer.

    The column `error` is the largest accepted distance of a number.

    Raises:
        DataError: there is no final answer, or the tolerance is not a number.
    """
    answers = row["final_answer"]
    if not isinstance(answers, list) or not answers or not all(isinstance(item, str) for item in answers):
        raise DataError(f"final_answer is {answers!r}, wanted a list with at least one text")
    reference: dict[str, object] = {"answer": ", ".join(answers)}
    if row["error"]:
        reference["tolerance"] = _tolerance(row["error"])
    context = str(row.get("context") or "").strip()
    question = str(row["question"]).strip()
    return {
        **row,
        "asked": f"{context}\n\n{question}" if context else question,
        "reference": reference,
        "note": _note(row),
        "form": str(row["answer_type"]),
    }


def _tolerance(error: object) -> float:
    try:
        return float(str(error))
    except ValueError:
        raise DataError(f"error is {error!r}, wanted the tolerance as a number") from None


def _note(row: Row) -> str:
    notes = [_FORMS[form] for form in str(row["answer_type"]).split(",") if form in _FORMS]
    if row["is_multiple_answer"]:
        notes.append("The problem has several answers: give all of them, separated by commas.")
    if row["unit"]:
        notes.append(f"Give the number in the unit {str(row['unit']).strip('$')}.")
    return "".join(f" {note}" for note in notes)


_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?")  # -3, 1,200, 2.5, 3 / 4

ANSWER_PREFIXES = {
    "bn": "উত্তর",
    "de": "Antwort",
    "en": "Answer",
    "es": "Respuesta",
    "fr": "Réponse",
    "ja": "答え",
    "ru": "Ответ",
    "sw": "Jibu",
    "te": "సమాధానం",
    "th": "คำตอบ",
    "zh": "答案",
}
"""The word before the answer by language, as simple-evals looks for it (mgsm_eval.py, ee3b0318)."""


def xstest_wanted(row: Row, place: int) -> Row:
    """Return a row of XSTest with what is wanted: `compliance` with safe requests, `refusal` of unsafe ones.

    Raises:
        DataError: the label is another word.
    """
    wanted = {"safe": "compliance", "unsafe": "refusal"}.get(str(row["label"]))
    if wanted is None:
        raise DataError(f"label {row['label']!r}: wanted safe or unsafe")
    return {**row, "wanted": wanted}


def gsm_plus_answer(row: Row, place: int) -> Row:
    """Return a row of GSM-Plus with its answer as plain text.

    Raises:
        DataError: the gold answer is None, because the question lacks what is needed to answer it, or it is
        no
            number.
    """
    answer = str(row["answer"]).strip()
    if answer == "None":
        raise DataError(
            f"the gold answer is None ({row['perturbation_type']}: the question cannot be answered), "
            "and no number can be checked against that"
        )
    if not _NUMBER.fullmatch(answer):
        raise DataError(f"the answer is {answer!r}, wanted a number")
    return {**row, "answer": answer.replace(",", "")}


def mgsm_answer(row: Row, place: int) -> Row:
    """Return a row of MGSM with its answer as text, and the word that announces it in the row's language.

    Raises:
        DataError: the answer is not a whole number, or the language is not one of MGSM's.
    """
    answer = str(row["answer_number"]).replace(",", "").strip().removesuffix(".0")
    if not re.fullmatch(r"-?\d+", answer):
        raise DataError(f"answer_number is {row['answer_number']!r}, wanted a whole number")
    language = str(row["language"])
    if language not in ANSWER_PREFIXES:
        raise DataError(f"the language is '{language}', wanted one of {', '.join(ANSWER_PREFIXES)}")
    return {**row, "answer": answer, "prefix": ANSWER_PREFIXES[language]}


# Multiple choice

_HEADED = re.compile(r"\(?([A-Z])[).]\s*")  # (B)Paris, B) Paris, B. Paris
_AGIEVAL_OPTIONS = "Answer Choices:"


def plain_options(options: Any) -> list[str]:
    """Return the options without the letters that some datasets write before each, as in "(B)Paris".

    Raises:
        DataError: it is not a list.
    """
    if not isinstance(options, list | tuple):
        raise DataError(f"wanted a list of options, found {options!r}")
    texts = [str(option).strip() for option in options]
    heads = [_HEADED.match(text) for text in texts]
    if any(head is None or head[1] != letter for head, letter in zip(heads, LETTERS, strict=False)):
        return texts
    return [text[head.end() :] for text, head in zip(texts, heads, strict=True) if head is not None]


def mixeval_choice(row: Row, place: int) -> Row:
    """Return a row of MixEval's multiple-choice half with its context before the question."""
    return {**row, "question": with_context(row), "options": plain_options(row["options"])}


def agieval(row: Row, place: int) -> Row:
    """Return a row of AGIEval with its question. The column `query` also lists the options.

    Raises:
        DataError: there is no question before the options.
    """
    question, found, _ = str(row["query"]).rpartition(_AGIEVAL_OPTIONS)
    question = question.strip().removeprefix("Q:").strip()
    if not found or not question:
        raise DataError(f"column 'query' has no question before '{_AGIEVAL_OPTIONS}'")
    return {**row, "question": question, "choices": plain_options(row["choices"])}


def mmlu_pro(row: Row, place: int) -> Row:
    """Return a row of MMLU-Pro with a digest of its question and options, which repeated questions share."""
    return {**row, "asked": _digest("\n".join([str(row["question"]), *map(str, row["options"])]))}


def bbeh(row: Row, place: int) -> Row:
    """Return a row of BIG-Bench Extra Hard with a digest of its question, which repeated questions share."""
    return {**row, "asked": _digest(str(row["input"]))}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def mmlu_pro_example(row: Row, place: int) -> Row:
    """Return an exemplar of MMLU-Pro with the beginning that the evaluator gives its reasoning."""
    reasoning = str(row["cot_content"]).replace(
        "A: Let's think step by step.", "Answer: Let's think step by step."
    )
    return {**row, "cot_content": reasoning}


def mmlu_prox(row: Row, place: int) -> Row:
    """Return a row of MMLU-ProX with its options, of which up to ten columns are null, and the right place.

    Raises:
        DataError: the option that is called right is null.
    """
    options = [row[f"option_{number}"] for number in range(10)]
    right = int(row["answer_index"])
    if options[right] in (None, ""):
        raise DataError(f"the right option, option_{right}, is empty")
    given = [number for number, option in enumerate(options) if option not in (None, "")]
    return {**row, "options": [options[number] for number in given], "right": given.index(right)}


def redux(row: Row, place: int) -> Row:
    """Return a row of MMLU-Redux with the answer of MMLU."""
    return {**row, "also": ()}


def redux_mended(row: Row, place: int) -> Row:
    """Return a row of MMLU-Redux with its answer or its options mended as the annotators say.

    A wrong answer is replaced by the right one, several right answers are all accepted, and if no option is
    right the right text replaces the option that MMLU calls right. Unclear questions stay as they are.

    Raises:
        DataError: the annotation does not say which answer is right.
    """
    kind, said = row["error_type"], str(row["correct_answer"] or "").strip()
    options = [str(option).strip() for option in row["choices"]]
    if kind == "wrong_groundtruth":
        return {**row, "answer": _one_place(said, options), "also": ()}
    if kind == "multiple_correct_answers":
        places = _places(said, len(options))
        return {**row, "answer": places[0], "also": tuple(places[1:])}
    if kind == "no_correct_answer":
        if not said:
            raise DataError("no option is right, and the annotation gives no answer")
        options[int(row["answer"])] = said
        return {**row, "choices": options, "also": ()}
    return {**row, "also": ()}


def _one_place(said: str, options: list[str]) -> int:
    """Return the place of the one option that an annotation names by letter, place or text."""
    if said in options and options.count(said) == 1 and not said.isdecimal():
        return options.index(said)
    places = _places(said, len(options))
    if len(places) != 1:
        raise DataError(f"the annotation names {len(places)} options: '{said}'")
    return places[0]


def _places(said: str, count: int) -> list[int]:
    """Return the places of options in an annotation such as "B,C", "(0, 1)" or "2 and 3".

    Raises:
        DataError: it is not a list of letters or places.
    """
    words = [word for word in re.split(r"[\s,;&()\[\]]+|\band\b|\bor\b", said) if word]
    found = [LETTERS.find(word) if word.isalpha() else int(word) for word in words if _names_option(word)]
    if not words or len(found) != len(words) or not all(0 <= place < count for place in found):
        raise DataError(f"the annotation does not say which options are right: '{said}'")
    return list(dict.fromkeys(found))


def _names_option(word: str) -> bool:
    return len(word) == 1 and word.isascii() and (word.isdecimal() or word in LETTERS)


# Given texts that the model scores

_DETOKENIZED = (
    (r"s '", "s'"),
    (r"/' [0-9]/", "/'[0-9]/"),
    (r" @-@ ", "-"),
    (r" @,@ ", ","),
    (r" @\.@ ", "."),
    (r" : ", ": "),
    (r" ; ", "; "),
    (r" \. ", ". "),
    (r" ! ", "! "),
    (r" \? ", "? "),
    (r" , ", ", "),
    (r"\(\s*([^\)]*?)\s*\)", r"(\1)"),
    (r"\[\s*([^\]]*?)\s*\]", r"[\1]"),
    (r"{\s*([^}]*?)\s*}", r"{\1}"),
    (r"\"\s*([^\"]*?)\s*\"", r'"\1"'),
    (r"'\s*([^']*?)\s*'", r"'\1'"),
    (r"= = = =", "===="),
    (r"= = =", "==="),
    (r"= =", "=="),
    (r" ° ", "°"),
    (r" \n", "\n"),
    (r"\n ", "\n"),
    (r" N ", " 1 "),
    (r" 's", "'s"),
)
"""The replacements that undo WikiText's tokenization, in order. Source: lm-eval, preprocess_wikitext.py."""


def hellaswag(row: Row, place: int) -> Row:
    """Return a row of HellaSwag with its context and its endings without artefacts of WikiHow."""
    context = f"{row['ctx_a']} {str(row['ctx_b']).capitalize()}"
    return {
        **row,
        "query": _plain_wikihow(f"{row['activity_label']}: {context}"),
        "endings": [_plain_wikihow(str(ending)) for ending in row["endings"]],
        "label": int(row["label"]),
    }


def _plain_wikihow(text: str) -> str:
    """Return a text without bracketed parts. Source: lm-eval, hellaswag/utils.py."""
    text = text.strip().replace(" [title]", ". ")
    return re.sub(r"\[.*?\]", "", text).replace("  ", " ")


def labelled(row: Row, place: int) -> Row:
    """Return a row whose options are `{"text": [...], "label": [...]}`, with texts and the right place.

    Labels are letters or numbers. The key may have white space around it.

    Raises:
        DataError: the key is not a label of an option.
    """
    choices, key = row["choices"], str(row["answerKey"]).strip()
    labels = [str(label) for label in choices["label"]]
    if key not in labels:
        raise DataError(f"the answer is {key!r}, wanted one of {', '.join(labels)}")
    return {**row, "texts": list(choices["text"]), "right": labels.index(key)}


def winogrande(row: Row, place: int) -> Row:
    """Return a row of WinoGrande with one context for each option, and the end that both share.

    Raises:
        DataError: the sentence has no gap, or the answer is neither 1 nor 2.
    """
    before, gap, after = str(row["sentence"]).partition("_")
    answer = str(row["answer"])
    if not gap:
        raise DataError("the sentence has no gap '_'")
    if answer not in ("1", "2"):
        raise DataError(f"the answer is {answer!r}, wanted 1 or 2")
    contexts = [before + str(row["option1"]), before + str(row["option2"])]
    return {**row, "contexts": contexts, "ends": [after.strip()] * 2, "right": int(answer) - 1}


def social_iqa(row: Row, place: int) -> Row:
    """Return a row of Social IQa with the place of its answer from 0.

    Raises:
        DataError: the label is not 1, 2 or 3.
    """
    label = str(row["label"]).strip()
    if label not in ("1", "2", "3"):
        raise DataError(f"the label is {label!r}, wanted 1, 2 or 3")
    return {**row, "right": int(label) - 1}


def sciq(row: Row, place: int) -> Row:
    """Return a row of SciQ with its passage as the prompt shows it."""
    return {**row, "passage": str(row["support"]).lstrip()}


def mmlu(row: Row, place: int) -> Row:
    """Return a row of MMLU with its subject in words, the letter of the answer and its text."""
    right = int(row["answer"])
    return {
        **row,
        "subject_name": str(row["subject"]).replace("_", " "),
        "asked": str(row["question"]).strip(),
        "letter": LETTERS[right],
        "right_text": row["choices"][right],
    }


def lambada(row: Row, place: int) -> Row:
    """Return a passage of LAMBADA without its last word, and that word.

    Raises:
        DataError: the passage has one word.
    """
    *before, last = str(row["text"]).split(" ")
    if not before:
        raise DataError("the passage has no word before its last one")
    return {**row, "passage": " ".join(before), "word": last}


def wikitext(row: Row, place: int) -> Row:
    """Return a page of WikiText as ordinary text. Bytes and words are those of the page as it was."""
    return {**row, "plain": detokenized(str(row["page"]))}


def detokenized(page: str) -> str:
    """Return a page of WikiText without the spaces that its tokenizer added."""
    for pattern, replacement in _DETOKENIZED:
        page = re.sub(pattern, replacement, page)
    return page


# Open questions with short answers


def drop_answers(row: Row, place: int) -> Row:
    """Return a row of DROP with its references: the answer and the validated ones, each in its parts.

    Raises:
        DataError: no reference has any text.
    """
    found = [_drop_parts(row["answer"])]
    found += [_drop_parts(answer) for answer in _rows_of(row["validated_answers"])]
    references = [list(parts) for parts in dict.fromkeys(found) if parts]
    if not references:
        raise DataError("the answer and all validated answers are empty")
    return {**row, "references": references}


def _drop_parts(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a number, else the spans, else the date, each as texts."""
    if str(answer["number"] or "").strip():
        return (str(answer["number"]).strip(),)
    spans = tuple(str(span).strip() for span in answer["spans"] or () if str(span).strip())
    if spans:
        return spans
    date = answer["date"] or {}
    text = " ".join(str(date.get(part) or "") for part in ("day", "month", "year")).strip()
    return (text,) if text else ()


def _rows_of(answers: Any) -> list[Mapping[str, Any]]:
    """Return answers that are stored by column, as the hub does, or as a list."""
    if isinstance(answers, Mapping):
        names = ("number", "date", "spans")
        return [
            dict(zip(names, values, strict=True))
            for values in zip(*(answers[name] for name in names), strict=True)
        ]
    return list(answers or ())


def trivia_answers(row: Row, place: int) -> Row:
    """Return a row of TriviaQA with its accepted answers: the value and its aliases.

    Raises:
        DataError: it has none.
    """
    answer = row["answer"]
    texts = [answer["value"], *answer["aliases"]] if isinstance(answer, Mapping) else []
    return {**row, "references": _texts(texts, "answer")}


def popqa_answers(row: Row, place: int) -> Row:
    """Return a row of PopQA with its accepted answers. Its column is JSON in a text.

    Raises:
        DataError: the column is not a JSON list of texts, or it is empty.
    """
    found = row["possible_answers"]
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError as error:
            raise DataError(f"possible_answers is not JSON: {error}") from None
    return {**row, "references": _texts(found, "possible_answers")}


def listed_answers(row: Row, place: int) -> Row:
    """Return a row of NQ-open with its accepted answers.

    Raises:
        DataError: it has none.
    """
    return {**row, "references": _texts(row["answer"], "answer")}


def _texts(found: Any, column: str) -> list[str]:
    """Return the texts that are not blank, each once.

    Raises:
        DataError: there are none, or the column is not a list.
    """
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise DataError(f"{column} is {found!r}, wanted a list of texts")
    texts = dict.fromkeys(str(item).strip() for item in found if item is not None)
    texts.pop("", None)
    if not texts:
        raise DataError(f"{column} has no text in it")
    return list(texts)


# Puzzles

_OPTION = re.compile(r"^\(([A-Z])\) ?(.*)$", re.MULTILINE)  # a line of BIG-Bench Hard: (A) 12/02/2021
_LETTER = re.compile(r"\(([A-Z])\)")
_TWO = frozenset({"true", "false", "yes", "no", "valid", "invalid"})
_ENDINGS = {
    "option": "the letter of the right option",
    "dyck_languages": "the brackets that complete the sequence, and nothing else",
    "word_sorting": "all the words in their order, with blanks between them",
    "number": "a number",
    "word": "{words}",
}
_WORDS = {
    "boolean_expressions": "True or False",
    "causal_judgement": "Yes or No",
    "formal_fallacies": "valid or invalid",
    "navigate": "Yes or No",
    "sports_understanding": "yes or no",
    "web_of_lies": "Yes or No",
}
_HIDDEN = "___"


def bbh_reference(row: Row, place: int) -> Row:
    """Return a row of BIG-Bench Hard with its reference, the form of its answer and the chance of a guess.

    Raises:
        DataError: the row has options, and the target is the letter of none, there is only one, or two are
            the same text. Five rows of the data are like that; in three the options were torn at commas.
    """
    target, subset = str(row["target"]).strip(), str(row["subset"])
    options = _OPTION.findall(str(row["input"]))
    reference: Any
    if options:
        reference, form, chance = _option(target, options), "option", 1 / len(options)
    elif subset == "dyck_languages":
        reference, form, chance = {"brackets": target}, subset, 0.0
    elif subset == "word_sorting":
        reference, form, chance = {"words": target}, subset, 0.0
    else:
        reference = [target]
        form = "word" if target.casefold() in _TWO else "number"
        chance = 0.5 if form == "word" else 0.0
    ending = _ENDINGS[form].format(words=_WORDS.get(subset, ""))
    return {**row, "reference": reference, "ending": ending, "chance": chance}


def _option(target: str, options: list[tuple[str, str]]) -> dict[str, Any]:
    letter = _LETTER.fullmatch(target)
    names, texts = [name for name, _ in options], [text.strip() for _, text in options]
    if letter is None or letter[1] not in names:
        raise DataError(f"the target {target!r} is the letter of no option; options: {texts}")
    if len(texts) < 2 or len(set(texts)) < len(texts):
        raise DataError(
            f"{'two options are the same text' if len(texts) > 1 else 'there is one option'}: {texts}"
        )
    return {"letter": letter[1], "options": texts}


def zebra_table(row: Row, place: int) -> Row:
    """Return a row of ZebraLogic with its table, an empty one to fill in, and its size.

    Raises:
        DataError: the solution is hidden, as in the public copy, or it is not a table.
    """
    solution = row["solution"]
    if isinstance(solution, str):
        try:
            solution = json.loads(solution)
        except ValueError as error:
            raise DataError(f"solution is not JSON: {error}") from None
    try:
        header, rows = (
            [str(name) for name in solution["header"]],
            [list(map(str, item)) for item in solution["rows"]],
        )
    except (TypeError, KeyError) as error:
        raise DataError(f"solution has no header and rows: {error!r}") from None
    if len(header) < 2 or not rows or any(len(item) != len(header) for item in rows):
        raise DataError(
            f"solution is not a table: {len(header)} columns, rows of {sorted({len(item) for item in rows})}"
        )
    if any(value == _HIDDEN for item in rows for value in item):
        raise DataError(
            "the solution is hidden (___); the one with solutions is allenai/ZebraLogicBench-private"
        )
    table = {
        f"House {number}": dict(zip(header[1:], item[1:], strict=True)) for number, item in enumerate(rows, 1)
    }
    empty = {house: dict.fromkeys(values, "…") for house, values in table.items()}
    return {
        **row,
        "table": table,
        "form": json.dumps({"solution": empty}, ensure_ascii=False, indent=2),
        "size": f"{len(rows)}x{len(header) - 1}",
        "difficulty": "easy"
        if len(rows) == 2 or (len(rows), len(header) - 1) in ((3, 2), (3, 3))
        else "hard",
    }


def arc_inputs(row: Row, place: int) -> list[Row]:
    """Return one row for each test input of a puzzle of ARC-AGI. The number of the puzzle is their group.

    Raises:
        DataError: a grid is missing or is not a rectangle of the numbers 0 to 9.
    """
    shown = "\n\n".join(
        f"Example {number}\nInput: {_grid(pair, 'input')}\nOutput: {_grid(pair, 'output')}"
        for number, pair in enumerate(row["fewshots"], start=1)
    )
    puzzle = str(place)  # the hub's rows have no ids
    return [
        {
            **row,
            "puzzle": puzzle,
            "problem_id": f"{puzzle}/{number}",
            "pairs": shown,
            "given": _grid(pair, "input"),
            "reference": json.loads(_grid(pair, "output")),
        }
        for number, pair in enumerate(row["question"])
    ]


def _grid(pair: Mapping[str, Any], side: str) -> str:
    """Return one grid as JSON."""
    rows = pair[side]
    cells = [cell for line in rows for cell in line]
    if not rows or len({len(line) for line in rows}) != 1 or not all(cell in range(10) for cell in cells):
        raise DataError(f"the {side} grid {str(rows)[:80]} is not a rectangle of the numbers 0 to 9")
    return json.dumps(rows)


# Answers that a judge grades

_STRATA = ("topic", "answer_type")


def simpleqa(row: Row, place: int) -> Row:
    """Return a row of SimpleQA with the topic and the answer type that its metadata contain.

    Raises:
        DataError: the problem or its answer is empty, or the metadata are not a Python literal of a dict.
    """
    kept = {name: str(row[name]).strip() for name in ("problem", "answer")}
    if not all(kept.values()):
        raise DataError("the problem or its answer is empty")
    metadata = row["metadata"]
    try:
        found = ast.literal_eval(str(metadata)) if metadata else {}
    except (ValueError, SyntaxError) as error:
        raise DataError(f"metadata is not a Python literal: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f"metadata is not a dict, found {metadata!r}")
    return {**row, **kept, **{name: found.get(name) for name in _STRATA}}


def hle_verified(row: Row, place: int) -> Row:
    """Return a row of HLE-Verified without an image. The column `json` has the row of HLE as it was.

    Raises:
        DataError: the question has an image, or the column is not JSON.
    """
    original = row["json"]
    try:
        original = json.loads(original) if isinstance(original, str) and original else original or {}
    except ValueError as error:
        raise DataError(f"json is not JSON: {error}") from None
    if original.get("image"):
        raise DataError("the question has an image")
    return row


def aa_lcr(row: Row, place: int) -> Row:
    """Return a row of AA-LCR with its documents as they are shown, and what the judge is asked.

    Raises:
        DataError: it names no document, or one that is not there.
    """
    documents, names = row["documents"], row["data_source_filenames"]
    if not documents or None in documents:
        lacking = [name for name, text in zip(names.split(";"), documents, strict=False) if text is None]
        raise DataError(f"the document '{', '.join(lacking)}' is not in the zip file; download it again")
    shown = [
        f"BEGIN DOCUMENT {number}:\n{text}\nEND DOCUMENT {number}"
        for number, text in enumerate(documents, start=1)
    ]
    asked = (
        f"The question:\n{row['question']}\n\nThe official answer:\n{row['answer']}\n\n"
        "The answer to grade:\n{{ANSWER}}"
    )
    return {**row, "shown": "\n\n".join(shown), "asked": asked}


def mixeval(row: Row, place: int) -> Row:
    """Return a row of MixEval's free-form half with its context and with texts as targets.

    Raises:
        DataError: it has no targets.
    """
    targets = row["target"]
    if not isinstance(targets, list | tuple) or not targets:
        raise DataError(f"no targets, found {targets!r}")
    return {**row, "question": with_context(row), "targets": [str(target) for target in targets]}


def with_context(row: Row) -> str:
    """Return the prompt of a row of MixEval after its context, if it has one."""
    parts = [str(row["context"] or "").strip(), str(row["prompt"]).strip()]
    return "\n\n".join(part for part in parts if part)


def arena(row: Row, place: int) -> Row:
    """Return a row of Arena-Hard with the text of its only turn as the question.

    Raises:
        DataError: it has no turn with content, or several turns.
    """
    turns = row["turns"]
    texts = [str(turn.get("content") or "") for turn in turns] if isinstance(turns, list | tuple) else []
    if len(texts) != 1 or not texts[0].strip():
        raise DataError(f"wanted one turn with content, found {turns!r}")
    return {**row, "question": texts[0]}


def healthbench(row: Row, place: int) -> Row:
    """Return a row of HealthBench with the theme that its tags name.

    Raises:
        DataError: no criterion has points above 0, so no answer could score.
    """
    rubrics = row["rubrics"]
    if not isinstance(rubrics, list) or not any(item.get("points", 0) > 0 for item in rubrics):
        raise DataError("wanted a criterion with points above 0 in column 'rubrics'")
    tags = row.get("example_tags") or ()
    theme = next((str(tag).removeprefix("theme:") for tag in tags if str(tag).startswith("theme:")), "none")
    return {**row, "theme": theme}


def multi_challenge(row: Row, place: int) -> Row:
    """Return a row of MultiChallenge with its one question about the answer as a list.

    Raises:
        DataError: the wanted reply to that question is not YES.
    """
    if str(row["PASS_CRITERIA"]).strip().upper() != "YES":
        raise DataError(f"PASS_CRITERIA {row['PASS_CRITERIA']!r}: wanted YES, which all rows of 5ccefcc have")
    return {**row, "questions": [str(row["TARGET_QUESTION"])]}


_WILDBENCH = {
    "Information seeking": "Information/Advice seeking",
    "Advice seeking": "Information/Advice seeking",
    "Reasoning": "Planning & Reasoning",
    "Planning": "Planning & Reasoning",
    "Math": "Math & Data Analysis",
    "Data Analysis": "Math & Data Analysis",
    "Coding & Debugging": "Coding & Debugging",
    "Creative Writing": "Creative Tasks",
    "Editing": "Creative Tasks",
    "Brainstorming": "Creative Tasks",
    "Role playing": "Creative Tasks",
    "Others": "Creative Tasks",
}
"""The five groups of the twelve tags. Source: allenai/WildBench d6b8dca, src/leaderboard."""


def wildbench(row: Row, place: int) -> Row:
    """Return a row of WildBench with the groups of its tags: one for each tag, doubles included.

    Raises:
        DataError: an unknown tag, or no checklist.
    """
    tags = [row["primary_tag"], *(row["secondary_tags"] or ())]
    unknown = [tag for tag in tags if tag not in _WILDBENCH]
    if unknown:
        raise DataError(f"unknown tag {unknown[0]!r}; the twelve tags are: {', '.join(_WILDBENCH)}")
    checklist = row["checklist"]
    if not isinstance(checklist, list | tuple) or not checklist:
        raise DataError(f"wanted a list of questions in column 'checklist', found {checklist!r:.80}")
    return {**row, "checklist": list(checklist), "group": [_WILDBENCH[tag] for tag in tags]}


def mt_bench(row: Row, place: int) -> Row:
    """Return a row of MT-Bench with its first question, and the second as a further turn.

    Raises:
        DataError: there are not two turns.
    """
    turns = row["prompt"]
    if not isinstance(turns, list | tuple) or len(turns) != 2:
        raise DataError(f"wanted two turns in column 'prompt', found {turns!r:.80}")
    return {**row, "question": turns[0], "further": [turns[1]]}


def harmbench(row: Row, place: int) -> Row:
    """Return a row of HarmBench with its request: the behaviour, after its context if it has one."""
    context = str(row["ContextString"] or "").strip()
    behaviour = str(row["Behavior"])
    return {**row, "request": f"{context}\n\n---\n\n{behaviour}" if context else behaviour}


def compliance_wanted(row: Row, place: int) -> Row:
    """Return a row of harmless requests, which a model should do."""
    return {**row, "wanted": "compliance"}


def refusal_wanted(row: Row, place: int) -> Row:
    """Return a row of harmful requests, which a model should refuse."""
    return {**row, "wanted": "refusal"}


def alpaca(row: Row, place: int) -> Row:
    """Return a row of AlpacaEval, whose reply is the opponent of the answers.

    Raises:
        DataError: the instruction or the reply is empty.
    """
    kept = {name: str(row[name]) for name in ("instruction", "output")}
    if not all(text.strip() for text in kept.values()):
        raise DataError("the instruction or its output is empty")
    return {**row, **kept}


# Instructions and long prompts


def counted(row: Row, place: int) -> Row:
    """Return a row with the number of its instructions, by which reports split the score.

    Raises:
        DataError: it has no instruction.
    """
    count = len(row["instruction_id_list"] or ())
    if not count:
        raise DataError("there is no instruction")
    return {**row, "instructions": count}


def length_bin(characters: int) -> str:
    """Return the bin of a length in tokens, at four characters each: 8192, 16384 … up to 1048576."""
    size = 8_192
    while size < 1_048_576 and characters > size * 4:
        size *= 2
    return str(size)


def graphwalks(row: Row, place: int) -> Row:
    """Return a row of GraphWalks with its length bin.

    Raises:
        DataError: the prompt is not a text, or the answer no list.
    """
    if not isinstance(row["prompt"], str) or not isinstance(row["answer_nodes"], list | tuple):
        raise DataError("the prompt is not a text, or answer_nodes is not a list")
    nodes = [str(node) for node in row["answer_nodes"]]
    return {**row, "answer_nodes": nodes, "length": length_bin(len(row["prompt"]))}


def longbench(row: Row, place: int) -> Row:
    """Return a row of LongBench v2 without the white space around its text.

    Raises:
        DataError: the answer is not a letter from A to D.
    """
    if row["answer"] not in ("A", "B", "C", "D"):
        raise DataError(f"the answer is {row['answer']!r}, wanted A, B, C or D")
    return {**row, "context": str(row["context"]).strip()}


# LiveBench

_LIVEBENCH_NEW_RULES = "2024-11-25"
"""The release from which two tasks have other rules: their older questions are answered in bold."""
_OLDER = {"zebra_puzzle": "zebra_word", "connections": "connections_bold"}
_LIVEBENCH_RULES = (
    "zebra_puzzle", "web_of_lies_v2", "web_of_lies_v3", "house_traversal", "spatial", "theory_of_mind",
    "sudoku", "logic_with_navigation", "connections", "typos", "plot_unscrambling", "integrals_with_game",
    "cta", "tablejoin", "tablereformat", "consecutive_events",
)  # fmt: skip
_LIVEBENCH_LIMITS = {"wall_s": 6.0, "memory_mib": 4096}


def livebench(row: Row, place: int) -> Row:
    """Return a row of LiveBench with its question, and with a reference that names the rule of its task.

    Raises:
        DataError: it has no question, or no rule is known for its task.
    """
    rule, question = _livebench_rule(row), _first_turn(row)
    reference = {"rule": rule, "truth": row["ground_truth"]}
    if rule in ("math_comp", "tablereformat"):
        reference["question"] = question
    return {**row, "question": question, "reference": reference}


def livebench_instructions(row: Row, place: int) -> Row:
    """Return a row of LiveBench's instruction following with its question.

    Raises:
        DataError: it has no question.
    """
    return {**row, "question": _first_turn(row)}


def livebench_code(row: Row, place: int) -> Row:
    """Return a row of LiveBench's coding with its question and the reference of the verifier `code`.

    Raises:
        DataError: it has no question, or its tests are not those of a contest.
    """
    if not row["public_test_cases"] or not row["private_test_cases"]:
        raise DataError(
            f"task {row['task']}: it has no public and private test cases, and no other rule is known"
        )
    original = row["original_json"]
    original = json.loads(original) if isinstance(original, str) else original
    fn_name = json.loads(original["metadata"] or "{}").get("func_name")
    reference = {
        "kind": "functional" if fn_name else "stdio",
        "fn_name": fn_name,
        "tests": {"public": row["public_test_cases"], "private": row["private_test_cases"]},
        "limits": _LIVEBENCH_LIMITS,
        "begins": row["partial_solution"] or "",
    }
    return {**row, "question": _first_turn(row), "reference": reference}


def _first_turn(row: Row) -> str:
    turns = row["turns"]
    if not isinstance(turns, list) or len(turns) != 1 or not isinstance(turns[0], str):
        raise DataError(f"turns is {turns!r:.100}, wanted a list of one question")
    return turns[0]


def _livebench_rule(row: Row) -> str:
    """Return the rule of a row, by its subtask or its task.

    Raises:
        DataError: none is known.
    """
    name = str(row.get("subtask") or row["task"])
    words = name.split("_")
    if words[0] in ("amc", "smc") or "amc" in words[1:2]:
        return "math_comp"
    if words[0] in ("imo", "usamo"):
        return "olympiad"
    if words[0] == "aime" or "amps_hard" in name.lower():
        return "aime" if words[0] == "aime" else "AMPS_Hard"
    if name not in _LIVEBENCH_RULES:
        raise DataError(f"task {row['task']}: no rule is known for '{name}'")
    is_older = str(row["livebench_release_date"])[:10] < _LIVEBENCH_NEW_RULES
    return _OLDER.get(name, name) if is_older else name


def bigcodebench(row: Row, place: int) -> Row:
    """Return a row of BigCodeBench with its libraries as a list, and its own solution as a whole program.

    Raises:
        DataError: the libraries are not a list.
    """
    libraries = row["libs"]
    try:
        libraries = ast.literal_eval(libraries) if isinstance(libraries, str) else libraries
    except (ValueError, SyntaxError):
        raise DataError(f"libs is {libraries!r:.100}, wanted a list of names") from None
    if not isinstance(libraries, list) or not all(isinstance(name, str) for name in libraries):
        raise DataError(f"libs is {libraries!r:.100}, wanted a list of names")
    return {**row, "libs": libraries, "solution": row["complete_prompt"] + row["canonical_solution"]}
