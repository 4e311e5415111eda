"""The judged tasks of a suite: which judge grades each, after which rule, against which opponent."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from genbench import registry
from genbench.engines.http.apis import judge_api
from genbench.errors import ConfigError, GenbenchError, nearest
from genbench.judges.calibration import read_calibration
from genbench.judges.judge import Judge
from genbench.judges.spec import judge_path, read_judge
from genbench.models.traces import Reasoning
from genbench.store.contract import differences, digest
from genbench.store.degenerate import unanswered
from genbench.store.manifest import OpponentRecord, TaskRecord
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.suite.block import Strict
from genbench.suite.judge import JudgeModel, JudgeServer
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Case, Problem
from genbench.verifiers.pool.process import VerifierSpec

JUDGE = "judge"
EXTRACTION = "extraction"
"""The shipped judge that reads answers for verifiers with `guess: judge`."""


class AnswersFile(Strict):
    """Answers of an opponent as data: JSON Lines with one answer a line. A problem may have several."""

    path: str = Field(description="the file, relative to the suite")
    id: str = Field("problem_id", description="key of the problem's id")
    answer: str = Field("answer", description="key of the answer, a text")


Opponent = str | AnswersFile
"""A folder of a stored run, or a file of answers."""


class OpponentsByStratum(Strict):
    """Other opponents for other problems."""

    by: str = Field(description="the stratum that decides, as `category` of arena_hard_v2")
    of: dict[str, Opponent] = Field(min_length=1, description="the opponent for each value of it")


class SeveralOpponents(Strict):
    """Opponents that every answer is compared with. The score is the mean, and each opponent is a part."""

    each: dict[str, Opponent] = Field(min_length=2, description="the opponents by name")


class PromptsFile(Strict):
    """What a judge is asked about rows of different kinds: JSON Lines with one text a line."""

    path: str = Field(description="the file, relative to the suite")
    id: str = Field("id", description="key of the name by which rows find their text (`fields.judge`)")
    prompt: str = Field(
        "prompt", description="key of the text, which has {{ANSWER}} and may have {{QUESTION}}"
    )


class JudgedBy(Strict):
    """The options under a judged task's `verifier:`."""

    judge: str | None = Field(
        None, description="name of a shipped judge, or a judge file; default: the suite's judge"
    )
    cascade: tuple[str, ...] = (JUDGE,)
    rule: dict[str, Any] = Field(
        default_factory=dict, description="options of the rule that runs before the judge"
    )
    baseline: Opponent | OpponentsByStratum | SeveralOpponents | None = Field(
        None,
        description="pairs: folder of a stored run, a file of answers, either for each stratum, or several; "
        "default: the task's reference is the opponent",
    )

    prompts: PromptsFile | None = Field(
        None,
        description="what the judge is asked about each kind of row, if its prompt shows {row_prompt}; "
        "default: the column `fields.judge` has the text",
    )


def is_judged(task: LoadedTask) -> bool:
    """Return whether a judge grades the task, alone or after a rule, or reads answers for its verifier."""
    return task.verifier == JUDGE or "cascade" in task.entry.verifier or is_read_by_judge(task)


def is_read_by_judge(task: LoadedTask) -> bool:
    """Return whether a judge of extraction reads the answers that the task's verifier does not find."""
    return "cascade" not in task.entry.verifier and task.verifier_options.get("guess") == JUDGE


def options_of(suite: Suite, task: LoadedTask) -> JudgedBy:
    """Return the task's own options with the suite's over them.

    Raises:
        ConfigError: an unknown key, or a cascade that cannot be run.
    """
    where = f"{suite.where_task(task.name)}: task '{task.name}'"
    if is_read_by_judge(task):
        return _reading_options(task, where)
    own = task.verifier_options if task.verifier == JUDGE else task.entry.verifier_options
    try:
        options = JudgedBy.model_validate(own)
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"][0] == "baseline":  # pydantic tells of each of the kinds, and not what is wanted
            raise ConfigError(
                f"{where}: verifier.baseline: wanted a run folder, {{path: FILE, id: KEY, answer: KEY}}, "
                "{by: STRATUM, of: {VALUE: either of these}}, or {each: {NAME: either of these, …}} with two "
                f"or more; found {own['baseline']!r:.120}"
            ) from None
        key = ".".join(str(part) for part in first["loc"])
        hint = nearest(key, JudgedBy.model_fields) if first["type"] == "extra_forbidden" else ""
        raise ConfigError(f"{where}: verifier.{key}: {first['msg']}{hint}") from None
    *rules, last = options.cascade or ("",)
    if last != JUDGE or len(rules) > 1 or JUDGE in rules:
        raise ConfigError(f"{where}: verifier.cascade: wanted [judge] or [RULE, judge]")
    for name in rules:
        try:
            registry.find("verifier", name)
        except ConfigError as error:
            raise ConfigError(f"{where}: verifier.cascade: {error}") from None
    if options.rule.get("guess") == JUDGE:
        raise ConfigError(
            f"{where}: verifier.rule.guess: the judge of the cascade sees every reply that the rule does not "
            "accept; leave it out, or give off"
        )
    return options


def _reading_options(task: LoadedTask, where: str) -> JudgedBy:
    """Return the options of a task whose verifier has a judge of extraction.

    Raises:
        ConfigError: the task's prompts are generated, and too long for a judge.
    """
    if isinstance(task.task, GeneratedTask):
        raise ConfigError(
            f"{where}: verifier.guess: judge: the prompts of this task are generated, and too long for a "
            "judge; give last or off"
        )
    rule = {key: value for key, value in task.verifier_options.items() if key != JUDGE}
    judge = task.verifier_options.get(JUDGE, EXTRACTION)
    return JudgedBy(judge=str(judge), cascade=(task.verifier, JUDGE), rule=rule)


def check_references(task: LoadedTask, judge: Judge, options: JudgedBy) -> None:
    """Refuse references that the judge's form cannot use, before anything is drawn.

    The prompts of the first problem are built once, so that a form's mistake is found here as well.

    Raises:
        ConfigError: names the problem. For a pair without an opponent it says how to give one. Or the judge
            grades where it should read answers, or the reverse.
    """
    if judge.form.extracts != is_read_by_judge(task):
        does = "reads answers and grades none" if judge.form.extracts else "grades"
        raise ConfigError(
            f"task {task.name}: judge '{judge.file.name}' {does}; verifier.guess: judge takes a judge of "
            f"form '{EXTRACTION}', and nothing else does"
        )
    if judge.form.extracts:
        judge.rehearse(None)
        return
    if options.baseline is not None:
        if not judge.form.in_pairs:
            raise ConfigError(
                f"task {task.name}: verifier.baseline goes with a judge of form 'pairwise'; "
                f"'{judge.file.name}' is of form '{judge.file.form}'"
            )
        judge.rehearse("The opponent's answer.")
        return
    for problem in task.problems:
        try:
            judge.check(task.reference(problem, 0))
        except ConfigError as error:
            hint = ""
            if judge.form.in_pairs:
                hint = "; or set verifier: {baseline: RUN_DIR/<model>}, a stored run of this task"
            raise ConfigError(f"task {task.name}, problem {problem.problem_id}: {error}{hint}") from None
    if task.problems:
        judge.rehearse(task.reference(task.problems[0], 0))


@dataclass(frozen=True, slots=True)
class Baseline:
    """Answers of one run to one task, by problem and then by sample index from 0.

    The digest in the record is of the answers: other answers are another opponent.
    """

    record: OpponentRecord
    answers: Mapping[str, tuple[str, ...]]
    each: Mapping[str, Baseline] = field(default_factory=dict)
    """Several opponents by name. Then there are no answers of its own."""

    def opponents(self, problem_id: str, sample_index: int) -> dict[str, str]:
        """Return the answers that a sample is compared with, by name. The name of the only one is empty."""
        if not self.each:
            return {"": self.answer(problem_id, sample_index)}
        return {name: one.answer(problem_id, sample_index) for name, one in self.each.items()}

    def answer(self, problem_id: str, sample_index: int) -> str:
        """Return the opponent's answer to a sample: that of the same index, modulo the number of answers."""
        texts = self.answers[problem_id]
        return texts[sample_index % len(texts)]


def read_baseline(path: Path, task: LoadedTask) -> Baseline:
    """Return a task's answers in a stored run, without traces. A missing answer is an empty text.

    Raises:
        ConfigError: no run folder, another task than this one, or problems that it lacks.
    """
    try:
        run = StoredRun(path)
        described = run.manifest.tasks.get(task.name)
        if described is None:
            raise ConfigError(
                f"{path}: the run has no task '{task.name}'{nearest(task.name, run.manifest.tasks)}"
            )
        _check_same(path, described, task)
        answers = _answers(run.task(task.name), Reasoning.from_record(run.manifest.reasoning))
    except GenbenchError as error:
        raise ConfigError(f"baseline: {error}") from None
    _require_all(answers, task.problems, f"{path}", "finish that run")
    used = {problem.problem_id: answers[problem.problem_id] for problem in task.problems}
    # Of all answers of the run, so that another --limit here is not another opponent.
    record = OpponentRecord(
        name=run.manifest.model.name, identity=run.manifest.model_identity, digest=digest(answers)[:16]
    )
    return Baseline(record, used)


def _json_lines(path: Path, what: str, keys: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects of a JSON Lines file with their line numbers.

    Args:
        what: the key of the suite that names the file. keys: the wanted ones, for messages.

    Raises:
        ConfigError: the file cannot be read, or a line is not an object.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{what}: cannot read {path}: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            where = f"{what}: {path}:{number}"
            raise ConfigError(f"{where}: no JSON: {error}; wanted JSON with the keys {keys}") from None
        yield number, record if isinstance(record, dict) else {"": record}


def read_answers(file: AnswersFile, path: Path) -> Baseline:
    """Return the answers of a file.

    Raises:
        ConfigError: the file cannot be read, or a line lacks a key. Names file and line.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    keys = f"'{file.id}' and '{file.answer}'"
    for number, record in _json_lines(path, "baseline", keys):
        problem, answer = record.get(file.id), record.get(file.answer)
        if problem is None or not isinstance(answer, str):
            shown = json.dumps(record, ensure_ascii=False)
            raise ConfigError(
                f"baseline: {path}:{number}: wanted JSON with the keys {keys}, found {shown:.80}"
            )
        found[str(problem)].append(answer.strip())
    answers = {problem: tuple(texts) for problem, texts in found.items()}
    own = digest(answers)
    opponent = OpponentRecord(name=path.stem, identity=f"answers:{own}", digest=own[:16])
    return Baseline(opponent, answers)


def _require_all(
    answers: Mapping[str, Sequence[str]], problems: Sequence[Problem], where: str, advice: str
) -> None:
    """Refuse an opponent without an answer to one of the problems.

    Raises:
        ConfigError: says how many lack one, and which is the first.
    """
    lacking = [problem for problem in problems if problem.problem_id not in answers]
    if lacking:
        raise ConfigError(
            f"baseline: {where}: has no answer to {len(lacking)} of {len(problems)} problems of "
            f"'{lacking[0].task}' (the first: {lacking[0].problem_id}); {advice}, or give --limit"
        )


def _check_same(path: Path, described: TaskRecord, task: LoadedTask) -> None:
    """Refuse answers to other prompts or other rows."""
    theirs = {"version": described.version, "data": described.data_digest}
    ours = {"version": task.task.info.version, "data": task.provenance.get("digest")}
    lines = differences(theirs, ours, f"tasks.{task.name}")
    if lines:
        raise ConfigError(
            f"{path}: its '{task.name}' is another task (stored -> wanted): {'; '.join(lines)}; "
            "give a run of this very task"
        )


def _answers(task: StoredTask, reasoning: Reasoning) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for item in task.all_completions():
        if item.finish_reason == "error":
            continue
        answer = reasoning.split(item)
        text = "" if answer.trace_status == "unclosed" else answer.text.strip()
        found[item.sample.problem_id][item.sample.sample_index] = text
    return {problem: tuple(texts[index] for index in sorted(texts)) for problem, texts in found.items()}


@dataclass(frozen=True, slots=True)
class RowPrompts:
    """What the judge is asked about each problem, and the digest of the file that says so, if it is one."""

    by_problem: Mapping[str, str]
    digest: str


def _row_prompts(suite: Suite, task: LoadedTask, judge: Judge, options: JudgedBy) -> RowPrompts | None:
    """Return what the judge is asked about each problem. None if its own prompt says it for all.

    Raises:
        ConfigError: the rows or the file lack a text, or a text does not show the answer.
    """
    where = f"{suite.where_task(task.name)}: task '{task.name}'"
    if not judge.spec.has_row_prompts:
        if options.prompts is None:
            return None
        raise ConfigError(
            f"{where}: verifier.prompts goes with a judge whose prompt shows {{row_prompt}}; that of "
            f"'{judge.file.name}' does not"
        )
    given = {problem.problem_id: problem.row.get("judge") for problem in task.problems}
    if lacking := [name for name, text in given.items() if text is None]:
        raise ConfigError(
            f"{where}: judge '{judge.file.name}' is asked what each row says, and problem {lacking[0]} says "
            "nothing; name the column with data.fields.judge, or take another judge"
        )
    texts = {name: str(text) for name, text in given.items()}
    own = ""
    if options.prompts is not None:
        path = resolve(options.prompts.path, suite.folder)
        table = _texts_by_id(options.prompts, path)
        if unknown := [key for key in texts.values() if key not in table]:
            raise ConfigError(
                f"{where}: verifier.prompts: {path}: has no '{unknown[0]}'{nearest(unknown[0], table)}"
            )
        own, texts = digest(table)[:16], {name: table[key] for name, key in texts.items()}
    for name, text in texts.items():
        if "{{ANSWER}}" not in text:
            hint = (
                "" if options.prompts else "; if it is the key of one, give verifier: {prompts: {path: FILE}}"
            )
            raise ConfigError(
                f"{where}: what the judge is asked about problem {name} does not show {{{{ANSWER}}}}: "
                f"{text[:60]!r}{hint}"
            )
    return RowPrompts(texts, own)


def _texts_by_id(file: PromptsFile, path: Path) -> dict[str, str]:
    """Return the texts of a file. Errors name file and line."""
    found: dict[str, str] = {}
    keys = f"'{file.id}' and '{file.prompt}'"
    for number, record in _json_lines(path, "verifier.prompts", keys):
        name, text = record.get(file.id), record.get(file.prompt)
        if name is None or not isinstance(text, str):
            raise ConfigError(
                f"verifier.prompts: {path}:{number}: wanted JSON with the keys {keys}, found "
                f"{json.dumps(record, ensure_ascii=False):.80}"
            )
        found[str(name)] = text
    return found


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A task with its judge, its options and, for pairs against a stored run, its opponent."""

    name: str
    judge: Judge
    options: JudgedBy
    baseline: Baseline | None
    folder: str
    """The suite's folder, in which a rule of the suite's own may be."""
    prompts: RowPrompts | None = None
    excludes_unanswered: bool = False
    """Whether samples without a whole answer count neither way, so that no question is spent on them."""

    @property
    def is_reader(self) -> bool:
        """Whether the judge reads answers for the rule, and grades none."""
        return self.judge.form.extracts

    def is_silent(self, case: Case) -> bool:
        """Return whether there is no answer to ask the judge about. None is read out of half a reply."""
        if (self.excludes_unanswered or self.is_reader) and unanswered(case.answers) is not None:
            return True
        graded = case.answers if self.judge.file.each and case.asked else (case.answer,)
        return any(answer.trace_status == "unclosed" or not answer.text.strip() for answer in graded)

    @property
    def rule(self) -> VerifierSpec | None:
        """The rule before the judge, or None."""
        if len(self.options.cascade) == 1:
            return None
        return VerifierSpec(self.options.cascade[0], self.options.rule, self.folder)

    @property
    def is_local(self) -> bool:
        """Whether the judge loads on this machine."""
        return isinstance(self.judge.spec.engine, JudgeModel)

    def verifier(self, rule: str) -> tuple[str, str]:
        """Return digest and version that verdicts carry; `rule` is the digest of the rule or empty."""
        facts = [self.judge.digest, rule, *([self.baseline.record.digest] if self.baseline else [])]
        if self.prompts is not None and self.prompts.digest:
            facts.append(self.prompts.digest)
        return digest(facts)[:16], f"judge {self.judge.file.name} {self.judge.digest}"

    @property
    def warnings(self) -> list[str]:
        """What a report must say of the judge."""
        spec = self.judge.spec
        found = []
        if spec.unpinned:
            found.append(
                f"{self.name}: judge '{spec.file.name}' is unpinned (revision {spec.engine.revision!r}): "
                "its verdicts cannot be made again"
            )
        if isinstance(spec.engine, JudgeServer):
            api = judge_api(spec.engine)
            if left := api.not_pinned([spec.file.decoding], spec.engine.body):
                found.append(
                    f"{self.name}: judge '{spec.file.name}': not pinned, since {api.name} cannot be told it: "
                    f"{', '.join(left)}"
                )
        return found


def judged_tasks(suite: Suite, tasks: Sequence[LoadedTask]) -> dict[str, JudgedTask]:
    """Return the judged ones of `tasks` by name, everything checked.

    Raises:
        ConfigError: an unknown or unpinned judge, a wrong reference, a baseline that cannot be used.
    """
    judged = {task.name: task for task in tasks if is_judged(task)}
    options = {name: options_of(suite, task) for name, task in judged.items()}
    judges = {name: _judge(suite, name, options[name]) for name in judged}
    for name, task in judged.items():
        check_references(task, judges[name], options[name])
    return {
        name: JudgedTask(
            name,
            judges[name],
            options[name],
            _baseline(suite, task, options[name]),
            str(suite.folder),
            _row_prompts(suite, task, judges[name], options[name]),
            task.task.info.unanswered == "excluded",
        )
        for name, task in judged.items()
    }


def _judge(suite: Suite, task: str, options: JudgedBy) -> Judge:
    where = suite.where_task(task)
    used = options.judge or suite.config.judge.use
    if used is None:
        raise ConfigError(
            f"{where}: task '{task}' names no judge: set verifier: {{judge: NAME}} or judge.use"
        )
    try:
        judge = Judge(read_judge(judge_path(used, suite.folder), suite.config.judge))
        if judge.file.calibration is not None:  # asked with the first question, which may be hours later
            read_calibration(judge.spec)
        return judge
    except ConfigError as error:
        raise ConfigError(f"{where}: task '{task}': {error}") from None


def _baseline(suite: Suite, task: LoadedTask, options: JudgedBy) -> Baseline | None:
    given = options.baseline
    if given is None:
        return None
    if isinstance(given, SeveralOpponents):
        each = {name: _opponent(suite, task, one, task.problems) for name, one in given.each.items()}
        own = digest([[name, one.record.digest] for name, one in each.items()])
        record = OpponentRecord(name=" + ".join(each), identity=f"each:{own}", digest=own[:16])
        return Baseline(record, {}, each)
    if not isinstance(given, OpponentsByStratum):
        return _opponent(suite, task, given, task.problems)
    parts: dict[str, list[Problem]] = defaultdict(list)
    for problem in task.problems:
        stratum = problem.strata.get(given.by)
        if stratum not in given.of:
            raise ConfigError(
                f"{suite.where_task(task.name)}: task '{task.name}': verifier.baseline.of has no opponent "
                f"for {given.by} {stratum!r} (problem {problem.problem_id}); it has: {', '.join(given.of)}"
            )
        parts[str(stratum)].append(problem)
    found = {name: _opponent(suite, task, given.of[name], problems) for name, problems in parts.items()}
    answers = {
        problem.problem_id: found[name].answers[problem.problem_id]
        for name, problems in parts.items()
        for problem in problems
    }
    records = {name: found[name].record for name in given.of if name in found}
    own = digest([[given.by, name, record.digest] for name, record in records.items()])
    named = " + ".join(dict.fromkeys(record.name for record in records.values()))
    return Baseline(OpponentRecord(name=named, identity=f"by {given.by}:{own}", digest=own[:16]), answers)


def _opponent(suite: Suite, task: LoadedTask, given: Opponent, problems: Sequence[Problem]) -> Baseline:
    """Return one opponent with an answer to each of the problems."""
    if isinstance(given, str):
        return read_baseline(resolve(given, suite.folder), task)
    path = resolve(given.path, suite.folder)
    found = read_answers(given, path)
    _require_all(found.answers, problems, str(path), "add what lacks")
    return found
