"""The plan of an import: splits, exemplars, filters, metrics, rules and decoding of one definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genbench.errors import DataError, InputError
from genbench.interop.tasks.harness.definition import Definition, plain_json
from genbench.interop.tasks.harness.levels import MAKES_DATASET, Classified, filter_names, output_type
from genbench.interop.tasks.sources import LOADERS, LocalFiles, Split
from genbench.verifiers.foreign.filtered_match import SELECTIONS, STEPS

_RULES = {"acc": "acc", "acc_norm": "acc_norm", "acc_bytes": "acc_byte", "acc_mutual_info": "acc_pmi"}
"""lm-eval's metrics of choices by genbench's rules."""
_CORPUS = ("f1", "mcc")
_OF_OUTPUT = {"loglikelihood": "greedy", "loglikelihood_rolling": "byte_probability"}
_TEXT_METRICS = ("bleu", "chrf", "chrf++", "ter")
_USED = (
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "description",
    "gen_prefix",
    "target_delimiter",
    "fewshot_delimiter",
    "num_fewshot",
    "fewshot_config",
)
"""Keys that rendering reads."""


def scoring_options(config: Mapping[str, Any], output: str) -> tuple[dict[str, Any], list[str]]:
    """Return the options of the likelihood verifier for a definition, and what was changed.

    The first of its metrics that compares choices makes the score. All others are measures of the same
    numbers, so that none of them is lost.

    Raises:
        InputError: none of its metrics has a meaning for choices.
    """
    if output in _OF_OUTPUT:
        return {"rule": _OF_OUTPUT[output]}, []
    blocks = config.get("metric_list") or ({"metric": "acc"}, {"metric": "acc_norm"})
    names = [str(block.get("metric")) for block in blocks]
    rules = [_RULES[name] for name in names if name in _RULES]
    corpus = [name for name in names if name in _CORPUS]
    if not rules and not corpus:
        raise InputError(f"metric {', '.join(names)} has no meaning for given choices here")
    changes = [
        f"metric {name} is not computed; prob_gold, bpb_gold and margin are"
        for name in names
        if name not in _RULES and name not in _CORPUS
    ]
    options: dict[str, Any] = {"rule": rules[0] if rules else "acc"}
    if "acc_pmi" in rules:
        options["also"] = ["acc_pmi"]
        changes.append("acc_mutual_info: the choice without its context has no delimiter in front")
    if corpus:
        options["corpus"] = corpus
    return options, changes


def with_classes(options: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the options with the largest number of choices, if a corpus metric needs it.

    Raises:
        DataError: f1 of more than two choices, which lm-eval's f1 refuses as well.
    """
    if "corpus" not in options:
        return dict(options)
    classes = max(len(row["choices"]) for row in rows)
    if "f1" in options["corpus"] and classes != 2:
        raise DataError(f"its metric f1 is of two choices, and it has {classes}")
    return {**options, "classes": classes}


@dataclass(frozen=True, slots=True)
class Plan:
    """How one definition becomes a task."""

    name: str
    output: str
    config: Mapping[str, Any]
    """The keys that rendering reads, without functions."""
    split: Split
    shots: int = 0
    shot_split: Split | None = None
    samples: tuple[Mapping[str, Any], ...] = ()
    """Exemplars that the definition itself has."""
    leaves_out_asked: bool = False
    """Whether the asked row must not be among its exemplars."""
    shot_words: str = "none"
    verifier_options: Mapping[str, Any] | None = None
    decoding: Mapping[str, Any] | None = None
    k: int = 1
    metrics: tuple[str, ...] = ("avg@k", "pass@k", "maj@k")
    changes: tuple[str, ...] = ()

    @property
    def patterns(self) -> list[str]:
        """Return every regular expression that answers will be searched with."""
        options = self.verifier_options or {}
        found = list((options.get("match") or {}).get("regexes_to_ignore") or ())
        for block in options.get("filters") or ():
            for step in block.get("filter") or ():
                found += [step["regex_pattern"]] if "regex_pattern" in step else []
                found += list(step.get("regexes_to_ignore") or ())
        return [str(pattern) for pattern in found]


def make_plan(
    found: Classified, shots: int | None = None, *, rows_given: bool = False, scored_by_code: bool = False
) -> Plan:
    """Return the plan of a definition.

    Args:
        shots: the number of exemplars, instead of the definition's own.
        rows_given: whether foreign code makes the rows, so that functions for rows and prompts are allowed.
        scored_by_code: whether it also scores, so that filters and metrics are left to it.

    Raises:
        InputError: the definition needs what a native import cannot do. Says which door fits.
    """
    definition = found.definition
    config = definition.config
    if found.level not in ("1", "1c") and not rows_given:
        raise InputError(f"{found.reason} (level {found.level}); {door_words(found.level)}")
    output = output_type(definition)
    plan = Plan(
        name=definition.name,
        output=output,
        config={key: plain_json(config[key]) for key in _USED if config.get(key) is not None},
        split=asked_split(definition),
        k=int(config.get("repeats") or 1),
        changes=tuple(_dataset_changes(config)),
    )
    plan = _with_shots(plan, config, shots)
    if scored_by_code:
        return plan
    if output == "generate_until":
        return _with_answers(plan, config)
    options, changes = scoring_options(config, output)
    return replace(plan, verifier_options=options, k=1, changes=(*plan.changes, *changes))


def door_words(level: str) -> str:
    """Return what to do with a definition that cannot be imported natively."""
    if level in ("2", "2c"):
        return "its code must run once to make the rows: --trust-task-code --python PYTHON-WITH-LM-EVAL"
    if level == "4":
        return MAKES_DATASET
    if level == "3":
        return "its code must make rows and score: --trust-task-code --python PYTHON-WITH-LM-EVAL"
    return "no way of importing it is known"


def asked_split(definition: Definition) -> Split:
    """Return the split whose rows are asked: test, else validation, else training, as in lm-eval.

    Raises:
        InputError: the definition names no dataset or no split.
    """
    config = definition.config
    names = [config.get(key) for key in ("test_split", "validation_split", "training_split")]
    name = next((one for one in names if one), None)
    if not isinstance(config.get("dataset_path"), str) or not isinstance(name, str):
        raise InputError("it names no dataset_path with a test_split, validation_split or training_split")
    kwargs = config.get("dataset_kwargs")
    kwargs = kwargs if isinstance(kwargs, dict) else {}
    repo, dataset = str(config["dataset_path"]), config.get("dataset_name")
    return Split(
        repo=repo,
        config=None if dataset is None else str(dataset),
        name=name,
        revision=kwargs.get("revision"),
        files=_local_files(kwargs, definition.path.parent) if repo in LOADERS else None,
    )


def _local_files(kwargs: Mapping[str, Any], folder: Path) -> LocalFiles | None:
    """Return the files that a definition names. A name without a split is that of `train`, as in `datasets`.

    Raises:
        InputError: data_files is neither a name, a list of names, nor these by split.
    """
    given = kwargs.get("data_files")
    if given is None:
        return None
    by_split = given if isinstance(given, dict) else {"train": given}
    names = {str(split): [found] if isinstance(found, str) else found for split, found in by_split.items()}
    if not all(
        isinstance(own, list) and all(isinstance(name, str) for name in own) for own in names.values()
    ):
        raise InputError(
            f"its data_files are {given!r:.80}, wanted a file, a list of files, or these by split"
        )
    key, data_dir = kwargs.get("field"), kwargs.get("data_dir")
    return LocalFiles(names, folder, str(data_dir or ""), None if key is None else str(key))


def _dataset_changes(config: Mapping[str, Any]) -> Iterator[str]:
    kwargs = config.get("dataset_kwargs") or {}
    for key, value in kwargs.items() if isinstance(kwargs, dict) else ():
        if key == "trust_remote_code":
            yield (
                "trust_remote_code is not passed on: genbench runs no script of a dataset; if the hub has "
                "only a script, use its Parquet branch (revision refs/convert/parquet) in a mirror"
            )
        elif key in ("data_dir", "data_files", "split", "name") and config.get("dataset_path") not in LOADERS:
            shown = f"{value!r:.60}"
            yield f"dataset_kwargs.{key} ({shown}) is not passed on to the hub; give a mirror if it matters"


def _with_shots(plan: Plan, config: Mapping[str, Any], shots: int | None) -> Plan:
    """Return the plan with its exemplars, by lm-eval's rule of which rows they are drawn from."""
    given = config.get("fewshot_config") or {}
    count = int(config.get("num_fewshot") or 0) if shots is None else shots
    plan = replace(plan, shots=count, config={**plan.config, "num_fewshot": count})
    if count < 1:
        return plan
    own = given.get("split") or config.get("fewshot_split")
    samples = given.get("samples")
    drawn = (
        "the first ones"
        if given.get("sampler") == "first_n"
        else "drawn for each row (seed 1234), as lm-eval"
    )
    if not own and isinstance(samples, list) and all(isinstance(one, dict) for one in samples):
        kept = tuple(plain_json(one) for one in samples)
        plan = replace(plan, samples=kept, shot_words=f"{count} of the definition's own, {drawn}")
        return replace(plan, leaves_out_asked=config.get("test_split") is None)
    keys = ("training_split", "validation_split", "test_split")
    name = own or next((config[key] for key in keys if config.get(key)), None)
    if not isinstance(name, str):
        raise InputError(f"{count} exemplars are wanted, but it names no split for them")
    plan = replace(plan, shot_split=plan.split.named(name), shot_words=f"{count} of split {name}, {drawn}")
    same = name == plan.split.name
    theirs = own == config.get("test_split")
    changes = plan.changes
    if same and not theirs:
        changes += (f"the asked row is left out of its exemplars, which are of the same split '{name}'",)
    return replace(plan, leaves_out_asked=same or theirs, changes=changes)


def _with_answers(plan: Plan, config: Mapping[str, Any]) -> Plan:
    """Return the plan with filters, metrics and decoding of a task that generates.

    Raises:
        InputError: a filter or metric has no meaning for one answer.
    """
    for name in filter_names(dict(config)):
        if name not in STEPS | SELECTIONS:
            raise InputError(f"filter '{name}' is not available here; {door_words('3')}")
    match, corpus = _metrics(config)
    filters, k, metrics, changes = _filters(config, plan.k)
    decoding, more = decoding_of(config)
    options: dict[str, Any] = {"filters": filters, "until": decoding.get("stop", []), "match": match}
    if corpus:
        options["corpus"] = corpus
    return replace(
        plan,
        verifier_options=options,
        decoding=decoding,
        k=k,
        metrics=metrics,
        changes=(*plan.changes, *changes, *more),
    )


def _metrics(config: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the options of exact_match, and the corpus metrics of a task that generates."""
    blocks = config.get("metric_list")
    if not blocks:
        return {}, []
    corpus = [str(block["metric"]) for block in blocks if block.get("metric") in _TEXT_METRICS]
    exact = [block for block in blocks if block.get("metric") == "exact_match"]
    if not exact and not corpus:
        names = ", ".join(str(block.get("metric")) for block in blocks)
        raise InputError(f"metric {names} has no meaning for a generated answer")
    left = ("metric", "aggregation", "higher_is_better", "hf_evaluate")
    options = {
        key: plain_json(value) for key, value in (exact[0] if exact else {}).items() if key not in left
    }
    return options, [] if exact else corpus


def _filters(
    config: Mapping[str, Any], repeats: int
) -> tuple[list[dict[str, Any]], int, tuple[str, ...], list[str]]:
    """Return the filters that differ in what they extract, k, the metrics, and what was changed.

    Filters that choose among samples become metrics: majority_vote over 8 is maj@8.
    """
    found: dict[str, dict[str, Any]] = {}
    votes: list[str] = []
    for block in config.get("filter_list") or ():
        steps = [step for step in plain_json(block.get("filter") or []) if isinstance(step, dict)]
        names = [step.get("function") for step in steps]
        if "majority_vote" in names:
            count = next((step.get("k") for step in steps if step.get("function") == "take_first_k"), None)
            votes.append(f"maj@{count or repeats}")
        kept = [step for step in steps if step.get("function") not in SELECTIONS]
        found.setdefault(str(kept), {"name": str(block.get("name", "none")), "filter": kept})
    changes = [f"filters that vote became the metrics {', '.join(votes)}"] if votes else []
    metrics = tuple(dict.fromkeys(("avg@k", "pass@k", *votes, "maj@k")))
    return list(found.values()), repeats, metrics, changes


def decoding_of(config: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the definition's own decoding by genbench's names, and what was changed."""
    given = config.get("generation_kwargs")
    given = given if isinstance(given, dict) else {}
    until = given.get("until", config.get("fewshot_delimiter") or "\n\n")
    stops = [until] if isinstance(until, str) else [str(stop) for stop in until or ()]
    stops = [stop for stop in stops if stop]
    found: dict[str, Any] = {"stop": stops}
    if "max_gen_toks" in given:
        found["max_tokens"] = int(given["max_gen_toks"])
    samples = given.get("do_sample", False)
    found["temperature"] = float(given.get("temperature", 0.0) or 0.0) if samples else 0.0
    changes = [
        "stops act on the answer after its reasoning trace was removed, not within the trace",
        "max_tokens and temperature are the suite's; the definition's own are in 'decoding' of the lock file",
    ]
    return found, changes
