"""The sample browser in a real browser: list, groups, search, keys, links, mathematics, references."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from genbench.pipeline import RunOptions, run
from genbench.reports.page.html import html
from tests.ready_runs import write_lines

pytestmark = pytest.mark.slow
SUITE = """\
name: nightly
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 64}
tasks:
  - name: algebra
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}\\n\\nPut your final answer within \\\\boxed{{}}."
    k: 18
  - name: shapes
    kind: json_schema
    data: {path: shapes.jsonl, fields: {id: id, question: problem, reference: schema}}
    prompt: "{question}"
    k: 1
"""
PROBLEMS, K = 13, 18


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with 234 samples of algebra, more than a list shows at first, and one of JSON."""
    place = tmp_path_factory.mktemp("browser")
    (place / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": f"p{i:02}", "problem": f"Solve $x^2 = {i * i}$.", "answer": rf"\frac{{{i}}}{{7}}"}
        for i in range(PROBLEMS)
    ]
    write_lines(place / "rows.jsonl", rows)
    rule = {"id": "length_constraints:number_words", "relation": "at least", "num_words": 300}
    fields = {"fields": {"reply.body.of_the_long_answer_field": [rule]}}
    schema = {"schema": {"type": "object", "required": ["side_length"]}, **fields}
    write_lines(place / "shapes.jsonl", [{"id": "s0", "problem": "A square?", "schema": schema}])
    lines = [
        {
            "task": "algebra",
            "problem_id": f"p{i:02}",
            "sample_index": j,
            "text": f"<think>{'a zebra' if (i, j) == (12, 5) else 'thinking'}, $5 and $6</think>"
            rf"So \[ x = {i} \] and \boxed{{\frac{{{i + j % 2}}}{{7}}}}.",
        }
        for i in range(PROBLEMS)
        for j in range(K)
    ]
    lines.append({"task": "shapes", "problem_id": "s0", "sample_index": 0, "text": '{"side_length": 2}'})
    write_lines(place / "r.jsonl", lines)
    options = RunOptions(place / "suite.yaml", run_dir=place / "out", responses=place / "r.jsonl", quiet=True)
    found = run(options).page
    assert found is not None and html.__name__ == "html"
    return found.as_uri()


@pytest.fixture
def opened(browser: Any, page: str) -> Callable[[str], Any]:
    """Opens the page afresh at a fragment, and returns the browser when its sample is shown."""

    def at(fragment: str = "", wanted: str = "Choose a sample") -> Any:
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get(page + fragment)
        until(browser, f"document.getElementById('sample').textContent.includes({json.dumps(wanted)})")
        return browser

    return at


def until(browser: Any, condition: str) -> None:
    """Waits until an expression of the page is true."""
    for _ in range(100):
        if browser.execute_script(f"return Boolean({condition})"):
            return
        time.sleep(0.05)
    raise AssertionError(f"never true: {condition}")


def asked(browser: Any, expression: str) -> Any:
    return browser.execute_script(f"return {expression}")


def press(browser: Any, key: str) -> str:
    """Presses a key outside of any field, and returns the fragment of the address."""
    browser.execute_script("document.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0]}))", key)
    time.sleep(0.1)
    return str(asked(browser, "location.hash"))


def search(browser: Any, text: str, wanted: str) -> None:
    browser.execute_script(
        "const field = document.getElementById('f-text'); field.value = arguments[0];"
        "field.dispatchEvent(new Event('input', {bubbles: true}));",
        text,
    )
    until(browser, f"document.getElementById('count').textContent === {json.dumps(wanted)}")


def test_the_list_shows_each_problem_once_with_question_and_answers(opened: Callable[..., Any]) -> None:
    browser = opened()
    groups = asked(browser, "[...document.querySelectorAll('#list .group')].map(g => g.textContent)")
    assert len(groups) == 12  # the first 200 samples, no problem divided
    assert groups[2].startswith("algebra / p0250") and "Solve " in groups[2]
    assert "Put your final answer" not in groups[2]
    assert asked(browser, "document.querySelector('#list .group .said').textContent.length") > 0
    assert browser.get_log("browser") == []


def test_a_problem_of_many_samples_shows_the_rest_on_request(opened: Callable[..., Any]) -> None:
    browser = opened()
    first = "document.querySelector('#list .group')"
    assert asked(browser, f"{first}.querySelectorAll('a').length") == 16
    browser.execute_script(f"{first}.querySelector('.rest button').click()")
    assert asked(browser, f"{first}.querySelectorAll('a').length") == K


def test_full_text_search_finds_a_word_of_one_trace(opened: Callable[..., Any]) -> None:
    browser = opened()
    search(browser, "ZEBRA", "1 samples")
    assert asked(browser, "document.querySelector('#list a').getAttribute('href')") == "#algebra/p12/5"
    search(browser, "x^2 = 144", f"{K} samples")
    search(browser, "nowhere at all", "0 samples")
    search(browser, "", f"{PROBLEMS * K + 1} samples")


def test_keys_walk_through_list_problems_and_samples(opened: Callable[..., Any]) -> None:
    browser = opened("#algebra/p00/15", "sample 15")
    assert press(browser, "j") == "#algebra/p00/16"
    assert press(browser, "k") == "#algebra/p00/15"
    assert press(browser, "n") == "#algebra/p01/0"
    assert press(browser, "l") == "#algebra/p01/1"
    assert press(browser, "h") == "#algebra/p01/0"
    assert press(browser, "p") == "#algebra/p00/17"
    press(browser, "/")
    assert asked(browser, "document.activeElement.id") == "f-text"


def test_a_deep_link_selects_its_row_also_beyond_the_first_page(opened: Callable[..., Any]) -> None:
    browser = opened("#algebra/p12/17", "sample 17")
    until(browser, "document.querySelector('#list a[aria-current]')")
    assert asked(browser, "document.querySelector('#list a[aria-current]').getAttribute('href')") == (
        "#algebra/p12/17"
    )
    inside = asked(
        browser,
        "(() => { const list = document.getElementById('list').getBoundingClientRect();"
        "const row = document.querySelector('#list a[aria-current]').getBoundingClientRect();"
        "return row.top >= list.top && row.bottom <= list.bottom; })()",
    )
    assert inside


def test_mathematics_is_rendered_and_prices_are_not(opened: Callable[..., Any]) -> None:
    browser = opened("#algebra/p03/1", "sample 1")
    until(browser, "document.querySelectorAll('#sample pre math').length >= 2")
    assert asked(browser, "document.querySelectorAll('#sample dl mfrac').length") == 1  # the reference
    assert asked(browser, "document.querySelectorAll('#sample pre math.tml-display').length") == 1
    traces = "[...document.querySelectorAll('#sample details')].map(d => d.textContent)"
    assert any("$5 and $6" in text for text in asked(browser, traces))
    assert browser.get_log("browser") == []


def test_a_key_shows_the_source_of_formulas(opened: Callable[..., Any]) -> None:
    browser = opened("#algebra/p03/1", "sample 1")
    press(browser, "m")
    until(browser, r"document.getElementById('sample').textContent.includes('\\boxed{\\frac{4}{7}}')")
    assert asked(browser, "document.querySelectorAll('#sample math').length") == 0


@pytest.mark.parametrize(
    ("value", "is_formula"),
    [
        ("get_weather_of city", False),
        ("get_weather_ofcity", False),
        ("length_constraints:number_words (0)", False),
        ("2^10", False),
        ("1 2^3", False),
        ("x^2 + 1", True),
        ("a_{10}", True),
        (r"\frac{1}{2}", True),
        (r"The answer is \frac{1}{2}", False),
        (r"6 \text{ square units} \in \mathbb{R}", True),
    ],
)
def test_names_are_no_formulas(opened: Callable[..., Any], value: str, is_formula: bool) -> None:
    found = opened().execute_script(
        "const holder = document.createElement('div');"
        "holder.append(...genbenchMathematics.value(arguments[0], text => document.createTextNode(text)));"
        "return [holder.querySelector('math') !== null, holder.textContent];",
        value,
    )
    assert found[0] is is_formula
    assert is_formula or found[1] == value


def test_a_reference_that_is_json_is_shown_as_a_list(opened: Callable[..., Any]) -> None:
    browser = opened("#shapes/s0/0", "side_length")
    text = asked(browser, "[...document.querySelectorAll('#sample dl dd')].map(d => d.textContent).join('|')")
    assert '{"' not in text.replace('{"side_length": 2}', "")
    assert (
        asked(browser, "document.querySelectorAll('#sample dd dl.values, #sample dd ol.values').length") >= 2
    )


def test_what_was_not_met_is_no_formula_and_widens_no_page(opened: Callable[..., Any]) -> None:
    browser = opened("#shapes/s0/0", "not met")
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert asked(browser, "document.documentElement.scrollWidth") == 390
        assert asked(browser, "document.querySelectorAll('#sample math').length") == 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_hostile_latex_makes_no_link_no_image_and_no_hang(opened: Callable[..., Any]) -> None:
    browser = opened()
    hostile = [
        r"\href{javascript:alert(1)}{x}",
        r"\includegraphics{http://127.0.0.1/x.png}",
        r"\htmlStyle{position:fixed}{x}",
        r"\def\a{\a\a}\a",
        r"\rule{100000em}{100000em}",
        r"\frac{" * 500,
    ]
    browser.set_script_timeout(60)  # a script that hangs raises TimeoutException
    for latex in hostile:
        found = browser.execute_script(
            "const made = window.genbenchMathematics.nodes('$' + arguments[0] + '$',"
            "text => document.createTextNode(text)); const holder = document.createElement('div');"
            "holder.append(...made); document.body.append(holder);"
            "const box = holder.getBoundingClientRect();"
            "const links = holder.querySelectorAll('a, img, [href]').length;"
            "holder.remove(); return [links, box.height];",
            latex,
        )
        assert found[0] == 0 and found[1] < 5000, latex
