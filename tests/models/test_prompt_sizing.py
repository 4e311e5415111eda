"""Generated prompts sized with a model's own tokenizer, and answers whose beginning is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import PromptError
from genbench.models.prepare import prepare_prompts, sized_tasks
from genbench.models.prompts import Renderer
from genbench.reports.browse import sample_rows
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks
from genbench.store.folder import RunFolder
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import read_suite
from genbench.types import Message
from tests.ready_runs import score_responses, write_lines

SUITE = """\
models:
  m: {path: "shipped:checkpoints/tiny-tuned"}
decoding: {temperature: 0.0, max_tokens: 200}
tasks:
  - {task: ruler, options: {length: 4000, rows: 1, tasks: [niah_single_1, niah_multikey_3, vt, cwe, fwe]}}
  - {task: recall, options: {length: 4000, rows: 1, tasks: recall_2}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("suite")
    (found / "suite.yaml").write_text(SUITE)
    return found


@pytest.mark.slow
def test_prompts_are_less_than_one_per_cent_below_their_length(place: Path) -> None:
    suite = read_suite(place / "suite.yaml")
    tasks = load_tasks(suite, RunOptions(suite=str(place / "suite.yaml")))
    model = prepare_prompts(suite, "m", tasks)
    for task in sized_tasks(tasks, model.measure):
        for problem in task.problems:
            request = model.maker.request(task, problem, 0, ())
            assert request is not None
            limit = 512 if task.name == "recall" else request.max_tokens
            assert 3_960 <= len(request.token_ids) + limit <= 4_000, problem.problem_id
            if task.name == "ruler":
                assert request.prompt.endswith(request.messages[-1].content)
                assert request.max_tokens in (30, 50, 120, 128)


@pytest.mark.slow
def test_a_run_folder_has_recipes_and_show_makes_the_prompt_again(place: Path) -> None:
    suite = read_suite(place / "suite.yaml")
    tasks = load_tasks(suite, RunOptions(suite=str(place / "suite.yaml")))
    lines: list[dict[str, Any]] = []
    for task in tasks:
        for problem in task.problems:
            reference = problem.row["reference"]
            text = (
                ", ".join(reference["texts"])
                if "texts" in reference
                else reference["begins"] + reference["text"]
            )
            lines.append(
                {"task": task.name, "problem_id": problem.problem_id, "sample_index": 0, "text": text}
            )
    write_lines(place / "responses.jsonl", lines)
    run = score_responses(place)
    results = RunFolder(run).results()
    assert results is not None
    assert all(results["tasks"][name]["metrics"]["avg@1"]["value"] == 1 for name in ("ruler", "recall"))
    stored = (run / "ruler" / "asks.jsonl").read_text()
    assert len(stored) < 5_000
    assert all(json.loads(line)["prompt"] is None for line in stored.splitlines())
    (row,) = sample_rows(run, "ruler", "4000/vt/0")
    assert row.prompt is not None
    assert "Memorize and track the chain(s)" in row.prompt and len(row.prompt) > 10_000
    # A continued run finds the same prompts.
    score_responses(place)


def renderer(**options: Any) -> Renderer:
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(str(resolve("shipped:checkpoints/tiny-tuned", Path())), None, False)
    return Renderer(tokenizer, tokenizer.chat_template, **options)


def test_the_beginning_of_an_answer_follows_the_generation_prompt() -> None:
    asked = (Message("user", "Where?"), Message("assistant", "It is"))
    found = renderer().render(asked)
    assert found.text.endswith("<|assistant|>\nIt is")
    assert found.messages == asked
    assert renderer(style="plain").render(asked).text == "Where? It is"
    few = renderer(style="few_shot", shots=[("Who?", "Me.")]).render(asked)
    assert few.text.endswith("Question: Where?\nAnswer: It is")


def test_a_trace_that_the_template_opens_is_closed_before_the_answer_begins() -> None:
    asked = (Message("user", "Where?"), Message("assistant", "It is"))

    def opens(text: str) -> bool:
        return "</think>" not in text

    assert (
        renderer(opens_trace=opens, closes_trace="</think>")
        .render(asked)
        .text.endswith("\n\n</think>\n\nIt is")
    )
    with pytest.raises(PromptError, match="answer_prefix: false"):
        renderer(opens_trace=opens).render(asked)
