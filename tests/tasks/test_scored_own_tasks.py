"""Tasks of kind likelihood that a suite describes itself."""

from __future__ import annotations

from genbench.suite.config import TaskEntry
from genbench.tasks.factory import own_scored_task


def test_documents_need_only_the_column_of_their_text() -> None:
    entry = {
        "name": "held_out",
        "kind": "likelihood",
        "k": 1,
        "data": {"hub": {"repo": "org/name"}, "fields": {"options": "text"}},
        "options": {"metric": "byte_probability", "delimiter": "", "window": 64},
    }
    task = own_scored_task(TaskEntry.model_validate(entry))
    assert task.columns == ("text",)
    assert task.info.dataset is not None and task.info.dataset.repo == "org/name"
    [problem] = task.problems([{"text": "Some text."}])
    ask = task.ask(problem, 0, ())
    assert ask is not None and ask.scoring is not None
    assert (ask.scoring.is_document, ask.scoring.window, ask.reference["gold"]) == (True, 64, [0])


def test_the_version_follows_the_prompt_and_the_options() -> None:
    def version(prompt: str, metric: str) -> str:
        entry = {
            "name": "t",
            "kind": "likelihood",
            "k": 1,
            "prompt": prompt,
            "data": {"path": "r.jsonl", "fields": {"options": ["a", "b"], "reference": "right"}},
            "options": {"metric": metric},
        }
        return own_scored_task(TaskEntry.model_validate(entry)).info.version

    assert (
        len({version("{question}", "acc"), version("Q {question}", "acc"), version("{question}", "acc_norm")})
        == 3
    )
