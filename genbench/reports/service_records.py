"""The records of queue and watches, and with them all groups of records that are not of a single run."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.curves_record import Curves
from genbench.ledger.listing import PushedRun
from genbench.queue.records import JobDetail, JobList
from genbench.reports.decision_records import DECISION_RECORDS
from genbench.store.jsonrecord import JsonRecord
from genbench.watch.best import BestAgain
from genbench.watch.records import WatchList

SERVICE_RECORDS: Mapping[str, type[JsonRecord]] = {
    "jobs": JobList,
    "job": JobDetail,
    "watches": WatchList,
    "push": PushedRun,
    "watch_best": BestAgain,
}
"""By the name of the entry in `$defs` of the schema."""
GROUPED_RECORDS: Mapping[str, type[JsonRecord]] = {**DECISION_RECORDS, "curves": Curves, **SERVICE_RECORDS}
"""The same for decisions, tracks and the queue together."""
