"""Multi-IF's rules that depend on the language of the text: sentences, words, quotation marks.

Written from the behaviour of the official checkers as public harnesses carry them. Thai, which needs a word
segmenter, is not in the data (8 languages) and is counted like English.
"""

from __future__ import annotations

import re

from emoji import emoji_count, replace_emoji

from genbench.verifiers.constraints import whole
from genbench.verifiers.constraints.length import NumberSentences, NumberWords
from genbench.verifiers.constraints.rule import Fault, NoKwargs, Rule, Rules, compared
from genbench.verifiers.constraints.text import Text

CHINESE_OR_JAPANESE = frozenset(("zh-cn", "zh-tw", "ja"))
EAST_ASIAN_RUN = re.compile(r"[^!?。.！？．]+")
HINDI_RUN = re.compile(r"[^।!?]*[।!?]?")
CHARACTER = re.compile(r"[぀-ヿㇰ-ㇿ㐀-䶿一-鿿가-힣]")
NO_MARKS = str.maketrans("", "", "\\.!?．/_,{}<>:;$%^&*(+\"'—！，。？、`~@#￥…（）：；《》“”)[]»〔〕-「」")
QUOTES = ('""', "“”", "「」")


def number_sentences(text: Text, want: NumberSentences) -> Fault:
    """Count sentences by the marks of the text's language."""
    return compared(_sentences(text), want.relation, want.num_sentences, "sentences")


def _sentences(text: Text) -> int:
    if text.language == "hi":
        return sum(1 for piece in HINDI_RUN.findall(text.raw) if piece.strip())
    if text.language in CHINESE_OR_JAPANESE:
        return sum(len(EAST_ASIAN_RUN.findall(line.strip())) for line in text.raw.splitlines())
    return len(text.sentences)


def number_words(text: Text, want: NumberWords) -> Fault:
    """Count words. In Chinese and Japanese every character is a word, and so is an emoji."""
    found = _characters(text.raw) if text.language in CHINESE_OR_JAPANESE else len(text.words)
    return compared(found, want.relation, want.num_words, "words")


def _characters(text: str) -> int:
    body, characters = CHARACTER.subn(" ", text.translate(NO_MARKS))
    return characters + emoji_count(body) + len(replace_emoji(body, "").split())


def quotation(text: Text, want: NoKwargs) -> Fault:
    """Require English, Chinese or Japanese quotation marks."""
    body = text.stripped
    if len(body) >= 2 and body[0] + body[-1] in QUOTES:
        return None
    return whole.quotation(text, want)


RULES: Rules = (
    Rule("length_constraints:number_sentences", NumberSentences, number_sentences),
    Rule("length_constraints:number_words", NumberWords, number_words),
    Rule("startend:quotation", NoKwargs, quotation),
)
