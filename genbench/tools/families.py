"""Parsers of function calls by model family: the text of a reply -> its calls.

vLLM has parsers of the same names. They need a tokenizer and vLLM itself, which is not there when verdicts
are made again, and several pass over calls that do not parse. These parsers need the text only, and a call
that does not parse makes the whole reply broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.tools.call_lists import CALL_LIST, Language, enclosed, without_fence
from genbench.tools.calls import Call, CallError, Parsed, depth_of
from genbench.tools.code_calls import code_calls
from genbench.tools.python_calls import python_calls

AUTO = "auto"
"""The name of the parser that finds the family by the first mark in the reply."""

Documents = Sequence[Mapping[str, Any]]
Parser = Callable[[str, Documents], list[Call]]

_LONGEST = 400_000
_DEEPEST = 100
"""Levels of lists and objects in the arguments of a call. Deeper ones are not calls."""
# Bounded or possessive, so that a text of a thousand beginnings of calls takes a time linear in its length.
_XML_FUNCTION = re.compile(r"<function=([^>\n]{1,500})>")
_XML_PARAMETER = re.compile(r"<parameter=([^>\n]{1,500})>")
# `get_weather{`, `get_weather[ARGS]{` and `get_weather[CALL_ID]9a1b[ARGS]{`, whose `{` begins the arguments.
_MISTRAL_CALL = re.compile(r"\s*+([\w.\-]++)\s*+(?:\[CALL_ID\][\w\-]*+)?\s*+(?:\[ARGS\])?\s*+(?=\{)")
# `to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{…}<|call|>`. The channel may
# come before the recipient, the constraint may be missing, and the last message may be cut off.
_HARMONY = re.compile(
    r"to=functions\.([\w.\-]{1,500}+)[^<]{0,500}+(?:<\|channel\|>[^<]{0,500}+)?"
    r"(?:<\|constrain\|>[^<]{0,500}+)?<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|<\|start\|>|\Z)",
    re.DOTALL,
)
_TAG = re.compile("<tool_call>")
_DEEPSEEK = re.compile(r"<｜tool▁call▁begin｜>")
_DECODER = json.JSONDecoder()


def _hermes(text: str, documents: Documents) -> list[Call]:
    """Read `<tool_call>{"name": …, "arguments": {…}}</tool_call>` (Hermes, Qwen2.5, Qwen3, SmolLM3)."""
    del documents
    bodies = [body for _, body in enclosed(text, _TAG, "</tool_call>")]
    if text.count("<tool_call>") != len(bodies):
        raise CallError("a <tool_call> is not closed")
    return [_call_of(_json(body)) for body in bodies]


def _qwen3_coder(text: str, documents: Documents) -> list[Call]:
    """Read `<function=NAME><parameter=KEY>value</parameter></function>` (Qwen3-Coder).

    Values are texts. The function's own document says which of them are numbers, lists and the like.
    """
    found = []
    functions = enclosed(text, _XML_FUNCTION, "</function>")
    if text.count("<function=") != len(functions):
        raise CallError("a <function=…> is not closed")
    for head, body in functions:
        name, parameters = head[1].strip(), enclosed(body, _XML_PARAMETER, "</parameter>")
        if body.count("<parameter=") != len(parameters):
            raise CallError("a <parameter=…> is not closed")
        types = _types_of(name, documents)
        arguments = {key[1].strip(): _typed(value, types.get(key[1].strip())) for key, value in parameters}
        found.append(Call(name, arguments))
    return found


def _llama(text: str, documents: Documents) -> list[Call]:
    """Read `{"name": …, "parameters": {…}}`, several with semicolons or as a list (Llama 3, xLAM)."""
    del documents
    body = text.split("<|python_tag|>", 1)[-1].strip()
    for token in ("<|eom_id|>", "<|eot_id|>"):
        body = body.removesuffix(token).rstrip()
    if body.startswith("<function="):
        functions = enclosed(body, _XML_FUNCTION, "</function>")
        return [Call(head[1].strip(), _arguments(_json(inside))) for head, inside in functions]
    if body.startswith("["):
        return _calls_of_list(_json(body))
    found, place = [], 0
    while place < len(body):
        value, place = _json_at(body, place)
        found.append(_call_of(value))
        while place < len(body) and body[place] in "; \n\t,":
            place += 1
    return found


def _mistral(text: str, documents: Documents) -> list[Call]:
    """Read `[TOOL_CALLS][{…}]` and the newer `[TOOL_CALLS]name[ARGS]{…}` (Mistral)."""
    del documents
    found: list[Call] = []
    for part in text.split("[TOOL_CALLS]")[1:]:
        body = part.strip().removesuffix("</s>").rstrip()
        if body.startswith("["):
            value, place = _json_at(body, 0)
            found += _calls_of_list(value)
        else:
            head = _MISTRAL_CALL.match(body)
            if head is None:
                raise CallError("[TOOL_CALLS] is followed by no call")
            value, place = _json_at(body, head.end())
            found.append(Call(head[1], _arguments(value)))
        if body[place:].strip(" \n;"):
            raise CallError("something follows a call")
    return found


def _pythonic(text: str, documents: Documents) -> list[Call]:
    """Read `[f(x=1), g()]` (Llama 4, OLMo 3, ToolACE, and BFCL's prompt form)."""
    del documents
    body = text.strip("`\n ")
    for start, end in (("<|python_start|>", "<|python_end|>"), ("<function_calls>", "</function_calls>")):
        if start in body:
            inside, closed, _ = body.partition(start)[2].partition(end)
            if not closed and end == "</function_calls>":
                raise CallError("<function_calls> is not closed")
            body = inside.strip()
    if not body.startswith("["):
        body = f"[{','.join(line for line in body.splitlines() if line.strip())}]"
    return list(python_calls(body))


def _gpt_oss(text: str, documents: Documents) -> list[Call]:
    """Read `<|channel|>commentary to=functions.NAME<|message|>{…}<|call|>` (gpt-oss)."""
    del documents
    matches = list(_HARMONY.finditer(text))
    if text.count("to=functions.") != len(matches):
        raise CallError("a call of the commentary channel has no message")
    return [Call(match[1], _arguments(_json(match[2]))) for match in matches]


def _deepseek(text: str, documents: Documents) -> list[Call]:
    """Read the calls between DeepSeek's own tokens, of V3 (with a fence) and of V3.1."""
    del documents
    calls = [body.partition("<｜tool▁sep｜>") for _, body in enclosed(text, _DEEPSEEK, "<｜tool▁call▁end｜>")]
    if text.count("<｜tool▁call▁begin｜>") != len(calls) or not all(separator for _, separator, _ in calls):
        raise CallError("a call is not closed")
    found = []
    for name, _, body in calls:
        before, inside = without_fence(body.strip())
        found.append(Call(before or name.strip(), _arguments(_json(inside))))
    return found


FAMILIES: Mapping[str, Parser] = MappingProxyType(
    {
        "hermes": _hermes,
        "qwen3_coder": _qwen3_coder,
        "llama": _llama,
        "mistral": _mistral,
        "pythonic": _pythonic,
        "gpt_oss": _gpt_oss,
        "deepseek": _deepseek,
    }
)
"""The parsers by name. `auto` takes the one whose mark comes first in the reply."""

_MARKS: tuple[tuple[str, str], ...] = (
    # Of two marks at one place the first of this list counts, so the longer one comes first.
    (r"<tool_call>\s*<function=", "qwen3_coder"),
    (r"<tool_call>", "hermes"),
    (r"<function=[^>\n]{1,500}+>\s*+<parameter=", "qwen3_coder"),
    (r"<function=[^>\n]{1,500}+>\s*+\{", "llama"),
    (r"<\|python_tag\|>", "llama"),
    (r"\[TOOL_CALLS\]", "mistral"),
    (r"to=functions\.", "gpt_oss"),
    (r"<｜tool▁calls?▁begin｜>", "deepseek"),
    (r"<\|python_start\|>|<function_calls>", "pythonic"),
)
_WHOLE: tuple[tuple[str, str], ...] = (
    (CALL_LIST.pattern, "pythonic"),
    (r"[A-Za-z_][\w.]*\(\s*(?:\w+\s*=[^\n]*)?\)\s*\Z", "pythonic"),  # get_weather(city="Rome")
    (r"(?:\[\s*)?\{\s*\"(?:name|type|function)\"", "llama"),  # {"name": …} or [{"name": …}]
)
"""Marks that count at the beginning of a reply only."""


def check_family(name: str) -> None:
    """Raise ConfigError if there is no parser of a name."""
    if name != AUTO and name not in FAMILIES:
        raise ConfigError(f"parser is '{name}'{nearest(name, (AUTO, *FAMILIES))}")


def family_of(text: str) -> str | None:
    """Return the family whose mark comes first in a reply, or None if it has no mark of a call."""
    found = [(match.start(), place, name) for place, (mark, name) in enumerate(_MARKS)
             if (match := re.search(mark, text))]  # fmt: skip
    if found:
        return min(found)[2]
    return next((name for mark, name in _WHOLE if re.match(mark, text.strip("`\n "))), None)


def said_before_calls(text: str) -> str:
    """Return what a reply says in front of its first call. Empty if it has no mark of a call."""
    places = [found.start() for mark, _ in _MARKS if (found := re.search(mark, text))]
    return text[: min(places)].strip() if places else ""


def parse(text: str, family: str = AUTO, documents: Documents = (), language: Language = "python") -> Parsed:
    """Return the calls of a reply.

    Args:
        text: the reply without its trace.
        family: a name of FAMILIES, or `auto`.
        documents: the functions that were offered, for families whose values have no types.
        language: the language of calls that are written as code.
    """
    if len(text) > _LONGEST:
        return Parsed(broken=f"the reply has more than {_LONGEST} characters")
    marked = family_of(text)
    if marked is None:
        return Parsed(broken=_looks_like(text, documents))
    chosen = marked if family == AUTO else family
    try:
        if chosen == "pythonic" and language != "python":
            calls = list(code_calls(text.strip("`\n ").removeprefix("[").removesuffix("]"), language))
        else:
            calls = FAMILIES[chosen](text, documents)
    except CallError as error:
        return Parsed(broken=str(error))
    if any(depth_of(dict(call.arguments), _DEEPEST) > _DEEPEST for call in calls):
        return Parsed(broken=f"the arguments of a call are nested in more than {_DEEPEST} levels")
    if not calls:
        return Parsed(broken=f"the reply has a mark of {marked}, and the parser {chosen} found no call")
    return Parsed(tuple(calls))


_FENCE = re.compile(r"```[\w+-]*\s*\n(.*?)```", re.DOTALL)


def form_of(text: str, documents: Documents) -> str:
    """Return in words what a reply is in which no call could be read.

    "14 of 14 are one JSON call in a code fence" says that a model knows the function and not the form.
    """
    if len(text) > _LONGEST:
        return "longer than any call"
    fences = _FENCE.findall(text)
    where = " in a code fence" if len(fences) == 1 else f" in {len(fences)} code fences" if fences else ""
    calls = sum(map(_json_calls, fences or [text]))
    if calls:
        return f"{'one JSON call' if calls == 1 else 'several JSON calls'}{where}"
    found = _looks_like(text, documents)
    if found is None:
        return f"text{where} without a call"
    return f"a JSON call within text{where}" if "JSON object" in found else f"a call written as code{where}"


def _json_calls(body: str) -> int:
    """Return how many calls in JSON a text is, one after the other or as a list. 0 if it is anything else."""
    found, place, body = 0, 0, body.strip()
    try:
        while place < len(body):
            value, place = _json_at(body, place)
            found += len(_calls_of_list(value if isinstance(value, list) else [value]))
            while place < len(body) and body[place] in "; \n\t,":
                place += 1
    except CallError:
        return 0
    return found


def _looks_like(text: str, documents: Documents) -> str | None:
    """Return why a text without a mark looks like a call all the same, or None if it does not."""
    names = [str(document.get("name")) for document in documents]
    for name in dict.fromkeys([*names, *(name.replace(".", "_") for name in names)]):
        if re.search(rf"(?<![\w.]){re.escape(name)}\s*\(\s*(?:\w+\s*=|\))", text):
            return f"'{name}(' is in the text, and the text is not a list of calls"
        if re.search(rf"\{{\s*\"name\"\s*:\s*\"{re.escape(name)}\"", text):
            return f"a JSON object with the name '{name}' is in the text, without the marks of a call"
    if "<tool_call" in text or "</tool_call>" in text or CALL_LIST.search(text):
        return "the text has the marks of a call, and no call could be read"
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text.strip())
    except (ValueError, RecursionError):
        raise CallError("the JSON of a call does not parse") from None


def _json_at(text: str, place: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        raise CallError("the JSON of a call does not parse") from None


def _calls_of_list(value: Any) -> list[Call]:
    if not isinstance(value, list):
        raise CallError("the calls are not a list")
    return [_call_of(item) for item in value]


def _call_of(value: Any) -> Call:
    """Return the call that a JSON object describes."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise CallError("a call is not an object with a 'name'")
    given = [value[key] for key in ("arguments", "parameters", "args") if key in value]
    if not given:
        raise CallError("a call has no 'arguments'")
    return Call(value["name"], _arguments(given[0]))


def _arguments(value: Any) -> dict[str, Any]:
    """Return arguments, which some models write as text of JSON."""
    if isinstance(value, str):
        value = _json(value)
    if not isinstance(value, dict):
        raise CallError("the arguments of a call are not an object")
    return value


def _types_of(name: str, documents: Documents) -> dict[str, str]:
    """Return the declared type of each parameter of a function."""
    for document in documents:
        if str(document.get("name")).replace(".", "_") == name.replace(".", "_"):
            properties = (document.get("parameters") or {}).get("properties") or {}
            return {key: str(value.get("type", "string")) for key, value in properties.items()}
    return {}


def _typed(text: str, kind: str | None) -> Any:
    """Return the value of a text by its declared type. Texts of type string, or of no known type, stay."""
    value = text.removeprefix("\n").removesuffix("\n")
    if kind in (None, "string", "String", "any", "char"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        lowered = value.strip().lower()
        return {"true": True, "false": False}.get(lowered, value)
