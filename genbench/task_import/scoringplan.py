"""The rule and the metrics of an imported task whose given texts are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import DataError, InputError

_RULES = {"acc": "acc", "acc_norm": "acc_norm", "acc_bytes": "acc_byte", "acc_mutual_info": "acc_pmi"}
"""lm-eval's metrics of choices by genbench's rules."""
_CORPUS = ("f1", "mcc")
_OF_OUTPUT = {"loglikelihood": "greedy", "loglikelihood_rolling": "byte_probability"}


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
