"""Tasks whose rows come from a team's own generator: a function of a Python file that runs in the sandbox."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import ConfigError
from genbench.generators.maker import RowKey
from genbench.generators.own import GeneratorFile, OwnRowMaker
from genbench.protocols import Row, TaskInfo
from genbench.tasks.generated import GeneratedTask, Generation
from genbench.tools.simulated_functions import read_wish

_MOST_ROWS, _LARGEST = 100_000, 10_000_000


def generated(
    generator: str,
    *,
    length: int | Sequence[int] | None = None,
    rows: int = 100,
    seed: int = 42,
    max_tokens: int = 128,
    named: str | None = None,
    sandbox: Mapping[str, Any] | None = None,
) -> GeneratedTask:
    """Return a task of a team's own generator.

    Args:
        generator: `PATH.py:function`. A relative path is searched in the suite's folder.
        length: tokens of a prompt with its answer, or several lengths. They are counted with the model's own
            tokenizer. None: each prompt has all that its row has.
        rows: rows of each length.
        seed: the seed of all rows.
        max_tokens: new tokens of an answer, which belong to the length.
        named: how the suite names the generator. Recipes of prompts have this name.
        sandbox: options of the sandbox: `tier`, `wall_s`, `memory_mib`, `unsafe_local_exec`.

    Raises:
        ConfigError: the file or the function does not exist, or an option is wrong.
    """
    lengths = _lengths(length)
    _whole("rows", rows, _MOST_ROWS)
    _whole("max_tokens", max_tokens, _LARGEST)
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ConfigError(f"generated: seed is {seed!r}, wanted a whole number")
    wish = read_wish(sandbox or {}, "generated: sandbox")
    file = GeneratorFile.read(generator)
    facts = json.dumps([file.digest, seed, max_tokens])
    keys = [RowKey(file.function, size, index) for size in lengths for index in range(rows)]
    info = TaskInfo(
        name="generated",
        asks_alike=True,
        version=f"1-{hashlib.sha256(facts.encode()).hexdigest()[:8]}",
        summary=f"rows of {named or generator}",
        dataset=None,
        k=1,
        verifier="contains",
        metrics=("avg@k",),
        licence="the suite's own",
        family="other",
    )
    generation = Generation(
        tuple(keys),
        seed,
        haystack="",
        prefilled=True,
        generator=named or generator,
        version=file.digest,
        max_tokens=max_tokens,
    )
    maker = OwnRowMaker(file, seed, wish)

    def make(texts: Mapping[str, Sequence[Row]]) -> OwnRowMaker:
        return maker

    return GeneratedTask(info, generation, make, {})


def _lengths(given: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the lengths in their order. 0 stands for prompts without one."""
    if given is None:
        return (0,)
    found = tuple(dict.fromkeys(given if isinstance(given, list | tuple) else [given]))
    if not found:
        raise ConfigError("generated: length is an empty list, wanted at least one value")
    for length in found:
        _whole("length", length, _LARGEST)
    return tuple(sorted(found))


def _whole(option: str, given: Any, most: int) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= most:
        raise ConfigError(f"generated: {option} is {given!r}, wanted a whole number from 1 to {most:,}")
