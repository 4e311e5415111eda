"""The APIs of the gateway with the clients that people use: openai and anthropic."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from genbench.agents.gateway.apis import APIS
from genbench.agents.gateway.chat import ChatError
from genbench.agents.gateway.gateway import Gateway
from genbench.agents.gateway.rollout import Rollout
from genbench.agents.harnesses.plan import HarnessPlan, Limits
from genbench.errors import ContextFullError
from genbench.types import Answer, Completion, Message, Request, SampleId, ToolOffer

SAMPLE = SampleId("walk", "p/0", 0)
CALL = 'I look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}}


class Setting:
    """A rollout whose model calls a function first and then says what it was told."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.drawn: list[Request] = []
        self.offers: list[ToolOffer | None] = []
        self.finish: Any = "stop"

    def ask(
        self, turn: int, messages: tuple[Message, ...] | str, offer: ToolOffer | None, most: int | None
    ) -> Request:
        self.offers.append(offer)
        told = messages if isinstance(messages, str) else json.dumps([[m.role, m.content] for m in messages])
        if len(told) > 4000:
            raise ContextFullError(len(told), 4000)
        kept = () if isinstance(messages, str) else messages
        request = Request(SAMPLE, turn, (), 70 + turn, 16, f"digest of {told}", told, messages=kept)
        self.requests.append(request)
        return request

    async def complete(self, request: Request) -> Completion:
        self.drawn.append(request)
        text = CALL if self.offers[-1] is not None and request.turn == 0 else f"reply {request.turn}"
        return Completion(
            sample=SAMPLE,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=f"<think>hm</think>{text}",
            finish_reason=self.finish,
            prompt_tokens=11,
            completion_tokens=5,
            trace_tokens=2,
            max_tokens=16,
            attempt=1,
            seconds=0.0,
        )


class Served:
    """A gateway with an open rollout, and clients of it."""

    def __init__(
        self, setting: Setting, rollout: Rollout, base: str, key: str, web: httpx2.AsyncClient
    ) -> None:
        import anthropic  # each takes two seconds, in every worker that collects this file
        import openai

        self.setting, self.rollout, self.base, self.key, self.web = setting, rollout, base, key, web
        self.openai = openai.AsyncOpenAI(
            base_url=f"{base}/v1",
            api_key=key,
            http_client=web,
            max_retries=0,
            _strict_response_validation=True,
        )
        self.anthropic = anthropic.AsyncAnthropic(
            base_url=base, api_key=key, http_client=web, max_retries=0, _strict_response_validation=True
        )


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    setting, plan = Setting(), HarnessPlan("command", ("true",), {}, Limits(), "1")
    async with Gateway({"walk": plan}, folder, model="m", version="w", context=99) as gateway:
        address = gateway.address(SAMPLE)
        rollout = Rollout(plan, setting.ask, setting.complete, split, (), "m", "w")
        gateway._open[address] = rollout
        transport = httpx2.AsyncHTTPTransport(uds=str(gateway.socket))
        async with httpx2.AsyncClient(transport=transport) as web:
            yield Served(setting, rollout, f"http://x{address}", gateway.key(address), web)


def split(item: Completion) -> Answer:
    trace, _, text = item.text.removeprefix("<think>").partition("</think>")
    return Answer(text, "closed", trace, False)


def play(folder: Path, test: Callable[[Served], Awaitable[None]]) -> None:
    async def work() -> None:
        async with served(folder) as found:
            await test(found)

    asyncio.run(work())


def said(served: Served, turn: int) -> list[tuple[str, str]]:
    return [(item.role, item.content) for item in served.setting.requests[turn].messages]


@pytest.mark.slow
def test_a_prompt_as_text_gets_no_template_and_its_reply_is_as_drawn(tmp_path: Path) -> None:
    import openai

    async def test(found: Served) -> None:
        ask = found.openai.completions.create
        whole = await ask(model="m", prompt="Once upon", temperature=0.1, seed=3)
        assert whole.choices[0].text == "<think>hm</think>reply 0"
        assert whole.usage is not None and whole.usage.total_tokens == 16
        assert found.setting.requests[0].messages == ()
        assert found.setting.requests[0].prompt == "Once upon"
        assert found.rollout.asked == {"temperature": 1, "seed": 1}
        parts = [part async for part in await ask(model="m", prompt="Once upon", stream=True)]
        assert "".join(part.choices[0].text for part in parts) == "<think>hm</think>reply 0"
        assert len(found.setting.drawn) == 1  # the second was a retry of the first
        with pytest.raises(openai.BadRequestError, match="'echo' is true"):
            await ask(model="m", prompt="x", echo=True)
        with pytest.raises(openai.BadRequestError, match="several prompts"):
            await ask(model="m", prompt=["x", "y"])

    play(tmp_path, test)


GO: Any = [{"role": "user", "content": "Go."}]
TOOL: Any = {"type": "function", "name": "bash", "parameters": PARAMETERS, "strict": False}


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_responses_with_a_call_and_its_result(tmp_path: Path, stream: bool) -> None:
    async def test(found: Served) -> None:
        async def ask(given: Any) -> Any:
            more: Any = {"instructions": "Be kind.", "tools": [TOOL], "max_output_tokens": 9}
            if not stream:
                return await found.openai.responses.create(model="m", input=given, **more)
            async with found.openai.responses.stream(model="m", input=given, **more) as parts:
                kinds = [part.type async for part in parts]
                assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
                return await parts.get_final_response()

        first = await ask("Go.")
        kinds = [item.type for item in first.output]
        assert kinds == ["reasoning", "message", "function_call"]
        assert first.output_text == "I look." and first.output[0].content[0].text == "hm"
        call = first.output[2]
        assert (call.name, json.loads(call.arguments)) == ("bash", {"command": "ls"})
        assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 5)
        given = list(GO)
        given += [item.model_dump(exclude={"parsed", "parsed_arguments"}) for item in first.output]
        given.append({"type": "function_call_output", "call_id": call.call_id, "output": "a.txt"})
        second = await ask(given)
        assert second.output_text == "reply 1" and second.status == "completed"
        assert said(found, 1) == [
            ("system", "Be kind."),
            ("user", "Go."),
            ("assistant", CALL),
            ("tool", "a.txt"),
        ]
        assert found.setting.requests[1].messages[3].name == "bash"
        assert found.rollout.asked["max_tokens"] == 2
        assert [request.seed for request in found.setting.drawn] == [70, 71]

    play(tmp_path, test)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_messages_with_a_call_and_its_result(tmp_path: Path, stream: bool) -> None:
    async def test(found: Served) -> None:
        async def ask(*messages: Any) -> Any:
            tool = {"name": "bash", "description": "runs", "input_schema": PARAMETERS}
            system = [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]
            fields: Any = {"model": "m", "max_tokens": 9, "system": system, "tools": [tool]}
            if not stream:
                return await found.anthropic.messages.create(messages=list(messages), **fields)
            async with found.anthropic.messages.stream(messages=list(messages), **fields) as parts:
                return await parts.get_final_message()

        go = {"role": "user", "content": "Go."}
        first = await ask(go)
        assert [block.type for block in first.content] == ["thinking", "text", "tool_use"]
        assert (first.stop_reason, first.usage.input_tokens, first.usage.output_tokens) == ("tool_use", 11, 5)
        call = first.content[2]
        assert (call.name, call.input) == ("bash", {"command": "ls"})
        result = {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": [{"type": "text", "text": "a.txt"}],
        }
        more = {"type": "text", "text": "And?"}
        answer = {"role": "assistant", "content": [block.model_dump() for block in first.content]}
        second = await ask(go, answer, {"role": "user", "content": [result, more]})
        assert second.content[-1].text == "reply 1" and second.stop_reason == "end_turn"
        assert said(found, 1) == [
            ("system", "Be kind."),
            ("user", "Go."),
            ("assistant", CALL),
            ("tool", "a.txt"),
            ("user", "And?"),
        ]

    play(tmp_path, test)


def test_a_retry_is_drawn_once_whichever_api_asks(tmp_path: Path) -> None:
    async def test(found: Served) -> None:
        chat = await found.openai.chat.completions.create(model="m", messages=GO)
        response = await found.openai.responses.create(model="m", input="Go.")
        message = await found.anthropic.messages.create(model="m", max_tokens=5, messages=GO)
        texts = {chat.choices[0].message.content, response.output_text, message.content[-1].text}  # type: ignore[union-attr]
        assert texts == {"reply 0"} and len(found.setting.drawn) == 1
        assert found.rollout.record["replayed"] == 2

    play(tmp_path, test)


def test_a_reply_that_was_cut_off_says_so_in_each_api(tmp_path: Path) -> None:
    async def test(found: Served) -> None:
        found.setting.finish = "length"
        response = await found.openai.responses.create(model="m", input="Go.")
        assert response.status == "incomplete" and response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
        message = await found.anthropic.messages.create(model="m", max_tokens=5, messages=GO)
        assert message.stop_reason == "max_tokens"
        text = await found.openai.completions.create(model="m", prompt="Go.")
        assert text.choices[0].finish_reason == "length"

    play(tmp_path, test)


def test_errors_are_in_the_words_of_each_api(tmp_path: Path) -> None:
    import anthropic
    import openai

    async def test(found: Served) -> None:
        long: Any = [{"role": "user", "content": "x" * 5000}]
        with pytest.raises(anthropic.BadRequestError, match=r"too long: 50\d\d tokens > 4000 maximum"):
            await found.anthropic.messages.create(model="m", max_tokens=5, messages=long)
        with pytest.raises(openai.BadRequestError, match="maximum context length is 4000") as error:
            await found.openai.responses.create(model="m", input="x" * 5000)
        assert error.value.code == "context_length_exceeded"
        other = found.anthropic.with_options(api_key="wrong")
        with pytest.raises(anthropic.PermissionDeniedError, match="does not open this rollout"):
            await other.messages.create(model="m", max_tokens=5, messages=GO)
        with pytest.raises(anthropic.NotFoundError, match="the gateway has"):
            await found.anthropic.messages.count_tokens(model="m", messages=GO)
        assert found.setting.drawn == []

    play(tmp_path, test)


@pytest.mark.parametrize(
    ("route", "body", "wanted"),
    [
        ("/completions", {"prompt": "x", "n": 2}, "'n' is 2"),
        ("/completions", {"prompt": "x", "suffix": "y"}, "'suffix' is"),
        ("/completions", {"prompt": [1, 2]}, "token ids"),
        ("/completions", [], "not a JSON object"),
        ("/responses", {"input": "x", "previous_response_id": "resp_1"}, "'previous_response_id' is"),
        ("/responses", {"input": "x", "background": True}, "'background' is true"),
        ("/responses", {"input": "x", "tools": [{"type": "web_search"}]}, 'tools[0] is of type "web_search"'),
        ("/responses", {"input": "x", "text": {"format": {"type": "json_object"}}}, "'text.format' is"),
        ("/responses", {"input": "x", "tool_choice": "required"}, "'tool_choice' is"),
        ("/responses", {"input": "x", "include": ["file_search_call.results"]}, "'include' is"),
        ("/responses", {"input": []}, "'input' is missing"),
        ("/responses", {"input": [{"type": "item_reference", "id": "x"}]}, 'of type "item_reference"'),
        (
            "/responses",
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
            'a part of type "input_image"',
        ),
        ("/messages", {"messages": []}, "'messages' is missing"),
        ("/messages", {"messages": ["x"]}, "messages[0] has no role"),
        ("/messages", {"messages": [{"role": "user", "content": 3}]}, "messages[0] has a content"),
        (
            "/messages",
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
            'messages[0] has a block of type "image"',
        ),
        (
            "/messages",
            {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "bash_20250124"}]},
            'tools[0] is of type "bash_20250124"',
        ),
        (
            "/messages",
            {"messages": [{"role": "user", "content": "x"}], "tool_choice": {"type": "any"}},
            "'tool_choice' is",
        ),
        (
            "/messages",
            {"messages": [{"role": "user", "content": "x"}], "stop_sequences": ["y"]},
            "'stop_sequences' is",
        ),
        (
            "/messages",
            {"messages": [{"role": "user", "content": "x"}], "output_config": {"format": {}}},
            "'output_config' is",
        ),
    ],
)
def test_what_is_not_offered_is_refused_by_name(route: str, body: Any, wanted: str) -> None:
    with pytest.raises(ChatError) as error:
        APIS[route].read(body, {})
    assert wanted in str(error.value) and error.value.status == 400


def test_what_asks_for_nothing_is_read() -> None:
    codex = {
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}],
        "instructions": "",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "prompt_cache_key": "k",
        "tool_choice": "auto",
        "text": {"verbosity": "low"},
    }
    found = APIS["/responses"].read(codex, {})
    assert found.messages == (Message("user", "x"),) and dict(found.asked) == {"reasoning_effort": "medium"}
    claude = {
        "messages": [{"role": "user", "content": "x"}],
        "max_tokens": 32000,
        "thinking": {"type": "enabled", "budget_tokens": 1000},
        "metadata": {"user_id": "u"},
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    }
    found = APIS["/messages"].read(claude, {})
    assert found.messages == (Message("user", "x"),)
    assert set(found.asked) == {"max_tokens", "thinking"}
