"""contamination text: tasks searched in training files, with what was found, its place and its text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from genbench.data.corpus import corpus_files
from genbench.errors import ConfigError, DataError, InputError
from genbench.reports.terminal.contamination import overlap_text
from genbench.runs.training_overlap import overlap, split_arguments

QUESTIONS = [
    "A farmer has seventeen sheep and sells nine of them on Monday morning before lunch. How many are left?",
    "Two trains leave one station at noon in opposite directions at forty and sixty miles an hour each.",
    "Short one?",
]
SOLUTION = "First subtract the nine sheep that were sold from the seventeen sheep of the farmer to get eight."


@pytest.fixture
def suite(tmp_path: Path) -> str:
    (tmp_path / "suite.yaml").write_text(
        "models:\n  m: {path: ./none}\n"
        "tasks:\n"
        "  - name: mine\n"
        "    kind: exact\n"
        "    data: {path: rows.jsonl, fields: {id: id, question: question, reference: answer}}\n"
        '    prompt: "{question}"\n'
        "    k: 2\n"
    )
    rows = [
        {"id": f"p{at}", "question": text, "answer": SOLUTION if at == 0 else "8"}
        for at, text in enumerate(QUESTIONS)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "suite.yaml")


def corpus(place: Path, *texts: str) -> Path:
    path = place / "sft.jsonl"
    path.write_text("".join(json.dumps({"messages": [{"content": text}]}) + "\n" for text in texts))
    return path


def test_a_copied_question_is_listed_with_file_line_and_text(suite: str, tmp_path: Path) -> None:
    path = corpus(tmp_path, "nothing of interest in this line", f"Question: {QUESTIONS[0].upper()}")
    task = overlap([suite], [path]).tasks["mine"]
    assert (task.problems, task.searched, task.found, task.mostly, task.lines) == (3, 2, 1, 1, 1)
    (hit,) = task.hits
    assert (hit.file, hit.line, hit.problem_id, hit.part, hit.share) == (str(path), 2, "p0", "question", 1.0)
    assert hit.text == QUESTIONS[0].upper().removesuffix("?")


def test_a_copied_reference_is_told_from_the_question(suite: str, tmp_path: Path) -> None:
    (hit,) = overlap([suite], [corpus(tmp_path, f"Answer. {SOLUTION}")]).tasks["mine"].hits
    assert (hit.problem_id, hit.part) == ("p0", "reference")


def test_a_part_of_a_question_is_found_but_not_mostly(suite: str, tmp_path: Path) -> None:
    part = " ".join(QUESTIONS[0].split()[:13])
    task = overlap([suite], [corpus(tmp_path, part)]).tasks["mine"]
    assert (task.found, task.mostly) == (1, 0)
    assert task.hits[0].ngrams == 1


def test_lines_are_counted_and_the_fullest_come_first(suite: str, tmp_path: Path) -> None:
    part = " ".join(QUESTIONS[0].split()[:14])
    task = overlap([suite], [corpus(tmp_path, *[part] * 60, QUESTIONS[0])]).tasks["mine"]
    assert task.lines == 61
    assert len(task.hits) == 20
    assert (task.hits[0].line, task.hits[0].share) == (61, 1.0)


def test_other_texts_are_no_hit(suite: str, tmp_path: Path) -> None:
    task = overlap([suite], [corpus(tmp_path, "a farmer has sheep and sells them " * 20)]).tasks["mine"]
    assert (task.found, task.hits) == (0, ())


def test_the_record_names_the_length_the_normalisation_and_the_files(suite: str, tmp_path: Path) -> None:
    path = corpus(tmp_path, "x")
    path.write_text(path.read_text() + "{broken\n")
    record = overlap([suite], [path], n=10)
    assert (record.n, record.shortest, record.bytes) == (10, 8, path.stat().st_size)
    assert record.normalisation == "lower case, words of letters and digits, NFKC"
    (file,) = record.corpus
    assert file.unreadable == 1
    assert "sft.jsonl:2 is not JSON" in str(file.first_unreadable)


def test_fewer_problems_can_be_searched(suite: str, tmp_path: Path) -> None:
    assert overlap([suite], [corpus(tmp_path, "x")], limit=1).tasks["mine"].problems == 1


def test_progress_names_bytes_and_problems(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overlap([suite], [corpus(tmp_path, QUESTIONS[0])], quiet=False)
    shown = capsys.readouterr().err
    assert shown.startswith("searched 0.00 of 0.00 GB")
    assert "1 problem found" in shown


def test_a_task_that_is_named_twice_is_refused(suite: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="task mine is named twice"):
        overlap([suite, suite], [corpus(tmp_path, "x")])


def test_an_unknown_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="suite 'aime95': no such file"):
        overlap(["aime95"], [corpus(tmp_path, "x")])


@pytest.mark.parametrize("n", [1, 101])
def test_an_impossible_length_is_refused(suite: str, tmp_path: Path, n: int) -> None:
    with pytest.raises(InputError, match=f"--n {n}: wanted words of an n-gram"):
        overlap([suite], [corpus(tmp_path, "x")], n=n)


def test_a_search_without_files_is_refused(suite: str) -> None:
    with pytest.raises(InputError, match="one training file"):
        overlap([suite], [])


def test_missing_files_are_refused_before_the_tasks_are_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        overlap(["no-such-suite"], [tmp_path / "gone.jsonl"])


def test_training_files_among_the_arguments_are_told_from_tasks(suite: str, tmp_path: Path) -> None:
    first, more = corpus(tmp_path, "x"), tmp_path / "more.txt"
    more.touch()
    assert split_arguments(["aime25", str(more), suite], [first]) == (["aime25", suite], [first, more])


def test_arguments_are_tasks_if_no_training_file_is_named(tmp_path: Path) -> None:
    path = corpus(tmp_path, "x")
    assert split_arguments([str(path)], []) == ([str(path)], [])


def test_the_wording_of_the_prompt_is_no_part_of_a_question(suite: str, tmp_path: Path) -> None:
    text = Path(suite).read_text()
    wording = "Think about the question step by step and then write the answer on the last line of all."
    Path(suite).write_text(text.replace('prompt: "{question}"', f'prompt: "{{question}} {wording}"'))
    task = overlap([suite], [corpus(tmp_path, QUESTIONS[1], wording)]).tasks["mine"]
    assert [(hit.problem_id, hit.line, hit.share) for hit in task.hits] == [("p1", 1, 1.0)]


def test_each_option_is_searched_by_itself(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(
        "models:\n  m: {path: ./none}\ntasks:\n  - name: picks\n    kind: choice\n"
        "    data: {path: rows.jsonl, fields: {id: id, question: q, options: options, reference: answer}}\n"
        '    prompt: "{question}\\n{options}"\n    k: 1\n'
    )
    row = {"id": "p0", "q": "Which?", "options": [QUESTIONS[0], "no", SOLUTION], "answer": "A"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    task = overlap([str(tmp_path / "suite.yaml")], [corpus(tmp_path, SOLUTION)]).tasks["picks"]
    assert [(hit.part, hit.share) for hit in task.hits] == [("question", 1.0)]


def test_the_lines_without_overlap_are_written_as_they_were(suite: str, tmp_path: Path) -> None:
    kept = ['{"text": "nothing of interest",  "more": 1.50}', '{"text": "ünrelated"}']
    path = tmp_path / "sft.jsonl.gz"
    copied = json.dumps({"text": f"Q: {QUESTIONS[0]}"})
    text = "\n".join([kept[0], copied, "", "{broken", json.dumps({"text": SOLUTION}), kept[1]])
    path.write_bytes(gzip.compress(text.encode()))
    place = tmp_path / "clean.jsonl"
    record = overlap([suite], [path], write=place)
    assert place.read_text(encoding="utf-8") == "".join(line + "\n" for line in kept)
    written = record.written
    assert written is not None and (written.kept, written.removed, written.unreadable) == (2, 2, 1)
    assert overlap([suite], [place]).tasks["mine"].found == 0
    assert f"written: {place} with 2 lines, without 2 that overlap and 1 that could" in overlap_text(record)


def test_a_file_that_exists_is_not_overwritten_and_nothing_half_written_stays(
    suite: str, tmp_path: Path
) -> None:
    path, place = corpus(tmp_path, QUESTIONS[0]), tmp_path / "clean.jsonl"
    place.write_text("mine")
    with pytest.raises(InputError, match="exists already, and is not overwritten"):
        overlap([suite], [path], write=place)
    assert place.read_text() == "mine"
    packed = tmp_path / "cut.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps({"text": "x" * 5000}).encode() * 50))
    [file] = corpus_files([packed])
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"new\.jsonl: cannot be written from"):
        file.copy_without(set(), tmp_path / "new.jsonl")
    assert sorted(item.name for item in tmp_path.glob("*new*")) == []


@pytest.mark.parametrize(
    ("names", "place", "said"),
    [
        (("a.txt",), "out.jsonl", "found .*a.txt; give one such file"),
        (("a.jsonl", "b.jsonl"), "out.jsonl", "found 2 files"),
        (("a.jsonl",), "out.parquet", "give a name that ends in .jsonl"),
        (("a.jsonl",), "no/out.jsonl", "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_search(
    suite: str, tmp_path: Path, names: tuple[str, ...], place: str, said: str
) -> None:
    for name in names:
        (tmp_path / name).write_text('{"text": "x"}\n')
    with pytest.raises(InputError, match=said):
        overlap([suite], [tmp_path / name for name in names], write=tmp_path / place)
