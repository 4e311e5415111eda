"""Measure the generation of RULER's prompts: lengths, scores of references, time and memory.

Times are the process's own seconds of CPU, which a busy machine does not stretch as it does wall time.

    python -m benchmarks.generated_prompts --rows 500 --length 32768

Tokens are counted with a byte-level BPE of 32,000 entries, which is trained on made-up prose first.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Sequence
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from genbench.generators.maker import LIBRARIES, PARTS, RECALL
from genbench.generators.sizing import PieceCounts, Tokens
from genbench.generators.words import draw_values, prose, vocabulary
from genbench.protocols import Row
from genbench.tasks.python.ruler import recall, ruler
from genbench.types import Answer, Case, Problem, SampleId
from genbench.verifiers.text.contains import ContainsVerifier
from genbench.verifiers.text.continuation_overlap import RecitedVerifier

CHECKED = 5
"""Prompts of each task that are tokenized as a whole."""


def trained(sentences: Sequence[str]) -> Tokens:
    """Return the counter of a byte-level BPE with digits apart, as large models have it."""
    tokenizer = Tokenizer(models.BPE())
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    rng = random.Random(0)
    texts = [*sentences, *vocabulary(1, rng), *draw_values("uuids", 2_000, rng)]
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=32_000, initial_alphabet=alphabet, show_progress=False)
    )

    def tokens(texts: Sequence[str]) -> list[int]:
        return [len(item.ids) for item in tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    return tokens


def datasets(sentences: Sequence[str]) -> dict[str, list[Row]]:
    """Return rows of the size of SQuAD's and HotpotQA's development sets, in their columns."""
    paragraphs = [" ".join(sentences[start : start + 8]) for start in range(0, len(sentences) - 8, 8)]
    squad: list[Row] = [
        {
            "title": f"t{number // 24}",
            "context": paragraphs[number // 6 % len(paragraphs)],
            "question": f"Who is number {number}?",
            "answers": {"text": [f"person {number}"] if number % 2 else []},
        }
        for number in range(11_873)
    ]
    hotpot: list[Row] = []
    for number in range(7_405):
        own = [(number * 9 + place) % len(paragraphs) for place in range(10)]
        context: dict[str, Any] = {
            "title": [f"T{place}" for place in own],
            "sentences": [[paragraphs[place]] for place in own],
        }
        hotpot.append({"question": f"Where is {number}?", "answer": f"place {number}", "context": context})
    return {"squad": squad, "hotpot": hotpot}


def score(problem: Problem, other: Problem) -> float:
    """Return the score of another problem's reference as the answer to a problem."""
    reference, said = problem.row["reference"], other.row["reference"]
    text = ", ".join(said["texts"]) if "texts" in said else said["begins"] + said["text"]
    verifier = ContainsVerifier() if "texts" in said else RecitedVerifier()
    return verifier.verify(Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)).score


def main() -> None:
    """Print one line for each task, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--length", type=int, default=32_768)
    given = parser.parse_args()
    sentences = prose(60_000, random.Random(1))
    tokens, rows = trained(sentences[:20_000]), datasets(sentences)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts, total = PieceCounts(tokens), 0.0
    print(f"{given.rows} rows a task at {given.length:,} tokens; {before / 1e6:.2f} GB before")
    for part in (*PARTS, *RECALL):
        make = recall if part in RECALL else ruler
        started = time.process_time()
        texts = {LIBRARIES[part]: rows[LIBRARIES[part]]} if part in LIBRARIES else {}
        task = make(given.length, tasks=part, rows=given.rows).with_texts(texts)
        problems = task.sized(task.problems([]), counts, 0)
        shares, characters = [], 0
        for number, problem in enumerate(problems):
            ask = task.ask(problem, 0, ())
            assert ask is not None
            characters += sum(len(message.content) for message in ask.messages)
            if number < CHECKED:
                most = ask.max_tokens or task._new_tokens(problem.row["key"])
                used = sum(tokens([message.content for message in ask.messages])) + most
                shares.append(used / given.length)
        seconds = time.process_time() - started
        total += seconds if part in PARTS else 0
        own = sum(score(problem, problem) for problem in problems) / len(problems)
        shuffled = sum(map(score, problems, [*problems[1:], problems[0]])) / len(problems)
        print(
            f"{part:18} {seconds:6.1f} s  {min(shares):.4f} to {max(shares):.4f} of the length  "
            f"references {100 * own:.1f}  shuffled {100 * shuffled:.2f}  {characters / 1e6:.0f} MB",
            flush=True,
        )
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(PARTS)} tasks: {total:.1f} s, {after / 1e6:.2f} GB at the most, "
        f"{(after - before) / 1e6:.2f} GB more"
    )


if __name__ == "__main__":
    main()
