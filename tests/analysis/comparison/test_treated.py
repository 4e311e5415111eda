"""A declared treatment: what it lets differ, and that it lets nothing else through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from genbench.analysis.comparison.pairing import Pairing, pair_sides
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import ConfigError, NotComparableError
from genbench.store.manifest import ModelRecord, OriginRecord, ReasoningRecord, VerifierRecord
from genbench.store.sample_index import SampleIndex
from genbench.suite.treatment import TREATMENTS
from genbench.types import Completion, SampleId
from tests.analysis.score_sides import score_side, side_task
from tests.known import known
from tests.manifests import manifest, task_record
from tests.table import each_row

VLLM: dict[str, Any] = {
    "engine": {"name": "vllm", "version": "0.32"},
    "dtype": "bfloat16",
    "arguments": {"quantization": None, "kv_cache_dtype": "auto", "speculative_config": None},
    "adapter": "none",
    "effort": "low",
    "eos_token_id": 2,
    "trust_remote_code": False,
    "decoding": {"t": {"temperature": 0.6}},
}
SERVER: dict[str, Any] = {
    "engine": {"name": "http", "api": "openai", "prompts": "chat", "not_pinned": ["top_k"]},
    "declared": {},
    "eos_token_id": None,
    "trust_remote_code": False,
    "decoding": {"t": {"temperature": 0.6}},
}
CHANGED: dict[str, dict[str, Any]] = {
    "quantization": {**VLLM, "arguments": {**VLLM["arguments"], "quantization": {"quant_method": "fp8"}}},
    "kv_cache": {**VLLM, "arguments": {**VLLM["arguments"], "kv_cache_dtype": "fp8"}},
    "dtype": {**VLLM, "dtype": "float16"},
    "speculation": {**VLLM, "arguments": {**VLLM["arguments"], "speculative_config": {"method": "ngram"}}},
    "lora": {**VLLM, "adapter": "lora"},
    "engine": {**VLLM, "engine": {"name": "vllm", "version": "0.33"}},
    "server": SERVER,
    "effort": {**VLLM, "effort": "high"},
}
"""By treatment, the terms of a variant that only differs in it."""


def index(digest: str = "d", *, max_tokens: int = 8, reference: str = "r", drawn: int = 4) -> SampleIndex:
    record = {"prompt_digest": digest, "max_tokens": max_tokens, "reference_digest": reference}
    found = SampleIndex({f"p{i}": record for i in range(4)}, 1)
    for i in range(drawn):
        found.add(
            Completion(
                SampleId("t", f"p{i}", 0),
                turn=0,
                seed=i,
                prompt_digest=digest,
                text="x",
                finish_reason="stop",
                prompt_tokens=None,
                completion_tokens=None,
                trace_tokens=None,
                max_tokens=max_tokens,
                attempt=1,
                seconds=None,
            )
        )
    return found


def task(**changes: Any) -> SideTask:
    own: dict[str, Any] = {
        "k": 1,
        "index": index(),
        "described": task_record(),
        "statuses": (("correct",),) * 4,
    }
    return side_task([[1.0]] * 4, **(own | changes))


def side(terms: dict[str, Any], path: str = "runs/base", **changes: Any) -> Side:
    own = manifest(
        terms=terms, model_identity="sha256:a", model=ModelRecord(name="m", path="m", trust_remote_code=False)
    )
    return replace(score_side(path, t=task()), manifest=own, **changes)


def with_task(**changes: Any) -> Callable[[Side], Side]:
    return lambda own: replace(own, tasks={"t": task(**changes)})


def with_manifest(**changes: Any) -> Callable[[Side], Side]:
    return lambda own: replace(own, manifest=known(own.manifest).model_copy(update=changes))


def with_terms(**changes: Any) -> Callable[[Side], Side]:
    return lambda own: with_manifest(terms={**known(own.manifest).terms, **changes})(own)


def described(**changes: Any) -> Callable[[Side], Side]:
    return with_task(described=task_record(**changes))


OTHER: dict[str, Callable[[Side], Side]] = {
    "shard.tuned": with_manifest(origin=OriginRecord(shard="1/2")),
    "tasks.u": lambda own: replace(own, tasks={**own.tasks, "u": replace(task(), name="u")}),
    "problems.t": lambda own: replace(own, tasks={"t": task().take(["p0", "p1"])}),
    "k.t": lambda own: replace(own, tasks={"t": replace(task(), scores=((1.0, 1.0),) * 4)}),
    "terms.decoding.t.temperature": with_terms(decoding={"t": {"temperature": 0.7}}),
    "terms.trust_remote_code": with_terms(trust_remote_code=True),
    "reasoning.close": with_manifest(
        reasoning=ReasoningRecord(format="think", open=("<think>",), close=("</end>",), end_tokens=())
    ),
    "prompts.t": with_task(index=index("other")),
    "prompts.missing.t": with_task(index=index(drawn=1)),
    "max_tokens.t": with_task(index=index(max_tokens=9)),
    "references.t": with_task(index=index(reference="s")),
    "version.t": described(version="2"),
    "protocol.t": described(protocol="llama"),
    "data.t": described(data_digest="others"),
    "verifier.t.version": with_task(
        described=task_record().model_copy(
            update={"verifier": VerifierRecord(name="exact", version="w", digest="d")}
        )
    ),
    "excluded.t": with_task(statuses=(("engine_error",),) * 4),
    "seal.t": with_task(broken=("a line was edited",)),
    "clock.t": with_task(by_clock=4),
    "model.weights": with_manifest(model_identity="sha256:b"),
}
"""By its name, one difference that no treatment declares, unless it changes the weights."""


def pair(base: Side, tuned: Side, *treatment: str) -> Pairing:
    return pair_sides(base, tuned, (), False, treatment)


def variant(treatment: str) -> Side:
    return side(CHANGED[treatment], "runs/variant")


@each_row("treatment", TREATMENTS)
def test_the_terms_of_a_treatment_may_differ_and_are_named(treatment: str) -> None:
    base, tuned = side(VLLM), variant(treatment)
    with pytest.raises(NotComparableError, match=rf"declare it: --treatment {treatment}$"):
        pair(base, tuned)
    found = known(pair(base, tuned, treatment).treated)
    assert found.names == (treatment,)
    assert all(item.name.startswith("terms.") for item in found.differences)
    assert found.differences


@each_row("treatment", TREATMENTS)
def test_a_treatment_lets_no_other_treatment_through(treatment: str) -> None:
    for other in TREATMENTS.keys() - {treatment}:
        if {other, treatment} != {"engine", "server"}:
            with pytest.raises(NotComparableError, match="beside the treatment"):
                pair(side(VLLM), variant(other), treatment)


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_each_difference_beside_the_treatment_is_refused_by_name(treatment: str) -> None:
    base = replace(side(VLLM), tasks={"t": task(by_clock=0)})
    wrong = []
    for name, change in OTHER.items():
        if name == "model.weights" and TREATMENTS[treatment].weights:
            continue
        tuned = change(replace(variant(treatment), tasks={"t": task(by_clock=0)}))
        try:
            pair(base, tuned, treatment)
        except NotComparableError as error:
            if f"  {name}: " in str(error):
                continue
        wrong.append(name)
    # A server renders the prompts itself: their texts are compared, and nothing is on disk here. It also
    # parses the traces. An effort is told in the prompt, and has a limit of its own.
    own = {"server": ["reasoning.close"], "effort": ["prompts.t", "max_tokens.t"]}
    assert wrong == own.get(treatment, [])


def test_groups_and_an_allowed_difference_beside_the_treatment() -> None:
    base, tuned = side(VLLM), variant("quantization")
    base, tuned = (
        replace(own, tasks={"t": task(groups=groups)})
        for own, groups in ((base, ("a", "a", "b", "b")), (tuned, ("a", "b", "b", "b")))
    )
    with pytest.raises(NotComparableError, match=r"groups\.t"):
        pair(base, tuned, "quantization")
    found = pair_sides(base, tuned, ["groups"], False, ["quantization"])
    assert [item.name for item in found.allowed] == ["groups.t"]


def test_other_weights_are_the_purpose_of_some_treatments_only() -> None:
    weights = with_manifest(model_identity="sha256:b")
    assert pair(side(VLLM), weights(side(VLLM)), "quantization").treated is not None
    with pytest.raises(NotComparableError, match=r"model\.weights: sha256:a -> sha256:b"):
        pair(side(VLLM), weights(variant("kv_cache")), "kv_cache")


def test_a_term_that_both_sides_state_is_no_matter_of_the_server() -> None:
    tuned = side({**SERVER, "dtype": "float16"})
    with pytest.raises(NotComparableError, match=r"terms\.dtype"):
        pair(side(VLLM), tuned, "server")


def test_two_servers_compare_and_what_they_cannot_be_told_is_named() -> None:
    other = side({**SERVER, "engine": {**SERVER["engine"], "api": "gemini", "not_pinned": ["seed", "top_k"]}})
    found = known(pair(side(SERVER), other, "server").treated)
    assert found.unproven == (
        "runs/base: the server cannot be told top_k",
        "runs/base: the server cannot be told seed, top_k",
    )


def test_several_treatments_are_declared_together_or_by_the_suite() -> None:
    tuned = side({**CHANGED["quantization"], "dtype": "float16"})
    assert known(pair(side(VLLM), tuned, "quantization", "dtype").treated).names == ("quantization", "dtype")
    suite = known(tuned.manifest).suite.model_copy(
        update={"config": {"treatment": ["quantization", "dtype"]}}
    )
    assert known(pair(side(VLLM), with_manifest(suite=suite)(tuned)).treated).names == (
        "quantization",
        "dtype",
    )


def test_an_unknown_treatment_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="treatment 'quantisation': unknown; did you mean 'quantization'"):
        pair(side(VLLM), side(VLLM), "quantisation")
