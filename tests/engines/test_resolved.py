"""Terms as a checkpoint resolves them, not as the suite writes them."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.engines.vllm.kind import own_quantization, own_rope_scaling, resolved_dtype


@pytest.mark.parametrize(
    ("dtype", "config", "resolved"),
    [
        ("float16", {"torch_dtype": "bfloat16"}, "float16"),
        ("auto", {"torch_dtype": "bfloat16"}, "bfloat16"),
        ("auto", {"dtype": "float16"}, "float16"),
        ("auto", {"text_config": {"torch_dtype": "bfloat16"}}, "bfloat16"),
        ("auto", {"torch_dtype": "float32"}, "auto"),
        ("auto", {}, "auto"),
        ("auto", {"text_config": None}, "auto"),
    ],
)
def test_auto_is_the_type_of_the_checkpoint(dtype: str, config: dict[str, Any], resolved: str) -> None:
    assert resolved_dtype(dtype, config) == resolved


def test_a_quantized_checkpoint_says_so_itself() -> None:
    own = {"quant_method": "fp8", "activation_scheme": "dynamic"}
    assert own_quantization({"quantization_config": own}) == own
    assert own_quantization({}) is None


def test_stretched_positions_of_a_checkpoint_are_known() -> None:
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    assert own_rope_scaling({"rope_scaling": yarn}) == yarn
    assert own_rope_scaling({"text_config": {"rope_parameters": yarn}}) == yarn
    assert own_rope_scaling({"rope_scaling": {"type": "linear", "factor": 2}}) == {
        "type": "linear",
        "factor": 2,
    }
    plain = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, "rope_scaling": None}
    assert own_rope_scaling(plain) is None
