"""Runs of agent tasks: a real gateway, real harness processes, and an engine that says who was asked."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from genbench import pipeline
from genbench.agents.gateway import http
from genbench.agents.gateway.gateway import Gateway
from genbench.agents.gateway.rollout import Rollout
from genbench.agents.harnesses.plan import HarnessPlan, Limits, Peer
from genbench.analysis.comparison.compare import compare, compare_sides
from genbench.analysis.sides.loading import open_side
from genbench.consent import NoConsentError
from genbench.errors import ConfigError, EngineError, NotComparableError, RunFolderError
from genbench.models.requests import sample_seed
from genbench.pipeline import RunOptions
from genbench.reports.browse import sample_rows
from genbench.reports.write import report_text
from genbench.types import Answer, Completion, Message, Request, SampleId
from tests import warm
from tests.agents.gateway import timed_engine
from tests.agents.gateway.scripted_engine import Config, Engine
from tests.ready_runs import run_bare

HERE = Path(__file__).parent
SUITE = """\
name: agents
models: {{m: {{path: m}}}}
engine: {{kind: "tests.agents.gateway.scripted_engine:Engine", seconds: {seconds}, finish: {finish}}}
decoding: {{temperature: 0.5, max_tokens: 32, seed: 4}}
tasks:
  - {{name: walk, task: agent, k: {k}, options: {options}}}
"""


def write_suite(
    folder: Path,
    *,
    problems: int = 3,
    k: int = 2,
    seconds: float = 0.0,
    finish: str = "stop",
    settings: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    **more: Any,
) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [{"id": f"p/{n}", "instruction": f"Walk {n} steps.", "answer": f"p/{n}"} for n in range(problems)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {
        "source": "rows.jsonl",
        "command": [sys.executable, str(HERE / "agent.py")],
        "settings": settings or {},
        "limits": {"turns": 8, "wall_s": 60, "concurrent": 4, **(limits or {})},
        **more,
    }
    (folder / "suite.yaml").write_text(
        SUITE.format(k=k, seconds=seconds, finish=finish, options=json.dumps(options))
    )
    return folder


def run(folder: Path, name: str = "out") -> Path:
    report = run_bare(RunOptions(suite=str(folder / "suite.yaml"), run_dir=folder / name, quiet=True))
    return report.folders["m"]


def lines(place: Path, name: str) -> list[dict[str, Any]]:
    path = place / "walk" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def drawn(place: Path) -> dict[tuple[str, int, int], tuple[Any, ...]]:
    """(problem, sample, turn) -> seed, prompt and text of each completion. None is there twice."""
    found: dict[tuple[str, int, int], tuple[Any, ...]] = {}
    for line in lines(place, "completions"):
        if not line.get("final"):
            key = line["problem_id"], line["sample_index"], line["turn"]
            assert key not in found
            found[key] = line["seed"], line["prompt_digest"], line["text"]
    return found


def details(place: Path) -> list[dict[str, Any]]:
    return [line["detail"] for line in lines(place, "verdicts")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run of three problems, two samples each."""
    return run(write_suite(tmp_path_factory.mktemp("whole")))


@pytest.mark.slow
def test_a_sample_is_a_rollout_and_its_turns_are_drawn_under_the_seeds_of_the_run(whole: Path) -> None:
    found = drawn(whole)
    assert len(found) == 3 * 2 * 3
    for (problem, index, turn), (seed, digest, text) in found.items():
        assert seed == sample_seed(4, SampleId("walk", problem, index), turn)
        assert text == f"{problem} {index} {turn} {seed}"
        assert digest
    verdicts = lines(whole, "verdicts")
    assert [verdict["status"] for verdict in verdicts] == ["correct"] * 6
    for detail in details(whole):
        rollout = detail["rollout"]
        assert (rollout["turns"], rollout["requests"], rollout["tries"]) == (3, 3, 1)
        assert rollout["asked"] == {"seed": 3, "temperature": 3}
        assert rollout["new_tokens"] == 15
        assert rollout["first_prompt"]
    terms = json.loads((whole / "manifest.json").read_text())["terms"]["decoding"]["walk"]["agent"]
    assert terms["harness"] == "command"
    assert terms["limits"] == {"turns": 8, "tokens": None, "wall_s": 60.0}


@pytest.mark.slow
def test_epochs_are_draws_of_their_own_and_the_same_in_a_second_run(whole: Path, tmp_path: Path) -> None:
    assert drawn(run(write_suite(tmp_path / "again"))) == drawn(whole)
    texts = {key: text for key, (_, _, text) in drawn(whole).items()}
    assert all(texts[problem, 0, turn] != texts[problem, 1, turn] for problem, _, turn in texts)


def test_reports_say_what_a_rollout_took(whole: Path) -> None:
    text = report_text([whole], "md")
    assert "a rollout: 3.0 turns, 15 tokens" in text
    assert "touched history or network: 0 of 6 rollouts" in text


@pytest.mark.slow
def test_no_completion_crosses_rollouts_of_equal_problems(tmp_path: Path) -> None:
    """Two tasks with equal problems and prompts, 1,008 completions at the same time."""
    folder = write_suite(tmp_path / "many", problems=3, k=6, settings={"turns": 28}, limits={"turns": 28})
    suite = (folder / "suite.yaml").read_text()
    second = suite[suite.index("  - {name: walk") :].replace("name: walk", "name: stroll")
    (folder / "suite.yaml").write_text(suite + second)
    place = run(folder)
    for task in ("walk", "stroll"):
        completions = (place / task / "completions.jsonl").read_text().splitlines()
        told = [json.loads(line) for line in completions]
        own = [line for line in told if not line.get("final")]
        assert len(own) == 504
        for line in told:
            if line.get("final"):
                said = json.loads(line["text"])["detail"]["said"]
                names = [text.split()[:3] for text in said]
                wanted = [[line["problem_id"], str(line["sample_index"]), str(n)] for n in range(28)]
                assert names == wanted
        seeds = {line["seed"] for line in own}
        assert seeds == {
            sample_seed(4, SampleId(task, line["problem_id"], line["sample_index"]), line["turn"])
            for line in own
        }


@pytest.mark.slow
def test_replies_that_got_lost_are_drawn_once(whole: Path, tmp_path: Path) -> None:
    place = run(write_suite(tmp_path / "s", settings={"faults": 0.25}, seconds=0.02))
    assert drawn(place) == drawn(whole)
    assert sum(detail["rollout"]["replayed"] for detail in details(place)) > 0
    assert all(line["status"] == "correct" for line in lines(place, "verdicts"))


@pytest.mark.slow
def test_a_rollout_holds_a_place_only_while_it_asks(tmp_path: Path) -> None:
    """An engine with one place. While the tools of a rollout work, 20 other samples are drawn."""
    folder = write_suite(tmp_path / "s", problems=2, k=1, settings={"turns": 4, "pause_s": 1.0})
    suite = (folder / "suite.yaml").read_text()
    suite = suite.replace("scripted_engine:Engine", "timed_engine:Engine")
    suite = suite.replace("finish:", "concurrency: 1, finish:")
    data = "{path: sums.jsonl, fields: {id: id, question: question, reference: reference}}"
    own = f"  - {{name: sums, kind: exact, data: {data}, prompt: '{{question}}', k: 1}}\n"
    (folder / "suite.yaml").write_text(suite + own)
    sums = [{"id": str(n), "question": str(n), "reference": "x"} for n in range(20)]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sums))
    timed_engine.Engine.order.clear()
    run(folder)
    order = timed_engine.Engine.order
    assert sorted(order).count(("sums", 0)) == 20 and len(order) == 20 + 2 * 4
    assert order[0] == ("sums", 0), "a harness that has not asked yet holds no place"
    assert max(place for place, item in enumerate(order) if item[0] == "sums") < order.index(("walk", 3))
    assert timed_engine.Engine.most <= 1 + 2  # the place, and what both harnesses may ask meanwhile


class Faulty:
    """Makes a quarter of the replies an error 500, and half of those after the text was drawn."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.count, self.faults = app, 0, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.count += 1
        if self.count % 4:
            await self.app(scope, receive, send)
            return
        self.faults += 1
        if self.faults % 2:

            async def drop(message: Any) -> None:
                del message

            await self.app(scope, receive, drop)
        start = {"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"0")]}
        await send(start)
        await send({"type": "http.response.body", "body": b""})


@pytest.mark.slow
def test_errors_of_the_gateway_itself_change_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Faulty] = []
    plain = http.application

    def application(gateway: Any) -> Any:
        made.append(Faulty(plain(gateway)))
        return made[-1]

    monkeypatch.setattr(http, "application", application)
    place = run(write_suite(tmp_path / "s"))
    assert drawn(place) == drawn(whole)
    assert made[0].faults >= 5


@pytest.mark.slow
def test_a_reply_that_was_cut_off_is_the_harness_s_to_deal_with(tmp_path: Path) -> None:
    """Only what the harness made of its replies counts: a wrong rollout is wrong."""
    folder = write_suite(tmp_path / "s", problems=1, k=1, finish="length")
    rows = (folder / "rows.jsonl").read_text().replace('"answer": "p/0"', '"answer": "nothing of it"')
    (folder / "rows.jsonl").write_text(rows)
    assert [line["status"] for line in lines(run(folder), "verdicts")] == ["wrong"]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_as_an_undisturbed_one(whole: Path, tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "s", seconds=0.15, command=command(tmp_path))
    for kills in range(3):
        silent: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = warm.Popen(["run", "suite.yaml", "--run-dir", "out"], cwd=folder, text=True, **silent)
        place, before, end = folder / "out" / "m", len(lines_of(folder)), time.monotonic() + 60
        while len(lines_of(folder)) < before + 3 + kills:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        assert harnesses(tmp_path, looks=1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert harnesses(tmp_path) == []
    place = run(folder)
    assert drawn(place) == drawn(whole)
    results = [json.loads((found / "results.json").read_text())["tasks"]["walk"] for found in (place, whole)]
    for result in results:
        del result["seal"]["completions"]["digest"]  # the results of harnesses have times
        for sealed in result["seal"].values():
            del sealed["more"]  # it seals seconds
        for key in ("engine_s", "tools_s", "replayed"):
            del result["rollouts"][key]
    assert results[0] == results[1]
    assert any(detail["rollout"]["replayed"] for detail in details(place))


def lines_of(folder: Path) -> list[str]:
    path = folder / "out" / "m" / "walk" / "completions.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def command(folder: Path, program: str = "agent.py") -> list[str]:
    """Return a command whose processes `harnesses(folder)` finds: its last argument says nothing else."""
    return [sys.executable, str(HERE / program), f"of={folder}"]


def harnesses(folder: Path, looks: int = 20) -> list[str]:
    """The processes of `command(folder)` that are left. They end with the run, within a second."""
    for _ in range(looks):
        listed = subprocess.run(["ps", "-wweo", "args"], capture_output=True, text=True, check=True).stdout
        found = [line for line in listed.splitlines() if line.endswith(f" of={folder}")]
        if not found:
            break
        time.sleep(0.1)
    return found


@contextmanager
def listening() -> Iterator[tuple[int, list[Any]]]:
    """A server on this machine that notes who connects."""
    met: list[Any] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def accept() -> None:
            while True:
                try:
                    met.append(server.accept())
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], met


@pytest.mark.slow
def test_a_harness_reaches_nothing_but_the_gateway(tmp_path: Path) -> None:
    with listening() as (port, met):
        settings = {"do": "reach", "host": "127.0.0.1", "port": port}
        place = run(write_suite(tmp_path / "s", problems=1, k=1, settings=settings))
        assert "refused" in details(place)[0]["extra"]
        settings = {"do": "reach", "host": "api.openai.com", "port": 443}
        place = run(write_suite(tmp_path / "t", problems=1, k=1, settings=settings))
        assert details(place)[0]["extra"].startswith(("gaierror", "OSError"))
        assert met == []


@pytest.mark.slow
def test_a_harness_that_ignores_the_gateway_ends_the_run_with_that_sentence(tmp_path: Path) -> None:
    with listening() as (port, met):
        settings = {"do": "ignore", "host": "127.0.0.1", "port": port}
        folder = write_suite(tmp_path / "s", settings=settings, limits={"first_request_s": 20})
        began = time.monotonic()
        with pytest.raises(EngineError, match="no request reached the gateway within 20 s") as error:
            run(folder)
        assert time.monotonic() - began < 60
        assert "does not use GENBENCH_BASE_URL" in str(error.value)
        assert "Here the harness asked nothing; it ended with status 1: asked https" in str(error.value)
        assert met == []


@pytest.mark.slow
def test_a_harness_that_waits_for_somebody_else_is_ended_in_time(tmp_path: Path) -> None:
    settings = {"turns": 0, "do": "sleep"}
    folder = write_suite(
        tmp_path / "s", settings=settings, limits={"first_request_s": 1}, command=command(tmp_path)
    )
    with pytest.raises(EngineError, match="no request reached the gateway within 1 s"):
        run(folder)
    assert harnesses(tmp_path) == []


@pytest.mark.slow
def test_keys_open_one_rollout_and_files_outside_cannot_be_written(tmp_path: Path) -> None:
    place = run(write_suite(tmp_path / "s", problems=1, settings={"do": "peek"}))
    for detail in details(place):
        assert detail["extra"] == [403] * 4
        assert detail["rollout"]["turns"] == 3
    attempt = json.loads((place / "manifest.json").read_text())["attempts"][-1]
    assert attempt["engines"]["gateway"] == {"refused_keys": 8}
    outside = tmp_path / "outside"
    settings = {"do": "write", "place": str(outside)}
    place = run(write_suite(tmp_path / "t", problems=1, k=1, settings=settings))
    assert "Read-only file system" in details(place)[0]["extra"]
    assert not outside.exists()


@pytest.mark.slow
def test_a_harness_sees_no_variable_and_no_socket_of_this_machine_that_was_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("WANTED", "yes")
    folder = write_suite(tmp_path / "s", problems=1, k=1, settings={"do": "look"}, environment=["WANTED"])
    variables, sockets = details(run(folder))[0]["extra"]
    seen = set(variables)
    assert {"WANTED", "GENBENCH_BASE_URL", "GENBENCH_KEY", "HARBOR_TELEMETRY"} <= seen
    assert "HF_TOKEN" not in seen
    assert sockets == []  # such as Docker's


@pytest.mark.slow
def test_a_fault_of_the_harness_is_tried_again_and_never_a_zero(whole: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    settings = {"do": "fail", "marker": str(marker)}
    folder = write_suite(tmp_path / "s", problems=1, k=1, settings=settings)
    place = run(folder)  # the marker is outside, so that it can never be made: all three tries fail
    verdict = lines(place, "verdicts")[0]
    assert (verdict["status"], verdict["score"]) == ("unavailable", None)
    assert verdict["detail"]["rollout"]["tries"] == 3
    assert verdict["detail"]["rollout"]["turns"] == 2
    kept = {key: value for key, value in drawn(whole).items() if key[:2] == ("p/0", 0) and key[2] < 2}
    assert drawn(place) == kept

    place = run(write_suite(tmp_path / "t", problems=1, k=1, settings={"do": "crash"}))
    verdict = lines(place, "verdicts")[0]
    assert verdict["status"] == "unavailable"
    assert "the harness lost its way" in verdict["detail"]["why"]


@pytest.mark.slow
def test_the_clock_and_the_turns_are_limits_of_the_model(tmp_path: Path) -> None:
    folder = write_suite(
        tmp_path / "s", problems=1, k=1, settings={"do": "sleep"}, limits={"wall_s": 2.0}, seconds=0.4
    )
    place = run(folder)
    verdict = lines(place, "verdicts")[0]
    assert (verdict["status"], verdict["score"]) == ("truncated", 0.0)
    rollout = verdict["detail"]["rollout"]
    assert rollout["ended_by"] == "clock"
    record = json.loads((place / "results.json").read_text())["tasks"]["walk"]["rollouts"]
    assert record["ended_by"] == {"clock": 1}
    assert (record["count"], record["turns"], record["touched"]) == (1, 3.0, 0)
    assert rollout["engine_s"] >= 1.2
    assert rollout["tools_s"] >= 2.0

    place = run(write_suite(tmp_path / "t", problems=1, k=1, limits={"turns": 2}))
    verdict = lines(place, "verdicts")[0]
    assert verdict["detail"]["rollout"]["ended_by"] == "turns"
    assert verdict["detail"]["said"][2] == "refused: the rollout has used its 2 turns"
    assert verdict["status"] == "correct"  # the harness found its answer all the same


@pytest.mark.slow
def test_two_runs_are_compared_only_if_harness_limits_and_first_prompts_are_equal(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = run(write_suite(tmp_path / "s"))
    assert compare(whole, again).tasks["walk"].difference == 0.0

    more = run(write_suite(tmp_path / "t", limits={"turns": 9}))
    with pytest.raises(NotComparableError, match=r"terms\.decoding\.walk\.agent\.limits\.turns: 8 -> 9"):
        compare(whole, more)

    folder = write_suite(tmp_path / "w")
    rows = (folder / "rows.jsonl").read_text()
    (folder / "rows.jsonl").write_text(rows.replace('"answer": "p/1"', '"answer": ""'))
    with pytest.raises(NotComparableError, match=r"references\.walk: 1 of 3 problems differ"):
        compare(whole, run(folder))

    sides = []
    for name, test in (("x", "true"), ("y", "false")):  # equal rows, and another test in the task's folder
        folder = write_suite(tmp_path / name, k=1)
        (folder / "task").mkdir()
        (folder / "task" / "test.sh").write_text(test)
        rows = (folder / "rows.jsonl").read_text()
        (folder / "rows.jsonl").write_text(rows.replace('"id"', '"path": "task", "id"'))
        sides.append(run(folder))
    with pytest.raises(NotComparableError, match=r"references\.walk: 3 of 3 problems differ"):
        compare(*sides)

    monkeypatch.setenv("MACHINE", " On Linux 6.1.")  # as harnesses write the kernel into their prompts
    other = run(write_suite(tmp_path / "u", environment=["MACHINE"]))
    monkeypatch.setenv("MACHINE", " On Linux 6.8.")
    third = run(write_suite(tmp_path / "v", environment=["MACHINE"]))
    with pytest.raises(NotComparableError, match=r"prompts\.walk: 6 of 6 samples differ"):
        compare(other, third)
    # Readers see what the harness asked, and not only the instruction that it was given.
    assert (sample_rows(third, "walk", "p/0")[0].prompt or "").endswith("Walk 0 steps. On Linux 6.8.")


def test_a_busy_clock_and_a_peek_into_history_are_compared(whole: Path) -> None:
    base, tuned = open_side(whole), open_side(whole)
    task = tuned.tasks["walk"]
    assert (task.by_clock, task.touched) == (0, 0)
    late = replace(tuned, tasks={"walk": replace(task, by_clock=1)})
    with pytest.raises(NotComparableError, match=r"clock\.walk: the clock ended 0 of 6 rollouts -> 1 of 6"):
        compare_sides(base, late)

    worse = replace(base, tasks={"walk": replace(task, scores=((0.0, 0.0),) * 3)})
    peeked = replace(tuned, tasks={"walk": replace(task, touched=2)})
    said = "2 of 6 rollouts of tuned touched history or network, 0 of 6 of base"
    assert any(said in line for line in compare_sides(worse, peeked).warnings)
    assert not any(said in line for line in compare_sides(worse, tuned).warnings)


@pytest.mark.slow
def test_runs_on_another_image_are_not_compared(tmp_path: Path) -> None:
    places = []
    for name, digest in (("a", "1" * 64), ("b", "1" * 64), ("c", "2" * 64)):
        folder = write_suite(tmp_path / name, problems=2, k=1)
        rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
        rows[0]["image"] = f"registry.example/task@sha256:{digest}"
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        places.append(run(folder))
    compare(places[0], places[1])
    with pytest.raises(NotComparableError, match="problem p/0"):
        compare(places[0], places[2])


def test_the_harness_is_code_that_needs_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_suite(tmp_path / "s", k=1)
    own = (folder / "suite.yaml").read_text().splitlines()  # with an engine of genbench, which needs none
    own[1:3] = ['models: {m: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}}']
    (folder / "suite.yaml").write_text("\n".join(own))
    monkeypatch.setenv("GENBENCH_TRUST_CODE", "")
    with pytest.raises(NoConsentError, match="the harness command is code that runs with your rights"):
        run(folder)
    assert not (folder / "out" / "m" / "walk").exists()


@pytest.mark.slow
def test_a_stored_rollout_is_scored_again_without_its_harness(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.symlink_to(sys.executable)
    place = run(write_suite(tmp_path / "s", command=[str(program), str(HERE / "agent.py")]))
    before = details(place)
    program.unlink()
    scored = pipeline.score(place, again=True, quiet=True)
    assert scored.results["m"].tasks["walk"].value == 1.0
    assert sorted(map(str, details(place))) == sorted(map(str, before))
    with pytest.raises(ConfigError, match="there is no program"):
        run(tmp_path / "s", "new")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "s", problems=1, k=1)
    blocked = folder / "out" / "m" / "engine" / "rollouts"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where a folder is needed")
    with pytest.raises(RunFolderError, match="no rollout can work there") as error:
        run(folder)
    assert str(blocked) in str(error.value)


@pytest.mark.slow
def test_a_machine_without_namespaces_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    """In a user namespace in which no further one may be made."""
    folder = write_suite(tmp_path / "s", problems=1, k=1)
    command = f"{sys.executable} -m genbench run suite.yaml --run-dir out"
    inside = f"echo 0 > /proc/sys/user/max_user_namespaces && exec {command}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", inside],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[2])},
    )
    assert done.returncode == 2, done.stderr
    assert "agent tasks need user, mount, process and network namespaces" in done.stderr
    assert "Traceback" not in done.stderr
    assert lines(folder / "out" / "m", "completions") == []


def test_the_routes_of_the_gateway(tmp_path: Path) -> None:
    """By HTTP on its socket: streams, the model, errors, and the key of a rollout that is over."""
    peers = {"user": Peer(base_url="http://127.0.0.1:9/v1", model="other")}
    plan = HarnessPlan("command", ("true",), {}, Limits(), "1", peers=peers)
    sample = SampleId("walk", "p/0", 0)

    async def complete(request: Request) -> Completion:
        return await Engine(Config(kind="scripted")).generate(request, 1)

    def ask(turn: int, messages: tuple[Message, ...] | str, offer: Any, most: int | None) -> Request:
        assert not isinstance(messages, str)
        return Request(sample, turn, (), 7, 16, f"digest {len(messages)}", "", messages=messages)

    async def play() -> None:
        async with Gateway({"walk": plan}, tmp_path, model="m", version="w", context=99) as gateway:
            address = gateway.address(sample)
            rollout = Rollout(
                plan, ask, complete, lambda item: Answer(item.text, "absent", "", False), (), "m", "w"
            )
            gateway._open[address] = rollout
            key = {"Authorization": f"Bearer {gateway.key(address)}"}
            transport = httpx.AsyncHTTPTransport(uds=str(gateway.socket))
            async with httpx.AsyncClient(transport=transport, base_url=f"http://x{address}/v1/") as client:
                body: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
                whole = await client.post("chat/completions", json=body, headers=key)
                assert whole.json()["choices"][0]["message"]["content"] == "p/0 0 0 7"
                body |= {"stream": True, "stream_options": {"include_usage": True}}
                parts = (await client.post("chat/completions", json=body, headers=key)).text.split("\n\n")
                assert parts[-2:] == ["data: [DONE]", ""]
                first = json.loads(parts[0].removeprefix("data: "))
                assert first["choices"][0]["delta"]["content"] == "p/0 0 0 7"
                assert json.loads(parts[-3].removeprefix("data: "))["usage"]["total_tokens"] == 12
                models = (await client.get("models", headers=key)).json()["data"]
                assert [(item["id"], item["max_model_len"]) for item in models] == [("m", 99)]
                rollout.engine_s = 12.5
                clock = (await client.get("clock", headers=key)).json()
                assert clock == {"waited_s": 12.5, "wall_s": 1800.0}
                assert (await client.get("clock")).status_code == 403
                broken = await client.post("chat/completions", content=b"{", headers=key)
                assert (broken.status_code, broken.json()["error"]["message"]) == (
                    400,
                    "the body is not JSON",
                )
                other = await client.post("embeddings", json=body, headers=key)
                assert other.status_code == 404
                assert (
                    "/chat/completions, /completions, /responses, /messages, /models and /clock"
                    in other.json()["error"]["message"]
                )
                peer = f"http://x{address}/peers/user/v1/chat/completions"
                for place, status, said in (
                    (peer.replace("user", "usr"), 404, "options.peers has no 'usr'; did you mean 'user'"),
                    (
                        peer.replace("chat/", ""),
                        404,
                        "completions: other models are asked by /chat/completions",
                    ),
                    (peer, 502, "peers.user: http://127.0.0.1:9/v1 gives no reply"),
                ):
                    refused = await client.post(place, json=body, headers=key)
                    assert refused.status_code == status and said in refused.json()["error"]["message"]
                assert (await client.post(peer, json=body)).status_code == 403
                assert (await client.get("models")).status_code == 403
                del gateway._open[address]
                ended = await client.post("chat/completions", json=body, headers=key)
                assert ended.status_code == 403
                assert "the rollout is over" in ended.json()["error"]["message"]
            assert rollout.turns == 1

    asyncio.run(play())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"harness": "minisweagent"}, "harness is 'minisweagent'"),
        ({"command": []}, "harness command needs options.command"),
        ({"harness": "mini_swe"}, "harness mini_swe takes no options.command"),
        ({"harness": "harbor", "command": []}, "needs options.python"),
        ({"harness": "harbor", "command": [], "python": "nowhere"}, "nowhere is not a virtual environment"),
        ({"command": ["no-such-program"]}, "there is no program no-such-program"),
        ({"limits": {"turns": 0}}, "limits.turns"),
        ({"limits": {"turn": 3}}, "limits.turn"),
        ({"parser": "hermess"}, "parser is 'hermess'"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    folder = write_suite(tmp_path / "s")
    suite = json.dumps({"source": "rows.jsonl", "command": ["true"], **options})
    (folder / "suite.yaml").write_text(SUITE.format(k=1, seconds=0, finish="stop", options=suite))
    with pytest.raises(ConfigError, match=said.replace(".", r"\.")) as error:
        run(folder)
    assert "suite.yaml:6" in str(error.value)
