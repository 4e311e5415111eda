"""The plan of an import: splits, filters that vote, decoding, and defects that are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.interop.tasks.harness.defects import known_defects
from genbench.interop.tasks.harness.definition import Definition
from genbench.interop.tasks.harness.levels import classify
from genbench.interop.tasks.harness.plan import Plan, make_plan

BASE = {"dataset_path": "org/d", "test_split": "test", "doc_to_text": "q", "doc_to_target": "a"}


def plan(config: dict[str, Any], shots: int | None = None) -> Plan:
    return make_plan(classify(Definition("t", BASE | config, Path("/d/t/t.yaml"), Path("/d"))), shots)


def test_filters_that_vote_become_metrics() -> None:
    regex = {"function": "regex", "regex_pattern": "x"}
    vote = {"function": "majority_vote"}
    found = plan(
        {
            "repeats": 64,
            "filter_list": [
                {"name": "first", "filter": [regex, {"function": "take_first"}]},
                {"name": "maj@64", "filter": [regex, vote]},
                {
                    "name": "maj@8",
                    "filter": [{"function": "take_first_k", "k": 8}, regex, {"function": "majority_vote"}],
                },
            ],
        }
    )
    assert found.k == 64
    assert found.metrics == ("avg@k", "pass@k", "maj@64", "maj@8", "maj@k")
    assert found.verifier_options is not None
    assert [block["name"] for block in found.verifier_options["filters"]] == ["first"]


def test_without_stops_an_answer_ends_at_the_delimiter_of_exemplars() -> None:
    assert (plan({"generation_kwargs": {"do_sample": False}}).decoding or {})["stop"] == ["\n\n"]


def test_exemplars_of_the_asked_split_leave_out_the_asked_row() -> None:
    found = plan({"test_split": None, "validation_split": "val", "fewshot_split": "val"}, 3)
    assert found.leaves_out_asked
    assert "left out of its exemplars" in found.changes[0]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"process_docs": "x", "doc_to_text": None, "dataset_path": None}, "names no dataset_path"),
        ({"metric_list": [{"metric": "acc"}]}, "no meaning for a generated answer"),
        ({"filter_list": [{"name": "n", "filter": [{"function": "format_span"}]}]}, "not available here"),
        ({"num_fewshot": 2, "test_split": None, "validation_split": None}, "names no dataset_path"),
    ],
)
def test_what_cannot_be_done_is_said(config: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(config)


def test_remote_code_of_a_dataset_is_never_passed_on() -> None:
    found = plan({"dataset_kwargs": {"trust_remote_code": True}})
    assert "trust_remote_code is not passed on" in found.changes[0]


def test_known_defects_are_named() -> None:
    bbh = known_defects("bbh_cot_fewshot_navigate", {"generation_kwargs": {"until": ["Q", "\n\n"]}})
    assert len(bbh) == 2
    assert "period" in known_defects("drop", {})[0]
    assert "single letter 'Z'" in known_defects("mine", {"generation_kwargs": {"until": "Z"}})[0]
    assert known_defects("piqa", {}) == ()
