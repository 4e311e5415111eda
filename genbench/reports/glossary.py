"""What the words of sentences, tables and pages mean. Heads of columns and the glossary are made from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from markupsafe import Markup, escape

PAGE_FILE = Path("docs") / "glossary.md"


@dataclass(frozen=True, slots=True)
class Part:
    """Words that belong together."""

    title: str
    words: Mapping[str, str]


FIVE_QUESTIONS: Mapping[str, str] = {
    "Is it better or worse?": "The first words of the first sentence: better, worse, or that the data "
    "cannot tell.",
    "By how much?": "The mean difference in points, and below it the change of each task.",
    "How sure is that?": "The 95% CI of the difference. If it has 0 in it, neither a gain nor a loss is "
    "shown.",
    "Why?": "The cause next to each task: which status of the samples moved the score.",
    "What now?": "What the first sentence ends with: the open condition of the release, or the first run "
    "to look at.",
}
GLOSSARY: tuple[Part, ...] = (
    Part(
        "Scores",
        {
            "point": "A hundredth of the largest score. 84.2 means that 84.2 % of the credit was earned.",
            "points": "Hundredths of the largest score. As a column: how much of the change this row "
            "explains.",
            "value": "The score in points of 100.",
            "now": "The score of the newest run, in points of 100.",
            "score": "A number from 0 to 1 for each sample, and their mean for a task, in points of 100.",
            "metric": "How scores of samples become the value: avg@k is the mean, pass@k asks for one "
            "right sample of k, maj@k for the most frequent answer.",
            "95% CI": "The 95% interval over new questions: in 95 of 100 such evaluations the true value "
            "for questions of this kind is in it.",
            "question population": "All questions of the kind that a task asks. The 95% CI is about them, "
            "and not only about those that were asked.",
            "re-run": "The 95% interval for the same checkpoint drawn again on the same questions. It is "
            "narrower than the 95% CI.",
            "n x k": "Problems times samples of each problem.",
            "n": "Problems.",
            "problems": "Questions of the task.",
            "samples": "Replies that were drawn, and what became of them.",
            "sample": "One reply of the model to one problem, or one conversation.",
            "tokens": "Mean number of tokens of a reply.",
            "cut off": "Share of the samples that max_tokens, a content filter or stop_on_loop ended, "
            "right or wrong.",
            "effort": "How much the model was asked to think, by the name that the suite gives it.",
            "tools": "What the model may use before its last reply.",
            "p95": "95 of 100 replies have at most so many tokens.",
            "per right": "Tokens of all replies, divided by the right answers.",
            "open traces": "Share of the samples whose reasoning trace never ended.",
            "gain of the next": "Score of the next greater effort minus this one, in points, paired by "
            "problem, with its 95% CI.",
            "loops": "Share of the samples that repeat themselves exactly until they are cut off.",
            "empty": "Share of the samples whose reply is empty.",
            "what repeats": "The text that the loops repeat, and where one is.",
            "excluded": "Samples without a score because engine, verifier or judge failed. They are never "
            "counted as wrong. The interval has them all wrong, and all right.",
            "samples by status": "How many samples have each status.",
            "read by": "How the verifier found the answers: in a box, in a tag, in a sentence, or by a "
            "guess.",
        },
    ),
    Part(
        "Two runs",
        {
            "base": "The run that is compared with. As a column: its score.",
            "tuned": "The run that is compared. As a column: its score.",
            "better": "The 95% CI of the mean difference is above 0.",
            "worse": "The 95% CI of the mean difference is below 0.",
            "change": "Tuned minus base in points, paired by problem.",
            "difference": "The later or second score minus the other, in points, paired by problem.",
            "cause": "The status by which points were gained or lost. What only moves between two statuses "
            "without credit is not a cause.",
            "share, base": "Share of base's samples with this status.",
            "share, tuned": "Share of tuned's samples with this status.",
            "gating": "A task that decides. If the suite names none, all tasks decide.",
            "margin": "The loss in points that counts as none, for a task or for the mean.",
            "treatment": "What differs on purpose between a model and a variant of it, such as quantization.",
            "recovery": "The score of a variant in percent of base's score.",
            "drift": "How much less log-probability a variant gives the stored replies of base, a token.",
            "release rule": "What must be shown before a run is called released: no task is worse, and a "
            "loss of more than the margin is excluded.",
            "verdict": "The decision on a task: regressed, improved, non inferior or inconclusive.",
            "regressed": "A loss is shown. An unchanged model gets it in at most 5 % of comparisons.",
            "improved": "A gain is shown, and no loss of the margin is left open.",
            "non inferior": "A loss of more than the margin is excluded.",
            "inconclusive": "Neither a change nor its absence is shown. More samples or problems would tell.",
            "p": "How often two runs of equal models differ at least so much, in either direction.",
            "p drop": "How often an unchanged model falls at least so much. Adjusted by Holm over the "
            "gating tasks.",
            "q": "The share of false findings if this row and all clearer ones are called changes.",
            "finds": "The smallest drop that is found with 80 % probability, in points.",
            "Holm": "A correction that keeps the error of several tests together at 5 %.",
            "pool": "The mean of the tasks weighted by their precision. It finds a small loss in all tasks.",
            "family": "The tests that share one error, such as those of the gating tasks.",
            "exploratory": "Found by looking at many parts of the data. It may be luck, so it decides "
            "nothing.",
        },
    ),
    Part(
        "Nights and steps",
        {
            "track": "Runs in an order, nights or steps of one training run, that are watched for changes.",
            "night or step": "The place of a run in its track.",
            "trend": "The course of the difference to the base, one mark for each run.",
            "to base": "The score minus that of the track's base, in points, paired by problem.",
            "since last": "The newest score minus the one before, in points.",
            "alarm": "An open fall of a gating task, or of all of them together.",
            "alarms": "Whether the task can raise alarms: gating, watched only, or too few problems.",
            "since": "The first run after the change, where the evidence is largest.",
            "size": "How far the score moved. The place was searched for, so it is on average somewhat too "
            "large.",
            "z": "The change over its standard error.",
            "state": "Of a change: open, recovered, or closed by somebody as explained or dismissed. Of a "
            "run: finished, unfinished or failed. Of a job or a checkpoint: how far it is.",
            "own noise": "How far nights move by themselves beyond their samples: a standard deviation.",
            "anchor": "The base's model drawn again. If it moves too, the machine changed and not the model.",
            "house": "Machine, engine and judge: what moves a score although the model is the same.",
            "epoch": "The runs of a task under the same terms, data and verifier.",
            "role": "point: a run that is watched. anchor: the base's model drawn again.",
            "held": "A task that was tested and in which no change is open.",
            "signal/noise": "Change from the first to the last step over the noise of one step, from "
            "second differences.",
            "monotonic": "Rank correlation of step and improvement.",
            "without luck": "The best value, drawn towards the mean of the checkpoints by the share of "
            "noise. The best of several was also lucky. The noise is that of a re-run. For scored texts, "
            "which a re-run gives again, it is the noise of one step.",
        },
    ),
    Part(
        "Statuses of samples",
        {
            "status": "Why a sample has its score.",
            "correct": "Full credit.",
            "partial": "A score between 0 and 1.",
            "wrong": "An answer was read, and it is not right.",
            "no answer": "The reply ended without an answer.",
            "truncated": "Cut off before there was an answer with credit.",
            "unclosed trace": "The reasoning never ended, so there is no answer.",
            "format error": "The answer does not have the form that the task asks for.",
            "no code": "No program in the answer.",
            "timeout": "The program or the check of the answer took too long.",
            "runtime error": "The program of the answer failed.",
            "verifier error": "The verifier failed. Excluded.",
            "engine error": "The engine or server gave no reply. Excluded.",
            "unscored": "The judge gave no verdict. Excluded.",
            "unavailable": "It cannot be verified on this machine. Excluded.",
        },
    ),
    Part(
        "Data and ranks",
        {
            "always right": "Problems that every sample solves. They tell no models apart.",
            "never right": "Problems that no sample solves.",
            "nothing extracted": "Share of the samples that came to an end and in which no answer was found.",
            "doubtful references": "Problems on which most samples, at least three, agree on another answer.",
            "duplicates": "Groups of problems that ask the same.",
            "prompt copied": "Answers that are half in the prompt, or contain half of the prompt.",
            "strength": "Log odds over the reference (Bradley-Terry, ties as half a win each, intervals "
            "clustered by problem).",
            "beats reference": "The chance of winning a pair, in points of 100.",
        },
    ),
)
_MEANINGS: Mapping[str, str] = MappingProxyType(
    {word: text for part in GLOSSARY for word, text in part.words.items()}
)


def meaning(word: str) -> str:
    """Return what a word means, or an empty text if the glossary does not have it."""
    return _MEANINGS.get(word, "")


def anchor(word: str) -> str:
    """Return the fragment of a word's address."""
    return "word-" + re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def explained(word: str, glossary: str | None, shown: str = "") -> Markup:
    """Return the head of a column, linked to its meaning if the glossary has it.

    Args:
        glossary: address of the page with the words. None: no link.
        shown: the head as the page shows it, if that is another text.
    """
    text = escape(shown or word)
    if glossary is None or word not in _MEANINGS:
        return text
    link = Markup('<a class="word" href="{}#{}" title="{}">{}</a>')
    return link.format(glossary, anchor(word), _MEANINGS[word], text)


def glossary_page() -> str:
    """Return the glossary of the documentation."""
    lines = [
        "# Glossary",
        "",
        "The words of first sentences, of tables and of pages. Heads of columns link to the same words.",
        "",
        "## Five questions",
        "",
        "| question | where the first screen answers it |",
        "|---|---|",
        *(f"| {question} | {text} |" for question, text in FIVE_QUESTIONS.items()),
    ]
    for part in GLOSSARY:
        lines += ["", f"## {part.title}", "", "| word | meaning |", "|---|---|"]
        lines += [f'| <a id="{anchor(word)}"></a>{word} | {text} |' for word, text in part.words.items()]
    return "\n".join([*lines, ""])
