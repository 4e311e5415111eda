"""Watched training runs in the API and on their page."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.team.service.context import Service
from genbench.team.watch.watches import WatchRules, add_checkpoint, save_watch

HOSTILE = "<script>alert(1)</script>"


@pytest.mark.slow
def test_a_watch_is_listed_with_its_checkpoints(client: TestClient, service: Service, tmp_path: Path) -> None:
    assert "Begin with: genbench watch start" in client.get("/watches").text
    rules = WatchRules(folder=HOSTILE, suite="s.yaml", track="sft", runs=str(tmp_path))
    save_watch(service.queue, "sft", rules, by="ada")
    add_checkpoint(service.queue, "sft", HOSTILE, "f")
    (item,) = client.get("/api/v1/watches").json()["items"]
    assert item == client.get("/api/v1/watches/sft").json()
    assert item["counts"] == {"settling": 1} and item["polled_s"] is None
    missing = client.get("/api/v1/watches/sf")
    assert missing.status_code == 404 and "did you mean 'sft'" in missing.json()["detail"]
    text = client.get("/watches").text
    assert "Nobody looks at it" in text and "<script" not in text and "&lt;script" in text
