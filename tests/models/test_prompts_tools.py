"""Functions in prompts: by the chat template, by a server, or as text in the system message."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from genbench.errors import PromptError
from genbench.models.prompts import Renderer
from genbench.suite import shipped
from genbench.types import Message, ToolOffer

FUNCTION = {"name": "a.f", "description": "Do it.", "parameters": {"properties": {"x": {"type": "float"}}}}
OFFER = ToolOffer((FUNCTION,))
ASKED = (Message("user", "Do it."),)
PLAIN = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
_NAMES = "{% for p in f.parameters.properties %} {{ p }}{% endfor %}"
WITH_TOOLS = (
    "{% for t in tools or [] %}{% set f = t.function %}[{{ f.name }}" + _NAMES + "]{% endfor %}" + PLAIN
)
WITH_XML_TOOLS = "{% for f in xml_tools or [] %}({{ f.name }}" + _NAMES + "){% endfor %}" + PLAIN


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(str(shipped.folder("checkpoints") / "tiny-tuned"), None, False)
    return Renderer(tokenizer, chat_template=PLAIN)


@pytest.mark.parametrize(
    ("template", "form", "text"),
    [
        (WITH_TOOLS, "template: tools", "[a_f x]<user>Do it.<assistant>"),
        (WITH_XML_TOOLS, "template: xml_tools", "(a_f x)<user>Do it.<assistant>"),
    ],
)
def test_a_template_gets_the_schemas_under_its_own_variable(
    renderer: Renderer, template: str, form: str, text: str
) -> None:
    own = replace(renderer, chat_template=template)
    assert own.tool_form(OFFER) == form
    rendered = own.render(ASKED, OFFER)
    assert (rendered.text, rendered.tools) == (text, ())
    assert own.render(ASKED).text == "<user>Do it.<assistant>"


def test_without_a_variable_the_functions_are_text_before_the_system_prompt_of_the_task(
    renderer: Renderer,
) -> None:
    assert renderer.tool_form(OFFER) == "prompt"
    text = renderer.render((Message("system", "Be brief."), *ASKED), OFFER).text
    assert text.startswith("<system>You can call functions.")
    assert text.endswith("\n]\n\nBe brief.<user>Do it.<assistant>")
    assert '"a.f"' in text


def test_the_form_prompt_is_used_although_the_template_takes_tools(renderer: Renderer) -> None:
    own = replace(renderer, chat_template=WITH_TOOLS)
    assert own.tool_form(replace(OFFER, form="prompt")) == "prompt"
    assert "[a_f x]" not in own.render(ASKED, replace(OFFER, form="prompt")).text


def test_the_form_template_is_refused_if_the_template_takes_no_tools(renderer: Renderer) -> None:
    with pytest.raises(PromptError, match=r"form: prompt"):
        renderer.render(ASKED, replace(OFFER, form="template"))


def test_results_keep_their_role_in_a_template_and_are_one_message_of_the_user_as_text(
    renderer: Renderer,
) -> None:
    said = (
        *ASKED,
        Message("assistant", "[a.f(x=1)]"),
        Message("tool", "7", "a.f"),
        Message("tool", "8", "a.f"),
    )
    own = replace(renderer, chat_template=WITH_TOOLS)
    assert own.render(said, OFFER).text.endswith("<tool>7<tool>8<assistant>")
    text = renderer.render(said, OFFER).text
    results = [{"role": "tool", "name": "a.f", "content": content} for content in ("7", "8")]
    assert text.endswith(f"<user>{json.dumps(results)}<assistant>")


def test_a_server_gets_messages_and_schemas() -> None:
    rendered = Renderer(None).render(ASKED, OFFER)
    assert Renderer(None).tool_form(OFFER) == "server"
    assert rendered.messages == ASKED
    assert rendered.tools[0]["function"]["name"] == "a_f"
    assert rendered.digest != Renderer(None).render(ASKED).digest
