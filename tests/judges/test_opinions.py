"""Opinions on single cases, from a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.judges.calibration import CalibrationCase, check
from genbench.judges.engines import build_engine
from genbench.judges.judge import Judge
from genbench.judges.opinions import Opinion, opinion_of, opinions_of
from genbench.suite.judge import JudgeConfig
from genbench.types import Case

from .conftest import Server
from .judgefiles import sample, served_by

PAIRS = "form: pairwise\n"


def asked(judge: Judge, folder: Path, cases: Sequence[Case]) -> list[Opinion | None]:
    """Ask the judge's server about all cases."""

    async def work() -> list[Opinion | None]:
        engine = build_engine(judge.spec, JudgeConfig(), folder, folder)
        try:
            await engine.start()
            return await opinions_of(judge, engine, cases)
        finally:
            await engine.close()

    return asyncio.run(work())


def test_an_opinion_has_the_label_and_its_score(tmp_path: Path, server: Server) -> None:
    server.grade = lambda prompt: "YES"
    (found,) = asked(served_by(server.url, folder=tmp_path), tmp_path, [sample("4")])
    assert found is not None and (found.words, found.score) == (("YES",), 1.0)


def test_opinions_come_in_the_order_of_the_cases(tmp_path: Path, server: Server) -> None:
    server.grade = lambda prompt: "YES" if "even" in prompt else "NO"
    cases = [sample("even" if number % 2 == 0 else "odd", str(number)) for number in range(6)]
    found = asked(served_by(server.url, folder=tmp_path), tmp_path, cases)
    assert [item.score for item in found if item] == [1, 0, 1, 0, 1, 0]


def test_a_reply_without_a_verdict_is_no_opinion(tmp_path: Path, server: Server) -> None:
    server.grade = lambda prompt: "I would rather not say."
    assert asked(served_by(server.url, folder=tmp_path), tmp_path, [sample("4")]) == [None]


def test_a_request_that_fails_is_no_opinion(tmp_path: Path, server: Server) -> None:
    server.every = "echo"
    assert asked(served_by(server.url, folder=tmp_path), tmp_path, [sample("4")]) == [None]


def test_an_opinion_of_a_pair_is_in_the_words_of_calibration(tmp_path: Path, server: Server) -> None:
    server.grade = lambda prompt: "A"
    judge = served_by(server.url, PAIRS, folder=tmp_path, prompt="{question} {first} {second}\n")
    (found,) = asked(judge, tmp_path, [sample("ours", "theirs")])
    assert found is not None and found.words == ("TIE",)
    assert found.finding.detail["flipped"] is True


def test_one_case_asks_one_question_for_each_prompt_of_the_form(tmp_path: Path, server: Server) -> None:
    server.grade = lambda prompt: "YES"
    judge = served_by(server.url, folder=tmp_path)

    async def work() -> Opinion | None:
        engine = build_engine(judge.spec, JudgeConfig(), tmp_path, tmp_path)
        await engine.start()
        try:
            return await opinion_of(judge, engine, sample("4"))
        finally:
            await engine.close()

    assert asyncio.run(work()) is not None
    assert len(server.requests) + len(server.canaries) == 1


def test_a_check_measures_the_opinions_on_known_cases(tmp_path: Path, server: Server) -> None:
    judge = served_by(server.url, folder=tmp_path)
    server.grade = lambda prompt: "YES" if "good" in prompt else "NO"
    known = [
        CalibrationCase(sample(text, question=f"q{number}"), (label,))
        for number, (text, label) in enumerate(
            [("good", "YES"), ("bad", "NO"), ("good", "NO"), ("bad", "NO")]
        )
    ]

    async def work() -> Mapping[str, Any]:
        engine = build_engine(judge.spec, JudgeConfig(), tmp_path, tmp_path)
        await engine.start()
        try:
            return await check(judge, engine, known)
        finally:
            await engine.close()

    record = asyncio.run(work())
    assert (record["n"], record["unscored"], record["stability"]) == (4, 0, 1.0)
    assert record["accuracy"] == 0.75 and record["verdicts"] == 4
    assert [item["expected"] for item in record["disagreements"]] == ["NO"]
