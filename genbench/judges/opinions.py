"""What a judge says of single cases, outside any run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from genbench.errors import RequestFailedError
from genbench.judges.forms import Judge, Unparsed
from genbench.protocols import JudgeEngine
from genbench.types import Case


@dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict words of a judge on one case, their score in [0, 1], and whether the order flipped it."""

    words: tuple[str, ...]
    score: float
    flipped: bool = False


async def opinion_of(judge: Judge, engine: JudgeEngine, case: Case) -> Opinion | None:
    """The judge's opinion; None where it gave no verdict."""
    try:
        replies = [await engine.reply(question) for question in judge.questions(case)]
        found = judge.finding(case, replies)
    except (RequestFailedError, Unparsed):
        return None
    if judge.file.form == "pairwise":
        return Opinion(((found.extracted or "").upper(),), found.score, bool(found.detail["flipped"]))
    return Opinion(judge.values(replies[0], case.reference), found.score)


async def opinions_of(judge: Judge, engine: JudgeEngine, cases: Sequence[Case]) -> list[Opinion | None]:
    """As opinion_of, all at once; the engine bounds how many are asked together."""
    return list(await asyncio.gather(*(opinion_of(judge, engine, case) for case in cases)))
