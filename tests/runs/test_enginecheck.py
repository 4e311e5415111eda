"""Mistakes in who plays a simulated user, which are refused before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.runs.execution.preflight import check_suite, check_users
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "user"
COMMIT = "a" * 40
SUITE = """\
models: {{m: {{path: any}}}}
engine: {{kind: "tests.engines.rule_engine:RuleEngine", concurrency: 2}}
decoding: {{temperature: 0.5, max_tokens: 8}}
tasks:
  - name: shop
    task: user_loop
    options:
      functions: "{place}/shop.py:Shop"
      rows: "{place}/rows.jsonl"
      user: {user}
    k: 1
"""
MODEL = 'model: {{path: "shipped:checkpoints/tiny-tuned", revision: "{revision}"}}'


def options(folder: Path, user: str) -> RunOptions:
    (folder / "suite.yaml").write_text(SUITE.format(place=EXAMPLE, user=f"{{{user}}}"))
    return RunOptions(suite=str(folder / "suite.yaml"), run_dir=folder / "out", quiet=True)


def checked(given: RunOptions) -> list[str]:
    suite, _ = open_suite(given)
    return check_users(suite, load_tasks(suite, given))


def test_a_commit_for_a_local_user_is_refused_with_the_digest_that_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"suite\.yaml:\d+: task 'shop': options\.user\.model\.revision is 'a+'"
    ):
        checked(options(tmp_path, MODEL.format(revision=COMMIT)))


def test_other_weights_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"task 'shop': options\.user\.model\.revision: .* not the one that"
    ):
        checked(options(tmp_path, MODEL.format(revision="sha256:" + "0" * 64)))


def test_a_branch_as_revision_of_the_user_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"suite\.yaml:\d+: .*model\.revision is main, wanted a commit"):
        checked(options(tmp_path, MODEL.format(revision="main")))


@pytest.mark.slow
def test_check_names_the_key_of_a_wrong_revision(tmp_path: Path) -> None:
    found = check_suite(options(tmp_path, MODEL.format(revision=COMMIT)))
    errors = [item for item in found if item.state == "error"]
    assert [item.what for item in errors] == ["simulated users"]
    assert "suite.yaml:5: task 'shop': options.user.model.revision" in errors[0].detail
    assert "sha256:" in errors[0].detail


def test_a_served_user_is_named_with_its_address(tmp_path: Path) -> None:
    user = "server: {base_url: 'http://h:1/v1', model: u, revision: main}"
    assert checked(options(tmp_path, user)) == ["user of shop: u at http://h:1/v1"]
