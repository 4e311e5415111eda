"""Generated tasks of long prompts: RULER (Hsieh et al. 2024), a needle by depth, and recall in long chats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.generators.documents import Library
from genbench.generators.maker import DEPTH, JSON_PAIRS, LIBRARIES, PARTS, RECALL, RowKey, RowMaker
from genbench.generators.needles import TASKS
from genbench.generators.recipe import Recipe
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.generated import GeneratedTask, Generation
from genbench.tasks.page.task import built_in_info

Several = Any
"""One value, or a list of them."""

SQUAD = HubDataset(
    repo="rajpurkar/squad_v2",
    config="squad_v2",
    split="validation",
    columns=("title", "context", "question", "answers"),
    rows=11_873,
)
HOTPOT = HubDataset(
    repo="hotpotqa/hotpot_qa",
    config="distractor",
    split="validation",
    columns=("question", "answer", "context"),
    rows=7_405,
)
ESSAYS = HubDataset(repo="baber/paul_graham_essays", split="train", columns=("text",))
_OF_LIBRARY = {"squad": SQUAD, "hotpot": HOTPOT}
_LENGTHS = (4_096, 8_192, 16_384, 32_768)
_DEPTHS = tuple(range(0, 101, 10))
_SHORTEST = 256
_LONGEST = 10_000_000
_GENERATED, _ESSAYS = "generated", "essays"
_MOST_ROWS = 100_000
HELMET_RECALL = (JSON_PAIRS, "niah_multikey_2", "niah_multikey_3", "niah_multivalue")
"""The tasks of HELMET's group `recall`."""


def ruler(
    length: Several = _LENGTHS,
    *,
    tasks: Several = PARTS,
    rows: int = 100,
    seed: int = 42,
    haystack: str = _GENERATED,
    match: str = "words",
    answer_prefix: bool = True,
) -> GeneratedTask:
    """Return RULER's thirteen tasks, or some of them.

    Args:
        length: tokens of a prompt with its answer, or several lengths. They are counted with the model's own
            tokenizer.
        tasks: names of the tasks, such as `niah_single_1` or `vt`.
        rows: rows of each task and length. RULER's authors use 500.
        seed: the seed of all rows.
        haystack: `generated` prose, or `essays`, which the authors used (baber/paul_graham_essays).
        match: how references are searched in an answer: `words`, or `substring` as the authors do.
        answer_prefix: whether the beginning of the answer is put into the model's mouth.

    Raises:
        ConfigError: an option has another value.
    """
    names, lengths = _parts("ruler", tasks, PARTS), _lengths("ruler", length)
    keys = _keys(names, lengths, rows)
    _choice("ruler", "match", match, ("words", "substring"))
    _choice("ruler", "answer_prefix", answer_prefix, (True, False))
    has_prose = any(name in TASKS and TASKS[name].haystack == "prose" for name in names)
    sources = _sources("ruler", haystack, has_prose) | {
        LIBRARIES[name]: _OF_LIBRARY[LIBRARIES[name]] for name in names if name in LIBRARIES
    }
    changed = [_ESSAYS] * (haystack == _ESSAYS) + ["substring"] * (match == "substring")
    changed += ["no-prefix"] * (not answer_prefix)
    facts = {"match": match}
    info = _info("ruler", lengths, changed, verifier="contains", options=facts, sources=sources, macro="task")
    generation = Generation(tuple(keys), seed, haystack, prefilled=answer_prefix)
    return GeneratedTask(info, generation, _maker(seed), sources)


def niah(
    length: Several = _LENGTHS,
    *,
    depth: Several = _DEPTHS,
    rows: int = 5,
    seed: int = 42,
    haystack: str = _GENERATED,
    answer_prefix: bool = True,
) -> GeneratedTask:
    """Return one needle in prose at every depth and length, for a heat map.

    Args:
        length: tokens of a prompt with its answer, or several lengths.
        depth: per cent of the haystack before the needle, or several depths.
        rows: rows of each depth and length.
        seed: the seed of all rows.
        haystack: `generated` prose, or `essays`.
        answer_prefix: whether the beginning of the answer is put into the model's mouth.

    Raises:
        ConfigError: an option has another value.
    """
    depths = _several("niah", "depth", depth, int | float)
    for item in depths:
        if not 0 <= item <= 100:
            raise ConfigError(f"niah: depth is {item}, wanted 0 to 100")
    lengths = _lengths("niah", length)
    keys = [
        RowKey(DEPTH, size, index, float(item))
        for size in lengths
        for item in depths
        for index in range(_rows(rows))
    ]
    _choice("niah", "answer_prefix", answer_prefix, (True, False))
    sources = _sources("niah", haystack, True)
    changed = [_ESSAYS] * (haystack == _ESSAYS) + ["no-prefix"] * (not answer_prefix)
    info = _info("niah", lengths, changed, verifier="contains", options={}, sources=sources, macro=None)
    generation = Generation(tuple(keys), seed, haystack, prefilled=answer_prefix)
    return GeneratedTask(info, generation, _maker(seed), sources)


def recall(
    length: Several = _LENGTHS, *, tasks: Several = tuple(RECALL), rows: int = 100, seed: int = 42
) -> GeneratedTask:
    """Return long chats that ask for one of several replies to the same request, after MRCR.

    Args:
        length: tokens of a prompt with its answer, or several lengths.
        tasks: `recall_2`, `recall_4`, `recall_8`: the number of replies to the same request.
        rows: rows of each task and length.
        seed: the seed of all rows.

    Raises:
        ConfigError: an option has another value.
    """
    names, lengths = _parts("recall", tasks, RECALL), _lengths("recall", length)
    keys = _keys(names, lengths, rows)
    info = _info("recall", lengths, [], verifier="recited", options={}, sources={}, macro="task")
    return GeneratedTask(info, Generation(tuple(keys), seed, _GENERATED, prefilled=False), _maker(seed), {})


def helmet_recall(
    length: Several = _LENGTHS,
    *,
    tasks: Several = HELMET_RECALL,
    rows: int = 100,
    seed: int = 42,
    haystack: str = _GENERATED,
    answer_prefix: bool = True,
) -> GeneratedTask:
    """Return the recall tasks of HELMET: a value of a JSON object, and three of RULER's tasks.

    Args:
        length: tokens of a prompt with its answer, or several lengths.
        tasks: names of the tasks: `json_kv`, `niah_multikey_2`, `niah_multikey_3`, `niah_multivalue`.
        rows: rows of each task and length. HELMET's authors use 100.
        seed: the seed of all rows.
        haystack: `generated` prose, or `essays`.
        answer_prefix: whether the beginning of the answer is put into the model's mouth.

    Raises:
        ConfigError: an option has another value.
    """
    own = "helmet_recall"
    names, lengths = _parts(own, tasks, HELMET_RECALL), _lengths(own, length)
    keys = _keys(names, lengths, rows)
    _choice(own, "answer_prefix", answer_prefix, (True, False))
    sources = _sources(own, haystack, "niah_multivalue" in names)
    changed = [_ESSAYS] * (haystack == _ESSAYS) + ["no-prefix"] * (not answer_prefix)
    facts = {"match": "substring"}
    info = _info(own, lengths, changed, verifier="contains", options=facts, sources=sources, macro="task")
    generation = Generation(tuple(keys), seed, haystack, prefilled=answer_prefix)
    return GeneratedTask(info, generation, _maker(seed), sources)


def _info(
    name: str,
    lengths: Sequence[int],
    changed: Sequence[str],
    *,
    verifier: str,
    options: Mapping[str, Any],
    sources: Mapping[str, HubDataset],
    macro: str | None,
) -> TaskInfo:
    info = built_in_info(
        name,
        {"length": lengths[0] if len(lengths) == 1 else None},
        asks_alike=True,
        sources=tuple(sources.values()),
        verifier=verifier,
        verifier_options=options,
        metrics=("avg@k",),
        macro=macro,
    )
    return replace(info, version="-".join([info.version, *changed]))


def maker_of_recipe(recipe: Recipe, read: Callable[[HubDataset], Sequence[Row]]) -> RowMaker:
    """Return the maker of a stored recipe.

    Args:
        read: returns the rows of a dataset.
    """
    rows: dict[str, Sequence[Row]] = {}
    if recipe.haystack == _ESSAYS:
        rows[_ESSAYS] = read(ESSAYS)
    if recipe.key.part in LIBRARIES:
        name = LIBRARIES[recipe.key.part]
        rows[name] = read(_OF_LIBRARY[name])
    made: RowMaker = _maker(recipe.seed)(rows)
    return made


def _maker(seed: int) -> Any:
    """Return the function that makes the rows from the texts of the datasets."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ConfigError(f"seed is {seed!r}, wanted a whole number")

    def make(rows: Mapping[str, Sequence[Row]]) -> RowMaker:
        text = "\n".join(str(row["text"]) for row in rows[_ESSAYS]) if _ESSAYS in rows else None
        libraries = {}
        if "squad" in rows:
            libraries["squad"] = Library.of_squad(rows["squad"])
        if "hotpot" in rows:
            libraries["hotpot"] = Library.of_hotpot(rows["hotpot"])
        return RowMaker(seed, text, libraries)

    return make


def _sources(task: str, haystack: str, needed: bool) -> dict[str, HubDataset]:
    _choice(task, "haystack", haystack, (_GENERATED, _ESSAYS))
    return {_ESSAYS: ESSAYS} if haystack == _ESSAYS and needed else {}


def _parts(task: str, given: Several, known: Collection[str]) -> tuple[str, ...]:
    """Return the names of the parts of a task that an option gives.

    Raises:
        ConfigError: a name is unknown, or there is none.
    """
    names = _several(task, "tasks", given, str)
    for name in names:
        if name not in known:
            raise ConfigError(f"{task}: tasks: unknown task '{name}'{nearest(name, known)}")
    return names


def _keys(names: Sequence[str], lengths: Sequence[int], rows: int) -> list[RowKey]:
    """Return the keys of so many rows of each part and length."""
    return [RowKey(name, size, index) for size in lengths for name in names for index in range(_rows(rows))]


def _lengths(task: str, given: Several) -> tuple[int, ...]:
    found = _several(task, "length", given, int)
    for length in found:
        if not _SHORTEST <= length <= _LONGEST:
            raise ConfigError(f"{task}: length is {length}, wanted {_SHORTEST} to {_LONGEST} tokens")
    return tuple(sorted(found))


def _several(task: str, option: str, given: Several, kind: Any) -> tuple[Any, ...]:
    """Return one value or a list of them as a tuple without repetitions.

    Raises:
        ConfigError: it is empty, or has a value of another type.
    """
    found = tuple(dict.fromkeys(given if isinstance(given, list | tuple) else [given]))
    if not found or not all(isinstance(item, kind) and not isinstance(item, bool) for item in found):
        wanted = "text" if kind is str else "a number"
        raise ConfigError(
            f"{task}: {option} is {given!r}, wanted {wanted} or a list, with at least one value"
        )
    return found


def _rows(given: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= _MOST_ROWS:
        raise ConfigError(f"rows is {given!r}, wanted a whole number from 1 to {_MOST_ROWS:,}")
    return given


def _choice(task: str, option: str, given: Any, known: Sequence[Any]) -> None:
    if given not in known or isinstance(given, bool) != isinstance(known[0], bool):
        words = ", ".join(str(item).lower() for item in known)
        raise ConfigError(f"{task}: {option} is {given!r}, wanted one of {words}")
