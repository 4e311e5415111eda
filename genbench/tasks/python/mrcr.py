"""OpenAI's MRCR: long chats that ask for one of several replies to the same request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Row
from genbench.tasks.base import SingleTurn
from genbench.tasks.page.task import built_in_info
from genbench.tasks.rows import length_bin
from genbench.types import Ask, Message, Problem

Longest = Literal["all", "8k", "16k", "32k", "64k", "128k", "256k", "512k"]

CHARS: Mapping[str, int] = MappingProxyType(
    {f"{size}k": size * 4_096 for size in (8, 16, 32, 64, 128, 256, 512)}
)
"""Characters of a prompt by its length in thousands of tokens, with four characters for a token."""


def mrcr(longest: Longest = "all") -> SingleTurn:
    """Return OpenAI's MRCR: long chats that ask for one of 2, 4 or 8 replies to the same request.

    Args:
        longest: rows above this length, at four characters a token, are left out and counted.

    Raises:
        ConfigError: there is no such length.
    """
    if longest not in get_args(Longest):
        raise ConfigError(f"mrcr: longest is '{longest}'{nearest(str(longest), get_args(Longest))}")
    info = built_in_info("mrcr", {}, asks_alike=True, verifier="recited", metrics=("avg@k",))
    if longest != "all":
        info = replace(info, version=f"{info.version}-{longest}")
    assert info.dataset is not None
    most = CHARS.get(longest)
    return SingleTurn(info, lambda place, row: _chat(place, row, most), _pose, info.dataset.columns)


def _chat(place: int, row: Row, most: int | None) -> Problem:
    """Return the problem of a row.

    Raises:
        DataError: it is longer than `most` characters, or it has another form.
    """
    where = f"task mrcr, row {place + 1}"
    try:
        said = json.loads(row["prompt"])
        messages = [Message(item["role"], str(item["content"])) for item in said]
        begins, answer = str(row["random_string_to_prepend"]), str(row["answer"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{where}: the prompt is not a list of messages as JSON ({error!r})") from None
    if not messages or messages[-1].role != "user":
        raise DataError(f"{where}: the last message is not the user's")
    if not answer.startswith(begins):
        raise DataError(f"{where}: the answer does not begin with random_string_to_prepend")
    size = sum(len(message.content) for message in messages)
    if most is not None and size > most:
        raise DataError(f"{where}: {size:,} characters, above the {most:,} of 'longest'")
    strata = {"needles": str(row["n_needles"]), "length": length_bin(size + len(answer))}
    reference = {"begins": begins, "text": answer.removeprefix(begins)}
    return Problem("mrcr", str(place), {"messages": messages, "reference": reference}, strata)


def _pose(problem: Problem, sample_index: int) -> Ask:
    return Ask(tuple(problem.row["messages"]), problem.row["reference"])
