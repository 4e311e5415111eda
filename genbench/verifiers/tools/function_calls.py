"""Verifies function calls, the answers of BFCL and of a team's own sets of functions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from genbench.errors import DataError
from genbench.tools.call_lists import (
    LANGUAGES,
    Language,
    last_call_list,
    official_prompt_calls,
    official_tagged_calls,
)
from genbench.tools.calls import Call, CallError, Parsed
from genbench.tools.documents import tool_name
from genbench.tools.families import AUTO, check_family, form_of, parse
from genbench.tools.return_formats import (
    RETURN_FORMATS,
    ReturnFormat,
    calls_in_any_format,
    returned_calls,
)
from genbench.types import Case, Finding, Status
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.tools.call_check import CallRules, Count

Mode = Literal["strict", "official", "lenient"]
Expect = Literal["calls", "none", "some"]

_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class CallReference:
    """What an answer is checked against.

    `expect` is `calls` if `wanted` are the accepted calls, `none` if no function fits, and `some` if any call
    is right.
    """

    documents: Sequence[Mapping[str, Any]]
    wanted: Sequence[Mapping[str, Any]]
    expect: Expect
    count: Count
    language: Language
    form: str
    return_format: ReturnFormat | None = None
    """The format in which calls are wanted, if the prompt asks for one of several. None: that of `form`."""
    tagged: bool = False
    """Whether that format is wanted between tags."""

    @classmethod
    def read(cls, reference: Any) -> CallReference:
        """Return the reference of a case.

        Raises:
            DataError: it has another shape.
        """
        want = "want {functions: […], expect: calls | none | some, calls: […]}"
        if not isinstance(reference, Mapping) or not isinstance(reference.get("functions"), list):
            raise DataError(f"function_calls reference {str(reference)[:200]}: {want}")
        expect = reference.get("expect", "calls")
        wanted = reference.get("calls") or []
        if expect not in get_args(Expect) or (expect == "calls" and not _are_calls(wanted)):
            raise DataError(
                f"function_calls reference: expect is {expect!r} and calls is {str(wanted)[:200]}; {want}"
            )
        language = reference.get("language", "python")
        if language not in LANGUAGES:
            raise DataError(
                f"function_calls reference: language is {language!r}, want {', '.join(LANGUAGES)}"
            )
        count: Any = reference.get("count") or ("parallel" if len(wanted) > 1 else "multiple")
        if count not in get_args(Count):
            raise DataError(
                f"function_calls reference: count is {count!r}, want {', '.join(get_args(Count))}"
            )
        asked = reference.get("return_format")
        if asked not in (None, *RETURN_FORMATS):
            raise DataError(
                f"function_calls reference: return_format is {asked!r}, want {', '.join(RETURN_FORMATS)}"
            )
        form, tagged = str(reference.get("form", "auto")), bool(reference.get("tagged"))
        return cls(reference["functions"], wanted, expect, count, language, form, asked, tagged)


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """What one way of reading says of an answer. `error` is None if the answer is right."""

    error: str | None
    calls: tuple[Call, ...] = ()
    reason: Status = "wrong"


class FunctionCallVerifier(BaseVerifier):
    """Tells whether an answer calls the functions that it should call.

    Three ways of reading are scored. All are parts of the verdict, and `mode` says which one is the score.

    * `strict`: the reply is parsed by the format of its model family. A call that does not parse is a
      `format_error`, an empty reply is `no_answer`, and neither is right where no call is wanted.
    * `official`: decoder and checker of BFCL. A reply that does not decode counts as one without calls.
    * `lenient`: the last calls in the reply, with any text around them.

    Args:
        mode: what the score is.
        parser: the family of `strict` (see tools/families.py), or `auto`.
    """

    name = "function_calls"
    rules = "1"
    limit_s = 10.0

    def __init__(self, mode: Mode = "strict", *, parser: str = AUTO) -> None:
        self.require_known("mode", mode, Mode)
        check_family(parser)
        self._mode, self._parser = mode, parser

    def read(self, reference: Any) -> CallReference:
        """Return the reference of a case."""
        return CallReference.read(reference)

    def verify(self, case: Case) -> Finding:
        """Return the score of the answer under `mode`, and all three as parts."""
        wanted, text = self.read(case.reference), case.answer.text
        found = {
            "strict": self._strict(wanted, text, case.answer.truncated),
            "official": official(wanted, text),
            "lenient": self._lenient(wanted, text),
        }
        lead = found[self._mode]
        detail: dict[str, Any] = {"error": lead.error} if lead.error else {}
        if lead.reason in _UNREAD and wanted.expect != "none" and text.strip() and not case.answer.truncated:
            detail["reply"] = _instead(wanted, text)
        differing = {name: item.error for name, item in found.items() if item.error != lead.error}
        if differing:
            detail["otherwise"] = differing
        return Finding(
            score=float(lead.error is None),
            reason=lead.reason,
            extracted=_shown(lead.calls),
            detail=detail,
            parts={name: float(item.error is None) for name, item in found.items()},
        )

    def _strict(self, wanted: CallReference, text: str, truncated: bool) -> CallVerdict:
        if not text.strip():
            return CallVerdict("empty reply", reason="no_answer")
        parsed = self._parse(wanted, text)
        if parsed.broken is not None:
            return CallVerdict(f"format: {parsed.broken}", reason="format_error")
        if truncated and not parsed.calls:
            return CallVerdict("cut off before a call")
        return _checked(wanted, parsed, exact=True)

    def _parse(self, wanted: CallReference, text: str) -> Parsed:
        """Return the calls in the format that the prompt asks for, or else in that of the model family."""
        if wanted.return_format is None:
            return parse(text, self._parser, wanted.documents, wanted.language)
        try:
            return Parsed(returned_calls(text, wanted.return_format, wanted.tagged, official=False))
        except CallError as error:
            return Parsed(broken=str(error))

    def _lenient(self, wanted: CallReference, text: str) -> CallVerdict:
        parsed = parse(text, self._parser, wanted.documents, wanted.language)
        calls = parsed.calls or last_call_list(text, wanted.language)
        if wanted.return_format is not None:
            calls = self._parse(wanted, text).calls or calls_in_any_format(text) or calls
        return _checked(wanted, Parsed(calls), exact=False)


_UNREAD: tuple[Status, ...] = ("format_error", "no_answer")


def _instead(wanted: CallReference, text: str) -> str:
    """Return what the reply is instead of a call that could be read."""
    found = form_of(text, wanted.documents)
    if found.endswith("without a call"):
        return found
    asked = "tags that the template" if wanted.form == "template" else "form that the prompt"
    return f"{found}, without the {asked} asks for"


def official(wanted: CallReference, text: str) -> CallVerdict:
    """Return what the official decoder and checker of BFCL say of an answer.

    A reply with `<tool_call>` is decoded as the handlers of Qwen's models do, any other as in prompt form,
    unless the reference says how the functions were offered.
    """
    tagged = wanted.return_format is None and (
        wanted.form == "template" or (wanted.form == "auto" and "<tool_call>" in text)
    )
    calls: tuple[Call, ...] | None
    try:
        if wanted.return_format is not None:
            calls = returned_calls(text, wanted.return_format, wanted.tagged, official=True)
        else:
            calls = official_tagged_calls(text) if tagged else official_prompt_calls(text, wanted.language)
    except CallError:
        calls = None
    if wanted.expect == "none":
        return CallVerdict("irrelevance_error:decoder_success" if calls else None, calls or ())
    if wanted.expect == "some":
        return CallVerdict(None if calls else "relevance_error:decoder_failed", calls or ())
    if calls is None:
        return CallVerdict("ast_decoder:decoder_failed", reason="format_error")
    rules = CallRules(wanted.language, _spelling_of(tagged))
    return CallVerdict(rules.error(calls, wanted.documents, wanted.wanted, wanted.count), calls)


def _checked(wanted: CallReference, parsed: Parsed, *, exact: bool) -> CallVerdict:
    """Return the verdict on parsed calls. A call of no offered function is never right."""
    calls = parsed.calls
    if wanted.expect == "none":
        return CallVerdict("a function is called" if calls else None, calls)
    if not calls:
        return CallVerdict("no function is called", reason="no_answer")
    if wanted.expect == "some":
        known = {tool_name(str(document["name"])) for document in wanted.documents}
        unknown = next((call.name for call in calls if tool_name(call.name) not in known), None)
        return CallVerdict(None if unknown is None else f"no function is called '{unknown}'", calls)
    rules = CallRules(wanted.language, tool_name, exact_types=exact, best_match=True)
    return CallVerdict(rules.error(calls, wanted.documents, wanted.wanted, wanted.count), calls)


def _spelling_of(tagged: bool) -> Any:
    return tool_name if tagged else str


def _are_calls(wanted: Any) -> bool:
    return (
        isinstance(wanted, list)
        and bool(wanted)
        and all(
            isinstance(item, Mapping) and len(item) == 1 and isinstance(next(iter(item.values())), Mapping)
            for item in wanted
        )
    )


def _shown(calls: Sequence[Call]) -> str | None:
    if not calls:
        return None
    return json.dumps([call.record for call in calls], ensure_ascii=False, sort_keys=True)[:_SHOWN]
