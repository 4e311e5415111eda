"""Templates of strangers: what they may do, and what they cannot reach."""

from __future__ import annotations

import pytest

from genbench.interop.tasks.harness.templates import TemplateFailedError, Templates
from tests.table import each_row


def test_a_template_sees_the_columns_and_keeps_its_last_line_break() -> None:
    row = {"q": " why ", "list": [1, 2]}
    assert Templates().render("{{q.strip()}} {{list[1]}}\n", row) == "why 2\n"
    assert Templates().render("{{q|regex_replace('w', 'W')}}", row) == " Why "


@each_row(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ q.__class__.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% set _ = items.append(1) %}",
        "{{ missing }}",
        "{% include '/etc/passwd' %}",
        "{% for %}",
        "{{ range(1000000)|length }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for i in range(90000) %}{{ big }}{% endfor %}",
    ],
)
def test_what_a_template_must_not_do_fails(template: str) -> None:
    with pytest.raises(TemplateFailedError):
        Templates().render(template, {"q": "x", "items": [], "big": "y" * 1000})
