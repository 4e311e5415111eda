"""A folder of small definitions of every level, and a mirror with their rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TEMPLATE = """\
dataset_path: org/sums
test_split: test
fewshot_split: train
fewshot_config:
  sampler: first_n
output_type: generate_until
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: answer
generation_kwargs:
  until: ["Q:"]
  max_gen_toks: 64
filter_list:
  - name: strict
    filter:
      - function: regex
        regex_pattern: "The answer is (-?[0-9]+)"
      - function: take_first
  - name: flexible
    filter:
      - function: regex
        group_select: -1
        regex_pattern: "(-?[0-9]+)"
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
metadata:
  version: 2.0
"""
FILES = {
    "sums/_template_yaml": TEMPLATE,
    "sums/sums.yaml": "include: _template_yaml\ntask: sums\ntag: sums_all\nnum_fewshot: 1\n",
    "sums/sums_functions.yaml": "include: _template_yaml\ntask: sums_rows\ntag: sums_all\n"
    "process_docs: !function utils.rows\n",
    "sums/group.yaml": "group: sums_group\ntask:\n  - sums_all\n  - pick\n",
    "choices/pick.yaml": "task: pick\ndataset_path: org/picks\nvalidation_split: validation\n"
    'output_type: multiple_choice\ndoc_to_text: "Question: {{goal}}\\nAnswer:"\ndoc_to_target: label\n'
    "doc_to_choice: '{{[one, two]}}'\nmetric_list: [{metric: acc, aggregation: mean}]\n",
    "texts/translated.yaml": "task: translated\ndataset_path: org/sums\ntest_split: test\n"
    "doc_to_text: question\ndoc_to_target: words\nmetric_list: [{metric: bleu}, {metric: chrf}]\n",
    "code/scored.yaml": "task: scored\ndataset_path: org/sums\ntest_split: test\ndoc_to_text: question\n"
    "doc_to_target: answer\nprocess_results: !function utils.score\n",
    "code/made.yaml": "task: made\ncustom_dataset: !function utils.load\ntest_split: test\n"
    "doc_to_text: question\ndoc_to_target: answer\n",
    "code/both.yaml": "task: both\ndataset_path: org/sums\ntest_split: test\n"
    "doc_to_text: !function utils.text\ndoc_to_target: answer\nmetric_list: [{metric: ter}]\n",
    "code/seen.yaml": "task: seen\ndataset_path: org/sums\ntest_split: test\ndoc_to_image: image\n",
    "code/classed.yaml": "task: classed\nclass: !function task.Task\n",
}
SUMS = [
    {"question": f"{n} + {n}?", "answer": str(2 * n), "words": f"it is {2 * n} in all"} for n in range(1, 7)
]


@pytest.fixture
def definitions(tmp_path: Path) -> Path:
    """Return a folder with definitions of every level."""
    root = tmp_path / "definitions"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """Return a mirror with the rows of the definitions."""
    root = tmp_path / "mirror"
    picks = [{"goal": "Boil water", "one": "Heat it.", "two": "Cool it.", "label": 0}]
    for place, rows in (
        ("org/sums/default/test.jsonl", SUMS),
        ("org/sums/default/train.jsonl", [{"question": "0 + 0?", "answer": "0", "words": "none"}]),
        ("org/picks/default/validation.jsonl", picks),
    ):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return root
