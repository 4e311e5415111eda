"""Pages of kind likelihood: the texts that a problem asks a model to score."""

from __future__ import annotations

from typing import Any

import pytest

from genbench import registry
from genbench.errors import ConfigError, DataError
from genbench.protocols import Row
from genbench.tasks.page.reader import read_page
from genbench.tasks.page.task import PageTask, scored_row
from genbench.tasks.pages import page_names, page_path
from genbench.types import Ask

PIQA: Row = {"goal": "Sit", "sol1": "on a chair", "sol2": "on a nail", "label": 0}
ARC: Row = {
    "id": "q",
    "question": "Which is hot?",
    "choices": {"text": ["ice", "fire", "snow"], "label": ["A", "B", "C"]},
    "answerKey": "B",
}
MMLU: Row = {
    "question": "1+1?",
    "subject": "abstract_algebra",
    "choices": ["1", "2", "3", "4"],
    "answer": 1,
    "config": "abstract_algebra",
}
SHOT: Row = {**MMLU, "question": "0+1?", "answer": 0}


def make(name: str, **options: Any) -> PageTask:
    task = registry.load("task", name)(**options)
    assert isinstance(task, PageTask)
    return task


def asked(task: PageTask, row: Row) -> Ask:
    [problem] = task.problems([row])
    found = task.ask(problem, 0, ())
    assert found is not None and found.scoring is not None
    return found


def texts(ask: Ask) -> list[tuple[str, str, str]]:
    assert ask.scoring is not None
    return [(choice.context, choice.delimiter, choice.text) for choice in ask.scoring.choices]


def test_piqa_scores_both_solutions_after_lm_evals_context() -> None:
    ask = asked(make("piqa"), PIQA)
    assert texts(ask) == [
        ("Question: Sit\nAnswer:", " ", "on a chair"),
        ("Question: Sit\nAnswer:", " ", "on a nail"),
    ]
    assert ask.reference["gold"] == [0]


def test_letters_list_the_options_and_score_letters() -> None:
    ask = asked(make("arc_easy", form="letters"), ARC)
    assert texts(ask)[1] == ("Question: Which is hot?\nA. ice\nB. fire\nC. snow\nAnswer:", " ", "B")
    assert ask.reference["gold"] == [1]
    assert texts(asked(make("arc_easy"), ARC))[1] == ("Question: Which is hot?\nAnswer:", " ", "fire")


def test_mmlu_has_shots_of_its_subject_in_both_forms() -> None:
    begin = "The following are multiple choice questions (with answers) about abstract algebra.\n\n"
    task = make("mmlu_likelihood").with_examples([SHOT])
    assert texts(asked(task, MMLU))[0] == (
        begin + "0+1?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer: A\n\n" + "1+1?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:",
        " ",
        "A",
    )
    cloze = make("mmlu_likelihood", form="cloze").with_examples([SHOT])
    assert texts(asked(cloze, MMLU))[1] == (
        "The following are questions (with answers) about abstract algebra.\n\n"
        "Question: 0+1?\nAnswer: 1\n\nQuestion: 1+1?\nAnswer:",
        " ",
        "2",
    )
    none = make("mmlu_likelihood", shots="0").with_examples([SHOT])
    assert texts(asked(none, MMLU))[0][0] == begin + "1+1?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:"


@pytest.mark.parametrize(
    ("name", "form", "headline"),
    [
        ("mmlu_likelihood", "letters", "acc"),
        ("mmlu_likelihood", "cloze", "acc_norm"),
        ("commonsense_qa", "letters", "acc"),
        ("commonsense_qa", "cloze", "acc_norm"),
    ],
)
def test_the_headline_follows_the_form_since_a_raw_sum_prefers_short_texts(
    name: str, form: str, headline: str
) -> None:
    info = make(name, form=form).info
    assert (info.headline, info.metrics, info.verifier_options["rule"]) == (headline, (headline,), headline)


def test_winogrande_scores_one_end_after_two_contexts() -> None:
    row = {"sentence": "The _ was big.", "option1": "box", "option2": "ball", "answer": "2"}
    assert texts(asked(make("winogrande"), row)) == [
        ("The box", " ", "was big."),
        ("The ball", " ", "was big."),
    ]


def test_the_prior_of_an_option_is_its_own_context() -> None:
    ask = asked(make("piqa", pmi="answer"), PIQA)
    assert ask.scoring is not None
    assert {choice.prior for choice in ask.scoring.choices} == {"Answer:"}
    assert make("piqa", pmi="answer").info.version == "1-answer"


def test_a_document_is_scored_in_windows_and_counted_as_it_was() -> None:
    task = make("wikitext", window=128)
    ask = asked(task, {"page": " a , b \n"})
    assert ask.scoring is not None
    [choice] = ask.scoring.choices
    assert (choice.text, choice.counted, ask.scoring.is_document, ask.scoring.window) == (
        " a, b\n",
        " a , b \n",
        True,
        128,
    )
    assert task.info.version == "1-window128"


def test_fixed_choices_need_no_column() -> None:
    row = {"passage": "P", "question": "is it", "label": 1}
    ask = asked(make("boolq"), row)
    assert [text for _, _, text in texts(ask)] == ["no", "yes"]
    assert ask.reference["gold"] == [1]


def test_every_scored_page_has_one_sample_and_its_headline_as_metric_and_is_pinned() -> None:
    pages = [read_page(page_path(name)).page for name in page_names()]
    names = [name for name, page in zip(page_names(), pages, strict=True) if page.scored is not None]
    assert len(names) == 14
    for name in names:
        info = make(name).info
        assert (info.k, info.is_scored, info.metrics) == (1, True, (info.headline,)), name
        assert info.dataset is not None and len(info.dataset.revision or "") == 40, name


def test_the_prompt_of_a_document_is_empty() -> None:
    ask = asked(make("wikitext"), {"page": "Text."})
    assert (ask.messages[0].content, texts(ask)[0][0]) == ("", "")


def test_rows_without_texts_and_options_without_documents_are_refused() -> None:
    task = make("piqa")
    with pytest.raises(DataError, match="a text to score is ''"):
        scored_row(task.page, {**PIQA, "sol1": ""}, {}, "row 1")
    with pytest.raises(ConfigError, match="no option 'window'"):
        make("piqa", window=128)
    with pytest.raises(ConfigError, match="wanted a number of tokens from 2"):
        make("wikitext", window=1)
