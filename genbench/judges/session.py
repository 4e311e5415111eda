"""Judged tasks of a run: which judge has which task, its engine while it is needed, its judgments on disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from genbench.errors import ConfigError, GenbenchError, RequestFailedError
from genbench.judges.baseline import Baseline, read_baseline
from genbench.judges.build import build_engine
from genbench.judges.cache import Judgments, judgment_key
from genbench.judges.calibration import read_calibration
from genbench.judges.canary import canary, pin_path
from genbench.judges.file import JudgeSpec, judge_path, read_judge
from genbench.judges.forms import Judge, Unparsed, unopposed
from genbench.judges.local import LocalJudge
from genbench.judges.tasks import JudgedBy, check_references, is_judged, options_of
from genbench.protocols import JudgeEngine
from genbench.store.contract import digest
from genbench.store.folder import RunFolder
from genbench.suite.config import JudgeModel
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import OURS, Case, Finding, Question
from genbench.verifiers.process import VerifierSpec

Rule = Callable[[str, Case], Awaitable[Finding]]
"""(task, case) -> finding of the rule that stands before the judge."""


class JudgeSession:
    """The judges of a suite's tasks; one local engine at a time, started when the first question comes.

    Args:
        tasks: all tasks of the run; those without a judge are left alone.
        work: where a local judge's engine writes its log.

    Raises:
        ConfigError: an unknown judge, an unpinned one, a wrong reference, a missing key, no such baseline.
    """

    def __init__(self, suite: Suite, tasks: Sequence[LoadedTask], work: Path) -> None:
        self._suite = suite
        judged = {task.name: task for task in tasks if is_judged(task)}
        self._options = {name: options_of(suite, task) for name, task in judged.items()}
        self._judges = {name: self._read(name, options) for name, options in self._options.items()}
        for name, task in judged.items():
            check_references(task, self._judges[name], self._options[name])
        self._baselines = {
            name: read_baseline(resolve(options.baseline, suite.folder), judged[name])
            for name, options in self._options.items()
            if options.baseline is not None
        }
        self._engines: dict[str, JudgeEngine] = {}
        self._built = {
            name: build_engine(judge.spec, suite.config.judge, suite.folder, work / "engine" / "judge")
            for name, judge in self._judges.items()
        }
        self._failures: dict[str, GenbenchError] = {}
        self._canaries: dict[str, dict[str, Any]] = {}
        self._stored: dict[str, Mapping[str, Any]] = {}
        """What a folder's manifest says of its judges, by task: holds where nothing is asked anew."""
        self._judgments: dict[Path, Judgments] = {}
        self._lock = asyncio.Lock()
        self._asking: dict[str, asyncio.Lock] = {}
        """Samples with the same answer wait for one judgment instead of asking for it each."""

    def _read(self, name: str, options: JudgedBy) -> Judge:
        where = self._suite.where_task(name)
        used = options.judge or self._suite.config.judge.use
        if used is None:
            raise ConfigError(
                f"{where}: task '{name}' names no judge: set verifier: {{judge: NAME}} or judge.use"
            )
        try:
            judge = Judge(read_judge(judge_path(used, self._suite.folder), self._suite.config.judge))
            if judge.file.calibration is not None:  # asked with the first question: hours later, it may be
                read_calibration(judge.spec)
            return judge
        except ConfigError as error:
            raise ConfigError(f"{where}: task '{name}': {error}") from None

    def __contains__(self, task: str) -> bool:
        return task in self._judges

    @property
    def deferred(self) -> frozenset[str]:
        """Tasks whose judge loads on this machine: judged when the models under test are closed."""
        return frozenset(
            name for name, judge in self._judges.items() if isinstance(judge.spec.engine, JudgeModel)
        )

    @property
    def rules(self) -> dict[str, VerifierSpec]:
        """The rules that stand before judges, for the pool to load."""
        return {
            name: VerifierSpec(options.cascade[0], options.rule)
            for name, options in self._options.items()
            if len(options.cascade) == 2
        }

    def verifier(self, task: str, rule: str = "") -> tuple[str, str]:
        """(digest, version) that verdicts of the task carry; `rule` is the digest of its rule."""
        judge, baseline = self._judges[task], self._baselines.get(task)
        facts = [judge.digest, rule, *([baseline.digest] if baseline else [])]
        return digest(facts)[:16], f"judge {judge.file.name} {judge.digest}"

    @property
    def warnings(self) -> list[str]:
        return [
            f"{task}: judge '{judge.file.name}' is unpinned (revision {judge.spec.engine.revision!r}): "
            "its verdicts cannot be made again"
            for task, judge in self._judges.items()
            if judge.spec.unpinned
        ]

    def remember(self, manifest: Mapping[str, Any] | None) -> None:
        """Keeps what a folder's manifest says of these very judges, for runs that ask nothing anew."""
        self._stored = {
            name: stored
            for name, judge in self._judges.items()
            if (stored := ((manifest or {}).get("tasks", {}).get(name) or {}).get("judge"))
            and stored["digest"] == judge.digest
        }

    def record(self, task: str) -> dict[str, Any]:
        """Who judges, for the manifest."""
        judge, options = self._judges[task], self._options[task]
        baseline, stored = self._baselines.get(task), self._stored.get(task, {})
        asked = _engine_key(judge.spec) in self._engines or not stored
        return {
            "name": judge.file.name,
            "digest": judge.digest,
            "form": judge.file.form,
            "prompt_digest": judge.file.prompt_digest,
            "unpinned": judge.spec.unpinned,
            "cascade": list(options.cascade),
            "statuses": dict(judge.file.statuses),
            "baseline": baseline.record if baseline else None,
            "engine": dict(self._built[task].record) if asked else stored["engine"],
            "canary": self._canaries.get(judge.digest) or stored.get("canary"),
        }

    async def reach(self) -> None:
        """Asks the servers whether they serve, before an engine is loaded for nothing.

        Raises:
            EngineError: a server cannot be reached; ConfigError: it does not serve the model.
        """
        for task in self._judges.keys() - self.deferred:
            await self._engine(task)

    async def verify(self, folder: RunFolder, task: str, case: Case, rule: Rule) -> Finding:
        """The finding on one case; a judge that fails leaves it `unscored`, never a zero."""
        options = self._options[task]
        first: Finding | None = None
        if len(options.cascade) == 2:
            first = await rule(task, case)
            if first.score >= 1 or first.reason in OURS - {"unavailable"}:
                return _with_rule(first, first, "rule")
        found = await self._judged(folder, task, case)
        return found if first is None else _with_rule(found, first, "judge")

    async def _judged(self, folder: RunFolder, task: str, case: Case) -> Finding:
        if case.answer.trace_status == "unclosed" or not case.answer.text.strip():
            return Finding(0.0, "no_answer", detail={"why": "there is no answer to judge"})
        judge, replies = self._judges[task], list[str]()
        if task in self._baselines:
            case = _against(self._baselines[task], case)
            if not case.reference:
                return unopposed(case)
        try:
            for question in judge.questions(case):
                replies.append(await self._reply(folder, task, case, question))
            return judge.finding(case, replies)
        except (RequestFailedError, Unparsed) as error:
            return Finding(0.0, "unscored", detail={"why": str(error), "judge": judge.digest})

    async def _reply(self, folder: RunFolder, task: str, case: Case, question: Question) -> str:
        judge, kept = self._judges[task], self._kept(folder, task)
        key = judgment_key(judge.digest, case.sample.problem_id, question)
        async with self._asking.setdefault(f"{folder.path}/{task}/{key}", asyncio.Lock()):
            known = kept.get(key)
            if known is not None:
                return known
            engine = await self._engine(task)
            reply = await engine.reply(question)
            judge.values(reply, case.reference)
            kept.add(key, judge.digest, case.sample.problem_id, reply)
            return reply

    def _kept(self, folder: RunFolder, task: str) -> Judgments:
        path = folder.file(task, "judgments")
        if path not in self._judgments:
            self._judgments[path] = Judgments(path)
        return self._judgments[path]

    async def _engine(self, task: str) -> JudgeEngine:
        key = _engine_key(self._judges[task].spec)
        async with self._lock:
            if key in self._failures:  # every waiting sample comes by; one start that failed is enough
                raise self._failures[key]
            if key not in self._engines:
                if task in self.deferred:
                    await self._close_local()
                self._engines[key] = await self._started(key, self._built[task])
            await self._look_at_canary(task, self._engines[key])
        return self._engines[key]

    async def _started(self, key: str, engine: JudgeEngine) -> JudgeEngine:
        try:
            await engine.start()
        except GenbenchError as error:
            self._failures[key] = error
            raise
        return engine

    async def _look_at_canary(self, task: str, engine: JudgeEngine) -> None:
        """Once a judge and run: what it says of cases with known labels."""
        judge = self._judges[task]
        if judge.digest in self._canaries:
            return
        found = await canary(judge, engine, pin_path(judge.spec, self._suite.folder))
        self._canaries[judge.digest] = found or {}

    async def _close_local(self) -> None:
        """Two judges that both load here would not fit beside one another."""
        for key, engine in list(self._engines.items()):
            if isinstance(engine, LocalJudge):
                await self._engines.pop(key).close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for engine in (*self._engines.values(), *self._built.values()):
            await engine.close()
        for kept in self._judgments.values():
            kept.close()


def forget_unscored(folder: RunFolder, task: str) -> int:
    """Drops the task's unscored verdicts, so that they are tried again; returns how many there were."""
    verdicts = list(folder.verdicts(task))
    kept = [verdict for verdict in verdicts if verdict.status != "unscored"]
    if len(kept) < len(verdicts):
        folder.replace_verdicts(task, kept)
    return len(verdicts) - len(kept)


def _with_rule(found: Finding, first: Finding, decided_by: str) -> Finding:
    """Both accuracies are kept: what the rule alone says, and what the cascade says."""
    parts = {"rule": first.score, "cascade": found.score} if found.reason not in OURS else {}
    detail = {**found.detail, "decided_by": decided_by}
    return Finding(found.score, found.reason, found.extracted, detail, {**found.parts, **parts})


def _engine_key(spec: JudgeSpec) -> str:
    """Judges with one model and one decoding share its engine."""
    return json.dumps([spec.engine.model_dump(mode="json"), spec.file.decoding.model_dump(mode="json")])


def _against(baseline: Baseline, case: Case) -> Case:
    """The case with the stored run's answer in the place of the reference."""
    sample = case.sample
    return replace(case, reference=baseline.answer(sample.problem_id, sample.sample_index))
