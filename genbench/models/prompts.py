"""Render messages to the exact prompt that a model reads: text, token ids, digest. Prompts are never cut.

A prompt is rendered with the model's chat template, its trace format, and the exemplars and functions of a
task.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, Protocol

from genbench.errors import ConfigError, ContextFullError, PromptError, nearest
from genbench.models import traces
from genbench.models.data_texts import DataTexts
from genbench.models.said import Conversation, TemplateCheck
from genbench.suite.config import ModelConfig, TraceTags
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tools.documents import prompt_text, tool_schemas
from genbench.types import Message, ToolOffer

_TOOL_VARIABLES = ("xml_tools", "tools")
"""Variables under which chat templates take tools. SmolLM3's takes `xml_tools`."""


def tool_variable(template: str | None) -> str | None:
    """Return the variable under which the chat template takes tools, or None if it takes none."""
    words = set(re.findall(r"[A-Za-z_]\w*", template or ""))
    return next((name for name in _TOOL_VARIABLES if name in words), None)


def template_tools(template: str | None, schemas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the argument of the chat template that shows the functions. Empty if there are none."""
    variable = tool_variable(template) if schemas else None
    if variable is None:
        return {}
    # Templates with `xml_tools` show each function itself, those with `tools` unpack `function`.
    return {variable: [schema["function"] if variable == "xml_tools" else schema for schema in schemas]}


def without_tool_roles(messages: Sequence[Message]) -> list[Message]:
    """Return messages with each run of results as one message of the user, for models without tool roles."""
    found: list[Message] = []
    results: list[dict[str, str]] = []
    for message in [*messages, None]:
        if message is not None and message.role == "tool":
            results.append({"role": "tool", "name": message.name, "content": message.content})
            continue
        if results:
            found.append(Message("user", json.dumps(results, ensure_ascii=False)))
            results = []
        if message is not None:
            found.append(message)
    return found


Style = Literal["chat", "plain", "few_shot"]

TEMPLATE_DATE = date(2025, 1, 1)
"""The date for templates that ask for one (Llama 3, gpt-oss). Today's would change prompts at midnight."""

_OURS = ("conversation", "chat_template", "tokenize", "add_generation_prompt", "continue_final_message")
"""Arguments of apply_chat_template that a suite may not set."""
_ALWAYS = ("tools", "documents")
_ENDS_SHOT = "\n\n"
_QUESTION, _ANSWER = "Question:", "Answer:"


class ChatTokenizer(Protocol):
    """The part of a transformers tokenizer that is used here."""

    @property
    def bos_token_id(self) -> int | None:
        """Return the id of the token that begins every text, or None if there is none."""
        ...

    def apply_chat_template(self, conversation: list[dict[str, Any]], **options: Any) -> Any:
        """Return the text or the token ids of a conversation."""
        ...

    def __call__(self, text: str, **options: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt as the model reads it. `token_ids` is None if there is no tokenizer (ready responses)."""

    text: str
    token_ids: tuple[int, ...] | None
    opened_trace: bool
    """The prompt ends inside a reasoning trace."""
    digest: str
    """SHA-256 of the token ids, or of the text if there are none."""
    messages: tuple[Message, ...] = ()
    """What it was rendered from, with the model's system prompt."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """The tool schemas that a server renders. Empty if the prompt contains them."""


_PIECE_CHARS = 16_000_000
"""Characters of pieces whose token ids are kept, about 200 MB."""
_PIECE_OVERHEAD = 200
"""Characters that are counted for the Python objects of one piece."""
_PROVED = 16
"""Texts whose pieces are compared with the whole before they are relied on."""


class JoinedIds(list[int]):
    """Token ids with their JSON, of which their digest is made. To write it anew takes as long as a turn."""

    __slots__ = ("json",)

    def __init__(self, ids: Iterable[int], text: str) -> None:
        super().__init__(ids)
        self.json = text


class PieceTokens:
    """Token ids of conversations that grow: what was tokenized for an earlier turn is not tokenized again.

    A tokenizer takes out its added tokens first, and what is between them does not depend on what is around.
    So a text is cut in front of each added token, and the ids of its pieces are joined. Added tokens that
    swallow spaces, or whose text is normalized, are not places to cut. The first texts are also tokenized
    whole. If the ids ever differ, all texts are from then on.
    """

    def __init__(self, tokenizer: Any, encode: Callable[[str], list[int]]) -> None:
        self._encode, self._left, self._proved = encode, _PIECE_CHARS, 0
        self._known: dict[str, tuple[list[int], str]] = {}
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        added = list(getattr(tokenizer, "added_tokens_decoder", {}).values())
        plain = [str(token) for token in added if not _needs_its_surroundings(token)]
        is_fast = bool(getattr(tokenizer, "is_fast", False)) and len(plain) == len(added)
        marks = "|".join(map(re.escape, sorted(plain, key=len, reverse=True)))
        self._cut = re.compile(f"(?={marks})") if is_fast and marks else None

    def ids(self, text: str) -> list[int]:
        """Return the token ids of a text, without special tokens that the tokenizer would add."""
        if self._cut is None:
            return self._encode(text)
        pieces = [self._piece(piece) for piece in self._cut.split(text) if piece]
        ids: list[int] = []
        for own, _ in pieces:
            ids += own
        found = JoinedIds(ids, f"[{', '.join(own for _, own in pieces if own)}]")
        if self._proved < _PROVED:
            whole = self._encode(text)
            self._proved += 1
            if whole != found:
                self._cut = None
            return whole
        return found

    def _piece(self, piece: str) -> tuple[list[int], str]:
        """Return the token ids of a piece, and their JSON without brackets."""
        known = self._known.get(piece)
        if known is None:
            size = len(piece) + _PIECE_OVERHEAD
            if self._left < size:
                self._known.clear()
                self._left = _PIECE_CHARS
            self._left -= size
            ids = self._encoded(piece)
            known = self._known[piece] = ids, json.dumps(ids)[1:-1]
        return known

    def _encoded(self, piece: str) -> list[int]:
        """Return the token ids of a piece. Without their places in the text it takes 0.23 instead of 0.57 ms.

        A tokenizer that would cut or fill up what it gets is asked through transformers, which prevents that.
        """
        backend = self._backend
        if backend is None or backend.truncation is not None or backend.padding is not None:
            return self._encode(piece)
        return list(backend.encode_batch_fast([piece], add_special_tokens=False)[0].ids)


def _needs_its_surroundings(token: Any) -> bool:
    """Return whether an added token is found, or its neighbours are read, by what is around it."""
    return any(getattr(token, name, True) for name in ("lstrip", "rstrip", "single_word", "normalized"))


def _opens_nothing(text: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders the prompts of one model for one task.

    Args:
        tokenizer: None if prompts are not tokenized here. They stay text then.
        chat_template: the template in force (the model's own, or the file that replaces it).
        chat_template_kwargs: variables of the template, `enable_thinking` and the like.
        system_prompt: put before the task's own system message.
        style: `chat` needs a chat template, `plain` is the bare text, `few_shot` puts exemplars first.
        shots: (question, answer) exemplars of few_shot.
        opens_trace: whether a rendered prompt ends inside a trace.
        closes_trace: the text that ends a trace. A trace that the template opens is closed empty in front of
            an answer whose beginning is given.
        adds_bos: whether BOS is put in front of a prompt without a chat template though the tokenizer does
            not do it.
        data_texts: encodes the control tokens that are marked in messages. None: messages have no marks.

    Raises:
        PromptError: chat without a template, few_shot without exemplars, unusable template variables.
    """

    tokenizer: ChatTokenizer | None
    chat_template: str | None = None
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    system_prompt: str | None = None
    style: Style = "chat"
    shots: Sequence[tuple[str, str]] = ()
    opens_trace: Callable[[str], bool] = _opens_nothing
    closes_trace: str = ""
    adds_bos: bool = False
    data_texts: DataTexts | None = None
    _template: TemplateCheck | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.style == "few_shot" and not self.shots:
            raise PromptError("prompt_style few_shot needs exemplars; give the task 'shots', or use plain")
        if self.style != "chat" and self.chat_template_kwargs:
            raise PromptError(f"chat_template_kwargs mean nothing under prompt_style {self.style}")
        if self.style == "chat" and self.tokenizer is not None:
            template = self._check_template()
            check = TemplateCheck(self._applied, template, ("<think>", "</think>", self.closes_trace))
            object.__setattr__(self, "_template", check)

    @property
    def stop(self) -> tuple[str, ...]:
        """Return texts that end a completion, since a base model adds exemplars of its own."""
        return (f"{_ENDS_SHOT}{_QUESTION}",) if self.style == "few_shot" else ()

    def tool_form(self, offer: ToolOffer) -> str:
        """Return how functions are offered: `template: VARIABLE`, `server`, or `prompt`. It is a term.

        Raises:
            PromptError: the template must take them, and there is none that takes tools.
        """
        if offer.form != "prompt" and self.style == "chat":
            if self.tokenizer is None:
                return "server"
            variable = tool_variable(self.chat_template)
            if variable is not None:
                return f"template: {variable}"
        if offer.form == "template":
            raise PromptError(
                "the chat template takes no tools; set the task's options: {form: prompt}, or name a "
                "chat_template that has the variable 'tools'"
            )
        return "prompt"

    def render(
        self,
        messages: Sequence[Message],
        offer: ToolOffer | None = None,
        encode: Callable[[str], list[int]] | None = None,
        *,
        is_later: bool = False,
    ) -> Rendered:
        """Return the prompt for `messages` (system, then user and assistant in turn).

        If the last message is the assistant's, it is the beginning of the answer.

        Args:
            offer: the functions that the model may call.
            encode: returns the token ids of a text under the style `chat`. None: the tokenizer does.
            is_later: it is a later turn of a conversation, which has the model's own replies.

        Raises:
            PromptError: the chat template refuses or drops the messages or the tools, or a text is not valid
                Unicode.
        """
        form = None if offer is None else self.tool_form(offer)
        schemas = () if offer is None or form == "prompt" else tool_schemas(offer)
        if offer is not None and form == "prompt":
            messages = [Message("system", prompt_text(offer.documents)), *without_tool_roles(messages)]
        begun = [message for message in messages[-1:] if message.role == "assistant"]
        whole = self._with_system_prompt(messages[: len(messages) - len(begun)])
        text = self._text(whole, schemas, is_later=is_later)
        for message in begun:
            text = self._begun(text, message.content)
        whole += begun
        if self.tokenizer is None and schemas:
            text = f"{json.dumps(schemas, ensure_ascii=False)}\n\n{text}"
        shown, whole = self._shown(text), [replace(item, content=self._shown(item.content)) for item in whole]
        try:
            encoded = shown.encode()
        except UnicodeEncodeError as error:
            raise PromptError(
                f"the prompt has half of a surrogate pair at character {error.start}"
            ) from error
        if self.tokenizer is None:
            return Rendered(shown, None, False, hashlib.sha256(encoded).hexdigest(), tuple(whole), schemas)
        ids = self._token_ids(text, encode)
        written = ids.json if isinstance(ids, JoinedIds) else json.dumps(ids)
        digest = hashlib.sha256(written.encode()).hexdigest()
        return Rendered(shown, tuple(ids), self.opens_trace(text), digest, tuple(whole))

    def _shown(self, text: str) -> str:
        return text if self.data_texts is None else self.data_texts.shown(text)

    def text(self, messages: Sequence[Message]) -> str:
        """Return the text of a prompt, with the model's system prompt, and with the marks of the messages.

        Raises:
            PromptError: the chat template refuses the messages.
        """
        return self._text(self._with_system_prompt(messages))

    def _with_system_prompt(self, messages: Sequence[Message]) -> list[Message]:
        """Join the system messages of model and task. Many templates take only one, and only first."""
        parts = [message.content for message in messages if message.role == "system"]
        if self.system_prompt:
            parts.insert(0, self.system_prompt)
        rest = [message for message in messages if message.role != "system"]
        return [Message("system", "\n\n".join(parts)), *rest] if parts else rest

    def _text(
        self,
        messages: Sequence[Message],
        schemas: Sequence[Mapping[str, Any]] = (),
        *,
        is_later: bool = False,
    ) -> str:
        if self.style == "few_shot":
            return self._few_shot_text(messages)
        if self.style == "plain" or (len(messages) == 1 and self.tokenizer is None):
            return "\n\n".join(message.content for message in messages)
        if self._template is None:
            return "\n\n".join(f"{message.role}: {message.content}" for message in messages)
        return self._template.text(messages, schemas, is_later=is_later)

    @property
    def after_reply(self) -> str:
        """Return what the chat template writes after a reply. Empty without one."""
        return "" if self._template is None else self._template.after_reply()

    def check_later_turn(self, messages: Sequence[Message], offer: ToolOffer | None) -> None:
        """Check that the template shows replies, and what follows them: a question, or results of functions.

        Raises:
            PromptError: it refuses or drops one of them.
        """
        has_results = offer is not None and self.tool_form(offer) != "prompt"
        following = Message("tool", "0", "f") if has_results else Message("user", "?")
        self.render((*messages, Message("assistant", "."), following), offer)

    def _begun(self, text: str, beginning: str) -> str:
        """Return a prompt with the beginning of its answer."""
        if self.opens_trace(text):
            if not self.closes_trace:
                raise PromptError(
                    "the chat template opens a reasoning trace in front of an answer whose beginning is "
                    "given; switch the trace off (chat_template_kwargs), or set the task's option "
                    "answer_prefix: false"
                )
            text = f"{text.rstrip()}\n\n{self.closes_trace}\n\n"
        return f"{text}{beginning}" if text[-1:].isspace() or text.endswith(">") else f"{text} {beginning}"

    def _few_shot_text(self, messages: Sequence[Message]) -> str:
        parts = [message.content for message in messages if message.role == "system"]
        parts += [f"{_QUESTION} {question}\n{_ANSWER} {answer}" for question, answer in self.shots]
        turns = [message.content for message in messages if message.role != "system"]
        *earlier, last = [turns[start : start + 2] for start in range(0, len(turns), 2)]
        parts += [f"{_QUESTION} {question}\n{_ANSWER} {answer}" for question, answer in earlier]
        return _ENDS_SHOT.join([*parts, f"{_QUESTION} {last[0]}\n{_ANSWER}"])

    def _applied(
        self, conversation: Conversation, schemas: Sequence[Mapping[str, Any]], is_asked: bool
    ) -> str:
        """Return what the chat template makes of a conversation. With `is_asked` a reply follows."""
        assert self.tokenizer is not None
        tools = template_tools(self.chat_template, schemas)
        try:
            # strftime_now is a global of transformers' templates. A variable of that name replaces it.
            with _limited_time():
                found = self.tokenizer.apply_chat_template(
                    conversation,
                    chat_template=self.chat_template,
                    add_generation_prompt=is_asked,
                    tokenize=False,
                    **{"strftime_now": TEMPLATE_DATE.strftime} | tools | dict(self.chat_template_kwargs),
                )
        except Exception as error:  # a template is a program that came with the checkpoint
            roles = ", ".join(message["role"] for message in conversation)
            raise PromptError(f"the chat template failed on the roles {roles}: {error}") from error
        return str(found)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, without special tokens that the tokenizer would add."""
        assert self.tokenizer is not None
        return list(self.tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])

    def _token_ids(self, text: str, encode: Callable[[str], list[int]] | None = None) -> list[int]:
        """Return token ids with at most one BOS in front, and without an EOS that the tokenizer would add."""
        tokenizer = self.tokenizer
        assert tokenizer is not None
        chat = self.style == "chat"  # a chat template writes its special tokens itself
        ids = self._marked_ids(text)
        if ids is None:
            text = self._shown(text)
            ids = self.encode(text) if encode is None or not chat else encode(text)
        bos = tokenizer.bos_token_id
        if bos is not None and not chat and (self.adds_bos or adds_bos(tokenizer)):
            ids.insert(0, bos)
        while bos is not None and ids[:2] == [bos, bos]:
            ids = ids[1:]
        return ids

    def _marked_ids(self, text: str) -> list[int] | None:
        """Return the token ids of a text with marks, or None if it has none, or the tokenizer cannot."""
        if self.data_texts is None or not self.data_texts.is_marked(text):
            return None
        return self.data_texts.ids(text)

    def _check_template(self) -> str:
        if self.chat_template is None:
            raise PromptError(
                "the model has no chat template; choose: prompt_style: plain (or few_shot, with exemplars) "
                "for a base model, or chat_template: FILE with the template that it was trained with"
            )
        words = set(re.findall(r"[A-Za-z_]\w*", self.chat_template))
        check_template_kwargs(self.chat_template_kwargs)
        for name in self.chat_template_kwargs:
            if name in _OURS:
                raise PromptError(f"chat_template_kwargs: '{name}' is not the suite's to set")
            if name not in words and name not in _ALWAYS:
                hint = nearest(name, _variables(words))
                raise PromptError(f"chat_template_kwargs: the chat template has no '{name}'{hint}")
        return self.chat_template


_BOOLEANS: Mapping[str, str] = {"yes": "true", "on": "true", "no": "false", "off": "false"}
"""Words for booleans that YAML 1.2 reads as texts."""


def check_template_kwargs(given: Mapping[str, Any]) -> None:
    """Refuse a text that spells a boolean. A template takes every text for true, `"false"` as well.

    Raises:
        PromptError: names the key.
    """
    for name, value in given.items():
        word = value.strip().lower() if isinstance(value, str) else ""
        is_switch = name.startswith("enable_") or name == "thinking"  # others may have such words as values
        if word in {"true", "false"} or (is_switch and word in _BOOLEANS):
            meant = _BOOLEANS.get(word, word)
            raise PromptError(
                f"chat_template_kwargs: {name} is the text {value!r}, wanted a boolean, since a template "
                f"takes every text for true; write {name}: {meant} without quotation marks"
            )


_RENDER_S = 5.0
"""Seconds for one prompt. Templates of real models take a millisecond."""
_rendering: dict[int, float] = {}
"""The threads that render a template, each with the time at which it must have ended."""
_watchdogs: list[threading.Thread] = []
"""The one thread that ends them, once there is one."""


class _TooSlowError(Exception):
    """A chat template took too long."""

    def __str__(self) -> str:
        return f"it took longer than {_RENDER_S:g} s for one prompt; look at its loops"


@contextmanager
def _limited_time() -> Iterator[None]:
    """End a template that runs too long, such as one with nested loops, by an exception in this thread.

    One operation of Python that takes long by itself (a huge power) is not ended.
    """
    if not _watchdogs:
        _watchdogs.append(threading.Thread(target=_watch, name="chat-template-watchdog", daemon=True))
        _watchdogs[0].start()
    own = threading.get_ident()
    _rendering[own] = time.monotonic() + _RENDER_S
    has_arrived = False
    try:
        yield
    except _TooSlowError:
        has_arrived = True
        raise
    finally:
        if _rendering.pop(own, None) is None and not has_arrived:
            # The watchdog was faster. Its exception is on its way, and must not hit what comes next.
            for _ in range(100):
                time.sleep(0.01)


def _watch() -> None:
    while True:
        time.sleep(0.5)
        for thread, until in list(_rendering.items()):
            if time.monotonic() > until and _rendering.pop(thread, None) is not None:
                error = ctypes.py_object(_TooSlowError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def _after_fork() -> None:
    """Start a new watchdog when the first template is rendered: a child has no threads."""
    _watchdogs.clear()
    _rendering.clear()


os.register_at_fork(after_in_child=_after_fork)


def _variables(words: set[str]) -> list[str]:
    """Return the words of a template that look like switches, for hints."""
    return [word for word in words if "_" in word]


def adds_bos(tokenizer: Any) -> bool:
    """Return whether the tokenizer puts BOS in front of a text."""
    return tokenizer.bos_token_id in tokenizer("", add_special_tokens=True)["input_ids"]


def fit(prompt_tokens: int, max_tokens: int, context: int) -> tuple[int, bool]:
    """Return max_tokens lowered to what prompt and context leave, and whether it was lowered.

    Raises:
        ContextFullError: nothing is left. A prompt is never cut.
    """
    left = context - prompt_tokens
    if left < 1:
        raise ContextFullError(prompt_tokens, context)
    return min(max_tokens, left), left < max_tokens


def check_token_ids(ids: Sequence[int], vocab_size: int | None, token: Callable[[int], str]) -> None:
    """Refuse a prompt with a token that the model has no embedding for. An engine would crash on it.

    Args:
        vocab_size: the rows of the embedding, or None if unknown.
        token: the text of a token id, for the message.

    Raises:
        PromptError: names the token.
    """
    highest = max(ids, default=0)
    if vocab_size is not None and highest >= vocab_size:
        raise PromptError(
            f"the prompt has the token {token(highest)!r} (id {highest}), and the model's embedding ends at "
            f"id {vocab_size - 1}: the tokenizer was extended and the embedding was not; call "
            "resize_token_embeddings and save the model again, or name the fitting tokenizer with 'tokenizer'"
        )


def trace_format(
    suite: Suite,
    template: str | None,
    added: Sequence[str],
    response_template: Mapping[str, Any] | None = None,
) -> traces.TraceFormat:
    """Return the format that the suite names. `auto` is the one that template and tokenizer show.

    Args:
        added: tokens that were added to the vocabulary. Trace tags are often among them.
        response_template: the tokenizer's description of its replies, which `hf` takes the tags from.

    Raises:
        ConfigError: there is no such format, or nothing shows the tags of the model.
    """
    wanted = suite.config.reasoning
    try:
        if isinstance(wanted, TraceTags):
            return traces.resolve({"open": wanted.open, "close": wanted.close})
        if wanted == "auto":
            return traces.detect(template, added, response_template)
        if wanted == "hf":
            return traces.from_response_template(response_template)
        return traces.suffixed(traces.resolve(wanted), added)
    except ConfigError as error:
        raise ConfigError(f"{suite.where('reasoning')}: {error}") from None


def trace_tags(fmt: traces.TraceFormat) -> tuple[str, str]:
    """Return the first opening and closing tag of a format, or empty texts if it has none."""
    return (fmt.opens[0], fmt.closes[0]) if fmt.opens and fmt.closes else ("", "")


def stated_format(suite: Suite) -> traces.TraceFormat:
    """Return the format that the suite names. Without a tokenizer `auto` and `hf` are `think`."""
    if suite.config.reasoning in ("auto", "hf"):
        return traces.FORMATS["think"]
    return trace_format(suite, None, ())


def template_file(config: ModelConfig, base: Path) -> str | None:
    """Return the template that the suite names instead of the model's own."""
    if config.chat_template is None:
        return None
    path = resolve(config.chat_template, base)
    if not path.is_file():
        raise ConfigError(f"chat_template: no such file: {path}")
    return path.read_text(encoding="utf-8")


def task_renderer(
    config: ModelConfig,
    task: LoadedTask,
    tokenizer: Any,
    template: str | None,
    fmt: traces.TraceFormat,
    *,
    adds_bos: bool = False,
    data_texts: DataTexts | None = None,
) -> Renderer:
    """Return the renderer of one task, with the task's few-shot exemplars."""
    return Renderer(
        tokenizer,
        chat_template=template,
        chat_template_kwargs=config.chat_template_kwargs,
        system_prompt=config.system_prompt,
        style=config.prompt_style,
        shots=_shots(config, task),
        opens_trace=lambda text: traces.opened_by_prompt(text, fmt),
        closes_trace=trace_tags(fmt)[1],
        adds_bos=adds_bos,
        data_texts=data_texts,
    )


def _shots(config: ModelConfig, task: LoadedTask) -> tuple[tuple[str, str], ...]:
    if config.prompt_style != "few_shot":
        return ()
    shots = task.task.info.shots
    if not shots:
        raise ConfigError(f"task {task.name} has no exemplars for prompt_style few_shot; use plain or chat")
    return shots[: config.shots]


def check_later_turns(tasks: Sequence[LoadedTask], renderer: Callable[[str], Renderer]) -> None:
    """Check on its first problem that each conversation can go on, before anything of it is drawn.

    Raises:
        PromptError: a template drops or refuses replies, or what follows them. Names the task.
    """
    for task in tasks:
        ask = task.ask(task.problems[0], 0, ()) if task.problems and task.problems[0].turns > 1 else None
        if ask is None or ask.scoring is not None or ask.speaker == "user":
            continue
        try:
            renderer(task.name).check_later_turn(ask.messages, ask.tools)
        except PromptError as error:
            raise PromptError(f"{task.where}: {error}") from None


def tool_forms(tasks: Sequence[LoadedTask], renderer: Callable[[str], Renderer]) -> dict[str, str]:
    """Return how functions are offered, for each task that offers any.

    Raises:
        PromptError: the chat template must take them and does not. Names the task.
    """
    found: dict[str, str] = {}
    for task in tasks:
        ask = task.ask(task.problems[0], 0, ()) if task.problems else None
        if ask is None or ask.tools is None:
            continue
        try:
            found[task.name] = renderer(task.name).tool_form(ask.tools)
            if (facts := getattr(task.task, "tool_facts", None)) is not None:
                found[task.name] += f"; {facts}"
        except PromptError as error:
            raise PromptError(f"{task.where}: {error}") from None
    return found
