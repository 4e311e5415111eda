"""Tasks of Terminal-Bench's form: the proven ones are drawn, a kit has what tests fetch, no fault is a 0."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.agents.harnesses.outcome import Outcome
from genbench.agents.images.boxes import opened
from genbench.agents.images.kit import Kit
from genbench.agents.images.layout import Layout
from genbench.agents.images.mirror import prove
from genbench.agents.images.plan import ImagePlan, write_lock
from genbench.agents.images.store import Store
from genbench.agents.images.terminal import Graded, evaluate, outcome_of, read_task
from genbench.analysis.comparison.comparability import side_differences
from genbench.analysis.comparison.compare import compare
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side
from genbench.errors import ConfigError, DataError, NotComparableError
from genbench.pipeline import RunOptions
from tests.agents.images.conftest import add_image, entry, load_example, tar
from tests.ready_runs import run_bare

HERE = Path(__file__).parent
PLAIN = "#!/bin/bash\ngrep -q 42 /tmp/answer && echo 1 > /logs/verifier/reward.txt || "
PLAIN += "echo 0 > /logs/verifier/reward.txt\n"
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def terminal(maker: ModuleType) -> ModuleType:
    return load_example("make_terminal")


@pytest.fixture
def write(
    maker: ModuleType, terminal: ModuleType, programs: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Write:
    """Writes a suite over the folder of tasks. Their image has a `curl` that says only that it ran."""
    monkeypatch.setenv("GENBENCH_IMAGES", str(tmp_path / "store"))
    curl = entry("usr/bin/curl", b"#!/bin/sh\necho my own $*\n", mode=0o755)
    image = add_image(maker, tmp_path, [programs, tar(curl)])
    write_lock(tmp_path / "images.lock", {"test:1": image.digest})

    def made(name: str = "suite", **options: Any) -> Path:
        given = {
            "source": "tasks",
            "command": [sys.executable, str(HERE / "terminal_agent.py")],
            "images": "images.lock",
            "limits": {"turns": 3, "wall_s": 120, "concurrent": 3, "box": {"pids": 64}},
            **options,
        }
        path = tmp_path / f"{name}.yaml"
        suite = {
            "name": "terminal",
            "models": {"m": {"path": "m"}},
            "engine": {"kind": "tests.agents.gateway.scripted_engine:Engine"},
            "decoding": {"temperature": 0.5, "max_tokens": 32, "seed": 4},
            "tasks": [{"name": "term", "task": "agent", "k": 1, "options": given}],
        }
        path.write_text(json.dumps(suite))
        return path

    return made


def proven(path: Path) -> dict[str, str | None]:
    return {item.problem: item.why for item in prove(path, workers=2, again=False)}


def run(path: Path, name: str) -> tuple[dict[str, tuple[str, float | None]], Path]:
    place = run_bare(RunOptions(suite=str(path), run_dir=path.parent / name, quiet=True)).folders["m"]
    lines = [json.loads(line) for line in (place / "term" / "verdicts.jsonl").read_text().splitlines()]
    return {line["problem_id"]: (line["status"], line["score"]) for line in lines}, place


@pytest.mark.slow
def test_a_task_is_drawn_if_its_solution_scores_1_and_nothing_scores_0(
    write: Write, terminal: ModuleType, tmp_path: Path
) -> None:
    tasks = tmp_path / "tasks"
    for name in ("right", "wrong", "ruined"):
        terminal.write_task(tasks / name, "test:1", test=PLAIN)
    terminal.write_task(tasks / "easy", "test:1", test="#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n")
    terminal.write_task(tasks / "silent", "test:1", test="#!/bin/bash\nexit 0\n")
    terminal.write_task(tasks / "bad", "test:1", test=PLAIN, solution="exit 3 #")
    terminal.write_task(tasks / "open", "test:1", test=PLAIN)
    shutil.rmtree(tasks / "open" / "solution")
    do = {"right": "echo 42 > /tmp/answer", "wrong": "ls -A /tests /solution; exit 0"}
    do["ruined"] = "rm -f /usr/bin/sh /usr/bin/dash; exit 0"
    path = write(settings={"do": do})
    found = proven(path)
    assert {name for name, why in found.items() if why is None} == {"right", "wrong", "ruined"}
    assert "without a solution it is resolved" in str(found["easy"])
    assert "the tests wrote no reward" in str(found["silent"])
    assert "status 3" in str(found["bad"])
    assert "no solution/solve.sh" in str(found["open"])
    verdicts, place = run(path, "out")
    ruined = ("verifier_error", None)
    assert verdicts == {"right": ("correct", 1.0), "wrong": ("wrong", 0.0), "ruined": ruined}
    manifest = json.loads((place / "manifest.json").read_text())
    terms = manifest["terms"]["decoding"]["term"]["agent"]["images"]
    assert terms["excluded"] == ["bad", "easy", "open", "silent"]
    assert terms["kit"] is None
    lines = (place / "term" / "verdicts.jsonl").read_text().splitlines()
    seen = {line["problem_id"]: line["detail"]["seen"] for line in map(json.loads, lines)}
    assert "test.sh" not in seen["wrong"] and "solve.sh" not in seen["wrong"]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ((1, 0, 1, 0), None),
        ((0,), "its own solution is not resolved here (wrong: score 0)"),
        ((1, 1), "without a solution it is resolved (None)"),
        ((1, 0, 0), "flaky, its second try differs: its own solution is not resolved here (wrong: score 0)"),
        ((1, 0, 1, 1), "flaky, its second try differs: without a solution it is resolved (None)"),
    ],
)
def test_a_proof_has_two_tries_and_ends_with_the_first_that_fails(  # noqa: PLR0917
    write: Write,
    terminal: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scores: tuple[int, ...],
    said: str | None,
) -> None:
    tried: list[bool] = []

    def one(*_: Any, solved: bool) -> tuple[Outcome, float]:
        tried.append(solved)
        return Outcome(float(scores[len(tried) - 1])), 2.0 + len(tried)

    monkeypatch.setattr(ImagePlan, "_tried_solution", one)
    terminal.write_task(tmp_path / "tasks" / "x", "test:1", test=PLAIN)
    path = write()
    assert proven(path) == {"x": said}
    assert proven(path) == {"x": said}  # it is known now
    assert tried == [True, False, True, False][: len(scores)]
    (proof,) = (tmp_path / "store" / "proofs").iterdir()
    assert json.loads(proof.read_text())["seconds"] == (5.0 if len(scores) > 2 else 3.0)


@pytest.mark.slow
def test_what_tests_fetch_comes_from_the_kit_or_the_task_is_left_out(
    write: Write, terminal: ModuleType, tmp_path: Path
) -> None:
    tasks = tmp_path / "tasks"
    for name in ("right", "wrong", "more"):
        terminal.write_task(tasks / name, "test:1")
    terminal.write_kit(tmp_path / "kit")
    without = write("without")
    assert all(f"curl {terminal.URL}" in str(why) for why in proven(without).values())
    with pytest.raises(DataError, match=r"fetch what is not here: curl https://checks"):
        run(without, "without")
    # What this rollout leaves behind makes the tests fetch something else.
    later = "[ -e /tmp/more ] && curl -fsS https://other.example/x; true\n"
    tests = terminal.TEST.replace("bash /tmp/check.sh", f"{later}bash /tmp/check.sh")
    (tasks / "more" / "tests" / "test.sh").write_text(tests)
    do = {"right": "echo 42 > /tmp/answer", "more": "touch /tmp/more"}
    path = write("with", kit="kit", settings={"do": do})
    assert proven(path) == dict.fromkeys(("right", "wrong", "more"))
    verdicts, place = run(path, "with")
    assert verdicts == {"right": ("correct", 1.0), "wrong": ("wrong", 0.0), "more": ("verifier_error", None)}
    detail = next(
        line["detail"]
        for line in map(json.loads, (place / "term" / "verdicts.jsonl").read_text().splitlines())
        if line["problem_id"] == "more"
    )
    assert detail["lacking"] == ["curl https://other.example/x"]
    check_terms(place, write, terminal)


def check_terms(base: Path, write: Write, terminal: ModuleType) -> None:
    """Compare a run with one of another image, kit, limit and list of excluded tasks, and edited ones."""
    tasks, kit = base.parents[1] / "tasks", base.parents[1] / "kit"
    (kit / "files" / "more").write_text("more")
    other = write(
        "other", kit="kit", limits={"turns": 3, "wall_s": 120, "concurrent": 3, "box": {"pids": 65}}
    )
    with pytest.raises(DataError, match="nothing has shown that it can be judged here"):
        run(other, "other")
    other_image(tasks.parent)
    (tasks / "more" / "solution" / "solve.sh").write_text("exit 1\n")
    proven(other)
    _, tuned = run(other, "other")
    with pytest.raises(NotComparableError) as caught:
        compare(base, tuned)
    agent = "terms.decoding.term.agent"
    for said in (
        f'{agent}.images.excluded: [] -> ["more"]',
        f"{agent}.images.kit: ",
        f"{agent}.limits.box.pids: 64 -> 65",
        "references.term: ",
        "problems.term: 1 of 3 only in base",
    ):
        assert said in str(caught.value)
    assert re.search('image: "sha256:[0-9a-f]+" -> "sha256:', str(caught.value))
    side = open_side(base)
    assert differences(side, {}) == []
    assert differences(side, {"ids": "one"}) == [f"{agent}.images.ids"]
    assert differences(side, {"network": "open"}) == [f"{agent}.images.network"]
    assert differences(side, {"rights": "more"}) == [f"{agent}.images.rights"]
    # A run of before the kit had none, and does not say what was excluded.
    assert differences(side, {"kit": None}, drop="excluded") == [f"{agent}.images.kit"]
    (found,) = side_differences(side, with_terms(side, {}, drop="kit"))
    assert str(found).startswith(f"{agent}.images.kit") and found.detail.endswith('-> "as before"')
    without = with_terms(side, {"kit": None})
    assert not list(side_differences(without, with_terms(without, {}, drop="kit")))
    assert differences(side, {"excluded": ["x"]}, drop="excluded") == []
    # A run of before there were control groups had rlimits.
    assert not list(side_differences(side, with_terms(side, {}, drop="limited_by")))
    groups, before = with_terms(side, {"limited_by": "cgroup"}), with_terms(side, {}, drop="limited_by")
    (found,) = side_differences(side, groups)
    assert str(found) == f'{agent}.images.limited_by: "rlimits" -> "cgroup"'
    (found,) = side_differences(before, groups)
    assert str(found) == f'{agent}.images.limited_by: "as before" -> "cgroup"'


def other_image(place: Path) -> None:
    """Let the name of the image be one with other variables."""
    layout = Layout(place / "layout")
    (digest,) = layout.names().values()
    manifest = layout.document(digest)
    config = layout.document(manifest["config"]["digest"])
    config["config"]["Env"].append("OTHER=1")
    for record, kind in ((config, "config"), (manifest, "manifest")):
        data = json.dumps(record).encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        layout.blob(digest).write_bytes(data)
        if kind == "config":
            manifest["config"] |= {"digest": digest, "size": len(data)}
    layout.write_name("test:1", digest)
    Store(place / "store").add(layout)
    write_lock(place / "images.lock", {"test:1": digest})


def with_terms(side: Side, images: dict[str, Any], drop: str = "") -> Side:
    """The side with other terms of images."""
    assert side.manifest is not None
    terms = json.loads(json.dumps(side.manifest.terms))
    own = terms["decoding"]["term"]["agent"]["images"]
    own.update(images)
    own.pop(drop, None)
    return replace(side, manifest=side.manifest.model_copy(update={"terms": terms}))


def differences(side: Side, images: dict[str, Any], drop: str = "") -> list[str]:
    return [found.name for found in side_differences(side, with_terms(side, images, drop))]


FETCHES = """#!/bin/bash
cd /tmp
{
    apt-get update && apt-get install -y curl bash=5 && curl -fsSLo a https://x.example/a &&
        wget -q https://x.example/a -O b && curl -s https://x.example/a > c &&
        wget -qO- https://x.example/a > d && wget https://x.example/a &&
        curl -s http://localhost:1/x > e && cat a b c d e
} > said 2>&1
echo $? > status
curl -O https://y.example/z; echo $? >> status
apt-get install -y nothere; echo $? >> status
echo "ERROR: No matching distribution found for pytest==8.4.1"
echo "=== test session starts ==="
echo "ERROR: No matching distribution found for the-words-of-a-test"
echo '{"other": 0, "reward": 1}' > /logs/verifier/reward.json
"""


@pytest.mark.slow
def test_programs_that_fetch_are_answered_from_the_kit(
    write: Write, terminal: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "kit" / "files").mkdir(parents=True)
    (tmp_path / "kit" / "files" / "a").write_text("from the kit\n")
    (tmp_path / "kit" / "urls.txt").write_text("https://x.example/a files/a\n")
    task = read_task(terminal.write_task(tmp_path / "task", "test:1", test=FETCHES))
    write()
    store = Store(tmp_path / "store")
    (tmp_path / "socket").mkdir()
    with opened(store, store.find("test:1"), tmp_path / "socket") as box:
        found = evaluate(box, task, Kit(tmp_path / "kit"), "/usr/bin:/bin")
        said = box.exec(["cat", "/tmp/said"]).output.decode().splitlines()
        status = box.exec(["cat", "/tmp/status"]).output.decode().split()
    assert said == [*["from the kit"] * 4, "my own -s http://localhost:1/x"]
    assert status == ["0", "97", "97"]
    assert found.reward == 1
    assert found.lacking == (
        "curl https://y.example/z",
        "apt-get install nothere",
        "ERROR: No matching distribution found for pytest==8.4.1",
    )


@pytest.mark.parametrize(
    ("graded", "proof_s", "score", "status"),
    [
        (Graded(1.0, 5.0, False, ()), 5, 1.0, None),
        (Graded(0.0, 5.0, False, ()), 5, 0.0, None),
        (Graded(-1.0, 5.0, False, ()), 5, 0.0, None),
        (Graded(1.0, 5.0, False, ("curl x",)), 5, 1.0, None),
        (Graded(0.0, 5.0, False, ("curl x",)), 5, None, "verifier_error"),
        (Graded(0.9, 5.0, False, ("curl x",)), 5, None, "verifier_error"),
        (Graded(None, 5.0, False, ()), 5, None, "verifier_error"),
        (Graded(7.0, 5.0, False, ()), 5, None, "verifier_error"),
        (Graded(float("nan"), 5.0, False, ()), 5, None, "verifier_error"),
        (Graded(None, 60.0, True, ()), 20, 0.0, None),
        (Graded(None, 60.0, True, ()), 40, None, "verifier_error"),
        (Graded(0.0, 60.0, True, ("curl x",)), 20, None, "verifier_error"),
    ],
)
def test_a_fault_is_never_a_zero(
    graded: Graded, proof_s: float, score: float | None, status: str | None
) -> None:
    found = outcome_of(graded, limit_s=60.0, proof_s=proof_s)
    assert (found.score, found.status) == (score, status)


def test_tasks_that_a_box_cannot_have_are_refused_by_what_they_want(
    terminal: ModuleType, tmp_path: Path
) -> None:
    for number, (text, said) in enumerate(
        (
            ("[[steps]]\nname = 'a'\n", "several steps"),
            ("[verifier]\nenvironment_mode = 'separate'\n", "tests in an image of their own"),
            ("[verifier.env]\nKEY = '${API_KEY}'\n", "the variable API_KEY of this machine"),
            ("[environment]\nos = 'windows'\n", "another system than Linux"),
            ("[verifier]\ntimeout_sec = 'long'\n", "task.toml"),
            ("not toml", "task.toml"),
        )
    ):
        place = terminal.write_task(tmp_path / str(number), "x:1")
        (place / "task.toml").write_text(text)
        with pytest.raises(DataError, match=said):
            read_task(place)
    place = terminal.write_task(tmp_path / "compose", "x:1")
    (place / "environment" / "docker-compose.yaml").write_text("")
    with pytest.raises(DataError, match="several services"):
        read_task(place)
    place = terminal.write_task(tmp_path / "good", "x:1")
    (place / "task.toml").write_text("[verifier.env]\nA = '${HOME:-there}'\n[environment.env]\nB = 'b'\n")
    assert read_task(place).tests_env == {"A": "there", "B": "b"}


def test_a_wrong_kit_is_refused(terminal: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"options\.kit: there is no folder"):
        Kit(tmp_path / "none")
    kit = terminal.write_kit(tmp_path / "kit")
    (kit / "urls.txt").write_text("https://x.example/a files/check.sh\nhttps://x.example/b files/none\n")
    with pytest.raises(ConfigError, match=r"urls\.txt:2: .*wanted a URL and a file"):
        Kit(kit)
