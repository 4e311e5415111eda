"""A judge ready to ask: its file, its prompt and its form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from genbench.errors import ConfigError
from genbench.judges.forms.protocol import JudgePrompt
from genbench.judges.prompt import common_fields, filled, raw_pieces
from genbench.judges.spec import JudgeSpec, wrong_return
from genbench.types import Answer, Case, Finding, Message, Question, SampleId


class Judge:
    """Builds the questions of a sample and reads the replies. Pure: no engine, no disk.

    Every call of the form goes through this class, so that a mistake of a form from outside is a
    ConfigError that names the form's file.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self.spec, self.file, self.form = spec, spec.file, spec.form
        self.digest = spec.digest()

    def check(self, reference: Any) -> None:
        """Refuse a reference that the judge cannot use.

        Raises:
            ConfigError: says what is wanted and what was found.
        """
        with self.spec.form_at_work("checking a reference", refusal=f"judge '{self.file.name}' "):
            self.form.check_reference(reference)
        if "reference" in self.spec.shows and reference in (None, "", []):
            raise ConfigError(f"judge '{self.file.name}' shows a reference, and the task has none")

    def rehearse(self, reference: Any, question: str = "") -> None:
        """Build the questions of a made-up answer, so that a form's mistake is found before a run.

        Raises:
            ConfigError: names the form's file and line.
        """
        answer = Answer("An answer.", "absent", "", False)
        self.questions(Case(SampleId("rehearsal", "0", 0), (answer,), reference, question))

    def questions(self, case: Case) -> tuple[Question, ...]:
        """Return what the judge is asked about a sample, in the order of its form.

        Raises:
            ConfigError: a mistake of the form.
        """
        with self.spec.form_at_work("building prompts"):
            prompts = list(self.form.prompts(case))
        fields = common_fields(case, self.file)
        if not prompts:
            raise self._wrong("prompts() must return at least one JudgePrompt", prompts)
        for prompt in prompts:
            self._require_prompt(prompt)
        return tuple(self._question(prompt, fields) for prompt in prompts)

    def values(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the verdict words of one reply.

        Raises:
            UnreadableReplyError: the reply has no verdict. ConfigError: a mistake of the form.
        """
        with self.spec.form_at_work("reading a reply"):
            found = self.form.read(reply, reference)
        if not isinstance(found, tuple) or not all(isinstance(word, str) for word in found):
            raise self._wrong("read() must return a tuple of texts", found)
        return found

    def finding(self, case: Case, replies: Sequence[str]) -> Finding:
        """Return what the replies (one for each question) say of a sample.

        Raises:
            UnreadableReplyError: a reply has no verdict. ConfigError: a mistake of the form.
        """
        readings = [self.values(reply, case.reference) for reply in replies]
        with self.spec.form_at_work("combining replies"):
            found = self.form.finding(case, readings)
        self._require_finding(found)
        extracted = replies[0] if found.extracted is None else found.extracted
        size = sum(len(answer.text.strip()) for answer in case.answers)
        detail = {"judge": self.digest, "replies": list(replies), "answer_chars": size, **found.detail}
        return replace(found, extracted=extracted, detail=detail)

    def opinion_words(self, case: Case, replies: Sequence[str], found: Finding) -> tuple[str, ...]:
        """Return the words of a whole verdict, as calibration labels have them."""
        readings = [self.values(reply, case.reference) for reply in replies]
        with self.spec.form_at_work("naming a verdict"):
            return self.form.opinion_words(readings, found)

    def _question(self, prompt: JudgePrompt, fields: Mapping[str, str]) -> Question:
        if "first_token" in prompt.reply:
            messages, max_tokens = self._raw(prompt, fields), 1
        else:
            text = filled(self.spec.prompt, {**fields, **prompt.fields})
            messages, max_tokens = (Message("user", text),), self.file.decoding.max_tokens
        whole = "".join(message.content for message in messages)
        seed = int.from_bytes(hashlib.sha256(f"{self.digest}\0{whole}".encode(errors="replace")).digest()[:6])
        return Question(messages, dict(prompt.reply), max_tokens, seed)

    def _raw(self, prompt: JudgePrompt, fields: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the pieces of a prompt without a chat template, and what comes before the first token."""
        pieces = raw_pieces(self.spec.prompt, fields, prompt.fields)
        lead = self.file.first_token.lead if self.file.first_token is not None else ()
        return (*pieces, *(Message("assistant", text) for text in lead))

    def _wrong(self, wanted: str, found: object) -> ConfigError:
        return wrong_return(type(self.form), self.spec.path, wanted, found)

    def _require_prompt(self, prompt: object) -> None:
        if not isinstance(prompt, JudgePrompt):
            raise self._wrong("prompts() must return JudgePrompt objects", prompt)
        regex, choice = prompt.reply.get("regex"), prompt.reply.get("choice")
        is_free = self.file.reply is not None and not prompt.reply
        first = prompt.reply.get("first_token")
        is_known = isinstance(regex, str) or isinstance(choice, list) or isinstance(first, list)
        if not is_free and (len(prompt.reply) != 1 or not is_known):
            kinds = "{'choice': [word, …]}, {'regex': pattern} or {'first_token': [text, …]}"
            wanted = f"a prompt's reply must be {kinds}"
            raise self._wrong(wanted, prompt.reply)
        if not all(isinstance(text, str) for text in prompt.fields.values()):
            raise self._wrong("a prompt's fields must be texts", dict(prompt.fields))

    def _require_finding(self, found: object) -> None:
        if not isinstance(found, Finding) or not 0 <= found.score <= 1:
            raise self._wrong("finding() must return a Finding with a score from 0 to 1", found)
        detail = found.detail
        if self.form.in_pairs and not (
            isinstance(detail.get("flipped"), bool) and len(detail.get("chars", ())) == 2
        ):
            wanted = "a form in pairs must put 'flipped' and 'chars' into the finding's detail"
            raise self._wrong(wanted, dict(detail))
