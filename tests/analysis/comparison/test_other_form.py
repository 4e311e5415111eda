"""A drop whose lost answers are right but for their form is named, and one of wrong answers is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.reports.explanations import headline, sentence
from genbench.runs.command import run_models
from genbench.runs.options import RunOptions
from genbench.verifiers.text.short_answer import ContentReader, Wanted
from tests.ready_runs import write_lines
from tests.table import each_row

N = 30
TOWNS = [
    first + last
    for first in ("Bel", "Mor", "Kan", "Tor", "Vis", "Lun")
    for last in ("dia", "grad", "ta", "mo", "rin")
]
NUMBERS = [str(7 * number + 11) for number in range(N)]
LETTERS = [letter for letter in "ABCDE" for _ in range(N // 5)]
CHOICES = ["yes", "no"] * (N // 2)
Form = Callable[[str, str], str]
"""Makes an answer of the right and a wrong content."""

# The content is right, and the verifier wants the bare text.
FORMS: Sequence[tuple[list[str], Form]] = [
    (TOWNS, lambda right, _: f"The city is {right}"),
    (TOWNS, lambda right, _: f"{right}."),
    (TOWNS, lambda right, _: f"**{right}**"),
    (TOWNS, lambda right, _: right.lower()),
    (TOWNS, lambda right, _: f"Answer: {right}"),
    (TOWNS, lambda right, _: json.dumps({"answer": right})),
    (TOWNS, lambda right, _: f'"{right}"'),
    (TOWNS, lambda right, _: f"\\boxed{{\\text{{{right}}}}}"),
    (TOWNS, lambda right, _: f"<answer>{right}</answer>"),
    (
        TOWNS,
        lambda right, _: f"Good question! The city is {right}.\n\nDo you need anything else?",
    ),
    (TOWNS, lambda right, _: f"- {right}"),
    (TOWNS, lambda right, _: f"It is {right} because the river ends there."),
    (TOWNS, lambda right, _: f"```\n{right}\n```"),
    (NUMBERS, lambda right, _: f"{right} apples"),
    (NUMBERS, lambda right, _: f"The result is {right}."),
    (NUMBERS, lambda right, _: f"{right}.0"),
    (NUMBERS, lambda right, _: f"x = {right}"),
    (LETTERS, lambda right, _: f"({right})"),
    (LETTERS, lambda right, _: f"The answer is {right}."),
    (CHOICES, lambda right, _: f"{right.capitalize()}."),
]
# Each is the wrong content, or none.
FAULTS: Sequence[tuple[list[str], Form]] = [
    *((rows, lambda right, wrong, form=form: form(wrong, right)) for rows, form in FORMS),
    (TOWNS, lambda right, wrong: f"It is not {right}, it is {wrong}."),
    (TOWNS, lambda right, wrong: f"{right} or {wrong}"),
    (TOWNS, lambda right, wrong: f"Some say {right}, but I think it is {wrong}."),
    (TOWNS, lambda right, wrong: f"Not {right}."),
    (TOWNS, lambda right, _: f"I do not know whether it is {right}."),
    (TOWNS, lambda right, wrong: f"The candidates are {', '.join(TOWNS)}."),
    (TOWNS, lambda right, wrong: f"Which city is it, {right} or {wrong}?"),
    (TOWNS, lambda *_: "I cannot answer that."),
    (TOWNS, lambda *_: ""),
    (TOWNS, lambda right, _: f"{right}ville"),
    (TOWNS, lambda right, _: f"I ruled out {right}."),
    (TOWNS, lambda right, _: f"{right} is a common mistake."),
    (NUMBERS, lambda right, _: f"{right} would be too small."),
    (TOWNS, lambda right, wrong: f"{right} is wrong, so {wrong}"),
    (TOWNS, lambda *_: "The city lies at the end of a river. " * 20),
    (NUMBERS, lambda right, wrong: f"First {right} + 1, then {wrong}"),
    (NUMBERS, lambda right, _: f"{right}7"),
    (NUMBERS, lambda right, wrong: f"{right} is the first part, and the answer is {wrong}"),
    (NUMBERS, lambda right, _: f"-{right}"),
    (LETTERS, lambda *_: "A B C D E"),
    (LETTERS, lambda right, wrong: f"A better one than {right} is {wrong}"),
    (CHOICES, lambda *_: "It depends: yes and no."),
    (CHOICES, lambda right, wrong: f"{wrong}, it is not {right}"),
]


def drawn(place: Path, tasks: Mapping[str, tuple[list[str], Form]]) -> Comparison:
    """Return the comparison of a base that is right and a model with the answers of each task's form.

    The base errs in a tenth of the problems, and the model keeps the bare form in a fifth.
    """
    rng = np.random.default_rng(3)
    entries, lines = [], []
    for name, (references, form) in tasks.items():
        rows = [
            {"id": str(i), "question": f"Which one is number {i}?", "reference": reference}
            for i, reference in enumerate(references)
        ]
        write_lines(place / f"{name}.jsonl", rows)
        entries.append(
            f"  - {{name: {name}, kind: exact, data: {{path: {name}.jsonl, fields: {{id: id}}}}, k: 1}}\n"
        )
        for i, right in enumerate(references):
            wrong = next(other for other in references[i + 1 :] + references[:i] if other != right)
            base = wrong if rng.random() < 0.1 else right
            tuned = right if rng.random() < 0.2 else form(right, wrong)
            shared = {"task": name, "problem_id": str(i), "sample_index": 0}
            lines += [shared | {"model": "base", "text": base}, shared | {"model": "tuned", "text": tuned}]
    models = "models: {base: {path: ./base}, tuned: {path: ./tuned}}\n"
    (place / "suite.yaml").write_text(f"{models}decoding: {{max_tokens: 64}}\ntasks:\n{''.join(entries)}")
    options = RunOptions(
        str(place / "suite.yaml"),
        responses=write_lines(place / "ready.jsonl", lines),
        run_dir=place / "out",
        quiet=True,
    )
    folders = run_models(options).folders
    return compare(folders["base"], folders["tuned"])


@pytest.mark.slow
def test_twenty_planted_changes_of_form_are_named_and_of_a_hundred_wrong_models_at_most_one(
    tmp_path: Path,
) -> None:
    planted = {f"form{number}": item for number, item in enumerate(FORMS)}
    wrong = {
        f"fault{number}_{turn}": (rows[turn:] + rows[:turn], form)
        for turn in (0, 7, 13)
        for number, (rows, form) in enumerate((list(rows), form) for rows, form in FAULTS)
    }
    wrong = dict(list(wrong.items())[:100])
    assert (len(planted), len(wrong)) == (20, 100)
    tasks = drawn(tmp_path, planted | wrong).tasks
    named = {name for name, task in tasks.items() if task.other_form is not None}
    assert {name for name in planted if name not in named} == set()
    assert len(named & wrong.keys()) <= 1, named & wrong.keys()


@pytest.mark.slow
def test_a_change_of_form_is_in_the_sentence_with_its_share(tmp_path: Path) -> None:
    tasks = {"towns": FORMS[0], "sums": (NUMBERS, lambda _, wrong: wrong)}
    record = drawn(tmp_path, tasks)
    form = record.tasks["towns"].other_form
    assert form is not None and form.same == form.read == form.lost
    assert record.tasks["sums"].other_form is None
    assert "same content in another form" not in headline(record)  # its error is not known
    told = sentence(record.tasks["towns"])
    assert "same content in another form: 20 of 20 lost answers (100 %)" in told and "'The city is " in told


OTHERS = [("", Wanted((text,))) for text in ("Oslo", "Rome", "12", "13")]
"""Problems of the same task, without an answer."""


@each_row(
    "reference, text, given",
    [
        ("Oslo", "The capital is Oslo", True),
        ("Oslo", "Oslo?", True),
        ("Oslo", "<b>Oslo</b>", True),
        ("Oslo", "Oslo (final)", True),
        ("hello, world", "Hello world!", True),
        ("Oslo", "1. Oslo", True),
        ("Oslo", "1. Oslo\n2. Rome", False),
        ("river", "a river", True),
        ("1905", "In 1905", True),
        ("1905", "It happened in 1905.", True),
        ("1905", "Not in 1905.", False),
        ("1905", "Between 1905 and 1910", False),
        ("Oslo", "The capital is not Oslo", False),
        ("Oslo", "The capital of Oslo county is Rome", False),
        ("Oslo", "Maybe Oslo", False),
        ("a", "It is a town", False),
        ("Oslo", "Oslo would be wrong.", False),
        ("Oslo", "I ruled out Oslo", False),
        ("Oslo", "Many people say Oslo.", False),
        ("Oslo", "Wrong answer: Oslo", False),
        ("Oslo", "The answer used to be Oslo", False),
        ("Oslo", "At first I saw no reason. It is Oslo because of the fjord.", True),
        ("12", "12 fails the test.", False),
        ("12", "less than 12", False),
        ("12", "12 km", True),
        ("12", "twelve", True),
        ("12", "It's approximately 12.00", True),
        ("12", "12 (rounded)", True),
        ("12", "3 times 4, so the answer is 12", True),
        ("12", "112", False),
        ("12", "12 or 13", False),
        ("12", "Twelve minus 12 is 0", False),
        ({"letter": "B", "options": ["Paris", "Rome", "Oslo"]}, "b)", True),
        ({"letter": "B", "options": ["Paris", "Rome", "Oslo"]}, "The correct option is (B).", True),
        ({"letter": "B", "options": ["Paris", "Rome", "Oslo"]}, "It is Rome.", True),
        ({"letter": "B", "options": ["Paris", "Rome", "Oslo"]}, "Rome or Oslo", False),
        ({"letter": "B", "options": ["Paris", "Rome", "Oslo"]}, "a)", False),
    ],
)
def test_an_answer_gives_a_content_or_merely_mentions_it(reference: object, text: str, given: bool) -> None:
    wanted = Wanted.of(reference)
    assert wanted is not None
    assert ContentReader(OTHERS).gives(text, wanted) is given


@each_row(
    "form, given",
    [
        ("1. {}", True),
        ("a {}", True),
        ("{} (final)", True),
        ("You are looking for {}.", True),
        ("Good day! They live in {}, which is in the north", True),
        ("I ruled out {}.", False),
        ("{} is too far away.", False),
        ("It is {} or Rome.", False),
    ],
)
def test_words_around_different_answers_are_a_form_and_those_around_one_are_none(
    form: str, given: bool
) -> None:
    cities = [(form.format(city), Wanted((city,))) for city in ("Oslo", "Bergen", "Bodo")]
    assert [ContentReader([*OTHERS, *cities]).gives(*item) for item in cities] == [given] * 3
    alone = ContentReader([*OTHERS, ("They live in Oslo", Wanted(("Oslo",)))])
    assert not alone.gives("They live in Oslo", Wanted(("Oslo",)))


def test_an_option_without_text_is_not_in_every_answer() -> None:
    wanted = Wanted.of({"letter": "B", "options": ["Paris", "", "Oslo"]})
    assert wanted is not None
    assert not ContentReader([("It is C.", wanted)]).gives("It is C.", wanted)
    assert ContentReader([("It is C.", wanted)]).gives("(B)", wanted)
