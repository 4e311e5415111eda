"""The level of a task definition: which parts need foreign code, and why some cannot be imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from genbench.task_import.definition import Definition
from genbench.task_import.yamlsource import FunctionName, functions_in

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
