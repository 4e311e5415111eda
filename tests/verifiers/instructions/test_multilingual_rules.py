"""Multi-IF's rules for sentences, words and quotation marks in other languages than English."""

from __future__ import annotations

from collections.abc import Callable

from genbench.verifiers.instructions.verifier import Outcome

Judge = Callable[..., Outcome]

CHINESE = "今天天气很好。我们去公园散步吧！你觉得怎么样？"
HINDI = "आज मौसम बहुत अच्छा है। हम बगीचे में टहलने चलेंगे। क्या आप भी साथ आएँगे?"


def test_chinese_sentences_end_with_chinese_marks(judge: Judge) -> None:
    kwargs = {"num_sentences": 4, "relation": "at least"}
    found = judge("length_constraints:number_sentences", kwargs, CHINESE + "\n  \n", multilingual=True)
    assert found.why == "3 sentences, at least 4 wanted"
    english = judge("length_constraints:number_sentences", kwargs, CHINESE)
    assert english.why == "1 sentences, at least 4 wanted"


def test_chinese_words_are_characters_and_emoji(judge: Judge) -> None:
    kwargs = {"num_words": 99, "relation": "at least"}
    found = judge("length_constraints:number_words", kwargs, CHINESE + "好的OK 再见😀", multilingual=True)
    assert found.why == "26 words, at least 99 wanted"


def test_hindi_sentences_end_with_a_danda(judge: Judge) -> None:
    kwargs = {"num_sentences": 4, "relation": "at least"}
    found = judge("length_constraints:number_sentences", kwargs, HINDI, multilingual=True)
    assert found.why == "3 sentences, at least 4 wanted"


def test_other_languages_are_counted_like_english(judge: Judge) -> None:
    text = "Der Zug fährt heute nicht. Wir gehen also zu Fuß nach Hause."
    sentences = {"num_sentences": 3, "relation": "at least"}
    words = {"num_words": 99, "relation": "at least"}
    for instruction, kwargs, why in (
        ("length_constraints:number_sentences", sentences, "2 sentences, at least 3 wanted"),
        ("length_constraints:number_words", words, "12 words, at least 99 wanted"),
    ):
        assert judge(instruction, kwargs, text, multilingual=True).why == why


def test_chinese_and_japanese_quotation_marks_count(judge: Judge) -> None:
    for text in ("“好的”", "「はい」", '"yes"'):
        assert judge("startend:quotation", {}, text, multilingual=True).strict
    assert not judge("startend:quotation", {}, "“好的」", multilingual=True).strict
    assert not judge("startend:quotation", {}, "“好的”").strict


def test_the_code_zh_is_met_by_neither_kind_of_chinese_unless_mended(judge: Judge) -> None:
    kwargs = {"language": "zh"}
    assert judge("language:response_language", kwargs, CHINESE).why == (
        "the language looks like 'zh-cn', 'zh' wanted"
    )
    assert judge("language:response_language", kwargs, CHINESE, mode="fixed").strict
