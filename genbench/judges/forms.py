"""What a judge is asked about a case, and what its replies mean."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.file import JudgeSpec
from genbench.types import Case, Finding, Message, Question

FIRST, SECOND, TIE = "A", "B", "TIE"
_REASON = r"Reason: [^\n]{1,300}\n"
_VERDICT = "Verdict: "
_CONTROL = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>]{1,40}｜>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|</?think>|<[be]os>"
)
"""Control tokens of chat templates: in an answer they would end the grader's message."""
_SLOT = re.compile(r"\{(\w+)\}")


class Unparsed(Exception):  # noqa: N818  not an error of anyone: the reply has no verdict
    """A reply is not of the form that was asked for."""


class Judge:
    """Asks in one form and reads the replies. Pure: no engine, no disk."""

    def __init__(self, spec: JudgeSpec) -> None:
        self.spec, self.file = spec, spec.file
        self.digest = spec.digest()

    def check(self, reference: Any) -> None:
        """Raises ConfigError where the form cannot do with this reference."""
        form = self.file.form
        if form == "checklist" and not (
            isinstance(reference, list) and reference and all(isinstance(item, str) for item in reference)
        ):
            raise ConfigError(
                f"judge '{self.file.name}' wants a list of yes/no questions as reference, found {reference!r}"
            )
        if form == "pairwise" and not isinstance(reference, str):
            raise ConfigError(
                f"judge '{self.file.name}' wants the baseline's answer as reference, found {reference!r}"
            )
        if "reference" in self.spec.shows and reference in (None, "", []):
            raise ConfigError(f"judge '{self.file.name}' shows a reference, and the task has none")

    def questions(self, case: Case) -> tuple[Question, ...]:
        """One question; pairwise two, one for each order."""
        shown = {
            "question": _block("question", case.question),
            "reference": _block("reference", _reference_text(case.reference)),
            "answer": _block("answer", capped(case.answer.text.strip(), self.file.max_answer_chars)),
            "labels": ", ".join(self.file.labels),
            "dimensions": "\n".join(f"{name}: {words}" for name, words in self.file.dimensions.items()),
        }
        if self.file.form == "checklist":
            shown["checklist"] = _block("checklist", _numbered(case.reference))
        if self.file.form != "pairwise":
            return (self._question(shown, case.reference),)
        ours = capped(case.answer.text.strip(), self.file.max_answer_chars)
        theirs = capped(str(case.reference).strip(), self.file.max_answer_chars)
        return tuple(
            self._question(
                shown | {"first": _block("first", first), "second": _block("second", second)}, case.reference
            )
            for first, second in ((ours, theirs), (theirs, ours))
        )

    def _question(self, shown: Mapping[str, str], reference: Any) -> Question:
        text = _SLOT.sub(lambda slot: shown.get(slot[1], slot[0]), self.spec.prompt).strip()
        seed = int.from_bytes(hashlib.sha256(f"{self.digest}\0{text}".encode(errors="replace")).digest()[:6])
        structured = self._structured(reference)
        return Question((Message("user", text),), structured, self.file.decoding.max_tokens, seed)

    def _structured(self, reference: Any) -> dict[str, Any]:
        words = self._words()
        if words and not self.file.reason:
            return {"choice": list(words)}
        return {"regex": self._pattern(reference)}

    def _words(self) -> tuple[str, ...]:
        if self.file.form == "pairwise":
            return (FIRST, SECOND, TIE)
        return tuple(self.file.labels)

    def _pattern(self, reference: Any) -> str:
        if self.file.form == "rubric":
            body = r"\n".join(f"{name}: ([1-{self.file.points}])" for name in self.file.dimensions)
        elif self.file.form == "checklist":
            body = r"\n".join(f"{number}: (YES|NO)" for number in range(1, len(reference) + 1))
        else:
            body = f"{_VERDICT if self.file.reason else ''}({'|'.join(self._words())})"
        return _REASON + body if self.file.reason else body

    def values(self, reply: str, reference: Any) -> tuple[str, ...]:
        """The reply's verdict words, in the order of the form. Raises Unparsed."""
        found = re.fullmatch(self._pattern(reference), reply.strip())
        if found is None:
            raise Unparsed(f"the reply is not of the form that was asked for: {reply[:200]!r}")
        return found.groups()

    def finding(self, case: Case, replies: Sequence[str]) -> Finding:
        """What the replies (one for each question) say. Raises Unparsed."""
        values = [self.values(reply, case.reference) for reply in replies]
        if self.file.form == "pairwise":
            return _paired(case, values[0][0], values[1][0], replies)
        detail = {"judge": self.digest, "replies": list(replies)}
        if self.file.form == "label":
            label = values[0][0]
            status = self.file.statuses.get(label, "wrong")
            return Finding(self.file.labels[label], status, extracted=label, detail=detail)
        if self.file.form == "rubric":
            top = self.file.points - 1
            parts = {
                name: (int(value) - 1) / top
                for name, value in zip(self.file.dimensions, values[0], strict=True)
            }
        else:
            parts = {str(number): float(value == "YES") for number, value in enumerate(values[0], start=1)}
        return Finding(sum(parts.values()) / len(parts), detail=detail, parts=parts, extracted=replies[0])


def unopposed(case: Case) -> Finding:
    """A pair whose opponent never answered: won, without asking anyone."""
    return Finding(1.0, extracted="win", detail={"why": "the baseline has no answer"})


def _paired(case: Case, ours_first: str, ours_second: str, replies: Sequence[str]) -> Finding:
    """Win 1, tie 1/2, loss 0; a verdict that flips with the order is a tie, and says which place won."""
    direct = {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}[ours_first]
    swapped = {FIRST: 0.0, SECOND: 1.0, TIE: 0.5}[ours_second]
    flipped = direct != swapped
    score = 0.5 if flipped else direct
    place = ours_first if ours_first == ours_second and ours_first != TIE else None
    detail = {
        "replies": list(replies),
        "flipped": flipped,
        "place_favoured": {FIRST: "first", SECOND: "second"}.get(place or ""),
        "chars": [len(case.answer.text.strip()), len(str(case.reference).strip())],
    }
    word = {1.0: "win", 0.5: "tie", 0.0: "loss"}[score]
    return Finding(score, extracted=word, detail=detail)


def capped(text: str, limit: int) -> str:
    """The text, its middle left out past `limit` characters, with a mark that says how much."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    head = limit - tail
    gone = len(text) - limit
    return f"{text[:head]}\n[… {gone} characters left out for length …]\n{text[-tail:]}"


def _block(name: str, text: str) -> str:
    """The text between marks that it cannot hold (they carry its digest), control tokens broken up."""
    mark = f"{name}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}"
    whole = text.encode(errors="replace").decode()
    calm = _CONTROL.sub(lambda token: f"{token[0][0]} {token[0][1:]}", whole)
    return f"<<<{mark}\n{calm}\n{mark}>>>"


def _reference_text(reference: Any) -> str:
    if isinstance(reference, list):
        return "\n".join(f"- {item}" for item in reference)
    return "" if reference is None else str(reference)


def _numbered(items: Sequence[str]) -> str:
    return "\n".join(f"{number}: {item}" for number, item in enumerate(items, start=1))
