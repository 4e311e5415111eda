"""The four accuracies of instruction following and the table by kind, from the parts of verdicts.

Defects of the official checkers are named with the kinds: checks that differ from what the prompts ask.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from genbench.json_record import Count, JsonRecord, Share

STRICT, LOOSE = "strict", "loose"

ACCURACIES = (
    "prompt_level_strict_acc",
    "inst_level_strict_acc",
    "prompt_level_loose_acc",
    "inst_level_loose_acc",
)
"""The names under which the field publishes them."""

Parts = Mapping[str, float]
"""The parts of one sample's verdict, as `part` names them. Each is 0 or 1."""


def part(mode: str, turn: int, place: int, instruction: str) -> str:
    """Return the name of one instruction's result: ``strict/0/1/punctuation:no_comma``.

    `turn` and `place` (in the turn's list) count from 0, as turns do everywhere.
    """
    return f"{mode}/{turn}/{place}/{instruction}"


class InstructionKind(JsonRecord):
    """How often one kind of instruction was followed."""

    instruction: str = Field(description="the kind of instruction, such as `change_case:english_capital`")
    n: Count = Field(description="instructions of this kind in all samples")
    strict: Share = Field(description="share of the instructions that were followed")
    loose: Share = Field(description="share that was followed under the loose reading")
    defect: str | None = Field(default=None, description="what the official checker gets wrong")


def turns_of(samples: Iterable[Parts]) -> int:
    """Return the number of turns of the longest conversation."""
    return max((int(name.split("/", 2)[1]) + 1 for parts in samples for name in parts), default=0)


def tallies(problems: Sequence[Sequence[Parts]], turn: int = 0) -> NDArray[np.float64]:
    """Return what each problem adds to the accuracies of one turn.

    Args:
        problems: for every problem the parts of its scored samples. A sample without parts in that turn
            (a conversation that has fewer) adds nothing.

    Returns:
        An array of shape (problems, 6): samples, samples with all instructions followed (strict, loose),
        instructions, instructions followed (strict, loose). Sums of rows are tallies again, so that a
        resampling of prompts is a sum of resampled rows.
    """
    return np.array(
        [np.sum([_tally(parts, turn) for parts in samples] or [np.zeros(6)], axis=0) for samples in problems],
        dtype=np.float64,
    ).reshape(len(problems), 6)


def _tally(parts: Parts, turn: int) -> NDArray[np.float64]:
    strict = [value for name, value in parts.items() if name.startswith(f"{STRICT}/{turn}/")]
    loose = [value for name, value in parts.items() if name.startswith(f"{LOOSE}/{turn}/")]
    if not strict:
        return np.zeros(6)
    return np.array([1, min(strict), min(loose), len(strict), sum(strict), sum(loose)], dtype=np.float64)


def accuracies(tally: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the four accuracies in the order of `ACCURACIES`.

    Args:
        tally: shape (…, 6): summed rows of `tallies`.

    Returns:
        Shape (…, 4), fractions of 1, and NaN if nothing was counted. Instruction-level accuracy is the share
        of all instructions, not a mean over prompts.
    """
    samples, prompt_strict, prompt_loose, instructions, strict, loose = np.moveaxis(tally, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [prompt_strict / samples, strict / instructions, prompt_loose / samples, loose / instructions],
            axis=-1,
        )


def mean_of_turns(problems: Sequence[Sequence[Parts]]) -> float:
    """Return Multi-IF's published number: the mean of the four accuracies, averaged over turns."""
    turns = turns_of(parts for samples in problems for parts in samples)
    return float(np.mean([accuracies(tallies(problems, turn).sum(axis=0)) for turn in range(turns)]))


def by_kind(samples: Iterable[Parts], groups: bool = False) -> list[InstructionKind]:
    """Return the results of each instruction id (or each group of ids), in the order of the ids."""
    counted: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for name, value in ((name, value) for parts in samples for name, value in parts.items()):
        mode, _, _, instruction = name.split("/", 3)
        row = counted[instruction.partition(":")[0] if groups else instruction]
        row[0] += mode == STRICT
        row[1 if mode == STRICT else 2] += value
    return [
        InstructionKind(instruction=kind, n=int(n), strict=strict / n, loose=loose / n)
        for kind, (n, strict, loose) in sorted(counted.items())
    ]


DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "keywords:existence": "keywords are patterns, found inside other words too",
        "keywords:frequency": "the keyword is a pattern, counted inside other words too",
        "keywords:forbidden_words": "the words are patterns",
        "language:response_language": "a text without letters counts as the right language",
        "change_case:english_capital": "the language is guessed from capitals, often wrongly",
        "change_case:english_lowercase": "a text without a language counts as English",
        "length_constraints:number_sentences": "list numbers such as '1.' are sentences",
        "length_constraints:number_paragraphs": "'***' divides inside a line too",
        "length_constraints:nth_paragraph_first_word": "blank pieces count for the place, not for the number",
        "detectable_content:postscript": "found anywhere; 'P.P.S.' is a 'P.S.'",
        "detectable_format:number_bullet_lists": "'---' is a bullet; a lone star swallows the next line",
        "detectable_format:constrained_response": "the allowed answer may stand in other text",
        "detectable_format:number_highlighted_sections": "'***x***' is two highlights",
        "detectable_format:multiple_sections": "the section mark is a pattern",
        "detectable_format:json_format": "bare values and NaN are JSON",
        "count:conjunctions": "'and', 'And' and 'and,' are three different ones",
        "ratio:overlap": "trigrams of characters, not of words",
        "ratio:sentence_words": "that the words differ is not checked",
        "count:keywords_multiple": "keywords are counted inside other words too",
        "ratio:sentence_type": "a sentence that ends in a closing quote is of no type",
        "ratio:sentence_balance": "a sentence that ends in a closing quote is of no type",
        "words:words_position": "a closing quote or a second mark at the end is a word",
        "custom:sentence_alphabet": "a sentence that begins with a quote begins with no letter",
        "format:emoji": "a flag or an emoji of several signs is none",
        "format:quote_unquote": "curly quotes are not seen",
        "format:line_indent": "of two blank lines one may count",
        "format:list": "the mark counts anywhere in a line",
        "format:options": "a lettered option with a newline after it is wrong",
        "format:thesis": "'<em>' is cut in the wrong place; only the first italics count",
        "format:sub-bullets": "a text without bullets is right; stars of bold text are bullets",
        "format:no_bullets_bullets": "a blank line among the bullets is wrong; sentences need no full stop",
        "repeat:repeat_span": "characters are compared where the prompt asks for words",
        "custom:date_format_list": "month 0 and day 0 are dates",
    }
)
"""By instruction id, for reports under mode `official`."""

UNMENDED: Mapping[str, str] = MappingProxyType(
    {
        "custom:csv_special_character": "what follows the first such field is not checked",
        "custom:csv_quotes": "the header must be quoted as well",
        "custom:reverse_newline": "any lines in descending order are right, countries or not",
    }
)
"""Defects that mode `fixed` keeps. Each concerns one prompt, and its repair needs a list of facts."""
