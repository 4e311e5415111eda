"""Benchmarks of mathematics, puzzles and open questions, read from a mirror in the hub's layout."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.data.mirror import mirror_dataset
from genbench.errors import ConfigError, DataError
from genbench.protocols import Row, Verifier
from genbench.stats.macro import mean_over_parts
from genbench.tasks.catalogue import known_tasks, task_record, task_text
from genbench.tasks.loading import checked_rulings
from genbench.types import Answer, Ask, Case, Finding, Problem, SampleId
from tests.table import each_row
from tests.tasks.shapes import CONTEST, SHAPES, write_mirror

NO_DATE = {"day": "", "month": "", "year": ""}
TABLE: dict[str, Any] = {
    "header": ["House", "Name", "Pet"],
    "rows": [["1", "Eric", "cat"], ["2", "Arnold", "dog"]],
}
GRIDS = [{"input": [[1, 2]], "output": [[2, 1]]}, {"input": [[3, 4]], "output": [[4, 3]]}]
OWN: dict[str, list[Row]] = {
    **dict.fromkeys(
        (
            *("aime26", "hmmt_feb_2025", "hmmt_nov_2025", "hmmt_feb_2026", "brumo_2025", "smt_2025"),
            "cmimc_2025",
        ),
        CONTEST,
    ),
    **{
        name: SHAPES[name]
        for name in (
            *("apex_2025", "apex_shortlist", "arxivmath", "beyond_aime", "gsm8k_platinum", "polymath"),
            "bbeh",
        )
    },
    "gsm_plus": [
        {
            "question": "How many?",
            "answer": "4.5",
            "perturbation_type": "digit expansion",
            "seed_question": "s",
        },
        {
            "question": "How few?",
            "answer": "1/2",
            "perturbation_type": "problem understanding",
            "seed_question": "s",
        },
        {
            "question": "Why?",
            "answer": "None",
            "perturbation_type": "critical thinking",
            "seed_question": "s",
        },
    ],
    "mgsm": [{"question": "?", "answer_number": 18}, {"question": "??", "answer_number": 3}],
    "math": [
        {"problem": "Find it.", "level": "Level 1", "type": "T", "solution": "so $\\boxed{\\frac12}$"},
        {"problem": "Find them.", "level": "Level 5", "type": "T", "solution": "so $\\boxed{x^2+1}$"},
    ],
    "minerva_math": [
        {
            "problem": "How bright?",
            "solution": "it is $\\boxed{4.5e33}$ erg/s",
            "type": "Astronomy",
            "idx": 0,
        },
        {
            "problem": "Solve it.",
            "solution": "it is $\\boxed{\\frac{e^{t}}{3}}$",
            "type": "Equations",
            "idx": 1,
        },
    ],
    "olympiadbench": [
        {
            "id": number,
            "subfield": "Algebra",
            "context": None,
            "question": "Find all.",
            "final_answer": [answer],
            "is_multiple_answer": several,
            "unit": None,
            "answer_type": form,
            "error": error,
        }
        for number, answer, several, form, error in (
            (1, "$69$,$84$", True, "Numerical", None),
            (2, "$(2,4)$", False, "Tuple", None),
            (3, "$(-\\infty,-5)$", False, "Interval", None),
            (4, "4.2", False, "Numerical", "1e-1"),
        )
    ],
    "zebra_logic": [
        {"id": "lgp-1", "size": "2*2", "puzzle": "There are 2 houses.", "solution": TABLE},
        {
            "id": "lgp-2",
            "size": "2*2",
            "puzzle": "2 more.",
            "solution": TABLE | {"rows": TABLE["rows"][::-1]},
        },
    ],
    "drop": [
        {
            "section_id": "nfl_1",
            "query_id": f"q{number}",
            "passage": "A passage.",
            "question": "Who?",
            "answer": {"number": "", "date": NO_DATE, "spans": spans},
            "validated_answers": {"number": ["4"], "date": [NO_DATE], "spans": [[]]},
        }
        for number, spans in enumerate((["red fox", "hen"], ["the owl"]))
    ],
    "triviaqa": [
        {
            "question_id": f"tc_{name}",
            "question": "Which?",
            "answer": {"value": name, "aliases": [name, f"{name} X"]},
        }
        for name in ("Paris", "London")
    ],
    "popqa": [
        {"id": number, "question": "What?", "possible_answers": json.dumps([name]), "prop": "occupation"}
        for number, name in enumerate(("politician", "writer"))
    ],
    "nq_open": [{"question": "who", "answer": ["A B", "C"]}, {"question": "what", "answer": ["D"]}],
    "hle": [
        {
            "id": "h1",
            "question": "What?",
            "image": "",
            "answer": "5",
            "answer_type": "exactMatch",
            "category": "Math",
        },
        {
            "id": "h2",
            "question": "This?",
            "image": "data:",
            "answer": "6",
            "answer_type": "exactMatch",
            "category": "Math",
        },
    ],
    "arc_agi_1": [{"fewshots": GRIDS, "question": GRIDS}, {"fewshots": GRIDS, "question": GRIDS[:1]}],
    "arc_agi_2": [{"fewshots": GRIDS, "question": GRIDS[:1]}, {"fewshots": GRIDS, "question": GRIDS[1:]}],
}
BBH: dict[str, list[Row]] = {
    "snarks": [
        {"input": "Which?\nOptions:\n(A) x\n(B) y", "target": "(B)"},
        {"input": "(A) x\n(B) x", "target": "(A)"},
    ],
    "dyck_languages": [{"input": "Input: ( [", "target": "] )"}],
    "word_sorting": [{"input": "List: b a", "target": "a b"}],
    "object_counting": [{"input": "How many?", "target": "8"}],
}
PROBLEMS = {
    "gsm_plus": 2,
    "hle": 1,
    "arc_agi_1": 3,
    "mgsm": 22,
    "math": 14,
    "bbh": 27,
    "arxivmath": 8,
    "polymath": 144,
}


def mirror(folder: Path, name: str) -> Any:
    """Write a page's own rows as a mirror, and return its task and the rows as they are read."""
    task = registry.load("task", name)()
    data = task.info.dataset
    if name == "bbh":
        for one, _ in data.parts():
            write_mirror(folder, one, BBH.get(one.config, BBH["object_counting"]))
    else:
        write_mirror(folder, data, OWN[name])
    rows, provenance = load_rows(data, folder)
    assert provenance["source"] == "mirror"
    return task, rows


def asked(task: Any, problem: Problem) -> Ask:
    found = task.ask(problem, 0, ())
    assert isinstance(found, Ask) and task.ask(problem, 0, ("an answer",)) is None
    return found


def answer_of(verifier: str, reference: Any) -> str:
    """Return an answer that states a reference."""
    if verifier in ("grid", "table"):
        return json.dumps(reference)
    if isinstance(reference, Mapping):
        if "letter" in reference:
            return f"The answer is ({reference['letter']})."
        if "number" in reference:
            return f"{reference['prefix']}: {reference['number']}"
        reference = reference.get("answer") or reference.get("brackets") or reference.get("words")
    elif isinstance(reference, list):
        reference = reference[0] if isinstance(reference[0], str) else "; ".join(reference[0])
    return f"So it is \\boxed{{{reference}}}." if verifier == "math" else f"The answer is {reference}."


def grade(verifier: Verifier, text: str, reference: Any) -> Finding:
    return verifier.verify(Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference))


def verifier_of(task: Any) -> Verifier:
    made: Verifier = registry.load("verifier", task.info.verifier)(**task.info.verifier_options)
    return made


def check_references(task: Any, problems: Sequence[Problem]) -> None:
    """Check that each reference is right for itself, and for the problem before it only if both are equal."""
    verifier = verifier_of(task)
    references = [asked(task, problem).reference for problem in problems]
    for place, reference in enumerate(references):
        if hasattr(verifier, "check"):
            verifier.check(reference)
        own = answer_of(task.info.verifier, reference)
        assert grade(verifier, own, reference).score == 1, (place, reference)
        following = references[(place + 1) % len(references)]
        other = answer_of(task.info.verifier, following)
        same = other == own or within_one_percent(reference, following, task.info.name)
        assert (grade(verifier, other, reference).score == 1) == same, (place, reference, following)


def within_one_percent(reference: Any, following: Any, name: str) -> bool:
    """Return whether two numbers are equal by the tolerance of Minerva."""
    try:
        one, two = float(reference), float(following)
    except (TypeError, ValueError):
        return False
    return name == "minerva_math" and abs(one - two) <= 0.01 * abs(one)


NAMES = sorted([*OWN, "bbh"])


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_read_from_a_mirror_and_asked(name: str, tmp_path: Path) -> None:
    task, rows = mirror(tmp_path, name)
    problems = task.read_rows(rows).problems
    assert len(problems) == PROBLEMS.get(name, len(rows))
    assert len({problem.problem_id for problem in problems}) == len(problems)
    for problem in problems:
        [message] = asked(task, problem).messages
        assert message.role == "user"
        known = ("boxed{}", "boxed\\{\\}", "{\n", '": {')
        assert (
            "{"
            not in functools.reduce(lambda text, part: text.replace(part, ""), known, message.content)[:40]
        )


@each_row("name", sorted({*NAMES, *SHAPES}))
def test_a_page_without_its_rows_says_what_to_fetch_and_how_it_is_licensed(name: str, tmp_path: Path) -> None:
    task = registry.load("task", name)()
    with pytest.raises(DataError) as refused:
        load_rows(task.info.dataset, tmp_path)
    [first, *_] = str(refused.value).splitlines()
    assert first.startswith("dataset ") and f"; licence: {task.info.licence}) is not in the mirror" in first
    assert task.info.dataset.by_hand in first or "genbench mirror" in first


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("hle", "math", "drop")])
def test_a_reference_is_right_for_itself_and_the_next_one_is_not(name: str, tmp_path: Path) -> None:
    task, rows = mirror(tmp_path, name)
    check_references(task, task.problems(rows)[:8])


def test_rows_that_cannot_be_asked_are_named(tmp_path: Path) -> None:
    task, rows = mirror(tmp_path, "gsm_plus")
    [message] = task.read_rows(rows).unusable
    assert message.startswith("task gsm_plus, row 3: the gold answer is None")
    task, rows = mirror(tmp_path, "bbh")
    [message] = task.read_rows(rows).unusable
    assert "row 2 of snarks: two options are the same text" in message


@pytest.mark.gold
def test_two_answers_of_imo_answerbench_are_mended_and_a_shifted_row_is_named(shared: Path) -> None:
    task = registry.load("task", "imo_answerbench")(grading="rule")
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    found = task.read_rows(rows)
    references = {problem.problem_id: problem.row["reference"] for problem in found.problems}
    mended = [references[f"imo-bench-geometry-{number}"] for number in ("004", "096")]
    assert mended == ["4, 5", "$\\frac{7}{18}$"]
    assert [message.split(": ")[1] for message in found.unusable] == ["imo-bench-algebra-036"]


def test_the_words_of_a_month_of_arxivmath_are_those_of_its_month(tmp_path: Path) -> None:
    mirror(tmp_path, "arxivmath")
    task = registry.load("task", "arxivmath")("matharena", month=["0226", "0326"])
    rows, _ = load_rows(task.info.dataset, tmp_path)
    texts = {problem.problem_id: asked(task, problem).messages[0].content for problem in task.problems(rows)}
    assert texts["0326/1"].startswith(
        "You are given a difficult question. Your task is to solve the problem.\nPut "
    )
    assert (
        "solve the problem.\nThe question is written" in texts["0226/1"] and task.info.dataset.row_count == 63
    )


def test_configs_and_splits_are_mirrored_each_to_its_own_file(tmp_path: Path) -> None:
    task, rows = mirror(tmp_path / "from", "polymath")
    made = mirror_dataset(task.info.dataset, tmp_path / "to", tmp_path / "from")
    assert load_rows(task.info.dataset, tmp_path / "to")[0] == rows and made.rows == len(rows) == 144
    assert made.path == tmp_path / "to" / "Qwen" / "PolyMath" / "ar" / "low.jsonl"


def test_the_levels_of_polymath_weigh_double_and_a_problem_is_one_cluster(tmp_path: Path) -> None:
    task, rows = mirror(tmp_path, "polymath")
    problems = task.problems(rows)
    assert {problem.strata["level"] for problem in problems} == {"low", "medium", "high", "top"}
    assert len({problem.group for problem in problems}) == 8
    assert problems[0].problem_id == "ar/low-0"
    shares = {"low": 0.904, "medium": 0.6, "high": 0.4, "top": 0.2}
    solved = [float(place < 125 * share) for share in shares.values() for place in range(125)]
    levels = [level for level in shares for _ in range(125)]
    found = mean_over_parts(np.array(solved), levels, range(500), weights=task.info.weights)
    assert found.value == pytest.approx(0.3536, abs=5e-5)


def test_a_checked_version_rules_on_the_references_of_a_benchmark(tmp_path: Path) -> None:
    answers = {"Q1": ("1", "1"), "Q2": ("2", "7"), "Q3": ("3", None)}
    for name, repo in ((0, "openai/gsm8k"), (1, "madrylab/gsm8k-platinum")):
        rows = [
            {"question": question, "answer": f"#### {own[name]}", "cleaning_status": "consensus"}
            for question, own in answers.items()
            if own[name] is not None
        ]
        path = tmp_path / repo / "main" / "test.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = checked_rulings("gsm8k", "gsm8k_platinum", {}, tmp_path)
    assert found == {"0": "right", "1": "wrong", "2": "ambiguous"}
    with pytest.raises(ConfigError, match="task ruler: its questions are not rows of a page"):
        checked_rulings("ruler", "gsm8k_platinum", {}, tmp_path)


def test_variants_of_one_question_are_one_cluster(tmp_path: Path) -> None:
    clusters = {"gsm_plus": {"s"}, "mgsm": {"0", "1"}, "drop": {"nfl_1"}, "arc_agi_1": {"0", "1"}}
    for name, wanted in clusters.items():
        task, rows = mirror(tmp_path, name)
        assert {problem.group for problem in task.problems(rows)} == wanted


def test_a_language_of_mgsm_is_asked_in_its_own_words(tmp_path: Path) -> None:
    task, rows = mirror(tmp_path, "mgsm")
    asks = {problem.strata["language"]: asked(task, problem) for problem in task.problems(rows)}
    assert len(asks) == 11 and len({ask.messages[0].content for ask in asks.values()}) == 11
    assert "ganz am Ende in \\boxed{}" in asks["de"].messages[0].content
    only = registry.load("task", "mgsm")(language=["sw", "de"])
    assert only.info.dataset.row_count == 500


def test_the_protocol_of_simple_evals_reads_the_last_number_after_its_prefix(tmp_path: Path) -> None:
    mirror(tmp_path, "mgsm")
    task = registry.load("task", "mgsm")(protocol="simple-evals", language=["th"])
    rows, _ = load_rows(task.info.dataset, tmp_path)
    [problem, _] = task.problems(rows)
    ask = asked(task, problem)
    assert ask.reference == {"number": "18", "prefix": "คำตอบ"} and task.info.verifier == "last_number"
    assert ask.messages[0].content.endswith("\n\n?")
    assert (task.info.version, task.info.protocol) == ("1+simple-evals", "simple-evals")


def test_the_chance_of_big_bench_hard_is_that_of_its_rows(tmp_path: Path) -> None:
    task, rows = mirror(tmp_path, "bbh")
    chances = {problem.strata["subset"]: problem.row["chance"] for problem in task.problems(rows)}
    assert chances["snarks"] == 0.5 and chances["word_sorting"] == 0.0


def test_facts_from_memory_are_named_as_such() -> None:
    [item] = [known for known in known_tasks() if known.info.name == "popqa"]
    assert "from memory, not checked" in task_text(item) and "hub.rows" in task_text(item)
    assert task_record(item)["unverified"] == ["licence", "hub.rows"]


def test_arc_allows_two_attempts(tmp_path: Path) -> None:
    task, _ = mirror(tmp_path, "arc_agi_2")
    assert (task.info.k, task.info.headline) == (2, "pass@2")


def test_open_questions_are_graded_by_their_own_rule(tmp_path: Path) -> None:
    right = {
        "triviaqa": "Answer: the City of paris x",
        "popqa": "Answer: a politician of note",
        "drop": "Answer: hen; the red fox",
    }
    scores = {}
    for name, text in right.items():
        task, rows = mirror(tmp_path, name)
        reference = asked(task, task.problems(rows)[0]).reference
        scores[name] = grade(verifier_of(task), text, reference).score
    assert scores == {"triviaqa": 0.0, "popqa": 1.0, "drop": 1.0}


def test_the_parts_of_a_release_are_read_as_they_were_downloaded(tmp_path: Path) -> None:
    data = registry.load("task", "livecodebench")(release="v4_v5").info.dataset
    folder = tmp_path / data.repo
    folder.mkdir(parents=True)
    row = dict.fromkeys(data.columns, "x")
    (folder / "test4.jsonl").write_text(json.dumps(row | {"question_id": "a"}) + "\n")
    (folder / "test5.jsonl").write_text(json.dumps(row | {"question_id": "b"}) + "\n")
    rows, provenance = load_rows(data, tmp_path)
    assert [row["question_id"] for row in rows] == ["a", "b"]
    assert "2 rows where 268 are pinned" in provenance["warning"]
    one, _ = load_rows(registry.load("task", "livecodebench")(release="v5").info.dataset, tmp_path)
    assert [row["question_id"] for row in one] == ["b"]


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.parametrize(
    ("name", "rows", "problems", "groups"),
    [
        ("gsm_plus", 2400, 2100, 300),
        ("mgsm", 2750, 2750, 250),
        ("bbh", 6511, 6506, 1),
        ("minerva_math", 272, 272, 1),
        ("olympiadbench", 675, 675, 1),
        ("imo_answerbench", 398, 397, 1),
        ("bbeh", 46, 46, 46),
        ("arc_agi_1", 400, 419, 400),
        ("arc_agi_2", 120, 167, 120),
    ],
)
def test_the_public_rows_are_read_whole(
    name: str, rows: int, problems: int, groups: int, shared: Path
) -> None:
    task = registry.load("task", name)()
    found, provenance = load_rows(task.info.dataset, shared / "data" / "hub")
    assert len(found) == rows and (provenance["warning"] is None or name == "bbeh")  # bbeh: a sample
    found = task.read_rows(found)
    assert (len(found.problems), len(found.unusable)) == (problems, max(0, rows - problems))
    assert len({problem.group for problem in found.problems}) == groups
    if name == "bbh":
        chance = sum(problem.row["chance"] for problem in found.problems) / problems
        assert chance == pytest.approx(0.2624, abs=1e-4)


@pytest.mark.gold
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("gsm_plus", "mgsm", "bbh", "bbeh", "minerva_math", "olympiadbench", "arc_agi_1", "arc_agi_2"),
        "imo_answerbench",
    ],
)
def test_every_public_reference_is_right_for_itself_alone(name: str, shared: Path) -> None:
    task = registry.load("task", name)(**({"grading": "rule"} if name == "imo_answerbench" else {}))
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    check_references(task, task.problems(rows))
