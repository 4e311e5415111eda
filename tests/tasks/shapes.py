"""Rows of the shape of each page that reports of 2026 table, by page, and mirrors that are made of them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.protocols import HubDataset, Row

FOUR = ["Berlin", "Rome", "Oslo", "Paris"]
CONTEST: list[Row] = [
    {"problem_idx": 1, "problem": "Find $1+1$.", "answer": 2},
    {"problem_idx": 2, "problem": "Find all $x$ with $x^2=4$.", "answer": "-2, 2"},
]
PARAMETERS = {
    "a": {"type": "integer", "description": "A number."},
    "how": {
        "type": "dict",
        "description": "How.",
        "properties": {
            "mode": {"type": "string", "description": "Mode.", "default": "x, y", "enum": ["x, y", "z"]},
            "tags": {"type": "array", "description": "Tags.", "items": {"type": "string"}},
        },
    },
}
SHAPES: dict[str, list[Row]] = {
    **dict.fromkeys(("apex_2025", "apex_shortlist", "arxivmath"), CONTEST),
    "beyond_aime": [{"problem": "Find $x$.", "answer": 7}, {"problem": "Find $y$.", "answer": "-12"}],
    "gsm8k_platinum": [
        {"question": "How many?", "answer": "So.\n#### 1,001", "cleaning_status": "consensus"},
        {"question": "How few?", "answer": "So.\n#### 3", "cleaning_status": "revised"},
    ],
    "polymath": [{"question": "Find $x$.", "answer": "7"}, {"question": "Find $y$.", "answer": "$x+1$"}],
    "bbeh": [
        {"task": "hyperbaton", "input": "Which order?", "target": "H", "mini": True},
        {"task": "buggy tables", "input": "How much?", "target": "26.1", "mini": False},
        {"task": "sarc triples", "input": "Which are?", "target": "0,0,1", "mini": False},
    ],
    "hle_verified": [
        {"id": f"v{n}", "question": f"How many {n}?", "answer": answer, "answer_type": "exactMatch"}
        | {"category": "Math", "Verified_Classes": "Gold subset", "json": '{"image": ""}'}
        for n, answer in enumerate(("7", "a cow"))
    ],
    "simpleqa_verified": [
        {"original_index": n, "problem": f"Which town {n}?", "answer": answer, "topic": "T"}
        | {"answer_type": "Place"}
        for n, answer in enumerate(("Rome", "120k (acceptable range: anything between 118k and 122k)"))
    ],
    "aa_omniscience": [
        {"question_id": f"q{n}", "domain": "Law", "topic": "Courts", "question": f"Which {n}?"}
        | {"answer": answer}
        for n, answer in enumerate(("the third", "14 March 1997"))
    ],
    "imo_answerbench": [
        {"Problem ID": f"imo-{n}", "Problem": f"Find all $n > {n}$.", "Short Answer": answer}
        | {"Category": "Algebra", "Subcategory": "Operation"}
        for n, answer in enumerate(("$n$ odd", "$\\frac{7}{18}$", "4, 5"))
    ],
    "ceval": [
        {"id": 7, "question": "Capital?", "answer": "D", "subject": "law"}
        | dict(zip("ABCD", FOUR, strict=True))
    ],
    "cmmlu": [
        {"Question": "Capital?", "Answer": "D", "subject": "virology"} | dict(zip("ABCD", FOUR, strict=True))
    ],
    "include": [
        {"question": "Capital?", "answer": 3, "domain": "STEM", "regional_feature": "agnostic"}
        | {f"option_{letter}": text for letter, text in zip("abcd", FOUR, strict=True)}
        | {"config": "North Macedonian"}
    ],
    "mmlu_prox": [
        {"question_id": 7, "question": "Capital?", "answer_index": 4, "category": "law", "language": "de"}
        | {f"option_{n}": text for n, text in enumerate([*FOUR[:2], None, *FOUR[2:], *[None] * 5])}
    ],
    "global_piqa": [
        {"prompt": "Capital?", "solution0": "Oslo", "solution1": "Paris", "label": 1, "language": "deu_latn"}
    ],
    "global_piqa_parallel": [
        {"prompt": "Capital?", "label": 3, "language": "deu_latn"}
        | {f"solution{n}": text for n, text in enumerate(FOUR)}
    ],
    "aa_lcr": [
        {"document_category": "Law", "document_set_id": "acts", "question_id": n, "question": f"Which {n}?"}
        | {"answer": answer, "data_source_filenames": names}
        for n, (answer, names) in enumerate((("the third", "b’s.txt;a.txt"), ("two", "a.txt")))
    ],
    "bfcl_v4_format_sensitivity": [
        {
            "id": "simple_python_19",
            "question": [[{"role": "user", "content": "Do it with 1."}]],
            "function": [
                {
                    "name": "f.of",
                    "description": "Do it.",
                    "parameters": {"type": "dict", "required": ["a"], "properties": PARAMETERS},
                }
            ],
            "ground_truth": [{"f.of": {"a": [1], "how": [""]}}],
        }
    ],
    "uncheatable_eval": [
        {"content": "Ice is cold.\n  It melts.\n", "category": "bbc_news"},
        {"content": "def f():\n    return 1\n", "category": "github_python"},
    ],
}
PARTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "arxivmath": {"month": ["0226", "0326"]},
    "ceval": {"subject": ["law"]},
    "cmmlu": {"subject": ["virology"]},
    "include": {"config": ["North Macedonian"]},
    "mmlu_prox": {"language": ["de"]},
    "global_piqa": {"language": ["deu_latn"]},
    "global_piqa_parallel": {"language": ["deu_latn"]},
    "polymath": {"language": ["de"]},
    "bfcl_v4_format_sensitivity": {"category": ["simple"]},
}
"""The few configs that a test asks, of pages with many."""


def write_mirror(folder: Path, data: HubDataset, rows: Sequence[Row]) -> None:
    """Write the same rows as each config and split of a dataset. PolyMath's levels have ids of their own."""
    for one, columns in data.parts():
        level = columns.get("level")
        own: Sequence[Any] = rows
        if one.split == level:
            own = [{**row, "id": f"{level}-{place}"} for place, row in enumerate(rows)]
        path = folder / one.repo / one.config / f"{one.split}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in own), encoding="utf-8")
    if data.texts is not None:
        write_archive(folder / data.repo / data.texts.archive)


def write_archive(path: Path, **more: str) -> None:
    """Write a zip file of AA-LCR's documents. A name with an apostrophe is garbled, as it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"b’s.txt": "Ice is cold.", "a.txt": "Fire is hot.", **more}.items():
            archive.writestr(f"lcr/Law/acts/{name.encode().decode('cp437')}", text)
