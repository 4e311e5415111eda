"""The words with which answers are announced, by language."""

from __future__ import annotations

import re
from collections.abc import Mapping

ANSWER_NOUNS = {
    "en": ("answer", "answers"),
    "zh": ("答案", "答"),
    "de": ("antwort", "lösung"),
    "fr": ("réponse",),
    "es": ("respuesta",),
    "it": ("risposta",),
    "pt": ("resposta",),
    "nl": ("antwoord",),
    "ru": ("ответ", "ответом"),
    "ja": ("答え", "正解", "解答"),
    "ko": ("정답", "답"),
    "pl": ("odpowiedź",),
    "tr": ("cevap", "yanıt"),
    "ar": ("الإجابة", "الجواب"),
    "hi": ("उत्तर",),
    "vi": ("đáp án",),
    "id": ("jawaban", "jawabannya"),
    "sv": ("svar", "svaret"),
}
"""Words for "answer" that a statement follows, after a colon or a form of "to be"."""

COPULAS = {
    "en": ("is", "are", "was", "would be", "should be", "must be", "will be"),
    "zh": ("是", "为", "為"),
    "de": ("ist", "lautet", "beträgt", "sind"),
    "fr": ("est", "sont"),
    "es": ("es", "son"),
    "it": ("è", "sono"),
    "pt": ("é", "são"),
    "nl": ("is", "luidt"),
    "ru": ("—", "–", "это", "равен"),
    "pl": ("brzmi",),
    "vi": ("là",),
    "id": ("adalah",),
    "sv": ("är", "blir"),
}

ADVERBS = {
    "en": (
        "therefore",
        "thus",
        "hence",
        "then",
        "clearly",
        "definitely",
        "certainly",
        "indeed",
        "simply",
        "probably",
        "likely",
        "most likely",
        "actually",
        "obviously",
    ),
    "zh": ("就", "应该", "應該"),
    "de": ("daher", "also", "somit", "wahrscheinlich"),
    "fr": ("donc", "probablement"),
    "es": ("por tanto", "entonces", "probablemente"),
    "it": ("quindi", "dunque", "probabilmente"),
    "pt": ("portanto", "então", "provavelmente"),
}
"""Words that may come between the copula and the answer."""

CHOOSING = {
    "en": (
        "choose",
        "chose",
        "select",
        "pick",
        "go with",
        "opt for",
        "correct option is",
        "best option is",
        "correct choice is",
        "best choice is",
        "correct letter is",
        "correct one is",
    ),
    "zh": ("选择", "選擇", "选", "選", "应选", "故选"),
    "de": ("wähle", "richtige option ist", "korrekte option ist"),
    "fr": ("choisis", "bonne option est", "bon choix est"),
    "es": ("elijo", "opción correcta es"),
    "it": ("scelgo", "opzione corretta è"),
    "pt": ("escolho", "opção correta é", "alternativa correta é"),
}
"""Words that announce an option without a word for "answer"."""

CONFIRMING = {
    "en": ("is correct", "is the correct", "is right", "is the right", "is the best", "is the answer"),
    "zh": ("是正确", "正确", "是正確", "正確"),
    "de": ("ist richtig", "ist die richtige", "ist korrekt"),
    "fr": ("est correct", "est correcte", "est la bonne"),
    "es": ("es correcta", "es la correcta", "es la respuesta"),
    "it": ("è corretta", "è quella corretta", "è la risposta"),
    "pt": ("está correta", "é a correta", "é a resposta"),
}
"""Words that follow the chosen letter: "(B) is correct"."""

CONNECTIVES = {"en": ("and", "or"), "zh": ("和", "或"), "de": ("und", "oder"), "fr": ("et", "ou")}
CONNECTIVES |= {"es": ("y", "o"), "it": ("e", "o"), "pt": ("e", "ou"), "nl": ("en", "of")}
CONNECTIVES |= {"ru": ("и", "или"), "sv": ("och", "eller")}
"""What joins two parts of one answer."""


_DENYING = r"not|no|non|não|nicht|niet|не|n['’]est|isn['’]t|inte|nie|bukan|không"
"""Words that must not be passed over on the way to a copula: "la respuesta no es 5" announces nothing."""


def alternation(table: Mapping[str, tuple[str, ...]]) -> str:
    """Return a regex alternation of all words of a table, longest first."""
    words = {word for group in table.values() for word in group}
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def announcement() -> str:
    """Return the regex of what comes before a stated answer.

    Examples are ``Final answer:``, ``The answer is``, ``答案：``, ``"answer":``, ``<answer>`` and ``####``.
    Words may come between the noun and the colon or copula ("the answer to the question is"), but no end of
    a sentence. The regex needs the flags IGNORECASE and MULTILINE.
    """
    noun = rf"(?<![A-Za-z])(?:{alternation(ANSWER_NOUNS)})(?![A-Za-z])[\"']?"
    copula = rf"(?:[*_]*[ \t]+(?:{alternation(COPULAS)})(?!\w)|[是为為はが은는])"
    # A mark is no part of a word: else a text of stars can be told apart in exponentially many ways.
    word = r"[^\s.:：=,;*_]{1,80}"
    between = rf"(?:[ \t*_]++(?!(?:is|are|{_DENYING})(?!\w)){word}){{0,8}}?"
    mark = r"[ \t*_]*[:：]"
    formula = r"[ \t*_]*\s*(?=\$|\\\(|\\\[)"
    said = rf"{noun}(?:[ \t]*=(?!=)|{formula}|{between}(?:{mark}|{copula}(?:{mark})?))"
    adverbs = rf"(?:[ \t*_,]*(?:{alternation(ADVERBS)})\b,?)*"
    return rf"(?:{said}{adverbs}|<answer>|^[ \t]*####)[ \t*_]*"
