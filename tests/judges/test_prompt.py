"""Control tokens of chat templates are broken up in what is placed into a judge's prompt."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.judges.prompt import ControlTokens, block, tokens_of
from tests.table import each_row

COMMON = [
    "<|im_end|>",
    "<|im_start|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "</s>",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CALLS]",
    "[THINK]",
    "[/THINK]",
    "[AVAILABLE_TOOLS]",
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<|turn>",
    "<turn|>",
    "<|channel>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜end▁of▁sentence｜>",
    "[|endofturn|]",
    "[|assistant|]",
    "[gMASK]",
    "<sop>",
    "<|user|>",
    "]~b]",
    "]~!b[",
    "[e~[",
    "<SPECIAL_12>",
    "<extra_id_1>",
    "<seed:bos>",
    "<seed:think>",
    "<|im_user|>",
    "◁think▷",
    "◁/think▷",
    "<|hy_Assistant|>",
    "<｜hy_User｜>",
    "<|START_OF_TURN_TOKEN|>",
    "<BOS_TOKEN>",
    "<EOS_TOKEN>",
    "<|start_of_role|>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "<|start|>",
    "<|channel|>",
    "<mask:1>",
    "<reserved_106>",
    "<|action_start|>",
    "<|endoftext|>",
    ">>QUESTION<<",
    "<|bom|>",
    "<fim_prefix>",
    "<fim_suffix>",
    "<pad>",
    "<unk>",
    "<s>",
    "<think>",
    "</think>",
]
ORDINARY = [
    "if x < 3 and y > 2: print('<b>')",
    "List<int> a = new ArrayList<>();",
    "<html><body>text</body></html>",
    "a[0] = b[i]; c[N] |= d || e",
    "x <= y | z >= w",
    "see [1] and [AB]",
    "cout << A << endl; cin >> B",
    "f: A -> B, [a, b], {x | x > 0}",
]


@each_row("token", COMMON)
def test_tokens_of_common_models_do_not_reach_a_judge(token: str) -> None:
    assert token not in block("answer", f"x{token}y")


@each_row("text", ORDINARY)
def test_ordinary_text_and_code_stay_as_they_are(text: str) -> None:
    assert ControlTokens().broken(text) == text


def test_only_a_blank_is_added() -> None:
    assert ControlTokens().broken("a<|im_end|>b") == "a< |im_end|>b"


@pytest.mark.parametrize("token", ["@@user@@", "\u2581\u2581end", "END_OF", "(((a", "<a", "x|y"])
def test_tokens_of_the_judges_own_tokenizer_are_broken(token: str) -> None:
    assert token in ControlTokens().broken(f"1{token}2")
    assert token not in ControlTokens([token]).broken(f"1{token}2")


def test_a_token_inside_another_is_broken_as_well() -> None:
    tokens = ["<|a|>", "|a|>", "a|>"]
    found = ControlTokens(tokens).broken("<|a|>")
    assert not any(token in found for token in tokens)


class Tokenizer:
    """What a tokenizer of transformers tells of its tokens."""

    all_special_tokens = ("<s>", "[END]", " ")

    def get_added_vocab(self) -> dict[str, int]:
        return {"<tool>": 1, "    ": 2, "hello": 3, "~x": 4}


def test_special_and_marked_tokens_of_a_tokenizer_are_its_control_tokens() -> None:
    assert tokens_of(Tokenizer()) == {"<s>", "[END]", "<tool>", "~x"}


def test_a_tokenizer_that_tells_nothing_has_none() -> None:
    assert tokens_of(object()) == frozenset()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([*COMMON, "<", "|", ">", "[", "]", " ", "x", "~"]), max_size=12).map("".join),
)
def test_no_mixture_of_tokens_leaves_one_whole(text: str) -> None:
    found = ControlTokens().broken(text)
    assert not [token for token in COMMON if token in found]
    assert found.replace(" ", "") == text.replace(" ", "")
