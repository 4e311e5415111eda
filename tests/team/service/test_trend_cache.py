"""Records of tracks are composed again only if the ledger has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.changes import annotate, pin_base
from genbench.nights.ledger.ingest import add
from genbench.team.service.context import Service, TrendCache
from tests.nights.ledger.synthetic import flat, make_run


def test_a_record_is_kept_until_the_ledger_changes(service: Service, tmp_path: Path) -> None:
    cache, ledger = TrendCache(), service.ledger
    first = cache.trend(ledger, "nightly", 30)
    assert cache.trend(ledger, "nightly", 30) is first
    seen = [first]
    run = make_run(tmp_path / "runs" / "n9", {"math": flat(20, 2, 0.5, 9)}, position=20_009)
    add(ledger, [run])
    seen.append(cache.trend(ledger, "nightly", 30))
    annotate(ledger, "nightly", 20_001, "note", "x", by="ada")
    seen.append(cache.trend(ledger, "nightly", 30))
    assert seen[0].newest is not None
    pin_base(ledger, "nightly", seen[0].newest.uid, "release", by="ada")
    seen.append(cache.trend(ledger, "nightly", 30))
    assert [item.runs for item in seen] == [3, 4, 4, 4]
    assert [len(item.notes) for item in seen] == [0, 0, 1, 2]
    assert seen[3].base is not None


def test_one_task_is_as_in_the_whole_record(service: Service) -> None:
    cache = TrendCache()
    whole = cache.trend(service.ledger, "nightly", 60)
    (task,) = cache.task(service.ledger, "nightly", "math", 60).tasks
    assert task.points == whole.tasks[0].points
    for track, name in (("nightly", "none"), ("none", "math")):
        with pytest.raises(InputError):
            cache.task(service.ledger, track, name, 60)
