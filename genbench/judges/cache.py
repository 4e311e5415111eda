"""Replies of a judge on disk, so that no question is asked twice, also after a killed run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Self

from genbench.store.json_files import Appender, read_lines
from genbench.types import Question


class ReplyCache:
    """An append-only file of replies, keyed by judge digest, problem and digest of the question.

    The question's text contains answer, reference and order, so its digest covers all of them.
    Replies of other judges stay in the file: going back to an earlier prompt asks nothing.
    """

    def __init__(self, path: Path) -> None:
        self._replies = {
            str(record["key"]): str(record["reply"]) for _, record in read_lines(path) if "key" in record
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        self._appender = Appender(path)

    def get(self, key: str) -> str | None:
        """Return the reply stored under `key`, or None."""
        return self._replies.get(key)

    def add(self, key: str, judge: str, problem_id: str, reply: str) -> None:
        """Store one reply that could be read. A failed one is not stored, and so is asked again."""
        self._replies[key] = reply
        self._appender.append({"key": key, "judge": judge, "problem_id": problem_id, "reply": reply})

    def close(self) -> None:
        """Close the file."""
        self._appender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def judgment_key(judge: str, problem_id: str, question: Question) -> str:
    """Return the key of one question to one judge: 24 hex digits."""
    facts = [judge, problem_id, [message.content for message in question.messages], dict(question.structured)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]
