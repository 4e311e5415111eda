"""RULER's question answering: a question of SQuAD or HotpotQA among documents of which few matter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from genbench.errors import DataError
from genbench.generators.sizing import CountedPieces, PieceCounts, Size, filler_text
from genbench.generators.words import Walk
from genbench.types import Message

_ONLY = "Only give me the answer and do not output any other words."
_QUESTION = (
    f"Answer the question based on the given documents. {_ONLY}\n\nThe following are given documents.\n\n"
    f"{{documents}}\n\nAnswer the question based on the given documents. {_ONLY}\n\nQuestion: {{question}}"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answers. `needed` are the documents that answer it, `near` those of its article."""

    text: str
    answers: tuple[str, ...]
    needed: tuple[int, ...]
    near: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """The questions of a dataset and all of its documents."""

    questions: tuple[Question, ...]
    documents: tuple[str, ...]
    counted: CountedPieces

    @classmethod
    def of_squad(cls, rows: Sequence[Mapping[str, Any]]) -> Library:
        """Return the answerable questions of SQuAD 2.0. A document is a paragraph of an article.

        Raises:
            DataError: no question has an answer.
        """
        places: dict[str, int] = {}
        articles: dict[str, list[int]] = {}
        for row in rows:
            if row["context"] not in places:
                articles.setdefault(str(row["title"]), []).append(len(places))
                places[row["context"]] = len(places)
        questions = []
        for row in rows:
            answers = tuple(dict.fromkeys(row["answers"]["text"]))
            if answers:
                own = places[row["context"]]
                near = tuple(place for place in articles[str(row["title"])] if place != own)
                questions.append(Question(str(row["question"]).strip(), answers, (own,), near))
        return cls._of(questions, places)

    @classmethod
    def of_hotpot(cls, rows: Sequence[Mapping[str, Any]]) -> Library:
        """Return the questions of HotpotQA. A document is a paragraph with the title of its article.

        Raises:
            DataError: there is no question.
        """
        places: dict[str, int] = {}
        questions = []
        for row in rows:
            own = []
            for title, sentences in zip(row["context"]["title"], row["context"]["sentences"], strict=True):
                text = f"{title}\n{''.join(sentences)}"
                own.append(places.setdefault(text, len(places)))
            if row["answer"]:
                questions.append(Question(str(row["question"]).strip(), (str(row["answer"]),), tuple(own)))
        return cls._of(questions, places)

    @classmethod
    def _of(cls, questions: Sequence[Question], places: Mapping[str, int]) -> Library:
        if not questions:
            raise DataError("the rows have no question with an answer")
        return cls(tuple(questions), tuple(places), CountedPieces([f"{text}\n\n" for text in places]))


@dataclass(frozen=True, slots=True)
class DocumentsRow:
    """One question among documents. A unit is a document that does not answer it."""

    prefix: ClassVar[str] = "Answer:"
    """The beginning of the answer."""
    least: ClassVar[int] = 0
    """No other document."""
    takes_filler: ClassVar[bool] = True
    """A document has more than a hundred tokens."""
    question: Question
    library: Library
    seed: str

    @property
    def reference(self) -> tuple[str, ...]:
        """Return the accepted answers."""
        return self.question.answers

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many other documents fit, and their tokens. All of them may be too few."""
        costs = self.library.counted.tokens(counts)
        units, used, first = 0, 0, len(self.question.needed) + 1
        for place in self._others():
            cost = int(costs[place]) + counts.of([f"Document {first + units}:\n"])[0]
            if used + cost > tokens:
                break
            units, used = units + 1, used + cost
        return units, used

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the question after the documents, which are in a random order."""
        places = [*self.question.needed, *islice(self._others(), size.units)]
        random.Random(self.seed).shuffle(places)
        texts = [
            f"Document {number}:\n{self.library.documents[place]}"
            for number, place in enumerate(places, start=1)
        ]
        if size.filler:
            texts.append(filler_text(size.filler))
        text = _QUESTION.format(documents="\n\n".join(texts), question=self.question.text)
        return (Message("user", text),)

    def _others(self) -> Iterator[int]:
        """Yield the other documents in the order in which they are taken: those of the same article first."""
        rng = random.Random(f"{self.seed}/others")
        near, known = self.question.near, {*self.question.needed, *self.question.near}
        yield from rng.sample(near, len(near))
        size = len(self.library.documents)
        walk = Walk.drawn(size, rng).places(size)
        yield from (place for place in map(int, walk) if place not in known)


def documents_row(library: Library, index: int, rng: random.Random) -> DocumentsRow:
    """Return the row of a question. The questions of a library begin again after the last one."""
    question = library.questions[index % len(library.questions)]
    return DocumentsRow(question, library, str(rng.getrandbits(64)))
