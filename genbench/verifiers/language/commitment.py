"""What a clause says of the answer that it names: it gives, rejects or supposes it, or compares it.

This is the one model of commitment, for letters, option texts, numbers and words alike. A reader of answers
finds the places that name something. `read_claim` tells what the clause around one of them says of it, as a
`Claim`:

* polarity: "it is 6" and "it is not 6";
* scope: "the option that is NOT round is B" has its "not" in a relative clause and does not reject B;
* role: the answer, rejected, an alternative ("B is better than A"), a supposition ("if it is A"), a mention.

What follows an answer may also take it back without naming it: "Wait, that is wrong." (`retraction`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from genbench.verifiers.language.announcements import OPTIONS, QUALITIES
from genbench.verifiers.language.word_lists import any_of, bounded, compiled, read_list, read_table, words

Role = Literal["answer", "rejected", "alternative", "hypothetical", "mention"]
"""What a clause makes of what it names."""

Scope = Literal["main", "relative"]
"""Which clause says it: the main one, or one that only describes: "B, which is not a planet"."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one clause says of what it names."""

    role: Role
    scope: Scope = "main"
    plain: bool = False
    """It says right or wrong in so many words: "B is wrong". "B has no moons" denies something else of B."""
    exception: bool = False
    """It names what is not so: "the false statement is B". Such a claim answers a question with NOT."""
    leading: bool = False
    """The words before the name say it, not those after it."""


_MENTION = Claim("mention")
_REJECTED = Claim("rejected")
_PLAINLY_REJECTED = Claim("rejected", plain=True)
_REJECTED_BEFORE = Claim("rejected", leading=True)
_PLAINLY_REJECTED_BEFORE = Claim("rejected", plain=True, leading=True)
_ANSWER = Claim("answer")
_RIGHT = Claim("answer", plain=True)
_EXCEPTION = Claim("answer", exception=True)
_ALTERNATIVE = Claim("alternative")
_HYPOTHETICAL = Claim("hypothetical")

# --- Words -----------------------------------------------------------------------------------------------

_OTHERS = (
    r"he|she|friends?|teachers?|tutors?|professors?|colleagues?|classmates?|students?|users?|neighbou?rs?"
    r"|brother"
    r"|sister"
    r"|mother|father|boss|uncle|aunt|assistant|critics?|people|someone|somebody|others|they|experts?|authors?"
    r"|readers?|beginners?|opponents?|freund\w*|lehrer\w*|leute|manche|viele|kollege\w*|ami[es]?|professeur"
    r"|certains|collègue|gens|amigo|amiga|profesora?|algunos|muchos|gente|colega|amico|amica|alcuni|molti"
    r"|друг|учитель|некоторые|многие"
)
_SAYING = (
    r"says?|said|thinks?|thought|believes?|believed|claims?|claimed|insists?|guess(?:es|ed)?|told (?:me|us)"
    r"|argues?|argued|maintains?"
    r"|suggests?|would say|might say|may say|would argue|often (?:say|choose|pick|answer)|would (?:choose"
    r"|pick|answer)|chose|choose|picked|answered|sagt\w*|meint"
    r"|glaubt\w*|behauptet|denk(?:t|en)|dit|disent|pense\w*|croi(?:t|ent)|affirme\w*|dice[n]?|cree[n]?"
    r"|piensa[n]?|afirma[n]?|dicono|pensa(?:no)?"
    r"|crede|говорит|считает|думает|думают|считают"
)
_BELIEVING = "think|believe|say|claim|agree|accept|feel|expect|suppose|imagine|conclude"
DENYING = read_table(r"""
    en: nothing; few; hesita\w*; refus\w+; unwilling; avoid\w*; beware; ignore; forget; mistakes?; trap;
        distractor;
        second[- ]best; opposite; excludes?; rules? disregard; (?:any|every)(?:thing|one) but; all but; not;
        \w*n['’]t; never; cannot; incorrect; wrong; false; untrue; eliminated; excluded; rul(?:e|ed|ing) out;
        impossible; invalid; fails?; neither; nor; none; no longer; inaccurate; rather than; instead of;
        other than; except; eliminat(?:e|ing); exclud(?:e|ing); reject(?:ed|ing)?; contradicts?; a trap;
        dismissed; discarded; a stretch; unlikely; hardly; mistaken; irrelevant; discard(?:ing|s)?;
        drop(?:ping|s|ped)?;
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
    if; suppose; supposing; assuming; assume; were; had; pretend; granted that; in case; provided(?: that)?;
    as long as; so long as; on the assumption; on condition; even if;
    should (?:the|it|this|that|an?|you|we|one|there|they|your|our|\(?[a-z]\)?)\b;
    say (?:the answer|it) (?:is|was|were); sollten?; sofern; solange; gesetzt; à supposer; admitamos;
    pongamos que; digamos que; siempre que; 假定; 要是; 只要; whether; unless; either way; wenn; falls; ob;
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
    (?:need|have|want|ought) to (?:evaluate|check|examine|consider|look at|analy[sz]e|test|discuss);
    turning to; moving on to; betrachten wir; schauen wir; considérons; examinons; regardons; consideremos;
    veamos; analicemos;
    来看; 看看; 考虑;
    one (?:might|could|may); you (?:might|could|may); argue for; let us consider; let['’]?s consider;
    consider (?:option|choice); perhaps; maybe; possibly; conceivabl[ey]; imaginable;
    it (?:is|['’]s) possible; es posible;
    il est possible; (?:ist|wäre) (?:möglich|denkbar); vielleicht; möglicherweise;
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
    doubtless; nothing (?:has |have )?change[sd]?; not (?:hard|difficult) to (?:see|show|check|verify|tell);
    (?:cannot|can['’]t) be denied;
    (?:cannot|can['’]t) deny; (?:do not|don['’]t|never) doubt; not (?:wrong|a mistake) to say;
    nobody (?:disputes|doubts|denies)(?: that)?; (?:no|without) hesitation; few would disagree;
    (?:do not|don['’]t) see how it could be anything (?:but|other than); won['’]t hedge;
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
_SAID_BY_OTHERS = rf"\b(?:{_OTHERS}) (?:\w+ )?(?:{_SAYING})(?: that)?"
"""What others say is not what the response says."""
_SUPPOSING_WORDS = r"\b(?:(?<!as )if|suppose|supposing|assume|assuming|imagine|unless|whether)(?: that)?"
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
_ANSWER_NAMES = (
    r"(?:answer|result|value|solution|number|output|(?:output )?grid|it|this|that|[a-z]|antwort|lösung"
    r"|ergebnis|réponse|résultat|respuesta|solución|resultado|risposta|risultato|resposta|ответ)"
)
_NAMED = rf"[ \t]*{_ANSWER_NAMES}(?![^\W\d_])(?: (?:to|of|for) [^,]{{1,30}}?)?"
_IS = (
    r"(?:is|are|was|be|equals?|would be|could be|can be|should be|must be|=|ist|soit|est|égale"
    r"|ne peut pas être|sea|es|no puede ser|sia|è|seja|é|—|–)"
)
# Before "the answer is 5": "I doubt that", "If", "My friend says that".
_BEFORE_ANNOUNCEMENT = re.compile(
    rf"(?:{_DOUBT}|(?:{_SUPPOSING_WORDS}|{_SAID_BY_OTHERS}){_THAT})[ \t*_]*$", re.IGNORECASE
)
# Before the value itself: "I do not think that it is", "it is not true that x =", "My friend says the
# answer is".
# A noun or "that" must be there, because "not 5" alone is read by `hedging`.
_BEFORE_VALUE = re.compile(
    rf"(?:{_DENIED_THAT}(?:{_CONJUNCTION}{_THAT}(?:{_NAMED})?|{_THAT}{_NAMED})|(?:\b(?:{_FOREIGN})"
    rf"|{_UNSPACED})"
    rf"(?:{_NAMED})?|{_SAID_BY_OTHERS}{_THAT} (?:answer|result) (?=is\b))(?:[ \t]*{_IS}(?![^\W\d_]))?"
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


_NEGATOR = compiled(DENYING)
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
    rf"{bounded(_PRE_NEGATIONS)}[\s\"'(]{{0,3}}(?:(?:to|for|with|on|by|at|für|zu|pour|à|por|a"
    rf"|con)\s+)?\(?(?:{_OPTION}[\W_]{{0,3}}|选|選|是)?[A-Z](?![A-Za-z])",
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
    r"[.;!?\n。！？,、—–(]|(?<!\w)(?:because|since|as|and|but|while|whereas|where|so|though|although"
    r"|rather than|instead of|weil|denn"
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
        _NEGATOR.search(without_certainty(text)) is not None
        or re.search(r"\\n(?:eq?|ot)\b|≠", text) is not None
    )


def denies_next(before: str) -> bool:
    """Return whether the words before an option deny it directly: "not B", "rule out B"."""
    return _DENIES_NEXT.search(without_certainty(before)) is not None


def is_compared_with(before: str) -> bool:
    """Return whether the words before an option compare another one with it: "than B", "compared with B"."""
    return _ALTERNATIVE_BEFORE.search(before) is not None


def denied_after(after: str, *, announced: bool = False) -> bool:
    """Return whether the words after an option call it wrong. "B, not A" does not.

    Args:
        announced: words such as "the answer is" are before the option. Then a period after its bracket ends
            the sentence: "The answer is (B). No other option fits." In "(A). Incorrect." it does not.
    """
    marks = " )]}\"'”" if announced else " )]}\"'”.:"
    start = len(after) - len(after.lstrip(marks)) if re.match(r"[\])}\"'”]+", after) else 0
    if copula := _DASH_IS.match(after):
        start = copula.end()
    cut = _CUT_AFTER.search(after, start)
    clause = after[: cut.start() if cut else len(after)]
    other = _DENIES_OTHER.search(after)
    if other is not None and other.start() < len(clause) + 1:
        clause = clause[: other.start()]
    return _NEGATOR.search(without_certainty(clause)) is not None


def contrasts(after: str) -> bool:
    """Return whether another option is denied right after this one: "B, not A", "B不是A"."""
    match = _DENIES_OTHER.search(after)
    return (
        match is not None
        and re.fullmatch(r"[\s,;)(。–—.-]*(?:and|et|y|und)?\s*", after[: match.start()]) is not None
    )


def _sentence(before: str) -> str:
    """Return the last sentence of a text, which is not finished."""
    return _SENTENCE_END.split(before[-_CONTEXT:])[-1]


_ADVERB = (
    r"(?:still|also|therefore|thus|hence|then|now|clearly|obviously|definitely|certainly|surely|probably"
    r"|likely|really"
    r"|simply|just|actually|indeed|in fact|itself|alone|always|here|however|though|in my (?:view|opinion)"
    r"|most|more|very"
    r"|quite|rather|completely|totally|entirely|absolutely|already|all|both|best|well|fully|quickly|safely"
    r"|easily|easy to)"
)
# What says of an answer that it is one: "B is correct", "B is the best choice", "it fits".
RIGHT_WORDS = any_of(r"""
    correct; right; true; accurate; valid; it; plausible; likely; probable; appropriate; suitable; acceptable;
    possible; what(?:['’]?s| is) left; what remains; left\b; supported; consistent; reasonable; viable;
    ok(?:ay)?; sensible; justified; good; adequate;
    fitting;
    (?:\w+ ){0,2}(?:answer|option|choice|solution|one|pick|candidate|case|possibility|bet)(?:s\b|\b)
""")
# What says that it is none: "B is wrong", "B is ruled out", "B is a distractor".
WRONG_WORDS = any_of(r"""
    wrong; incorrect; false; untrue; inaccurate; invalid; impossible; out(?! of)\b; mistaken; irrelevant;
    (?:be |been )?(?:ruled out|eliminated|excluded|rejected|dismissed|discarded|discounted|crossed out);
    (?:trap|distractor|mistake|error|red herring|lie|nonsense|lure); unlikely; implausible; improbable;
    unsupported; inconsistent; inappropriate; unsuitable; disqualified; (?:far |way |much )?too [a-z]+;
    (?:wrong|incorrect|bad|poor|false) (?:answer|option|choice|solution|pick|guess); nonsensical; absurd
""")
_NOUN = (
    r"(?:answers?|options?|choices?|statements?|claims?|one|sentence|assertion|item|cause|reason|factor"
    r"|alternative|pick|letter)"
)
# "the false statement", "the incorrect one", "the least likely option", "the exception", "the odd one out".
# "The wrong answer" is none: it says what not to take.
_EXCEPTIONAL = (
    r"(?:exception|odd (?:one|man|option)(?: out)?|outlier|intruder|misfit"
    r"|(?:most )?(?:false|incorrect|untrue|wrong|inaccurate|invalid|erroneous|mistaken|inconsistent"
    r"|unsupported)"
    r" (?:statement|one|claim|sentence|assertion|item|description|pair(?:ing)?|match|combination|definition)"
    r"|(?:least|most un)\s?\w+(?: \w+)?|unlikeliest|untrue one)"
)
# The same in the languages of the endings: "die falsche Aussage", "l'affirmation fausse", "错误的说法".
_EXCEPTIONAL_ELSEWHERE = (
    r"(?:ausnahme|falsche (?:aussage|behauptung)|(?:nicht|un)\s?(?:zutreffende|richtige|passende"
    r"|korrekte) \w+"
    r"|unwahrscheinlichste \w+|exception|intrus|(?:affirmation|proposition|assertion) (?:fausse|incorrecte"
    r"|inexacte)"
    r"|moins \w+|excepción|intruso|(?:afirmación|opción|proposición) (?:falsa|incorrecta)|menos \w+|eccezione"
    r"|(?:affermazione|frase) (?:falsa|errata)|exceção|afirmação (?:falsa|incorreta)|исключение"
    r"|неверное утверждение"
    r"|(?:错误|不正确|不符合|不恰当)的?(?:一项|说法|选项|是)?|例外)"
)
_COPULA = (
    r"(?:is|was|are|were|must be|has to be|would be|should be|will be|can only be|seems|appears|looks"
    r"|remains|becomes|['’]s)"
)
_NOT = (
    r"(?:not|never|no longer|hardly|scarcely|anything but|far from|by no means|neither|nowhere near"
    r"|in no way)"
)

# --- After a name: what its predicate says ---------------------------------------------------------------

_CLOSING = r"(?:[)\]}\"'”’»*]|[^\S\n])*"
# "B (Venus) …", "B, however, …": what may be between a name and its verb.
_ASIDE = (
    r"(?:\([^()]{0,80}\)\s*)?(?:[,–—]\s*(?:however|though|then|in fact|therefore|of course|clearly"
    r"|on the other hand|by contrast|in contrast|on the contrary|meanwhile|as (?:we|i) (?:saw|said)"
    r"|hingegen|dagegen"
    r"|en revanche|par contre|en cambio)\s*,?\s*)?"
)
_PREDICATE = re.compile(
    rf"{_CLOSING}{_ASIDE}(?:(?:{_ADVERB})\s+){{0,2}}"
    rf"(?:(?P<is>is|was|are|were|seems|appears|looks|sounds|remains|becomes|(?:must|should|has to|have to"
    rf"|needs to|will|may|might"
    rf"|can|could|would|ought to)(?:\s+(?:only|well|also|then|still|really))?\s+(?:be|have been)|(?:has"
    rf"|have) (?:already )?been)"
    rf"|(?P<isnt>(?:is|was|are|were)n['’]?t|ain['’]t|(?:can|could|would|wo|should|must|may)(?:n['’]?t|not"
    rf"|\s+not|\s+never)"
    rf"(?:\s+(?:possibly|really|even|have))*\s+be(?:en)?)"
    rf"|(?P<does>(?:does|do|did|can|could|would|will)(?:n['’]t|not|\s+not|\s+never))"
    rf"|(?P<fails>fails?(?:\s+to\s+\w+)?|contradicts|cannot\s+\w+))(?![A-Za-z])[:,]?\s*",
    re.IGNORECASE,
)
_NEGATED = re.compile(rf"(?:(?:{_ADVERB})\s+){{0,2}}{_NOT}(?![A-Za-z])\s*", re.IGNORECASE)
_SAYS_RIGHT = re.compile(rf"(?:(?:{_ADVERB}|the|an?)\s+){{0,3}}(?:{RIGHT_WORDS})(?![A-Za-z])", re.IGNORECASE)
_SAYS_WRONG = re.compile(rf"(?:(?:{_ADVERB}|the|an?)\s+){{0,3}}(?:{WRONG_WORDS})(?![A-Za-z])", re.IGNORECASE)
# "does not fit", "doesn't work", "cannot explain it": verbs with which an answer is turned down.
_FITS = re.compile(
    r"(?:\w+ly\s+)?(?:fit|work|match|apply|hold|make (?:any )?sense|satisfy|qualify|seem|look|count|do"
    r"|answer|follow|suit)"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
# "B is the exception", "B is the false statement", "B is the one that does not fit", "B is the only planet
# without moons": a definite description that says which one it is.
_IS_EXCEPTION = re.compile(
    rf"(?:(?:therefore|thus|then|hence|clearly|also|probably|likely)\s+)*(?:the\s+"
    rf"|an?\s+)?(?:{_EXCEPTIONAL})(?![A-Za-z])",
    re.IGNORECASE,
)
_IS_THE_ONE = re.compile(
    rf"(?:(?:therefore|thus|then|hence|clearly|also|probably|likely)\s+)*the\s+(?:(?:only|one|sole)\b"
    rf"|(?:\w+\s+){{0,2}}?{_NOUN}\s+(?:that|which|who|without|lacking|not)\b"
    r"|(?:\w+\s+){1,3}?(?:without|lacking|not|(?:that|which|who)\s+(?:is|was|does|did|has|have|had|can"
    r"|could|will|would)(?:n['’]t|\s+(?:not|never|no)))\b)",
    re.IGNORECASE,
)
# "B is second best", "A is a close second", "C is another possibility", "C is also plausible", "would be my
# second choice": named, but not chosen.
_SECOND = re.compile(
    r"(?:(?:my|the|an?|only|also|just|just as|equally|likewise|too|close|distant)\s+)*"
    r"(?:second\b|runner-?up|next best|another\b|other\b|alternative\b|possib(?:le|ility)|plausible"
    r"|tempting|close\b|conceivable"
    r"|one of\b|one (?:possib\w+|option|candidate|way|reading|interpretation|view|answer)"
    r"|a (?:possibility|reading|way|candidate|contender|possible))",
    re.IGNORECASE,
)
# "B is almost right", "B is only partially correct".
_NOT_QUITE = re.compile(
    r"(?:(?:only|just)\s+)?(?:almost|nearly|partially|partly|half|hardly|barely)\b", re.IGNORECASE
)
# "C is just as good" adds C to what was given before.
_EQUAL = re.compile(
    r"(?:equally|just as|as|likewise)\s+(?:good|valid|correct|right|likely|plausible|possible)\b",
    re.IGNORECASE,
)
# "B looks right but isn't", "B semble correct, mais ne l'est pas".
_ONLY_SEEMS = re.compile(
    r"[^\w\n]*(?:is\s+(?:often|commonly)|seems|looks|appears|sounds|semble|parece|sembra|scheint"
    r"|klingt)\b[^.;!?\n]{1,60}?"
    r"(?:\b(?:but|yet|mais|pero|ma|aber)\b[^.;!?\n]{0,30}?(?:\b(?:not|wrong|incorrect|false|pas|no|non"
    r"|falsch)\b|n['’]t\b))",
    re.IGNORECASE,
)
# "A would be right for the largest city", "B would be the answer to another question", "… if it were hot".
_FOR_ANOTHER = re.compile(
    r"[^.;!?\n]{0,60}?\b(?:if|had|were|when|unless|only|in \d+|in (?:an?|the)|for (?:the|a|an|most|other"
    r"|another|large"
    r"|small)|to (?:a|an|the)"
    r" (?:\w+ )?(?:different|other|question))\b",
    re.IGNORECASE,
)
# "B is better than A", "B over A", "B rather than A", "B to A" (after "prefer"): what is before wins.
_BETTER = re.compile(
    rf"{_CLOSING}(?:(?:is|seems|fits|works|looks|would be|appears)\s+(?:(?:an?|the|far|much|slightly"
    rf"|clearly|still)\s+)*"
    # "A is closer to the sun" and "A is more massive" compare something else.
    r"(?:better|closer(?!\s+to\s+(?!(?:the\s+)?(?:truth|answer|mark|correct|right|actual|what|how|our)))"
    rf"|more\s+(?:\w+ly\s+)?(?:{QUALITIES}|of\s+an?)"
    r"|likelier|superior|preferable|stronger)|beats|edges out|outperforms|trumps|wins"
    r"|over\s+(?:option\s+)?\(?(?-i:[A-Z]))\b"
    r"|[^.;!?\n]{0,12}(?:passt besser|ist besser|est préférable|es preferible"
    r"|[\u4e00-\u9fff]?更(?:合适|好|准确|恰当|符合)"
    r"|convient mieux|va mieux|est mieux|es mejor|encaja mejor|è meglio"
    r"|é melhor|лучше|比[A-Z]更)",
    re.IGNORECASE,
)
_WORSE = re.compile(
    rf"{_CLOSING}(?:is|seems|fits|works|looks|would be|appears)\s+(?:(?:far|much|slightly"
    rf"|clearly)\s+)*(?:worse|less|weaker|inferior)\b",
    re.IGNORECASE,
)
# "B if n is even", "B, unless it is cold", "B when it is hot": a condition that the answer hangs on.
_CONDITION = re.compile(
    rf"{_CLOSING},?\s*(?:(?:only|but only|unless)\s+)?(?:if|unless|when|for (?:large|small|even|odd"
    rf"|positive|negative|big|all|any)|wenn|falls|si(?!\s+tratta)"
    rf"|se(?!\s+trata)|если)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:otherwise|else|if not|in which case|(?:for|if|when|in) [^.;!?\n]{1,30} (?:it(?: is|['’]s)"
    r"|the answer is)\s*\(?(?-i:[A-Z])|sonst|andernfalls|sinon|si no|de lo contrario|altrimenti"
    r"|senão|иначе)\b"
    r"|(?:if|when|wenn|si|se|если)\b[^.;!?\n]{1,60}\b(?:if|when|wenn|si|se|если|and|et|und|y)\b",
    re.IGNORECASE,
)

# What a branch hangs on: "B for a circular orbit and C for an eccentric one", "if we take mass, D; if we take
# rings, E". "In short, B" and "For this reason, B" are no branches.
_BRANCH_HEADS = {
    "one": r"(?:the )?(?:first|second|one|other|another|former|latter)|sometimes|mal|tantôt|a veces"
    r"|(?:die |der |das |le |la |el )?(?:erste|zweite"
    r"|eine|andere|premier|première|seconde?|autre|primer[ao]?|segund[ao]|otr[ao])n?r?",
    "time": r"before|after|until|prior to|vor|nach|avant|après|antes de|después de",
    "by": r"by|judging by|in terms of|regarding|as to|according to|par|por|historically|today|now"
    r"|originally|formerly",
    "if": r"if|when|whenever|assuming|provided|supposing|wenn|falls|si|quand|lorsque|cuando|se|quando|если",
    "in": r"in|on|at|for|with|without|using|under|from|across|through|im|auf|für|mit|ohne|bei|unter|nach|pour"
    r"|avec"
    r"|sans|sous|selon|dans|en|chez|para|con|sin|bajo|según|sur|per|nel|в|для|при",
}
_DISCOURSE = (
    r"(?:summary|conclusion|short|fact|the end|other words|general|sum|brief|my|our|addition|contrast|light"
    r"|this|that|(?:these|those) (?:reasons?|grounds|considerations|facts|cases)|elimination|exclusion"
    r"|process|far"
    r"|all|which|example|instance|all|now|sure|its|me|the (?:reasons?|above|whole|given)"
    r"|balance|reflection|second|confidence|certainty|first|last|order|which|resumen|conclusión|résumé"
    r"|effet|somme|fait|realidad|definitiva|consecuencia)\b"
)
_HEAD_WORD = "|".join(rf"(?P<{name}>{source})" for name, source in _BRANCH_HEADS.items())
_BRANCH_AFTER = re.compile(
    rf"{_CLOSING},?\s*\(?(?:(?:only|but)\s+)?(?:{_HEAD_WORD})\s+(?!{_DISCOURSE})\w",
    re.IGNORECASE,
)
_BRANCH_BEFORE = re.compile(
    rf"(?:^|[,;:–—]\s*|\b(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|ma)\s+)\W*"
    rf"(?:{_HEAD_WORD})\s+(?!{_DISCOURSE})\w[^;]{{1,80}}?"
    # "For option B, …" has B in the condition itself: a comma or a verb has to come first.
    r"(?:[,:]|\b(?:it|is|be|gives?|choose|pick|take|get|have|answer|ist|es|gilt|wäre|est|serait|es|sería"
    r"|la|elige"
    r"|c['’]est)\b)[^,;]{0,40}$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![A-Za-z'’])(?:[B-HJ-Z]|A(?!\s+[a-zà-ÿ]))(?![A-Za-z'’])")
# "It is B if n is even, but C if it is odd"
_ANY_HEAD = rf"(?:{'|'.join(_BRANCH_HEADS.values())})"
_EARLIER_BRANCH = re.compile(
    rf"(?<![A-Za-z'’])[A-Z]\)?,?\s+\(?(?i:{_ANY_HEAD})\s+(?!(?i:{_DISCOURSE}))[^.;]{{2,60}}$"
)
_LATER_BRANCH = re.compile(
    rf"{_CLOSING},?\s*\(?(?i:{_ANY_HEAD})\b[^.\n]{{2,60}}?(?<![A-Za-z'’])[A-Z]\)?,?\s+\(?(?i:{_ANY_HEAD})"
    rf"\s+(?!(?i:{_DISCOURSE}))\w"
)
# "When B is true, C is not", "B implies C", "Either B is right or C is"
_WITHIN = re.compile(
    r"^\W*(?:when(?:ever)?|given(?: that)?|once|where)\s+(?:(?:the )?(?:answer"
    r"|option) (?:is )?)?\(?$",
    re.IGNORECASE,
)
_IMPLIED = re.compile(
    r"(?<![A-Za-z'’])(?!I mean\b)"  # "Sorry, I mean 9." says what the answer is
    r"[A-Z]\)? (?:would )?(?:impl(?:y|ies)|means?|entails?|requires?|presupposes?|leads? to"
    r"|follows from|excludes?) (?:that )?(?:option )?\(?$"
)
# "Answer: [your choice, e.g. B]"
_EXAMPLE = re.compile(r"\b(?:for example|such as)[\s,:(\"“']*$", re.IGNORECASE)
_EITHER = re.compile(r"\b(?:either|entweder|soit)\b[^.;,]*$", re.IGNORECASE)
_OR_NAME = re.compile(r"\b(?:or|oder|ou|o|soit)\s+(?:option\s+)?\(?[A-Z](?![A-Za-z])")
# "如果按质量，选D；如果按光环，选E"
_BRANCH_UNSPACED = re.compile(r"(?:如果|若|按照?|对于|当)[^,，;；。]{1,24}[，,]?[^,，;；。]{0,10}$")

# --- Before a name: how the clause comes to it -----------------------------------------------------------

# "B is better than A", "B rather than A", "Second choice: A", "followed by C": the name that loses.
_ALTERNATIVE_BEFORE = re.compile(
    r"(?:(?<!no other )(?<!nothing other )\b(?:than|rather than|instead of|as opposed to|over|unlike"
    r"|from \(?(?-i:[A-Z])\)? to|followed by|besides|compared (?:with|to)"
    r"|prefer\w* \S{1,20} to|first,? then|versus|vs\.?|similar to"
    r"|close to|préfère \S{1,12} à|prefier\w \S{1,12} a|preferisco \S{1,12} a"
    r"|(?:eher|besser|lieber|mehr) [^.;]{1,20} als|(?:plutôt|mieux|meilleure?) [^.;]{1,20}que|(?:mejor"
    r"|más) [^.;]{1,20}que"
    r"|vor|en vez de|en lugar de|invece di|ao invés de|чем|anstatt|statt|au lieu de)"
    r"|相比|比起|与其选|胜过|优于|比)[\s(\"“*]*(?:option|answer|choice|la|die|l['’])?[\s(\"“*]*$",
    re.IGNORECASE,
)
# "No option other than B works", "there is no other explanation than B", "none but B".
_NOTHING_BUT = re.compile(
    r"\b(?:(?:no|nothing|none|nobody)\b[^,;.]{0,30}?\b(?:other than|but|except)|no other \w+ (?:than|but"
    r"|except)"
    r"|(?:kein\w*|nichts) ander\w+ \w* ?als)[\s(]*(?:option)?[\s(]*$",
    re.IGNORECASE,
)
_SECOND_CHOICE = re.compile(
    r"(?:\b(?:second|2nd|next best|next|another|alternative|zweit\w*|deuxième|second[ae]?|segund[ao]"
    r"|runner-?up|backup|fall-?back)"
    r"[\s-]*(?:best|closest|choice|option|guess|pick|possibility|place|answer|likely|likeliest|wahl|choix"
    r"|opción|opção|réponse|respuesta)?"
    r"(?:\s+\w+)?[\s:]*(?:is|would be|being|ist|wäre|est|serait|es|sería|son)?|\b(?:closest|nearest|main"
    r"|strongest)\s+"
    r"(?:alternative|competitor|rival|distractor|contender)(?:\s+\w+)?[\s:]*(?:is|would be)?"
    r"|\bone (?:possibility|candidate|contender)(?:\s+is)?|\banother(?:\s+is)?"
    r"|次选|其次(?:是|选)?|第二选择是?)[\s:：(\"“*]*(?:option|choice)?[\s(\"“*]*$",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    rf"(?:^|[,;:–—(]\s*)\W*(?:(?:and|but|so|or|even|und|et|y)\s+)?(?:{bounded(words(SUPPOSING))})"
    r"|(?:^|[,;:]\s*)\W*for (?:large|small|even|odd|positive|negative|big)\b|\b(?:in that case"
    r"|in which case|otherwise|else|sonst|andernfalls|sinon|si no"
    r"|in this case the answer would|angenommen|nehmen wir an|wäre[n]?\b[^,;]{0,60}, wäre|supuesto que"
    r"|admettons|假设|假如|如果|要是)",
    re.IGNORECASE,
)
# "If I had to choose, B", "If we take the mass into account, the answer is B": the main clause still says it.
_REAL_IF = re.compile(
    r"^\W*(?:(?:so|and|but|now|then|also|even)\s*,?\s*)?if (?:pressed|forced|asked|anything|i|we|you"
    r"|one)\b(?! (?:were|are right|thought"
    r"|think(?! (?:about|it|this))))[^,;]{0,120}[,;]"
    r"|^\W*(?:assuming|under|given)\b[^,;]{3,80},|^\W*(?:as(?! long as)|since|because|although|though"
    r"|while|whereas"
    r"|even though|given|considering|after|when)\b",
    re.IGNORECASE,
)
# "If the passage is right, the answer is B", "Si l'on en croit le texte, c'est B", "Wenn man die Farbe
# berücksichtigt, …": the condition only repeats what the question says, or how it is read.
_GIVEN = (
    r"(?:passages?|texts?|questions?|problem|prompt|article|excerpt|paragraph|author|premises?|assumptions?"
    r"|statement|stem|data|tables?|figures?|graph|chart|diagram|values?|numbers?|formula|calculations?"
    r"|arithmetic|reasoning|memory|recollection|information|description|definition|theory|rule|above|this"
    r"|that|aufgabe\w*|angaben?|tabelle|frage|daten|rechnung|erinnerung|abbildung|énoncé|texte|tableau"
    r"|données|calculs?|souvenirs?|texto|enunciado|datos|tabla|cálculos?|memoria)"
)
_HOLDS = (
    r"(?:right|correct(?:ly)?|true|accurate|reliable|valid|sound|trust\w*|believed?|holds?|hold up|serves?"
    r"|literally|at face value|drawn to scale|complete|as (?:given|stated|shown)|any (?:guide|indication)"
    r"|to go by|stimm(?:t|en)|recht hat|richtig|korrekt|zutreffen"
    r"|trifft zu|täuscht|trügt|glauben|exacte?s?|correctes?|justes?|vraie?s?|bonnes?|trompe|correct[ao]s?"
    r"|ciert[ao]s?|falla)"
)
_UNREAL = (
    r"(?:were|had|would|could|might|wäre\w*|hätte\w*|würde\w*|könnte\w*|\w+(?:aient|ait|ions)"
    r"|\w+(?:ara|iera|iese|ase|áramos|iéramos)n?)"
)
_PREMISE = re.compile(
    rf"(?:^|[,;:]\s*)\W*(?:(?:so|and|then|also|donc|pues)\s*,?\s*)?"
    rf"(?:(?:if|provided(?: that)?|assuming(?: that)?|as long as|so long as|wenn|falls|sofern|solange|si"
    rf"|siempre que"
    rf"|pourvu que)\b(?![^,]*\b(?:{_UNREAL}|(?-i:[B-HJ-Z]))\b)"
    rf"[^,]{{0,60}}\b{_GIVEN}\b[^,]{{0,40}}\b{_HOLDS}\b"
    r"|(?:provided|assuming)(?: that)? (?:i|we)\b"
    rf"|unless (?:i|we)(?: have|['’]ve| am|['’]m| are|['’]re)? (?:\w+ )?(?:mis\w+|wrong|overlook\w*|got)\b"
    rf"|(?:wenn|falls) (?:man|wir|ich)\b(?![^,]*\b{_UNREAL}\b)"
    rf"|si (?:l['’]on|on|nous|je)\b(?![^,]*\b{_UNREAL}\b)"
    rf"|si (?:tenemos|consideramos|nos|tomamos|miramos|aplicamos|se|me|no me"
    rf"|hacemos)\b(?![^,]*\b{_UNREAL}\b))"
    r"[^,]{0,120},"
    r"|(?:如果|若|假如|只要)[^,，]{0,12}(?:题目|题干|文章|材料|数据|文中|表格|资料|计算)[^,，]{0,12}"
    r"(?:正确|无误|属实|准确|可靠|为准|没错)[^,，]{0,4}[,，]",
    re.IGNORECASE,
)
_COUNTERFACTUAL = re.compile(
    r"\b(?:would|were|had|wäre|hätte|serait|sería|sarebbe|seria|бы)\b", re.IGNORECASE
)
# "Some textbooks say B", "A student who forgets the mass will choose B", "One source gives B", "another D":
# whoever an indefinite article or a quantifier introduces is not the response. "A look at the data shows B"
# has no such subject, "the passage says B" a definite one.
_AGENT = (
    r"(?!(?:answer|number|letter|matter|order|parameter|factor|vector|error|power|character|remainder"
    r"|computer"
    r"|calculator|statement|argument|element|experiment|measurement|component|coefficient|quotient|constant"
    r"|content|extent|event)s?\b)"
    r"(?:\w{3,}(?:er|or|ist|ian|ant|ent)|textbook|book|source|website|blog|article|forum|key|encyclop\w+"
    r"|chatbot"
    r"|person|child|model|critic|friend|group|school|camp|website|site|quiz|sceptic|skeptic|scholar"
    r"|expert|layman|nutzer|lehrbuch)"
)
_SOMEONE = (
    r"\b(?:(?<!\bthe )(?:some|many|most|several|few|a few|certain|other|various|numerous)(?: of \w+)?"
    r"(?:(?: (?!likely|probable|accurate)[\w-]+)? \w+s)?"
    rf"|(?:an?|one|another|any|some|the other|the usual|the typical)(?: [\w-]+){{0,2}}? {_AGENT}"
    rf"|{_AGENT}s|people|another|others?|the (?:\w+ )?key|wikipedia|(?:one|the other) half(?: of me)?"
    r"|(?:half|part) of me|the (?:previous|earlier) (?:solution|answer|response|attempt)"
    r"|(?:chat)?gpt(?:-\w+)?"
    rf"|the back of the book|the (?:other|opposing) (?:side|camp)|the internet"
    r"|the (?:\w+ )?(?:blog|website|web page|forum|video|podcast)(?: \w+)?|popular opinion"
    r"|conventional wisdom"
    rf"|folklore)"
)
# "The teacher's answer is B"
_POSSESSED = (
    rf"\b(?!authors?\b)(?:{_OTHERS})['’]s? (?:\w+ )?"
    r"(?:solution|answer|key|guess|choice|suggestion|pick|response|opinion|view)\b"
)
_PERSON_VERBS = (
    r"says?|said|claims?|claimed|argues?|asserts?|maintains?|answers?|answered|chooses?|choose|chose"
    r"|picks?|picked"
    r"|selects?|prefers?|thinks?|believes?|votes?|opts? for|go(?:es)? (?:with|for)|went (?:with|for)"
    r"|considers?|leans?"
    r"|settles? on|replie[sd]|reply|responds?|responded|insists?|contends?|proposes?|proposed|recommends?"
    r"|concludes?"
    r"|guess(?:es|ed)?|assumes?|circles?|ticks?|wrote|writes?"
)
_ASSERTS = (
    r"(?:(?:would|will|may|might|could|can|often|usually|still|also|even|then|simply|does|do|tend to"
    r"|tends to|is likely to|are likely to|generally|typically|sometimes|wrongly|erroneously) )*"
    rf"(?:{_PERSON_VERBS}|gives?|lists?|holds?|favou?rs?|names?|calls?|suggests?|reports?|has"
    rf"|have|shows?"
    r"|marks?)"
)
# "A naive pupil says", "one thinks": any indefinite subject of a verb that only persons have.
_ANYONE = (
    r"\b(?:an?|one|another|(?:my|your|his|her|our|their) (?!calculat|analys|answer|choice|guess|result|reason"
    r"|understand|money|vote|pick|intuition|best|final|first|initial)[\w'’-]+)(?: (?!that\b|the\b"
    r"|is\b)[\w'’-]+){0,3}"
    r" (?:(?:would|might|may|could|will) (?:say|claim|argue|answer|choose|pick|prefer|think|believe|vote"
    r"|opt for|go for)"
    r"|says|said|claims|claimed|argues|asserts|maintains|chooses|chose|picks|picked|prefers|thinks"
    r"|believes|opts for"
    r"|goes (?:with|for)|replies|responds|insists|contends|proposes|recommends|wrote|writes|guessed"
    r"|is (?:convinced|sure|certain|adamant|of the opinion|positive))\b"
)
# Hearsay in other words and languages.
_HEARSAY = (
    r"\b(?:has it that|heißt es|supposedly|allegedly|reportedly|rumou?r|legend has it|word has it"
    r"|i(?:['’]ve| have)? (?:heard|read (?:somewhere|that|online|elsewhere)|been told|was told)"
    r"|(?:laut|nach ansicht|nach meinung) (?:eine[rmns]*|einige[rn]|manche[rn]|meine[rsm]*|viele[rn])"
    r"|angeblich|es heißt|man sagt|(?:manche|einige|viele|andere)(?: \w+)? (?:\w+ )?(?:sagen|meinen"
    r"|würden|wählen"
    r"|antworten|nennen|behaupten|glauben|halten|geben)"
    r"|(?:selon|d['’]après) (?:certain\w*|une?|mon|ma|plusieurs|quelques|beaucoup|d['’]autres)"
    r"|(?:certains|plusieurs|quelques|d['’]autres|d['’]aucuns|beaucoup|un autre"
    r"|une?)(?: [\w']+){0,2}? (?:diraient|disent"
    r"|répond\w+|pensent|choisi\w+|optent|affirment|croient|donne\w*|dirait|indique\w*)|dit-on|paraît-il"
    r"|según (?:algun[oa]s|una?|mi|much[oa]s|vari[oa]s|otr[oa]s?|ciert[oa]s)"
    r"|(?:algun[oa]s|much[oa]s|vari[oa]s|otr[oa]s?|una?)(?: \w+){0,2}? (?:dicen?|dirían?|afirman?"
    r"|sostienen?|elig\w+"
    r"|respond\w+|opinan?|cre[en]+n?|indican?|da[n]?)|se dice que|dicen que)\b"
    r"|(?<!只)(?<!没)有(?:的|些|人)?[^,，。]{0,6}(?:说|认为|觉得|选(?!项)|写)|据说|听说"
)
# "My friend says the answer is B", "It is often said that", "Critics claim that": not the response's own
# word.
_REPORTED = re.compile(
    rf"\bthe (?:claim|idea|notion|suggestion|view|belief) that (?!is|are|does|was|do|can|has)"
    rf"|\bplease explain\b"
    # "You said B". In "if you think about it, B" and "I'd have said A, it is B" a comma ends the report.
    rf"|\byou (?:said|say|suggest(?:ed)?|claim(?:ed)?|think|thought|chose|picked|answered)\b[^,;]*$"
    rf"|\bi(?:['’]d| would) have (?:said|chosen|picked|answered|gone (?:with|for)|taken|guessed)\b[^,;]*$"
    rf"|\baccording to (?:my|an?|one|another|some|many|most|certain|other|your|his|her) \w+"
    rf"|\b(?:those|anyone|anybody|everyone|whoever|people|students?|readers?|{_AGENT}s?) who"
    rf" [^,.;]{{3,80}}$"
    rf"|\b(?:según|selon|d['’]après|laut|secondo) (?!autore?u?r?s?\b)(?:\w+ )?(?:{_OTHERS})\b"
    rf"|{_ANYONE}|{_POSSESSED}|{_HEARSAY}"
    rf"|{_SOMEONE}(?: (?:who|that|from|of|in|with) [^,.;]{{1,60}}?)? {_ASSERTS}\b"
    rf"|\b(?:{_OTHERS})\s+(?:\w+\s+)?(?:{_SAYING})\b|\b(?:many"
    rf"|most|some) (?:would )?(?:say|think|believe"
    rf"|claim|argue)\b|\bit is (?:often|sometimes|commonly|widely)? ?(?:said|claimed|thought|believed"
    rf"|argued)\b"
    r"|\b(?:at first (?:glance|sight)|on the face of it|superficially)\b|(?:朋友|老师|有人|有些人|很多人"
    r"|同学)[^，。]{0,6}(?:说|认为|觉得|选|会选)"
    r"|\b(?:i|we) (?:was|were|had been) (?:leaning|inclined|tempted|about to|going)\b|\bused to be\b"
    r"|\b(?:i|we) (?:first|initially|originally) (?:thought|said|believed|chose)|\bi thought (?:it|that"
    r"|the answer)",
    re.IGNORECASE,
)
# The clause up to the name is "the NP that … is", "what … is", "die Aussage, die … ist", "la que no … es".
_IDENTIFIES = re.compile(
    r"(?:^\W*|[,;:–—.(]\s*|\b(?:so|thus|therefore|hence|and|but|then|that|say|think|believe|guess|also"
    r"|daher|somit|donc|que|pues|tanto)\s+)"
    r"(?:l['’]|(?:the|this|what|whichever|which|among[^,]*,\s*the|of [^,]*,\s*the|der|die|das|was|wer|le|la"
    r"|les|ce qui|ce que|celle qui|celui qui|la cause"
    r"|el|lo que|la que|el que|los|il|lo|ciò che|quella che|o|a|aquela que)\b)"
    rf"[^?!;\n]{{2,160}}?\b(?P<copula>{_COPULA}|ist|lautet|sei|est|es|è|é|sera|será)"
    r"(?:\s+(?:therefore|thus|then|clearly|probably|likely|also|hence|in fact|actually|surely|certainly"
    r"|daher|also|somit|donc|la|le|el|per tanto|,)|[,:])*"
    r"[\s:*(\"“\[]*(?:option|choice|statement|letter|answer|aussage|affirmation|opción|la"
    r"|l['’])?[\s:*(\"“\[]*$",
    re.IGNORECASE,
)
# "不属于气态行星的是C", "错误的选项是C", "文中没有提到的是C".
_IDENTIFIES_UNSPACED = re.compile(
    r"的(?:一?[项個个]|选项|選項|说法|說法|行星|结论|现象|是|原因|答案|陈述|描述|[\u4e00-\u9fff]{1,4})?\s*(?:应该|應該|应"
    r"|就)?[是为為：:]\s*[\s*(（\"“]*$"
)
# "Only B is not a planet", "B alone", "All but B are", "Every planet except B is": one is told from the rest.
_ONLY_BEFORE = re.compile(
    r"(?:\b(?:only|nur|lediglich|seule?|seul|sólo|solo|solamente|soltanto|apenas|только)|只有"
    r"|仅)[\s(\"“*]*(?:option|选项"
    r"|answer|statement|die|la|le|el)?[\s(\"“*]*$",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    r"(?:\b(?:all|every|each)\b[^.;!?\n]{0,60}?\b(?:except(?: for)?|with the exception of|but|other than"
    r"|besides|apart from|save)"
    r"|\balle\b[^.;!?\n]{0,60}?\b(?:außer|bis auf)|\btou(?:te)?s\b[^.;!?\n]{0,60}?\b(?:sauf"
    r"|à l['’]exception de|excepté|à part"
    r"|hormis)"
    r"|\btod[ao]s\b[^.;!?\n]{0,60}?\b(?:excepto|menos|salvo)|\btutt[ei]\b[^.;!?\n]{0,60}?\b(?:tranne"
    r"|eccetto)|除了?)"
    r"[\s(\"“*]*(?:option|statement|for|la|die)?[\s(\"“*]*$",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"{_CLOSING}(?:alone|allein|seule?|sol[ao])\b", re.IGNORECASE)
_TURNED_DOWN_AFTER = re.compile(
    rf"{_CLOSING}(?:can|could|may|is|was|has|kann|peut|puede|wurde|a été"
    rf"|ha sido)\b[^.;,!?\n]{{0,20}}\b(?:ruled out|eliminated"
    rf"|excluded"
    r"|dismissed|discarded|rejected|ausgeschlossen|exclue?|éliminée?|descartad[ao]|descartar)\b",
    re.IGNORECASE,
)
# "Only B says", "nur B alle Bedingungen erfüllt": a verb or an object follows, not another option.
_GOES_ON = re.compile(
    rf"{_CLOSING}(?!(?:if|when|or|and|und|oder|et|ou|y|o|wenn|si|for|at|in case)\b)[^\W\d_]{{2,}}",
    re.IGNORECASE,
)
# "B alone works"
_FITS_ALONE = re.compile(
    rf"{_CLOSING}\w+ (?:works|fits|is|remains|satisfies|meets|matches|passes|holds|convient|encaja"
    rf"|passt)\b",
    re.IGNORECASE,
)
_OPEN_AFTER = re.compile(
    rf"{_CLOSING}(?:\w+\s+){{0,2}}?(?:might|may|could|seems? (?:wrong|unclear)|unclear|ambiguous|doubtful"
    r"|uncertain"
    r"|was (?:discussed|checked|considered)|remains to|needs)\b",
    re.IGNORECASE,
)
_CLEFT = re.compile(
    r"(?:\bit(?: is|['’]s| must be| has to be| can only be)|\bc['’]est|\bes ist|\bes|\bè)(?: therefore"
    r"| thus| donc| also| bien| clearly| precisely| indeed"
    r"| then)?[\s(*]*(?:option|answer|(?:l['’]|la )?(?:option|proposition|affirmation|réponse))?[\s(*]*$",
    re.IGNORECASE,
)
_CLEFT_AFTER = re.compile(
    rf"{_CLOSING}(?:that|which|who|qui|que|die|das|der|che)\s+(?!(?:is|was)\s+(?:wrong|incorrect|false)\b)",
    re.IGNORECASE,
)
_PREDICATE_OF_ALL = re.compile(
    rf"{_CLOSING}(?:(?:is|are|was|were|have|has|do|does|can|treffen|stimmen|sind|haben|ist|sont|ont|est|son"
    rf"|tienen|es"
    rf"|sono)\b|外|[，,]?\s*其)",
    re.IGNORECASE,
)
_ALL_ARE = re.compile(r"\b(?:is|are|was|were|sind|sont|son|sono|richtig|true|correct)\b", re.IGNORECASE)
# A capital NOT or EXCEPT is the question's own: "Therefore, option E is NOT an inner planet."
_ECHO = re.compile(r"(?<=\w )(?:NOT|EXCEPT|NEVER|LEAST|NICHT|KEIN|PAS|NO)\b")
# "Not true: C", "The one NOT listed: C", "False statement: C": a heading that says which one it is. "Ruled
# out: C" and
# "Not: C" only turn it down.
_EXCEPTION_HEADING = re.compile(
    rf"^\W*(?:(?:the|one|ones|die|la|le|el)\s+)*(?:{_EXCEPTIONAL}|{_EXCEPTIONAL_ELSEWHERE}"
    rf"|[^:]{{0,40}}\b(?:not|never|no|nicht|kein\w*|pas)"
    rf"\s+(?!correct|right|an? option|possible|richtig)[^:]{{3,60}})\W*[:：][\s*(\"“]*$",
    re.IGNORECASE,
)
# "The false statement is C", "Die Ausnahme ist C", "错误的说法是C".
_NAMES_EXCEPTION = re.compile(
    rf"(?:{_EXCEPTIONAL}|{_EXCEPTIONAL_ELSEWHERE})(?:\s+\w+){{0,4}}?\s*(?:{_COPULA}|ist|est|es|è|é|lautet|—"
    rf"|是|为|為|[:：])"
    r"(?:\s+(?:therefore|thus|then|also|donc|daher|clearly|probably))*[\s:*(\"“]*(?:option|statement"
    r"|aussage|choice|la|l['’])?[\s*(\"“]*$",
    re.IGNORECASE,
)
# "B ist falsch", "B est fausse", "B es falsa", "B是错误的": wrong in so many words, in other languages.
_PLAINLY_ELSEWHERE = re.compile(
    r"[^.;!?。\n]{0,24}?(?:falsch|nicht (?:richtig|korrekt)|fau(?:x|sse)|incorrect|pas (?:correct|juste|bon)"
    r"|fals[ao]|no es (?:correct|la respuesta)"
    r"|errad[ao]|sbagliat|неверн|неправильн|错|不对|不正确|不是答案|間違い|正しくない|틀)",
    re.IGNORECASE,
)
# "Since it is not hot it is B": the negation is that of a reason, not of the clause with the name.
_REASON = re.compile(
    r"\W*(?:so|thus|therefore|and|but)?\W*(?:since|as|because|although|though|while|whereas|given that|da"
    r"|weil|comme|puisque|como|ya que|因为|由于)\b",
    re.IGNORECASE,
)
# "The one I would not choose is B", "the option that we can rule out is B".
_TURNED_DOWN = re.compile(
    r"\b(?:mistake|trap|distractor|pitfall|last (?:\w+ )?to be (?:excluded|eliminated|ruled out)"
    r"|wrong (?:answer|choice|option|guess))s?\b|\b(?:i|we|you"
    r"|nobody)\b[^.;]{0,20}\b(?:not|never|n['’]t|rule[sd]? out|exclude[sd]?|eliminate[sd]?|reject(?:ed)?"
    r"|cannot)\b",
    re.IGNORECASE,
)
# "Falsch ist Aussage B", "Nicht erwähnt wird B", "Nicht dazu gehört B".
_FRONTED = re.compile(
    r"^\W*(?:(?:also|somit|daher|demnach)\s+)?(?:nicht\s+\w+\s+(?:ist|wird|wurde|gehört|passt)|(?:falsch"
    r"|unwahr|unzutreffend|incorrecta|falsa|fausse)"
    r"\s+(?:ist|es|est)\s+(?:also |somit |daher )?(?:die\s+|la\s+|l['’])?(?:aussage|behauptung|afirmación"
    r"|affirmation))"
    r"(?:\s+(?:also|somit|daher|die|der|das|aussage|option))*[\s(*]*$",
    re.IGNORECASE,
)
# "la respuesta no es", "non è", "не": languages that put the negation before the copula.
_NOT_BEFORE_COPULA = re.compile(r"(?:\bno|\bnon|\bnão|\bне|\bnie|\bn['’]|不|没|非)\s*$", re.IGNORECASE)
_RELATIVE_AFTER = re.compile(
    rf"{_CLOSING},?\s*(?:and\s+)?(?:which|that|but (?:that|this|it))(?:\s+(?:is|was)"
    rf"|['’]s)\s+(?:\w+\s+)?(?:wrong|incorrect|false|trap|distractor|misleading|not\b(?P<rest>[^.;,\n]*))",
    re.IGNORECASE,
)
# "B is false, which makes it the answer", "B does not fit and is therefore the answer".
_MAKES_ANSWER = re.compile(
    r"[^.!?\n]{3,100}?\b(?:mak(?:es|ing) (?:it|this|that)|so (?:it|this|that)(?: is|['’]s)|(?:and"
    r"|so)(?: therefore| thus| so| hence)? (?:it |this )?is(?: therefore| thus)?"
    r"|hence|therefore)\s+the\s+(?:right |correct )?(?:answer|choice|one|option|exception)\b"
    r"|[^.!?\n]{3,60}?\b(?:ist (?:also|somit|daher|damit)|est donc|es por (?:lo )?tanto|y es) (?:die "
    r"|la )?(?:richtige |bonne )?(?:antwort|réponse|respuesta)\b",
    re.IGNORECASE,
)
_WINDOW, _PLACES = 200, 40
"""Characters on each side of a name that are read, and places of one name that are read, the last ones."""
# "it is 6", "so 6", "= 6"
_SO_IS = re.compile(r"\b(?:so|as) (?:is|are|does|do|was|can|must) (?:option )?[\s(]*$", re.IGNORECASE)
_GIVES = re.compile(
    r"(?:\b(?:is|be|get|gives?|equals?|so|therefore|thus|hence|ist|est|es|è|é)"
    r"|[=:])[\s*$(\\{]*(?:boxed\{)?$",
    re.IGNORECASE,
)
_CLAUSE_BREAK = re.compile(
    r"[:;]\s(?=.*\w)|[,–—]\s*(?:but|so|yet|therefore|hence|thus|however|aber|also|daher|mais|donc|pero"
    r"|así que|(?=(?:the (?:correct|right|actual|true)|richtig|korrekt|tatsächlich|la bonne|la correcta)\b)"
    r"|ma|quindi|mas|но|поэтому)\b|但|所以|因此",
    re.IGNORECASE,
)
# "In a vacuum it would be B", "it'd be B in a vacuum": an answer to another question.
_WOULD_BE = re.compile(r"(?:\bwould|['’]d) (?:have been|be)[\s(*]*(?:option)?[\s(*]*$", re.IGNORECASE)
_ONLY_THERE = re.compile(
    r"^\W*(?:in (?:an?|that|such)|under|for an?|with(?:out)?|on)\b[^.;]{2,80}(?:\bwould|['’]d) (?:have been"
    r"|be)[\s(*]*(?:option)?[\s(*]*$",
    re.IGNORECASE,
)
_THERE = re.compile(r"[\s)]+(?:in (?:an?|that|such|the)|under|for an?|with(?:out)?)\b", re.IGNORECASE)
_INTERJECTION = re.compile(
    r"(?:^|[,.;…]\s*|\b(?:wait|oh|hmm|actually|sorry)\W+)(?:no|nope|nein|non|não|нет)\s*[:–—]\s*$",
    re.IGNORECASE,
)
# "B (first choice) or C (second choice), can't decide"
_UNDECIDED = re.compile(
    r"\b(?:can(?:['’]t|not) (?:decide|tell|choose)|hard to (?:say|tell)|not sure which|(?:do not"
    r"|don['’]t) know which)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    rf"\b(?:{_OTHERS})\s+(?:\w+\s+)?(?:{_SAYING})\s*[:,]?\s*[\"“'‘«][^\"”'’»]*$", re.IGNORECASE
)
_CONCEDES = re.compile(
    r"\W*(?:(?:so|and|but|still|then)\W+)?(?:while|whereas|although|though|even (?:though|if)|contrary to"
    r"|unlike|despite"
    r"|in spite of|no matter|whatever|regardless of|obwohl|während|anders als|entgegen|auch wenn|bien que"
    r"|alors que"
    r"|contrairement|malgré|même si|quoi que|aunque|mientras|contrario a|al contrario|pese a|a pesar)\b"
    r"|\W*(?:虽然|尽管)",
    re.IGNORECASE,
)
_QUOTED_AFTER = re.compile(r"[.)\s]*[\"”'’»]\s+(?:is|was) what (?:he|she|they|my|the)\b", re.IGNORECASE)
_AGREES = re.compile(r"[\s)\]\"”,]*(?:and|which)\s+(?:i|we)\s+(?:\w+ly\s+)?(?:agree|concur)\b", re.IGNORECASE)
# "Let me change my answer from A to B". What moves or changes from A to B by itself is no answer.
_CHANGES = re.compile(
    r"\b(?:chang|switch|revis|updat|correct|amend|mov)\w* (?:my|the|our)(?: \w+)? (?:answer|choice|response"
    r"|pick|selection|guess) from[\s(]*(?:option )?\(?(?-i:[A-Z])\)? to[\s(]*(?:option )?[\s(]*$",
    re.IGNORECASE,
)
# "The answer was B, or so I thought."
_SO_I_THOUGHT = re.compile(
    r"[^.;!?,\n]{0,60},? so not (?:that|this|it)(?: one)?\s*(?:[.!]|$)"
    r"|[^.;!?,\n]{0,60}, (?:wrongly|mistakenly|erroneously|incorrectly)\s*(?:[.!]|$)"
    r"|[^.;!?\n]{0,10}\b(?:or )?(?:so (?:i|we) thought|at least (?:that['’]s what )?(?:i|we) thought"
    r"|but i (?:disagree|do(?:n['’]t| not) (?:agree|think so)|doubt it))\b",
    re.IGNORECASE,
)
# "B is right only if the moon falls"
_ELSE = re.compile(r"\b(?:otherwise|else|if not|sonst|sinon|si no|de lo contrario)\b|否则", re.IGNORECASE)
_ONLY_IF = re.compile(r"[^.;,!?\n]{0,30}?\b(?:if|unless|provided|as long as|only when)\b", re.IGNORECASE)
_AFTER_ANNOUNCED = re.compile(r"\s-\s|:\s")
# "B ist der einzige, der …", "B est celle qui …", "B es la excepción", "B是唯一…".
_EXCEPTION_ELSEWHERE = re.compile(
    rf"{_CLOSING}(?:(?:ist|est|es|è|é)\s+|(?=diejenige|derjenige|die aus|die falsche|der einzige"
    rf"|die einzige))(?:(?:also|somit|daher|donc)\s+)?(?:(?:die|der|das|la|le|el"
    rf"|l['’])\s*)?(?:{_EXCEPTIONAL_ELSEWHERE}"
    r"|einzige\w*|diejenige|derjenige|(?:aussage|option|planet)\w*, (?:die|der|das)|seule?|celle|celui"
    r"|únic[ao]|que|unic[ao]|quella)\b"
    r"|\s*(?:项|選項|选项)?是(?:唯一|(?:不正确|错误|不符合|不恰当)的(?:一项|说法|选项|陈述)|例外)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A name in its clause."""

    before: str
    after: str
    announced: bool


_Rule = Callable[[_Clause], Claim | None]
_CLAIMS = 512
"""Clauses remembered. A text that says one thing a thousand times is read once."""


@lru_cache(_CLAIMS)
def read_claim(before: str, after: str, *, announced: bool = False, asked: bool = False) -> Claim:
    """Return what a clause says of what it names.

    Args:
        before: what the sentence says before the name, with the heading above it if there is one.
        after: what follows the name, as far as the reader looks. Only the clause that follows is read.
        announced: whether words such as "the answer is" come right before the name.
        asked: whether the sentence is a question.
    """
    if asked:
        return _answered(before, after)
    if _COMMON_WORDS.issuperset(_WORDS.findall(before.lower())) and _ENDS_LINE.match(after):
        # "The answer is (B).": most answers end so.
        return _ANSWER if announced else _MENTION
    clause = _Clause(without_certainty(before, by="therefore"), after, announced)
    said = _first(_RULES_BEFORE, clause)
    if said is not None:
        return said
    said = _first(_RULES_AFTER, clause)
    if said is not None and said.role != "answer":
        return said
    if _is_left_open(clause):
        return _HYPOTHETICAL
    return said or (_ANSWER if announced else _MENTION)


_WORDS = re.compile(r"\w+")
_WHICH_IS_IT = re.compile(
    r"^\W*(?:so |and |but |then |, )*(?:is|ist|est-ce|es|è|is it|ist es)(?: it| es| this| the (?:correct "
    r"|right )?answer| la"
    r"| die antwort)?(?: then| therefore)?[\s(]*(?:option)?[\s(]*$|是不是(?:选)?$",
    re.IGNORECASE,
)
_ENDS_QUESTION = re.compile(
    r"[\s)]*(?:(?:the )?(?:correct|right|answer|correct answer|right answer|it|then|richtig"
    r"|correcta?)[\s)]*)?",
    re.IGNORECASE,
)
_COMMON_WORDS = frozenset(
    [
        "the",
        "answer",
        "is",
        "correct",
        "option",
        "choice",
        "final",
        "therefore",
        "so",
        "thus",
        "hence",
        "a",
        "best",
        "right",
    ]
)
_ENDS_LINE = re.compile(r"[)\]}*\"'”]*[^\S\n]*[.!]?[^\S\n]*(?:\n|$)")


def _first(rules: Sequence[_Rule], clause: _Clause) -> Claim | None:
    """Return the claim of the first rule that has one."""
    return next((claim for rule in rules if (claim := rule(clause)) is not None), None)


def _answered(before: str, after: str) -> Claim:
    """Return what a question and the word after it say: "Is it B? Yes." gives B, "Is it B? No." denies it."""
    question, _, rest = after.partition("?")
    said = verdict(rest)
    asks = _WHICH_IS_IT.search(before) or not re.search(r"\w", before)  # "Is it B? Yes.", "B? Yes."
    if said == "right" and asks and _ENDS_QUESTION.fullmatch(question):
        return _RIGHT
    return _REJECTED if said == "wrong" else _HYPOTHETICAL


def _main_part(before: str) -> str:
    """Return the part of a sentence from its last break on: "If it is A, …, but" does not reach "it is B"."""
    breaks = list(_CLAUSE_BREAK.finditer(before))
    return before[breaks[-1].end() :] if breaks else before


def _after_concession(main: str) -> str:
    """Return what follows a concession: "Contrary to what many believe, it is B", "Even if some say A: B"."""
    if _CONCEDES.match(main) is None:
        return main
    return main[max(main.rfind(mark) for mark in ",，:") + 1 :]


def _is_left_open(clause: _Clause) -> bool:
    """Return whether the clause of a name wonders: "perhaps B", "it might be B", "B, maybe"."""
    near = re.split(r"[,;:]", clause.before)[-1]
    cut = _CUT_AFTER.search(clause.after)
    tail = clause.after[: cut.start() if cut else len(clause.after)]
    undecided = _UNDECIDED.search(_sentence_of(clause.after)) is not None
    return undecided or leaves_open(near) or leaves_open(tail)


def _sentence_of(after: str) -> str:
    return _SENTENCE_END.split(after)[0]


# The rules for what is before the name, in the order in which they are tried.


def _likewise(clause: _Clause) -> Claim | None:
    """Read "A is ruled out, and so is B": it says of B what was said before."""
    found = _SO_IS.search(clause.before)
    return _PLAINLY_REJECTED_BEFORE if found and denies(clause.before[: found.start()]) else None


def _compares(clause: _Clause) -> Claim | None:
    """Read "B rather than A", "Second choice: A", "change my answer from A to B"."""
    if _NOTHING_BUT.search(clause.before):
        return _RIGHT
    if _ALTERNATIVE_BEFORE.search(clause.before):
        return _RIGHT if _CHANGES.search(clause.before) else _ALTERNATIVE
    return _ALTERNATIVE if _SECOND_CHOICE.search(clause.before) else None


def _supposes(clause: _Clause) -> Claim | None:
    """Read "If it is B", "it would be B if it were hot", "B if n is even, otherwise C"."""
    main = _after_concession(_main_part(clause.before))
    # "If we count rings, E; otherwise B."
    otherwise = _ELSE.search(re.split(r"[.!?\n]", clause.after, maxsplit=1)[0]) is not None
    real = (_REAL_IF.search(main) or _PREMISE.search(main)) and not otherwise
    supposed = _SUPPOSED.search(main) and not real
    branch = otherwise and condition_of(clause.before, "")
    one_of_two = _LATER_BRANCH.match(clause.after) or (
        _EARLIER_BRANCH.search(clause.before) and condition_of("", clause.after)
    )
    within = _WITHIN.search(clause.before) or _IMPLIED.search(clause.before) or _EXAMPLE.search(clause.before)
    either = _EITHER.search(clause.before) and (
        _OR_NAME.search(_sentence_of(clause.after)) or _NAME.search(clause.before)
    )
    open_ = supposed or branch or one_of_two or within or either or _depends(clause.before, clause.after)
    return _HYPOTHETICAL if open_ else None


def supposes(text: str, place: int) -> bool:
    """Return whether the words before a place make a supposition of its clause: "If B is right"."""
    part = re.split(r"[,;.\n，。]", text[max(0, place - _CONTEXT) : place])[-1]
    return _SUPPOSED.search(part) is not None


def condition_of(before: str, after: str) -> str:
    """Return the kind of condition that a name has as one branch of several, or "".

    "If it is hot, B" and "B when it is hot" are "if", "B for large n" is "for". Two names with conditions of
    one kind, one after the other, leave the answer open.
    """
    names = list(_NAME.finditer(before))
    part = before[names[-1].end() :] if names else before
    found = _BRANCH_AFTER.match(after) or _BRANCH_BEFORE.search(part)
    if found is None:
        return "if" if _BRANCH_UNSPACED.search(before) else ""
    return found.lastgroup or ""


def _depends(before: str, after: str) -> bool:
    """Return whether a name hangs on a condition that follows it."""
    if _CONDITION.match(after) is None:
        return False
    counterfactual = _COUNTERFACTUAL.search(before[-60:]) is not None
    return counterfactual or "unless" in after[:12] or _OTHERWISE.search(_sentence_of(after)) is not None


def _reports(clause: _Clause) -> Claim | None:
    """Read "My friend says it is B". "As the textbook says, it is B" agrees with it."""
    main = _after_concession(_main_part(clause.before))
    if _QUOTED.search(clause.before) or _QUOTED_AFTER.match(clause.after):
        return _HYPOTHETICAL  # "He said: 'The answer is B'"
    # "As the key says, B", "The key says B and I agree"
    agrees = re.match(r"\W*(?:as|like)\b", main, re.IGNORECASE) or _AGREES.match(clause.after)
    reported = _REPORTED.search(main) and not agrees
    return _HYPOTHETICAL if reported else None


def _sets_apart(clause: _Clause) -> Claim | None:
    """Read "All but B are planets", "Only B is no planet", "It is B that is no planet"."""
    before, after = clause.before, clause.after
    all_but = _ALL_BUT.search(before)
    said_of_all = all_but and (_ALL_ARE.search(all_but[0]) or len(all_but[0].split()) > 6)
    if all_but and (said_of_all or _PREDICATE_OF_ALL.match(after)):
        return _EXCEPTION
    only = _ONLY_BEFORE.search(before)
    if only or _ALONE.match(after):
        if _TURNED_DOWN_AFTER.match(after):
            return _PLAINLY_REJECTED  # "Only B can be ruled out"
        if denied_after(after):
            return _EXCEPTION
        if (_GOES_ON.match(after) if only else _FITS_ALONE.match(after)) and not (
            denies(before) or leaves_open(before) or _OPEN_AFTER.match(after)
        ):
            return _RIGHT  # "Only B satisfies both conditions"
    cleft = _CLEFT.search(before) and _CLEFT_AFTER.match(after) and not denies_next(before)
    return _EXCEPTION if cleft else None


def _heads(clause: _Clause) -> Claim | None:
    """Read "The one NOT listed: B", "Nicht erwähnt wird B"."""
    fronted = _EXCEPTION_HEADING.search(clause.before) or _FRONTED.search(clause.before)
    return _EXCEPTION if fronted and not doubts_value(clause.before) else None


def _identifies(clause: _Clause) -> Claim | None:
    """Read "The option that is NOT round is B": a negation in the description of what is looked for."""
    before = clause.before
    if doubts_value(before):
        return _PLAINLY_REJECTED_BEFORE  # "I do not think that the one that is not round is B"
    if _NAMES_EXCEPTION.search(before) or _IDENTIFIES_UNSPACED.search(before):
        return _EXCEPTION if _is_denied_before(before) or _NAMES_EXCEPTION.search(before) else None
    found = _IDENTIFIES.search(before) if _is_denied_before(before) else None
    if found is None or _NOT_BEFORE_COPULA.search(before[: found.start("copula")]):
        return None
    # "The option that I would not choose is B" only turns it down.
    return _REJECTED_BEFORE if _TURNED_DOWN.search(found[0]) else _EXCEPTION


def _is_denied_before(before: str) -> bool:
    """Return whether the clause before a name has a denying word."""
    return denies_next(before) or _NEGATOR.search(_clause_before(before)) is not None


def _clause_before(before: str) -> str:
    return _CUT_BEFORE.split(before.rstrip(" :\"'“(["))[-1]


def _denies(clause: _Clause) -> Claim | None:
    """Read "It is not B", "we rule out B". "Since it has no moons it is B" denies something else."""
    if denies_next(clause.before):
        return _PLAINLY_REJECTED_BEFORE
    if _INTERJECTION.search(clause.before):
        return None  # "Wait, no: B"
    near = _clause_before(clause.before)
    return _REJECTED_BEFORE if _NEGATOR.search(near) and not _REASON.match(near) else None


# The rules for what follows the name.


def _adds_relative(clause: _Clause) -> Claim | None:
    """Read "B, which is wrong". "The answer is B, which is not a planet" tells more about it."""
    if _MAKES_ANSWER.match(clause.after):
        return _EXCEPTION
    if _ONLY_THERE.search(clause.before) or (_WOULD_BE.search(clause.before) and _THERE.match(clause.after)):
        return _HYPOTHETICAL
    if _SO_I_THOUGHT.match(clause.after):
        return _PLAINLY_REJECTED
    relative = _RELATIVE_AFTER.match(clause.after)
    if relative is None:
        return None
    if not relative["rest"] or _SAYS_RIGHT.match(relative["rest"].strip()):
        return Claim("rejected", "relative", plain=True)
    return _ANSWER if clause.announced else None


def _prefers(clause: _Clause) -> Claim | None:
    """Read "B is better than A", "B is less likely"."""
    if _ONLY_SEEMS.match(clause.after):
        return _PLAINLY_REJECTED  # "B looks right but isn't"
    if _BETTER.match(clause.after):
        return _RIGHT
    return _ALTERNATIVE if _WORSE.match(clause.after) else None


def _says(clause: _Clause) -> Claim | None:
    """Read "B is correct", "B does not fit", "B is the exception"."""
    predicate = _PREDICATE.match(clause.after)
    if predicate is None:
        return None
    rest = clause.after[predicate.end() :]
    negated = _NEGATED.match(rest)
    if predicate["is"] and negated is None:
        return _says_so(predicate["is"].lower(), rest)
    if _ECHO.search(clause.after[: predicate.end() + (negated.end() if negated else 0)]):
        return _EXCEPTION  # "Therefore, option E is NOT an inner planet"
    complement = rest[negated.end() :] if negated else rest
    refuses = _FITS if predicate["does"] else _SAYS_RIGHT
    plain = predicate["fails"] or refuses.match(complement) or not complement.strip(" .")
    return _PLAINLY_REJECTED if plain else _REJECTED


def _says_so(verb: str, rest: str) -> Claim | None:
    """Return the claim of a predicate without a negation."""
    for pattern, claim in _POSITIVE:
        if pattern.match(rest):
            return claim
    right = _SAYS_RIGHT.match(rest)
    if right is None:
        denied = _NEGATOR.search(without_certainty(_CUT_AFTER.split(rest)[0]))
        return _REJECTED if denied else None
    possible = verb.startswith(("may", "might", "could", "can"))
    elsewhere = verb.startswith("would") and _FOR_ANOTHER.match(rest)
    elsewhere = elsewhere or _ONLY_IF.match(rest, right.end())
    return _HYPOTHETICAL if possible or elsewhere else _RIGHT


_POSITIVE = (
    (_NOT_QUITE, _REJECTED),
    (_EQUAL, _RIGHT),
    (_IS_EXCEPTION, _EXCEPTION),
    (_IS_THE_ONE, _EXCEPTION),
    (_SECOND, _ALTERNATIVE),
    (_SAYS_WRONG, _PLAINLY_REJECTED),
)


def _denied_elsewhere(clause: _Clause) -> Claim | None:
    """Read "B ist die Ausnahme", "B ist falsch", "B不对": a clause without an English predicate."""
    after = clause.after
    if _PREDICATE.match(after):
        return None
    if _EXCEPTION_ELSEWHERE.match(after):
        return _EXCEPTION
    if clause.announced and (stop := _AFTER_ANNOUNCED.search(after)):
        after = after[: stop.start()]  # "Answer: C - not a planet"
    if not denied_after(after, announced=clause.announced):
        return None
    cut = _CUT_AFTER.search(after, 2)
    if _ECHO.search("x" + after[: cut.start() if cut else len(after)]):
        return _EXCEPTION  # "Option B ist NICHT eine Ursache"
    return _PLAINLY_REJECTED if _PLAINLY_ELSEWHERE.match(after) else _REJECTED


_RULES_BEFORE: tuple[_Rule, ...] = (
    _likewise,
    _compares,
    _supposes,
    _reports,
    _sets_apart,
    _heads,
    _identifies,
    _denies,
)
_RULES_AFTER: tuple[_Rule, ...] = (_adds_relative, _prefers, _says, _denied_elsewhere)


_VERDICTS = {
    "right": any_of(r"""
        yes; true; correct; right; ✓; ✔; ✅; ☑; richtig; ja; wahr; stimmt; korrekt; vrai; oui; juste;
        exacte?;
        verdader[oa]; sí; si; correct[oa]; ciert[oa]; ver[oa]; sim; certo; да; верно; 正确; 對; 对; 是;
        正しい; 예; 맞음
    """),
    "wrong": any_of(r"""
        no; not; false; incorrect; wrong; ✗; ✘; ❌; ✖; ☒; ☐; falsch; nein; unwahr; stimmt nicht; faux;
        fausse; non; incorrecte; fals[oa]; incorrect[oa]; errad[oa]; sbagliat[oa]; não; нет; неверн\w+;
        неправильн\w+; 错误; 錯誤; 错; 不正确; 不对; 否; 間違い; 아니오
    """),
}
VERDICT = (
    rf"[ \t)\].:：(–—-]*(?:{_VERDICTS['wrong']}|{_VERDICTS['right']})"
    r"(?![^\W\d_])(?!\s+(?:other|one|longer)\b)"
)
"""The regex of a verdict after an option: ") No", ": True", " ❌"."""
_VERDICT = re.compile(
    rf"[\s)\].:：(–—-]*(?:(?P<wrong>{_VERDICTS['wrong']})|(?P<right>{_VERDICTS['right']}))(?![^\W\d_])",
    re.IGNORECASE,
)


def verdict(after: str) -> Literal["right", "wrong", ""]:
    """Return the verdict that a line gives of the option that heads it: "A) No", "B: True", "C ❌"."""
    found = _VERDICT.match(after)
    return "" if found is None else "wrong" if found["wrong"] else "right"


def later_role(after: str, name: str) -> Role | None:
    """Return what a text that follows an answer makes of it by name, or None if it does not name it again.

    "Wait: it is not 6." rejects the answer "6". The last clause that rejects it or gives it again counts.

    Args:
        after: the text from the end of the answer on.
        name: the answer as it is written.
    """
    if not name.strip():
        return None
    places = re.compile(rf"(?<![\w.,]){re.escape(name.strip())}(?![\w]|[.,]\d)")
    found: Role | None = None
    for place in list(places.finditer(after))[-_PLACES:]:
        begin = max(0, place.start() - _WINDOW)
        before = _SENTENCE_END.split(after[begin : place.start()])[-1]
        rest = after[place.end() : place.end() + _WINDOW]
        stop = _SENTENCE_END.search(rest)
        claim = read_claim(before, rest, asked=stop is not None and "?" in stop[0])
        if claim.role == "rejected" and claim.plain:
            found = "rejected"
        elif claim.role == "answer" or (claim.role == "mention" and _GIVES.search(before)):
            found = "answer"
    return found


def turns_down(after: str) -> bool:
    """Return whether what follows an option that heads a line turns it down: "B) Wrong: …", "B is not right".

    "(D): nothing else fits" and "C. It is not a planet" give reasons for it.
    """
    if _CONDITION.match(after) and ("unless" in after[:12] or _OTHERWISE.search(_sentence_of(after))):
        return True  # "B, if it is hot, otherwise C"
    if verdict(after) == "wrong":
        return not re.match(r"[\W_]*(?:not|no|non)\s+(?:an? |other|one else)", after, re.IGNORECASE)
    clause = _Clause("", re.sub(r"^[\s)\].:：–—-]+", " ", after), announced=False)
    said = _prefers(clause) or _says(clause)
    # "(A) would be right had it been signed" is about another case.
    return said is not None and said.role in ("rejected", "alternative", "hypothetical")
