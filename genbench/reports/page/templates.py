"""The templates of pages, with what they may call."""

from __future__ import annotations

import functools
import re

import jinja2

from genbench.analysis.parity import ready_responses
from genbench.reports import result_tables
from genbench.reports.adaptive_looks import LOOKS, look_rows, spent_words
from genbench.reports.checkpoints import NOTES, matrix_rows, meta_text, said
from genbench.reports.efforts import EFFORTS, effort_lines, effort_rows
from genbench.reports.explanations import task_sentences, verdict_sentence
from genbench.reports.glossary import FIVE_QUESTIONS, GLOSSARY, anchor, explained
from genbench.reports.numbers import interval, points, signed
from genbench.reports.table import DETAILS
from genbench.safetext.printable import printable
from genbench.tools.families import said_before_calls

_BEGINS_DIFF = re.compile(r"^(?:diff --git |--- )", re.MULTILINE)
_DIFF_HEAD = ("+++ ", "index ", "new ", "deleted ", "old ", "similarity ", "rename ", "copy ", "Binary ")


@functools.cache
def page_environment(*packages: str) -> jinja2.Environment:
    """Return the templates of pages, with escaping on and the filters for numbers. Each is compiled once.

    `packages` have templates of their own, which are looked up first.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (*packages, "genbench.reports")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters.update(
        points=points,
        signed=signed,
        interval=interval,
        link=result_tables.sample_link,
        diffed=diff_parts,
        said=said_before_calls,
    )
    environment.globals.update(
        tables=result_tables,
        looks=LOOKS,
        look_rows=look_rows,
        counted=result_tables.counted,
        efforts=EFFORTS,
        effort_rows=effort_rows,
        effort_lines=effort_lines,
    )
    environment.globals.update(
        task_sentences=task_sentences, verdict_sentence=verdict_sentence, spent_words=spent_words
    )
    environment.globals.update(drawn_elsewhere=ready_responses)
    environment.globals.update(
        matrix_rows=matrix_rows, said=said, meta_text=meta_text, checkpoint_notes=NOTES
    )
    environment.globals.update(
        five_questions=FIVE_QUESTIONS,
        glossary_parts=GLOSSARY,
        glossary="",
        anchor=anchor,
        explained=explained,
        details=DETAILS,
    )
    return environment


def template_source(environment: jinja2.Environment, name: str) -> str:
    """Return the text of a file next to the templates, such as a style sheet."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def diff_parts(text: str) -> list[tuple[str, str]]:
    """Return a text in parts: `file`, `hunk`, `add` and `del` of unified diffs in it, and "" for the rest.

    The script of a report does the same (browser.js).
    """
    if not _BEGINS_DIFF.search(text):
        return [("", text)]
    found: list[tuple[str, list[str]]] = []
    where, lines = "", text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        kind, where = _diff_kind(line, lines[at + 1] if at + 1 < len(lines) else "", where)
        if found and found[-1][0] == kind:
            found[-1][1].append(line)
        else:
            found.append((kind, [line]))
    if not any(kind == "hunk" for kind, _ in found):
        return [("", text)]
    return [(kind, "".join(own)) for kind, own in found]


def _diff_kind(line: str, following: str, where: str) -> tuple[str, str]:
    """Return what a line is, and the part of a diff that it is in."""
    if line.startswith("diff --git ") or (line.startswith("--- ") and following.startswith("+++ ")):
        return "file", "file"
    if where and line.startswith("@@ "):
        return "hunk", "hunk"
    if where == "file" and line.startswith(_DIFF_HEAD):
        return "file", "file"
    if where == "hunk" and line[0] in "+-":
        return "add" if line[0] == "+" else "del", "hunk"
    return "", "hunk" if where == "hunk" and line[0] in " \\\n" else ""
