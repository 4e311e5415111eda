"""Everything that a suite or a command can name: built in, from an installed package, or as `module:attr`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from genbench.errors import (
    ConfigError,
    GenbenchError,
    asking_for_extras,
    cause,
    lacking_extra,
    nearest,
    options_mistake,
    place_of,
)

GROUP = "genbench.plugins"
"""The entry point group of plug-ins. An entry is called `<category>.<name>`, as in `verifier.my_check`."""

NOT_OFFERED: Mapping[str, str] = MappingProxyType(
    {
        "bfcl_v4": "100 of its questions ask a live search service, so no run can be repeated, and without "
        "them the overall is 80 at the most; bfcl_v3_live, bfcl_v3_non_live, bfcl_v3_multi_turn and "
        "bfcl_v4_format_sensitivity are there",
        "bfcl_v4_memory": "conversations fill a store that later questions start from, which no task does "
        "yet, and one of its three stores needs an encoder without a revision; bfcl_v3_multi_turn is "
        "there",
        "codeforces": "its rating is made from submissions to a live site and from live standings, which "
        "are in no dataset; livecodebench has problems of contests",
        "critpt": "its answers are graded by a service that cannot be pinned",
        "dclm_core": "its exemplars are drawn for each row from the scored rows, and its mean is centred "
        "on a baseline of each task, which no task does yet; the suite base has most of its tasks",
        "facts_grounding": "three judges of three makers answer two questions each, one of them against an "
        "answer of their own; one judge is asked here, which would be another benchmark",
        "hle_search": "the web changes from day to day, so no run can be repeated; hle asks without search",
        "mle_bench": "its competitions need data of Kaggle, a network and GPUs in the container, which a box "
        "has not, so that each rollout would be a plausible zero; results of its grader are imported "
        "(genbench import log)",
        "swebench_pro": "its verdict is made by scripts and parsers of its repository, one for each task, "
        "which are not read yet, and one that fetches would write a zero in a box without a network; "
        "swebench_verified is there",
        "scicode": "a step is asked with the model's own code of the steps before, and its targets are in "
        "a file of 1 GB; neither is read yet",
    }
)
"""Benchmarks that reports table and that are not here, with the reason and what comes near."""

Category = Literal["task", "verifier", "metric", "engine", "exporter", "judge_form"]

_PAGES = Path(__file__).parent / "tasks" / "pages"
"""The folder of task pages. Each file is a built-in task."""

BUILT_IN: Mapping[Category, Mapping[str, str]] = MappingProxyType(
    {
        "task": {page.stem: f"genbench.tasks.pages:{page.stem}" for page in sorted(_PAGES.glob("*.yaml"))},
        "verifier": {
            "math": "genbench.verifiers.math.verifier:MathVerifier",
            "choice": "genbench.verifiers.choice.verifier:ChoiceVerifier",
            "letters": "genbench.verifiers.foreign.published_extraction:LetterVerifier",
            "exact": "genbench.verifiers.text.exact:ExactVerifier",
            "short_answer": "genbench.verifiers.text.short_answer:ShortAnswerVerifier",
            "bbeh": "genbench.verifiers.foreign.big_bench_extra_hard:BBEHVerifier",
            "last_number": "genbench.verifiers.foreign.published_extraction:LastNumberVerifier",
            "grid": "genbench.verifiers.structured.arc_grid:GridVerifier",
            "table": "genbench.verifiers.structured.json_table:TableVerifier",
            "ifeval": "genbench.verifiers.instructions.verifier:ConstraintVerifier",
            "ifbench": "genbench.verifiers.instructions.verifier:IFBenchVerifier",
            "json_schema": "genbench.verifiers.structured.json_schema:JsonSchemaVerifier",
            "contains": "genbench.verifiers.text.contains:ContainsVerifier",
            "refusal": "genbench.verifiers.text.refusal:RefusalVerifier",
            "set": "genbench.verifiers.text.set_match:SetVerifier",
            "recited": "genbench.verifiers.text.continuation_overlap:RecitedVerifier",
            "code": "genbench.verifiers.code:CodeVerifier",
            "unittest": "genbench.verifiers.unittests:UnittestVerifier",
            "program": "genbench.verifiers.program:ProgramVerifier",
            "prediction": "genbench.verifiers.prediction:PredictionVerifier",
            "livebench": "genbench.verifiers.livebench.verifier:LiveBenchVerifier",
            "livebench_instructions": "genbench.verifiers.livebench.verifier:LiveBenchInstructionVerifier",
            "function_calls": "genbench.verifiers.tools.function_calls:FunctionCallVerifier",
            "filtered_match": "genbench.verifiers.foreign.filtered_match:FilteredMatchVerifier",
            "none": "genbench.verifiers.unrated:NoVerifier",
            "likelihood": "genbench.verifiers.likelihood:LikelihoodVerifier",
            "logged": "genbench.verifiers.foreign.logged:LoggedVerifier",
            "foreign_score": "genbench.verifiers.foreign.foreign_score:ForeignScoreVerifier",
            "tool_loop": "genbench.verifiers.tools.conversations:ToolLoopVerifier",
            "user_loop": "genbench.verifiers.tools.conversations:UserLoopVerifier",
            "agent": "genbench.verifiers.tools.rollouts:RolloutVerifier",
        },
        "metric": dict.fromkeys(
            ("acc", "avg@k", "pass@k", "pass^k", "maj@k"), "genbench.stats.estimates:estimate"
        ),
        "engine": {
            "vllm": "genbench.engines.vllm.kind:VllmKind",
            "http": "genbench.engines.http.kind:HttpKind",
        },
        "exporter": {
            "lm-eval": "genbench.interop.logs.export_lm_eval:lm_eval",
            "inspect": "genbench.interop.logs.export_inspect:inspect",
            "hf": "genbench.interop.logs.export_hub:hub_dataset",
            "every_eval_ever": "genbench.interop.logs.export_every_eval:every_eval",
            "eval_results": "genbench.interop.logs.export_hub:hub_results",
        },
        "judge_form": {
            "label": "genbench.judges.forms.label:LabelForm",
            "pairwise": "genbench.judges.forms.pairwise:PairwiseForm",
            "rubric": "genbench.judges.forms.rubric:RubricForm",
            "checklist": "genbench.judges.forms.checklist:ChecklistForm",
            "first_token": "genbench.judges.forms.first_token:FirstTokenForm",
            "extraction": "genbench.judges.forms.extraction:ExtractionForm",
        },
    }
)

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "gate": "genbench.nights.commands.trend",
        "trend": "genbench.nights.commands.trend",
        "ledger": "genbench.nights.commands.ledger",
        "prune": "genbench.nights.commands.ledger",
        "queue": "genbench.team.commands.queue",
        "schedule": "genbench.team.commands.queue",
        "watch": "genbench.team.commands.watch",
        "serve": "genbench.team.commands.serve",
        "launch": "genbench.team.commands.launch",
        "import": "genbench.interop.commands",
        "export": "genbench.interop.commands",
        "label": "genbench.review.commands",
        "arena": "genbench.review.commands",
        "review": "genbench.review.commands",
        "images": "genbench.agents.commands",
    }
)
"""The commands of annexes, and the module that registers each. It is imported when the command is used."""

RECORDS: Mapping[str, str] = MappingProxyType(
    {
        "compare": "genbench.analysis.comparison.compare:Comparison",
        "compare_judges": "genbench.analysis.comparison.judge_change:JudgeChanges",
        "estimate": "genbench.analysis.estimate:Estimation",
        "drift": "genbench.runs.drift:Drifts",
        "power": "genbench.runs.power:PowerPlan",
        "noise": "genbench.stats.noise:NoiseMeasurement",
        "rank": "genbench.analysis.rank:Ranking",
        "contamination": "genbench.runs.contamination:Contamination",
        "trend": "genbench.nights.trend.record:Trend",
        "gate": "genbench.nights.policy.gate:NightlyGate",
        "ledger_add": "genbench.nights.ledger.ingest:LedgerAdded",
        "ledger_list": "genbench.nights.ledger.listing:LedgerList",
        "ledger_check": "genbench.nights.ledger.checking:LedgerCheck",
        "ledger_prune": "genbench.nights.ledger.pruning:LedgerPruned",
        "ledger_rescore": "genbench.nights.ledger.rescoring:LedgerRescored",
        "curves": "genbench.analysis.curves:Curves",
        "budgets": "genbench.analysis.budgets:Budgets",
        "quality": "genbench.analysis.quality:Quality",
        "review_plan": "genbench.review.plan:Planned",
        "review_show": "genbench.review.summary:ReviewSummary",
        "jobs": "genbench.team.queue.records:JobList",
        "job": "genbench.team.queue.records:JobDetail",
        "watches": "genbench.team.watch.watches:WatchList",
        "push": "genbench.nights.ledger.listing:PushedRun",
        "watch_best": "genbench.team.watch.best:BestAgain",
        "overlap": "genbench.runs.training_overlap:Overlap",
        "audit": "genbench.runs.audit:Audit",
        "status": "genbench.runs.stored.status:RunsStatus",
        "report": "genbench.reports.record:Report",
        "parity": "genbench.analysis.parity:ParityReport",
        "judge_check": "genbench.runs.judge_check:JudgeCheck",
        "mirror": "genbench.runs.mirror:MirrorRecord",
        "prompts": "genbench.runs.requests:RequestRecord",
        "import_task": "genbench.interop.tasks.importer:ImportRecord",
        "import_levels": "genbench.interop.tasks.harness.levels:LevelReport",
        "import_log": "genbench.interop.logs.import_runs:ImportedLogs",
        "results": "genbench.analysis.results.record:Results",
        "manifest": "genbench.store.manifest:Manifest",
    }
)
"""What each command prints with --json, and what a run folder contains, by its entry in the JSON schema."""

HISTORY = "genbench.nights.trend.nights:open_nights"
"""What opens the runs of a track (`protocols.History`), given the ledger and the file of notes."""

VIEWS: Mapping[str, str] = MappingProxyType({"Trend": "genbench.nights.pages.notebook:TrendView"})
"""The records of annexes that a notebook shows, by their class, and how (`protocols.View`)."""

SERVICE_CLIENT = "genbench.team.service.client:RemoteService"
"""What sends a run to a service."""

POLICY = "genbench.nights.policy.config:Policy"
"""What a policy file says."""

HARNESSES: Mapping[str, str] = MappingProxyType(
    {
        "command": "genbench.agents.harnesses.command:CommandHarness",
        "mini_swe": "genbench.agents.harnesses.mini_swe:MiniSweHarness",
        "harbor": "genbench.agents.harnesses.harbor:HarborHarness",
        "inspect": "genbench.agents.harnesses.inspect:InspectHarness",
        "tau2": "genbench.agents.harnesses.tau2:Tau2Harness",
    }
)
"""Agent harnesses by name. Packages declare none: a team's own is a program of the harness `command`."""
AGENT_TASK = "genbench.agents.tasks:agent"
AGENT_PAGE_TASK = "genbench.agents.tasks:page_agent"
AGENT_ROLLOUTS = "genbench.agents.gateway.session:AgentRollouts"
"""What is loaded only for tasks whose samples are rollouts of a harness."""
AGENT_IMAGES = "genbench.agents.images.mirror:pull_images"
AGENT_BOXES = "genbench.agents.images.selftest"
"""What fetches the images of a task, and the program that says which boxes this machine can have."""

LOG_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "agents": "genbench.agents.logs.log_format:AgentLogs",
        "helm": "genbench.interop.logs.formats.helm:HelmLogs",
        "opencompass": "genbench.interop.logs.formats.open_compass:OpenCompassLogs",
        "inspect": "genbench.interop.logs.formats.inspect:InspectLogs",
        "evalscope": "genbench.interop.logs.formats.evalscope:EvalscopeLogs",
        "every_eval_ever": "genbench.interop.logs.formats.every_eval:EveryEvalLogs",
        "lm-eval": "genbench.interop.logs.formats.lm_eval:LmEvalLogs",
        "samples.parquet": "genbench.interop.logs.formats.samples_table:SampleTables",
        "lighteval": "genbench.interop.logs.formats.lighteval:LightevalLogs",
    }
)
"""Logs of other tools by their names. The first format that takes a file reads it. `inspect`, `lm-eval` and
`lighteval` come after the others of JSON, JSON Lines and Parquet: they say what is wrong with other files."""


REVIEWS = "genbench.review.scores:StoredReviews"
"""What reads the reviews of people next to runs: an `analysis.corrected.Reviews`."""

PAGES = ("genbench.review.pages:PAGES",)
"""Pages that parts of genbench add to the service, each a `service.added_pages.AddedPages`."""


@dataclass(frozen=True, slots=True)
class PlugIn:
    """One thing that can be named, and where it comes from."""

    category: Category
    name: str
    target: str
    """`module:attr`."""
    package: str = ""
    """The distribution that declares it. Empty if the suite wrote `module:attr`."""
    version: str = ""
    """The version of that distribution."""
    folder: str | None = None
    """A folder that is searched for the module after the installed packages: that of the suite."""

    @property
    def is_built_in(self) -> bool:
        """Whether the code is genbench's own, so that its exceptions are defects of genbench."""
        return self.target.startswith("genbench.")

    @property
    def words(self) -> str:
        """The category and name with the package, for messages."""
        where = f" of package {self.package} {self.version}" if self.package and not self.is_built_in else ""
        return f"{self.category.replace('_', ' ')} '{self.name}'{where}"

    def load(self) -> Any:
        """Import the module and return the attribute.

        Raises:
            ConfigError: the module or its attribute is missing, or its import fails. Names file and line.
            UnavailableError: the module needs an extra of genbench that is not installed.
        """
        module, _, attr = self.target.partition(":")
        try:
            with _searched(self.folder):
                found: Any = import_module(module)
                _forget_bytecode(found)
        except (Exception, SystemExit) as error:  # foreign code may raise anything while it is imported
            raise self._import_failed(error, module) from error
        for part in attr.split("."):
            if not hasattr(found, part):
                raise ConfigError(
                    f"{self.words}: {getattr(found, '__file__', None) or module} has no '{part}'"
                    f"{nearest(part, _public(found))}"
                )
            found = getattr(found, part)
        return found

    def _import_failed(self, error: BaseException, module: str) -> Exception:
        if isinstance(error, GenbenchError):
            return error
        lacking = lacking_extra(error)
        if lacking is not None:
            return lacking
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            found_in = f" or put {error.name}.py into {self.folder}" if self.folder else ""
            return ConfigError(
                f"{self.words}: there is no module '{error.name}'; install its package into this "
                f"environment ({sys.prefix}){found_in}"
            )
        if self.is_built_in and isinstance(error, Exception):
            return error
        return ConfigError(f"{self.words}: importing {module} failed: {cause(error)}; correct the plug-in")

    def build(self, options: Mapping[str, Any]) -> Any:
        """Load the class or factory and call it with the options.

        Raises:
            ConfigError: as `load`; or it takes other options, or raises. Names its file and line.
        """
        make = self.load()
        if not callable(make):
            raise ConfigError(
                f"{self.words}: {self.target} is {type(make).__name__}, wanted a class or a function"
            )
        mistake = options_mistake(make, options)
        if mistake is not None:
            raise ConfigError(f"{self.words}: {mistake} ({place_of(make)})")
        try:
            return make(**options)
        except (GenbenchError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # foreign code
            lacking = lacking_extra(error)
            if lacking is not None:
                raise lacking from error
            raise ConfigError(f"{self.words}: making it failed: {cause(error)}") from error


def find(
    category: Category, name: str, folder: Path | str | None = None, *, is_allowed: bool = False
) -> PlugIn:
    """Return what `name` means: a built-in, an entry of an installed package, or `module:attr`.

    Args:
        folder: the folder of the suite or judge that has the name. It is searched for a `module:attr` in
            addition to the installed packages. None: the user gave the name on the command line.
        is_allowed: somebody has asked for consent to the code of that folder already.

    Raises:
        ConfigError: nothing has that name, or two packages have it.
        NoConsentError: the name is `module:attr`, and the user has not allowed code of that folder.
    """
    if ":" in name:
        if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", name):
            raise ConfigError(f"{category} '{name}': wanted a name or 'package.module:attribute'")
        if folder is not None and not is_allowed:
            from genbench.consent import require_consent  # noqa: PLC0415  as below

            require_consent(folder, f"{category.replace('_', ' ')} '{name}'")
        return PlugIn(category, name, name, folder=None if folder is None else str(folder))
    own = BUILT_IN[category].get(name)
    found = [PlugIn(category, name, own, "genbench")] if own else []
    declared, mistakes = installed()
    found += [item for item in declared if (item.category, item.name) == (category, name)]
    if len(found) > 1:
        raise ConfigError(_clash_words(found))
    if not found:
        hints = "".join(f"\n  {mistake}" for mistake in mistakes)
        if category == "task" and name in NOT_OFFERED:
            raise ConfigError(f"task '{name}' is not offered: {NOT_OFFERED[name]}")
        raise ConfigError(f"unknown {category} '{name}'{nearest(name, names(category))}{hints}")
    return found[0]


def load(category: Category, name: str) -> Any:
    """Return the object behind a name. `find` and `PlugIn.load` say what is raised."""
    return find(category, name).load()


def load_object(target: str) -> Any:
    """Return the object behind `module:attr`, which a file names.

    Raises:
        UnavailableError: the module needs an extra that is not installed.
    """
    module, _, attr = target.partition(":")
    with asking_for_extras():
        return getattr(import_module(module), attr)


def names(category: Category) -> list[str]:
    """Return every name of a category, sorted."""
    return sorted({*BUILT_IN[category], *(item.name for item in installed()[0] if item.category == category)})


def plug_ins() -> list[PlugIn]:
    """Return everything that can be named: the built-ins, then what packages declare. Imports nothing."""
    from importlib import metadata  # noqa: PLC0415  each start of genbench would pay 15 ms for it

    version = metadata.version("genbench")
    own = [
        PlugIn(category, name, target, "genbench", version)
        for category, table in BUILT_IN.items()
        for name, target in table.items()
    ]
    return own + list(installed()[0])


def mistakes() -> list[str]:
    """Return what is wrong with the entry points of installed packages, clashes of names included."""
    by_name: dict[tuple[str, str], list[PlugIn]] = {}
    for item in plug_ins():
        by_name.setdefault((item.category, item.name), []).append(item)
    clashes = [_clash_words(items) for items in by_name.values() if len(items) > 1]
    return [*installed()[1], *clashes]


def installed() -> tuple[tuple[PlugIn, ...], tuple[str, ...]]:
    """Return the plug-ins that installed packages declare, and what is wrong with their declarations."""
    return _read_entry_points(tuple(sys.path))


@lru_cache(maxsize=1)
def _read_entry_points(path: tuple[str, ...]) -> tuple[tuple[PlugIn, ...], tuple[str, ...]]:
    """Read the entry points of all packages on `path`, once: with 200 packages this takes 10 to 40 ms."""
    from importlib import metadata  # noqa: PLC0415  as above

    found: list[PlugIn] = []
    wrong: list[str] = []
    for item in sorted(metadata.entry_points(group=GROUP), key=lambda item: (item.name, item.value)):
        package = item.dist.name if item.dist else "?"
        category, _, name = item.name.partition(".")
        if category not in get_args(Category) or not name:
            wrong.append(
                f"package {package}: entry point '{item.name}' of {GROUP}: wanted <category>.<name>"
                f"{nearest(category, get_args(Category))}"
            )
            continue
        known: Category = category  # type: ignore[assignment]
        found.append(PlugIn(known, name, item.value, package, item.dist.version if item.dist else ""))
    return tuple(dict.fromkeys(found)), tuple(wrong)


def _clash_words(items: list[PlugIn]) -> str:
    owners = " and ".join(f"{item.package} ({item.target})" for item in items)
    first = items[0]
    return (
        f"{first.category} '{first.name}' is declared by {owners}; uninstall one of them, or write the one "
        f"that you mean as 'module:attribute'"
    )


def _public(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def _forget_bytecode(module: Any) -> None:
    """Remove the compiled file of a module that was made within seconds of an edit of the source.

    Python tells edits apart by size and whole seconds: after a second edit of equal size in that second the
    next process would run the first one.
    """
    spec = getattr(module, "__spec__", None)
    source, compiled = getattr(module, "__file__", None), getattr(spec, "cached", None)
    with suppress(OSError):
        if source and compiled and _edited(compiled) - _edited(source) < _WHOLE_SECONDS:
            Path(compiled).unlink()


_WHOLE_SECONDS = 2.0


def _edited(file: str) -> float:
    return Path(file).stat().st_mtime


@contextmanager
def _searched(folder: str | None) -> Iterator[None]:
    """Search `folder` too, after everything installed: a file in it cannot hide a package."""
    if folder is None or folder in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
