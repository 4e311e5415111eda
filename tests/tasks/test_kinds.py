"""The presets behind `kind:`."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.registry import names
from genbench.tasks.kinds import JUDGE, KINDS, kind_of
from genbench.tasks.page.model import Template
from tests.table import each_row


@each_row("name", sorted(KINDS))
def test_every_kind_has_a_verifier_that_exists_and_a_prompt_that_parses(name: str) -> None:
    kind = kind_of(name, None)
    assert kind.verifier == JUDGE or kind.verifier in names("verifier")
    shown = Template.parse(kind.prompt, name).names
    assert set(shown) <= {"question", "options", "letters"}
    assert ("options" in shown) == kind.lists_options


def test_only_answers_that_can_agree_are_voted_on() -> None:
    voted = {name for name, kind in KINDS.items() if "maj@k" in kind.metrics}
    assert voted == {"math", "choice", "exact", "short_answer", "grid", "table"}


def test_without_a_kind_the_question_is_asked_as_it_is() -> None:
    plain = kind_of(None, "pkg:Check")
    assert (plain.verifier, plain.prompt, plain.metrics) == ("pkg:Check", "{question}", ("avg@k", "pass@k"))


def test_an_unknown_kind_is_refused_with_the_nearest_and_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"'maths'; did you mean 'math'\?; .*verifier: \{use:"):
        kind_of("maths", None)
