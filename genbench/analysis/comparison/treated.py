"""What a declared treatment changes between two sides. Everything else stays refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from genbench.analysis.comparison.comparability import Difference, prompt_texts, shaped_by_effort
from genbench.analysis.sides.side import Side
from genbench.suite.treatment import TREATMENTS, check_treatments

_HASHED = ("sha256:", "hub:")
"""What identities begin with that name the weights."""


@dataclass(frozen=True, slots=True)
class Treated:
    """The differences that a treatment is about.

    `rest` are all others, which must be let through by name or are refused. `unproven` are lines about what
    no side can prove, such as the template of a server.
    """

    names: tuple[str, ...]
    differences: tuple[Difference, ...]
    rest: tuple[Difference, ...]
    unproven: tuple[str, ...] = ()


def declared_treatment(base: Side, tuned: Side, given: Sequence[str]) -> tuple[str, ...]:
    """Return the treatments that are declared: those given, else those of tuned's suite, else of base's.

    Raises:
        ConfigError: there is no such treatment.
    """
    if given:
        return check_treatments(given)
    for side in (tuned, base):
        own = side.manifest.suite.config.get("treatment") if side.manifest else None
        if own:
            return check_treatments((own,) if isinstance(own, str) else own)
    return ()


def treated_by(names: Sequence[str], base: Side, tuned: Side, found: Sequence[Difference]) -> Treated | None:
    """Return which of the differences are those of the treatments. None: there are no treatments.

    Other weights are a difference of their own, `model.weights`, unless a treatment changes them.
    """
    if not names:
        return None
    rows = [TREATMENTS[name] for name in names]
    differ = [f"terms.{term}" for row in rows for term in row.terms]
    if any(row.asked for row in rows):
        differ += shaped_by_effort(base.tasks)
    unstated = _unstated(base, tuned) if any(row.unstated for row in rows) else ()
    elsewhere = tuple(_elsewhere(base, tuned)) if any(row.unstated for row in rows) else ()
    inside, rest = list[Difference](), list[Difference]()
    for item in found:
        own = any(_begins(item.name, name) for name in (*differ, *unstated, *elsewhere))
        (inside if own else rest).append(item)
    if not any(row.weights for row in rows):
        rest += _other_weights(base, tuned)
    return Treated(tuple(names), tuple(inside), tuple(rest), tuple(_unproven(base, tuned, bool(elsewhere))))


def hint(base: Side, tuned: Side, found: Sequence[Difference]) -> str:
    """Return the treatment that all of the differences belong to, as a line of an error, or nothing."""
    for name in TREATMENTS if found else ():
        treated = treated_by([name], base, tuned, found)
        if treated is not None and not treated.rest:
            return f"if that is what you compare, declare it: --treatment {name}"
    return ""


def _begins(name: str, first: str) -> bool:
    return name == first or name.startswith(f"{first}.")


def _other_weights(base: Side, tuned: Side) -> Iterator[Difference]:
    """Yield that the weights differ, if both identities name them."""
    left, right = base.identity or "", tuned.identity or ""
    if left != right and left.startswith(_HASHED) and right.startswith(_HASHED):
        yield Difference("model.weights", f"{left} -> {right}; this treatment does not change the weights")


def _unstated(base: Side, tuned: Side) -> list[str]:
    """Return the names of terms that only one side states."""
    if base.manifest is None or tuned.manifest is None:
        return []
    left, right = (
        {key for key, value in side.terms.items() if value is not None}
        for side in (base.manifest, tuned.manifest)
    )
    return [f"terms.{key}" for key in left ^ right]


def _is_rendered_there(side: Side) -> bool:
    """Return whether a server renders the prompts of a side."""
    engine = side.manifest.terms.get("engine", {}) if side.manifest else {}
    return isinstance(engine, dict) and engine.get("prompts") == "chat"


def _elsewhere(base: Side, tuned: Side) -> Iterator[str]:
    """Yield the names of differences that only come from a server that renders the prompts itself.

    The digests of its prompts are of other texts. So the texts are compared: each line of the messages must
    be in the rendered prompt, in order. What the template adds is the server's.
    """
    there = _is_rendered_there(base), _is_rendered_there(tuned)
    if there[0] == there[1]:
        return
    yield "reasoning"
    chat, rendered = (base, tuned) if there[0] else (tuned, base)
    for name in chat.tasks:
        if name in rendered.tasks and _same_questions(chat, rendered, name):
            yield f"prompts.{name}"


def _same_questions(chat: Side, rendered: Side, task: str) -> bool:
    """Return whether all messages of a task are in the prompts that the other side rendered."""
    asked, whole = (prompt_texts(side.path, task) for side in (chat, rendered))
    ids = [name for name in chat.tasks[task].problem_ids if name in rendered.tasks[task].problem_ids]
    return bool(ids) and all(
        name in asked and name in whole and _contains(whole[name], asked[name]) for name in ids
    )


def _contains(whole: str, asked: str) -> bool:
    """Return whether the lines of `asked` are in `whole`, in order. Templates strip white space."""
    text, place = re.sub(r"\s+", " ", whole), 0
    for line in asked.splitlines():
        wanted = " ".join(line.split())
        place = text.find(wanted, place)
        if place < 0:
            return False
        place += len(wanted)
    return True


def _unproven(base: Side, tuned: Side, elsewhere: bool) -> Iterator[str]:
    """Yield what a server cannot be told, and what it does by itself."""
    for side in (base, tuned):
        engine = side.manifest.terms.get("engine", {}) if side.manifest else {}
        left = engine.get("not_pinned") if isinstance(engine, dict) else None
        if left:
            yield f"{side.name}: the server cannot be told {', '.join(left)}"
    if elsewhere:
        yield "one side's server renders the prompts: the questions are equal, its template is not proven"
