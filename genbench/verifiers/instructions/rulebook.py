"""Every instruction id with its rule: IFEval's 25 and IFBench's 58, official, mended or older."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import ValidationError

from genbench.errors import ConfigError, DataError, nearest
from genbench.verifiers.instructions import (
    ifbench_counts,
    ifbench_custom,
    ifbench_format,
    ifbench_variants,
    ifbench_words,
    ifeval_variants,
)
from genbench.verifiers.instructions.ifeval_rules import RULES as IFEVAL
from genbench.verifiers.instructions.rule import Fault, Rule, RuleTable, Text

IFBENCH = RuleTable(ifbench_counts.RULES | ifbench_words.RULES | ifbench_format.RULES | ifbench_custom.RULES)


Mode = Literal["official", "fixed"]
Revision = Literal["head", "2025-07"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One instruction of one prompt: its rule and its checked kwargs."""

    rule: Rule
    kwargs: Mapping[str, Any]

    def fault(self, text: Text) -> Fault:
        """Return why a text does not follow the instruction, or None if it does."""
        return self.rule.check(text, **self.kwargs)


class Rulebook:
    """The rules of one mode and one revision of the official checkers.

    Args:
        mode: `official` keeps the defects that published numbers contain, `fixed` mends them.
        revision: of IFBench's checkers. "2025-07" is the code of the paper.
        multilingual: use the three rules in which Multi-IF's checkers depend on the language.

    Raises:
        ConfigError: there is no such mode or revision, or they do not go together.
    """

    def __init__(
        self, mode: Mode = "official", revision: Revision = "head", multilingual: bool = False
    ) -> None:
        _one_of("mode", mode, get_args(Mode))
        _one_of("revision", revision, get_args(Revision))
        if mode == "fixed" and revision != "head":
            raise ConfigError("mode 'fixed' mends the newest rules; with revision '2025-07' use 'official'")
        self._rules: dict[str, Rule] = IFEVAL | IFBENCH
        if mode == "fixed":
            self._rules |= ifeval_variants.IFEVAL_FIXED | ifbench_variants.IFBENCH_FIXED
        if revision == "2025-07":
            self._rules |= ifbench_variants.IFBENCH_2025_07
        if multilingual:
            self._rules |= ifeval_variants.MULTI_IF

    @property
    def ids(self) -> tuple[str, ...]:
        """Every instruction id, sorted."""
        return tuple(sorted(self._rules))

    def constraint(self, item: Any, where: str) -> Constraint:
        """Return the constraint that `item` (``{"id": …, kwarg: …}``) describes. Null kwargs count as absent.

        Raises:
            DataError: unknown id, or kwargs that the id does not take; `where` says whose.
        """
        if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
            raise DataError(f"{where}: an instruction is an object with 'id' and its kwargs, not {item!r}")
        rule = self._rules.get(item["id"])
        if rule is None:
            raise DataError(f"{where}: unknown instruction '{item['id']}'{nearest(item['id'], self._rules)}")
        given = {key: value for key, value in item.items() if key != "id" and value is not None}
        try:
            return Constraint(rule, dict(rule.kwargs.model_validate(given)))
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, fault['loc'])) or 'kwargs'}: {fault['msg']}" for fault in error.errors()
            )
            raise DataError(f"{where}: {rule.id}: {faults}") from None


def _one_of(name: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise ConfigError(f"{name}: '{value}' is not one of {', '.join(valid)}")
