"""The multiple-choice benchmarks: which rows they read, what they ask, and which answers are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.protocols import Row
from genbench.tasks.loading import with_examples
from genbench.tasks.page.task import PageTask
from genbench.types import Answer, Ask, Case, Problem, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.foreign.published_extraction import LetterVerifier
from tests.table import each_row
from tests.tasks.shapes import FOUR, SHAPES

OWN: dict[str, Row] = {
    "mmlu": {"question": "Capital?", "choices": FOUR, "answer": 3, "subject": "anatomy"},
    "mmlu_redux": {
        **{"question": "Capital?", "choices": FOUR, "answer": 3, "subject": "anatomy"},
        **{"error_type": "ok", "correct_answer": None},
    },
    "mmlu_pro": {
        **{"question_id": 7, "question": "Capital?", "options": FOUR, "answer_index": 3},
        **{"category": "history", "src": "x"},
    },
    "global_mmlu": {
        **{
            "sample_id": "anatomy/test/7",
            "subject": "anatomy",
            "subject_category": "STEM",
            "question": "Capital?",
        },
        **dict(zip(["option_a", "option_b", "option_c", "option_d"], FOUR, strict=True)),
        **{"answer": "D", "cultural_sensitivity_label": "CS", "language": "de"},
    },
    "mmmlu": {
        **dict(zip("ABCD", FOUR, strict=True)),
        **{"Question": "Capital?", "Answer": "D", "Subject": "anatomy", "language": "FR_FR"},
    },
    "supergpqa": {
        **{"uuid": "u", "question": "Capital?", "options": FOUR, "answer_letter": "D", "discipline": "Law"},
        **{"field": "f", "difficulty": "hard", "is_calculation": False},
    },
    "mixeval_hard_choice": {
        **{"id": "7", "context": None, "prompt": "Capital?", "options": FOUR, "target": ["3"]},
        **{"benchmark_name": "MMLU"},
    },
    "agieval_en": {
        **{
            "query": "Q: Capital? Answer Choices: (A)Berlin",
            "choices": [f"({x}){y}" for x, y in zip("ABCD", FOUR, strict=False)],
        },
        **{"gold": [3], "exam": "sat-en"},
    },
}
OWN["global_mmlu_lite"] = OWN["global_mmlu"]
OWN |= {
    name: SHAPES[name][0]
    for name in ("ceval", "cmmlu", "include", "mmlu_prox", "global_piqa", "global_piqa_parallel")
}
SHOWN = {
    "global_piqa": "Capital? ...\n\nOption A: Oslo\n\nOption B: Paris\n\nYour response",
    "global_piqa_parallel": "Capital?\n\nOption A: Berlin\n\nOption B: Rome\n\nOption C: Oslo\n\nOption D: ",
}
"""How a row begins whose options are not shown in genbench's own form."""


def made(name: str, protocol: str = "genbench", **options: Any) -> PageTask:
    task = registry.load("task", name)(protocol, **options)
    assert isinstance(task, PageTask)
    return task


def ask(task: PageTask, problem: Problem, sample: int = 0) -> Ask:
    found = task.ask(problem, sample, ())
    assert found is not None
    return found


def score(text: str, reference: Any, verifier: ChoiceVerifier | LetterVerifier) -> float:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return verifier.verify(case).score


@each_row("name", sorted(OWN))
def test_a_row_is_asked_with_its_options_and_knows_the_right_one(name: str) -> None:
    task = made(name)
    dataset = task.info.dataset
    assert dataset is not None and set(dataset.columns) <= set(OWN[name])
    [problem] = task.problems([OWN[name]])
    for sample in range(4):
        question = ask(task, problem, sample)
        reference = question.reference
        assert SHOWN.get(name, "Capital?\n\nA) ") in question.messages[-1].content
        assert reference["options"]["ABCD".index(reference["letter"])] == "Paris"
        assert score(f"Answer: {reference['letter']}", reference, ChoiceVerifier()) == 1


@pytest.mark.parametrize(
    ("name", "change", "asked", "answer"),
    [
        ("global_mmlu", {"language": "de"}, "'Antwort: X', wobei X A, B, C oder D ist.", "Antwort: {}"),
        ("global_mmlu_lite", {"language": "zh"}, "“答案：X”", "答案：{}"),
        ("global_mmlu", {"language": "am"}, "'Answer: X', where X is A, B, C or D.", "Answer: {}"),
        ("mmmlu", {"language": "FR_FR"}, "'Réponse : X'", "Réponse : {}"),
        ("mmmlu", {"language": "AR_XY"}, "'الإجابة: X'", "الإجابة: {}"),
        ("mmmlu", {"language": "JA_JP"}, "「答え：X」", "答え：{}"),
        ("ceval", {}, "“答案：X”", "答案：{}"),
        ("cmmlu", {}, "“答案：X”", "答案：{}"),
        ("mmlu_prox", {"language": "vi"}, "'Đáp án: X'", "Đáp án: {}"),
        ("mmlu_prox", {"language": "wo"}, "'Answer: X', where X is its letter.", "Answer: {}"),
        ("global_piqa", {}, "one of A or B.", "So oil. The best answer is: {}"),
        ("global_piqa_parallel", {}, "one of A, B, C, or D.", "The best answer is: [{}]"),
    ],
)
def test_a_question_is_asked_in_its_language_and_the_answer_is_read_in_it(
    name: str, change: dict[str, str], asked: str, answer: str
) -> None:
    task = made(name)
    [problem] = task.problems([{**OWN[name], **change}])
    question = ask(task, problem)
    right = question.reference["letter"]
    wrong = "ABCD".replace(right, "")[0]
    assert asked in question.messages[-1].content
    assert score(answer.format(right), question.reference, ChoiceVerifier()) == 1
    assert score(answer.format(wrong), question.reference, ChoiceVerifier()) == 0


TEXTS = [
    *(
        "de",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
        "ru",
        "zh",
        "ja",
        "ko",
        "ar",
        "hi",
        "id",
        "vi",
        "tr",
        "pl",
        "sv",
        "en",
    ),
]


@each_row("language", TEXTS)
def test_the_line_that_a_prompt_asks_for_is_read_in_every_language(language: str) -> None:
    page = made("global_mmlu").page
    ending = page.texts["ending"].values[language]
    quoted = next(
        part
        for part in ending.replace("“", "'")
        .replace("”", "'")
        .replace("「", "'")
        .replace("」", "'")
        .split("'")
        if "X" in part
    )
    reference = {"letter": "C", "options": FOUR}
    assert score(quoted.replace("X", "C"), reference, ChoiceVerifier()) == 1
    assert score(quoted.replace("X", "B"), reference, ChoiceVerifier()) == 0


def test_the_variants_of_a_question_are_one_cluster() -> None:
    rows = [{**OWN["global_mmlu"], "language": language} for language in ("de", "fr")]
    assert [one.problem_id for one in made("global_mmlu").problems(rows)] == [
        "de/anatomy/test/7",
        "fr/anatomy/test/7",
    ]
    assert {one.group for one in made("global_mmlu").problems(rows)} == {"anatomy/test/7"}
    rows = [{**OWN["mmmlu"], "language": language} for language in ("DE_DE", "DE_DE", "FR_FR")]
    assert [one.group for one in made("mmmlu").problems(rows)] == ["0", "1", "0"]


def test_chance_is_that_of_the_questions_own_options() -> None:
    task = made("mmlu_pro")
    rows = [
        {**OWN["mmlu_pro"], "question_id": 1},
        {**OWN["mmlu_pro"], "question_id": 2, "options": FOUR[2:] * 4},
    ]
    rows[1]["answer_index"] = 1
    assert task.info.chance is None
    assert [len(one.row["options"]) for one in task.problems(rows)] == [4, 8]


def test_a_letter_with_the_text_of_the_right_option_is_right() -> None:
    task = made("mmlu", order="as_given")
    [problem] = task.problems([{**OWN["mmlu"], "choices": ["687", "687", "1", "2"], "answer": 0}])
    reference = ask(task, problem).reference
    assert [score(f"Answer: {letter}", reference, ChoiceVerifier()) for letter in "ABC"] == [1, 1, 0]


def test_mmlu_redux_asks_the_rows_without_an_error_or_all_mended() -> None:
    wrong = {**OWN["mmlu_redux"], "error_type": "wrong_groundtruth", "correct_answer": "A"}
    both = {**OWN["mmlu_redux"], "error_type": "multiple_correct_answers", "correct_answer": "A,B"}
    rows = [OWN["mmlu_redux"], wrong, both]
    assert len(made("mmlu_redux").problems(rows)) == 1
    task = made("mmlu_redux", rows="mended", order="as_given")
    _, one, two = task.problems(rows)
    assert ask(task, one).reference["letter"] == "A"
    reference = ask(task, two).reference
    assert [score(f"Answer: {letter}", reference, ChoiceVerifier()) for letter in "ABCD"] == [1, 1, 0, 0]
    assert score("Answer: A and B", reference, ChoiceVerifier()) == 0


def test_the_words_of_cmmlu_have_the_subject_in_chinese() -> None:
    task = made("cmmlu", "cmmlu")
    [problem] = task.problems([OWN["cmmlu"]])
    text = ask(task, problem).messages[-1].content
    assert text.startswith("以下是关于(病毒学)的单项选择题") and text.endswith("D. Paris\n答案是：")


def test_a_null_option_is_not_shown_and_is_never_the_right_one() -> None:
    task, row = made("mmlu_prox", order="as_given"), OWN["mmlu_prox"]
    [problem] = task.problems([row])
    assert ask(task, problem).reference["letter"] == "D" and problem.group == "7"
    [refused] = task.read_rows([row, {**row, "answer_index": 2}]).unusable
    assert refused.endswith("row 2 of de: the right option, option_2, is empty")


def test_the_older_columns_of_include_are_an_option() -> None:
    old = {"choices": FOUR, "answer": 3, "domain": "STEM", "regional_feature": "x", "config": "German"}
    [problem] = made("include", layout="choices").problems([{"question": "Capital?", **old}])
    assert problem.row["options"] == tuple(FOUR) and problem.problem_id == "German/0"


def test_the_protocol_of_mmlu_pro_shows_five_exemplars_of_the_category(tmp_path: Path) -> None:
    folder = tmp_path / "TIGER-Lab" / "MMLU-Pro" / "default"
    folder.mkdir(parents=True)
    rows = [
        {
            "question": f"Q{number}",
            "options": ["x", "y"],
            "category": category,
            "cot_content": "A: Let's think step by step. (A).",
        }
        for category in ("law", "history")
        for number in range(6)
    ]
    (folder / "validation.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = with_examples(made("mmlu_pro", "mmlu-pro"), tmp_path)
    assert isinstance(task, PageTask) and task.info.protocol == "mmlu-pro"
    [problem] = task.problems([OWN["mmlu_pro"]])
    text = ask(task, problem).messages[-1].content
    assert text.startswith("The following are multiple choice questions (with answers) about history. Think")
    assert text.count("Question:\nQ") == 5 and "Q5" not in text
    assert "Options:\nA. x\nB. y\nAnswer: Let's think step by step. (A).\n\nQuestion:" in text
    assert text.endswith("C. Oslo\nD. Paris\nAnswer: Let's think step by step.")
    assert made("mmlu_pro").info.verifier == "choice"
    assert (task.info.verifier, dict(task.info.verifier_options)) == ("letters", {"rule": "mmlu-pro"})


def test_the_protocol_of_simple_evals_asks_in_its_words() -> None:
    task = made("mmlu", "simple-evals")
    [problem] = task.problems([OWN["mmlu"]])
    text = ask(task, problem).messages[-1].content
    assert text.startswith("Answer the following multiple choice question. The last line")
    assert text.endswith("\n\nCapital?\n\nA) Berlin\nB) Rome\nC) Oslo\nD) Paris")
    assert [(score.model, score.value) for score in task.info.published][:1] == [
        ("Llama-3.1-8B-Instruct", 0.684)
    ]
    assert made("mmlu").info.published == ()


def test_the_protocol_of_smollm3_asks_in_five_languages_and_else_in_english() -> None:
    task = made("global_mmlu", "smollm3")
    found = {}
    for language in ("de", "am"):
        [problem] = task.problems([{**OWN["global_mmlu"], "language": language}])
        found[language] = ask(task, problem).messages[-1].content
    assert (
        found["de"].startswith("Gib basierend auf") and "###\nAntwortmöglichkeiten:\nA) Berlin" in found["de"]
    )
    assert found["am"].startswith("Given the following query") and "###\nChoices:\nA) Berlin" in found["am"]


def test_the_two_dates_of_mixeval_are_two_configs() -> None:
    first, second = made("mixeval_hard_choice"), made("mixeval_hard_choice", date="2024-08-11")
    configs = [task.info.dataset.config for task in (first, second) if task.info.dataset]
    assert configs == ["MixEval_Hard", "MixEval_Hard-2024-08-11"]
    assert (first.info.version, second.info.version) == ("1", "1-2024-08-11")


def test_agieval_has_one_repository_for_each_exam(tmp_path: Path) -> None:
    folder = tmp_path / "dmayhem93" / "agieval-sat-en" / "default"
    folder.mkdir(parents=True)
    row = {key: OWN["agieval_en"][key] for key in ("query", "choices", "gold")}
    (folder / "test.jsonl").write_text(json.dumps(row) + "\n")
    task = made("agieval_en", exam="sat-en")
    assert task.info.dataset is not None
    rows, record = load_rows(task.info.dataset, tmp_path)
    assert (rows[0]["exam"], record["columns"][0]) == ("sat-en", "exam")
    assert [one.problem_id for one in task.problems(rows)] == ["sat-en/0"]


REDUX = "edinburgh-dawg/mmlu-redux-2.0"
WHOLE = [
    ("mmlu", {}, 14042, 0, "06f9d63a"),
    ("mmlu_redux", {}, 4472, 0, "46dd49de"),
    ("mmlu_redux", {"rows": "mended"}, 4772, 28, "46dd49de"),
    ("mmlu_pro", {}, 12027, 5, "5dace109"),
    ("mixeval_hard_choice", {}, 500, 0, "b9b7d116"),
    ("mixeval_hard_choice", {"date": "2024-08-11"}, 500, 0, "64c55ea6"),
]
"""Task, options, problems, rows that cannot be asked, and the first digits of the digest of the copy."""


@pytest.mark.gold
@pytest.mark.slow
@pytest.mark.parametrize("whole", WHOLE)
def test_the_mirrored_rows_load_whole_and_their_references_are_right(
    whole: tuple[str, dict[str, Any], int, int, str], shared: Path
) -> None:
    name, options, problems, unusable, digest = whole
    hub = shared / "data" / "hub"
    if name == "mmlu_redux":  # nine subjects are in no public copy
        options = {**options, "subject": sorted(path.name for path in (hub / REDUX).iterdir())}
    task = made(name, **options)
    assert task.info.dataset is not None
    rows, record = load_rows(task.info.dataset, hub)
    found = task.read_rows(rows)
    assert (len(found.problems), len(found.unusable), record["digest"][:8]) == (problems, unusable, digest)
    references = [ask(task, problem).reference for problem in found.problems]
    verifier = LetterVerifier("simple-evals") if name == "mmlu" else LetterVerifier("mmlu-pro")
    line = "Answer: {}" if name == "mmlu" else "The answer is ({})"
    for one, other in zip(references, [*references[1:], references[0]], strict=True):
        assert score(line.format(one["letter"]), one, verifier) == 1
        options_of = one["options"]
        right = {one["letter"], *one.get("also", "")}
        right |= {
            x
            for x, text in zip("ABCDEFGHIJ", options_of, strict=False)
            if text == options_of["ABCDEFGHIJ".index(one["letter"])]
        }
        assert score(line.format(other["letter"]), one, verifier) == float(other["letter"] in right)


@pytest.mark.slow
@pytest.mark.gold
def test_the_rows_of_mmlu_pro_that_cannot_be_asked_are_those_with_one_option(shared: Path) -> None:
    task = made("mmlu_pro")
    assert task.info.dataset is not None
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    one = [number for number, row in enumerate(rows, start=1) if len(row["options"]) == 1]
    found = task.read_rows([rows[number - 1] for number in [*one, *range(1, 4)]])
    assert len(one) == 5 and len(found.unusable) == 5 and len(found.problems) == 3
    assert one[0] == 2030
    repeated = task.problems(rows)
    assert len(repeated) - len({problem.group for problem in repeated}) == 159
