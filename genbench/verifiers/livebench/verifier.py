"""Verifies answers to LiveBench by the rule of their task, officially and as one committed answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from genbench.errors import DataError, nearest
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.instructions.verifier import ConstraintVerifier
from genbench.verifiers.livebench import maths, puzzles, tables
from genbench.verifiers.livebench.readings import Committed, OfficialCrashError, committed

Headline = Literal["by_rule", "official", "strict"]
Reference = Mapping[str, Any]

_KEYS = ("rule", "truth", "question")


@dataclass(frozen=True, slots=True)
class Rule:
    """How the answers of a task are scored.

    `credits_several` says that the official score of an answer that names many possible answers at once is
    as high as that of the right one. Without `strict` the official score is that of one answer already.
    """

    official: Callable[[Reference, str], float]
    strict: Callable[[Reference, str], Committed] | None = None
    credits_several: bool = False
    check: Callable[[Reference], object] | None = None


def _of_text(
    official: Callable[[Any, str], float],
    strict: Callable[[Any, str], Committed] | None = None,
    *,
    credits_several: bool = False,
    check: Callable[[Any], object] | None = None,
) -> Rule:
    """Return a rule whose functions want the truth of a reference only."""
    return Rule(
        lambda reference, answer: official(reference["truth"], answer),
        None if strict is None else lambda reference, answer: strict(reference["truth"], answer),
        credits_several,
        None if check is None else lambda reference: check(reference["truth"]),
    )


def _letter(reference: Reference) -> None:
    if reference["truth"] not in tuple(maths.LETTERS) or "question" not in reference:
        raise DataError(
            f"livebench reference {dict(reference)!r:.120}: want a letter A to E and the question"
        )


def _orders(truth: Any) -> None:
    if not all(part.strip().isdecimal() for part in str(truth).split(",")):
        raise DataError(f"livebench reference: olympiad wants numbers with commas, found {truth!r:.100}")


def rules_with(values: maths.Values) -> Mapping[str, Rule]:
    """Return the rules by the name of LiveBench's task.

    `zebra_word` and `connections_bold` are those of questions that were released before 2024-11-25. That of
    instructions is `LiveBenchInstructionVerifier`.

    Args:
        values: the comparison of mathematical values.
    """
    return {
        "zebra_puzzle": _of_text(puzzles.zebra_official, puzzles.zebra_strict, credits_several=True),
        "zebra_word": _of_text(puzzles.zebra_word_official, puzzles.word_strict),
        "web_of_lies_v2": _of_text(puzzles.lies_official, puzzles.list_strict),
        "web_of_lies_v3": _of_text(puzzles.lies_shares_official, puzzles.list_shares_strict),
        "house_traversal": _of_text(puzzles.houses_official, puzzles.houses_strict, credits_several=True),
        "spatial": _of_text(puzzles.spatial_official, puzzles.spatial_strict, credits_several=True),
        "theory_of_mind": _of_text(puzzles.mind_official, puzzles.mind_strict, credits_several=True),
        "sudoku": _of_text(puzzles.sudoku_official, puzzles.sudoku_strict),
        "logic_with_navigation": _of_text(puzzles.navigation_official, puzzles.navigation_strict),
        "connections": _of_text(puzzles.connections_official, puzzles.connections_strict),
        "connections_bold": _of_text(
            puzzles.connections_bold_official, puzzles.connections_strict, credits_several=True
        ),
        "typos": _of_text(puzzles.typos_official, puzzles.typos_strict, credits_several=True),
        "plot_unscrambling": _of_text(puzzles.plot_official, puzzles.plot_strict),
        "math_comp": Rule(
            lambda reference, answer: maths.contest_official(
                reference["truth"], answer, reference["question"]
            ),
            lambda reference, answer: maths.contest_strict(reference["truth"], answer, reference["question"]),
            credits_several=True,
            check=_letter,
        ),
        "aime": _of_text(maths.aime_official, maths.aime_strict, credits_several=True),
        "olympiad": _of_text(maths.order_official, check=_orders),
        "AMPS_Hard": Rule(
            lambda reference, answer: maths.amps_official(values, maths.truth_of(reference), answer),
            lambda reference, answer: maths.amps_strict(values, maths.truth_of(reference), answer),
            check=lambda reference: values.check(maths.truth_of(reference)),
        ),
        "integrals_with_game": Rule(
            lambda reference, answer: maths.game_official(values, maths.truth_of(reference), answer),
            lambda reference, answer: maths.game_strict(values, maths.truth_of(reference), answer),
            credits_several=True,
            check=lambda reference: values.check(maths.truth_of(reference)),
        ),
        "cta": _of_text(tables.column_type_official),
        "tablejoin": _of_text(tables.column_map_official, check=tables.read_map),
        "consecutive_events": _of_text(tables.users_official, check=tables.read_users),
        "tablereformat": Rule(
            lambda reference, answer: tables.table_official(
                reference["truth"], answer, reference["question"]
            ),
            check=lambda reference: tables.target_format(reference["question"]),
        ),
    }


class LiveBenchVerifier(BaseVerifier):
    """Scores an answer by the rule of its LiveBench task.

    The parts of a finding are `official`, the score of LiveBench's own code, and `strict`, the score of the
    one answer that the text commits to. An answer for which LiveBench's code raises has an official score of
    0, and the reason in its detail.

    Args:
        headline: which of them is the score. With `by_rule` it is `strict` for rules whose official score
            an answer that names every possibility gets too, and `official` for all others.

    A reference is ``{"rule": …, "truth": …, "question": …}``. `truth` is LiveBench's `ground_truth`. The
    rules math_comp and tablereformat read the question.
    """

    name = "livebench"
    rules = "1"
    limit_s = 60.0

    def __init__(self, headline: Headline = "by_rule") -> None:
        self.require_known("headline", headline, Headline)
        self._headline = headline
        self._values = maths.Values()
        self._rules = rules_with(self._values)

    @property
    def version(self) -> str:
        """Return the version of the rules, and of the comparison of values."""
        return f"livebench {self.rules}, {self._headline}; {self._values.version}"

    def read(self, reference: Any) -> Rule:
        """Return the rule of a reference.

        Raises:
            DataError: there is no such rule, or the reference is not of the form that it wants.
        """
        if not isinstance(reference, Mapping) or "rule" not in reference or "truth" not in reference:
            raise DataError(f"livebench reference {reference!r:.120}: want a mapping with 'rule' and 'truth'")
        for key in reference:
            if key not in _KEYS:
                raise DataError(f"livebench reference has no '{key}'{nearest(str(key), _KEYS)}")
        rule = self._rules.get(reference["rule"])
        if rule is None:
            name = str(reference["rule"])
            raise DataError(f"livebench reference: no rule is called '{name}'{nearest(name, self._rules)}")
        if not reference["truth"] and reference["truth"] != []:
            raise DataError(f"livebench reference: the truth of rule '{reference['rule']}' is empty")
        return rule

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it cannot be used.
        """
        rule = self.read(reference)
        if rule.check is not None:
            rule.check(reference)

    def verify(self, case: Case) -> Finding:
        """Return the score of the headline, with both scores as parts."""
        rule, answer = self.read(case.reference), case.answer.text
        detail: dict[str, Any] = {"rule": case.reference["rule"]}
        try:
            official = rule.official(case.reference, answer)
        except OfficialCrashError as error:
            official, detail["official_error"] = 0.0, str(error)
        own = (
            Committed(committed(answer), official)
            if rule.strict is None
            else rule.strict(case.reference, answer)
        )
        is_strict = self._headline == "strict" or (self._headline == "by_rule" and rule.credits_several)
        return Finding(
            own.score if is_strict else official,
            "wrong" if answer.strip() else "no_answer",
            extracted=None if own.text is None else own.text[:_SHOWN],
            detail=detail,
            parts={"official": official, "strict": own.score},
        )


_SHOWN = 500


class LiveBenchInstructionVerifier(BaseVerifier):
    """Scores how many instructions an answer follows, and whether it follows all of them.

    The score, also the part `official`, is the mean of the two, as in LiveBench: with three of four
    instructions followed it is (0 + 3/4) / 2. The part `all` is whether all are followed. The rules of the
    instructions are IFEval's, strictly.

    Args:
        punkt_dir, tagger_dir: as for the verifier `ifeval`.
    """

    name = "livebench_instructions"
    rules = "1"
    limit_s = 60.0

    def __init__(self, *, punkt_dir: str | None = None, tagger_dir: str | None = None) -> None:
        self._rules = ConstraintVerifier(punkt_dir=punkt_dir, tagger_dir=tagger_dir)

    @property
    def version(self) -> str:
        """Return the version of the score and of the instructions' rules."""
        return f"{self.name} {self.rules}; {self._rules.version}"

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: an unknown instruction, or kwargs that it does not take; or there is no instruction.
            UnavailableError: an instruction needs a tagger, and there is none.
        """
        self._rules.check(reference)
        if not any(self._rules.read(reference)):
            raise DataError("livebench reference: the list of instructions is empty")

    def verify(self, case: Case) -> Finding:
        """Return the mean of the share of followed instructions and of whether all are followed."""
        found = self._rules.verify(case)
        if found.reason == "unavailable":
            return found
        followed = [item["strict"] for item in found.detail["instructions"]]
        score = puzzles.half_for_all(sum(followed), len(followed))
        parts = {"official": score, "all": float(all(followed))}
        return Finding(score, found.reason, detail=found.detail, parts=parts)
