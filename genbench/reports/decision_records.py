"""The records of commands that compare runs, plan comparisons, and keep tracks of nights."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.comparison_record import Comparison
from genbench.analysis.estimation_record import Estimation
from genbench.analysis.noise_record import NoiseMeasurement
from genbench.analysis.ranking_record import Ranking
from genbench.ledger.listing import LedgerAdded, LedgerCheck, LedgerList
from genbench.ledger.pruning import LedgerPruned
from genbench.ledger.rescoring import LedgerRescored
from genbench.policy.record import NightlyGate
from genbench.runs.contamination_record import Contamination
from genbench.runs.power_record import PowerPlan
from genbench.store.jsonrecord import JsonRecord
from genbench.trend.record import Trend

DECISION_RECORDS: Mapping[str, type[JsonRecord]] = {
    "compare": Comparison,
    "estimate": Estimation,
    "power": PowerPlan,
    "noise": NoiseMeasurement,
    "rank": Ranking,
    "contamination": Contamination,
    "trend": Trend,
    "gate": NightlyGate,
    "ledger_add": LedgerAdded,
    "ledger_list": LedgerList,
    "ledger_check": LedgerCheck,
    "ledger_prune": LedgerPruned,
    "ledger_rescore": LedgerRescored,
}
"""By the name of the entry in `$defs` of the schema."""
