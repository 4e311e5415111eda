"""Documents of functions: as a tool schema for chat templates and servers, and as text in a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from genbench.types import ToolOffer

Form = Literal["auto", "template", "prompt"]
"""How functions are offered.

`template`: by the chat template, or by the server if it renders the prompt. `prompt`: as text in the system
message. `auto`: `template` if the chat template takes tools, else `prompt`.
"""

_JSON_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "string": "string",
        "String": "string",
        "char": "string",
        "any": "string",
        "integer": "integer",
        "byte": "integer",
        "short": "integer",
        "long": "integer",
        "Bigint": "integer",
        "float": "number",
        "double": "number",
        "number": "number",
        "boolean": "boolean",
        "Boolean": "boolean",
        "array": "array",
        "tuple": "array",
        "Array": "array",
        "ArrayList": "array",
        "dict": "object",
        "object": "object",
        "HashMap": "object",
    }
)
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "python": " The function is in Python 3 syntax.",
        "java": " The function is in Java 8 SDK syntax.",
        "javascript": " The function is in JavaScript syntax.",
    }
)
_SYSTEM = """\
You can call functions. You get a question and a list of functions. Call one or more of them to answer \
the question. If none of the functions can be used, or if the question lacks a value that a function \
requires, say so and call none.

Your whole reply must be the calls in this format, without any other text:
[func_name1(params_name1=params_value1, params_name2=params_value2, ...), func_name2(params)]

In each turn, do as much as the functions allow. You get the results of your calls and can call again. Reply \
without a call if the request is fulfilled.

The functions in JSON:
"""


def in_language(document: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return a document that says in which language its function is.

    Arguments of Java and JavaScript are texts of code, so every parameter is of type string, and its
    description says which type the text must have. The checker of BFCL reads them so.
    """
    found = {**document, "description": f"{document.get('description', '')}{_HINTS[language]}"}
    if language == "python":
        return found
    parameters = document.get("parameters") or {}
    known = parameters.get("properties") or {}
    properties = {name: _as_code(value, language) for name, value in known.items()}
    return {**found, "parameters": {**parameters, "properties": properties}}


def _as_code(value: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return a parameter whose value is a text of code."""
    kind, inner = str(value.get("type")), (value.get("items") or {}).get("type")
    shown = {"java": "Java", "javascript": "JavaScript"}[language]
    of = f" with elements of type {inner}" if inner else ""
    said = f"{value.get('description', '')} Give the {shown} code of a value of type {kind}{of} as a string."
    kept = {key: item for key, item in value.items() if key not in ("items", "properties")}
    return {**kept, "type": "string", "description": said.strip()}


def tool_schemas(offer: ToolOffer) -> tuple[dict[str, Any], ...]:
    """Return the tool schemas of what is offered, in the form that chat templates and servers read."""
    if offer.are_schemas:
        return tuple({"type": "function", "function": dict(document)} for document in offer.documents)
    return tuple(map(tool_schema, offer.documents))


def tool_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tool schema of a function's document, in the form that chat templates and servers read.

    Dots in the name become underscores, because servers refuse them. Types become those of JSON schema.
    """
    parameters = document.get("parameters") or {}
    return {
        "type": "function",
        "function": {
            "name": tool_name(str(document["name"])),
            "description": str(document.get("description", "")),
            "parameters": {
                "type": "object",
                "properties": {
                    name: _property(value) for name, value in (parameters.get("properties") or {}).items()
                },
                "required": list(parameters.get("required") or ()),
            },
        },
    }


def tool_name(name: str) -> str:
    """Return the name under which a tool schema offers a function."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def prompt_text(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return the system message that offers functions as text."""
    return _SYSTEM + json.dumps(list(documents), indent=4, ensure_ascii=False)


DocumentFormat = Literal["python", "xml", "json"]


def documents_as(documents: Sequence[Mapping[str, Any]], shown: DocumentFormat) -> str:
    """Return documents as BFCL's format sensitivity writes them into a prompt, character by character."""
    if shown == "json":
        return json.dumps(list(documents), indent=4)
    if shown == "xml":
        return "\n".join(map(_xml_document, documents))
    return "\n\n".join(text for document in documents for text in (_python_document(document), "\n"))


def _xml_document(document: Mapping[str, Any]) -> str:
    parameters = document["parameters"]
    inside = _xml_parameters(parameters.get("properties", {}), parameters.get("required"), 4)
    described = f"  <desc>{document.get('description', '')}</desc>\n  <params>\n{inside}  </params>\n"
    return f'<function name="{document["name"]}">\n{described}</function>\n'


def _xml_parameters(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str] | None, indent: int
) -> str:
    """Return parameters as XML. Without a list of required ones, all are."""
    margin, found = " " * indent, []
    for name, facts in properties.items():
        needed = "true" if required is None or name in required else "false"
        written = f'name="{name}" type="{_xml_type(facts)}" required="{needed}"'
        if "default" in facts:
            # A comma of the default is lost there, as are those between the attributes.
            written += f' default="{facts["default"]!r}"'
        found.append(
            f"{margin}<param {written.replace(',', '')}>\n{margin}  <desc>{_with_values(facts)}</desc>\n"
        )
        if "properties" in facts:
            inside = _xml_parameters(facts["properties"], facts.get("required"), indent + 4)
            found.append(f"{margin}  <params>\n{inside}{margin}  </params>\n")
        found.append(f"{margin}</param>\n")
    return "".join(found)


def _xml_type(facts: Mapping[str, Any]) -> str:
    own = facts.get("type", "string")
    if "type" in facts.get("items", {}):
        return f"{own}[{facts['items']['type']}]"
    if "additionalProperties" in facts:
        return f"{own}[{facts['additionalProperties'].get('type', 'string')}]"
    return str(own)


def _python_document(document: Mapping[str, Any]) -> str:
    lines = [f"# Function: {document['name']}", '    """', f"    {document.get('description', '')}", ""]
    if properties := (document.get("parameters") or {}).get("properties", {}):
        lines += ["    Args:", *_python_parameters(properties, 8)]
    return "\n".join([*lines, '    """', ""])


def _python_parameters(properties: Mapping[str, Mapping[str, Any]], indent: int) -> list[str]:
    found = []
    for name, facts in properties.items():
        default = f", default={facts['default']!r}" if "default" in facts else ""
        found.append(f"{' ' * indent}{name} ({_python_type(facts)}{default}): {_with_values(facts)}")
        found += _python_parameters(facts.get("properties", {}), indent + 4)
    return found


_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _python_type(facts: Mapping[str, Any]) -> str:
    own = str(facts.get("type", "string"))
    if own in ("array", "list", "tuple") and "items" in facts:
        return f"list[{_python_type(facts['items'])}]"
    if own in ("object", "dict"):
        inner = facts.get("additionalProperties")
        return "dict" if inner is None else f"dict[str, {_python_type(inner)}]"
    return _PYTHON_TYPES.get(own, own)


def _with_values(facts: Mapping[str, Any]) -> str:
    """Return what a document says of a parameter, with the values that it may have."""
    values = f" Enum values: {facts['enum']}." if "enum" in facts else ""
    return f"{facts.get('description', '')}{values}"


def _property(value: Any) -> dict[str, Any]:
    """Return a parameter as JSON schema. What it says of values and defaults is kept."""
    if not isinstance(value, Mapping):
        return {"type": "string"}
    found = {key: item for key, item in value.items() if key not in ("items", "properties", "optional")}
    found["type"] = _JSON_TYPES.get(str(value.get("type", "string")), "string")
    if "items" in value and found["type"] == "array":
        found["items"] = _property(value["items"])
    if "properties" in value and found["type"] == "object":
        found["properties"] = {key: _property(item) for key, item in value["properties"].items()}
    return found
