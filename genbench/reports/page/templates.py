"""The templates of pages, with what they may call."""

from __future__ import annotations

from urllib.parse import quote

import jinja2

from genbench.analysis.parity import ready_responses
from genbench.reports.adaptive_looks import look_rows, spent_words
from genbench.reports.benchmark_groups import counted, group_changes, group_health
from genbench.reports.explanations import status_words, task_sentences
from genbench.reports.numbers import interval, p_text, points, signed
from genbench.safetext.printable import printable


def page_environment() -> jinja2.Environment:
    """Return the templates of pages, with escaping on and the filters for numbers."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("genbench.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters.update(
        points=points, signed=signed, interval=interval, p=p_text, link=sample_link, words=status_words
    )
    environment.globals.update(task_sentences=task_sentences, spent_words=spent_words, look_rows=look_rows)
    environment.globals.update(drawn_elsewhere=ready_responses)
    environment.globals.update(counted=counted, changes_of=group_changes, health_of=group_health)
    return environment


def template_source(environment: jinja2.Environment, name: str) -> str:
    """Return the text of a file next to the templates, such as a style sheet."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def sample_link(task: str, problem_id: str, sample_index: int = 0) -> str:
    """Return the stable address of a sample in the page, `#task/problem/sample`."""
    return f"#{quote(task, safe='')}/{quote(problem_id, safe='', errors='replace')}/{sample_index}"
