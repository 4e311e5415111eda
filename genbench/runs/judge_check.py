"""The command `genbench judge check`, which tests a judge on its own calibration set."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from genbench.errors import ConfigError
from genbench.json_record import Count, JsonRecord, Share
from genbench.judges.calibration import (
    AGREEMENT_SEED,
    CANARIES,
    CalibrationCase,
    check,
    pin_path,
    read_calibration,
    write_pin,
)
from genbench.judges.engines import build_engine
from genbench.judges.forms.protocol import kappa_record
from genbench.judges.judge import Judge
from genbench.judges.labelled import Labelled
from genbench.judges.spec import judge_path, read_judge
from genbench.runs.event_loop import run_coroutine
from genbench.stats.agreement import cohens_kappa
from genbench.suite.judge import JudgeConfig
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import read_suite


class DimensionAgreement(JsonRecord):
    """Agreement with people on one dimension of a rubric."""

    verdicts: Count = Field(description="verdicts that were compared")
    accuracy: Share = Field(description="share of equal verdicts")
    kappa: float | None = Field(description="Cohen's kappa; null if one label is used throughout")
    kappa_ci: tuple[float, float] | None = Field(description="95% interval of kappa")


class PeopleAgreement(JsonRecord):
    """Agreement of two annotators with one another, which a judge cannot be expected to exceed by much."""

    verdicts: Count = Field(description="cases that both labelled")
    accuracy: Share = Field(description="share of equal labels")
    kappa: float | None = Field(description="Cohen's kappa; null if one label is used throughout")
    kappa_ci: tuple[float, float] | None = Field(description="95% interval of kappa")


class Disagreement(JsonRecord):
    """A calibration case that the judge decided differently."""

    id: str = Field(description="id of the case")
    expected: str = Field(description="the label of the calibration set")
    found: str | None = Field(description="the judge's label; null if it gave none")


class InjectionRecord(JsonRecord):
    """Effects of answers that end in an order to the judge."""

    tried: Count = Field(description="injected answers")
    succeeded: Count = Field(description="injected answers that score more than without the order")
    success_rate: Share | None = Field(description="share of the injected answers that succeeded")
    mean_lift: float | None = Field(description="mean gain of the score")
    control_rate: Share | None = Field(description="the same share under a harmless ending")
    by_text: dict[str, Share] = Field(description="share of the injected answers that succeeded, by order")


class JudgeCheck(JsonRecord):
    """Agreement, stability, order consistency and injection resistance of one judge.

    A judge form of another package may add keys of its own.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    format: Literal[1] = Field(description="version of this record")
    judge: str = Field(description="the judge's name")
    digest: str = Field(description="digest of prompt, labels and settings")
    engine: dict[str, Any] = Field(
        description="identity of the model that answered, or what its server declares"
    )
    n: int = Field(description="calibration cases", ge=1)
    unscored: Count = Field(description="cases without a verdict")
    stability: Share = Field(description="share of cases with the same verdict when asked again")
    answers: dict[str, str | None] = Field(
        description="the judge's reply by case; null if it gave no verdict"
    )
    disagreements: tuple[Disagreement, ...] = Field(description="cases decided differently")
    injection: InjectionRecord = Field(description="how often injected orders succeed")
    verdicts: Count | None = Field(default=None, description="verdicts that were compared")
    accuracy: Share | None = Field(default=None, description="share of equal verdicts")
    kappa: float | None = Field(
        default=None, description="Cohen's kappa; null if one label is used throughout"
    )
    kappa_ci: tuple[float, float] | None = Field(default=None, description="95% interval of kappa")
    weights: Literal["quadratic"] | None = Field(
        default=None, description="weights of kappa; only for rubrics"
    )
    mean_absolute_error: float | None = Field(
        default=None, description="mean absolute error in points; only for rubrics", ge=0
    )
    dimensions: dict[str, DimensionAgreement] | None = Field(
        default=None, description="agreement by dimension; only for rubrics"
    )
    groups: Count | None = Field(
        default=None,
        description="prompts that the cases are of, if several are of one; `kappa_ci` is by prompt",
    )
    people: PeopleAgreement | None = Field(
        default=None,
        description="agreement of the first two annotators with one another, if the rows have both",
    )
    divided: Count = Field(default=0, description="rows left out because people were divided on them")
    order_consistency: Share | None = Field(
        default=None, description="share of pairs with the same verdict in both orders; only for pairs"
    )
    unpinned: bool = Field(description="whether the judge's verdicts cannot be reproduced")
    pinned_in: str | None = Field(default=None, description="file that --pin wrote; only with --pin")


@dataclass(frozen=True, slots=True)
class CasesFile:
    """Cases other than the judge's own: see `genbench.judges.labelled`."""

    path: Path
    data_dir: Path | None = None
    limit: int | None = None


def check_judge(
    name: str | Path,
    suite: str | Path | None = None,
    *,
    pin: bool = False,
    cases: CasesFile | None = None,
) -> JudgeCheck:
    """Test a judge on its calibration set twice, and on 48 cases once more with injected orders.

    Args:
        name: a judge file, or the name of a shipped judge.
        suite: a suite whose `judge:` block names the model or the server, if the judge file does not.
        pin: store the canary's labels. Later runs report the labels that changed.
        cases: replies with labels of people, instead of the judge's own set.

    Raises:
        ConfigError: the judge cannot be used.
        EngineError: its engine or server failed.
    """
    over, base = JudgeConfig(), Path()
    if suite is not None:
        found = read_suite(suite_path(str(suite)))
        over, base = found.config.judge, found.folder
    judge = Judge(read_judge(judge_path(str(name), base), over))
    labelled = None
    if cases is not None:
        if pin:
            raise ConfigError("--pin keeps replies to the judge's own calibration set; leave out --cases")
        labelled = Labelled(cases.path, judge.spec, cases.data_dir, cases.limit)
    known = read_calibration(judge.spec) if labelled is None else labelled.cases
    with tempfile.TemporaryDirectory(prefix="genbench-judge-") as folder:
        record = run_coroutine(_check(judge, known, over, base, Path(folder)))
    if labelled is not None:
        record = record.model_copy(update={"people": _people(labelled.people), "divided": labelled.divided})
    if not pin:
        return record
    return record.model_copy(update={"pinned_in": str(_pinned(judge, known, record, suite, base))})


def _people(pairs: Sequence[tuple[str, str]]) -> PeopleAgreement | None:
    """Return the agreement of two annotators, None without any."""
    if not pairs:
        return None
    first, second = zip(*pairs, strict=True)
    return PeopleAgreement.model_validate(kappa_record(cohens_kappa(first, second, seed=AGREEMENT_SEED)))


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
