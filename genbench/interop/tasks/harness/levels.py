"""The level of a task definition: which parts need foreign code, and why some cannot be imported."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from genbench.interop.tasks.harness.defects import known_defects
from genbench.interop.tasks.harness.definition import Definition, FunctionName, functions_in, read_tree
from genbench.json_record import JsonRecord

Level = Literal["1", "1c", "2", "2c", "3", "4", "out"]
LEVELS: dict[Level, str] = {
    "1": "declarative: templates, known filters, a metric of each sample",
    "1c": "the same with a metric of the whole corpus",
    "2": "Python functions make rows or prompts",
    "2c": "the same with a metric of the whole corpus",
    "3": "Python functions score",
    "4": "a Python function makes the dataset",
    "out": "not to be imported",
}
CORPUS_METRICS = frozenset(
    {"f1", "mcc", "bleu", "chrf", "chrf++", "ter", "perplexity", "word_perplexity", "byte_perplexity"}
    | {"bits_per_byte"}
)
SAMPLE_METRICS = frozenset(
    {"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "brier_score", "likelihood", "bypass"}
    | {"acc_all"}
)
FILTERS = frozenset(
    {"lowercase", "uppercase", "map", "format_span", "take_first", "take_first_k", "majority_vote", "regex"}
    | {"regex_pos", "remove_whitespace", "multi_choice_regex"}
)
_NAMED = {"filter_list": ("filters", "name"), "metric_list": ("metrics", "metric")}
"""What a list contains, and the key that names an entry."""
_SCORING_KEYS = frozenset({"process_results", "filter_list", "metric_list"})
_CORPUS_AGGREGATIONS = frozenset({"f1", "matthews_corrcoef", "bleu", "chrf", "chrf++", "ter", "perplexity"})
_CORPUS_AGGREGATIONS_WEIGHTED = frozenset({"weighted_perplexity", "bits_per_byte"})
_KNOWN_AGGREGATIONS = frozenset({"mean", "nanmean", "median", "bypass", "brier_score"})
MAKES_DATASET = (
    "a Python function makes its dataset (custom_dataset): such functions download rows, tokenizers or "
    "essays themselves, and foreign code has no network here"
)
_OWN_TASKS = {"ruler": "ruler", "graphwalks": "graphwalks"}
"""Families whose benchmark genbench has a task of its own for."""
_MEANS = (None, "mean", "nanmean")


@dataclass(frozen=True, slots=True)
class Classified:
    """A definition with its level. `reason` says what decided it."""

    definition: Definition
    level: Level
    reason: str

    @property
    def output(self) -> str:
        """Return the kind of output: generate_until, multiple_choice, loglikelihood …"""
        return output_type(self.definition)


def output_type(definition: Definition) -> str:
    """Return a task's kind of output. lm-eval's default is generate_until."""
    if "class" in definition.config:
        return "class"
    return str(definition.config.get("output_type") or "generate_until")


def classify(definition: Definition) -> Classified:
    """Return the level of a definition. Nothing of it is executed."""
    level, reason = _level(definition.config, output_type(definition))
    return Classified(definition, level, reason)


def without_code(definition: Definition, keys: Iterable[str]) -> tuple[Definition, list[str]]:
    """Return a definition without filters or metrics that are Python functions, and what was left out.

    A list of which nothing would remain stays as it is.

    Args:
        keys: the lists that are looked at, `filter_list` or `metric_list`.
    """
    words = []
    for key in sorted(keys):
        blocks = definition.config.get(key)
        blocks = blocks if isinstance(blocks, list) else []
        kept = [block for block in blocks if not any(functions_in(block))]
        if kept and len(kept) < len(blocks):
            what, own = _NAMED[key]
            names = [str(block.get(own)) for block in blocks if any(functions_in(block))]
            words.append(f"{what} that are Python functions are left out: {', '.join(names)}")
            definition = replace(definition, config=definition.config | {key: kept})
    return definition, words


def _level(config: dict[str, Any], output: str) -> tuple[Level, str]:
    # The highest need decides: no door, a dataset made by code, a score made by code, rows made by code.
    refused = next(_refusals(config), None)
    if refused is not None:
        return "out", refused
    if isinstance(config.get("custom_dataset"), FunctionName):
        return "4", f"custom_dataset is {config['custom_dataset']}"
    found = dict(functions_in(config))
    scoring = [path for path in found if path[0] in _SCORING_KEYS]
    if scoring:
        return "3", f"{'.'.join(scoring[0])} is {found[scoring[0]]}"
    unknown = next(_unknown(config), None)
    if unknown is not None:
        return "3" if unknown.startswith("filter") else "out", unknown
    corpus = corpus_metrics(config, output)
    ending = "c" if corpus else ""
    if found:
        path = next(iter(found))
        return ("2c" if ending else "2"), f"{'.'.join(path)} is {found[path]}"
    return ("1c" if ending else "1"), (f"metric {', '.join(corpus)}" if corpus else LEVELS["1"])


def _refusals(config: dict[str, Any]) -> Iterator[str]:
    """Yield why a task cannot be imported by any door."""
    if "class" in config:
        yield "it is a Python class, not a definition"
    for key, what in (("doc_to_image", "images"), ("doc_to_audio", "audio")):
        if config.get(key) is not None:
            yield f"it shows {what} ({key})"
    if config.get("unsafe_code"):
        yield "it runs programs of the model in lm-eval's own process (unsafe_code)"
    if config.get("use_prompt"):
        yield f"its prompt comes from promptsource (use_prompt {config['use_prompt']!r:.60})"


def _unknown(config: dict[str, Any]) -> Iterator[str]:
    """Yield metrics, aggregations and filters that have no known meaning."""
    for name, block in _metrics(config):
        if name not in CORPUS_METRICS | SAMPLE_METRICS:
            yield f"metric '{name}' is not one of lm-eval's own"
        aggregation = block.get("aggregation")
        known = _KNOWN_AGGREGATIONS | _CORPUS_AGGREGATIONS | _CORPUS_AGGREGATIONS_WEIGHTED
        if aggregation is not None and aggregation not in known:
            yield f"aggregation '{aggregation}' is not one of lm-eval's own"
    for name in filter_names(config):
        if name not in FILTERS:
            yield f"filter '{name}' is not one of lm-eval's own"


def corpus_metrics(config: dict[str, Any], output: str) -> list[str]:
    """Return the metrics that exist only for all samples together."""
    blocks = list(_metrics(config))
    if not config.get("metric_list"):
        return ["perplexity"] if output in ("loglikelihood", "loglikelihood_rolling") else []
    weighted = _CORPUS_AGGREGATIONS | _CORPUS_AGGREGATIONS_WEIGHTED
    return [name for name, block in blocks if name in CORPUS_METRICS or block.get("aggregation") in weighted]


def _metrics(config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    listed = config.get("metric_list")
    for block in listed if isinstance(listed, list) else []:
        if isinstance(block, dict) and "metric" in block:
            yield str(block["metric"]), block


def filter_names(config: dict[str, Any]) -> Iterator[str]:
    """Yield the name of every step of every filter."""
    listed = config.get("filter_list")
    for block in listed if isinstance(listed, list) else []:
        steps = block.get("filter") if isinstance(block, dict) else None
        for step in steps if isinstance(steps, list) else []:
            yield str(step.get("function")) if isinstance(step, dict) else str(step)


def refusal(found: Classified) -> str | None:
    """Return why no door imports a definition, or None if one does.

    Metrics that are Python functions count as left out if others remain (`--skip-code-metrics`).
    """
    if found.level == "out":
        return found.reason
    if found.level == "4":
        own = _OWN_TASKS.get(found.definition.family)
        return MAKES_DATASET + (f"; genbench has tasks of its own: genbench tasks {own}" if own else "")
    kept = classify(without_code(found.definition, ["metric_list"])[0])
    return scored_refusal(kept) if kept.level == "3" else None


def scored_refusal(found: Classified) -> str | None:
    """Return why door 3 cannot score a definition of level 3, or None if it can."""
    if found.output != "generate_until":
        return f"code that scores log-probabilities ({found.output}) cannot be used"
    blocks = found.definition.config.get("metric_list")
    if blocks and not sample_metrics(found.definition.config):
        named = any(isinstance(block.get("aggregation"), FunctionName) for block in blocks)
        words = " (aggregation !function)" if named else ""
        return (
            f"its metrics are functions or of all samples together{words}, which no score of one sample gives"
        )
    return None


def sample_metrics(config: Mapping[str, Any]) -> list[str]:
    """Return the metrics whose mean over samples is the value of a task that code scores."""
    return [
        str(block["metric"])
        for block in config.get("metric_list") or ()
        if isinstance(block.get("metric"), str) and block.get("aggregation") in _MEANS
    ]


class FamilyRecord(JsonRecord):
    """The tasks of one family: a top folder of the definitions."""

    family: str = Field(description="name of the folder")
    tasks: int = Field(description="number of its tasks")
    levels: dict[str, int] = Field(description="tasks by level")
    outputs: dict[str, int] = Field(description="tasks by kind of output")


class LevelReport(JsonRecord):
    """The levels of all definitions of a folder."""

    root: str = Field(description="the folder that was read")
    tasks: int = Field(description="number of tasks")
    groups: int = Field(description="number of groups of tasks")
    levels: dict[str, dict[str, int]] = Field(description="by level: tasks by kind of output")
    families: tuple[FamilyRecord, ...] = Field(description="the same by family")
    refused: dict[str, int] = Field(description="why tasks cannot be imported by any door, with their number")
    refused_families: dict[str, dict[str, int]] = Field(
        default_factory=dict, description="by reason: the families of these tasks, with their number"
    )
    code: dict[str, int] = Field(description="which keys have Python functions, with the number of tasks")
    defects: dict[str, tuple[str, ...]] = Field(description="tasks with known defects")
    unreadable: tuple[str, ...] = Field(description="files that cannot be read, with the reason")


def level_report(root: Path, tell: Callable[[int, int], None] = lambda done, of: None) -> LevelReport:
    """Classify every task definition below a folder. Nothing is executed.

    Args:
        tell: is called with the number of files read and of all.

    Raises:
        InputError: the folder does not exist, or has no definition.
    """
    tree = read_tree(root, tell)
    found = [classify(definition) for definition in tree.tasks.values()]
    levels: defaultdict[str, Counter[str]] = defaultdict(Counter)
    families: defaultdict[str, list[Classified]] = defaultdict(list)
    code: Counter[str] = Counter()
    refused: dict[str, Counter[str]] = {}
    for item in found:
        why = refusal(item)
        if why is not None:
            refused.setdefault(why, Counter())[item.definition.family] += 1
        levels[item.level][item.output] += 1
        families[item.definition.family].append(item)
        code.update({path[0] for path, _ in functions_in(item.definition.config)})
    refused = dict(sorted(refused.items(), key=lambda pair: -sum(pair[1].values())))
    defects = {
        item.definition.name: words
        for item in found
        if (words := known_defects(item.definition.name, item.definition.config))
    }
    return LevelReport(
        root=str(tree.root),
        tasks=len(found),
        groups=len(tree.groups),
        levels={level: dict(levels[level]) for level in LEVELS if level in levels},
        families=tuple(_family(name, items) for name, items in sorted(families.items())),
        refused={why: sum(own.values()) for why, own in refused.items()},
        refused_families={why: dict(sorted(own.items())) for why, own in refused.items()},
        code=dict(code.most_common()),
        defects=defects,
        unreadable=tuple(tree.unreadable),
    )


def _family(name: str, items: list[Classified]) -> FamilyRecord:
    counts = Counter(str(item.level) for item in items)
    return FamilyRecord(
        family=name,
        tasks=len(items),
        levels={level: counts[level] for level in LEVELS if counts[level]},
        outputs=dict(Counter(item.output for item in items)),
    )
