"""What the ways mean in which graders of harnesses end, as statuses of genbench.

A fault of the sandbox, of the model's server or of the harness itself is ours: `unavailable`, and the rollout
is drawn again. A fault of the harness's verifier is `verifier_error`. A budget that the model used up is
`truncated`, unless the score is right all the same. What the endings of a harness mean is in its own file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from genbench.agents.harnesses.outcome import Outcome

SwebenchPlace = Literal["resolved", "unresolved", "empty", "error", "infrastructure"]
"""What swebench says of an instance. `error`: its run ended without a report."""


def swebench_outcome(place: SwebenchPlace) -> Outcome:
    """Return the outcome of an instance that swebench has evaluated.

    Args:
        place: the list of its report that the instance is in. `error` is a fault of the verifier, unless its
            log says that the patch did not fit.
    """
    detail = {"ended_by": place}
    if place == "infrastructure":
        return Outcome(None, "unavailable", detail)
    if place == "error":
        return Outcome(None, "verifier_error", detail)
    return Outcome(float(place == "resolved"), "no_answer" if place == "empty" else None, detail)


def mlebench_outcome(report: Mapping[str, Any], metric: str) -> Outcome:
    """Return the outcome of a submission to a competition of MLE-bench.

    Args:
        report: the report of its grader.
        metric: which of its yes-or-no figures is the score, such as `any_medal`.
    """
    score = float(report[metric])
    if score or report.get("valid_submission") is not False:
        return Outcome(score)
    return Outcome(0.0, "no_answer" if report.get("submission_exists") is False else "format_error")
