"""Tasks that a page describes: which rows they read, what they ask, and which rows they leave out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.protocols import Row, Task
from genbench.tasks.page.model import column_of
from genbench.tasks.page.reader import read_page
from genbench.tasks.page.task import (
    PageTask,
    built_in_info,
    built_in_page,
    page_factory,
    page_task,
)
from genbench.types import Ask, Problem

HEAD = "summary: S\nhub: {repo: example/s, columns: [q, a]}\n"
CHOICE = f"""{HEAD}kind: choice
fields: {{question: q, options: o, reference: a}}
prompt: "{{lead}} {{question}}\\n{{options}}\\n{{letters}}?"
texts:
  lead: {{by: lang, values: {{de: Frage}}, else: Question}}
"""


def task(folder: Path, text: str, protocol: str = "genbench", **options: Any) -> PageTask:
    """Return the task of a page with this text."""
    path = folder / f"page{len(list(folder.iterdir()))}.yaml"
    path.write_text(text)
    return page_task(read_page(path), protocol, options)


def ask(made: Task, problem: Problem, sample: int = 0) -> Ask:
    found = made.ask(problem, sample, ())
    assert found is not None
    return found


def text_of(made: Task, row: Row) -> str:
    [problem] = made.problems([row])
    return ask(made, problem).messages[-1].content


def test_texts_of_the_prompt_depend_on_a_column(tmp_path: Path) -> None:
    made = task(tmp_path, CHOICE, order="as_given")
    row = {"q": " Was? ", "o": ["x", "y"], "a": "B"}
    assert text_of(made, {**row, "lang": "de"}) == "Frage Was?\nA) x\nB) y\nA or B?"
    assert text_of(made, {**row, "lang": "fr"}).startswith("Question Was?")


def test_the_system_prompt_shows_columns_and_refuses_unknown_ones(tmp_path: Path) -> None:
    more = 'kind: exact\nfields: {question: q, reference: a}\nsystem: "You know {field}."\n'
    made = task(tmp_path, HEAD + more)
    [problem] = made.problems([{"q": "1?", "a": "2", "field": "sums {x}"}])
    assert ask(made, problem).messages[0].content == "You know sums {x}."
    with pytest.raises(DataError, match="no column 'field'"):
        made.problems([{"q": "1?", "a": "2"}])
    with pytest.raises(ConfigError, match=r"system: .*double the braces"):
        task(tmp_path, HEAD + more.replace("{field}", "{"))


def test_a_row_that_is_a_conversation_is_asked_as_its_turns(tmp_path: Path) -> None:
    more = 'kind: exact\nfields: {question: q, reference: a}\nsystem: Be brief.\nprompt: "Now: {question}"\n'
    made = task(tmp_path, HEAD + more)
    chat = [
        {"role": "user", "content": "Think of 3."},
        {"role": "assistant", "content": "I have it."},
        {"role": "user", "content": "Double it."},
    ]
    [problem] = made.problems([{"q": chat, "a": "6"}])
    said = [(message.role, message.content) for message in ask(made, problem).messages]
    earlier = [(item["role"], item["content"]) for item in chat[:-1]]
    assert said == [("system", "Be brief."), *earlier, ("user", "Now: Double it.")]
    [own] = made.problems([{"q": [{"role": "system", "content": "Be long."}, *chat], "a": "6"}])
    assert [message.content for message in ask(made, own).messages if message.role == "system"] == [
        "Be long."
    ]
    with pytest.raises(DataError, match="row 1: column 'q': the last message is not the user's"):
        made.problems([{"q": chat[:2], "a": "6"}])


def test_a_text_without_a_variant_for_the_row_is_named(tmp_path: Path) -> None:
    made = task(tmp_path, CHOICE.replace(", else: Question", ""))
    with pytest.raises(DataError, match=r"row 1: the prompt has no \{lead\} for lang 'fr'"):
        made.problems([{"q": "?", "o": ["x", "y"], "a": "A", "lang": "fr"}])


def test_rows_that_cannot_be_asked_are_counted_and_named(tmp_path: Path) -> None:
    made = task(tmp_path, CHOICE)
    rows = [{"q": "?", "o": options, "a": 0, "lang": "en"} for options in (["x", "y"], ["x"], ["x", "z"], [])]
    found = made.read_rows(rows)
    assert [problem.problem_id for problem in found.problems] == ["0", "2"]
    assert [text.partition(": ")[0].rpartition(", ")[2] for text in found.unusable] == ["row 2", "row 4"]


def test_a_task_none_of_whose_rows_can_be_asked_is_refused(tmp_path: Path) -> None:
    made = task(tmp_path, CHOICE)
    with pytest.raises(DataError, match=r"row 1: wanted 2 to 26 options, found \['x'\]"):
        made.problems([{"q": "?", "o": ["x"], "a": 0, "lang": "en"}] * 2)


def test_only_the_rows_of_the_filter_belong_to_the_task(tmp_path: Path) -> None:
    made = task(tmp_path, f"{HEAD}kind: exact\nfields: {{question: q, reference: a}}\nwhere: {{a: [x, y]}}\n")
    rows = [{"q": "1", "a": "x"}, {"q": "2", "a": "z"}, {"q": "3", "a": "y"}]
    assert [problem.problem_id for problem in made.problems(rows)] == ["0", "2"]
    assert made.read_rows(rows).unusable == ()
    with pytest.raises(DataError, match="none of 1 rows belongs to it"):
        made.problems(rows[1:2])


def test_rows_of_several_configs_are_numbered_within_each(tmp_path: Path) -> None:
    text = (
        "summary: S\nhub: {repo: example/s, configs: [de, en], config_column: lang, columns: [q, a],\n"
        "  rows: {de: 2, en: 1}, digest: abc}\nkind: exact\n"
        "fields: {question: q, reference: a, group: place, strata: [lang]}\n"
    )
    made = task(tmp_path, text)
    rows = [{"q": "1", "a": "x", "lang": lang} for lang in ("de", "de", "en")]
    assert [(one.problem_id, one.group) for one in made.problems(rows)] == [
        ("de/0", "0"),
        ("de/1", "1"),
        ("en/0", "0"),
    ]
    dataset = made.info.dataset
    assert dataset is not None and (dataset.row_count, dataset.digest) == (3, "abc")
    part = task(tmp_path, text, lang="en").info.dataset
    assert part is not None and (part.configs, part.row_count, part.digest) == (("en",), 1, None)
    with pytest.raises(ConfigError, match="lang: unknown 'eng'; did you mean 'en'"):
        task(tmp_path, text, lang=["eng"])
    with pytest.raises(ConfigError, match="lang: the list is empty"):
        task(tmp_path, text, lang=[])


def test_a_protocol_has_its_own_words_and_its_own_version(tmp_path: Path) -> None:
    text = CHOICE + (
        "system: Be brief.\nprotocols:\n  vendor: {source: a report, prompt: 'V {question}',\n"
        "    turns_before: [[one, two]], order: as_given}\n"
    )
    own, other = task(tmp_path, text), task(tmp_path, text, "vendor")
    [problem] = other.problems([{"q": "?", "o": ["x", "y"], "a": "B", "lang": "en"}])
    assert [(one.role, one.content) for one in ask(other, problem).messages] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "two"),
        ("user", "V ?"),
    ]
    assert (own.info.version, own.info.protocol) == ("1", "genbench")
    assert (other.info.version, other.info.protocol) == ("1+vendor", "vendor")
    assert other.info.asks_alike and not own.info.asks_alike


def test_an_option_off_its_default_changes_the_version(tmp_path: Path) -> None:
    text = CHOICE + "options: {rows: {ok: {}, mended: {where: {a: [A]}}}}\n"
    assert task(tmp_path, text, rows="ok").info.version == "1"
    assert task(tmp_path, text, rows="mended").info.version == "1-mended"


def test_published_scores_of_another_protocol_or_option_are_not_shown(tmp_path: Path) -> None:
    text = CHOICE + (
        "options: {rows: {ok: {}, mended: {}}}\nprotocols: {vendor: {source: r}}\npublished:\n"
        "  - {source: a, decoding: d, scores: {M: 50}}\n"
        "  - {source: b, decoding: d, protocol: vendor, scores: {M: 60}}\n"
        "  - {source: c, decoding: d, options: {rows: mended}, scores: {M: 70}}\n"
    )

    def shown(made: PageTask) -> list[tuple[str, float]]:
        return [(score.source, score.value) for score in made.info.published]

    assert shown(task(tmp_path, text)) == [("a", 0.5)]
    assert shown(task(tmp_path, text, "vendor")) == [("a", 0.5), ("b", 0.6)]
    assert shown(task(tmp_path, text, rows="mended")) == [("a", 0.5), ("c", 0.7)]


def test_exemplars_are_put_through_the_prompt(tmp_path: Path) -> None:
    text = CHOICE + "shots:\n  - {question: Q1, options: [x, y], lang: de, answer: 'Answer: A'}\n"
    assert task(tmp_path, text).info.shots == (("Frage Q1\nA) x\nB) y\nA or B?", "Answer: A"),)


def test_the_order_of_options_is_for_tasks_with_options(tmp_path: Path) -> None:
    plain = f"{HEAD}kind: exact\nfields: {{question: q, reference: a}}\n"
    with pytest.raises(ConfigError, match="no option 'order'"):
        task(tmp_path, plain, order="per_problem")
    with pytest.raises(ConfigError, match="did you mean 'per_sample'"):
        task(tmp_path, CHOICE, order="per_samples")
    with pytest.raises(ConfigError, match="as_given would put every right option first"):
        task(tmp_path, CHOICE.replace("reference: a", "right: 0"), order="as_given")


def test_a_row_without_a_column_is_named() -> None:
    with pytest.raises(DataError, match="row 3: no column 'subjct'; did you mean 'subject'"):
        column_of({"subject": 1}, "subjct", "row 3")


def test_a_python_page_is_made_by_its_function() -> None:
    make = page_factory(built_in_page("livecodebench").path)
    assert make(release="v4").info.name == "livecodebench"
    info = built_in_info("livecodebench", {"release": "v4_v5", "window": False}, verifier="code")
    assert info.family == "code" and len(info.published) == 6
    assert built_in_info("livecodebench", {"release": "v6", "window": False}, verifier="code").published == ()


def test_a_page_task_is_a_task(tmp_path: Path) -> None:
    made = task(tmp_path, CHOICE)
    assert isinstance(made, Task)
    [problem] = made.problems([{"q": "?", "o": ["x", "y"], "a": "y", "lang": "en"}])
    for sample in range(4):
        question = ask(made, problem, sample)
        assert question.reference["options"]["AB".index(question.reference["letter"])] == "y"
        assert json.loads(json.dumps(question.reference)) == question.reference
    assert made.ask(problem, 0, ("B",)) is None
