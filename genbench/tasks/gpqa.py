"""GPQA Diamond: graduate-level science questions with four options (Rein et al. 2023)."""

from __future__ import annotations

from functools import partial

from genbench.errors import ConfigError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.options import LETTERS, Order, check_order, letters, listed, option_order
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_PROMPT = (
    "{question}\n\n{options}\n\nReason step by step. Exactly one option is right: "
    "end with a line 'Answer: X', where X is {letters}."
)
_CHOICES = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_STRATA = {
    "domain": "High-level domain",
    "subdomain": "Subdomain",
    "difficulty": "Writer's Difficulty Estimate",
}

_EXEMPLARS = (
    (
        "A sealed rigid vessel holds an ideal gas at 300 K. To what temperature must it be heated for its "
        "pressure to double?",
        ("450 K", "600 K", "423 K", "1200 K"),
        "At constant volume the pressure is proportional to the absolute temperature, so it must be 600 K.",
        "B",
    ),
    (
        "Which hybridisation does the carbon atom of carbon dioxide have?",
        ("sp3", "sp2", "sp3d", "sp"),
        "Carbon has two double bonds and no lone pair: two electron domains in a line, hence sp.",
        "D",
    ),
    (
        "A cross between two heterozygotes for one gene with complete dominance has four offspring. "
        "How likely do all four show the dominant phenotype?",
        ("(3/4)^4", "(1/4)^4", "(1/2)^4", "3/4"),
        "Each offspring shows it with probability 3/4, independently of the others, so (3/4)^4.",
        "A",
    ),
    (
        "A photon has twice the wavelength of another. What is the ratio of its momentum to the other's?",
        ("2", "4", "1/2", "1/4"),
        "Momentum is h divided by the wavelength, so twice the wavelength gives half the momentum.",
        "C",
    ),
)


def gpqa_diamond(order: str = "per_sample") -> SingleTurn:
    """Return GPQA Diamond with a new order of options for each sample, or a fixed one (`per_problem`).

    Raises:
        ConfigError: `order` is unknown, or is `as_given`. The dataset has the right option first.
    """
    if check_order(order) == "as_given":
        raise ConfigError("gpqa_diamond: order as_given would put every right option first; use per_problem")
    info = TaskInfo(
        name="gpqa_diamond",
        asks_alike=order != "per_sample",
        version="1",
        summary="GPQA Diamond: 198 graduate-level science questions with four options",
        dataset=HubDataset(
            repo="Idavidrein/gpqa",
            config="gpqa_diamond",
            split="train",
            columns=("Record ID", "Question", *_CHOICES, *_STRATA.values()),
            rows=198,
            gated=True,
        ),
        k=8,
        verifier="choice",
        licence="CC-BY-4.0; its authors ask that examples are not shown online",
        chance=0.25,
        published=published("gpqa_diamond"),
        shots=tuple(
            (_question(question, options), f"{reason}\nAnswer: {letter}")
            for question, options, reason, letter in _EXEMPLARS
        ),
    )
    return SingleTurn(info, _read, partial(_pose, check_order(order)))


def _question(question: str, options: tuple[str, ...]) -> str:
    return _PROMPT.format(question=question, options=listed(options), letters=letters(len(options)))


def _read(place: int, row: Row) -> Problem:
    """Return the problem of a row, with the right option first.

    Many rows have white space and newlines around their texts.
    """
    kept = {
        "question": row["Question"].strip(),
        "options": tuple(str(row[column]).strip() for column in _CHOICES),
    }
    strata = {name: str(row[column]).strip() for name, column in _STRATA.items() if row[column]}
    return Problem("gpqa_diamond", str(row["Record ID"]), kept, strata)


def _pose(order: Order, problem: Problem, sample_index: int) -> Ask:
    options = problem.row["options"]
    shown = option_order(order, len(options), problem.problem_id, sample_index)
    texts = tuple(options[place] for place in shown)
    reference = {"letter": LETTERS[shown.index(0)], "options": list(texts)}
    return Ask((Message("user", _question(problem.row["question"], texts)),), reference, shown)
