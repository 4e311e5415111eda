from __future__ import annotations

import json

from genbench.suite import shipped
from genbench.suite.config import SuiteConfig
from genbench.suite.suitefile import read_suite


def test_the_shipped_schema_is_the_schema_of_the_configuration() -> None:
    path = shipped.folder("suites") / "suite.schema.json"
    assert json.loads(path.read_text()) == SuiteConfig.model_json_schema()


def test_every_shipped_suite_is_valid() -> None:
    paths = sorted(shipped.folder("suites").glob("*.yaml"))
    assert {"quickstart", "reasoning"} <= {read_suite(path).name for path in paths}
