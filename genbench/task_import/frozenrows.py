"""Rendered rows in the form that is stored: the prompt, and what the answer is checked against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.task_import.plan import Plan

_ASK_CHOICE = (
    "Reason step by step. Exactly one option is right: end with a line 'Answer: X', where X is {letters}."
)


def frozen_rows(
    plan: Plan, rows: Sequence[Row], rendered: Mapping[int, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return one stored row for each rendered one, in the order of the data. Its id is its place, from 0.

    Raises:
        DataError: a target does not fit the choices.
    """
    first = rendered[min(rendered)]["target"]
    several = isinstance(first, list)
    found = []
    for place in sorted(rendered):
        row = rendered[place]
        where = f"task {plan.name}, row {place + 1}"
        kept: dict[str, Any] = {"id": str(place), "context": row["contexts"][0]}
        if plan.output == "generate_until":
            kept["reference"] = {"golds": _golds(row, several, where)} | _choices_column(plan, rows[place])
        elif plan.output == "multiple_choice":
            kept |= _choices(row, plan, where)
        else:
            kept["continuation"] = str(row["target"])
        found.append(kept)
    return found


def _golds(row: Mapping[str, Any], several: bool, where: str) -> list[str]:
    """Return the accepted texts. If the first row has a list of targets, every row has."""
    target, choices = row["target"], row["choices"]
    if choices is not None:
        if not isinstance(target, int) or not -len(choices) <= target < len(choices):
            raise DataError(f"{where}: the target is {target!r:.60}, wanted the index of a choice")
        return [str(choices[target])]
    if several or isinstance(target, list):
        golds = target if isinstance(target, list) else [target]
        if not golds:
            raise DataError(f"{where}: the list of targets is empty")
        return [str(gold) for gold in golds]
    return [str(target)]


def _choices_column(plan: Plan, row: Row) -> dict[str, Any]:
    """Return the texts of the choices if a filter looks for them. lm-eval takes them from the column."""
    blocks = (plan.verifier_options or {}).get("filters") or ()
    wanted = any(step["function"] == "multi_choice_regex" for block in blocks for step in block["filter"])
    if not wanted:
        return {}
    choices = row.get("choices")
    if not isinstance(choices, list):
        raise DataError(f"task {plan.name}: filter multi_choice_regex wants a column 'choices' with a list")
    return {"choices": [str(choice) for choice in choices]}


def _choices(row: Mapping[str, Any], plan: Plan, where: str) -> dict[str, Any]:
    """Return the continuations of a task with choices, and the indices of the right ones."""
    choices = row["choices"]
    if not choices:
        raise DataError(f"{where}: has no choices")
    delimiter = str(plan.config.get("target_delimiter", " "))
    several = row["index"] is not None
    continuations = [str(row["target"])] * len(choices) if several else [str(choice) for choice in choices]
    gold = row["index"] if several else row["target"]
    return {
        "contexts": list(row["contexts"]) if several else None,
        "choices": [str(choice) for choice in choices],
        "delimiter": delimiter,
        "continuations": [delimiter + text for text in continuations],
        "gold": right_places(gold, [str(choice) for choice in choices], where),
    }


def right_places(gold: Any, choices: Sequence[str], where: str) -> list[int]:
    """Return the indices of the right choices from an index, a choice's text, or a list of indices.

    Raises:
        DataError: it is none of these, or outside the choices.
    """
    places = gold if isinstance(gold, list) else [gold]
    found = []
    for one in places:
        place = choices.index(one) if isinstance(one, str) and one in choices else one
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(choices):
            raise DataError(f"{where}: the target is {gold!r:.60}, wanted a choice of {len(choices)}")
        found.append(place)
    if not found:
        raise DataError(f"{where}: has no target")
    return found


def generated_row(row: Mapping[str, Any], source: Row, where: str) -> dict[str, Any]:
    """Return a row with choices as one that generates its answer: options under letters, one to be named.

    Raises:
        DataError: fewer than 2 or more than 26 choices, or several contexts.
    """
    choices, gold = row["choices"], row["gold"]
    if row.get("contexts"):
        raise DataError(f"{where}: its choices are in the context; it cannot be asked with options")
    if not 2 <= len(choices) <= len(ascii_uppercase):
        raise DataError(f"{where}: has {len(choices)} choices, wanted 2 to {len(ascii_uppercase)}")
    letters = list(ascii_uppercase[: len(choices)])
    question = row["context"].rstrip()
    options = [choice.strip() for choice in choices]
    if options == letters:  # the question lists them already
        texts = source.get("choices")
        same = isinstance(texts, list) and len(texts) == len(letters)
        options = [str(text) for text in texts] if same and texts is not None else letters
    else:
        listed = "\n".join(f"{letter}) {text}" for letter, text in zip(letters, options, strict=True))
        question = f"{question}\n\n{listed}"
    named = f"{', '.join(letters[:-1])} or {letters[-1]}"
    reference = {"letter": letters[gold[0]], "options": options}
    if len(gold) > 1:
        reference["also"] = "".join(letters[place] for place in gold[1:])
    prompt = f"{question}\n\n{_ASK_CHOICE.format(letters=named)}"
    return {"id": row["id"], "context": prompt, "reference": reference, "options": options}
