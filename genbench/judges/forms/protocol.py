"""What a judge form must offer: how a judge is asked about a sample, and what its replies mean.

A form from outside is a class in an importable module, named in a judge file as
``form: "package.module:Class"``. It derives from `JudgeForm` and needs one file. The smallest one asks
once, reads one word and turns it into a score::

    from genbench.judges.forms.protocol import JudgeForm, JudgePrompt, UnreadableReplyError
    from genbench.types import Finding


    class Stars(JudgeForm):
        def prompts(self, case):
            return [JudgePrompt({"choice": ["1", "2", "3"]})]

        def read(self, reply, reference):
            if reply.strip() not in self.vocabulary():
                raise UnreadableReplyError(f"not a number of stars: {reply[:80]!r}")
            return (reply.strip(),)

        def finding(self, case, readings):
            return Finding((int(readings[0][0]) - 1) / 2)

        def vocabulary(self):
            return ("1", "2", "3")

        def best_reply(self, case):
            return "3"
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from genbench.judges.config import JudgeFile
from genbench.stats.agreement import Kappa, clustered_kappa, cohens_kappa
from genbench.types import Case, Finding

REASON = r"Reason: [^\n]{1,300}\n"
"""The one short sentence before a verdict, for judges with `reason: true`."""


class UnreadableReplyError(Exception):
    """A reply is not what the form asked for. The sample becomes `unscored` and is asked again later."""


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """One prompt of a sample.

    Args:
        reply: the constraint on the reply: ``{"choice": [word, …]}`` or ``{"regex": pattern}``. It is empty
            if the judge file has `reply`, which says how a reply in free form is read. With
            ``{"first_token": [text, …]}`` the reply is not written: see `genbench.types.Question`.
        fields: texts that replace ``{name}`` in the judge's prompt file. Every form already has
            ``question``, ``reference``, ``answer``, ``labels`` and ``dimensions``. Wrap a text that
            someone else wrote in `genbench.judges.prompt.block`.
    """

    reply: Mapping[str, Any]
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedOpinion:
    """A judge's opinion of one calibration case, next to the words that people gave it."""

    expected: tuple[str, ...]
    found: tuple[str, ...]
    finding: Finding


class JudgeForm(ABC):
    """A way of asking a judge. Subclasses are pure: no disk, no network, no clock.

    A form is built once for each judge file. Every method may be called for many samples at once. An
    exception other than the ones named here ends the run with an error that names the form's file.

    Args:
        file: the judge file. Its `labels`, `statuses`, `dimensions`, `points`, `reason` and `options`
            (an object of the form's own keys) are for the form to use.

    Raises:
        ValueError: the judge file does not fit the form. The message is shown with the file's path.
    """

    version: ClassVar[str] = "1"
    """Change it together with anything that can change a verdict: it enters the judge's digest."""
    uses: ClassVar[frozenset[str]] = frozenset({"options"})
    """The keys among `labels`, `labels_by_reference`, `dimensions`, `options`, `graded`, `rewards`, `each`,
    `vetoes`, `reply` and `first_token` that the form reads.

    Others are refused.
    """
    required_fields: ClassVar[frozenset[str]] = frozenset({"answer"})
    """Fields that the judge's prompt must contain, as ``{name}``."""
    in_pairs: ClassVar[bool] = False
    """Whether the answer is compared with that of an opponent.

    Then the reference is the opponent's answer, a task may name a stored run as `baseline`, and the
    finding's detail needs ``flipped`` (whether the verdict changed with the order), ``chars`` (the
    lengths of both answers in characters) and may have ``place_favoured`` ("first", "second" or None).
    """

    extracts: ClassVar[bool] = False
    """Whether the judge only reads the final answer out of a reply, for a verifier with `guess: judge`.

    The finding's `extracted` is the answer's text, empty if there is none. The prompt must not show the
    reference.
    """

    def __init__(self, file: JudgeFile) -> None:
        self.file = file

    def check_reference(self, reference: Any) -> None:
        """Refuse a reference that the form cannot use. Called for every problem before a run.

        Raises:
            ValueError: says what is wanted and what was found.
        """
        return

    @abstractmethod
    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return what the judge is asked about a sample: one prompt or more."""

    @abstractmethod
    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the verdict words of one reply.

        Raises:
            UnreadableReplyError: the reply has no verdict.
        """

    @abstractmethod
    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Combine the readings of all replies (in the order of `prompts`) into one finding.

        `score` is in [0, 1]. `reason` is the status of a score of 0. `parts` are named scores in [0, 1].
        Without `extracted` the first reply is shown. The replies are added to `detail`.
        """

    @abstractmethod
    def vocabulary(self) -> tuple[str, ...]:
        """Return every verdict word that a calibration label may contain. No word at all: any text."""

    @abstractmethod
    def best_reply(self, case: Case) -> str:
        """Return the reply that a judge would give to the best answer. Injected orders ask for it."""

    def expected_words(self, label: Any, reference: Any) -> tuple[str, ...]:
        """Return the verdict words of a calibration label (JSON).

        Raises:
            ValueError: says what kind of label is wanted.
        """
        return (str(label),)

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return the words of a whole verdict, comparable with `expected_words`."""
        return readings[0]

    def agreement(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return what `genbench judge check` reports of the agreement with people, as JSON.

        Args:
            opinions: those of the cases with a verdict. There may be none.
            seed: of the resampling of intervals.
        """
        return self._kappa(opinions, seed) if opinions else {}

    def written(self, verdict: str) -> str:
        """Return a reply with one verdict, in the words of a reply in free form if the judge writes those."""
        return verdict if self.file.reply is None else self.file.reply.write(verdict)

    def held_to(self, constraint: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the constraint on a reply, or none if the judge file lets the judge write as it likes."""
        return {} if self.file.reply is not None else constraint

    def verdict_of(
        self, reply: str, pattern: str, known: Collection[str], booleans: Collection[str] = ()
    ) -> str:
        """Return the one verdict of a reply, as the judge file says that replies are read.

        Args:
            pattern: regex with one group of a reply that is held to a form.
            known: the verdicts that a reply in free form can have.
            booleans: those of them that are JSON's true and false, and not these words as texts.

        Raises:
            UnreadableReplyError: the reply is not of the form, or has no such verdict, or several.
        """
        if self.file.reply is None:
            return matched(pattern, reply)[0]
        found = self.file.reply.verdict(reply, booleans)
        if found is None:
            raise UnreadableReplyError(f"the reply has no verdict, or two: {reply[-200:]!r}")
        if found not in known:
            raise UnreadableReplyError(f"the verdict {found[:80]!r} is none of {', '.join(known)}")
        return found

    def _kappa(self, opinions: Sequence[CheckedOpinion], seed: int) -> dict[str, Any]:
        """Return Cohen's kappa. Several verdicts of one case are resampled together."""
        people, judge = [item.expected for item in opinions], [item.found for item in opinions]
        if all(len(words) == 1 for words in people):
            first, second = ([words[0] for words in side] for side in (people, judge))
            return kappa_record(cohens_kappa(first, second, seed=seed))
        return kappa_record(clustered_kappa(people, judge, seed=seed))


def kappa_record(kappa: Kappa) -> dict[str, Any]:
    """Return a kappa as JSON: number of verdicts, share that agree, kappa and its interval."""
    ci = list(kappa.ci) if kappa.ci else None
    return {"verdicts": kappa.n, "accuracy": kappa.agreement, "kappa": kappa.value, "kappa_ci": ci}


def word_pattern(words: Sequence[str], reason: bool) -> str:
    """Return the regex of a reply that is one of `words`, in a group."""
    body = f"{'Verdict: ' if reason else ''}({'|'.join(map(re.escape, words))})"
    return REASON + body if reason else body


def line_pattern(lines: Sequence[str], reason: bool) -> str:
    """Return the regex of a reply of several lines. Each line is a regex with one group."""
    body = r"\n".join(lines)
    return REASON + body if reason else body


def one_of(words: Sequence[str], reason: bool) -> dict[str, Any]:
    """Return the constraint of a reply that is one of `words`."""
    return {"regex": word_pattern(words, reason)} if reason else {"choice": list(words)}


def matched(pattern: str, reply: str) -> tuple[str, ...]:
    """Return the groups of `pattern` in a reply. Blanks around the reply do not matter.

    Raises:
        UnreadableReplyError: the reply does not match as a whole.
    """
    found = re.fullmatch(pattern, reply.strip())
    if found is None:
        raise UnreadableReplyError(f"the reply is not of the form that was asked for: {reply[:200]!r}")
    return found.groups()
