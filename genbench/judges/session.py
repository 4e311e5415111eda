"""The judges of one run: their findings on its samples, with the replies stored on disk."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from genbench.judges.engines import JudgeEngines
from genbench.judges.forms.pairwise import against_all, unopposed
from genbench.judges.judged_tasks import JudgedTask, judged_tasks
from genbench.judges.opinions import NO_VERDICT, finding_of
from genbench.store.folder import RunFolder
from genbench.store.json_files import Appender, read_lines
from genbench.store.manifest import CanaryRecord, JudgeRecord
from genbench.suite.judge import CHARS_PER_TOKEN, JudgeCeiling
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import OURS, Answer, Case, Finding, Question, SampleId
from genbench.verifiers.pool.process import VerifierSpec


class CeilingReachedError(Exception):
    """The judges of the run have been asked as much as the suite allows."""


Rule = Callable[[str, Case], Awaitable[Finding]]
"""(task, case) -> finding of the rule before the judge."""


class ReplyCache:
    """An append-only file of replies, keyed by judge digest, problem and digest of the question.

    The question's text contains answer, reference and order, so its digest covers all of them.
    Replies of other judges stay in the file: going back to an earlier prompt asks nothing.
    """

    def __init__(self, path: Path) -> None:
        records = [record for _, record in read_lines(path) if "key" in record]
        self._replies = {str(record["key"]): str(record["reply"]) for record in records}
        self.calls = len(records)
        """Questions that were answered, by all judges of the task."""
        self.chars = sum(int(record.get("chars", len(str(record["reply"])))) for record in records)
        """Characters of those questions and their replies. Older files have those of the replies only."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._appender = Appender(path)

    def get(self, key: str) -> str | None:
        """Return the reply stored under `key`, or None."""
        return self._replies.get(key)

    def add(self, key: str, judge: str, problem_id: str, reply: str, chars: int) -> None:
        """Store one reply that could be read. A failed one is not stored, and so is asked again.

        Args:
            chars: characters of the question and its reply.
        """
        self._replies[key] = reply
        self.calls, self.chars = self.calls + 1, self.chars + chars
        self._appender.append(
            {"key": key, "judge": judge, "problem_id": problem_id, "reply": reply, "chars": chars}
        )

    def close(self) -> None:
        """Close the file."""
        self._appender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def judgment_key(judge: str, problem_id: str, question: Question) -> str:
    """Return the key of one question to one judge: 24 hex digits."""
    facts = [judge, problem_id, [message.content for message in question.messages], dict(question.structured)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


class JudgeSession:
    """The judges of a run's tasks, from its first question to its last. Use it in `async with`.

    Args:
        tasks: all tasks of the run. Those without a judge are ignored.
        work: folder in which a local judge's engine writes its log.

    Raises:
        ConfigError: an unknown judge, an unpinned one, a wrong reference, a missing key, no such baseline.
    """

    def __init__(self, suite: Suite, tasks: Sequence[LoadedTask], work: Path) -> None:
        self._tasks = judged_tasks(suite, tasks)
        self._loaded = [task for task in tasks if task.name in self._tasks]
        self._ceiling = suite.config.judge.ceiling
        self._room = asyncio.Condition()
        self._sent: list[int] = []
        """Characters of the longest reply to each question that is under way."""
        self._unstored: Counter[str] = Counter()
        """Calls and characters of questions that are under way, or whose replies had no verdict."""
        judges = [item.judge for item in self._tasks.values()]
        self._engines = JudgeEngines(suite, judges, work / "engine" / "judge")
        self._stored: dict[str, JudgeRecord] = {}
        """What a folder's manifest says of its judges, by task; used if nothing is asked again."""
        self._caches: dict[Path, ReplyCache] = {}
        self._asking: dict[str, asyncio.Lock] = {}
        """Samples with the same answer wait for one reply instead of asking for it each."""

    def __contains__(self, task: str) -> bool:
        return task in self._tasks

    @property
    def deferred(self) -> frozenset[str]:
        """Tasks whose judge loads on this machine. They are judged after the tested models are closed."""
        return frozenset(name for name, item in self._tasks.items() if item.is_local)

    @property
    def rules(self) -> dict[str, VerifierSpec]:
        """The rules before judges, for the verifier pool to load."""
        return {name: item.rule for name, item in self._tasks.items() if item.rule is not None}

    def verifier(self, task: str, rule: str = "") -> tuple[str, str]:
        """Return digest and version that verdicts of the task carry; `rule` is the digest of its rule."""
        return self._tasks[task].verifier(rule)

    @property
    def warnings(self) -> list[str]:
        """What every report of the run must say of its judges."""
        return [line for item in self._tasks.values() for line in item.warnings]

    async def answers(self, limit_s: float) -> list[str]:
        """Ask the judges' servers whether they are there. See `JudgeEngines.answers`."""
        return await self._engines.answers(limit_s)

    def estimate(self) -> list[str]:
        """Return how much the judges are asked at most, a line each; `!` begins a warning.

        Each answer counts with the characters that its judge reads of the first problem's question and of an
        answer of `_TYPICAL_CHARS`, and each reply with the judge's max_tokens.
        """
        lines: list[str] = []
        calls, tokens = 0, 0.0
        for task in self._loaded:
            item = self._tasks[task.name]
            asked = _questions_of(item, task)
            own = len(asked) * task.samples
            chars = sum(len(message.content) for question in asked for message in question.messages)
            mean = chars / CHARS_PER_TOKEN + sum(question.max_tokens for question in asked)
            calls, tokens = calls + own, tokens + mean * task.samples
            lines.append(
                f"{task.name}: judge {item.judge.file.name}, at most {own:,} calls and about "
                f"{mean * task.samples:,.0f} tokens for each model"
            )
        if (cost := self._ceiling.cost_of(tokens)) is not None:
            lines.append(f"at most {cost:,.2f} for each model, at {self._ceiling.price:g} a million tokens")
        if lines and (limit := self._ceiling.reached(calls, tokens)):
            lines.append(f"!more than {limit} allows: a run may stop there, and says what is ungraded")
        return lines

    def remember(self, judges: Mapping[str, JudgeRecord]) -> None:
        """Keep what a folder's manifest says of these judges, for runs that ask nothing again.

        Args:
            judges: their records by task.
        """
        self._stored = {
            name: stored
            for name, item in self._tasks.items()
            if (stored := judges.get(name)) and stored.digest == item.judge.digest
        }

    def record(self, task: str) -> JudgeRecord:
        """Return who judges a task, for the manifest."""
        item, stored = self._tasks[task], self._stored.get(task)
        judge, canary = item.judge, self._engines.canary(item.judge)
        asked = stored is None or self._engines.was_started(judge)
        kept = None if stored is None else stored.canary
        return JudgeRecord(
            name=judge.file.name,
            digest=judge.digest,
            form=judge.file.form,
            in_pairs=judge.form.in_pairs,
            prompt_digest=judge.file.prompt_digest,
            unpinned=judge.spec.unpinned,
            cascade=item.options.cascade,
            statuses=dict(judge.file.statuses),
            baseline=item.baseline.record if item.baseline else None,
            engine=self._engines.record(judge) if asked or stored is None else stored.engine,
            canary=CanaryRecord.model_validate(canary) if canary else kept,
            **({"reads": True} if item.is_reader else {}),
        )

    async def reach(self) -> None:
        """Ask every server whether it serves its model, before an engine is loaded for nothing.

        Raises:
            EngineError: a server cannot be reached. ConfigError: it does not serve the model.
        """
        for item in self._tasks.values():
            if not item.is_local:
                await self._engines.started(item.judge)

    def reads(self, task: str) -> bool:
        """Return whether the task's judge reads answers for its verifier, and grades none."""
        return self._tasks[task].is_reader

    async def verify(self, folder: RunFolder, task: str, case: Case, rule: Rule) -> Finding:
        """Return the finding on one case. A judge that fails leaves it `unscored`, never at zero.

        See `genbench.judges.opinions` for how its failure is told from an answer that has no verdict.

        Raises:
            EngineError: the judge's engine cannot be used. ConfigError: a mistake of the judge's form.
        """
        item = self._tasks[task]
        if item.is_reader:
            return await self._read(folder, item, case, rule)
        if item.rule is None:
            return await self._judged(folder, item, case)
        first = await rule(task, case)
        if first.score >= 1 or first.reason in OURS - {"unavailable"}:
            return _after_rule(first, first, "rule")
        return _after_rule(await self._judged(folder, item, case), first, "judge")

    async def _read(self, folder: RunFolder, item: JudgedTask, case: Case, rule: Rule) -> Finding:
        """Return the rule's finding: on the reply, or on the answer that the judge reads in it.

        The judge is asked if the reply has no answer in a form of the protocol. It never sees the reference.
        """
        first = await rule(item.name, case)
        if first.detail.get("read_by") != "nothing":
            return first
        asked = await self._judged(folder, item, replace(case, reference=None))
        if asked.reason in OURS:
            return asked
        told = {key: asked.detail[key] for key in _OF_READER if key in asked.detail}
        if not asked.extracted:
            return replace(first, detail={**first.detail, **told})
        # The label line is a form of the protocol, so the rule reads the judge's text and nothing else.
        answer = replace(case.answer, text=f"Answer: {asked.extracted}")
        found = await rule(item.name, replace(case, answers=(*case.answers[:-1], answer)))
        return replace(found, detail={**found.detail, **told, "read_by": "judge"})

    async def _judged(self, folder: RunFolder, item: JudgedTask, case: Case) -> Finding:
        if item.is_silent(case):
            return Finding(0.0, "no_answer", detail={"why": "there is no answer to judge"})
        if item.prompts is not None:
            case = replace(case, judge_prompt=item.prompts.by_problem[case.sample.problem_id])
        if item.baseline is None:
            return await self._compared(folder, item, case)
        own = replace(case, checklist=case.reference)
        opponents = item.baseline.opponents(case.sample.problem_id, case.sample.sample_index)
        found = {
            name: await self._compared(folder, item, replace(own, reference=answer))
            for name, answer in opponents.items()
        }
        if len(found) == 1:
            return next(iter(found.values()))
        lost = next((one for one in found.values() if one.reason in OURS), None)
        return lost or against_all(found)

    async def _compared(self, folder: RunFolder, item: JudgedTask, case: Case) -> Finding:
        """Return the finding on a case, of pairs: against the opponent whose answer is the reference."""
        if item.baseline is not None and not case.reference:
            return unopposed()

        async def ask(case: Case, number: int) -> Finding:
            questions = [_tried(question, number) for question in item.judge.questions(case)]
            async with self._engines.place(item.judge):
                replies = [await self._reply(folder, item, case, question) for question in questions]
            return item.judge.finding(case, replies)

        try:
            return await finding_of(ask, case)
        except (*NO_VERDICT, CeilingReachedError) as error:
            return Finding(0.0, "unscored", detail={"why": str(error), "judge": item.judge.digest})

    async def _reply(self, folder: RunFolder, item: JudgedTask, case: Case, question: Question) -> str:
        judge, cache = item.judge, self._cache(folder, item.name)
        key = judgment_key(judge.digest, case.sample.problem_id, question)
        async with self._asking.setdefault(f"{folder.path}/{item.name}/{key}", asyncio.Lock()):
            known = cache.get(key)
            if known is not None:
                return known
            asked = sum(len(message.content) for message in question.messages)
            async with self._room_for(folder, CHARS_PER_TOKEN * question.max_tokens):
                self._unstored.update({"calls": 1, "chars": asked})  # until the reply is stored
                engine = await self._engines.started(judge)
                reply = await engine.reply(question)
                judge.values(reply, case.reference)  # a reply without a verdict is not stored
                cache.add(key, judge.digest, case.sample.problem_id, reply, asked + len(reply))
                self._unstored.subtract({"calls": 1, "chars": asked})
            return reply

    @asynccontextmanager
    async def _room_for(self, folder: RunFolder, chars: int) -> AsyncIterator[None]:
        """Wait until a question cannot lead beyond what the suite allows the judges of a run.

        A question waits while the longest replies to those that were sent might use up what is left. With
        none of them, one more is sent, so at most one goes beyond.

        Args:
            chars: characters of the longest reply.

        Raises:
            CeilingReachedError: what was asked reaches a limit. Names the limit, and what to do.
        """
        if self._ceiling == JudgeCeiling():
            yield
            return
        async with self._room:
            while True:
                calls, spent = self._spent(folder)
                if limit := self._ceiling.reached(calls, spent / CHARS_PER_TOKEN):
                    raise CeilingReachedError(f"{limit} is reached; raise it and run again to grade the rest")
                longest = (spent + sum(self._sent)) / CHARS_PER_TOKEN
                if not self._sent or not self._ceiling.reached(calls, longest):
                    break
                await self._room.wait()
            self._sent.append(chars)
        try:
            yield
        finally:
            async with self._room:
                self._sent.remove(chars)
                self._room.notify_all()

    def _spent(self, folder: RunFolder) -> tuple[int, int]:
        """Return the calls and characters of a run: stored ones, and those under way or without a verdict."""
        caches = [self._cache(folder, task) for task in self._tasks]
        calls = self._unstored["calls"] + sum(cache.calls for cache in caches)
        return calls, self._unstored["chars"] + sum(cache.chars for cache in caches)

    def _cache(self, folder: RunFolder, task: str) -> ReplyCache:
        path = folder.file(task, "judgments")
        if path not in self._caches:
            self._caches[path] = ReplyCache(path)
        return self._caches[path]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._engines.close()
        for cache in self._caches.values():
            cache.close()


def forget_unscored(folder: RunFolder, task: str) -> int:
    """Drop the task's unscored verdicts, so that they are made again. Return how many there were."""
    # The file is read twice, because the verdicts of a large task with their replies take gigabytes.
    unscored = sum(verdict.status == "unscored" for verdict in folder.verdicts(task))
    if unscored:
        kept = (verdict for verdict in folder.verdicts(task) if verdict.status != "unscored")
        folder.replace_verdicts(task, kept)
    return unscored


_OF_READER = ("judge", "replies", "not_in_reply", "asked_again", "answer_cut_to_chars", "why")
"""What a verdict keeps of the judge that read its answer."""
_TYPICAL_CHARS = 4_000


def _questions_of(item: JudgedTask, task: LoadedTask) -> tuple[Question, ...]:
    """Return what the judge is asked about the first problem and an answer of ordinary length."""
    if not task.problems:
        return ()
    problem = task.problems[0]
    ask = task.ask(problem, 0, ())
    text = "a" * _TYPICAL_CHARS
    answers = tuple(Answer(text, "absent", "", False) for _ in range(problem.turns))
    question = "" if ask is None else "\n".join(message.content for message in ask.messages)
    reference: Any = None
    if not item.is_reader:
        reference = text if item.baseline is not None else task.reference(problem, 0)
    sample = SampleId(task.name, problem.problem_id, 0)
    asked = (question,) * problem.turns if problem.turns > 1 else ()
    times = len(item.baseline.each) if item.baseline is not None and item.baseline.each else 1
    own = "" if item.prompts is None else item.prompts.by_problem[problem.problem_id]
    return item.judge.questions(Case(sample, answers, reference, question, asked, judge_prompt=own)) * times


def _tried(question: Question, number: int) -> Question:
    """Return the question of a further try, which has another seed."""
    return replace(question, seed=question.seed + number)


def _after_rule(found: Finding, first: Finding, decided_by: str) -> Finding:
    """Add both scores to a finding: the rule's and that of rule and judge together."""
    parts = {"rule": first.score, "cascade": found.score} if found.reason not in OURS else {}
    detail = {**found.detail, "decided_by": decided_by}
    return Finding(found.score, found.reason, found.extracted, detail, {**found.parts, **parts})
