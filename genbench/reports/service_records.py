"""The records of the queue."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.queue.records import JobDetail, JobList
from genbench.store.jsonrecord import JsonRecord

SERVICE_RECORDS: Mapping[str, type[JsonRecord]] = {"jobs": JobList, "job": JobDetail}
"""By the name of the entry in `$defs` of the schema."""
