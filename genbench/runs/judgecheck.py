"""The command `genbench judge check`, which tests a judge on its own calibration set."""

from __future__ import annotations

import tempfile
from pathlib import Path

from genbench.judges.build import build_engine
from genbench.judges.calibration import CalibrationCase, read_calibration
from genbench.judges.canary import CANARIES, pin_path, write_pin
from genbench.judges.checking import check
from genbench.judges.file import judge_path, read_judge
from genbench.judges.judge import Judge
from genbench.runs.judge_check_record import JudgeCheck
from genbench.runs.loop import run_coroutine
from genbench.suite.judge import JudgeConfig
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import read_suite


def check_judge(name: str | Path, suite: str | Path | None = None, *, pin: bool = False) -> JudgeCheck:
    """Test a judge on its calibration set twice, and once more with injected orders.

    Args:
        name: a judge file, or the name of a shipped judge.
        suite: a suite whose `judge:` block names the model or the server, if the judge file does not.
        pin: store the canary's labels. Later runs report the labels that changed.

    Raises:
        ConfigError: the judge cannot be used.
        EngineError: its engine or server failed.
    """
    over, base = JudgeConfig(), Path()
    if suite is not None:
        found = read_suite(suite_path(str(suite)))
        over, base = found.config.judge, found.folder
    judge = Judge(read_judge(judge_path(str(name), base), over))
    known = read_calibration(judge.spec)
    with tempfile.TemporaryDirectory(prefix="genbench-judge-") as folder:
        record = run_coroutine(_check(judge, known, over, base, Path(folder)))
    if not pin:
        return record
    return record.model_copy(update={"pinned_in": str(_pinned(judge, known, record, suite, base))})


async def _check(
    judge: Judge, known: list[CalibrationCase], over: JudgeConfig, base: Path, folder: Path
) -> JudgeCheck:
    """Start the judge's engine, check the judge, and close the engine."""
    engine = build_engine(judge.spec, over, base, folder)
    try:
        await engine.start()
        found = await check(judge, engine, known)
        return JudgeCheck(
            format=1,
            judge=judge.file.name,
            digest=judge.digest,
            engine=dict(engine.record),
            unpinned=judge.spec.unpinned,
            **found,
        )
    finally:
        await engine.close()


def _pinned(
    judge: Judge, known: list[CalibrationCase], record: JudgeCheck, suite: str | Path | None, base: Path
) -> Path:
    """Store the canary's labels and the agreement. The file is next to the suite, or else the judge file."""
    names = [item.case.sample.problem_id for item in known[:CANARIES]]
    path = pin_path(judge.spec, base if suite is not None else judge.spec.path.parent)
    agreement = {"kappa": record.kappa, "accuracy": record.accuracy, "verdicts": record.verdicts}
    write_pin(path, judge, {name: record.answers[name] for name in names}, agreement)
    return path
