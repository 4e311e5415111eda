"""Import of definitions: files, suites, pages, refusals, and tasks that run as built-in ones do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genbench.errors import DataError, InputError
from genbench.interop.tasks.harness.convert import (
    ImportOptions,
    convert,
    frozen_rows,
    origin_of,
    right_places,
)
from genbench.interop.tasks.harness.definition import read_tree
from genbench.interop.tasks.harness.levels import classify
from genbench.interop.tasks.harness.plan import asked_split, make_plan
from genbench.interop.tasks.importer import ImportRecord, import_tasks, suite_text
from genbench.interop.tasks.sources import Split, load_split, source_of
from genbench.tasks.imported import imported_task, read_lock


@pytest.fixture
def imported(definitions: Path, mirror: Path, tmp_path: Path) -> ImportRecord:
    (definitions / "LICENSE").write_text("MIT License\n", encoding="utf-8")
    options = ImportOptions(tmp_path / "out", mirror, definitions, generate=True)
    return import_tasks("sums_group", options)


def test_a_group_is_imported_and_what_cannot_be_is_named(imported: ImportRecord, tmp_path: Path) -> None:
    assert [item.task for item in imported.imported] == ["sums", "pick_gen"]
    assert [(item.task, item.level) for item in imported.refused] == [("sums_rows", "2")]
    assert "process_docs is !function utils.rows" in imported.refused[0].reason
    suite = Path(imported.suite).read_text(encoding="utf-8")
    assert '- {task: "imported:sums.lock.json", group: "sums_group"}' in suite
    assert suite_text(imported.imported[:1], None).endswith('- {task: "imported:sums.lock.json"}\n')


def test_a_definition_whose_name_is_a_path_is_refused(
    definitions: Path, mirror: Path, tmp_path: Path
) -> None:
    text = (definitions / "sums" / "sums.yaml").read_text(encoding="utf-8")
    hostile = definitions / "sums" / "hostile.yaml"
    hostile.write_text(text.replace("task: sums", "task: ../../x"), encoding="utf-8")
    with pytest.raises(InputError, match=r"\.\./\.\./x: its name becomes a folder"):
        import_tasks(str(hostile), ImportOptions(tmp_path / "out", mirror, definitions, generate=True))
    assert not (tmp_path.parent / "x.rows.jsonl").exists()


def test_the_lock_says_where_each_part_came_from(imported: ImportRecord) -> None:
    lock = read_lock(Path(imported.imported[0].lock))
    assert lock.origin.files == ("sums/sums.yaml", "sums/_template_yaml")
    assert lock.origin.licence == "MIT"
    assert [(part.repo, part.split, part.rows) for part in lock.data] == [
        ("org/sums", "test", 6),
        ("org/sums", "train", 1),
    ]
    assert lock.version == f"lm-eval:sums@2.0+{lock.origin.digest[:12]}"
    page = Path(imported.imported[0].lock.replace(".lock.json", ".md")).read_text(encoding="utf-8")
    assert "| definition | lm-eval: `sums/sums.yaml`" in page
    assert "`org/sums` (default, test), from the mirror: 6 rows" in page


def test_an_imported_task_asks_the_rendered_context(imported: ImportRecord) -> None:
    task = imported_task(Path(imported.imported[0].lock), {"filter": "flexible"})
    rows, facts = task.rows()
    problem = task.problems(rows)[1]
    ask = task.ask(problem, 0, ())
    assert ask is not None
    assert ask.messages[0].content == "Q: 0 + 0?\nA: 0\n\nQ: 2 + 2?\nA:"
    assert ask.reference == {"golds": ["4"]}
    assert task.info.verifier_options["headline"] == "flexible"
    assert facts["licence"].endswith("definition (lm-eval): MIT")


def test_a_choice_is_asked_with_its_options(imported: ImportRecord) -> None:
    task = imported_task(Path(imported.imported[1].lock), {})
    ask = task.ask(task.problems(task.rows()[0])[0], 0, ())
    assert ask is not None
    assert "A) Heat it.\nB) Cool it.\n\nReason step by step" in ask.messages[0].content
    assert ask.reference == {"letter": "A", "options": ["Heat it.", "Cool it."]}


def test_rows_that_were_changed_after_the_import_are_refused(imported: ImportRecord) -> None:
    place = Path(imported.imported[0].lock)
    rows = place.with_name("sums.rows.jsonl")
    rows.write_text(rows.read_text(encoding="utf-8").replace('["4"]', '["5"]'), encoding="utf-8")
    with pytest.raises(DataError, match="import the task again"):
        imported_task(place, {}).rows()


def test_nothing_is_written_if_nothing_can_be_imported(
    definitions: Path, mirror: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"none of 1 tasks(.|\n)*needs|none of 1 tasks"):
        import_tasks("scored", ImportOptions(tmp_path / "out", mirror, definitions))
    assert not (tmp_path / "out").exists()


def test_choices_keep_continuations_and_the_right_place(definitions: Path, mirror: Path) -> None:
    found = convert(
        classify(read_tree(definitions).tasks["pick"]), source_of(definitions), ImportOptions(Path(), mirror)
    )
    assert (found.lock.verifier, found.lock.verifier_options) == ("likelihood", {"rule": "acc"})
    assert found.rows[0]["continuations"] == [" Heat it.", " Cool it."]
    assert found.rows[0]["gold"] == [0]
    assert found.rows[0]["context"] == "Question: Boil water\nAnswer:"


def test_choices_are_scored_as_lm_eval_sends_them(definitions: Path, mirror: Path, tmp_path: Path) -> None:
    import_tasks("pick", ImportOptions(tmp_path / "out", mirror, definitions))
    task = imported_task(tmp_path / "out" / "pick.lock.json", {})
    [problem] = task.problems(task.rows()[0])
    ask = task.ask(problem, 0, ())
    assert ask is not None and ask.scoring is not None
    texts = [(one.context, one.delimiter, one.text, one.counted) for one in ask.scoring.choices]
    assert texts == [
        ("Question: Boil water\nAnswer:", " ", "Heat it.", "Heat it."),
        ("Question: Boil water\nAnswer:", " ", "Cool it.", "Cool it."),
    ]
    assert ask.reference == {"gold": [0], "delimiter": 1, "choices": ["Heat it.", "Cool it."]}
    assert (task.info.is_scored, task.info.headline, task.info.k) == (True, "acc", 1)
    assert len(problem.row["options"]) == 2


def test_a_target_that_is_no_choice_names_its_row(definitions: Path) -> None:
    plan = make_plan(classify(read_tree(definitions).tasks["pick"]))
    rendered = {0: {"contexts": ["c"], "choices": ["x", "y"], "target": 7, "index": None}}
    with pytest.raises(DataError, match="row 1: the target is 7"):
        frozen_rows(plan, [{}], rendered)
    assert right_places(["y", 0], ["x", "y"], "t") == [1, 0]


@pytest.mark.parametrize("repo", ["json", "../../etc", "/etc"])
def test_a_definition_cannot_name_files_of_this_machine(mirror: Path, repo: str) -> None:
    with pytest.raises(InputError):
        load_split(Split(repo, None, "test"), mirror)


def test_the_origin_has_the_digest_of_the_resolved_definition(definitions: Path) -> None:
    sums = read_tree(definitions).tasks["sums"]
    origin = origin_of(sums, source_of(definitions))
    assert (origin.digest, origin.task_version) == (sums.digest, "2.0")


def test_a_file_is_imported_by_its_path(definitions: Path, mirror: Path, tmp_path: Path) -> None:
    path = definitions / "sums" / "sums.yaml"
    record = import_tasks(str(path), ImportOptions(tmp_path / "out", mirror, shots=0))
    line = (tmp_path / "out" / "sums.rows.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(line)["context"] == "Q: 1 + 1?\nA:"
    assert record.imported[0].door == 1


OWN = "include: ../sums/_template_yaml\ntask: own\n"


def _written(folder: Path) -> list[dict[str, Any]]:
    """Write the same rows in every format that lm-eval's guide names. Return them."""
    rows: list[dict[str, Any]] = [{"question": f"{n} + {n}?", "answer": 2 * n} for n in range(1, 5)]
    table = pa.Table.from_pylist(rows)
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "nested.json").write_text(json.dumps({"version": 1, "data": rows}), encoding="utf-8")
    (folder / "rows.csv").write_text(
        "question,answer\n" + "".join(f"{r['question']},{r['answer']}\n" for r in rows)
    )
    pq.write_table(table, folder / "rows.parquet")
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loader", "kwargs"),
    [
        ("json", {"data_files": {"test": "rows.json"}}),
        ("json", {"data_files": {"test": ["rows.jsonl"]}}),
        ("json", {"data_files": {"test": "nested.json"}, "field": "data"}),
        ("csv", {"data_files": {"test": "rows.csv"}}),
        ("parquet", {"data_files": {"test": "row*.parquet"}}),
        ("arrow", {"data_files": {"test": "rows.arrow"}}),
    ],
)
def test_a_definition_with_rows_in_local_files_is_imported(
    definitions: Path, tmp_path: Path, loader: str, kwargs: dict[str, Any]
) -> None:
    folder = definitions / "local"
    folder.mkdir()
    rows = _written(folder)
    text = f"{OWN}dataset_path: {loader}\ndataset_kwargs: {json.dumps(kwargs)}\n"
    (folder / "own.yaml").write_text(text + "num_fewshot: 0\n", encoding="utf-8")
    record = import_tasks(str(folder / "own.yaml"), ImportOptions(tmp_path / "out", None, definitions))
    lock = read_lock(Path(record.imported[0].lock))
    assert [(part.source, part.rows) for part in lock.data] == [("file", 4)]
    task = imported_task(Path(record.imported[0].lock), {})
    asked = [task.ask(problem, 0, ()) for problem in task.problems(task.rows()[0])]
    assert [ask.messages[0].content for ask in asked if ask] == [f"Q: {row['question']}\nA:" for row in rows]
    given = datasets.load_dataset(loader, **_resolved(kwargs, folder), split="test", cache_dir=str(tmp_path))
    assert load_split(asked_split(read_tree(definitions).tasks["own"]), None).rows == given.to_list() == rows


def _resolved(kwargs: dict[str, Any], folder: Path) -> dict[str, Any]:
    names = kwargs["data_files"]["test"]
    return kwargs | {
        "data_files": {
            "test": [str(folder / name) for name in ([names] if isinstance(names, str) else names)]
        }
    }


@pytest.mark.parametrize(
    ("kwargs", "why"),
    [
        ({}, "without data_files in its dataset_kwargs"),
        ({"data_files": "rows.json"}, "its data_files have no split 'test'; they have: train"),
        (
            {"data_files": {"test": "gone.json"}},
            "its data_files name gone.json, which is neither here nor in",
        ),
        ({"data_files": {"test": "https://host/rows.json"}}, "only files of this machine are read"),
        ({"data_files": {"test": 3}}, "its data_files are .*, wanted a file, a list of files"),
        ({"data_files": {"test": "broken.json"}}, "broken.json: cannot be read as json"),
        ({"data_files": {"test": "text.json"}}, "wanted JSON objects"),
    ],
)
def test_local_files_that_cannot_be_read_are_refused(
    definitions: Path, tmp_path: Path, kwargs: dict[str, Any], why: str
) -> None:
    folder = definitions / "local"
    folder.mkdir()
    (folder / "broken.json").write_text("{not json", encoding="utf-8")
    (folder / "text.json").write_text('["a", "b"]', encoding="utf-8")
    text = f"{OWN}dataset_path: json\ndataset_kwargs: {json.dumps(kwargs)}\n"
    (folder / "own.yaml").write_text(text + "num_fewshot: 0\n", encoding="utf-8")
    with pytest.raises(InputError, match=why):
        import_tasks(str(folder / "own.yaml"), ImportOptions(tmp_path / "out", None, definitions))
