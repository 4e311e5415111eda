"""What the manifest records about an attempt when it begins and when it ends."""

from __future__ import annotations

import os
from pathlib import Path

from genbench.draw.progress import ProgressLine
from genbench.runs.execution.run_manifest import attempt_record, ended_attempt
from genbench.store.folder import RunFolder
from tests.runs.ruled import only_job, options
from tests.store.stored import completion


def test_an_attempt_begins_with_its_circumstances(tmp_path: Path) -> None:
    job = only_job(options(tmp_path))
    with RunFolder.writer(job.path) as folder:
        record = attempt_record(job, 2, folder, reused=5)
    assert (record.attempt, record.pid, record.reused) == (2, os.getpid(), 5)
    facts = record.circumstances
    assert facts["engine"] == {"concurrency": 2} and facts["queue_order"]
    assert facts["machine"] == dict(job.machine) and "genbench" in facts["packages"]
    assert facts["locks_are_advisory"] is False and not record.has_ended


def test_an_attempt_that_ends_has_counts_and_times(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        progress = ProgressLine("m", 8, 0, quiet=True)
        facts = ended_attempt(folder, progress, "SIGTERM", 1.23456, 2.34567)
    assert (facts["interrupted"], facts["drawn"], facts["verdicts"]) == ("SIGTERM", 0, 0)
    assert (facts["generation_s"], facts["seconds"], facts["healed_bytes"]) == (1.235, 2.346, 0)
    assert facts["ended"]


def test_the_bytes_of_a_torn_line_are_recorded(tmp_path: Path) -> None:
    with RunFolder.writer(tmp_path) as folder:
        folder.append_completion(completion("p", 0))
    with folder.file("t", "completions").open("ab") as file:
        file.write(b'{"task": "t", "prob')
    with RunFolder.writer(tmp_path) as folder:
        folder.append_completion(completion("p", 1))
        facts = ended_attempt(folder, ProgressLine("m", 2, 1, quiet=True), None, 0.0, 0.0)
    assert facts["healed_bytes"] == 19 and facts["interrupted"] is None
