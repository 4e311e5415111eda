from __future__ import annotations

import json
from pathlib import Path

from genbench.draw.draw_queue import Lengths, has_missing, missing_draws
from genbench.models.requests import sample_seed
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks
from genbench.store.sample_index import DrawnSamples
from genbench.types import SampleId

SUITE = """\
models: {m: {path: ./none}}
tasks:
  - {name: short, kind: exact, data: {path: r.jsonl, fields: {id: id, reference: a}}, prompt: "{question}",
     k: 2, decoding: {max_tokens: 100}}
  - {name: long, kind: exact, data: {path: r.jsonl, fields: {id: id, reference: a}}, prompt: "{question}",
     k: 1, decoding: {max_tokens: 900}}
"""


def order(place: Path, lengths: Lengths | None) -> list[tuple[str, str, int]]:
    (place / "s.yaml").write_text(SUITE)
    rows = [{"id": name, "question": "?", "a": "x"} for name in "abc"]
    (place / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = RunOptions(str(place / "s.yaml"))
    drawn = {"short": DrawnSamples(), "long": DrawnSamples()}
    drawn["short"].add("b", 0, 0)
    draws = missing_draws(load_tasks(open_suite(options)[0], options), drawn, lengths)
    return [(draw.task.name, draw.problem.problem_id, draw.sample_index) for draw in draws]


def test_without_a_stored_run_the_task_of_the_longest_completions_is_drawn_first(tmp_path: Path) -> None:
    longer = [("long", name, 0) for name in "abc"]
    assert order(tmp_path, None) == [
        *longer,
        ("short", "a", 0),
        ("short", "a", 1),
        ("short", "b", 1),
        ("short", "c", 0),
        ("short", "c", 1),
    ]


def test_a_stored_run_orders_one_queue_over_all_tasks_by_problem(tmp_path: Path) -> None:
    stored = {"short": {"a": 20.0, "b": 90.0, "c": 5000.0}, "long": {"a": 30.0, "b": 10.0}}
    lengths = Lengths(Path("run"), "id", "base", stored)
    assert order(tmp_path, lengths) == [
        ("long", "c", 0),  # the stored run does not know it: as long as it may be
        ("short", "c", 0),  # longer than its task allows now
        ("short", "c", 1),
        ("short", "b", 1),
        ("long", "a", 0),
        ("short", "a", 0),
        ("short", "a", 1),
        ("long", "b", 0),
    ]


def test_the_rule_is_told_by_the_lengths_and_not_by_the_folder() -> None:
    one = Lengths(Path("a"), "id", "base", {"t": {"p": 1.01, "q": 2.0}})
    same = Lengths(Path("b"), "id", "base", {"t": {"q": 2.0, "p": 1.0}})
    other = Lengths(Path("a"), "id", "base", {"t": {"p": 7.0, "q": 2.0}})
    assert one.record == same.record != other.record


def test_a_seed_depends_on_every_part_of_the_identity_and_nothing_else() -> None:
    base = sample_seed(0, SampleId("t", "p", 0), 0)
    others = [
        sample_seed(1, SampleId("t", "p", 0), 0),
        sample_seed(0, SampleId("u", "p", 0), 0),
        sample_seed(0, SampleId("t", "q", 0), 0),
        sample_seed(0, SampleId("t", "p", 1), 0),
        sample_seed(0, SampleId("t", "p", 0), 1),
    ]
    assert base not in others
    assert len(set(others)) == 5
    assert base == sample_seed(0, SampleId("t", "p", 0), 0)


def test_seeds_fit_servers_and_are_mixed_in_their_low_bits() -> None:
    seeds = [sample_seed(0, SampleId("t", "p", index), 0) for index in range(20_000)]
    assert all(0 <= seed < 2**63 for seed in seeds)
    low = {seed & 0xFFFFFFFF for seed in seeds}
    assert len(low) > 19_990  # 0.05 collisions expected among 20,000 of 2^32
    ones = [sum(seed >> bit & 1 for seed in seeds) / len(seeds) for bit in range(32)]
    assert all(0.48 < share < 0.52 for share in ones)


def test_among_equals_programs_come_first_since_they_take_longest_to_verify(tmp_path: Path) -> None:
    fields = "{id: id, reference: {tests: a}}"
    data = f"{{path: r.jsonl, fields: {fields}}}"
    more = f"kind: code, data: {data}, prompt: '?', k: 1, decoding: {{max_tokens: 100}}"
    suite = f"{SUITE}  - {{name: programs, {more}}}\n"
    (tmp_path / "s.yaml").write_text(suite)
    row = {"id": "a", "question": "?", "a": ["assert double(2) == 4"]}
    (tmp_path / "r.jsonl").write_text(json.dumps(row) + "\n")
    tasks = load_tasks(
        open_suite(RunOptions(str(tmp_path / "s.yaml")))[0], RunOptions(str(tmp_path / "s.yaml"))
    )
    draws = missing_draws(tasks, {task.name: DrawnSamples() for task in tasks})
    assert [draw.task.name for draw in draws] == ["long", "programs", "short", "short"]


def test_a_sample_that_is_not_on_disk_is_missing(tmp_path: Path) -> None:
    order(tmp_path, None)
    options = RunOptions(str(tmp_path / "s.yaml"))
    tasks = load_tasks(open_suite(options)[0], options)
    drawn = {task.name: DrawnSamples() for task in tasks}
    assert has_missing(tasks, drawn)
    for task in tasks:
        for problem in task.problems:
            for index in range(task.k):
                drawn[task.name].add(problem.problem_id, index, 0)
    assert not has_missing(tasks, drawn)
