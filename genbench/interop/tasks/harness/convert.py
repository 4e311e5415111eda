"""Conversion of one definition into rows and a lock: by its templates, or by its own code in the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from genbench.errors import DataError, GenbenchError, InputError
from genbench.interop.tasks.harness.defects import known_defects
from genbench.interop.tasks.harness.definition import Definition
from genbench.interop.tasks.harness.levels import Classified, sample_metrics, scored_refusal
from genbench.interop.tasks.harness.plan import Plan, decoding_of, make_plan, with_classes
from genbench.interop.tasks.harness.rendering import Rendering, render_rows
from genbench.interop.tasks.sources import Source, load_split
from genbench.protocols import Row
from genbench.sandbox.foreign import ForeignPython, run_foreign
from genbench.tasks.imported import FrozenFile, Lock, Origin, RowsOrigin
from genbench.tasks.kinds import LIKELIHOOD
from genbench.verifiers.foreign.foreign_score import code_digest

_ASK_CHOICE = (
    "Reason step by step. Exactly one option is right: end with a line 'Answer: X', where X is {letters}."
)
_SCRIPT = Path(__file__).parents[1] / "programs" / "lm_eval_rows.py"
_MOST_REFUSED = 20
"""Rows that could not be made of which the lock file keeps the reason."""
Tell = Callable[[str], None]


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


@dataclass(frozen=True, slots=True)
class CodeRows:
    """The rows that lm-eval made by place, the rows that filters look at, and the origin of the rows."""

    rendered: dict[int, dict[str, Any]]
    rows: list[Row]
    origins: list[RowsOrigin]


def rows_by_code(
    definition: Definition,
    plan: Plan,
    python: ForeignPython,
    data_dir: Path | None,
    shots: int | None,
    *,
    docs: bool = False,
) -> CodeRows:
    """Return the rows that lm-eval's code makes of a definition. It runs once, without network.

    Args:
        docs: whether each rendered row has the row that it was made of, under `doc`.

    Raises:
        GenbenchError: the rows cannot be read, or the code fails.
        InputError: the definition makes its dataset itself.
    """
    splits: dict[str, list[Row]] = {}
    origins: list[RowsOrigin] = []
    for name in _split_names(definition, plan):
        try:
            found = load_split(plan.split.named(name), data_dir)
        except GenbenchError:
            if name == plan.split.name or plan.shots:
                raise
            continue  # exemplars are not drawn, so that their split is not needed
        splits[name] = found.rows
        origins.append(found.origin)
    order = {"path": str(definition.path), "shots": shots, "splits": splits, "docs": docs}
    made = run_foreign(python, _SCRIPT, order, [definition.root])
    if not made:
        raise InputError("the task's code made no rows")
    rows: list[Row] = [{"choices": row["listed"]} for row in made]
    return CodeRows(dict(enumerate(made)), rows, origins)


def _split_names(definition: Definition, plan: Plan) -> list[str]:
    """Return the split that is asked first, then the others that exemplars may come from."""
    config = definition.config
    keys = ("training_split", "validation_split", "test_split", "fewshot_split")
    names = [plan.split.name, *(config.get(key) for key in keys)]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def lock_of(
    found: Classified,
    plan: Plan,
    source: Source,
    *,
    origins: Sequence[RowsOrigin],
    rows: Sequence[Mapping[str, Any]],
    refused: Mapping[str, str],
) -> Lock:
    """Return the lock of a natively imported task. Its file of rows is filled in when it is written.

    Args:
        origins: where the rows came from.
        rows: the stored rows.
        refused: why rows could not be made, by place.
    """
    definition = found.definition
    changes = list(plan.changes)
    if refused:
        changes.append(
            f"{len(refused)} of {len(refused) + len(rows)} rows could not be rendered and are left out"
        )
    generates = plan.output == "generate_until"
    kind = ("filtered_match" if plan.verifier_options is not None else "choice") if generates else LIKELIHOOD
    options = dict(plan.verifier_options or {})
    if plan.output == "multiple_choice":
        options = with_classes(options, rows)
    return Lock(
        task=plan.name,
        door=1,
        level=found.level,
        output=plan.output,
        origin=origin_of(definition, source),
        data=tuple(origins),
        shots=plan.shot_words,
        frozen=FrozenFile(name=f"{plan.name}.rows.jsonl", rows=len(rows), sha256=""),
        k=plan.k,
        verifier=kind,
        verifier_options=options,
        metrics=plan.metrics if generates else (options["rule"],),
        decoding=dict(plan.decoding or {}),
        changes=tuple(changes),
        defects=known_defects(definition.name, definition.config),
        refused=dict(list(refused.items())[:_MOST_REFUSED]),
        definition=definition.plain,
    )


def origin_of(definition: Definition, source: Source) -> Origin:
    """Return the origin of a definition for its lock file."""
    metadata = definition.config.get("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    files = [str(path.relative_to(definition.root)) for path in definition.files]
    return source.origin(files, definition.digest, version)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What a user asks of an import.

    Args:
        output: the folder that gets the files.
        data_dir: a mirror of datasets instead of the hub.
        tasks_dir: the folder of definitions that a name is looked up in. None: that of the installed lm-eval.
        shots: the number of exemplars, instead of the definition's own.
        headline: the filter that makes the score.
        skip_code: the lists, `filter_list` or `metric_list`, of which entries with Python functions are left
            out, if others remain.
        foreign: the Python that may run the task's own code once to make its rows. None: no code runs.
        generate: whether tasks with choices become tasks that generate their answer.
    """

    output: Path
    data_dir: Path | None = None
    tasks_dir: Path | None = None
    shots: int | None = None
    headline: str | None = None
    generate: bool = False
    skip_code: frozenset[str] = frozenset()
    foreign: ForeignPython | None = None
    tell: Tell = field(default=lambda line: None)


@dataclass(frozen=True, slots=True)
class Converted:
    """One task that can be written."""

    lock: Lock
    rows: list[dict[str, Any]]


def convert(
    found: Classified, source: Source, options: ImportOptions, left_out: Sequence[str] = ()
) -> Converted:
    """Return the rows and the lock of a definition.

    Args:
        left_out: what of the definition was left out, in words.

    Raises:
        GenbenchError: it needs something that is not available here, or its rows cannot be read or rendered.
    """
    if found.level == "3" and options.foreign is not None:
        return _scored_by_code(found, source, options, options.foreign, left_out)
    generates = options.generate and found.output == "multiple_choice"
    shots = 0 if generates else options.shots
    by_code = options.foreign is not None and found.level in ("2", "2c")
    plan = _with_headline(make_plan(found, shots, rows_given=by_code), options.headline)
    plan = replace(plan, changes=(*plan.changes, *left_out))
    if by_code and options.foreign is not None:
        made = rows_by_code(found.definition, plan, options.foreign, options.data_dir, shots)
        source_rows, origins, refused = made.rows, made.origins, {}
        rows = frozen_rows(plan, source_rows, made.rendered)
    else:
        source_rows, origins, rendering = _rendered(plan, options.data_dir)
        refused = {str(place): rendering.refused[place] for place in sorted(rendering.refused)}
        rows = frozen_rows(plan, source_rows, rendering.rows)
    if generates:
        plan, rows = _generating(plan, rows, source_rows)
    lock = lock_of(found, plan, source, origins=origins, rows=rows, refused=refused)
    return Converted(lock.model_copy(update={"door": 2 if by_code else 1}), rows)


def _rendered(plan: Plan, data_dir: Path | None) -> tuple[list[Row], list[RowsOrigin], Rendering]:
    """Return the rows of the asked split, the origins of all rows that were read, and the rendered rows."""
    asked = load_split(plan.split, data_dir)
    origins = [asked.origin]
    exemplars: Sequence[Row] = plan.samples
    if plan.shot_split == plan.split:
        exemplars = asked.rows
    elif plan.shot_split is not None:
        others = load_split(plan.shot_split, data_dir)
        exemplars = others.rows
        origins.append(others.origin)
    rendering = render_rows(
        plan.config,
        asked.rows,
        exemplars=exemplars,
        same_split=plan.leaves_out_asked,
        patterns=plan.patterns,
    )
    return asked.rows, origins, rendering


def _with_headline(plan: Plan, headline: str | None) -> Plan:
    """Return the plan with another filter for the score.

    Raises:
        DataError: it has no such filter.
    """
    if headline is None or plan.verifier_options is None:
        return plan
    names = [block["name"] for block in plan.verifier_options.get("filters") or ()]
    if headline not in names:
        raise DataError(f"it has no filter '{headline}'; its filters: {', '.join(names) or 'none'}")
    return replace(plan, verifier_options={**plan.verifier_options, "headline": headline})


def _generating(
    plan: Plan, rows: Sequence[Mapping[str, Any]], source: Sequence[Row]
) -> tuple[Plan, list[dict[str, Any]]]:
    """Return the plan and the rows of a task with choices as one that generates its answer."""
    change = "asked with its options and graded by the letter of a generated answer: another benchmark"
    made = [
        generated_row(row, source[int(row["id"])], f"task {plan.name}, row {int(row['id']) + 1}")
        for row in rows
    ]
    name, changes = f"{plan.name}_gen", (*plan.changes, change)
    return replace(plan, name=name, output="generate_until", changes=changes, verifier_options=None), made


def _scored_by_code(
    found: Classified,
    source: Source,
    options: ImportOptions,
    python: ForeignPython,
    left_out: Sequence[str],
) -> Converted:
    """Return the rows and the lock of a task that its own code scores.

    Raises:
        GenbenchError: it does not generate its answers, its code scores only all samples together, or its
            rows cannot be read or made.
    """
    definition = found.definition
    why = scored_refusal(found)
    if why is not None:
        raise InputError(f"{found.reason} (level {found.level}); {why}")
    metrics = sample_metrics(definition.config) or ["exact_match"]
    plan = make_plan(found, options.shots, rows_given=True, scored_by_code=True)
    made = rows_by_code(definition, plan, python, options.data_dir, options.shots, docs=True)
    rows = [
        {
            "id": str(place),
            "context": row["contexts"][0],
            "reference": {"doc": row["doc"], "golds": [str(row["target"])]},
        }
        for place, row in sorted(made.rendered.items())
    ]
    decoding, changes = decoding_of(definition.config)
    folders = sorted({str(path.parent.relative_to(definition.root)) for path in definition.files})
    verifier: dict[str, Any] = {
        "root": str(definition.root.resolve()),
        "definition": str(definition.path.relative_to(definition.root)),
        "folders": folders,
        "digest": code_digest(definition.root, folders),
        "metrics": metrics,
        "until": decoding["stop"],
    }
    if options.headline is not None:
        verifier["headline"] = options.headline
    plan = replace(
        plan,
        decoding=decoding,
        metrics=("avg@k", "pass@k"),
        changes=(
            *plan.changes,
            *left_out,
            *changes,
            f"answers are scored by {source.framework}'s own code in a sandbox",
        ),
    )
    lock = lock_of(found, plan, source, origins=made.origins, rows=rows, refused={})
    update = {"door": 3, "verifier": "foreign_score", "verifier_options": verifier}
    return Converted(lock.model_copy(update=update), rows)
