"""The templates of pages, with what they may call."""

from __future__ import annotations

import functools

import jinja2

from genbench.analysis.parity import ready_responses
from genbench.reports import result_tables
from genbench.reports.adaptive_looks import LOOKS, look_rows, spent_words
from genbench.reports.explanations import task_sentences
from genbench.reports.numbers import interval, points, signed
from genbench.safetext.printable import printable


@functools.cache
def page_environment() -> jinja2.Environment:
    """Return the templates of pages, with escaping on and the filters for numbers. Each is compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("genbench.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters.update(
        points=points, signed=signed, interval=interval, link=result_tables.sample_link
    )
    environment.globals.update(
        tables=result_tables, looks=LOOKS, look_rows=look_rows, counted=result_tables.counted
    )
    environment.globals.update(task_sentences=task_sentences, spent_words=spent_words)
    environment.globals.update(drawn_elsewhere=ready_responses)
    return environment


def template_source(environment: jinja2.Environment, name: str) -> str:
    """Return the text of a file next to the templates, such as a style sheet."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
