"""Recognises what is said before an answer and denies it: "I doubt that", "it is not true that"."""

from __future__ import annotations

import re

from genbench.verifiers.choice_words import any_of

_CONTEXT = 100
"""Characters before an answer that are read."""
_SENTENCE_END = re.compile(r"[.;!?\n。！？；](?=\s|$)|[。！？；]")


_BELIEVING = "think|believe|say|claim|agree|accept|feel|expect|suppose|imagine|conclude"
_SAYING = rf"(?:{_BELIEVING}|assume|insist)s?|said|thought|told (?:me|us)|believed|claimed|guess(?:es|ed)?"
_OTHERS = (
    r"friends?|teachers?|tutors?|professor|colleagues?|classmates?|students?|users?|neighbou?rs?|brother|sister"
    r"|mother|father|boss|uncle|aunt|assistant|critics?|people|someone|somebody|others|they"
)
_DENIES = any_of(rf"""
    (?<!\bno )(?<!\bnot )(?<!n['’]t )(?<!\bany )(?<!\bnever )(?<!\bwithout )(?<!\bwithout a )(?<!\blittle )
      (?<!\bhard to )(?<!\bdifficult to )(?<!\breason to )(?<!\bhardly any )
      (?:doubt(?:s|ed)?);
    doubtful; disagree; unlikely; improbable;
    not (?:be )?(?:sure|certain|true|clear|convinced|right|correct|the case|{_BELIEVING});
    never (?:{_BELIEVING});
    (?:n['’]t|cannot) (?:be )?(?:sure|certain|true|clear|convinced|the case|{_BELIEVING});
    (?<!\bnot )(?<!n['’]t )(?:false|wrong|incorrect|untrue|impossible|inconceivable|(?:a )?(?:mistake|lie
      |error))(?: to (?:{_BELIEVING}|assume)|(?= that\b)); (?<!\bto )den(?:y|ies);
    (?:refuse[sd]?|decline[sd]?) to (?:{_BELIEVING});
    (?:nobody|no one|hardly anyone) (?:\w+ )?(?:{_BELIEVING})s?; no way
""")
_THAT = r"(?: (?:the|my|its|our|this|that|your))?(?: (?:correct|right|final|actual|true))?"
_DENIED = rf"(?:\b|(?=n['’]t ))(?:{_DENIES})"
_CONJUNCTION = r" (?:that|if|whether)"
_REPORTED = rf"\b(?:{_OTHERS}) (?:\w+ )?(?:{_SAYING})(?: that)?"
"""What others say is not what the response says."""
_SUPPOSED = r"\b(?:(?<!as )if|suppose|supposing|assume|assuming|imagine|unless|whether)(?: that)?"
_FOREIGN = any_of(r"""
    (?:bezweif\w+|glaube?n? (?:ich )?nicht|denke?n? (?:ich )?nicht|nicht sicher|nicht überzeugt
      |ist (?:es )?nicht (?:wahr|richtig|so)|stimmt nicht|ist falsch|unwahrscheinlich|unmöglich
      |zweifelhaft),? (?:dass|ob)(?: (?:die|das|unsere|meine|es|x))?(?: (?:richtige|korrekte))?;
    (?:(?<!ne )(?<!nul )(?<!pas de )(?<!sans )(?<!aucun )doute|(?:pense|crois|dis|dirais|suis|est
      |semble) pas(?: sûre?| certaine?| vrai)?|(?:est|serait) (?:faux|impossible|improbable)
      (?: de dire)?|nie) qu(?:e|['’])(?: ?(?:la|ma|cette|le|ce|il|x))?(?: bonne)?;
    (?:(?<!no )dud(?:o|amos)|no (?:creo|pienso|digo|diría|estoy segur[oa](?: de)?|es (?:cierto|verdad
      |seguro))|es (?:falso|imposible|improbable|dudoso)|niego) que(?: (?:la|mi|el|x))?
      (?: respuesta correcta)?;
    (?:(?<!non )dubito|non (?:credo|penso|è vero)|è (?:falso|impossibile)) che(?: (?:la|il))?;
    (?:(?<!não )duvido|não (?:creio|acho|penso|acredito|é verdade)|é (?:falso|impossível)) que(?: a| o)?;
    (?:(?<!не )сомневаюсь|не (?:думаю|считаю|верю|уверен\w*)|неверно),? что(?: правильный| верный)?
""")
_UNSPACED = (
    r"(?:不认为|不認為|不觉得|不覺得|不相信|不同意|不确定|不能说|很难说)"
    r"(?:正确|最终|这个)?(?:的)?|とは思わない"
)
_DOUBT = rf"(?:{_DENIED}(?:{_CONJUNCTION})?{_THAT}|\b(?:{_FOREIGN})|{_UNSPACED})"
_NOUN = (
    r"(?:answer|result|value|solution|number|output|(?:output )?grid|it|this|that|[a-z]|antwort|lösung"
    r"|ergebnis|réponse|résultat|respuesta|solución|resultado|risposta|risultato|resposta|ответ)"
)
_NAMED = rf"[ \t]*{_NOUN}(?![^\W\d_])(?: (?:to|of|for) [^,]{{1,30}}?)?"
_IS = (
    r"(?:is|are|was|be|equals?|would be|could be|can be|should be|must be|=|ist|soit|est|égale"
    r"|ne peut pas être|sea|es|no puede ser|sia|è|seja|é|—|–)"
)
_BEFORE_ANNOUNCEMENT = re.compile(rf"(?:{_DOUBT}|(?:{_SUPPOSED}|{_REPORTED}){_THAT})[ \t*_]*$", re.IGNORECASE)
_BEFORE_VALUE = re.compile(
    rf"(?:{_DENIED}(?:{_CONJUNCTION}{_THAT}(?:{_NAMED})?|{_THAT}{_NAMED})|(?:\b(?:{_FOREIGN})|{_UNSPACED})"
    rf"(?:{_NAMED})?|{_REPORTED}{_THAT} (?:answer|result) (?=is\b))(?:[ \t]*{_IS}(?![^\W\d_]))?"
    r"(?:答案|结果)?[是为]?(?:option|letter|choice|exactly|equal to|(?:an?|the)\b|[\s$*_:(\[\\])*$",
    re.IGNORECASE,
)


def is_doubted(before: str) -> bool:
    """Return whether the words before "answer is …" or "Answer: …" deny or only suppose it."""
    return _BEFORE_ANNOUNCEMENT.search(_sentence(before)) is not None


def doubts_value(before: str) -> bool:
    """Return whether the words before a value deny it: "I doubt that it is".

    A supposition does not: "if and only if x = 5" may be how an answer is given.
    """
    return _BEFORE_VALUE.search(_sentence(before)) is not None


def _sentence(before: str) -> str:
    """Return the last sentence of a text, which is not finished."""
    return _SENTENCE_END.split(before[-_CONTEXT:])[-1]
