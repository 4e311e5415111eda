"""Policies: what they ask of each task, and what is refused with file, line and key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.nights.policy.config import BY_SUITE, Policy, TaskPolicy, policy_path, read_policy

SHIPPED = ("by-suite", "nightly", "release")
SCHEMA = Path(__file__).resolve().parents[3] / "policies" / "policy.schema.json"


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_policies_are_valid(name: str) -> None:
    assert read_policy(policy_path(name)).name == name


def test_the_schema_for_editors_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text()) == Policy.model_json_schema()


def test_other_tasks_follow_the_suite_or_one_tier() -> None:
    assert BY_SUITE.of("t", True).tier == "critical" and BY_SUITE.of("t", False).tier == "advisory"
    assert Policy(name="all", others="critical").of("t", False).tier == "critical"


def test_critical_tasks_are_required_unless_the_policy_says_no() -> None:
    assert TaskPolicy(tier="critical").is_required
    assert not TaskPolicy(tier="critical", required=False).is_required
    assert not TaskPolicy(tier="supporting").is_required
    assert TaskPolicy(tier="supporting", required=True).is_required


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: p\ntasks:\n  t: {tier: crticial}\n", r"policy\.yaml:3: tasks\.t\.tier: .*found 'crticial'"),
        ("name: p\ntasks:\n  t: {tier: critical, margn: 1}\n", r":3: unknown key 'tasks\.t\.margn'.*margin"),
        ("name: p\ntask: {}\n", r"policy\.yaml:2: unknown key 'task'.*tasks"),
        ("tasks: {t: {tier: critical}}\n", r"'name' is missing"),
        ("name: p\ntasks:\n  t: {tier: critical, margin: 1, relative: 2}\n", "not both"),
        ("name: p\ntasks:\n  t: {tier: critical, rule: proven}\n", "needs a 'margin'"),
        ("name: p\n", "no task can fail"),
        ("- a list\n", "wanted a mapping"),
        ("name: [\n", r"policy\.yaml:\d+: not valid YAML"),
    ],
)
def test_mistakes_are_named_with_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_policy(path)


def test_an_unknown_policy_names_the_shipped_ones() -> None:
    with pytest.raises(ConfigError, match="did you mean 'release'"):
        policy_path("relase")
