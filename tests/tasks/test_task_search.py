"""Finding of tasks, and the page of one task."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.tasks.catalogue import KnownTask, find_tasks, known_tasks, task_markdown, task_record, task_text


@pytest.fixture(scope="module")
def known() -> list[KnownTask]:
    return known_tasks()


def names(found: list[KnownTask]) -> set[str]:
    return {item.info.name for item in found}


def test_tasks_are_found_by_words_of_name_and_summary(known: list[KnownTask]) -> None:
    assert {"mmlu", "mmlu_pro", "global_mmlu"} <= names(find_tasks(known, ["MMLU"]))
    assert "mmlu_pro" in names(find_tasks(known, ["mmlu", "ten options"]))
    assert "mmlu" not in names(find_tasks(known, ["mmlu", "ten options"]))


def test_tasks_are_found_by_family_kind_and_language(known: list[KnownTask]) -> None:
    assert {"aime25", "gsm8k"} <= names(find_tasks(known, family="maths"))
    assert names(find_tasks(known, family="maths")).isdisjoint({"mmlu", "ifeval"})
    assert {"mmlu", "gpqa_diamond"} <= names(find_tasks(known, kind="choice"))
    assert {"global_mmlu", "mmmlu"} <= names(find_tasks(known, language="yo"))
    assert "mmlu" not in names(find_tasks(known, language="yo"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"family": "math"}, "no task has the family 'math'; did you mean 'maths'"),
        ({"kind": "choise"}, "no task has the kind 'choise'; did you mean 'choice'"),
        ({"language": "xx"}, "no task has the language 'xx'"),
        ({"words": ["mmlu_por"]}, "no task fits; did you mean 'mmlu_pro'"),
        ({"words": ["mmlu", "zebra"]}, "no task fits; give fewer words"),
    ],
)
def test_what_no_task_has_is_named(known: list[KnownTask], given: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_tasks(known, **given)  # type: ignore[arg-type]


def test_a_record_has_what_a_suite_may_choose(known: list[KnownTask]) -> None:
    [redux] = [item for item in known if item.info.name == "mmlu_redux"]
    record = task_record(redux)
    assert record["options"]["rows"] == ["ok", "mended"] and len(record["options"]["subject"]) == 57
    assert (record["kind"], record["family"], record["macro"]) == ("choice", "knowledge", "subject")
    [pro] = [item for item in known if item.info.name == "mmlu_pro"]
    assert task_record(pro)["protocols"] == ["genbench", "mmlu-pro"]


def test_one_task_is_shown_with_options_protocols_and_scores(known: list[KnownTask]) -> None:
    [pro] = [item for item in known if item.info.name == "mmlu_pro"]
    text = task_text(pro)
    assert text.startswith("mmlu_pro: MMLU-Pro: 12,032 questions")
    assert "protocol mmlu-pro: MMLU-Pro f418b11" in text
    assert "DeepSeek-R1: 84.0" in text


def test_scores_under_another_protocol_or_option_are_shown_with_it(known: list[KnownTask]) -> None:
    [mmlu] = [item for item in known if item.info.name == "mmlu"]
    assert "  Llama-3.1-8B-Instruct: 68.4 (protocol simple-evals; " in task_text(mmlu)
    score = next(one for one in task_record(mmlu)["published"] if one["value"] == 0.684)
    assert (score["protocol"], score["options"]) == ("simple-evals", {})
    [programs] = [item for item in known if item.info.name == "livecodebench"]
    for text in (task_text(programs), task_markdown(programs)):
        assert "window 2410-2502" in text and "window False" not in text
    for item in known:
        shown = {(one["model"], one["source"]) for one in task_record(item)["published"]}
        blocks = item.page.published if item.page else ()
        assert shown >= {(model, block.source) for block in blocks for model in block.scores}, item.info.name


def test_every_task_has_a_page_in_the_documentation(known: list[KnownTask]) -> None:
    for item in known:
        page = task_markdown(item)
        assert page.startswith(f"# {item.info.name}\n") and "| licence |" in page
