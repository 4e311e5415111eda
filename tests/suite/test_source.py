"""Where the rows of a task of the suite's own come from."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from genbench.protocols import HubSource
from genbench.suite.engine import DataSource


def test_rows_come_from_a_file_or_from_the_hub() -> None:
    assert DataSource(path="rows.jsonl").hub is None
    hub = DataSource(hub=HubSource(repo="a/b")).hub
    assert hub is not None and (hub.config, hub.split, hub.revision) == ("default", "test", None)


@pytest.mark.parametrize("given", [{}, {"path": "x", "hub": {"repo": "a/b"}}])
def test_no_source_and_two_sources_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="give either 'path' or 'hub'"):
        DataSource.model_validate(given)


@pytest.mark.parametrize(
    "repo", ["/srv/rows", "./rows", "../org/rows", "org/../rows", "org/.hidden", "json", ""]
)
def test_a_dataset_of_the_hub_is_no_folder_and_no_reader(repo: str) -> None:
    with pytest.raises(ValidationError, match="wanted ORG/NAME"):
        DataSource.model_validate({"hub": {"repo": repo}})
