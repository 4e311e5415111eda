"""How far a judge may be believed: agreement with people, stability, order, injected instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from genbench.judges.calibration import Known, words_in_use
from genbench.judges.canary import words_of
from genbench.judges.forms import Judge
from genbench.judges.injections import measure
from genbench.judges.opinions import Opinion, opinions_of
from genbench.protocols import JudgeEngine
from genbench.stats.agreement import Kappa, clustered_kappa, cohens_kappa

_SEED = 20260101
"""Of the resampling behind intervals: the same answers give the same bounds."""


async def check(judge: Judge, engine: JudgeEngine, known: Sequence[Known]) -> dict[str, Any]:
    """Agreement, stability, order and injections of one judge; JSON. Rates are fractions of 1."""
    cases = [item.case for item in known]
    first = await opinions_of(judge, engine, cases)
    again = await opinions_of(judge, engine, cases)
    told = [(item, opinion) for item, opinion in zip(known, first, strict=True) if opinion is not None]
    record: dict[str, Any] = {
        "n": len(known),
        "unscored": len(known) - len(told),
        "stability": sum(a == b for a, b in zip(first, again, strict=True)) / len(known),
        "answers": {
            item.case.sample.problem_id: words_of(opinion) for item, opinion in zip(known, first, strict=True)
        },
        "disagreements": [
            {"id": item.case.sample.problem_id, "expected": " ".join(item.words), "found": words_of(opinion)}
            for item, opinion in zip(known, first, strict=True)
            if opinion is None or opinion.words != item.words
        ],
        "injection": await measure(judge, engine, cases, first),
    }
    if told:
        record |= _agreement(judge, told)
    if judge.file.form == "pairwise":
        record["order_consistency"] = sum(not item.flipped for _, item in told) / len(told) if told else None
    return record


def _agreement(judge: Judge, told: Sequence[tuple[Known, Opinion]]) -> dict[str, Any]:
    people = [item.words for item, _ in told]
    ours = [opinion.words for _, opinion in told]
    record = _kappa_record(_kappa(judge, people, ours))
    if judge.file.form == "rubric":
        by_dimension = zip(
            judge.file.dimensions, zip(*people, strict=True), zip(*ours, strict=True), strict=True
        )
        off = [
            abs(int(a) - int(b))
            for left, right in zip(people, ours, strict=True)
            for a, b in zip(left, right, strict=True)
        ]
        record |= {
            "weights": "quadratic",
            "mean_absolute_error": sum(off) / len(off),
            "dimensions": {
                name: _kappa_record(_kappa(judge, [(word,) for word in left], [(word,) for word in right]))
                for name, left, right in by_dimension
            },
        }
    return record


def _kappa(judge: Judge, people: Sequence[tuple[str, ...]], ours: Sequence[tuple[str, ...]]) -> Kappa:
    """Scores of a rubric are ordered: near misses count less. Verdicts on one case hang together."""
    if judge.file.form in ("rubric", "checklist"):
        ordered = words_in_use(judge.file) if judge.file.form == "rubric" else None
        return clustered_kappa(people, ours, ordered=ordered, seed=_SEED)
    return cohens_kappa([words[0] for words in people], [words[0] for words in ours])


def _kappa_record(kappa: Kappa) -> dict[str, Any]:
    ci = list(kappa.ci) if kappa.ci else None
    return {"verdicts": kappa.n, "accuracy": kappa.agreement, "kappa": kappa.value, "kappa_ci": ci}
