"""Recognises that an answer is denied: "I doubt that", "it is not true that", "rule out B"."""

from __future__ import annotations

import re

from genbench.verifiers.language.word_lists import any_of, read_list, read_table

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
    除此之外; without any doubt; not to worry; if not mistaken; if i(?:['’]m| am) not mistaken
""")
"""Phrases with a denying word that deny nothing."""

PAUSING = read_list(r"""
    (?:just )?kidding; joking; apologi[sz]e; apologies; never ?mind; oops; whoops; update; erratum;
    make (?:that|it); forget (?:that|it|this); changed my mind; i mean; quatsch; doch; ich meine?;
    je voulais dire; quise decir; korrektur; corrección; correzione; correção; correctie; исправление;
    更正; 訂正; 정정; 应该是; scratch that; i was (?:wrong|mistaken); i made a mistake; my mistake;
    that['’]?s (?:wrong|incorrect); that is (?:wrong|incorrect); i take (?:it|that) back;
    let me (?:correct|reconsider|recheck); 不对; 我错了; 重新考虑; 搞错了; das ist falsch;
    das stimmt nicht; c['’]est faux; me equivoqué; está mal; è sbagliato; está errado; это неверно;
    я ошибся; 間違えました; 違います; 틀렸습니다; edit(?:ed)?; now; strike that; my bad; i meant; pardon;
    désolé; perdón; perdona; disculpa; disculpe; scusa; scusi; desculpe; desculpa; perdão; извините;
    простите; entschuldigung; verzeihung; 抱歉; すみません; 죄송; c['’]est plutôt; wait; hmm; no;
    actually; on second thought; on reflection; hold on; or rather; sorry; 等等; 不; moment; halt; nein;
    attendez; attends; non; espera; aspetta; espere; não; wacht; nee; подождите; стоп; нет; 待って; いや;
    いえ; 잠깐; 아니; chwila; nie; bekle; hayır; vänta; nej; correction
""")
"""Words after which another conclusion replaces what was stated before."""


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
