"""Whether a chat template shows everything that it is given.

A chat template is a program that comes with the checkpoint. Some leave out system messages, some read
content only as a list of parts, and some ignore the functions. The prompt is then another one than the suite
says, and every score of it is too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from genbench.errors import PromptError
from genbench.types import Message

Conversation = list[dict[str, Any]]
Apply = Callable[[Conversation, Sequence[Mapping[str, Any]], bool], str]
"""(conversation, tool schemas, whether the prompt for a reply is added) -> the template's text."""

_SHOWN_CHARS = 60
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SWITCH = re.compile(r"(?<![\w/])/\w+")
"""A command to the template such as `/no_think`. SmolLM3's takes it out of the system prompt and obeys it."""


def folded(text: str) -> str:
    """Return a text without its blanks, since templates strip what they show."""
    return "".join(text.split())


def _unescaped(text: str) -> str:
    """Return a text with its JSON escapes read, since templates show results of functions as JSON."""

    def read(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROL.get(code, code)

    found = _ESCAPE.sub(read, text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def conversation(messages: Sequence[Message], *, in_parts: bool) -> Conversation:
    """Return messages as a chat template takes them.

    Args:
        in_parts: each content is a list with one part of text, as templates of vision models want it.
    """
    return [
        {
            "role": message.role,
            "content": [{"type": "text", "text": message.content}] if in_parts else message.content,
        }
        | ({"name": message.name} if message.name else {})
        for message in messages
    ]


def missing(
    text: str, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]], template: str
) -> int | None:
    """Return the place of what is not in a rendered prompt, or None if everything is there.

    Blanks and JSON escapes do not count. Replies are not looked for: templates drop the traces of earlier
    ones by design, and `TemplateCheck` has made sure that they show the rest. Takes time linear in the text.

    Args:
        text: the rendered prompt.
        messages: what it was rendered from, in order. A system message may be shown anywhere.
        schemas: the functions. Their names and the names of their parameters must be shown. Their places are
            after those of the messages.
        template: the source of the template. It obeys the switches that it names, such as `/no_think`.
    """
    names = [name for _, name in _names(schemas)]
    lost = None
    for shown, as_shown in _readings(text, template):
        lost = _first_missing(shown, messages, names, as_shown)
        if lost is None:
            return None
    return lost


def _readings(text: str, template: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Yield ways to read a prompt, each with what it makes of a message. Mostly the first is enough."""
    yield text, str.strip
    text = folded(text)
    yield text, folded
    if "\\" in text:
        text = folded(_unescaped(text))
        yield text, folded
    switches = frozenset(_SWITCH.findall(template))
    if switches:
        kept = partial(_SWITCH.sub, lambda match: "" if match[0] in switches else match[0])
        yield text, lambda said: folded(kept(said))


def _first_missing(
    shown: str, messages: Sequence[Message], names: Sequence[str], as_shown: Callable[[str], str]
) -> int | None:
    place = 0
    for number, message in enumerate(messages):
        if message.role == "assistant":
            continue
        wanted = as_shown(message.content)
        found = shown.find(wanted, 0 if message.role == "system" else place)
        if found < 0:
            return number
        if message.role != "system":
            place = found + len(wanted)
    lost = (place for place, name in enumerate(names) if as_shown(name) not in shown)
    return next((len(messages) + place for place in lost), None)


def _names(schemas: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the names of functions and of their parameters, each with what it is."""
    for schema in schemas:
        function = schema.get("function", schema)
        yield "the function", str(function.get("name", ""))
        parameters = function.get("parameters") or {}
        for name in parameters.get("properties") or {}:
            yield f"of the function {function.get('name')!r} the parameter", str(name)


def _refusal(place: int, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]]) -> PromptError:
    """Return the error that names what the template drops."""
    if place < len(messages):
        lost = f"{_role(messages, place)} ({_short(messages[place].content)})"
    else:
        names = list(_names(schemas))
        what, name = names[min(place - len(messages), len(names) - 1)]
        lost = f"{what} {name!r}"
    is_needed = place < len(messages) and messages[place].role != "system"
    return PromptError(
        f"the chat template drops {lost}: it is not in the prompt that it makes; "
        f"{'' if is_needed else 'take it out of the suite, or '}name a template that shows it "
        "(chat_template: FILE)"
    )


def _role(messages: Sequence[Message], place: int) -> str:
    role = messages[place].role
    if role == "system":
        return "the system prompt"
    if role == "assistant":
        return "an earlier reply"
    if role == "tool":
        return f"the result of the function {messages[place].name!r}"
    asked = [number for number, message in enumerate(messages) if message.role == "user"]
    return "the question" if place == asked[-1] else f"message {asked.index(place) + 1} of the user"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…")


class TemplateCheck:
    """Renders with a chat template, and checks that it shows what it is given.

    Each sequence of roles is first rendered with made-up words. A short text such as `4` may be found by
    chance, and a made-up word is not.

    Args:
        apply: renders a conversation.
        template: the source of the template.
        trace_tags: open and close a trace. A template may put them in front of a reply.
    """

    def __init__(self, apply: Apply, template: str, trace_tags: Sequence[str] = ()) -> None:
        self._apply, self._template, self._tags = apply, template, [folded(tag) for tag in trace_tags if tag]
        self._in_parts: dict[tuple[object, ...], bool] = {}

    def text(
        self, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]], *, is_later: bool = False
    ) -> str:
        """Return the prompt of messages and functions.

        Args:
            is_later: it is a later turn, whose form was checked before anything was drawn.

        Raises:
            PromptError: something that was said is not in it, or the prompt does not begin a reply.
        """
        key = (*(message.role for message in messages), bool(schemas))
        if key not in self._in_parts and not (is_later and self._in_parts):
            self._in_parts[key] = self._wants_parts(messages, schemas)
        in_parts = self._in_parts.get(key, next(iter(self._in_parts.values())))
        text = self._apply(conversation(messages, in_parts=in_parts), schemas, True)
        lost = None if is_later else missing(text, messages, schemas, self._template)
        if lost is not None:
            raise _refusal(lost, messages, schemas)
        return text

    def after_reply(self) -> str:
        """Return what the template writes between a reply and the next question, or an empty text."""
        asked, reply = Message("user", _word(0)), Message("assistant", _word(1))
        said = (asked, reply, Message("user", _word(2)))
        found = ""
        for messages in (said[:2], said):
            try:
                in_parts = self._wants_parts((asked,), ())
                text = self._apply(conversation(messages, in_parts=in_parts), (), False)
            except PromptError:
                return found
            found += text.partition(reply.content)[2].partition(_word(2))[0]
        return found

    def _wants_parts(self, messages: Sequence[Message], schemas: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether content must be given in parts. It is given as text if the template shows that.

        Raises:
            PromptError: the template shows neither, or ignores add_generation_prompt.
        """
        own = [Message(item.role, _word(place), item.name) for place, item in enumerate(messages)]
        tools = [_made_up_function(len(own))] if schemas else []
        refusals = []
        for in_parts in (False, True):
            try:
                lost = self._lost(own, tools, in_parts=in_parts)
            except PromptError as error:
                refusals.append(error)
                continue
            if lost is None:
                self._check_prompted(own, tools, in_parts=in_parts)
                return in_parts
            refusals.append(_refusal(lost, messages, schemas))
        raise refusals[0]

    def _lost(
        self, own: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, in_parts: bool
    ) -> int | None:
        text = self._apply(conversation(own, in_parts=in_parts), tools, True)
        lost = missing(text, own, tools, self._template)
        if lost is not None:
            return lost
        replies = (place for place, item in enumerate(own) if item.role == "assistant")
        return next((place for place in replies if own[place].content not in text), None)

    def _check_prompted(
        self, own: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, in_parts: bool
    ) -> None:
        """Refuse a template that ignores `add_generation_prompt` and writes a header in front of replies.

        Those of Llama 2 and Mistral ignore it too, and their replies follow the question without a header.
        """
        asked = conversation(own, in_parts=in_parts)
        text = self._apply(asked, tools, True)
        if self._apply(asked, tools, False) != text:
            return
        reply = Message("assistant", _word(len(own)))
        try:
            spoken = self._apply([*asked, *conversation([reply], in_parts=in_parts)], tools, False)
        except PromptError:
            return
        head, found, _ = spoken.partition(reply.content)
        header = folded(head).removeprefix(folded(text))
        for tag in self._tags:
            header = header.replace(tag, "")
        if found and header and folded(head).startswith(folded(text)):
            raise PromptError(
                "the chat template ignores add_generation_prompt: its prompts lack "
                f"{head[len(text.rstrip()) :].strip()!r}, which comes in front of every reply; add it at the "
                "end ({% if add_generation_prompt %} … {% endif %}), and name the file with chat_template"
            )


def _word(number: int) -> str:
    return f"zwq{number:03d}vyx"


def _made_up_function(number: int) -> dict[str, Any]:
    properties = {_word(number + 1): {"type": "string", "description": _word(number + 2)}}
    parameters = {"type": "object", "properties": properties, "required": [_word(number + 1)]}
    function = {"name": _word(number), "description": _word(number + 3), "parameters": parameters}
    return {"type": "function", "function": function}
