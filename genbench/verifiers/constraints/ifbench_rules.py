"""IFBench's 58 rules as its newest official checkers have them."""

from __future__ import annotations

from genbench.verifiers.constraints import (
    counts,
    custom_answers,
    custom_tables,
    layout,
    placing,
    ratios,
    repeats,
    shape,
    wording,
)
from genbench.verifiers.constraints.rule import Rules

IFBENCH: Rules = (
    *counts.RULES,
    *ratios.RULES,
    *wording.RULES,
    *placing.RULES,
    *shape.RULES,
    *layout.RULES,
    *repeats.RULES,
    *custom_answers.RULES,
    *custom_tables.RULES,
)
