"""Prompts as models read them, through a real tokenizer of a few hundred tokens."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from genbench.errors import ConfigError, DataError, PromptError
from genbench.models.prompts import Renderer, fit
from genbench.models.traces import FORMATS, opened_by_prompt
from genbench.types import Message

CHATML = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking %}<think>\n{% endif %}{% endif %}"
)
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]
HELLO = (Message("user", "Hello, wörld"),)


def save_tokenizer(folder: Path, chat_template: Any = CHATML, add_eos: bool = False) -> Path:
    """A byte-level tokenizer that adds a BOS (and an EOS), as Llama's does."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocab = {token: number for number, token in enumerate([*SPECIAL, *sorted(alphabet)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    single = "<s> $A </s>" if add_eos else "<s> $A"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    tokenizer.enable_truncation(max_length=4)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "model_max_length": 16,
    }
    if chat_template is not None:
        config["chat_template"] = chat_template
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def load(folder: Path) -> Any:
    return import_module("genbench.engines.tokenizer").load_tokenizer(str(folder), None, False)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Any:
    return load(save_tokenizer(tmp_path / "model"))


def test_a_chat_prompt_is_the_templates_text_with_one_bos(tokenizer: Any) -> None:
    prompt = Renderer(tokenizer, CHATML).render(HELLO)
    assert prompt.text == "<s><|im_start|>user\nHello, wörld<|im_end|>\n<|im_start|>assistant\n"
    assert prompt.token_ids is not None
    assert prompt.token_ids.count(0) == 1
    assert prompt.token_ids[:2] == (0, 2)
    assert tokenizer.decode(prompt.token_ids) == prompt.text


def test_a_second_bos_is_dropped(tokenizer: Any) -> None:
    prompt = Renderer(tokenizer, "<s><s>" + CHATML).render(HELLO)
    assert prompt.token_ids is not None
    assert (prompt.token_ids[0], prompt.token_ids.count(0)) == (0, 1)
    plain = Renderer(tokenizer, style="plain").render((Message("user", "<s>Hi"),))
    assert plain.token_ids is not None
    assert plain.token_ids.count(0) == 1


def test_a_template_without_bos_gets_none(tokenizer: Any) -> None:
    prompt = Renderer(tokenizer, CHATML.removeprefix("{{ bos_token }}")).render(HELLO)
    assert prompt.token_ids is not None
    assert 0 not in prompt.token_ids


def test_prompts_are_not_cut_though_the_tokenizer_file_asks_for_it(tokenizer: Any) -> None:
    long = "x" * 5000
    for renderer in (Renderer(tokenizer, CHATML), Renderer(tokenizer, style="plain")):
        prompt = renderer.render((Message("user", long),))
        assert prompt.token_ids is not None
        assert len(prompt.token_ids) > 5000


def test_a_plain_prompt_is_the_text_after_a_bos_and_before_no_eos(tmp_path: Path) -> None:
    tokenizer = load(save_tokenizer(tmp_path, None, add_eos=True))
    prompt = Renderer(tokenizer, style="plain").render((Message("system", "Be brief."), *HELLO))
    assert prompt.text == "Be brief.\n\nHello, wörld"
    assert prompt.token_ids is not None
    assert prompt.token_ids[0] == 0
    assert 1 not in prompt.token_ids
    assert tokenizer.decode(prompt.token_ids[1:]) == prompt.text


def test_few_shot_puts_exemplars_first_and_ends_where_the_answer_begins(tokenizer: Any) -> None:
    renderer = Renderer(tokenizer, style="few_shot", shots=[("1+1?", "2"), ("2+2?", "4")])
    text = renderer.render((Message("system", "Add."), Message("user", "3+3?"))).text
    assert text == "Add.\n\nQuestion: 1+1?\nAnswer: 2\n\nQuestion: 2+2?\nAnswer: 4\n\nQuestion: 3+3?\nAnswer:"
    assert renderer.stop == ("\n\nQuestion:",)
    assert Renderer(tokenizer, CHATML).stop == ()


def test_few_shot_shows_earlier_turns_as_further_exemplars(tokenizer: Any) -> None:
    turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    text = Renderer(tokenizer, style="few_shot", shots=[("q", "r")]).render(turns).text
    assert text == "Question: q\nAnswer: r\n\nQuestion: a\nAnswer: b\n\nQuestion: c\nAnswer:"


def test_a_base_model_is_asked_in_a_chosen_style_or_not_at_all(tmp_path: Path) -> None:
    tokenizer = load(save_tokenizer(tmp_path, None))
    with pytest.raises(PromptError, match=r"prompt_style: plain .*chat_template: FILE"):
        Renderer(tokenizer, tokenizer.chat_template)
    with pytest.raises(PromptError, match="few_shot needs exemplars"):
        Renderer(tokenizer, style="few_shot")


def test_system_prompts_of_model_and_task_become_one_message(tokenizer: Any) -> None:
    renderer = Renderer(tokenizer, CHATML, system_prompt="/think")
    text = renderer.render((Message("system", "Be brief."), *HELLO)).text
    assert text.startswith("<s><|im_start|>system\n/think\n\nBe brief.<|im_end|>\n<|im_start|>user\n")
    assert renderer.render(HELLO).text.startswith("<s><|im_start|>system\n/think<|im_end|>")


def test_template_variables_reach_the_template_and_open_a_trace(tokenizer: Any) -> None:
    def opens(text: str) -> bool:
        return opened_by_prompt(text, FORMATS["think"])

    thinking = Renderer(tokenizer, CHATML, {"enable_thinking": True}, opens_trace=opens).render(HELLO)
    silent = Renderer(tokenizer, CHATML, {"enable_thinking": False}, opens_trace=opens).render(HELLO)
    assert thinking.text.endswith("assistant\n<think>\n")
    assert (thinking.opened_trace, silent.opened_trace) == (True, False)
    assert thinking.digest != silent.digest


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"enable_thinkin": True}, "has no 'enable_thinkin'; did you mean 'enable_thinking'"),
        ({"add_generation_prompt": False}, "not the suite's to set"),
    ],
)
def test_template_variables_without_an_effect_are_refused(
    tokenizer: Any, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(PromptError, match=message):
        Renderer(tokenizer, CHATML, given)
    with pytest.raises(PromptError, match="mean nothing under prompt_style plain"):
        Renderer(tokenizer, CHATML, given, style="plain")


def test_a_template_that_refuses_messages_says_which(tokenizer: Any) -> None:
    template = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}x"
    with pytest.raises(PromptError, match="failed on the roles system, user: no system role"):
        Renderer(tokenizer, template, system_prompt="x").render(HELLO)


@pytest.mark.slow
def test_a_template_whose_loops_never_end_is_refused(tokenizer: Any) -> None:
    loops = "".join(f"{{% for i{depth} in range(99999) %}}" for depth in range(5)) + "{% endfor %}" * 5
    with pytest.raises(PromptError, match="took longer than 5 s for one prompt"):
        Renderer(tokenizer, loops).render(HELLO)
    assert Renderer(tokenizer, "{{ messages[0].content }}").render(HELLO).text == HELLO[0].content


def test_a_template_that_asks_for_the_day_gets_the_same_one_forever(tokenizer: Any) -> None:
    template = "Today: {{ strftime_now('%d %B %Y') }} {{ messages[0].content }}"
    prompt = Renderer(tokenizer, template).render(HELLO)
    assert prompt.text == f"Today: 01 January 2025 {HELLO[0].content}"


def test_the_digest_is_of_the_token_ids(tokenizer: Any) -> None:
    one = Renderer(tokenizer, CHATML).render(HELLO)
    assert one == Renderer(tokenizer, CHATML).render(HELLO)
    assert one.digest != Renderer(tokenizer, CHATML).render((Message("user", "Hello"),)).digest
    assert len(one.digest) == 64


def test_without_a_tokenizer_prompts_stay_text() -> None:
    renderer = Renderer(None, system_prompt="Be brief.")
    prompt = renderer.render(HELLO)
    assert (prompt.text, prompt.token_ids) == ("system: Be brief.\n\nuser: Hello, wörld", None)
    assert Renderer(None).render(HELLO).text == "Hello, wörld"
    assert prompt.digest != Renderer(None).render(HELLO).digest


def test_half_a_surrogate_pair_is_refused(tokenizer: Any) -> None:
    with pytest.raises(PromptError, match="surrogate"):
        Renderer(tokenizer, CHATML).render((Message("user", "\ud800"),))


def test_max_tokens_is_clamped_to_the_context_and_a_prompt_never_cut() -> None:
    assert fit(100, 50, 200) == (50, False)
    assert fit(100, 100, 200) == (100, False)
    assert fit(100, 101, 200) == (100, True)
    assert fit(199, 50, 200) == (1, True)
    with pytest.raises(PromptError, match="200 tokens and the context 200"):
        fit(200, 50, 200)


def test_of_several_named_templates_the_default_is_taken(tmp_path: Path) -> None:
    named = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": CHATML}]
    assert load(save_tokenizer(tmp_path / "two", named)).chat_template == CHATML
    assert load(save_tokenizer(tmp_path / "one", named[:1])).chat_template is None


def test_a_missing_tokenizer_and_one_with_code_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"needs tokenizer\.json"):
        load(tmp_path)
    folder = save_tokenizer(tmp_path / "code")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"tokenizer_class": "MyTokenizer", "auto_map": {"AutoTokenizer": ["my.MyTokenizer", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "my.py").write_text("raise SystemExit('this must not run')\n")
    with pytest.raises(ConfigError, match="set trust_remote_code: true"):
        load(folder)
