"""What commands print with --json that bring data, prompts or tasks in or out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from genbench.imports.records import ImportRecord, LevelReport
from genbench.runs.mirror import MirrorRecord
from genbench.runs.request_record import RequestRecord
from genbench.store.jsonrecord import JsonRecord

EXCHANGE_RECORDS: Mapping[str, type[JsonRecord]] = MappingProxyType(
    {
        "mirror": MirrorRecord,
        "prompts": RequestRecord,
        "import_task": ImportRecord,
        "import_levels": LevelReport,
    }
)
"""The record of each command by its entry in the schema."""
