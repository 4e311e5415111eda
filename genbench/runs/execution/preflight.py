"""Pre-flight checks of a run, which take seconds and start no engine.

They cover the identity of each model, prompts that do not fit its context, engines, verifiers, disk space,
and cost.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from genbench.engines.checkpoint import kv_bytes_per_token
from genbench.engines.plugin_guard import engine_kind
from genbench.errors import ConfigError, GenbenchError
from genbench.judges.session import JudgeSession
from genbench.models.prepare import PreparedModel, prepare_model, sized_tasks
from genbench.runs.checkpoint_sweep import expand
from genbench.runs.execution.prompt_records import too_long_words
from genbench.runs.execution.scoring import load_verifiers, verifier_specs
from genbench.runs.execution.simulated_users import SimulatedUsers
from genbench.runs.execution.speed import speed_here
from genbench.runs.inputs import data_dir, open_suite
from genbench.runs.options import RunOptions, check_options
from genbench.store.folder import RunFolder
from genbench.suite.block import is_headline
from genbench.suite.config import TaskEntry
from genbench.suite.suitefile import Suite, located
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task, of_draw, selected_entries, tasks_at_effort
from genbench.types import OURS, Answer, Case, Finding, SampleId
from genbench.verifiers.pool.pool import VerifierPool

_LONG = 4_096
"""Tokens of a prompt from which its reading takes more time than its answer."""
_PREFILL = 20_000
"""Prompt tokens per second of a small model on one GPU. It is assumed, not measured on this machine."""


def model_lines(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], found: dict[str, PreparedModel] | None = None
) -> list[str]:
    """Return what there is to say about a model. Warnings begin with an exclamation mark.

    Args:
        found: gets the model by its name.

    Raises:
        ConfigError: the model cannot be used.
        PromptError: a prompt does not fit its context.
    """
    given, tasks = tasks, tasks_at_effort(suite, name, tasks)
    if given and not tasks:
        return ["!no task is drawn at this effort"]
    model = prepare_model(suite, name, tasks)
    if found is not None:
        found[name] = model
    ends = f", replies end at {model.special.words}" if model.special.ends else ""
    lines = [f"{model.identity}, trace format {model.reasoning.format.name}{ends}"]
    tasks = sized_tasks(tasks, model.measure)
    context = model.settings.max_model_len
    if context is not None:
        lines += _budget(model, tasks, context)
    lines += _control_tokens(model, tasks)
    return lines + [f"!{warning}" for warning in model.warnings]


def _budget(model: PreparedModel, tasks: Sequence[LoadedTask], context: int) -> list[str]:
    """Compare the longest prompt with the context. Raise PromptError if a prompt does not fit."""
    longest = clamped = total = 0
    too_long: list[str] = []
    for task in tasks:
        first: list[dict[str, Any]] = []
        for problem in task.problems:
            request = model.maker.request(task, problem, 0, ())
            if request is not None:
                first.append({"problem_id": problem.problem_id, "max_tokens": request.max_tokens})
                longest = max(longest, len(request.token_ids))
                clamped += request.clamped
                total += task.k * len(request.token_ids)
        too_long += [f"!{line}"] if (line := too_long_words(task, first)) else []
    if not longest:
        where = "the server makes the prompts' tokens, so none can be measured"
        return [f"context {context:,}; {where}", *too_long]
    tail = f"; max_tokens is lowered to the context for {clamped} problems" if clamped else ""
    line = ("!" if clamped else "") + f"context {context:,}, longest prompt {longest:,} tokens{tail}"
    lines = [line, *too_long]
    return lines if longest < _LONG else [*lines, _long_words(model, longest, total)]


_NAMED = 10
"""Problems and control tokens that a line names. The others are counted only."""


def _control_tokens(model: PreparedModel, tasks: Sequence[LoadedTask]) -> Iterator[str]:
    """Yield which rows have control tokens in what is asked of them, and how they are read."""
    data = model.data_texts
    for task in tasks:
        tokens: dict[str, Counter[str]] = {}
        problems: dict[str, list[str]] = {}
        for problem in task.problems:
            ask = task.ask(problem, 0, ())
            found = None if ask is None else data.counts(task, problem, ask)
            if ask is not None and found:
                reading = data.reading(task, problem, ask)
                tokens.setdefault(reading, Counter()).update(found)
                problems.setdefault(reading, []).append(problem.problem_id)
        for reading, names in problems.items():
            shown = ", ".join(f"{token!r} ({count})" for token, count in tokens[reading].most_common(_NAMED))
            rows = f"{len(names)} of {len(task.problems)} problems have control tokens in their data"
            few = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
            yield f"!task {task.name}: {rows}: {shown}; {reading}: {few}"
    if data.has_failed:
        yield "!the tokenizer cannot encode all control tokens of the data as text: those stay control tokens"


def _long_words(model: PreparedModel, longest: int, total: int) -> str:
    """Return the time of reading all prompts, and the memory of the longest one."""
    hours = total / _PREFILL / 3600
    words = f"prompts {total / 1e6:,.1f} million tokens, about {hours:,.1f} h at {_PREFILL:,} tokens/s"
    each = kv_bytes_per_token(getattr(model.settings, "own_config", {}))
    if each is None:
        return words
    return f"{words}; the KV cache of the longest prompt takes {each * longest / 2**30:,.2f} GiB at the most"


def check_engine(suite: Suite) -> str:
    """Check that the suite's engine can run here. Return a description of what was found.

    Raises:
        ConfigError: a key under `engine:` is wrong.
        UnavailableError: something must be installed.
    """
    with located(suite):
        return engine_kind(suite.config.engine, suite.folder).check()


def check_users(suite: Suite, tasks: Sequence[LoadedTask]) -> list[str]:
    """Check the models that play simulated users. Return a line for each task that has one.

    Raises:
        ConfigError: a task does not say who plays its user, or the model is not the pinned one.
        DataError: the model cannot be downloaded.
    """
    users = SimulatedUsers(tasks, suite.folder, Path())
    return [f"user of {task}: {_who(record)}" for task, record in users.records.items()]


def _who(record: Mapping[str, Any]) -> str:
    """Return the identity of a local model, or the name and address of a served one."""
    return str(record.get("identity") or f"{record['model']} at {record['base_url']}")


DEFAULT_SPEED = 5_000.0
"""Completion tokens per second of a small model on one GPU, if nothing is known of this machine."""
DEFAULT_MEAN_TOKENS = 4_000
"""Completion tokens of one sample of a small reasoning model. A longer limit does not make answers longer."""


@dataclass(frozen=True, slots=True)
class CostAssumptions:
    """What an estimate of a run's time rests on.

    `speed` is completion tokens per second over all requests. `mean_tokens` is the completion tokens of one
    sample, at most the task's `max_tokens`.
    """

    speed: float = DEFAULT_SPEED
    mean_tokens: int = DEFAULT_MEAN_TOKENS
    source: str = "assumed for one GPU"
    """What the speed comes from."""
    is_given: bool = False
    """Whether the command gives the speed."""

    def here(self, models: Iterable[PreparedModel], runs: Path) -> CostAssumptions:
        """Return the assumptions with what is known of the models on this machine.

        Models are drawn one after the other, so the speed is the harmonic mean. One unknown speed leaves all.
        """
        known = [speed_here(model, runs) for model in models]
        speeds = [item for item in known if item is not None]
        if not speeds or len(speeds) < len(known):
            return self
        lengths = [item.mean_tokens for item in speeds if item.mean_tokens is not None]
        mean = self.mean_tokens
        if mean == DEFAULT_MEAN_TOKENS and len(lengths) == len(speeds):
            mean = max(1, round(sum(lengths) / len(lengths)))
        if self.is_given:
            return replace(self, mean_tokens=mean)
        speed = len(speeds) / sum(1 / item.tokens_per_s for item in speeds)
        return CostAssumptions(speed, mean, speeds[0].source)

    @classmethod
    def given(cls, speed: float | None, mean_tokens: int | None) -> CostAssumptions:
        """Return the assumptions of a command. None is the default."""
        length = mean_tokens or DEFAULT_MEAN_TOKENS
        if speed is None:
            return cls(mean_tokens=length)
        return cls(speed, length, source="given", is_given=True)


def expected_tokens(tasks: Sequence[LoadedTask], mean_tokens: int) -> int:
    """Return the completion tokens of all samples, of one model."""
    return sum(
        task.k
        * sum(problem.likely_turns or problem.turns for problem in task.problems)
        * _mean(task, mean_tokens)
        for task in tasks
    )


def _mean(task: LoadedTask, mean_tokens: int) -> int:
    """Return the completion tokens of one reply."""
    return min(mean_tokens, task.decoding.max_tokens)


def cost_words(
    tasks: Sequence[LoadedTask], models: int, assumed: CostAssumptions, *, of: int | None = None
) -> str:
    """Return the estimate in words: samples, tokens, hours, and the tokens at the most.

    Args:
        models: the number of models that the suite runs, one after the other.
        of: the number of tasks that are run, if the rows of some could not be read.
    """
    samples = models * sum(task.samples for task in tasks)
    tokens = models * expected_tokens(tasks, assumed.mean_tokens)
    most = models * sum(task.samples * task.decoding.max_tokens * _turns(task) for task in tasks)
    part = f"of the {len(tasks)} of {of} tasks whose rows are there: " if of and of > len(tasks) else ""
    if all(task.is_scored for task in tasks):
        return f"{part}{samples:,} samples; their texts are scored, and no tokens are drawn"
    likely, longest = (
        f"{_amount(count)} tokens and {_time(count / assumed.speed)}" for count in (tokens, most)
    )
    limited = any(task.decoding.max_tokens < assumed.mean_tokens for task in tasks if not task.is_scored)
    at_most = " (or max_tokens, if that is less)" if limited else ""
    rests_on = f"{assumed.mean_tokens:,} tokens a reply{at_most} and {assumed.speed:,.0f} tokens/s"
    rests_on += "" if assumed.is_given else f", {assumed.source}"
    return (
        f"{part}{samples:,} samples; about {likely} at {rests_on} (--mean-tokens, --speed); "
        f"{longest} at the most"
    )


def _turns(task: LoadedTask) -> int:
    return max((problem.turns for problem in task.problems), default=1)


def _amount(tokens: int) -> str:
    return f"{tokens / 1e6:,.1f} million" if tokens >= 1e6 else f"{tokens / 1e3:,.0f} thousand"


def _time(seconds: float) -> str:
    """Return a time in hours, or in minutes if it is less than one hour."""
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.0f} min"


_MIRROR_IT, _OF_TASK = " To mirror it", "genbench mirror TASK "
"""Words of the message about rows that cannot be had. See `how_to_mirror`."""
_BYTES_PER_TOKEN = 5
"""Bytes of completions.jsonl per completion token: about 4 characters of English, and JSON."""


_ANSWER_S = 10.0
"""Seconds that a judge's server has to say which models it serves."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a pre-flight check."""

    state: Literal["ok", "warning", "error"]
    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.state:7}  {self.what}: {self.detail}"


def check_suite(
    options: RunOptions, cost: CostAssumptions | None = None, gpu_gib: float | None = None
) -> list[Check]:
    """Check everything that a run of the suite needs, except the start of its engine. Report all errors.

    Args:
        cost: the speed and the length of answers from which the time of the run is estimated.
        gpu_gib: GiB of each GPU of the machine that will draw. None: this machine.
    """
    options, left_out = expand(options)
    check_options(options)
    suite, chosen = open_suite(options)
    checks = [
        Check(
            "ok", "suite", f"{suite.path}: {_count(chosen, 'model')}, {_count(suite.config.tasks, 'task')}"
        ),
        *(Check("warning", "checkpoint", line) for line in left_out),
    ]
    tasks: list[LoadedTask] = []
    entries = selected_entries(suite, options.tasks, options.with_test)
    found: list[Check] = []
    for entry in entries:
        found += _attempt(f"task {entry.label}", partial(_check_task, suite, entry, options, tasks))
    checks += _with_one_mirror(found, str(options.suite or " ".join(options.tasks)))
    checks += _attempt("verifiers", lambda: asyncio.run(_check_verifiers(suite, tasks)))
    checks += _attempt("engine", lambda: [check_engine(suite)])
    checks += _attempt("judges", lambda: asyncio.run(_try_judges(suite, tasks)))
    checks += _attempt("judge calls", lambda: JudgeSession(suite, tasks, Path()).estimate())
    checks += _attempt("simulated users", lambda: check_users(suite, tasks))
    drawn = [task for task in tasks if task.is_drawn]
    checks = _told_once(checks)
    models: dict[str, PreparedModel] = {}
    for name in chosen:
        checks += _attempt(f"model {name}", partial(model_lines, suite, name, drawn, models))
    for words in dict.fromkeys(model.settings.sharing for model in models.values()):
        checks += [Check("ok", "adapters", words)] if words else []
    asked, times = drawn, len(chosen)
    if any(
        suite.config.models[name].effort for name in chosen
    ):  # each effort has limits and tasks of its own
        asked, times = [task for name in chosen for task in tasks_at_effort(suite, name, drawn)], 1
    if asked:
        assumed = (cost or CostAssumptions()).here(models.values(), Path(options.run_dir or "runs"))
        words = cost_words(asked, times, assumed, of=sum(is_headline(entry.label) for entry in entries))
        checks.append(Check("ok", "cost", words))
        for name, model in models.items():
            own = sized_tasks(tasks_at_effort(suite, name, drawn), model.measure)
            lines = partial(_cache_lines, options, model, name, own, assumed.mean_tokens, gpu_gib)
            checks += _attempt(f"KV cache of {name}", lines)
    checks.append(_check_disk(asked, times, Path(options.run_dir or "runs")))
    return checks


def _cache_lines(  # noqa: PLR0917  all of them decide on the line
    options: RunOptions,
    model: PreparedModel,
    name: str,
    tasks: Sequence[LoadedTask],
    mean_tokens: int,
    gpu_gib: float | None,
) -> list[str]:
    """Return how many of the sequences of a run the KV cache holds, or nothing if nothing is drawn."""
    samples = total = most = 0
    for task in (task for task in tasks if not task.is_scored):
        for problem in task.problems:
            request = model.maker.request(task, problem, 0, ())
            if request is not None and request.token_ids:
                samples += task.k
                total += task.k * (len(request.token_ids) + min(mean_tokens, request.max_tokens))
                most = max(most, len(request.token_ids) + request.max_tokens)
    if not samples:
        return []
    asked = str(options.suite or "suite.yaml")
    words = model.settings.cache_words(-(-total // samples), most, asked, name, gpu_gib)
    return [words] if words else []


def _told_once(checks: Sequence[Check]) -> list[Check]:
    """Return the checks with each error once: a judge file that is wrong is read by several of them."""
    kept: dict[tuple[str, str], Check] = {}
    for number, item in enumerate(checks):
        kept.setdefault(("error", item.detail) if item.state == "error" else ("", str(number)), item)
    return list(kept.values())


def _count(things: Sized, name: str) -> str:
    """Return `1 model` or `15 tasks`."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _attempt(what: str, work: Callable[[], list[str]]) -> list[Check]:
    try:
        return [
            Check(
                "warning" if text.startswith("!") else "ok",
                what,
                text.removeprefix("!").removeprefix(f"{what}: "),
            )
            for text in work()
        ]
    except GenbenchError as error:
        return [Check("error", what, str(error).removeprefix(f"{what}: "))]


def _with_one_mirror(checks: Sequence[Check], suite: str) -> list[Check]:
    """Return the checks of the tasks, which say how to mirror the suite once instead of once a task."""
    named = [
        replace(item, detail=item.detail.replace(_OF_TASK, f"genbench mirror {suite} ")) for item in checks
    ]
    lacking = [item for item in named if item.state == "error" and _MIRROR_IT in item.detail]
    if len(lacking) < 2:
        return named
    short = [
        replace(item, detail=item.detail.partition(_MIRROR_IT)[0]) if item in lacking else item
        for item in named
    ]
    advice = (
        f"the rows of {len(lacking)} tasks are lacking. To mirror them, run on a machine with network: "
        f"genbench mirror {suite} --to DIR, copy DIR, and give --data-dir DIR. Datasets that are gated need "
        "`hf auth login` first"
    )
    return [*short, Check("error", "data", advice)]


def _check_task(suite: Suite, entry: TaskEntry, options: RunOptions, tasks: list[LoadedTask]) -> list[str]:
    task = of_draw(load_task(suite, entry, data_dir(options), options.limit), tasks)
    tasks.append(task)
    if not task.is_drawn:
        return [f"{len(task.problems)} problems, scored from the samples of {task.draw}"]
    digest = str(task.provenance.get("digest"))[:12]
    lines = [f"{len(task.problems)} problems x k {task.k} = {task.samples:,} samples, data digest {digest}"]
    if own := _own_schemas(task):
        lines.append(f"!{own} of {len(task.problems)} rows have a schema, which replaces verifier.schema")
    return lines + ([f"!{task.provenance['warning']}"] if task.provenance.get("warning") else [])


def _own_schemas(task: LoadedTask) -> int:
    """Return how many rows replace the schema that the suite gives for all."""
    if task.verifier != "json_schema" or task.verifier_options.get("schema") is None:
        return 0
    references = (task.reference(problem, 0) for problem in task.problems)
    return sum(isinstance(item, Mapping) and item.get("schema") is not None for item in references)


async def _check_verifiers(suite: Suite, tasks: Sequence[LoadedTask]) -> list[str]:
    judges = JudgeSession(suite, tasks, Path())
    tried: list[str] = []
    async with VerifierPool(workers=1, load_timeout_s=suite.config.verify.load_timeout_s) as pool:
        specs = verifier_specs(tasks, judges)
        verified = await load_verifiers(pool, specs, tasks, judges)
        for task in tasks:
            if task.name in specs and ":" in specs[task.name].name and task.problems:
                tried += await _try_verifier(task, partial(pool.verify, specs[task.name]))
    lines = [f"{name}: {item.version}" for name, item in verified.items()]
    warnings = [item.warning for item in verified.values() if item.warning]
    return lines + tried + [f"!{warning}" for warning in (*warnings, *judges.warnings)]


_WRONG = "I do not know."
_TRIED = (_WRONG, "", "1")
"""Answers on which a verifier or judge of the suite's own is tried, after the reference itself."""
_TRY_S = 60.0
"""Seconds that a judge has for the trial."""


async def _try_verifier(task: LoadedTask, verify: Callable[[Case], Awaitable[Finding]]) -> list[str]:
    """Let a verifier of the suite's own judge answers to the first problem. Return what it found.

    Raises:
        ConfigError: it gives no finding on any of them.
    """
    problem, found = task.problems[0], dict[str, Finding]()
    for text, case in _tried_cases(task, _TRIED):
        finding = await verify(case)
        if finding.reason not in OURS:
            found[text] = finding
    if not found:
        raise ConfigError(f"{task.where}: tried on problem {problem.problem_id}: {finding.detail['why']}")
    return [_tried_words(task, found)]


def _tried_cases(task: LoadedTask, texts: Sequence[str]) -> Iterator[tuple[str, Case]]:
    """Yield answers to the first problem, that of its reference first if it is a text, with their cases."""
    problem = task.problems[0]
    reference, ask = task.reference(problem, 0), task.ask(problem, 0, ())
    own = (reference,) if isinstance(reference, str) and reference else ()
    question = "" if ask is None else ask.messages[-1].content
    for text in dict.fromkeys((*own, *texts)):
        answers = (Answer(text, "absent", "", truncated=False),) * problem.turns
        sample = SampleId(task.name, problem.problem_id, 0)
        asked = (question,) * problem.turns if problem.turns > 1 else ()
        yield text, Case(sample, answers, reference, question, asked)


_SHOWN_CHARS = 40


def _tried_words(task: LoadedTask, found: Mapping[str, Finding]) -> str:
    """Return what was found of each answer. It is a warning if right and wrong answers have one score."""
    problem = task.problems[0]
    reference = task.reference(problem, 0)
    told = ", ".join(f"{text[:_SHOWN_CHARS]!r} {finding.score:g}" for text, finding in found.items())
    words = f"{task.name}: tried on problem {problem.problem_id}: {told}"
    scores = {finding.score for finding in found.values()}
    if len(found) > 1 and len(scores) == 1 and (scores != {0.0} or isinstance(reference, str)):
        return f"!{words}: it gives the same score to all of them"
    if isinstance(reference, str) and reference in found and found[reference].score == 0:
        return f"!{words}: the reference itself scores 0"
    return words


async def _try_judges(suite: Suite, tasks: Sequence[LoadedTask]) -> list[str]:
    """Ask each judge that a server serves about two answers to the first problem. Return what it said."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="genbench-") as place:
        folder = RunFolder(Path(place))
        async with JudgeSession(suite, tasks, Path(place)) as judges:
            said = await judges.answers(_ANSWER_S)
            if any(line.startswith("!") for line in said):
                return said
            for task in tasks:
                if task.name not in judges or task.name in judges.deferred or not task.problems:
                    continue
                if not judges.reads(task.name):
                    (folder.path / task.name).mkdir(exist_ok=True)
                    verify = partial(_judged, judges, folder, task.name)
                    lines.append(await _try_judge(task, verify))
    return [*said, *lines]


async def _judged(judges: JudgeSession, folder: RunFolder, task: str, case: Case) -> Finding:
    async def no_rule(task: str, case: Case) -> Finding:
        return Finding(0.0)

    return await judges.verify(folder, task, case, no_rule)


async def _try_judge(task: LoadedTask, verify: Callable[[Case], Awaitable[Finding]]) -> str:
    found, why = dict[str, Finding](), ""
    try:
        async with asyncio.timeout(_TRY_S):
            for text, case in _tried_cases(task, (_POLITE, _WRONG)):
                finding = await verify(case)
                if finding.reason in OURS:
                    why = str(finding.detail.get("why", finding.reason))
                else:
                    found[text] = finding
    except TimeoutError:
        why = f"no verdict within {_TRY_S:.0f} seconds"
    except GenbenchError as error:
        why = str(error)
    if not found:
        return f"!{task.name}: the judge was tried on problem {task.problems[0].problem_id}: {why}"
    return _tried_words(task, found)


_POLITE = "Thank you for asking. Here is what you need, step by step."
"""An answer in general terms, for judges without a reference."""


def _check_disk(tasks: Sequence[LoadedTask], models: int, folder: Path) -> Check:
    """Compare the largest size of the completions with the free disk space."""
    most = models * sum(task.samples * task.decoding.max_tokens * _BYTES_PER_TOKEN for task in tasks)
    place = next(parent for parent in (folder.resolve(), *folder.resolve().parents) if parent.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1e9:,.1f} GB free at {place}, completions take {most / 1e9:,.1f} GB at the most"
    return Check("ok" if most < free else "warning", "disk", detail)
