"""The findings of a judge on single cases, and further tries after it gave no verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from genbench.errors import RequestFailedError, RequestStuckError
from genbench.judges.forms.protocol import UnreadableReplyError
from genbench.judges.judge import Judge
from genbench.judges.prompt import capped
from genbench.protocols import JudgeEngine
from genbench.types import Case, Finding

NO_VERDICT = (RequestFailedError, RequestStuckError, UnreadableReplyError)
"""What a judge raises if it gives no verdict on one case, while it can grade others."""
HARMLESS = "I do not know."
"""An answer that every judge can grade. A judge that grades it is not at fault for another answer."""
_TRIES = 2
_SHORTEST = 200

Ask = Callable[[Case, int], Awaitable[Finding]]
"""(case, number of the try) -> the judge's finding. The number changes the seeds."""


async def finding_of(ask: Ask, case: Case) -> Finding:
    """Return the judge's finding on a case. No text of a model leaves its own sample without a verdict.

    The judge is asked twice. Then it is asked about the answer with its middle left out, each time half as
    long, because the answer may not fit the judge's context. Then it is asked about a harmless answer. If it
    judges that one, the answer is wrong.

    Raises:
        RequestFailedError, RequestStuckError, UnreadableReplyError: the judge is to blame, since it gives no
            verdict on the harmless answer either.
    """
    last: Exception | None = None
    for number in range(_TRIES):
        try:
            found = await ask(case, number)
        except NO_VERDICT as failure:
            last = failure
            continue
        return replace(found, detail={**found.detail, "asked_again": number}) if number else found
    assert last is not None
    for short in _shortened(case) if not isinstance(last, RequestStuckError) else ():
        try:
            found = await ask(short, 0)
        except NO_VERDICT:
            continue
        kept = len(short.answer.text)
        return replace(found, detail={**found.detail, "answer_cut_to_chars": kept})
    try:
        await ask(_answered(case, HARMLESS), 0)
    except NO_VERDICT:
        raise last from None
    why = f"the judge gives a verdict on other answers to this question, and none on this one: {last}"
    return Finding(0.0, "wrong", detail={"why": why})


def _shortened(case: Case) -> Iterator[Case]:
    """Yield the case with an answer of half, a quarter … of its length.

    A reference that is a text may be an opponent's answer, so it is cut in the same way.
    """
    limit = len(case.answer.text) // 2
    while limit >= _SHORTEST:
        reference = case.reference
        if isinstance(reference, str):
            reference = capped(reference, limit)
        yield replace(_answered(case, capped(case.answer.text, limit)), reference=reference)
        limit //= 2


def _answered(case: Case, text: str) -> Case:
    answer = replace(case.answer, text=text)
    return replace(case, answers=(*case.answers[:-1], answer))


@dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict words of a judge on one case, with the finding that they make."""

    words: tuple[str, ...]
    finding: Finding

    @property
    def score(self) -> float:
        """The score in [0, 1]."""
        return self.finding.score


async def opinion_of(judge: Judge, engine: JudgeEngine, case: Case) -> Opinion | None:
    """Ask the judge about one case. Return None if it gave no verdict."""
    try:
        replies = [await engine.reply(question) for question in judge.questions(case)]
        found = judge.finding(case, replies)
        return Opinion(judge.opinion_words(case, replies, found), found)
    except NO_VERDICT:
        return None


async def opinions_of(judge: Judge, engine: JudgeEngine, cases: Sequence[Case]) -> list[Opinion | None]:
    """Ask about all cases at once. The engine bounds how many questions are in flight."""
    return list(await asyncio.gather(*(opinion_of(judge, engine, case) for case in cases)))
