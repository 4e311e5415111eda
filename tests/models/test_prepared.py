"""What a prepared model records of its reasoning traces."""

from __future__ import annotations

from genbench.models.traces import FORMATS, Reasoning
from genbench.store.manifest import ReasoningRecord
from genbench.types import Completion, SampleId
from tests.table import each_row


def completion(text: str, *, opened: bool = False) -> Completion:
    sample = SampleId("t", "p", 0)
    return Completion(sample, 0, 1, "", text, "stop", 1, 1, None, 9, 1, None, trace_opened=opened)


@each_row("name", sorted(FORMATS))
def test_every_named_format_comes_back_from_its_record(name: str) -> None:
    reasoning = Reasoning(FORMATS[name], ("<|im_end|>",))
    assert Reasoning.from_record(ReasoningRecord.model_validate(reasoning.record)) == reasoning


def test_an_answer_has_neither_trace_nor_end_token() -> None:
    reasoning = Reasoning(FORMATS["think"], ("<|im_end|>",))
    found = reasoning.split(completion("<think>2+2</think>4<|im_end|>"))
    assert (found.text, found.trace, found.trace_status) == ("4", "2+2", "closed")


def test_a_trace_that_the_prompt_opened_is_no_answer() -> None:
    reasoning = Reasoning(FORMATS["think"], ())
    assert reasoning.split(completion("2+2</think>4", opened=True)).text == "4"
    assert reasoning.split(completion("2+2", opened=True)).trace_status == "unclosed"
