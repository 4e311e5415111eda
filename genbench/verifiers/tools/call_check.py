"""The check of calls against the calls that a row of BFCL accepts: names, parameters, types, values.

Values of arguments that were written as Java or JavaScript are read by the type that the function declares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from genbench.tools.calls import Call

_WHOLE = re.compile(r"-?\d+")
_REAL = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_PLAIN_REAL = re.compile(r"-?\d+(\.\d+)?")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_NO_ELEMENTS = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_JS_ROWS = re.compile(r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\)")
_JS_LIST = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_JS_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")

JAVA_TYPES: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        **dict.fromkeys(("char", "String", "any"), str),
        **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
        **dict.fromkeys(("HashMap", "Hashtable"), dict),
        "boolean": bool,
        "Set": set,
    }
)
"""The type of Python that stands for each type of Java."""

JAVASCRIPT_TYPES: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(("String", "any"), str),
        **dict.fromkeys(("integer", "Bigint"), int),
        **{"float": float, "Boolean": bool, "dict": dict, "array": list},
    }
)
"""The type of Python that stands for each type of JavaScript."""


def java_value(text: str, kind: str, inner: str | None = None) -> Any:
    """Return the value of a text of Java.

    Args:
        kind: the declared type.
        inner: the declared type of the elements of a list or array.
    """
    found: Any = text
    match kind:
        case "byte" | "short" | "integer":
            found = int(text) if _WHOLE.fullmatch(text) else text
        case "long":
            found = int(text[:-1]) if re.fullmatch(r"-?\d+[lL]", text) else text
        case "float":
            found = float(text[:-1]) if text[-1:] in "fF" and _REAL.fullmatch(text[:-1]) else text
        case "double":
            found = float(text) if _REAL.fullmatch(text) else text
        case "boolean":
            found = text == "true" if text in ("true", "false") else text
        case "ArrayList":
            found = _java_list(text, inner)
        case "Array":
            found = _java_array(text, inner)
        case "HashMap":
            found = _java_map(text)
    return found


def javascript_value(text: str, kind: str, inner: str | None = None) -> Any:
    """Return the value of a text of JavaScript. The arguments are those of `java_value`."""
    found: Any = text
    match kind:
        case "String":
            found = text[1:-1] if _is_quoted(text) else text
        case "integer":
            found = int(text) if _WHOLE.fullmatch(text) else text
        case "float":
            found = float(text) if _PLAIN_REAL.fullmatch(text) else text
        case "Bigint":
            found = int(text[:-1]) if re.fullmatch(r"-?\d+n", text) else text
        case "Boolean":
            found = text == "true" if text in ("true", "false") else text
        case "array":
            found = _javascript_list(text.strip(), inner)
        case "dict":
            found = _javascript_object(text.strip())
    return found


CONVERTERS: Mapping[str, tuple[Mapping[str, type], Callable[..., Any]]] = MappingProxyType(
    {"java": (JAVA_TYPES, java_value), "javascript": (JAVASCRIPT_TYPES, javascript_value)}
)
"""By language: the types, and the function that returns the value of a text."""


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",") if piece.strip()]


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")


def _java_list(text: str, inner: str | None) -> Any:
    found = _AS_LIST.search(text)
    if found is not None:
        return [_java_element(item.strip(), inner) for item in found[1].split(",")]
    found = _ADDED.search(text)
    if found is not None:
        return [_java_element(item.strip(), inner) for item in re.findall(r"add\((.+?)\)", found[1])]
    return [] if _NO_ELEMENTS.search(text) else text


def _java_array(text: str, inner: str | None) -> Any:
    found = _ARRAY.search(text)
    return text if found is None else [_java_item(item, inner) for item in _pieces(found[1])]


def _java_element(text: str, inner: str | None) -> Any:
    """Return an element of a list. Texts lose their quotes."""
    return text[1:-1] if inner in ("char", "String") else _java_item(text, inner)


def _java_item(text: str, inner: str | None) -> Any:
    return java_value(text, inner) if inner else _java_guess(text)


def _java_map(text: str) -> Any:
    found = _MAP.search(text)
    if found is not None:
        pairs = re.findall(r"put\(\"(.*?)\",\s*(.*?)\)", found[1])
        return {key: _java_guess(value.strip()) for key, value in pairs}
    return {} if _EMPTY_MAP.search(text) else text


def _java_guess(text: str) -> Any:
    """Return the value of a text of no declared type."""
    if text in ("true", "false"):
        return text == "true"
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if re.fullmatch(r"-?\d+[lL]", text):
        return int(text[:-1])
    if text[-1:] in ("f", "F") and _REAL.fullmatch(text[:-1]):
        return float(text[:-1])
    return _number(text)


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _javascript_list(text: str, inner: str | None) -> Any:
    rows = _JS_ROWS.match(text)
    if rows is not None:
        found = re.findall(r"\[(.*?)\]", rows[0])
        return [
            [_javascript_guess(item) for item in row.strip().removeprefix("[").split(",")] for row in found
        ]
    listed = _JS_LIST.match(text)
    if listed is None:
        return text
    inside = next((group for group in listed.groups() if group is not None), "").strip()
    items = [item.strip() for item in inside.split(",")] if inside else []
    if inner is None:
        return [_javascript_guess(item) for item in items]
    return [javascript_value(item, inner) for item in items]


def _javascript_object(text: str) -> Any:
    if text == "{}":
        return {}
    found = re.match(r"\{(.*?)\}", text)
    if found is None:
        return text
    return {
        key.strip().strip("'\""): _javascript_member(value.strip())
        for key, value in _JS_PAIR.findall(found[1])
    }


def _javascript_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _javascript_list(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _javascript_object(text)
    return _javascript_guess(text.strip("'\""))


def _javascript_guess(text: str) -> Any:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if len(text) > 1 and _is_quoted(text) else _number(text)


Wanted = Mapping[str, Mapping[str, Sequence[Any]]]
"""One accepted call: {function: {parameter: [alternatives]}}. The alternative "" means: may be left out."""
Count = Literal["simple", "multiple", "parallel"]

_PYTHON_TYPES: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(("string", "any"), str),
        **dict.fromkeys(("array", "tuple"), list),
        **{"integer": int, "float": float, "boolean": bool, "dict": dict},
    }
)
_LISTS = ("array", "tuple", "Array", "ArrayList")
_IGNORED = re.compile(r"[ ,./\-_*^]")


def _as_is(name: str) -> str:
    return name


@dataclass(frozen=True, slots=True)
class CallRules:
    """How calls of one row are checked.

    Args:
        language: `python`, `java` or `javascript`. Arguments of the last two are texts.
        spelling: makes the names of functions comparable. Tool schemas have no dots in names.
        exact_types: True is never equal to 1, at any depth. The official checker compares lists and
            dictionaries as Python does.
        best_match: find a complete match of parallel calls if there is one. The official checker gives each
            accepted call the first one that fits.
    """

    language: str = "python"
    spelling: Callable[[str], str] = field(default=_as_is)
    exact_types: bool = False
    best_match: bool = False

    def error(
        self,
        calls: Sequence[Call],
        documents: Sequence[Mapping[str, Any]],
        wanted: Sequence[Wanted],
        count: Count,
    ) -> str | None:
        """Return the official name of the first error, or None if the calls are right.

        Args:
            calls: what the model called.
            documents: the documents of the functions that were offered.
            wanted: the accepted calls.
            count: whether one call of one function, one call of several functions, or several are wanted.
        """
        if count == "parallel":
            return self._parallel_error(calls, documents, wanted)
        if len(calls) != 1 or len(wanted) != 1:
            return f"{count}_function_checker:wrong_count"
        name = next(iter(wanted[0]))
        document = documents[0] if count == "simple" else _document(documents, name)
        return self._call_error(calls[0], document, wanted[0])

    def _parallel_error(
        self, calls: Sequence[Call], documents: Sequence[Mapping[str, Any]], wanted: Sequence[Wanted]
    ) -> str | None:
        if len(calls) != len(wanted):
            return "parallel_function_checker_no_order:wrong_count"
        fits = [
            [
                place
                for place, call in enumerate(calls)
                if self._call_error(call, _document(documents, next(iter(item))), item) is None
            ]
            for item in wanted
        ]
        matched = _complete_match(fits) if self.best_match else _first_match(fits)
        return None if matched else "parallel_function_checker_no_order:cannot_find_match"

    def _call_error(self, call: Call, document: Mapping[str, Any] | None, wanted: Wanted) -> str | None:
        """Return the first error of one call against one accepted call."""
        if document is None or self.spelling(str(document["name"])) != self.spelling(call.name):
            return "simple_function_checker:wrong_func_name"
        accepted = next(iter(wanted.values()))
        parameters = document.get("parameters") or {}
        known = parameters.get("properties") or {}
        if any(name not in call.arguments for name in parameters.get("required") or ()):
            return "simple_function_checker:missing_required"
        for name, value in call.arguments.items():
            if name not in known or name not in accepted:
                return "simple_function_checker:unexpected_param"
            error = self._argument_error(value, known[name], accepted[name])
            if error is not None:
                return error
        left_out = (name for name in accepted if name not in call.arguments)
        if any("" not in accepted[name] for name in left_out):
            return "simple_function_checker:missing_optional"
        return None

    def _argument_error(self, value: Any, declared: Mapping[str, Any], accepted: Sequence[Any]) -> str | None:
        kind = str(declared.get("type"))
        inner = str((declared.get("items") or {}).get("type")) if kind in _LISTS else None
        types, convert = CONVERTERS.get(self.language, (_PYTHON_TYPES, None))
        expected, nested = types.get(kind), None if inner is None else types.get(inner)
        if expected is None:
            return "type_error:simple"
        if convert is not None:
            if not isinstance(value, str):
                return "type_error:java" if self.language == "java" else "type_error:js"
            value = convert(value, kind, inner)
        elif kind == "tuple" and isinstance(value, tuple):
            value = list(value)
        elif kind == "float" and type(value) is int:
            value = float(value)
        error, is_variable = _type_error(value, accepted, expected, nested)
        if error is not None:
            return error
        return self._value_error(value, accepted, str if is_variable else expected, nested, is_variable)

    def _value_error(
        self, value: Any, accepted: Sequence[Any], expected: type, nested: type | None, is_variable: bool
    ) -> str | None:
        if is_variable:
            return None if self._is_among(value, accepted) else "value_error:others"
        if expected is dict:
            return self._object_error(value, accepted)
        if expected is list and nested is dict:
            return self._objects_error(value, accepted)
        if expected is str:
            known = [_spelling(item) for item in accepted if isinstance(item, str)]
            return None if _spelling(value) in known else "value_error:string"
        if expected is list:
            lists = [[_spelling(part) for part in item] for item in accepted if isinstance(item, list | str)]
            given = [_spelling(item) for item in value]
            return None if self._is_among(given, lists) else "value_error:list/tuple"
        return None if self._is_among(value, accepted) else "value_error:others"

    def _object_error(self, value: Mapping[Any, Any], accepted: Sequence[Any]) -> str | None:
        """Return the error of a dictionary: that of the last alternative, as officially."""
        error: str | None = "dict_checker:unclear"
        for wanted in accepted:
            if not isinstance(wanted, Mapping):
                continue
            error = self._members_error(value, wanted)
            if error is None:
                return None
        return error

    def _members_error(self, value: Mapping[Any, Any], wanted: Mapping[str, Any]) -> str | None:
        lacking = (key for key, known in wanted.items() if key not in value and "" not in self._listed(known))
        if next(lacking, None) is not None:
            return "value_error:dict_key"
        for key, item in value.items():
            if key not in wanted:
                return "value_error:dict_key"
            if not self._is_among(_spelling(item), [_spelling(known) for known in self._listed(wanted[key])]):
                return "value_error:dict_value"
        return None

    def _objects_error(self, value: Sequence[Any], accepted: Sequence[Any]) -> str | None:
        """Return the error of a list of dictionaries, which are compared place by place."""
        error: str | None = "list_dict_checker:unclear"
        for wanted in accepted:
            if not isinstance(wanted, list | str) or len(value) != len(wanted):
                error = "value_error:list_dict_count"
                continue
            pairs = zip(value, wanted, strict=True)
            error = next((found for pair in pairs if (found := self._pair_error(*pair)) is not None), None)
            if error is None:
                return None
        return error

    def _pair_error(self, value: Any, wanted: Any) -> str | None:
        return self._object_error(value, [wanted]) if isinstance(value, Mapping) else "type_error:nested"

    def _listed(self, value: Any) -> Sequence[Any]:
        """Return the alternatives of a member. The official checker takes a text for a list of letters."""
        if isinstance(value, list) or (isinstance(value, str) and not self.exact_types):
            return value
        return [value]

    def _is_among(self, value: Any, accepted: Sequence[Any]) -> bool:
        if not self.exact_types:
            return value in accepted
        return any(_is_same(value, item) for item in accepted)


def _document(documents: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    return next((document for document in documents if document["name"] == name), None)


def _type_error(
    value: Any, accepted: Sequence[Any], expected: type, nested: type | None
) -> tuple[str | None, bool]:
    """Return the error of a value's type, and whether the value is taken as the name of a variable.

    Elements of a list are checked one level deep, against each alternative that is a list.
    """
    known = next((type(item) for item in accepted if item != ""), None)
    error = "type_error:simple"
    if type(value) is expected:
        if nested is None or any(_has_types(value, item, nested) for item in accepted):
            return None, known is not None and known is not expected
        error = "type_error:nested"
    if known is not None and type(value) is known:
        return (error if error == "type_error:nested" else None), True
    return "type_error:simple", False


def _has_types(value: Any, alternative: Any, nested: type) -> bool:
    """Tell whether the elements of a list have their type. Other alternatives let any list through."""
    if not isinstance(alternative, list):
        return True
    return all(_type_error(item, alternative, nested, None)[0] is None for item in value)


def _spelling(value: Any) -> Any:
    """Return a text without case, blanks and some punctuation, and any other value as it is."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def _is_same(left: Any, right: Any) -> bool:
    """Tell whether two values are equal, and no truth value is compared with a number."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_is_same(left[key], right[key]) for key in left)
    return bool(left == right)


def _first_match(fits: Sequence[Sequence[int]]) -> bool:
    """Tell whether each accepted call finds a call that no earlier one has taken."""
    taken: set[int] = set()
    for places in fits:
        place = next((place for place in places if place not in taken), None)
        if place is None:
            return False
        taken.add(place)
    return True


def _complete_match(fits: Sequence[Sequence[int]]) -> bool:
    """Tell whether all accepted calls can be given different calls (augmenting paths)."""
    owner: dict[int, int] = {}

    def place_for(item: int, seen: set[int]) -> bool:
        for place in fits[item]:
            if place not in seen:
                seen.add(place)
                if place not in owner or place_for(owner[place], seen):
                    owner[place] = item
                    return True
        return False

    return all(place_for(item, set()) for item in range(len(fits)))
