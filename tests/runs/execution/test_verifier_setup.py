"""The verifiers of a run: which rules are loaded, and how verdicts of another verifier are replaced."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.judges.session import JudgeSession
from genbench.runs.event_loop import StopSwitch
from genbench.runs.execution.scoring import (
    Scorer,
    catch_up,
    load_verifiers,
    publish,
    readers_of,
    renew_stale,
    stale_verifiers,
    unverified,
    verifier_specs,
    verify_with,
)
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredTask
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask
from genbench.types import Answer, Case, Completion, Finding, SampleId, Verdict
from genbench.verifiers.pool.pool import VerifierPool

SUITE = """\
models: {m: {path: any}}
tasks:
  - name: sums
    kind: KIND
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
    verifier: OPTIONS
"""


def loaded(place: Path, kind: str = "exact", verifier: str = "{}") -> tuple[Suite, list[LoadedTask]]:
    (place / "suite.yaml").write_text(SUITE.replace("KIND", kind).replace("OPTIONS", verifier))
    rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": str(i + 1)} for i in range(3)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = RunOptions(str(place / "suite.yaml"))
    suite, _ = open_suite(options)
    return suite, load_tasks(suite, options)


def completion(problem: str, index: int, text: str) -> Completion:
    return Completion(SampleId("sums", problem, index), 0, 1, "", text, "stop", 1, 1, 0, 9, 1, None)


def verdict(problem: str, index: int, verifier: str) -> Verdict:
    sample = SampleId("sums", problem, index)
    return Verdict(sample, 1.0, "correct", None, {}, {}, verifier, "absent", False)


def split(item: Completion) -> Answer:
    return Answer(item.text, "absent", "", False)


def reader(folder: RunFolder, item: VerifiedTask) -> StoredTask:
    return readers_of(folder, [item.task])[item.task.name]


def test_completions_on_disk_are_verified_once(tmp_path: Path) -> None:
    suite, tasks = loaded(tmp_path)
    seen: list[str] = []

    async def work(folder: RunFolder) -> VerifiedTask:
        judges = JudgeSession(suite, tasks, folder.path)
        specs = verifier_specs(tasks, judges)
        assert specs["sums"].name == "exact"
        async with VerifierPool(workers=1) as pool:
            verified = await load_verifiers(pool, specs, tasks, judges)
            verify = verify_with(pool, specs, judges, folder)
            for _ in range(2):
                stored = readers_of(folder, tasks)
                scorer = Scorer(
                    folder, verified, verify, split, lambda item: seen.append(item.status), stored=stored
                )
                await catch_up(scorer, StopSwitch())
                assert "_wanted" not in vars(stored["sums"])  # a million problems would take 43 MiB
        return verified["sums"]

    with RunFolder.writer(tmp_path / "run") as folder:
        for index, text in enumerate(("1", "7")):
            folder.append_completion(completion("q0", index, text))
        item = asyncio.run(work(folder))
        assert sorted(seen) == ["correct", "wrong"]
        assert list(unverified(reader(folder, item), item)) == [] and stale_verifiers(folder, item) == set()


def test_a_stopped_run_verifies_nothing_more(tmp_path: Path) -> None:
    suite, tasks = loaded(tmp_path)

    async def work(folder: RunFolder) -> None:
        judges = JudgeSession(suite, tasks, folder.path)
        specs, switch = verifier_specs(tasks, judges), StopSwitch()
        switch.stop("Ctrl-C")
        async with VerifierPool(workers=1) as pool:
            verified = await load_verifiers(pool, specs, tasks, judges)
            verify = verify_with(pool, specs, judges, folder)
            stored = readers_of(folder, tasks)
            scorer = Scorer(folder, verified, verify, split, print, stored=stored)
            await catch_up(scorer, switch)
            await scorer.cancel()

    with RunFolder.writer(tmp_path / "run") as folder:
        folder.append_completion(completion("q0", 0, "1"))
        asyncio.run(work(folder))
        assert list(folder.verdicts("sums")) == []


def test_offered_samples_are_handed_to_the_verifiers_together(tmp_path: Path) -> None:
    """Sixteen at once, fewer after a moment, and at once what is left when the engine is done."""
    _, (task,) = loaded(tmp_path)
    problems = {problem.problem_id: problem for problem in task.problems}
    verified = {"sums": VerifiedTask(task, "new", "2", problems)}
    asked: list[SampleId] = []
    seen: list[int] = []

    async def verify(task: str, case: Case) -> Finding:
        asked.append(case.sample)
        return Finding(1.0, "correct")

    async def work(folder: RunFolder) -> None:
        scorer = Scorer(folder, verified, verify, split, print, stored=readers_of(folder, [task]))

        async def offer(*indices: int) -> None:
            for index in indices:
                item = completion("q0", index, "1")
                scorer.offer(item.sample, [item], [split(item)])
            await asyncio.sleep(0)
            seen.append(len(asked))

        await offer(*range(15))
        await offer(15)
        await offer(16, 17)
        await asyncio.sleep(0.3)
        await offer(18)
        await scorer.drain()
        seen.append(len(asked))
        await offer(19)
        await scorer.cancel()
        await asyncio.sleep(0.3)
        seen.append(len(asked))

    with RunFolder.writer(tmp_path / "run") as folder:
        asyncio.run(work(folder))
        assert seen == [0, 16, 16, 18, 19, 19, 19]
        assert len(list(folder.verdicts("sums"))) == 19


def test_verdicts_of_another_verifier_stay_until_new_ones_are_published(tmp_path: Path) -> None:
    _, (task,) = loaded(tmp_path)
    problems = {problem.problem_id: problem for problem in task.problems}
    verified = {"sums": VerifiedTask(task, "new", "2", problems)}
    with RunFolder.writer(tmp_path / "run") as folder:
        folder.append_verdict(verdict("q0", 0, "old"))
        folder.append_verdict(verdict("q1", 0, "new"))
        folder.sync()
        assert stale_verifiers(folder, verified["sums"]) == {"old"}
        renew_stale(folder, verified)
        assert {item.verifier for item in RunFolder(folder.path).verdicts("sums")} == {"old", "new"}
        folder.append_verdict(verdict("q0", 0, "new"))
        folder.sync()
        publish(folder, verified)
        assert [item.verifier for item in RunFolder(folder.path).verdicts("sums")] == ["new"]


def test_again_makes_every_verdict_anew(tmp_path: Path) -> None:
    _, (task,) = loaded(tmp_path)
    verified = {"sums": VerifiedTask(task, "same", "1", {item.problem_id: item for item in task.problems})}
    with RunFolder.writer(tmp_path / "run") as folder:
        folder.append_verdict(verdict("q0", 0, "same"))
        folder.append_completion(completion("q0", 0, "1"))
        folder.sync()
        renew_stale(folder, verified, again=True)
        item = verified["sums"]
        assert len(list(unverified(reader(folder, item), item))) == 1


def test_a_wrong_option_of_a_verifier_stops_before_any_engine(tmp_path: Path) -> None:
    suite, tasks = loaded(tmp_path, verifier="{ignore_caes: true}")

    async def work() -> None:
        judges = JudgeSession(suite, tasks, tmp_path)
        async with VerifierPool(workers=1) as pool:
            await load_verifiers(pool, verifier_specs(tasks, judges), tasks, judges)

    with pytest.raises(ConfigError, match="ignore_caes"):
        asyncio.run(work())


def test_more_turns_on_disk_than_the_task_asks_are_no_case(tmp_path: Path) -> None:
    from genbench.errors import RunFolderError
    from genbench.runs.execution.scoring import case_of

    _, (task,) = loaded(tmp_path)
    answers = [Answer("1", "absent", "", False)]
    case = case_of(task, task.problems[0], 0, answers)
    assert case.reference == "1" and case.question == "0+1"
    with pytest.raises(RunFolderError, match="more turns on disk than asked"):
        case_of(replace(task), task.problems[0], 0, answers * 2)
