"""BFCL v4's format sensitivity: prompts and verdicts as bfcl-eval 2026.3.23 has them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.tasks.python.bfcl import FORMATS, form_name
from genbench.tools.return_formats import RETURN_FORMATS, calls_in_any_format, returned_calls
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.tools.function_calls import CallReference, FunctionCallVerifier, official
from tests.table import each_row
from tests.tasks.shapes import SHAPES

NAME = "bfcl_v4_format_sensitivity"


def asked() -> dict[str, Any]:
    """Return what the row of the shape asks, by form."""
    task = registry.load("task", NAME)(category=["simple"])
    found = {}
    for problem in task.problems([{"category": "simple", **row} for row in SHAPES[NAME]]):
        assert problem.group == "simple_python_19"
        found[problem.strata["form"]] = task.ask(problem, 0, ())
    return found


def test_a_row_is_asked_in_26_forms_that_are_one_cluster() -> None:
    forms = asked()
    assert list(forms) == [form_name(form) for form in FORMATS]
    assert len(set(forms)) == len({ask.messages[0].content for ask in forms.values()}) == 26
    assert all(ask.tools is None and len(ask.messages) == 2 for ask in forms.values())


PYTHON_DOCUMENT = '''\
# Function: f.of
    """
    Do it. Note that the provided function is in Python 3 syntax. Note that the provided function is in Python 3 syntax.

    Args:
        a (int): A number.
        how (dict): How.
            mode (str, default='x, y'): Mode. Enum values: ['x, y', 'z'].
            tags (list[str]): Tags.
    """
'''  # noqa: E501
XML_DOCUMENT = """\
<function name="f.of">
  <desc>Do it. Note that the provided function is in Python 3 syntax. Note that the provided function is in Python 3 syntax.</desc>
  <params>
    <param name="a" type="integer" required="true">
      <desc>A number.</desc>
    </param>
    <param name="how" type="dict" required="false">
      <desc>How.</desc>
      <params>
        <param name="mode" type="string" required="true" default="'x y'">
          <desc>Mode. Enum values: ['x, y', 'z'].</desc>
        </param>
        <param name="tags" type="array[string]" required="true">
          <desc>Tags.</desc>
        </param>
      </params>
    </param>
  </params>
</function>
"""  # noqa: E501


def test_functions_are_documented_as_the_benchmark_does_it() -> None:
    forms = asked()
    assert f"functions in python format that you can invoke.\n{PYTHON_DOCUMENT}" in (
        forms["json-python"].messages[0].content
    )
    assert f"functions in xml format that you can invoke.\n{XML_DOCUMENT}" in (
        forms["json-xml"].messages[0].content
    )
    assert '[\n    {\n        "name": "f.of",' in forms["python-json-markdown"].messages[0].content


REFERENCE: dict[str, Any] = {
    "functions": SHAPES[NAME][0]["function"],
    "expect": "calls",
    "calls": [{"f.of": {"a": [1], "how": ["", {"mode": ["x"], "tags": [["p"]]}]}}],
    "count": "simple",
}
FAILED, COUNT = "ast_decoder:decoder_failed", "simple_function_checker:wrong_count"
JSON = '[{"function": "f.of", "parameters": {"a": 1}}]'
NESTED = '[{"function": "f.of", "parameters": {"a": 1, "how": [{"mode": "x"}]}}]'
VERBOSE = '<functions><function name="f.of"><params><param name="a" value="1" type="integer"/></params></function></functions>'  # noqa: E501
CONCISE = '<functions><function name="f.of"><param name="a" type="integer"> 1 </param></function></functions>'
HOW = "{'mode': 'x', 'tags': ['p']}"
VERDICTS: list[tuple[str, bool, str, str | None]] = [
    ("python", False, "[f.of(a=1)]", None),
    ("python", False, "'[f.of(a=1)]'", FAILED),
    ("python", False, "```\nf.of(a=1)\n```", None),
    ("python", False, "Sure: [f.of(a=1)]", FAILED),
    ("python", True, "Sure: <TOOLCALL>[f.of(a=1)]</TOOLCALL> Done.", None),
    ("python", True, "[f.of(a=1)]", FAILED),
    ("python", False, "<TOOLCALL>[f.of(a=1)]</TOOLCALL>", FAILED),
    ("python", False, JSON, FAILED),
    ("json", False, f"```json\n{JSON}\n```", None),
    ("json", False, f"Sure [ok]: {JSON} as in [1].", None),
    ("json", False, JSON.replace("1", "1.0"), "type_error:simple"),
    ("json", False, JSON[:-3], COUNT),
    ("json", False, NESTED, COUNT),
    ("json", False, JSON.replace("function", "name"), FAILED),
    ("json", False, JSON.replace('{"a": 1}', '"a"'), FAILED),
    ("json", False, "I cannot.", COUNT),
    ("json", True, f"<TOOLCALL>{JSON}</TOOLCALL>", None),
    ("json", True, JSON, FAILED),
    ("verbose_xml", False, VERBOSE, None),
    ("verbose_xml", True, f"<TOOLCALL>{VERBOSE}</TOOLCALL>", None),
    ("verbose_xml", False, VERBOSE.replace("<params>", "").replace("</params>", ""), None),
    ("verbose_xml", False, VERBOSE.replace(' type="integer"', ""), "type_error:simple"),
    ("verbose_xml", False, VERBOSE.replace("integer", "array"), None),
    ("verbose_xml", False, CONCISE, FAILED),
    ("concise_xml", False, f"```xml\n{CONCISE}\n```", None),
    ("concise_xml", False, CONCISE.replace("</param>", f'</param><param name="how" type="dict">{HOW}</param>'), None),  # noqa: E501
    ("concise_xml", False, CONCISE.replace(" 1 ", "one"), FAILED),
    ("concise_xml", False, CONCISE.replace("f.of", "f"), "simple_function_checker:wrong_func_name"),
    ("concise_xml", False, VERBOSE, "simple_function_checker:missing_required"),
    ("concise_xml", False, CONCISE.replace("</functions>", ""), FAILED),
    ("concise_xml", False, "<functions></functions>", COUNT),
]  # fmt: skip
"""Format, tags, reply, and the error of bfcl-eval 2026.3.23 (None: right)."""


def reference(asked: str, tagged: bool) -> dict[str, Any]:
    return {**REFERENCE, "return_format": asked, "tagged": tagged}


@each_row("form, tagged, text, error", VERDICTS)
def test_the_official_verdict_is_met(form: str, tagged: bool, text: str, error: str | None) -> None:
    assert official(CallReference.read(reference(form, tagged)), text).error == error


def parts(text: str, form: str, tagged: bool) -> dict[str, float]:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference(form, tagged))
    return dict(FunctionCallVerifier("official").verify(case).parts)


def test_calls_in_another_format_are_only_right_for_the_lenient_reading() -> None:
    assert parts(JSON, "json", False) == {"strict": 1, "official": 1, "lenient": 1}
    for text in (JSON, VERBOSE, f"<TOOLCALL>{CONCISE}</TOOLCALL>"):
        assert parts(text, "python", False) == {"strict": 0, "official": 0, "lenient": 1}


def test_only_the_official_reader_ends_a_list_at_the_first_object_of_an_argument() -> None:
    assert returned_calls(NESTED, "json", False, official=True) == ()
    (call,) = returned_calls(NESTED, "json", False, official=False)
    assert call.arguments["how"] == [{"mode": "x"}]


HOSTILE = (
    "[" + "{}," * 40_000 + "x",  # exponential for the official expression
    "<functions>" * 17_000,  # quadratic for `<functions>.*?</functions>`
    "<TOOLCALL>" * 19_000,
    "<functions>" + "<a>" * 25_000 + "</a>" * 25_000 + "</functions>",
    CONCISE.replace("integer", "array").replace(" 1 ", "[" * 90_000 + "]" * 90_000),
    CONCISE.replace(" 1 ", "9" * 100_000),
    '<!DOCTYPE f [<!ENTITY a "1">]>' + CONCISE.replace(" 1 ", "&a;"),
)


def test_hostile_replies_have_no_calls() -> None:
    assert [calls_in_any_format(text) for text in HOSTILE] == [()] * len(HOSTILE)


@pytest.mark.gold
@pytest.mark.slow
def test_the_prompts_of_all_5200_requests_are_those_of_the_benchmark(shared: Path) -> None:
    task = registry.load("task", NAME)()
    data = task.info.dataset.model_copy(update={"split": "v3", "digest": None})
    rows, _ = load_rows(data, shared / "data" / "hub")
    # v3 has the same rows, but for a few corrected ones, and calls a category of Python simple.
    renamed = [
        {**row, "id": row["id"].replace("simple_", "simple_python_")} if row["category"] == "simple" else row
        for row in rows
    ]
    problems = task.problems(renamed)
    digest = hashlib.sha256()
    for problem in sorted(problems, key=lambda item: item.problem_id):
        digest.update(f"{problem.problem_id}\0{task.ask(problem, 0, ()).messages[0].content}\0".encode())
    assert len(problems) == len(FORMATS) * 200 == len(RETURN_FORMATS) * 6 * 200 + 400
    assert digest.hexdigest() == "22edf70e0d861e5570fa3926ab8bd968224136b78974f7fc4632048947d95785"
    assert len({problem.group for problem in problems}) == 175
