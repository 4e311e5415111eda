"""Recognises that an answer is denied: "I doubt that", "it is not true that", "rule out B"."""

from __future__ import annotations

import re
from typing import Literal

from genbench.verifiers.language.announcements import OPTIONS
from genbench.verifiers.language.word_lists import any_of, bounded, compiled, read_list, read_table, words

DENYING = read_table(r"""
    en: nothing; few; hesitat\w*; avoid\w*; beware; ignore; forget; mistakes?; trap; distractor;
        second[- ]best; opposite; excludes?; rules? disregard; (?:any|every)(?:thing|one) but; all but; not;
        \w*n['’]t; never; cannot; incorrect; wrong; false; untrue; eliminated; excluded; rul(?:e|ed|ing) out;
        impossible; invalid; fails?; neither; nor; none; no longer; inaccurate; rather than; instead of;
        other than; except; eliminat(?:e|ing); exclud(?:e|ing); reject(?:ed|ing)?; contradicts?; a trap;
        dismissed; discarded; unlikely; hardly; mistaken; irrelevant; discard(?:ing|s)?; drop(?:ping|s|ped)?;
        crossing out; nobody; no one; no way; doubtful; doubt; doesn
    zh: 不是; 不对; 不對; 不正确; 不正確; 错误; 錯誤; 错; 错的; 不符; 排除; 不能; 并非; 不选; 不应; 不應;
        不可能; 不; 没有; 无法; 都不; 未必; 并不; 非; 不成立
    de: niemand; nicht; kein(?:e|er|es)?; weder; noch; falsch; ausgeschlossen; scheidet; scheiden;
        schließe\w*; auszuschließen; unmöglich; nie; inkorrekt
    fr: personne; pas; ni; aucune?; jamais; fau(?:x|sse); incorrecte?; éliminée?s?; exclue?s?; éliminant;
        écartant; excluant; écartée?s?; inexacte?; n['’]est
    es: nadie; no; ni; ninguna?; nunca; falsa?o?; incorrect[ao]; descart(?:ad[ao]s?|ando|amos|o);
        elimin(?:ad[ao]s?|ando|amos); excluyendo; errónea; tampoco
    it: nessuno; non; né; nessun[ao]?; mai; fals[ao]; errat[ao]; sbagliat[ao]; scart(?:at[aoie]|ando|iamo);
        esclu(?:s[aoie]|dendo|diamo); eliminando; inesatt[ao]
    pt: ninguém; não; nem; nenhuma?; nunca; fals[ao]; errad[ao]; incorret[ao]; descart(?:ad[ao]s?|ando|amos);
        elimin(?:ad[ao]s?|ando|amos); excluindo
    nl: niet; geen; noch; fout; onjuist; nooit; verkeerd
    ru: никто; вряд ли; едва ли; исключаем; не; нет; ни; неверн\w*; неправильн\w*; ошибочн\w*; исключ\w*;
        никогда; неверен
    ja: [てで]はいけ; べきではな; 選べな; では?ない; じゃない; ではありません; ではなく; でない; でなく;
        間違い; 誤り; 不正解; 除外; 不適切
    ko: 아니; 아닌; 아닙니다; 않; 틀렸; 틀린; 틀립; 오답; 제외; 잘못
    pl: nie; ani; błędn\w*; niepoprawn\w*; żadn\w*
    tr: değil\w*; yanlış\w*; hiçbiri; ne
    ar: ليس; ليست; لا; خاطئ\w*; خطأ; غير
    hi: नहीं; गलत; ग़लत
    vi: không; sai
    id: bukan; tidak; salah
    sv: inte; fel; varken; ingen
""")
"""Words that deny what they are said of."""

SUPPOSING = read_list(r"""
    let['’]?s (?:assume|suppose|say|imagine); let us (?:assume|suppose|say|imagine); imagine;
    if; suppose; supposing; assuming; assume; were; had; whether; unless; either way; wenn; falls; ob;
    si(?! tratta); supposons; supongamos; se(?! trata); supponiamo; suponha; als; stel; если; предположим;
    如果; 假设; 倘若; 假如; もし; 만약; jeśli; gdyby; eğer; om; إذا; अगर; nếu; jika
""")
"""Words that make a supposition of the clause that they begin."""

WONDERING = read_list(r"""
    some (?:would|might|people|may); many (?:people|students|would|readers);
    (?:students?|people|readers?|beginners?|laym[ae]n) (?:often|usually|tends?|would|might|could|may);
    (?:my|your|his|her|the|a|our) (?:friend|teacher|tutor|professor|colleague|classmate|student|user
      |neighbou?r|brother|sister|mother|father|boss|uncle|aunt)s? (?:\w+ )?(?:says?|said|thinks?|thought
      |claims?|claimed|believes?|believed|insists?|guess(?:es|ed)?|told (?:me|us)|picked|chose|answered);
    (?:let['’]?s|let us|we|now|next),? (?:look at|turn to|examine|analy[sz]e); (?:now|next),? option;
    betrachten wir; schauen wir; considérons; examinons; regardons; consideremos; veamos; analicemos;
    来看; 看看; 考虑;
    one (?:might|could|may); you (?:might|could|may); argue for; let us consider; let['’]?s consider;
    consider (?:option|choice); perhaps; maybe; possibly; conceivably; vielleicht; möglicherweise;
    peut-être; quizás?; tal vez; forse; talvez; misschien; возможно;
    (?<!很)(?<!最)(?<!极)可能(?:是|选|為|为); 多分; 아마도;
    would (?:only |have )?(?:be|been) \w+(?: \w+)? if; might; could(?! only); may; whether; unsure;
    not sure; cannot decide; can['’]t decide; tempting; könnte; pourrait; podría; potrebbe; poderia;
    kan zijn; может быть; 是否; 吗; 也许; 或许; かもしれ; か?どうか; 수도 있; olabilir; có thể; mungkin;
    kanske; być może
""")
"""Words that leave a statement open wherever they are in it."""

CERTAIN = read_list(r"""
    で?間違い(?:ありません|ない); my mistake; no doubt; without (?:a )?doubt; not only; no question;
    doubtless; not (?:hard|difficult) to (?:see|show|check|verify|tell); (?:cannot|can['’]t) be denied;
    (?:cannot|can['’]t) deny; (?:do not|don['’]t|never) doubt; not (?:wrong|a mistake) to say;
    no denying; bezweifle nicht; bezweifeln nicht; ne doute pas; no dudo; 不难看出; 不难发现; 不难得出;
    毫不怀疑; не сомневаюсь; cannot be anything (?:but|other than);
    can['’]?t be anything (?:but|other than); none other than; not surprisingly; nothing but;
    (?:little|beyond|hardly any|hard to|difficult to|reason to) doubt; beyond (?:any|all) doubt;
    no other than; ohne zweifel; zweifellos; sans aucun doute; sans doute; sin duda; no hay duda;
    senza dubbio; sem dúvida; не сомневаюсь; без сомнения; несомненно; 毫无疑问; 无疑; 間違いなく;
    틀림없이; şüphesiz; ne peut être que; ne reste que; no puede ser (?:otra|más) que;
    non può che essere; nichts anderes als; не кто иной; 不外乎; 非常; 不过; 不仅; 差不多; 对不起; 无非;
    除此之外; ne segue; 不如; s[oó]lo puede ser; solo può essere; só pode ser; peut être que; kann nur;
    without any doubt; not to worry; if not mistaken; if i(?:['’]m| am) not mistaken
""")
"""Phrases with a denying word that deny nothing."""


_CONTEXT = 100
"""Characters before an answer that are read."""
_SENTENCE_END = re.compile(r"[.;!?\n。！？；](?=\s|$)|[。！？；]")


_BELIEVING = "think|believe|say|claim|agree|accept|feel|expect|suppose|imagine|conclude"
_SAYING = rf"(?:{_BELIEVING}|assume|insist)s?|said|thought|told (?:me|us)|believed|claimed|guess(?:es|ed)?"
_OTHERS = (
    r"friends?|teachers?|tutors?|professor|colleagues?|classmates?|students?|users?|neighbou?rs?|brother"
    r"|sister"
    r"|mother|father|boss|uncle|aunt|assistant|critics?|people|someone|somebody|others|they"
)
# "I doubt", "it is not true", "I can't say", "nobody believes". A doubt that is itself denied is none: "no
# doubt",
# "without a doubt", "hard to doubt".
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
_DENIED_THAT = rf"(?:\b|(?=n['’]t ))(?:{_DENIES})"
_CONJUNCTION = r" (?:that|if|whether)"
_REPORTED = rf"\b(?:{_OTHERS}) (?:\w+ )?(?:{_SAYING})(?: that)?"
"""What others say is not what the response says."""
_SUPPOSED = r"\b(?:(?<!as )if|suppose|supposing|assume|assuming|imagine|unless|whether)(?: that)?"
# The same with the conjunction that follows: "ich bezweifle, dass", "je doute que", "no creo que", "не
# думаю, что".
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
_DOUBT = rf"(?:{_DENIED_THAT}(?:{_CONJUNCTION})?{_THAT}|\b(?:{_FOREIGN})|{_UNSPACED})"
_NOUN = (
    r"(?:answer|result|value|solution|number|output|(?:output )?grid|it|this|that|[a-z]|antwort|lösung"
    r"|ergebnis|réponse|résultat|respuesta|solución|resultado|risposta|risultato|resposta|ответ)"
)
_NAMED = rf"[ \t]*{_NOUN}(?![^\W\d_])(?: (?:to|of|for) [^,]{{1,30}}?)?"
_IS = (
    r"(?:is|are|was|be|equals?|would be|could be|can be|should be|must be|=|ist|soit|est|égale"
    r"|ne peut pas être|sea|es|no puede ser|sia|è|seja|é|—|–)"
)
# Before "the answer is 5": "I doubt that", "If", "My friend says that".
_BEFORE_ANNOUNCEMENT = re.compile(rf"(?:{_DOUBT}|(?:{_SUPPOSED}|{_REPORTED}){_THAT})[ \t*_]*$", re.IGNORECASE)
# Before the value itself: "I do not think that it is", "it is not true that x =", "My friend says the
# answer is".
# A noun or "that" must be there, because "not 5" alone is read by `hedging`.
_BEFORE_VALUE = re.compile(
    rf"(?:{_DENIED_THAT}(?:{_CONJUNCTION}{_THAT}(?:{_NAMED})?|{_THAT}{_NAMED})|(?:\b(?:{_FOREIGN})"
    rf"|{_UNSPACED})"
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


_RIGHT_BEFORE = {
    # "It is not Paris", "anything but the Louvre", "no longer called *Bombay"
    "text": re.compile(
        r"\b(?:not|never|hardly|neither|nor|no\s+longer|(?:is|was|are|were|do|does|did|ca|wo|would"
        r"|could)n['’]?t|cannot\s+be"
        r"|rather\s+than|instead\s+of|unlike|except|other\s+than|any(?:thing|one|body)\s+but)"
        r"(?:\s+(?:the|a|an|in|by|be|called|named))*[\s*_\"'“(]*$",
        re.IGNORECASE,
    ),
    # "The output is not:\n1 2\n3 4", "rather than [[1, 2]]"
    "grid": re.compile(
        r"(?:\bnot|\bhardly|n['’]t|\bnever|\brather than|\binstead of|\bexcept)"
        r"(?:\s++(?:be|equal|give))?[\s:*`]*+$",
        re.IGNORECASE,
    ),
    # "x cannot be $\\boxed{5}$", "x \\neq \\boxed{5}", "more than \\boxed{5}"
    "box": re.compile(
        r"(?:\bnot|\bcannot\s+be|n['’]t\s+be|n['’]t|\bnever|\\neq?|≠|\bthan)\s*[\s$(*:]*$", re.IGNORECASE
    ),
}
"""What denies an answer of each kind if it is right before it. Verdicts depend on how the lists differ."""
_BEGINS_DENIED = re.compile(
    r"(?:it\s+(?:is|was)\s+)?(?:not|never|isn['’]t|wasn['’]t|neither)\b", re.IGNORECASE
)


def is_denied(before: str, answer: Literal["text", "grid", "box"]) -> bool:
    """Return whether the words right before an answer deny it."""
    return _RIGHT_BEFORE[answer].search(before) is not None


def begins_with_denial(answer: str) -> bool:
    """Return whether an answer in words begins with a denial: "not Paris", "it is not Paris"."""
    return _BEGINS_DENIED.match(answer) is not None


_DENYING = compiled(DENYING)
_AFTER_NOUN = ("ja", "ko", "tr", "hi")
"""Languages whose denying words follow what they deny."""
_CERTAINLY = re.compile(words(CERTAIN), re.IGNORECASE)
_OPTION = rf"(?:(?:the\s+)?{bounded(words(OPTIONS))})"
_DENYING_NEXT = {name: found for name, found in DENYING.items() if name not in _AFTER_NOUN}
_PRE_NEGATIONS = (
    r"rather than|instead of|other than|unlike|not|nicht|pas|no|non|não|niet|не|nie|inte|bukan|không phải"
    r"|ليس|ليست|不是|而不是|而非|并非|不"
)
# The option that is denied after the chosen one: "B, not A", "B rather than option C", "B而不是A".
_DENIES_OTHER = re.compile(
    rf"{bounded(_PRE_NEGATIONS)}[\s\"'(]{{0,3}}(?:{_OPTION}[\W_]{{0,3}}|选|選|是)?[A-Z](?![A-Za-z])",
    re.IGNORECASE,
)
# "not ", "rule out option ", "cannot be the " right before a letter.
_DENIES_NEXT = re.compile(
    rf"{bounded(words(_DENYING_NEXT))}(?:[\s\"'(]*(?:be|the|option|answer|is|to|es|è|é|est|ist|sea|la|真|选|選"
    rf"|是))*[\s\"'(\[]{{0,4}}\Z",
    re.IGNORECASE,
)
# A denial after one of these is of something else: "B because A is not prime" does not deny B.
_CUT_AFTER = re.compile(
    r"[.;!?\n。！？,、—–(]|(?<!\w)(?:because|since|as|and|but|while|whereas|where|so|though|although|weil|denn"
    r"|und|aber"
    r"|car|parce|mais|porque|pero|mas|perché|ma|omdat|maar|потому|но|а|因为|而|所以|bo|ale|çünkü)(?!\w)",
    re.IGNORECASE,
)
# A denial before one of these is of something else: "It is not A, so B" does not deny B.
_CUT_BEFORE = re.compile(
    r"[.;:!?\n。！？,、—–(]|(?<!\w)(?:so|thus|hence|therefore|but|because|leav(?:es|ing)|left with|aber"
    r"|sondern|mais|pero|sino|mas|ma|bensì|но|а|maar|utan|lecz)(?!\w)"
    r"|(?<=[고며만나])(?:\s|$)|所以|因此|但|而是|아니라|므로|ではなく|なので|ので",
    re.IGNORECASE,
)
_DASH_IS = re.compile(r"[\s\])}\"'”]*[—–-]\s*(?=[а-яё])", re.IGNORECASE)
"""The dash that Russian writes instead of "is"."""
# "A, which is wrong", "A and that is not right".
_RELATIVE = re.compile(
    r"[^\S\n]*[)\]]*,?[^\S\n]*(?:which|and that|that)\s+(?:is|was)\s+(?:\w+\s+)?"
    r"(?:wrong|incorrect|false|not)\b",
    re.IGNORECASE,
)
_SUPPOSING = re.compile(rf"(?:^|[,;:]\s*)\W*{bounded(words(SUPPOSING))}", re.IGNORECASE)
# Together with _CONDITION: "It would be B if x were odd" states nothing.
_WOULD_BE = re.compile(
    r"\b(?:would (?:be|have been)|wäre|serait|sería|sarebbe|seria)\W*(?:option\W*)?$", re.IGNORECASE
)
_CONDITION = re.compile(r"[\s)\]\"'”.,]*(?:if|were|had|wenn|falls|si|se)\b", re.IGNORECASE)
_WONDERING = compiled(WONDERING)


def without_certainty(text: str, *, by: str = " ") -> str:
    """Return a text without phrases that have a denying word and deny nothing: "no doubt", "not only"."""
    return _CERTAINLY.sub(by, text)


def leaves_open(text: str) -> bool:
    """Return whether a text leaves open what it says: "perhaps B", "some would say B"."""
    return _WONDERING.search(text) is not None


def denies(text: str) -> bool:
    """Return whether a text has a denying word, or a sign that says "not equal"."""
    return (
        _DENYING.search(without_certainty(text)) is not None
        or re.search(r"\\n(?:eq?|ot)\b|≠", text) is not None
    )


def denies_next(before: str) -> bool:
    """Return whether the words before an option deny it directly: "not B", "rule out B"."""
    return _DENIES_NEXT.search(without_certainty(before)) is not None


def denied_before(before: str) -> bool:
    """Return whether the clause before an option denies it."""
    if denies_next(before) or doubts_value(without_certainty(before)):
        return True
    clause = _CUT_BEFORE.split(before.rstrip(" :\"'“(["))[-1]
    return _DENYING.search(clause) is not None


def denied_after(after: str, *, announced: bool = False) -> bool:
    """Return whether the words after an option call it wrong. "B, not A" does not.

    Args:
        announced: words such as "the answer is" are before the option. Then a period after its bracket ends
            the sentence: "The answer is (B). No other option fits." In "(A). Incorrect." it does not.
    """
    if _RELATIVE.match(after):
        return True
    marks = " )]}\"'”" if announced else " )]}\"'”.:"
    start = len(after) - len(after.lstrip(marks)) if re.match(r"[\])}\"'”]+", after) else 0
    if copula := _DASH_IS.match(after):
        start = copula.end()
    cut = _CUT_AFTER.search(after, start)
    clause = after[: cut.start() if cut else len(after)]
    other = _DENIES_OTHER.search(after)
    if other is not None and other.start() < len(clause) + 1:
        clause = clause[: other.start()]
    return _DENYING.search(without_certainty(clause)) is not None


def contrasts(after: str) -> bool:
    """Return whether another option is denied right after this one: "B, not A", "B不是A"."""
    match = _DENIES_OTHER.search(after)
    return match is not None and re.fullmatch(r"[\s,;)(。–—.-]*", after[: match.start()]) is not None


def is_open(before: str, after: str) -> bool:
    """Return whether a clause supposes or wonders rather than states."""
    clause = re.split(r"[,;:]", before)[-1]
    cut = _CUT_AFTER.search(after)
    tail = after[: cut.start() if cut else len(after)]
    return (
        _SUPPOSING.search(before) is not None
        or (_WOULD_BE.search(before) is not None and _CONDITION.match(after) is not None)
        or leaves_open(without_certainty(clause))
        or leaves_open(tail)
    )


def denies_plainly(text: str, letters: str) -> bool:
    """Return whether a text calls an option wrong in so many words: "B is wrong", "not B", "B不对"."""
    wrong = r"(?:wrong|incorrect|false|not (?:correct|right|the))"
    plainly = (
        rf"(?<![A-Za-z]){letters}\W{{1,4}}(?:is|was)\s+(?:\w+\s+)?{wrong}|{letters}\s?(?:不对|不正确|错)"
    )
    denied = rf"(?:not|不是|nicht|pas|cannot be|can't be)\s{{0,2}}{letters}(?![A-Za-z])"
    return re.search(rf"{plainly}|{denied}", text) is not None


def _sentence(before: str) -> str:
    """Return the last sentence of a text, which is not finished."""
    return _SENTENCE_END.split(before[-_CONTEXT:])[-1]
