"""Row functions of the benchmarks in which a model scores given texts, in lm-eval's form."""

from __future__ import annotations

import re
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.tasks.choice_options import LETTERS

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
        DataError: the key is no label of an option.
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


def document(row: Row, place: int) -> Row:
    """Return a row whose text is scored as a document.

    Raises:
        DataError: the text is empty.
    """
    text: Any = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"column 'text' is {text!r:.60}, wanted text")
    return row
