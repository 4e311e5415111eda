"""JSON schemas of what users write and of what commands print, generated from the models.

`python -m genbench.reports.schemas` writes them into a checkout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from genbench.analysis.budgets import Budgets
from genbench.analysis.comparison.compare import Comparison
from genbench.analysis.comparison.judge_change import JudgeChanges
from genbench.analysis.curves import Curves
from genbench.analysis.estimate import Estimation
from genbench.analysis.parity import ParityReport
from genbench.analysis.quality import Quality
from genbench.analysis.rank import Ranking
from genbench.analysis.results.record import Results
from genbench.exchange.import_runs import ImportedLogs
from genbench.json_record import JsonRecord
from genbench.ledger.checking import LedgerCheck
from genbench.ledger.ingest import LedgerAdded
from genbench.ledger.listing import LedgerList, PushedRun
from genbench.ledger.pruning import LedgerPruned
from genbench.ledger.rescoring import LedgerRescored
from genbench.policy.config import Policy
from genbench.policy.gate import NightlyGate
from genbench.queue.records import JobDetail, JobList
from genbench.reports.record import Report
from genbench.reports.review import ReviewSummary
from genbench.reports.review_plan import Planned
from genbench.runs.contamination import Contamination
from genbench.runs.judge_check import JudgeCheck
from genbench.runs.mirror import MirrorRecord
from genbench.runs.power import PowerPlan
from genbench.runs.requests import RequestRecord
from genbench.runs.stored.status import RunsStatus
from genbench.runs.training_overlap import Overlap
from genbench.stats.noise import NoiseMeasurement
from genbench.store.manifest import Manifest
from genbench.suite.config import SuiteConfig
from genbench.task_import.harness.levels import LevelReport
from genbench.task_import.importer import ImportRecord
from genbench.trend.record import Trend
from genbench.watch.best import BestAgain
from genbench.watch.watches import WatchList

DECISION_RECORDS: Mapping[str, type[JsonRecord]] = {
    "compare": Comparison,
    "compare_judges": JudgeChanges,
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


SERVICE_RECORDS: Mapping[str, type[JsonRecord]] = {
    "jobs": JobList,
    "job": JobDetail,
    "watches": WatchList,
    "push": PushedRun,
    "watch_best": BestAgain,
}
"""By the name of the entry in `$defs` of the schema."""
GROUPED_RECORDS: Mapping[str, type[JsonRecord]] = {
    **DECISION_RECORDS,
    "curves": Curves,
    "budgets": Budgets,
    "quality": Quality,
    "review_plan": Planned,
    "review_show": ReviewSummary,
    **SERVICE_RECORDS,
}
"""The same for decisions, tracks and the queue together."""


EXCHANGE_RECORDS: Mapping[str, type[JsonRecord]] = MappingProxyType(
    {
        "mirror": MirrorRecord,
        "prompts": RequestRecord,
        "import_task": ImportRecord,
        "import_levels": LevelReport,
        "import_log": ImportedLogs,
    }
)
"""The record of each command by its entry in the schema."""


RECORDS: Mapping[str, type[JsonRecord]] = {
    **GROUPED_RECORDS,
    "overlap": Overlap,
    "status": RunsStatus,
    "report": Report,
    "parity": ParityReport,
    "judge_check": JudgeCheck,
    **EXCHANGE_RECORDS,
    "results": Results,
    "manifest": Manifest,
}
"""What each command prints with --json, and what a run folder contains. The name is the entry in `$defs`."""
RECORDS_FILE = Path("docs") / "json.schema.json"
SUITE_FILE = Path("suites") / "suite.schema.json"
POLICY_FILE = Path("policies") / "policy.schema.json"


class _Untitled(GenerateJsonSchema):
    """A schema generator that leaves out the titles that pydantic makes from the names of fields."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def record_schema() -> dict[str, Any]:
    """Return the schema of all records. Each command has an entry in `$defs` to validate against."""
    models = [(model, "validation") for model in RECORDS.values()]
    refs, whole = models_json_schema(models, schema_generator=_Untitled)  # type: ignore[arg-type]
    entries = {name: refs[model, "validation"] for name, model in RECORDS.items()}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "JSON that genbench prints and stores",
        "description": "Scores, differences, bounds and detectable drops are fractions of 1. "
        f"Validate against one of $defs/{', '.join(RECORDS)}.",
        "$defs": entries | whole["$defs"],
    }


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite file."""
    return SuiteConfig.model_json_schema()


def schema_files() -> dict[Path, str]:
    """Return the text of each generated file by its path in a checkout."""
    return {
        RECORDS_FILE: json.dumps(record_schema(), indent=1) + "\n",
        SUITE_FILE: json.dumps(suite_schema(), indent=2) + "\n",
        POLICY_FILE: json.dumps(Policy.model_json_schema(), indent=2) + "\n",
    }


def write_schemas(checkout: Path) -> list[Path]:
    """Write the schema files into a checkout. Return their paths."""
    for path, text in schema_files().items():
        (checkout / path).write_text(text, encoding="utf-8")
    return [checkout / path for path in schema_files()]


if __name__ == "__main__":
    for written in write_schemas(Path()):
        print(f"wrote {written}")
