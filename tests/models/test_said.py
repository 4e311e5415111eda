"""What a suite says is in the prompt, or is refused by name.

Each chat template here has the structure of a real family's, in our own words.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import PromptError
from genbench.models.prompts import Renderer
from genbench.types import Message, ToolOffer
from tests.models.test_prompts import load, save_tokenizer

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
CHATML_REPLY = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
JSON_TOOLS = "{% if tools %}[tools]{% for t in tools %}{{ t | tojson }}{% endfor %}[/tools]{% endif %}"
MISTRAL_TURNS = (
    "{% for m in turns %}{% if m.role == 'user' %}[INST] {% if loop.first and system %}{{ system }}\n\n"
    "{% endif %}{{ m.content }} [/INST]{% else %} {{ m.content }}</s>{% endif %}{% endfor %}"
)
SPLIT_SYSTEM = (
    "{% if messages[0].role == 'system' %}{% set system = messages[0].content %}"
    "{% set turns = messages[1:] %}{% else %}{% set turns = messages %}{% endif %}"
)
GEMMA_TURNS = (
    "{% for m in turns %}<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{% if loop.first and system %}{{ system }}\n\n{% endif %}{{ m.content | trim }}<end_of_turn>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


@dataclass(frozen=True)
class Family:
    """A chat template, and what it says of each case. A text is found in the refusal."""

    template: str
    system: str = ""
    tools: str = ""
    turns: str = ""
    thinking: Mapping[Any, str] = field(default_factory=dict)
    """`enable_thinking` and the end of the prompt."""


FAMILIES = {
    "ChatML": Family(CHATML + CHATML_REPLY),
    "Qwen2.5, a default system prompt": Family(
        "{% if messages[0].role != 'system' %}<|im_start|>system\nYou are a helper.<|im_end|>\n{% endif %}"
        + JSON_TOOLS
        + CHATML
        + CHATML_REPLY
    ),
    "Qwen3, which drops earlier traces": Family(
        JSON_TOOLS + "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
        "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
        "{% endif %}",
        thinking={True: "assistant\n", False: "</think>\n\n"},
    ),
    "Llama 3, tools in the first question": Family(
        SPLIT_SYSTEM + "{{ bos_token }}<|start|>system<|end|>\n\n{{ system | default('') | trim }}<|eot|>"
        "{% for m in turns %}<|start|>{{ m.role }}<|end|>\n\n"
        "{% if loop.first and tools %}{% for t in tools %}{{ t | tojson(indent=4) }}{% endfor %}{% endif %}"
        "{{ m.content | tojson if m.role == 'tool' else m.content | trim }}<|eot|>{% endfor %}"
        "{% if add_generation_prompt %}<|start|>assistant<|end|>\n\n{% endif %}"
    ),
    "Mistral, system in the first question": Family(
        "{{ bos_token }}" + SPLIT_SYSTEM + JSON_TOOLS.replace("tools]", "AVAILABLE_TOOLS]") + MISTRAL_TURNS
    ),
    "Mistral, which drops the system prompt": Family(
        "{{ bos_token }}" + SPLIT_SYSTEM + "{% set system = '' %}" + MISTRAL_TURNS,
        system="drops the system prompt",
        tools="drops the system prompt",
    ),
    "Gemma 2, which refuses a system prompt": Family(
        "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}"
        "{% endif %}{% set turns = messages %}" + GEMMA_TURNS,
        system="no system role",
        tools="no system role",
    ),
    "Gemma 3, system in the first question": Family("{{ bos_token }}" + SPLIT_SYSTEM + GEMMA_TURNS),
    "Phi": Family(
        "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% if m.role == 'system' and tools %}"
        "<|tool|>{{ tools | tojson }}<|/tool|>{% endif %}<|end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
        tools="drops the function 'get_weather'",
    ),
    "DeepSeek-R1, which drops earlier traces": Family(
        "{{ bos_token }}"
        + SPLIT_SYSTEM
        + "{{ system }}{% for m in turns %}{% if m.role == 'user' %}<|User|>{{ m.content }}{% else %}"
        "<|Assistant|>{{ m.content.split('</think>')[-1] }}<|eos|>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}"
    ),
    "GLM": Family(
        "[gMASK]<sop>{% if tools %}<|system|>\n# Tools\n{% for t in tools %}{{ t | tojson }}\n{% endfor %}"
        "{% endif %}{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}"
        "{% if m.role == 'user' and enable_thinking is defined and not enable_thinking %}/nothink{% endif %}"
        "{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
        thinking={True: "<|assistant|>\n", False: "/nothink<|assistant|>\n"},
    ),
    "Command R, tools as Python": Family(
        SPLIT_SYSTEM + "{{ bos_token }}<|SYSTEM|>{{ system | default('You are Command.') }}"
        "{% for t in tools or [] %}{% set f = t.function %}"
        "def {{ f.name }}({{ f.parameters.properties | join(', ') }}){% endfor %}<|END|>"
        "{% for m in turns %}<|{{ m.role | upper }}|>{{ m.content }}<|END|>{% endfor %}"
        "{% if add_generation_prompt %}<|CHATBOT|>{% endif %}"
    ),
    "SmolLM3, which obeys a switch": Family(
        SPLIT_SYSTEM + "{% set mode = '/no_think' not in (system or '') %}<|im_start|>system\n"
        "{{ (system or '').replace('/no_think', '').replace('/think', '') | trim }}\n"
        "{% for t in xml_tools or [] %}{{ t | tojson }}{% endfor %}<|im_end|>\n"
        "{% for m in turns %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" + CHATML_REPLY
    ),
    "a vision model, content in parts": Family(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% for part in m.content %}"
        "{% if part.type == 'image' %}<image>{% elif part.type == 'text' %}{{ part.text }}{% endif %}"
        "{% endfor %}<|im_end|>\n{% endfor %}" + CHATML_REPLY
    ),
    "one that shows the last message only": Family(
        "<|im_start|>user\n{{ messages[-1].content }}<|im_end|>\n" + CHATML_REPLY,
        system="drops the system prompt",
        tools="drops the system prompt",
        turns="drops message 1 of the user",
    ),
}

QUESTION = Message("user", "How warm is it\n\nin  Oslo?")
WEATHER = ToolOffer(
    (
        {
            "name": "get_weather",
            "description": "Tell the weather.",
            "parameters": {
                "type": "dict",
                "properties": {"city": {"type": "string", "description": "where"}},
            },
        },
    )
)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load(save_tokenizer(tmp_path_factory.mktemp("tokenizer")))


def blankless(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("case", ["question", "system", "two systems", "tools", "turns"])
def test_what_a_suite_says_is_in_the_prompt_or_refused_by_name(tokenizer: Any, name: str, case: str) -> None:
    family, wanted, refusal = FAMILIES[name], [QUESTION.content], ""
    messages: tuple[Message, ...] = (QUESTION,)
    offer: ToolOffer | None = None
    system: str | None = None
    if case in ("system", "two systems"):
        system, refusal = "Answer in French.", family.system
        wanted.append(system)
    if case == "two systems":
        messages = (Message("system", "Be brief."), QUESTION)
        wanted.append("Be brief.")
    if case == "tools":
        offer, refusal = WEATHER, family.tools
        wanted += ["get_weather", "city"]
    if case == "turns":
        messages, refusal = (Message("user", "4?"), Message("assistant", "Four."), QUESTION), family.turns
        wanted += ["4?", "Four."]
    renderer = Renderer(tokenizer, family.template, system_prompt=system)
    if refusal:
        with pytest.raises(PromptError, match=refusal):
            renderer.render(messages, offer)
    else:
        text = blankless(renderer.render(messages, offer).text)
        assert [said for said in wanted if blankless(said) not in text] == []


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.thinking])
def test_thinking_is_switched_on_and_off_by_a_boolean_only(tokenizer: Any, name: str) -> None:
    family = FAMILIES[name]
    for value, end in family.thinking.items():
        renderer = Renderer(tokenizer, family.template, {"enable_thinking": value})
        assert renderer.render((QUESTION,)).text.endswith(end)
    with pytest.raises(
        PromptError, match=r"the text 'false', wanted a boolean.*write enable_thinking: false"
    ):
        Renderer(tokenizer, family.template, {"enable_thinking": "false"})


def test_a_template_that_obeys_a_switch_need_not_show_it(tokenizer: Any) -> None:
    template = FAMILIES["SmolLM3, which obeys a switch"].template
    text = Renderer(tokenizer, template, system_prompt="Be brief. /no_think").render((QUESTION,)).text
    assert "Be brief." in text and "/no_think" not in text
    with pytest.raises(PromptError, match=r"drops the system prompt .'Be brief. /no_think'"):
        Renderer(
            tokenizer, template.replace("| trim", "| replace('Be', '')"), system_prompt="Be brief. /no_think"
        ).render((QUESTION,))


def test_traces_of_earlier_replies_may_be_dropped_and_the_replies_not(tokenizer: Any) -> None:
    shots = (Message("user", "1+1?"), Message("assistant", "<think>one, two</think>2"), QUESTION)
    template = FAMILIES["DeepSeek-R1, which drops earlier traces"].template
    assert "one, two" not in Renderer(tokenizer, template).render(shots).text
    with pytest.raises(PromptError, match="drops an earlier reply"):
        Renderer(tokenizer, template.replace("[-1]", "[1]")).render(shots)


def test_a_short_message_that_stands_elsewhere_by_chance_is_missed_too(tokenizer: Any) -> None:
    template = FAMILIES["one that shows the last message only"].template
    with pytest.raises(PromptError, match=r"drops the system prompt .'warm'"):
        Renderer(tokenizer, template, system_prompt="warm").render((QUESTION,))


def test_a_text_that_the_template_changes_is_refused_though_its_form_is_fine(tokenizer: Any) -> None:
    template = CHATML.replace("m.content", "m.content.replace('<image>', '')") + CHATML_REPLY
    renderer = Renderer(tokenizer, template)
    assert renderer.render((QUESTION,)).text
    with pytest.raises(PromptError, match=r"drops the question .'What does <image> mean"):
        renderer.render((Message("user", "What does <image> mean in HTML?"),))


def test_a_result_that_is_shown_as_json_is_there(tokenizer: Any) -> None:
    template = FAMILIES["Llama 3, tools in the first question"].template
    said = (QUESTION, Message("assistant", "f()"), Message("tool", '{"now": "ä\\n \U0001f600"}', "f"))
    assert (
        "\\u"
        in Renderer(tokenizer, template.replace("tojson if", "tojson(ensure_ascii=True) if"))
        .render(said, WEATHER)
        .text
    )


@pytest.mark.parametrize(
    ("template", "lacks"),
    [
        (CHATML, "lack '<.im_start.>assistant'"),
        ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", "lack '<assistant>'"),
        ("{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% else %}"
         "{{ m.content }}</s>{% endif %}{% endfor %}", ""),
    ],
)  # fmt: skip
def test_a_template_that_ignores_add_generation_prompt_is_refused_if_replies_have_a_header(
    tokenizer: Any, template: str, lacks: str
) -> None:
    renderer = Renderer(tokenizer, template)
    if lacks:
        with pytest.raises(PromptError, match=f"ignores add_generation_prompt: its prompts {lacks}"):
            renderer.render((QUESTION,))
    else:
        assert renderer.render((QUESTION,)).text.endswith("[/INST]")


def test_a_later_turn_that_the_template_cannot_show_is_refused_before_the_first(tokenizer: Any) -> None:
    drops = CHATML.replace("{{ m.content }}", "{{ m.content if m.role != 'assistant' }}") + CHATML_REPLY
    renderer = Renderer(tokenizer, drops)
    assert renderer.render((QUESTION,)).text
    with pytest.raises(PromptError, match="drops an earlier reply"):
        renderer.check_later_turn((QUESTION,), None)


def test_the_check_takes_time_linear_in_the_text(tokenizer: Any) -> None:
    """A text of 6 MB is looked for in much less than a second, also if almost everything repeats."""
    from genbench.models.said import missing

    text = "a " * 3_000_000
    started = time.process_time()
    assert missing(f"<|user|>{text}<|end|>", [Message("user", text)], (), CHATML) is None
    assert missing(f"<|user|>{text}<|end|>", [Message("user", text + "b")], (), CHATML) == 0
    assert time.process_time() - started < 2


def test_a_base_model_without_a_template_is_refused_by_name(tmp_path: Path) -> None:
    base = load(save_tokenizer(tmp_path, None))
    with pytest.raises(PromptError, match=r"no chat template; choose: prompt_style: plain"):
        Renderer(base, base.chat_template)
    text = (
        Renderer(base, style="few_shot", shots=[("1+1?", "2")], system_prompt="Add.").render((QUESTION,)).text
    )
    assert all(said in text for said in ("Add.", "1+1?", "2", QUESTION.content))
