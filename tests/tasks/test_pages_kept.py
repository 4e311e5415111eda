"""What the benchmarks asked before they became pages, which is what they still ask."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.protocols import Row, Task
from genbench.tasks.pages import page_names
from tests.table import each_row

ROWS: dict[str, list[Row]] = {
    "gpqa_diamond": [
        {
            "Record ID": f"rec{number}",
            "Question": f"\nWhich {{metal}} floats, {number}?\n",
            "Correct Answer": " lithium\n",
            "Incorrect Answer 1": "iron",
            "Incorrect Answer 2": "lead ",
            "Incorrect Answer 3": "gold",
            "High-level domain": " Chemistry",
            "Subdomain": "Inorganic",
            "Writer's Difficulty Estimate": None if number else "hard",
        }
        for number in range(3)
    ],
    "simpleqa": [
        {
            "metadata": "{'topic': 'Music', 'answer_type': 'Person', 'urls': ['x']}",
            "problem": " Who? ",
            "answer": " Bach ",
        },
        {"metadata": "", "problem": "What?", "answer": 3},
    ],
    "arena_hard": [{"question_id": "q1", "turns": [{"content": " Write {this}. "}]}],
    "alpaca_eval": [{"dataset": "koala", "instruction": " Do {it} ", "output": " Done "}],
}
ASKED = {
    "gpqa_diamond": "961b90a8244c712ebb055329b38b1e3811d65447a7b0272185cf673d4b237930",
    "simpleqa": "e8599805bb4ff67882548595a1ed37ca8591aa867195910f61a13fab21df37b1",
    "arena_hard": "946d6227f8d843f9c920902ffa90679a165ee5cbfb263cdcba4c0bd660edefb7",
    "alpaca_eval": "fc03dd540477b9862ddf31a6145bce3ad106862829e7883a99c2727f69f42607",
    "aime24": "64e83b9918fc5e70afed1757014571b4e336619eda637a8b815546c47938cea5",
    "aime25": "25ccd6ead5ae26d80d16b0ae5f69f62053848c80809cb345d4eeb5612e6675a8",
    "math500": "4bc07c212a66288c2d05d08808dd4298dba8d083bce8460ee260c34ea02e01f9",
    "gsm8k": "878fd4e2769e2eeb07e775dabea0ddb201b10a314c55300274254d17c922b06c",
    "ifeval": "54050389703ddb56240c6ca51dc261dd6b303ebb601fef9b5b27a9b2a99b7f60",
    "mixeval_hard_free_form": "849dcb606506c6fe215d2d80b235d8e407e3949a54f1b63fe1673ce8a516655e",
}
"""SHA-256 of what samples 0, 1 and 7 of every problem were asked by the tasks in Python."""
FACTS = {
    "aime24": "f0c215adbae488a383f334497843baceb9410d80267e26b2d04b3c8b650496db",
    "aime25": "4c4ee874764f3269d71366d77e39443ef7b1a2c98ae506d9570af2f266a543f8",
    "math500": "3dcda81308c07756fe9e53b8459732a8582931937791bc8db82cc6af10023777",
    "gsm8k": "c20cec13af2ac370fd2020d3842bd9329cb0c9592754e55f342160f81ff72988",
    "gpqa_diamond": "a34e5ddfdfec61f58302ac9f91a1439ebd0f1aacf76532f518e3580f8f663c53",
    "ifeval": "4d88e4fc6db18f8dc69a4644789472b1c6f944dca48a4a9e87615cf8cd2a4f0f",
    "ifbench": "3af9890b113eb80357f2fd78305998a851e17d9e0f1c7d621c4cd7d2a597cf63",
    "multi_if": "8fdfa1d17824107dbf0121cb3a286ea3dc5cc7160194235f9a5bde56819920cb",
    "humaneval": "0e7cf22f5c1ea867d2fb990b0e47cdd8fc662f1c2c1bc01c6127246a63c65aad",
    "humaneval_plus": "87168e6b5524811d0f504f85a98fd77bfe16d543b9550025aaaca352cbc6a9fe",
    "mbpp": "8cc804c4ed80c0a7ad354d9a6d619f3a88710a6b32d6ca3c6b7d3f839761f86a",
    "mbpp_plus": "a503e723f6386a2cc4a8c225ebb93df14e76992fccee08e6de40e0adf85d3e9f",
    "simpleqa": "819dbed78134e9bcb3ec24ba1b1fed11ec45061fb3f3211f7c2d0aa5c9ed2843",
    "mixeval_hard_free_form": "e098d6232b0c1dbc9a8452c4114f28dfe07b66581545ea863b2ebcb6ee5da68b",
    "arena_hard": "629fe850a662989c210aea96d068dff88990d5676275b882ba046b0bd98fafd1",
    "alpaca_eval": "2f15c6cc6af9a992c4b875ca175229f2662029c8f3ac8f251e8c72c77f792f9e",
}
"""SHA-256 of the facts of the tasks in Python: version, data, k, verifier, metrics, exemplars …"""


def asked(task: Task, rows: list[Row]) -> str:
    found = hashlib.sha256()
    for problem in task.problems(rows):
        for sample in (0, 1, 7):
            ask = task.ask(problem, sample, ())
            assert ask is not None
            record = [
                *(problem.problem_id, sorted(problem.strata.items()), problem.group, problem.turns),
                [[message.role, message.content] for message in ask.messages],
                *(ask.reference, ask.order),
            ]
            found.update(json.dumps(record, sort_keys=True).encode())
    return found.hexdigest()


def facts(task: Task) -> str:
    info = task.info
    data = info.dataset
    assert data is not None
    of_data = [data.repo, data.config, data.split, data.columns, data.revision, data.digest, data.row_count]
    record: list[Any] = [
        *(info.name, info.version, info.summary, [*of_data, data.gated, data.files]),
        *(info.k, info.verifier, dict(info.verifier_options), info.licence, info.metrics),
        *(info.chance, info.headline, info.shots, info.asks_alike),
    ]
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("name", ROWS)
def test_a_page_asks_what_the_task_asked_before(name: str) -> None:
    assert asked(registry.load("task", name)(), ROWS[name]) == ASKED[name]


@pytest.mark.gold
@pytest.mark.parametrize("name", sorted(ASKED.keys() - ROWS.keys()))
def test_a_page_asks_every_mirrored_row_as_before(name: str, shared: Path) -> None:
    task = registry.load("task", name)()
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    assert asked(task, rows) == ASKED[name]


@each_row("name", sorted(FACTS))
def test_the_facts_of_a_task_are_as_before(name: str) -> None:
    assert facts(registry.load("task", name)()) == FACTS[name]


def test_every_built_in_task_has_a_page() -> None:
    assert page_names() == sorted(registry.BUILT_IN["task"])
