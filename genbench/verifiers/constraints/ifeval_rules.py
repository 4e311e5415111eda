"""IFEval's 25 rules as its newest official checkers have them."""

from __future__ import annotations

from genbench.verifiers.constraints import format, keywords, language, length, whole
from genbench.verifiers.constraints.rule import Rules

IFEVAL: Rules = (*keywords.RULES, *language.RULES, *length.RULES, *format.RULES, *whole.RULES)
