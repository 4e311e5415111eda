"""Short texts on a topic that must obey one or two rules which a program can check."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from item import Item

TOPICS = (
    "sea", "river", "city", "garden", "winter", "summer", "school", "train", "bread", "music", "moon",
    "forest", "market", "house", "horse", "rain", "snow", "bridge", "island", "farm", "king", "road",
    "mountain", "night",
)  # fmt: skip
KEYWORDS = (
    "lamp", "boat", "stone", "bird", "door", "cake", "clock", "tree", "bell", "drum", "cup", "flag", "leaf",
    "coat", "rope", "fish", "song", "chair", "wheel", "glass",
)  # fmt: skip
"""None of them is part of another word that can occur: a substring counts for IFEval."""
ENDINGS = ("that is all", "thank you", "see you soon", "this is the end", "good night", "we will see")
ADJECTIVES = (
    "old",
    "new",
    "quiet",
    "loud",
    "small",
    "large",
    "warm",
    "cold",
    "bright",
    "dark",
    "strange",
    "good",
)
TIMES = ("morning", "evening", "spring", "past", "future", "dark")
PEOPLE = ("mother", "father", "friend", "brother", "sister", "teacher")

PLAIN = (
    "The {topic} is {a} and {b}.",
    "We think about the {topic} in the {time}.",
    "There is something {a} about the {topic}.",
    "My {who} likes the {topic} very much.",
    "People say that the {topic} was {a} before it was {b}.",
    "This is why the {topic} is good for all of us.",
    "They talk with my {who} about the {topic}.",
    "It is the {a} side of the {topic} that we like.",
)
WITH_COMMAS = (
    "In the {time}, the {topic} is {a}.",
    "The {topic} is {a}, {b} and {c}.",
    "Yes, my {who} likes the {topic}.",
    "If it is {a}, we stay with the {topic}.",
    "When the {topic} is {a}, people talk about it.",
)
WITH_KEYWORD = (
    "There is a {a} {word} near the {topic}.",
    "My {who} has a {word} that is {a}.",
    "The {word} is {a} in the {time}.",
    "We think that the {word} is for the {topic}.",
    "This is the {word} of my {who}.",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: IFEval's id and arguments, and how it is said in the question."""

    instruction_id: str
    kwargs: dict[str, Any]
    said: str


def draw_length(rng: Random) -> Rule:
    relation, number = rng.choice(("at least", "less than")), rng.randint(10, 30)
    said = f"Use {relation} {number} words."
    return Rule("length_constraints:number_words", {"num_words": number, "relation": relation}, said)


def draw_frequency(rng: Random) -> Rule:
    word, number = rng.choice(KEYWORDS), rng.randint(2, 5)
    kwargs = {"keyword": word, "frequency": number, "relation": "at least"}
    return Rule("keywords:frequency", kwargs, f"Use the word {word} at least {number} times.")


def draw_existence(rng: Random) -> Rule:
    word = rng.choice(KEYWORDS)
    return Rule("keywords:existence", {"keywords": [word]}, f"Use the word {word}.")


def draw_bullets(rng: Random) -> Rule:
    number = rng.randint(2, 5)
    kwargs = {"num_bullets": number}
    return Rule("detectable_format:number_bullet_lists", kwargs, f"Give exactly {number} bullet points.")


def draw_ending(rng: Random) -> Rule:
    phrase = rng.choice(ENDINGS)
    return Rule("startend:end_checker", {"end_phrase": phrase}, f"End with the words: {phrase}")


FORM = {
    "no_comma": Rule("punctuation:no_comma", {}, "Use no commas."),
    "lowercase": Rule("change_case:english_lowercase", {}, "Use only lowercase letters."),
    "capitals": Rule("change_case:english_capital", {}, "Use only capital letters."),
    "quotation": Rule("startend:quotation", {}, "Put the whole text in double quotes."),
    "title": Rule("detectable_format:title", {}, "Give it a title in double angle brackets."),
}
CONTENT = {
    "length": draw_length,
    "frequency": draw_frequency,
    "existence": draw_existence,
    "bullets": draw_bullets,
    "ending": draw_ending,
}

TITLE_WORDS = 3
"""Words that a title adds; a text that must be short leaves room for them in any case."""
UNFIT = {
    ("quotation", "bullets"),  # the opening quote would hide the first bullet
    ("capitals", "frequency"),  # a word said in small letters is too hard for the pair in capitals
    ("capitals", "existence"),
    ("capitals", "ending"),
}


class Writer:
    """Fills sentence patterns about one topic."""

    def __init__(self, topic: str, rng: Random) -> None:
        self.topic = topic
        self.rng = rng

    def sentence(self, patterns: tuple[str, ...], word: str = "") -> str:
        a, b, c = self.rng.sample(ADJECTIVES, 3)
        time, who = self.rng.choice(TIMES), self.rng.choice(PEOPLE)
        pattern = self.rng.choice(patterns)
        return pattern.format(topic=self.topic, word=word, a=a, b=b, c=c, time=time, who=who)

    def any(self, commas: bool) -> str:
        return self.sentence(WITH_COMMAS if commas and self.rng.random() < 0.6 else PLAIN)

    def some(self, commas: bool) -> list[str]:
        return [self.any(commas) for _ in range(self.rng.randint(2, 3))]

    def long(self, number: int, commas: bool) -> list[str]:
        """Sentences with at least `number` words in all."""
        made: list[str] = []
        while count_words(made) < number:
            made.append(self.any(commas))
        return made

    def short(self, number: int, commas: bool) -> list[str]:
        """Sentences with less than `number` words in all: as many as fit, at least one."""
        made: list[str] = []
        while True:
            more = self.any(commas)
            if count_words([*made, more]) < number:
                made.append(more)
            elif made:
                return made

    def mixed(self, words: list[str], commas: bool) -> list[str]:
        """One sentence for each of `words`, and one without."""
        made = [self.sentence(WITH_KEYWORD, word) for word in words] + [self.any(commas)]
        self.rng.shuffle(made)
        return made


def count_words(sentences: list[str]) -> int:
    return len(re.findall(r"\w+", " ".join(sentences)))


def sentences(writer: Writer, content: Rule | None, commas: bool) -> list[str]:
    """Sentences that obey the rule about the text's content."""
    kwargs = content.kwargs if content else {}
    match content.instruction_id if content else None:
        case "length_constraints:number_words" if kwargs["relation"] == "at least":
            made = writer.long(kwargs["num_words"], commas)
        case "length_constraints:number_words":
            made = writer.short(kwargs["num_words"] - TITLE_WORDS, commas)
        case "keywords:frequency":
            made = writer.mixed([kwargs["keyword"]] * kwargs["frequency"], commas)
        case "keywords:existence":
            made = writer.mixed(kwargs["keywords"], commas)
        case "detectable_format:number_bullet_lists":
            made = [f"- {writer.any(commas)}" for _ in range(kwargs["num_bullets"])]
        case "startend:end_checker":
            made = [*writer.some(commas), kwargs["end_phrase"].capitalize()]
        case _:
            made = writer.some(commas)
    return made


def shape(text: str, form: str | None, writer: Writer) -> str:
    """The text in the form that the rule wants."""
    match form:
        case "lowercase":
            return text.lower()
        case "capitals":
            return text.upper()
        case "quotation":
            return f'"{text}"'
        case "title":
            adjective = writer.rng.choice(ADJECTIVES).capitalize()
            return f"<<The {adjective} {writer.topic.capitalize()}>>\n{text}"
        case _:
            return text


def draw(rng: Random) -> Item:
    """One text to write, under a rule about its form, one about its content, or both."""
    topic = rng.choice(TOPICS)
    form = rng.choice([*FORM, None, None])
    content_name = rng.choice([*CONTENT, None]) if form else rng.choice(list(CONTENT))
    if (form, content_name) in UNFIT:
        content_name = None
    content = CONTENT[content_name](rng) if content_name else None
    rules = [rule for rule in (FORM[form] if form else None, content) if rule]
    writer = Writer(topic, rng)
    between = "\n" if content_name == "bullets" else " "
    text = shape(between.join(sentences(writer, content, commas=form != "no_comma")), form, writer)
    said = " ".join(rule.said for rule in rules)
    return Item(
        kind="instructions",
        family="+".join(name for name in (form, content_name) if name),
        key=f"{topic} {said}",
        question=f"Write about the {topic}. {said}",
        completion=text,
        columns={
            "instruction_id_list": [rule.instruction_id for rule in rules],
            "kwargs": [rule.kwargs for rule in rules],
        },
    )
