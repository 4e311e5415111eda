"""Words by language that announce an answer, join two, deny one, or take one back.

The tables are data. A word is here because a model wrote it or a report names it (docs/verdicts.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Table = Mapping[str, tuple[str, ...]]
"""Words by language. Each word is the source of a regular expression."""


def table(text: str) -> Table:
    """Return the words of a text: a language and a colon, then its words, parted by semicolons."""
    pieces = re.split(r"^\s*([a-z]{2}): ", text, flags=re.MULTILINE)
    return {
        language: tuple(word for piece in found.split(";") if (word := " ".join(piece.split())))
        for language, found in zip(pieces[1::2], pieces[2::2], strict=True)
    }


def alternation(*tables: Table) -> str:
    """Return a regex alternation of all words of the tables, longest first."""
    words = {word for by_language in tables for group in by_language.values() for word in group}
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_NO_BLANKS = frozenset({"zh", "ja", "ko", "th"})
"""Languages whose words may touch what follows them."""


def words_before(*tables: Table) -> str:
    """Return the alternation with an end of a word after it, in languages that part words by blanks."""
    touching = [{k: v for k, v in table.items() if k in _NO_BLANKS} for table in tables]
    parted = [{k: v for k, v in table.items() if k not in _NO_BLANKS} for table in tables]
    return rf"(?:(?:{alternation(*parted)})(?!\w)|(?:{alternation(*touching)}))"


def whole_words(*tables: Table) -> str:
    """Return the alternation with borders where its words have letters of scripts that use blanks."""
    return rf"(?<![a-zà-ÿа-я])(?:{alternation(*tables)})(?![a-zà-ÿа-я])"


ANSWER = table("""
    en: answer; answers; ans
    zh: 答案; 答
    de: antwort; lösung
    fr: réponse
    es: respuesta
    it: risposta
    pt: resposta
    nl: antwoord
    ru: ответ; ответом
    uk: відповідь
    ja: 答え; 正解; 解答; 答
    ko: 정답; 답
    pl: odpowiedź; odpowiedzią
    cs: odpověď
    tr: doğru cevap; cevap; yanıt
    ar: الإجابة الصحيحة; الإجابة النهائية; الإجابة; الجواب الصحيح; الجواب
    fa: پاسخ
    hi: उत्तर
    bn: উত্তর
    te: సమాధానం
    th: คำตอบที่ถูกต้อง; คำตอบ
    vi: đáp án; câu trả lời
    id: jawaban; jawabannya
    sw: jibu
    ro: răspunsul; răspuns
    sv: svar; svaret
    fi: vastaus
""")
"""Nouns for "answer"."""

OPTION = table("""
    en: option; options; choice; letter; alternative; statement
    zh: 选项; 選項; 说法; 一项; 項目
    de: option; aussage
    fr: option; proposition
    es: opción
    it: opzione
    pt: opção; alternativa
    ru: вариант
    ja: 選択肢
    ko: 선택지
    ar: الخيار
    th: ข้อ
    hi: विकल्प
    vi: phương án
""")
"""Nouns for "option". With a word for "right" before it, or before a letter, it announces an option."""

COPULA = table("""
    en: is; are; was; would be; should be; must be; will be; has to be; remains; becomes
    zh: 应该是; 应为; 應為; 应是; 是; 为; 為
    de: ist; lautet; sind; beträgt; wäre
    fr: est; sont; serait
    es: es; son; sería
    it: è; sono; sarebbe
    pt: é; são; seria
    nl: is; zijn; luidt
    ru: это; является; равен; равна; равно
    ja: は; が
    ko: 은; 는; 이; 가
    pl: to; jest; brzmi
    cs: je
    ar: هي; هو
    hi: है
    bn: হলো; হল
    th: คือ
    vi: là
    id: adalah
    sw: ni
    ro: este
    sv: är
    fi: on
""")
"""Forms of "to be" between the noun and the answer."""

FILLERS = table("""
    en: therefore; thus; hence; then; clearly; definitely; certainly; indeed; simply; probably; likely;
        most likely;
        actually; obviously; also; the; just; given by; option; choice; letter; answer; equal to; now;
        either; about;
        approximately; exactly; only; that of; both; in fact; of course; labeled; labelled
    zh: 选项; 選項; 就; 應該; 应该; 选择; 选
    de: daher; also; somit; wahrscheinlich; die; der; option; antwort
    fr: donc; probablement; la; le; option; réponse
    es: por tanto; entonces; probablemente; la; el; opción
    it: quindi; dunque; la; opzione
    pt: portanto; então; opção
    ru: вариант; буква
    ja: 選択肢
    ko: 번; 선택지
    ar: الخيار
    th: ข้อ
    vi: phương án
""")
"""Words that may come between the copula and the answer."""

RIGHT = table("""
    en: correct; right; best; true
    zh: 正确; 正確; 对的; 符合题意; 符合題意; 最符合; 最佳; 最合适; 最恰当; 最准确; 最合理
    de: richtig; richtige; korrekt; korrekte
    fr: correcte; correct; juste; bonne réponse; bonne
    es: correcta; correcto
    it: corretta; corretto; giusta
    pt: correta; correto; certa
    nl: juist; juiste
    ru: верен; верна; верно; верный; правильный; правильная; правильно
    ja: 正しい; 正解
    ko: 맞습니다; 맞다; 정답; 옳
    pl: poprawna; poprawny; prawidłowa
    tr: doğru
    ar: الصحيح; صحيح; الصحيحة
    hi: सही
    bn: সঠিক
    th: ถูกต้อง
    vi: đúng
    id: benar
    sv: rätt; korrekt
""")
"""Words that call an option right."""

WRONG = table("""
    en: incorrect; wrong; false; not correct; not right; not true
    zh: 错误; 錯誤; 不正确; 不正確; 不对; 不符合题意; 不符合; 错
    de: falsch; inkorrekt
    fr: fausse; faux; incorrecte; incorrect
    es: incorrecta; incorrecto; falsa
    it: errata; sbagliata
    pt: incorreta; errada
    ru: неверно; неверен; неверна; неправильно
    ja: 間違い; 誤り; ではありません; ではない
    ko: 아닙니다; 틀렸습니다; 틀렸
""")
"""Words that call an option wrong."""

CHOOSE = table("""
    en: choose; pick; select; go with; say; conclude with; settle on; opt for
    zh: 故选; 应选; 選; 选; 选择
    ja: を選ぶ
""")
"""Verbs before a chosen option."""

CONCLUDE = table("""
    en: therefore; thus; hence; so; consequently; in conclusion; in summary; overall; it must be; this means;
        this is;
        it is; that leaves; leaving
    zh: 因此; 所以; 故; 综上; 综上所述; 可见; 由此可见
    de: daher; also; somit; folglich
    fr: donc; ainsi
    es: por lo tanto; por tanto; entonces; así que
    it: quindi; dunque; pertanto
    pt: portanto; logo; então
    nl: dus; daarom
    ru: значит; итак; следовательно; таким образом
    ja: したがって; よって; つまり
    ko: 따라서; 그러므로
    id: jadi
    vi: vậy; do đó
""")
"""Words that begin a conclusion."""

JOINTS = table("""
    en: and; or; and/or; as well as; through; to; nor
    zh: 和; 或; 或者; 与; 及
    de: und; oder; noch
    fr: et; ou; ni
    es: y; o; e; ni
    it: e; o; né
    pt: e; ou
    nl: en; of
    ru: и; или
    ja: と; または
    ko: 와; 과; 또는
    sv: och; eller
""")
"""Words that join two answers into one statement, which is a hedge if one is asked for."""

DENIALS = table(r"""
    en: not; no; isn['’]?t; wasn['’]?t; aren['’]?t; never; neither; hardly; cannot be; can['’]t be;
        anything but; anyone but; except;
        rather than; other than; instead of; wouldn['’]t; won['’]t; don['’]t; nobody; \\neq?; ≠
    zh: 不是; 不; 非
    de: nicht; kein; weder
    fr: pas; n['’]est pas; ni
    es: no; ni
    it: non; né
    pt: não
    nl: niet
    ru: не
    pl: nie
    vi: không
    id: bukan
    sv: inte
""")
"""Words that deny what follows them."""

NOTHING = table(r"""
    en: none; none of (?:the )?(?:above|these|them|those|options).*; n/?a; unknown; not given;
        not enough information;
        (?:i )?(?:do not|don['’]t) know; (?:i )?(?:am|['’]m) not sure; cannot be (?:determined|answered).*;
        can['’]t be determined;
        undetermined; unclear; no answer; not available; insufficient information
    zh: 无; 以上都不对; 以上都不是; 无法确定; 不知道
""")
"""What an announcement says that gives no answer, and so replaces an earlier one."""

RETRACTIONS = table(r"""
    en: wait; wait,? no; no,? wait; wait a (?:moment|minute|second);
        (?:wait,? |actually,? |hmm,? )?(?:that|this|it)(?: answer| result)?
        (?:is|['’]s|was|looks|seems)(?: actually)?
        (?:wrong|incorrect|not right|not correct|false|a mistake|an error);
        (?:actually,? |hmm,? )?(?:that|this|it) (?:can['’]?not|can['’]t) be (?:right|correct|true|it);
        scratch that; strike that; forget that;
        never ?mind; just kidding;
        (?:oops,? |sorry,? )?(?:i|i['’]ve|i have) ma[dk]e (?:a|an) (?:\w+ )?(?:mistake|error); i was wrong;
        i am wrong; i['’]m wrong; correction; edit; i (?:take|retract) (?:that|it)(?: back)?; my mistake;
        my bad; oops; sorry;
        ignore (?:that|this)(?: answer)?; disregard (?:that|this); on second thought; (?:actually|hmm),? no;
        no; nope; not quite; or rather;
        let me (?:re-?check|re-?do|re-?consider|start over|try again|think again)
    zh: 等等; 不对; 错了; 等一下; 我错了; 这是错的; 这个答案是错误的; 更正; 不
    de: moment; halt; das ist falsch; falsch; nein; das stimmt nicht; korrektur
    fr: attendez; attends; non; c['’]est faux; correction; erreur
    es: espera; no; eso es incorrecto; está mal; corrección
    it: aspetta; no; è sbagliato; correzione
    pt: espera; não; está errado; correção
    ru: подождите; нет; это неверно; это неправильно
    ja: 待って; 違います; 間違いです; 訂正
    ko: 잠깐; 아니요; 틀렸습니다
""")
"""Sentences that take back what was stated before them."""

NEW_QUESTION = table(r"""
    en: question; q; problem; exercise; example question; new question; next question; human; user;
        instruction
    zh: 问题; 題目; 题目; 问
    de: frage
    fr: question
    es: pregunta
    ru: вопрос
    ja: 問題; 質問
    ko: 문제; 질문
""")
"""Words at the beginning of a line that open another question, before a number and a colon."""
