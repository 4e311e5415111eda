"""The tiny pair's problems: told apart, right, and the ones that ship."""

from __future__ import annotations

import itertools
import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.models import traces
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.instructions.verifier import ConstraintVerifier
from genbench.verifiers.math.verifier import MathVerifier

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "genbench" / "_shipped" / "data" / "quickstart"
KINDS = ("arithmetic", "choice", "code", "instructions")
WEIGHTS = dict.fromkeys(KINDS, 1.0)


@pytest.fixture(scope="module")
def data(tiny: Callable[[str], ModuleType]) -> ModuleType:
    return tiny("data")


@pytest.fixture(scope="module")
def held_out(data: ModuleType) -> dict[str, list[Any]]:
    return {kind: data.held_out_items(kind) for kind in KINDS}


def shipped(kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SHIPPED / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()]


def found(verify: Callable[[Case], Finding], completion: str, reference: Any) -> Finding:
    """What the real verifier finds in a completion whose trace is taken off."""
    answer: Answer = traces.split(completion, traces.resolve("think"), False, "stop")
    return verify(Case(SampleId("tiny", "1", 0), (answer,), reference))


def test_the_same_seed_draws_the_same_stream(data: ModuleType) -> None:
    first, again, other = (itertools.islice(data.training_items(seed, WEIGHTS), 300) for seed in (7, 7, 8))
    drawn = list(first)
    assert drawn == list(again)
    assert drawn != list(other)


@pytest.mark.slow
def test_no_training_problem_is_held_out_under_any_wording(
    data: ModuleType, held_out: dict[str, list[Any]]
) -> None:
    kept = {(kind, item.key) for kind in KINDS for item in held_out[kind]}
    seen = {(item.kind, item.key) for item in itertools.islice(data.training_items(7, WEIGHTS), 20_000)}
    assert not kept & seen
    assert len(kept) == 400


@pytest.mark.slow
def test_order_and_wording_do_not_make_another_problem(data: ModuleType) -> None:
    keys: dict[tuple[str, ...], set[str]] = {}
    asked: dict[str, set[str]] = {}
    for item in itertools.islice(data.training_items(7, {"arithmetic": 1.0}), 20_000):
        numbers = sorted(re.findall(r"\d+", item.question))
        keys.setdefault((item.family, *numbers), set()).add(item.key)
        asked.setdefault(item.key, set()).add(item.question)
    assert all(len(found) == 1 for found in keys.values())
    assert len(keys) == len(asked)
    assert max(len(questions) for questions in asked.values()) > 5


@pytest.mark.slow
def test_the_order_of_options_does_not_make_another_problem(data: ModuleType) -> None:
    keys: dict[tuple[str, ...], set[str]] = {}
    for item in itertools.islice(data.training_items(7, {"choice": 1.0}), 20_000):
        told = (item.columns["stem"], *sorted(item.columns["options"]))
        keys.setdefault(told, set()).add(item.key)
    assert all(len(found) == 1 for found in keys.values())
    assert len(set().union(*keys.values())) == len(keys) < 20_000


@pytest.mark.slow
def test_one_problem_in_ten_is_held_out(data: ModuleType) -> None:
    stream = data.training_items(7, WEIGHTS)
    keys = {item.key: item for item in itertools.islice(stream, 5000)}
    assert not any(data.is_held_out(item) for item in keys.values())
    everything = {(n, m) for n in range(10, 100) for m in range(n, 100)}
    item = next(stream)
    share = sum(
        data.is_held_out(type(item)("arithmetic", "sum", f"{n}+{m}", "", "")) for n, m in everything
    ) / len(everything)
    assert 0.085 < share < 0.115


@pytest.mark.slow
def test_shipped_files_are_what_the_generator_makes(data: ModuleType, tmp_path: Path) -> None:
    data.write_held_out(tmp_path)
    for kind in KINDS:
        assert (tmp_path / f"{kind}.jsonl").read_bytes() == (SHIPPED / f"{kind}.jsonl").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_ids_and_questions_are_unique(kind: str) -> None:
    rows = shipped(kind)
    assert len({row["id"] for row in rows}) == len({row["question"] for row in rows}) == len(rows) == 100


def test_arithmetic_references_follow_from_the_question_alone() -> None:
    for row in shipped("arithmetic"):
        question = row["question"]
        numbers = [int(number) for number in re.findall(r"\d+", question)]
        if " * " in question or "boxes of" in question:
            wanted = numbers[0] * numbers[1]
        elif " - " in question or "loses" in question:
            wanted = numbers[0] - numbers[1]
        else:
            assert " + " in question or "more" in question or "buys" in question
            wanted = sum(numbers)
        assert row["reference"] == str(wanted), question


def right_options(stem: str, options: list[str]) -> list[str]:
    """The options that answer a question about numbers or words, worked out from its words."""
    groups = {
        "animal": "dog cat horse cow bear wolf goat fox",
        "color": "red blue green black white brown pink gray",
        "food": "bread rice soup cheese cake egg meat corn",
        "tool": "hammer saw drill knife spade axe brush rope",
        "place": "city farm school market garden forest island bank",
    }
    digits = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    decades = [
        "tens",
        "twenties",
        "thirties",
        "forties",
        "fifties",
        "sixties",
        "seventies",
        "eighties",
        "nineties",
    ]
    asked = stem.removesuffix("?").split()[-1]
    if asked in groups:
        return [text for text in options if text in groups[asked].split()]
    if asked in decades:
        return [text for text in options if int(text) // 10 == decades.index(asked) + 1]
    if asked in digits:
        return [text for text in options if int(text) % 10 == digits.index(asked)]
    return [text for text in options if int(text) % 2 == ("even", "odd").index(asked)]


def test_choice_questions_have_one_right_option_and_it_is_the_answer() -> None:
    for row in shipped("choice"):
        shown = "\n".join(f"{mark}) {text}" for mark, text in zip("ABCD", row["options"], strict=True))
        assert row["question"] == f"{row['stem']}\n{shown}"
        assert right_options(row["stem"], row["options"]) == [row["options"]["ABCD".index(row["answer"])]]


def test_each_answer_letter_is_as_frequent_as_the_others() -> None:
    letters = [row["answer"] for row in shipped("choice")]
    assert all(13 <= letters.count(letter) <= 37 for letter in "ABCD")  # 25 +- 2.8 standard deviations


def function(code: str, name: str, folder: Path) -> Callable[..., Any]:
    """The function that a fenced block of the generator's own defines."""
    source = re.fullmatch(r"```python\n(.*)\n```", code, re.S)
    assert source is not None
    file = folder / "made.py"
    file.write_text(source[1], encoding="utf-8")
    made: Callable[..., Any] = runpy.run_path(str(file))[name]
    return made


def passes(call: Callable[..., Any], tests: list[dict[str, str]]) -> bool:
    return all(call(json.loads(test["input"])) == json.loads(test["output"]) for test in tests)


def test_functions_of_the_training_form_pass_the_shipped_tests(
    held_out: dict[str, list[Any]], tmp_path: Path
) -> None:
    for item, row in zip(held_out["code"], shipped("code"), strict=True):
        assert passes(function(item.completion, row["fn_name"], tmp_path), row["tests"]), row["question"]


def test_a_number_off_by_one_fails_the_shipped_tests(held_out: dict[str, list[Any]], tmp_path: Path) -> None:
    for item, row in zip(held_out["code"], shipped("code"), strict=True):
        head, body = item.completion.split("return ")
        off = re.sub(r"\d+", lambda number: str(int(number[0]) + 1), body, count=1)
        assert not passes(function(f"{head}return {off}", row["fn_name"], tmp_path), row["tests"]), off


def test_math_and_choice_verifiers_accept_what_the_pair_is_taught(held_out: dict[str, list[Any]]) -> None:
    math, choice = MathVerifier(), ChoiceVerifier()
    for item in held_out["arithmetic"]:
        assert found(math.verify, item.completion, item.columns["reference"]).score == 1, item
        assert found(math.verify, item.completion, str(int(item.columns["reference"]) + 1)).score == 0
    for item in held_out["choice"]:
        options, letter = item.columns["options"], item.columns["answer"]
        for other in "ABCD":
            reference = {"letter": other, "options": options}
            assert found(choice.verify, item.completion, reference).score == (other == letter)


@pytest.mark.slow
def test_texts_of_the_training_form_follow_their_instructions(held_out: dict[str, list[Any]]) -> None:
    verifier = ConstraintVerifier()
    missed = []
    for item in held_out["instructions"]:
        pairs = zip(item.columns["instruction_id_list"], item.columns["kwargs"], strict=True)
        reference = [{"id": name, **kwargs} for name, kwargs in pairs]
        if found(verifier.verify, item.completion, reference).score < 1:
            missed.append(item)
    # The language detector takes a few texts in capitals for German.
    assert all("capitals" in item.family for item in missed)
    assert len(missed) <= 3


def test_keywords_do_not_hide_in_other_words(tiny: Callable[[str], ModuleType]) -> None:
    texts = tiny("instructions")
    patterns = " ".join((*texts.PLAIN, *texts.WITH_COMMAS, *texts.WITH_KEYWORD))
    others = [*texts.TOPICS, *texts.ADJECTIVES, *texts.TIMES, *texts.PEOPLE, *texts.ENDINGS, patterns.lower()]
    assert not [word for word in texts.KEYWORDS if any(word in other for other in others)]
