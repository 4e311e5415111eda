"""Verifies answers by instructions: IFEval, IFBench, Multi-IF, and lists of a suite's own.

Each answer is checked strictly and loosely: the loose variants are without stars, without first or last line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from genbench.data.nltk_data import FETCH_TAGGER
from genbench.errors import ConfigError, DataError, UnavailableError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.instructions.accuracies import LOOSE, STRICT, part
from genbench.verifiers.instructions.ifbench_variants import sentences_2025_07
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.rulebook import Constraint, Mode, Revision, Rulebook
from genbench.verifiers.instructions.toolbox import Toolbox, open_toolbox


def variants(text: str) -> tuple[str, ...]:
    """Return the variants that are not blank, each once, the text itself first.

    Without its first line, its last line, or both, trimmed; and each of the four with every `*` deleted
    (not trimmed again). Lines are the pieces between newlines.
    """
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    every = [*cut, *(part.replace("*", "") for part in cut)]
    return tuple(dict.fromkeys(part for part in every if part.strip()))


NO_TAGGER = f"needs a part-of-speech tagger; fetch it: {FETCH_TAGGER}, or name its folder with tagger_dir"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one instruction. `strict` and `loose` are None if it could not be checked."""

    id: str
    strict: bool | None
    loose: bool | None
    why: str | None
    """A sentence that says why the answer does not follow it strictly. None if it does."""


def outcomes(answer: str, constraints: Sequence[Constraint], tools: Toolbox) -> list[Outcome]:
    """Return the outcome of every constraint. A blank answer follows none of them."""
    texts = [Text(variant, tools) for variant in variants(answer)]
    return [_outcome(constraint, texts, tools) for constraint in constraints]


def require_tools(constraints: Sequence[Constraint], tools: Toolbox) -> None:
    """Make sure that `tools` can check every constraint.

    Raises:
        UnavailableError: an instruction needs a tagger, and there is none.
    """
    for constraint in constraints:
        if constraint.rule.tagger and not tools.has_tagger:
            raise UnavailableError(f"{constraint.rule.id} {NO_TAGGER}")


def _outcome(constraint: Constraint, texts: Sequence[Text], tools: Toolbox) -> Outcome:
    rule = constraint.rule
    if rule.tagger and not tools.has_tagger:
        return Outcome(rule.id, None, None, NO_TAGGER)
    if not texts:
        return Outcome(rule.id, False, False, "the answer is blank")
    why = constraint.fault(texts[0])
    loose = why is None or any(constraint.fault(text) is None for text in texts[1:])
    return Outcome(rule.id, why is None, loose, why)


class ConstraintVerifier(BaseVerifier):
    """Checks the instructions of each turn on the answer to that turn, strictly and loosely.

    The reference is a list of instructions, ``[{"id": "punctuation:no_comma"}, {"id": …, kwarg: …}]``, or
    one such list per turn. The score is the mean over turns of prompt-level accuracy: 1 for a turn whose
    instructions are all followed.

    Args:
        mode: `official` keeps the defects that published numbers contain, `fixed` mends them.
        revision: of IFBench's checkers: `head`, or `2025-07`, the code of the paper.
        multilingual: Multi-IF's rules for sentences, words and quotation marks.
        headline: whether `strict` or `loose` verdicts make the score.
        punkt_dir: a folder with the English punkt_tab tables. None: those that nltk's downloader put on
            this machine, or else the package's own abbreviations.
        tagger_dir: a folder with nltk's English perceptron tagger. None: the one that nltk's downloader
            put on this machine. Without a tagger words:start_verb is unavailable.
        constraints: instructions that every answer must follow in addition to its own.
    """

    name = "ifeval"
    rules = "1"
    limit_s = 60.0

    def __init__(
        self,
        *,
        mode: Mode = "official",
        revision: Revision = "head",
        multilingual: bool = False,
        headline: str = STRICT,
        punkt_dir: str | None = None,
        tagger_dir: str | None = None,
        constraints: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        if headline not in (STRICT, LOOSE):
            raise ConfigError(f"headline: '{headline}' is not one of {STRICT}, {LOOSE}")
        self._book = Rulebook(mode, revision, multilingual)
        self._tools = open_toolbox(
            punkt_dir, tagger_dir, split=sentences_2025_07 if revision == "2025-07" else None
        )
        self.notes = self._tools.notes if mode == "official" else ()
        self._headline = headline
        self._everywhere = everywhere(self._book, constraints)
        tongue = ", multilingual" if multilingual else ""
        self._variant = f"({mode}, {revision}{tongue})"

    @property
    def version(self) -> str:
        """Return the version of the rules, their variant, and the tools that the texts are read with."""
        return f"{self.name} {self.rules} {self._variant}; {self._tools.name}"

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: an unknown instruction id, or kwargs that it does not take.
            UnavailableError: an instruction needs a tagger, and there is none.
        """
        for constraints in self.read(reference):
            require_tools(constraints, self._tools)

    def verify(self, case: Case) -> Finding:
        """Return the score of the headline, and each instruction's result as a part."""
        turns = self.read(case.reference)
        answers = [answer.text for answer in case.answers] + [""] * len(turns)
        found = [
            outcomes(answer, constraints, self._tools)
            for answer, constraints in zip(answers, turns, strict=False)
        ]
        return finding(found, self._headline, blank=not any(answer.strip() for answer in answers))

    def read(self, reference: Any) -> list[tuple[Constraint, ...]]:
        """Return the constraints of each turn.

        Raises:
            DataError: an unknown instruction id, or kwargs that it does not take.
        """
        return [
            tuple(
                self._book.constraint(item, f"turn {turn}, instruction {at}") for at, item in enumerate(items)
            )
            + self._everywhere
            for turn, items in enumerate(by_turn(reference))
        ]


class IFBenchVerifier(ConstraintVerifier):
    """A ConstraintVerifier with IFBench's headline: prompt-level loose accuracy."""

    def __init__(self, *, headline: str = LOOSE, **options: Any) -> None:
        super().__init__(headline=headline, **options)


def everywhere(book: Rulebook, constraints: Any) -> tuple[Constraint, ...]:
    """Return the constraints that an option of the suite lists, for every answer.

    Raises:
        ConfigError: an unknown instruction id, or kwargs that it does not take.
    """
    if isinstance(constraints, str | Mapping):
        raise ConfigError("constraints: a list of instructions is wanted, [{id: …, kwarg: …}, …]")
    try:
        return tuple(
            book.constraint(item, f"constraints, number {at}") for at, item in enumerate(constraints)
        )
    except DataError as error:
        raise ConfigError(str(error)) from None


def by_turn(reference: Any) -> list[list[Any]]:
    """Return the instructions of each turn. A flat list is one turn, None is one turn without any."""
    if reference is None:
        return [[]]
    if not isinstance(reference, list):
        raise DataError(f"the reference is not a list of instructions: {reference!r}")
    if reference and all(isinstance(item, list) for item in reference):
        return reference
    return [reference]


def finding(found: Sequence[Sequence[Outcome]], headline: str, blank: bool) -> Finding:
    """Return the finding of the outcomes of every turn. `blank` means that no turn has an answer."""
    verdicts = [[getattr(outcome, headline) for outcome in outcomes] for outcomes in found]
    lacking = any(verdict is None for of_turn in verdicts for verdict in of_turn)
    graded = [of_turn for of_turn in verdicts if of_turn] or verdicts
    score = sum(all(of_turn) for of_turn in graded) / len(graded)
    listed = [(turn, *item) for turn, outcomes in enumerate(found) for item in enumerate(outcomes)]
    return Finding(
        score=0.0 if lacking else score,
        reason="unavailable" if lacking else "no_answer" if blank else "wrong",
        detail={
            "why": "; ".join(f"{outcome.id}: {outcome.why}" for _, _, outcome in listed if outcome.why),
            "instructions": [{"turn": turn, **asdict(outcome)} for turn, _, outcome in listed],
        },
        parts={
            part(mode, turn, place, outcome.id): float(followed)
            for turn, place, outcome in listed
            for mode, followed in ((STRICT, outcome.strict), (LOOSE, outcome.loose))
            if followed is not None
        },
    )
