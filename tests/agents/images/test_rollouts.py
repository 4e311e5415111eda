"""Rollouts in boxes: what the harness does there, and what a fresh box says of its patch."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.agents.images.layout import Layout
from genbench.agents.images.mirror import image_tasks, prove
from genbench.agents.images.plan import read_lock, write_lock
from genbench.agents.images.store import Store
from genbench.analysis.comparison.compare import compare
from genbench.errors import ConfigError, DataError, NotComparableError
from genbench.pipeline import RunOptions
from genbench.suite.suitefile import read_suite
from tests.agents.images.conftest import FILL, add_image
from tests.ready_runs import run_bare

HERE = Path(__file__).parent
GOOD = "sed -i 's/a - b/a + b/' calc.py"
WRONG = "sed -i 's/a - b/a * b/' calc.py"


def rows_of(swe: ModuleType) -> dict[str, dict[str, Any]]:
    """What the harness does, by the name of a row."""
    return {
        "good": {"do": GOOD},
        "wrong": {"do": WRONG},
        "nothing": {},
        "unfit": {"submit": "no patch\n"},
        "silent": {"submit": swe.patch("import os\nos._exit(0)\n")},
        "cheat": {"submit": swe.patch() + swe.patch("import pytest\n", "conftest.py")},
        "gone": {"do": "gone"},
        "fill": {"do": FILL, "exit": 1},
    }


@pytest.fixture(scope="module")
def suite(
    maker: ModuleType, swe: ModuleType, programs: bytes, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A suite whose problems have an image, which is in the store and in the lock, and all are proven."""
    place = tmp_path_factory.mktemp("boxes")
    os.environ["GENBENCH_IMAGES"] = str(place / "store")
    rows = rows_of(swe)
    repository = swe.repository(place)
    image = add_image(maker, place, [programs, maker.layer_of([], [(str(repository), "/testbed")])])
    write_lock(place / "images.lock", {"test:1": image.digest})
    write_suite(place, [swe.row(f"own__calc-{name}", **more) for name, more in rows.items()])
    prove_first(place / "suite.yaml")
    yield place
    del os.environ["GENBENCH_IMAGES"]


def write_suite(place: Path, rows: list[dict[str, Any]], name: str = "suite", **options: Any) -> Path:
    (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    grader = place / "grader"
    if not grader.exists():
        packages = grader / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        shutil.copytree(HERE / "packages", packages)
        (packages / "swebench-5.0.2.dist-info").mkdir()
        (grader / "bin").mkdir()
        (grader / "bin" / "python").symlink_to(Path(sys.executable).resolve())
        shutil.copy(Path(sys.prefix) / "pyvenv.cfg", grader / "pyvenv.cfg")
    given = {
        "source": f"{name}.jsonl",
        "command": [sys.executable, str(HERE / "boxed_agent.py")],
        "images": "images.lock",
        "grader": "grader",
        "limits": {"turns": 3, "wall_s": 120, "concurrent": 3, "box": {"memory_mb": 300}},
        **options,
    }
    engine = {"kind": "tests.agents.gateway.scripted_engine:Engine", "seconds": 0.0, "finish": "stop"}
    given = {key: value for key, value in given.items() if value is not None}
    (place / f"{name}.yaml").write_text(
        json.dumps(
            {
                "name": "boxes",
                "models": {"m": {"path": "m"}},
                "engine": engine,
                "decoding": {"temperature": 0.5, "max_tokens": 32, "seed": 4},
                "tasks": [{"name": "fix", "task": "agent", "k": 1, "options": given}],
            }
        )
    )
    return place / f"{name}.yaml"


def prove_first(path: Path) -> None:
    """Prove the first row of a suite. The others differ only in what their agents do."""
    (task,) = image_tasks(read_suite(path))
    problems = [task.plan.as_problem(row) for row in task.rows]
    assert task.plan.prove(problems[0], None).why is None
    places = [task.plan._place(problem, None, task.plan.digest_of(problem)) for problem in problems]
    for place in places[1:]:
        shutil.copy(places[0], place)
    task.plan.close()


def run(path: Path, name: str) -> Path:
    report = run_bare(RunOptions(suite=str(path), run_dir=path.parent / name, quiet=True))
    return report.folders["m"]


def verdicts(place: Path) -> dict[str, dict[str, Any]]:
    lines = (place / "fix" / "verdicts.jsonl").read_text().splitlines()
    return {line["problem_id"].rpartition("-")[2]: line for line in map(json.loads, lines)}


@pytest.mark.slow
def test_a_verdict_is_what_a_fresh_box_says_of_the_patch(suite: Path, swe: ModuleType) -> None:
    place = run(suite / "suite.yaml", "out")
    found = verdicts(place)
    assert {name: (line["status"], line["score"]) for name, line in found.items()} == {
        "good": ("correct", 1.0),
        "wrong": ("wrong", 0.0),
        "nothing": ("no_answer", 0.0),
        "unfit": ("wrong", 0.0),
        "silent": ("verifier_error", None),
        "cheat": ("correct", 1.0),
        "gone": ("unavailable", None),
        "fill": ("no_answer", 0.0),
    }
    details = {name: line["detail"] for name, line in found.items()}
    assert all(detail.get("hidden", []) == [] for detail in details.values())
    assert details["cheat"]["deciding"] == ["conftest.py"]
    assert set(details["fill"]["limits_hit"]) == {"memory"}
    assert details["gone"]["rollout"]["tries"] == 3
    assert not [*(suite / "store").glob("*/u/*")]
    rollouts = json.loads((place / "results.json").read_text())["tasks"]["fix"]["rollouts"]
    assert (rollouts["deciding"], rollouts["at_limits"]) == (1, 1)


@pytest.mark.slow
def test_terms_name_the_box_and_other_ones_are_not_compared(suite: Path, swe: ModuleType) -> None:
    rows = [swe.row("own__calc-good", do=GOOD)]
    first = run(write_suite(suite, rows, "first"), "first")
    terms = json.loads((first / "manifest.json").read_text())["terms"]["decoding"]["fix"]["agent"]
    assert terms["images"]["network"] == "none"
    assert terms["images"]["ids"] in {"full", "one"}
    assert terms["images"]["verdicts"] == "swebench 5.0.2"
    other = write_suite(
        suite, rows, "second", limits={"turns": 3, "wall_s": 120, "concurrent": 3, "box": {"memory_mb": 301}}
    )
    list(prove(other, workers=1, again=False))
    second = run(other, "second")
    with pytest.raises(NotComparableError, match=r"limits.*300|memory_mb"):
        compare(first, second)


@pytest.mark.slow
def test_what_is_not_proven_is_not_drawn(suite: Path, swe: ModuleType) -> None:
    rows = [
        swe.row("own__calc-good", do=GOOD),
        swe.row("own__calc-bad", patch=swe.patch(swe.CALC.replace("a - b", "a * b"))),
        swe.row("own__calc-easy", FAIL_TO_PASS='["tests/test_calc.py::test_zero"]'),
        swe.row("own__calc-tag", image="test:2"),
    ]
    path = write_suite(suite, rows, "third")
    found = {item.problem.rpartition("-")[2]: item.why for item in prove(path, workers=2, again=False)}
    assert found["good"] is None
    assert "its own solution is not resolved here" in str(found["bad"])
    assert "without a solution it is resolved" in str(found["easy"])
    assert "test:2 is not in" in str(found["tag"])
    place = run(path, "third")
    assert set(verdicts(place)) == {"good"}
    data = json.loads((place / "manifest.json").read_text())["tasks"]["fix"]["data"]
    assert data["unasked"] == 3
    assert any("own__calc-bad" in text and "not resolved here" in text for text in data["unasked_rows"])


@pytest.mark.slow
def test_a_suite_says_what_its_images_need(suite: Path, swe: ModuleType) -> None:
    rows = [swe.row("own__calc-good", do=GOOD)]
    write_suite(suite, rows, "fourth", images="none.lock")
    with pytest.raises(DataError, match="genbench mirror"):
        run(suite / "fourth.yaml", "fourth")
    write_suite(suite, rows, "fifth", grader="store")
    with pytest.raises(ConfigError, match=r"no virtual environment with swebench 5.*pip install"):
        run(suite / "fifth.yaml", "fifth")
    write_suite(suite, [{**rows[0], "log_parser": None}], "sixth")
    with pytest.raises(DataError, match="no log_parser; take a revision"):
        run(suite / "sixth.yaml", "sixth")
    write_suite(suite, rows, "seventh", images=None)
    with pytest.raises(ConfigError, match=r"needs options\.images"):
        run(suite / "seventh.yaml", "seventh")
    assert read_lock(suite / "images.lock") == {
        "test:1": next(iter(Layout(Store(suite / "store").folder).names().values()))
    }
