"""The verifiers of a run, and the verification of completions: while samples are drawn, or from disk."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from genbench.errors import ConfigError, RunFolderError
from genbench.judges.judged_tasks import is_judged
from genbench.judges.session import JudgeSession, forget_unscored
from genbench.runs.event_loop import StopSwitch
from genbench.store.contract import digest
from genbench.store.degenerate import unanswered
from genbench.store.folder import RunFolder
from genbench.store.manifest import AdaptiveRecord, drawn_ids
from genbench.store.sample_index import DrawnSamples
from genbench.store.stored_run import StoredTask
from genbench.suite.config import VerifyConfig
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.kinds import JUDGE
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask
from genbench.types import (
    OURS,
    Answer,
    Case,
    Completion,
    Finding,
    Message,
    Problem,
    SampleId,
    Status,
    Verdict,
)
from genbench.verifiers.pool.pool import Opened, VerifierPool
from genbench.verifiers.pool.process import RefusedReferencesError, VerifierSpec, refused_text

_WINDOW = 2048
"""Samples that may wait for a verifier in memory. Others wait in completions.jsonl."""
_TOGETHER, _TOGETHER_S = 16, 0.1
"""Samples that are handed over to the verifiers together, and the seconds that the first of them waits."""


class Verify(Protocol):
    """A function that verifies one case of a task. It never raises because of what a model wrote."""

    async def __call__(self, task: str, case: Case) -> Finding: ...


Split = Callable[[Completion], Answer]
OnVerdict = Callable[[Verdict], None]


class Scorer:
    """A scorer, which turns complete samples into lines of verdicts.jsonl.

    `offer` never blocks the engine. If verifiers fall behind by more than a window, samples are left to
    `catch_up`, which reads them from completions.jsonl.
    """

    def __init__(
        self,
        folder: RunFolder,
        tasks: Mapping[str, VerifiedTask],
        verify: Verify,
        split: Split,
        on_verdict: OnVerdict,
        *,
        stored: Mapping[str, StoredTask],
    ) -> None:
        self._folder, self._tasks, self._verify = folder, tasks, verify
        self._scores = defaultdict[str, list[VerifiedTask]](list)
        """The scores that are made from the samples of each task: its own, and its further ones."""
        for item in tasks.values():
            self._scores[item.task.draw].append(item)
        self._split, self._on_verdict, self._stored = split, on_verdict, stored
        self._offered: list[tuple[SampleId, Problem, Sequence[Completion], Sequence[Answer]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._slot = asyncio.Event()
        self._failure: BaseException | None = None

    def offer(self, sample: SampleId, completions: Sequence[Completion], answers: Sequence[Answer]) -> None:
        """Have one complete sample verified by each verifier of its task, unless too many wait already.

        Some wait for others, so that the verifiers get them together.

        Tasks that are not verified by this scorer, such as those of a judge that loads later, are left out.
        """
        for item in self._scores[sample.task]:
            problem = item.problems.get(sample.problem_id)
            if problem is not None and len(self._running) + len(self._offered) < _WINDOW:
                own = sample if item.task.name == sample.task else replace(sample, task=item.task.name)
                self._offered.append((own, problem, completions, answers))
        if len(self._offered) >= _TOGETHER:
            self._start_offered()
        elif self._offered and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_TOGETHER_S, self._start_offered)

    def _start_offered(self) -> None:
        self._forget_timer()
        offered, self._offered = self._offered, []
        for item in offered:
            self._start(*item)

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(
        self, sample: SampleId, problem: Problem, completions: Sequence[Completion], answers: Sequence[Answer]
    ) -> None:
        running = asyncio.create_task(self._score(sample, problem, completions, answers))
        self._running.add(running)
        running.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._slot.set()
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()

    async def _score(
        self, sample: SampleId, problem: Problem, completions: Sequence[Completion], answers: Sequence[Answer]
    ) -> None:
        verified = self._tasks[sample.task]
        answers = deciding(verified.task, answers)
        finding = unverified_finding(completions)
        if finding is None:
            case = case_of(verified.task, problem, sample.sample_index, answers)
            finding = await self._verify(sample.task, case)
        finding = with_refusal(finding, completions)
        verdict = verdict_of(sample, answers, finding, verified.verifier, without_answer(verified.task))
        self._folder.append_verdict(verdict)
        self._on_verdict(verdict)

    async def drain(self) -> None:
        """Wait for all samples that were offered.

        Raises:
            RunFolderError: a verdict could not be written.
        """
        self._start_offered()
        while self._running:
            await asyncio.wait(self._running)
        if self._failure is not None:
            raise self._failure

    async def catch_up(self) -> None:
        """Verify every complete sample on disk that has no verdict of the current verifier."""
        await self.drain()
        for verified in self._tasks.values():
            for problem, index, completions in unverified(self._stored[verified.task.name], verified):
                # asyncio.wait on the window would check each of its tasks at every step.
                while len(self._running) >= _WINDOW:
                    self._slot.clear()
                    await self._slot.wait()
                sample = SampleId(verified.task.name, problem.problem_id, index)
                self._start(sample, problem, completions, [self._split(item) for item in completions])
            await self.drain()
            self._stored[verified.task.name].forget_ids()

    async def cancel(self) -> None:
        """Cancel the current verifications. They are made when the run is continued."""
        self._forget_timer()
        self._offered.clear()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def readers_of(
    folder: RunFolder, tasks: Iterable[LoadedTask], adaptive: AdaptiveRecord | None = None
) -> dict[str, StoredTask]:
    """Return the readers of the tasks that a command works on.

    Args:
        adaptive: the looks of an adaptive run. Only their samples are read then.
    """
    return {task.name: _reader(folder, task, adaptive) for task in tasks}


def _reader(folder: RunFolder, task: LoadedTask, adaptive: AdaptiveRecord | None) -> StoredTask:
    ids = [problem.problem_id for problem in task.problems]
    groups = {problem.problem_id: {"group": problem.group} for problem in task.problems}
    counts = None if adaptive is None else adaptive.counts(task.name, groups)
    return StoredTask(
        folder,
        task.name,
        drawn_ids(ids, counts),
        task.k,
        task.decoding.max_tokens,
        counts=counts,
        is_rollout=task.is_rollout,
    )


def all_readers(folder: RunFolder, tasks: Iterable[LoadedTask]) -> dict[str, StoredTask]:
    """Return readers that also read the fresh samples with which an adaptive run confirms a drop."""
    return readers_of(folder, (replace(task, k=2 * task.k) for task in tasks))


def unverified(stored: StoredTask, verified: VerifiedTask) -> Iterator[tuple[Problem, int, list[Completion]]]:
    """Yield the complete samples without a verdict, in file order.

    The completions are not read if every sample has a verdict.
    """
    known = DrawnSamples()
    for verdict in stored.verdicts():
        known.add(verdict.sample.problem_id, verdict.sample.sample_index, 0)
    if known.count == verified.task.samples:
        return
    for problem, index, completions in conversations(stored.completions(), verified.problems):
        if not known.has(problem.problem_id, index, 0):
            yield problem, index, completions


def conversations(
    completions: Iterable[Completion], problems: Mapping[str, Problem]
) -> Iterator[tuple[Problem, int, list[Completion]]]:
    """Yield whole samples. Problems outside the limit and incomplete conversations are left out."""
    open_turns: defaultdict[SampleId, dict[int, Completion]] = defaultdict(dict)
    for completion in completions:
        problem = problems.get(completion.sample.problem_id)
        if problem is None:
            continue
        turns = open_turns[completion.sample]
        turns[completion.turn] = completion
        ended = completion.final or len(turns) == problem.turns
        if ended or completion.finish_reason == "error":
            del open_turns[completion.sample]
            yield problem, completion.sample.sample_index, [turns[turn] for turn in sorted(turns)]


def stale_verifiers(folder: RunFolder, verified: VerifiedTask) -> set[str]:
    """Return the digests of other verifiers among the task's verdicts."""
    return {verdict.verifier for verdict in folder.verdicts(verified.task.name)} - {verified.verifier}


def deciding(task: LoadedTask, answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return the answers that decide on a sample: the last one after a harness or scripts, or else all.

    In a rollout the harness deals with replies that were cut off. Only what it made of them counts. An answer
    that was cut off after one of the task's stops is whole, since no verifier reads beyond that.
    """
    found = answers[-1:] if task.is_rollout or task.last_decides else answers
    stops = task.answer_stops
    if not stops:
        return found
    return [
        replace(answer, truncated=False) if any(stop in answer.text for stop in stops) else answer
        for answer in found
    ]


def case_of(task: LoadedTask, problem: Problem, sample_index: int, answers: Sequence[Answer]) -> Case:
    """Return the verifier's case of a sample.

    Raises:
        RunFolderError: there are more turns on disk than the task asks.
    """
    if isinstance(task.task, GeneratedTask):  # no rule needs the question, which may have megabytes
        sample = SampleId(task.name, problem.problem_id, sample_index)
        return Case(sample, tuple(answers), task.reference(problem, sample_index))
    replies = [answer.text for answer in answers]
    ask = task.ask(problem, sample_index, replies[:-1])
    if ask is None:
        raise RunFolderError(f"task {task.name}, problem {problem.problem_id}: more turns on disk than asked")
    sample = SampleId(task.name, problem.problem_id, sample_index)
    reference = task.reference(problem, sample_index, replies)
    asked = _asked(task, problem, sample_index, replies) if task.verifier == JUDGE and replies[1:] else ()
    return Case(sample, tuple(answers), reference, _question(ask.messages), asked)


def _asked(task: LoadedTask, problem: Problem, sample_index: int, replies: Sequence[str]) -> tuple[str, ...]:
    """Return what was asked in each turn, with what was said before it."""
    asks = [task.ask(problem, sample_index, replies[:turn]) for turn in range(len(replies))]
    return tuple("" if ask is None else _question(ask.messages) for ask in asks)


def _question(messages: Sequence[Message]) -> str:
    """Return the question: the user's message, or the whole conversation up to the last answer."""
    said = [message for message in messages if message.role != "system"]
    if len(said) == 1:
        return said[0].content
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in said)


def unverified_finding(completions: Sequence[Completion]) -> Finding | None:
    """Return the finding on a sample that has nothing to verify, or None if a verifier decides.

    An engine could not draw it, or a server refused its last prompt and nothing was written.
    """
    last = completions[-1]
    if any(completion.finish_reason == "error" for completion in completions):
        return Finding(0.0, "engine_error", detail={"why": last.text})
    return Finding(0.0, "no_answer") if last.refused and not last.text else None


def with_refusal(finding: Finding, completions: Sequence[Completion]) -> Finding:
    """Return the finding with what a server said when it refused a prompt, if no answer counts."""
    found = next((item for item in completions if item.refused), None)
    if found is None or finding.score > 0 or finding.reason in OURS:
        return finding
    kind = "content_filter" if found.finish_reason == "content_filter" else "context"
    return replace(finding, detail={**finding.detail, "refused": kind, "why": found.refused})


WithoutAnswer = Literal["wrong", "excluded", "refused"]
"""What samples without an answer count as: wrong, left out, or left out if their prompts were refused."""


def without_answer(task: LoadedTask) -> WithoutAnswer:
    """Return what samples of a task without an answer count as."""
    own = task.task.info.unanswered
    return "refused" if own == "wrong" and task.leaves_out_refused else own


def verdict_of(
    sample: SampleId,
    answers: Sequence[Answer],
    finding: Finding,
    verifier: str,
    rule: WithoutAnswer = "wrong",
) -> Verdict:
    """Return the verdict of a sample. Its status is the first one that applies.

    Args:
        rule: what it counts as if it has no answer. One that is left out has no score.
    """
    last = answers[-1]
    gone = _gone(answers, finding, rule)
    status, score = _status(answers, finding) if gone is None else (gone, None)
    return Verdict(
        sample=sample,
        score=score,
        status=status,
        extracted=finding.extracted,
        detail=finding.detail,
        parts=finding.parts,
        verifier=verifier,
        trace_status=last.trace_status,
        truncated=any(answer.truncated for answer in answers),
    )


def graded_by(task: LoadedTask, verifier: str) -> str:
    """Return the digest that a task's verdicts carry, from that of its verifier.

    It is another one if refused prompts are left out, so that verdicts under both rules are never mixed.
    """
    return digest([verifier, "refused: excluded"])[:16] if task.leaves_out_refused else verifier


def _gone(answers: Sequence[Answer], finding: Finding, rule: WithoutAnswer) -> Status | None:
    """Return the status of a sample that counts neither way, or None if it counts."""
    if finding.reason in OURS or rule == "wrong":
        return None
    if "refused" in finding.detail:
        return "truncated"
    return unanswered(answers) if rule == "excluded" else None


def _status(answers: Sequence[Answer], finding: Finding) -> tuple[Status, float | None]:
    if finding.reason in OURS or finding.reason == "unrated":
        return finding.reason, None
    unclosed = any(answer.trace_status == "unclosed" for answer in answers)
    if unclosed and (len(answers) == 1 or finding.score == 0):
        return "unclosed_trace", 0.0
    if finding.score >= 1:
        return "correct", 1.0
    if finding.score > 0:
        return "partial", finding.score
    if any(answer.truncated for answer in answers):
        return "truncated", 0.0
    return finding.reason, 0.0


async def catch_up(scorer: Scorer, switch: StopSwitch) -> None:
    """Make the missing verdicts, until all are made or the run is stopped."""
    stop = switch.attach(asyncio.get_running_loop())
    work = asyncio.create_task(scorer.catch_up())
    waiter = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, waiter}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        work.cancel()
        waiter.cancel()
        await asyncio.gather(work, waiter, return_exceptions=True)


def verifier_pool(settings: VerifyConfig) -> VerifierPool:
    """Return the pool of verifier processes that a suite asks for."""
    return VerifierPool(settings.workers, settings.nice, settings.load_timeout_s)


def verifier_specs(tasks: Sequence[LoadedTask], judges: JudgeSession) -> dict[str, VerifierSpec]:
    """Return the verifiers that the pool runs.

    They are those of tasks without a judge, and those before a judge.
    """
    by_rule = [task for task in tasks if task.name not in judges]
    specs = {task.name: VerifierSpec(task.verifier, task.verifier_options, task.folder) for task in by_rule}
    return specs | judges.rules


async def load_verifiers(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], tasks: Sequence[LoadedTask], judges: JudgeSession
) -> dict[str, VerifiedTask]:
    """Load each verifier once, so that a missing one stops the run before the engine loads.

    Problems that a verifier cannot verify on this machine (a tagger may be missing) are left out and
    counted, and the run says so.
    """
    found: dict[str, VerifiedTask] = {}
    for task in tasks:
        if task.name not in specs:
            own = {problem.problem_id: problem for problem in task.problems}
            digest_, version = judges.verifier(task.name)
            found[task.name] = VerifiedTask(task, graded_by(task, digest_), version, own)
            continue
        opened = await _opened(pool, specs[task.name], task)
        kept = tuple(problem for problem in task.problems if problem.problem_id not in opened.unavailable)
        verifiable = replace(task, problems=kept, left_out=task.left_out | opened.unavailable.keys())
        problems = {problem.problem_id: problem for problem in kept}
        warning = "; ".join(_opened_words(task, opened)) or None
        digest_ = specs[task.name].digest(opened.version)
        version = opened.version
        if task.name in judges:
            digest_, judge = judges.verifier(task.name, digest_)
            version = f"{version}, {judge}" if judges.reads(task.name) else judge
        found[task.name] = VerifiedTask(verifiable, graded_by(task, digest_), version, problems, warning)
    return found


async def _opened(pool: VerifierPool, spec: VerifierSpec, task: LoadedTask) -> Opened:
    try:
        return await pool.open(spec, _References(task))
    except RefusedReferencesError as error:
        source = task.provenance.get("path")
        data = f"{source}: " if source else ""
        raise ConfigError(f"{task.where}: {data}{refused_text(error.reasons, task.rows)}") from error
    except ConfigError as error:
        raise type(error)(f"{task.where}: {error}") from error


def verify_with(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], judges: JudgeSession, folder: RunFolder
) -> Verify:
    """Return the function that a scorer calls.

    It is the pool's rule, or the task's judge with the rule before it.
    """

    async def rule(task: str, case: Case) -> Finding:
        return await pool.verify(specs[task], case)

    async def verify(task: str, case: Case) -> Finding:
        if task in judges:
            return await judges.verify(folder, task, case, rule)
        return await rule(task, case)

    return verify


_NAMED = 20
"""Problems that a warning names. The others are counted only."""


def _opened_words(task: LoadedTask, opened: Opened) -> Iterator[str]:
    if opened.unavailable:
        names, why = list(opened.unavailable), next(iter(opened.unavailable.values()))
        named = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
        yield (
            f"{task.name}: {len(names)} of {len(task.problems)} problems are left out: {why} "
            f"({'problem' if len(names) == 1 else 'problems'} {named})"
        )
    for note in opened.notes:
        yield f"{task.name}: {note}"


@dataclass(frozen=True, slots=True)
class _References:
    """The references of a task by problem. Each pass makes them again: those of programs are gigabytes."""

    task: LoadedTask

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for problem in self.task.problems:
            yield problem.problem_id, self.task.reference(problem, 0)


def renew_stale(
    folder: RunFolder,
    verified: Mapping[str, VerifiedTask],
    again: bool = False,
    edited: Collection[str] = (),
) -> None:
    """Start new verdict files for tasks with verdicts of another verifier, and drop unscored verdicts.

    The old files are kept until `publish`, so that a run that is killed in between does not lose them.

    Args:
        again: make all verdicts again.
        edited: the tasks whose lines were edited. All their verdicts are made again.
    """
    for name, item in verified.items():
        anew = again or name in edited
        if anew or stale_verifiers(folder, item):
            folder.renew_verdicts(name, None if anew else item.verifier)
        else:
            folder.forget_renewal(name)
        if is_judged(item.task):
            forget_unscored(folder, name)


def publish(folder: RunFolder, verified: Mapping[str, VerifiedTask]) -> None:
    """Replace old verdict files by the new ones. Call this only if no verdict is missing."""
    for name in verified:
        folder.publish_verdicts(name)
