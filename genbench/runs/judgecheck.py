"""`genbench judge check`: is this judge worth believing, on its own calibration set."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from genbench.judges.build import build_engine
from genbench.judges.calibration import read_calibration
from genbench.judges.canary import CANARIES, pin_path, write_pin
from genbench.judges.checking import check
from genbench.judges.file import judge_path, read_judge
from genbench.judges.judge import Judge
from genbench.runs.session import run_coroutine
from genbench.suite.config import JudgeConfig
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import read_suite

FORMAT = 1


def check_judge(name: str, suite: str | None = None, *, pin: bool = False) -> dict[str, Any]:
    """Asks the judge its calibration set twice and with injected instructions.

    Args:
        name: a judge file or a shipped judge.
        suite: its `judge:` block gives the model or the server, where the judge file names none.
        pin: keep the canary's labels; later runs report what moved.

    Raises:
        ConfigError: the judge cannot be used. EngineError: its engine or server failed.
    """
    over, base = JudgeConfig(), Path()
    if suite is not None:
        found = read_suite(suite_path(suite))
        over, base = found.config.judge, found.folder
    judge = Judge(read_judge(judge_path(name, base), over))
    known = read_calibration(judge.spec)
    pin_base = base if suite is not None else judge.spec.path.parent

    async def work(folder: Path) -> dict[str, Any]:
        engine = build_engine(judge.spec, over, base, folder)
        try:
            await engine.start()
            record = await check(judge, engine, known)
            return {
                "format": FORMAT,
                "judge": judge.file.name,
                "digest": judge.digest,
                "engine": dict(engine.record),
                **record,
            }
        finally:
            await engine.close()

    with tempfile.TemporaryDirectory(prefix="genbench-judge-") as folder:
        record = run_coroutine(work(Path(folder)))
    record["unpinned"] = judge.spec.unpinned
    if pin:
        names = [item.case.sample.problem_id for item in known[:CANARIES]]
        path = pin_path(judge.spec, pin_base)
        write_pin(path, judge, {name: record["answers"][name] for name in names})
        record["pinned_in"] = str(path)
    return record
