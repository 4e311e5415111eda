"""Recognises that an answer is taken back, corrected or crossed out, and not confirmed again."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from genbench.verifiers.language.word_lists import any_of, compiled, read_list

_SUBJECT = (
    r"(?:that|this|it|which|the above|all (?:of )?(?:that|this)"
    r"|(?:the|my|this|that)(?: (?:above|previous|last|first|earlier|final|given|stated|boxed))*"
    r" (?:answer|result|response|solution|box(?:ed)?(?: \w+)?|grid|output|conclusion|choice|value)"
    r"(?: above)?)"
)
_ADVERB = (
    r"(?: (?:in fact|actually|clearly|obviously|definitely|certainly|simply|just|also|totally|completely"
    r"|all))*"
)
_RIGHT = r"(?:right|correct|true|the (?:right |correct )?answer|it|so|valid|possible)"

LEADS = any_of(r"""
    correction; edit; update; oh; ah; aha; uh; um; er; hm+; well; wait(?: a (?:minute|second|moment|sec))?;
    no; nope; nah; actually;
    sorry; oops; whoops; but; however; hold on; hang on; on second thoughts?; on reflection;
    thinking about it;
    i (?:think|believe|guess|fear|see|realized?|realised?|notice|noticed)(?: now)?(?: that)?;
    (?:i(?:['’]m| am) )?(?:so |very |really )?(?:sorry|afraid)(?: but| that)?; apologies; my apologies;
    i apologi[sz]e(?: for (?:that|this|the (?:confusion|mistake|error)))?; pardon; so; then; in fact; just;
    okay; ok; damn; dang; argh; unfortunately; and; again; please; my (?:bad|mistake|error); ach; nein;
    nee; moment(?: mal)?; warte(?: mal)?; halt; stopp?; entschuldigung; verzeihung; aber; leider;
    tut mir leid; ich glaube; non; attendez; attends; désolée?; mais; en fait; excusez-moi; oups;
    je crois que; je pense que; espera; espere; un momento; perdón; perdona; disculpa; disculpe; lo siento;
    pero; en realidad; ups; creo que; aspetta; aspetti; scusa; scusate; scusi; ma; anzi; não; espere;
    desculpe; desculpa; mas; нет; подождите; погодите; стоп; извините; простите; но; ой; ах; к сожалению
""")
"""Words with which a change of mind may begin. By themselves they take nothing back, but for NO."""
LEADS_UNSPACED = any_of(r"""
    哦; 啊; 呃; 嗯; 不好意思; 不(?![^\W_]); 等一下; 等等; 等; 抱歉; 对不起; 但是; 但; 其实; 我想; 我觉得;
    看来; 好像; いや; いえ; 待って(?:ください)?; すみません; あ(?![^\W_]); 아니(?:요|오)?(?![^\W_]);
    잠깐(?:만요?)?; 죄송합니다
""")
NO = any_of("no; nope; nah; oops; whoops; nein; nee; non; oups; não; ups; нет; ой")
"""Leads that take an answer back if nothing else follows: "No, wait."."""
NO_UNSPACED = r"不(?![^\W_])|いや|いえ|아니(?:요|오)?(?![^\W_])"

TRAILS = any_of(r"""
    sorry; apologies; actually; again; now; here; there; though; after all; either; my bad; my mistake; too;
    i(?:['’]m| am) afraid; i think; i see; i realized?; oops; haha; lol; then; leider; sorry; désolée?; perdón
""")
TAKES_BACK = any_of(rf"""
    i (?:really |honestly |simply )?(?:can['’]t|cannot|can not|won['’]t|am unable to)
      (?: commit| decide| choose| tell)
      (?: to| on)?(?: (?:any )?(?:one|any|either|which|an answer|between (?:them|the two)))*;
    (?:that|this|it)(?: is|['’]s| was) (?:for|from|about) (?:an|the) ?other (?:question|problem|one|exercise);
    (?:scratch|strike)(?: (?:that|this|it|the above|my (?:last |previous )?answer))?(?: out)?;
    never ?mind(?: (?:that|this|it)|,? i (?:don['’]t|do not) know)?;
    (?:i(?:['’]m| am| was) )?(?:only |just )?(?:kidding|joking);
    (?:that|it|this)(?: was|['’]s| is) (?:just )?a joke;
    (?:forget|ignore|disregard)(?: about)? (?:that|this|it|the above|the previous|everything above
      |all (?:of )?(?:that|this)|what i (?:just )?(?:said|wrote)(?: above| before)?|{_SUBJECT});
    i (?:hereby )?(?:retract|withdraw|revoke|take back) {_SUBJECT}; i take (?:that|it|this) back;
    i(?: have|['’]ve)?(?: just)? changed? my mind; or not; (?:or|but) (?:is|was) it(?: really)?;
    (?:that|this|it)(?:['’]s| is| was) (?:a )?lie;
    none of (?:them|these|those|the (?:above|options|others))(?: is (?:right|correct))?;
    i(?:['’]m| am) (?:not|no longer) sure(?: any ?more)?; i (?:do not|don['’]t) know(?: any ?more)?;
    i (?:do not|don['’]t) want to (?:choose|answer|commit); {_SUBJECT} (?:can['’]t|cannot|can not) be;
    (?:that|this|it) (?:is|was)(?:n['’]t| not)(?: it)?;
    {_SUBJECT}(?: is| was| seems| looks| must be| are|['’]s){_ADVERB} (?:wrong|incorrect|false|untrue
      |invalid|mistaken|(?:a|my) mistake|an error|no good|not {_RIGHT});
    {_SUBJECT} (?:(?:can|could|is|was)(?:n['’]?t|not| not)|cannot|can['’]t)(?: be)?{_ADVERB} {_RIGHT};
    (?:that|this) (?:does(?:n['’]t| not)|did(?:n['’]t| not)|wo(?:n['’]t)) work;
    i(?:['’]m| am| was| have been|['’]ve been){_ADVERB} (?:wrong|mistaken|incorrect)(?: about (?:that
      |this|it|my answer))?;
    i(?: have|['’]ve)? (?:made|see|found|spotted|notice) (?:a|an|my|the) (?:\w+ )?(?:mistake|error
      |slip)(?: (?:in|with) (?:that|this|it|my \w+|the \w+|the above))?; wrong; incorrect; not;
    not (?:correct|right|true|really|so); i (?:don['’]t|do not) (?:believe|trust) (?:that|this|it);
    i (?:cannot|can['’]t|can not|am unable to|could ?n['’]t|could not|am not able to) (?:solve|answer|do
      |complete|finish|determine)(?: (?:that|this|it|the answer|(?:this|the) (?:problem|puzzle|task
      |question|grid)))?; i give up;
    (?:das|die antwort|meine antwort|es) (?:ist|war)(?: \w+)? (?:falsch|inkorrekt|nicht (?:richtig
      |korrekt|wahr)|ein (?:fehler|irrtum)|unsinn|quatsch); (?:das )?stimmt(?: \w+)? nicht; doch nicht;
    quatsch; unsinn; falsch; (?:da )?(?:ich )?hab(?:e)? (?:ich )?mich (?:geirrt|vertan|verrechnet);
    ich nehme (?:das|es|meine antwort) zurück; (?:vergiss|vergessen sie) (?:das|es|meine antwort);
    ich lag falsch; (?:das war )?(?:nur |bloß )?(?:ein )?(?:spaß|scherz);
    c['’](?:est|était) (?:faux|une erreur|incorrect|pas (?:ça|correct|juste|bon)); faux;
    ce n['’](?:est|était) pas (?:ça|cela|correct|juste|bon|la bonne réponse|exact); je me suis trompée?;
    j['’]ai (?:fait une erreur|tort); j['’]avais tort; oublie[zs]?(?: (?:ça|cela|ma réponse))?;
    erreur de ma part; je plaisante; je retire (?:ça|cela|ma réponse|ce que j['’]ai dit);
    (?:ma|cette|la) réponse (?:est|était) (?:fausse|incorrecte);
    (?:eso|esto)(?: \w+)? (?:es|era|está|fue) (?:incorrecto|falso|mal|erróneo|un error); está mal;
    es incorrecto; es falso; (?:eso )?no es (?:correcto|cierto|así|verdad);
    me (?:equivoqué|he equivocado|confundí); olvíd(?:elo|alo|ate de eso);
    olvid[ae] (?:eso|lo anterior|mi respuesta); cometí un error;
    (?:mi|la|esa|esta) respuesta (?:es|era) (?:incorrecta|errónea|falsa);
    retiro (?:eso|lo dicho|mi respuesta); (?:es|era) broma;
    (?:questo |ciò )?(?:è|era) (?:sbagliato|errato|falso); mi sono sbagliat[oa];
    non è (?:corretto|giusto); ho sbagliato; dimentica(?:lo|telo)?;
    (?:isso )?(?:está|é|era|estava) (?:errado|incorreto|falso); (?:eu )?me enganei; errei;
    (?:isso )?não está cert[oa]; esque[çc]e?a?(?: isso)?; cometi um erro;
    это (?:неверно|неправильно|ошибка|не так|была ошибка); я ошиб(?:ся|лась); неверно; неправильно;
    забудьте(?: об этом)?; шучу;
    (?:这|那|它|上面|以上|我|刚才)?(?:个|里)?的?(?:答案|结果|回答)?(?:是|似乎|有点)?(?:不对|错的?|错误的?
      |不正确|有误|不是这样)(?:的|了|啊|吧)?; 我(?:搞|弄|算|想|看|答|说)?错(?:了|啦); 搞错了;
    我?收回(?:.{{0,8}}); (?:我|只)?(?:是)?开(?:个)?玩笑(?:的|而已)?; 当我没说; 更正; 重新考虑;
    間違え(?:ました|た); 違います; (?:これは)?間違い(?:です|でした); 訂正(?:します)?; 取り消します;
    冗談です; 틀렸(?:습니다|어요|네요); 잘못(?:했습니다|됐습니다); 취소합니다; 농담(?:입니다|이에요);
    정정(?:합니다)?
""")
"""Whole sentences that take an answer back."""
WITHIN = any_of(r"""
    scratch that; strike that; i was wrong; i retract; i take (?:that|it) back; just kidding; i misread;
    i misunderstood; i made (?:a|an|my|the) (?:\w+ )?(?:mistake|error|slip);
    (?:that|this|it|which|the (?:(?:above|previous) )?(?:answer|result|box(?:ed)?(?: \w+)?)) ?(?:is|was
      |['’]s|are)(?: (?:in fact|actually|clearly))? (?:wrong|incorrect|not (?:right|correct|true
      |the answer)|a mistake|mistaken|false|an error); that (?:can['’]?t|cannot) be (?:right|correct);
    das ist falsch; das stimmt nicht; ich habe mich geirrt; c['’]est faux; je me suis trompée?;
    eso es incorrecto; me equivoqué; está mal; è sbagliato; mi sono sbagliato; está errado; me enganei;
    dat is fout; это неверно; я ошибся; to błąd
""")
"""What takes an answer back within a longer sentence too."""
WITHIN_UNSPACED = "不对|错了|搞错|有误|間違えました|違います|틀렸습니다"

CONFIRMS = any_of(r"""
    (?:oh |ah )?(?:yes|yep|yeah|yup|indeed|confirmed|exactly|correct(?! me)); good; great; fine; right; ok;
    okay; all good;
    (?:that|this|it|which|everything|the (?:answer|result)|my answer)(?: is|['’]s| was| looks| seems
      | does look)(?: (?:indeed|actually|in fact|still|all|really))* (?:right|correct|fine|good|ok|okay
      |true|consistent|valid|as expected);
    (?:so )?(?:the|my)(?: \w+)? answer (?:still )?(?:stands|holds|remains|is (?:right|correct));
    (?:it|that|this|everything) (?:checks out|holds|works); ja; (?:das )?stimmt; doch;
    das ist (?:richtig|korrekt); oui; c['’]est (?:bien )?(?:correct|juste|bon|exact|ça); si; sí;
    es correcto; eso es correcto; sim; está certo; è corretto; да; верно; это верно
""")
CONFIRMS_UNSPACED = "是的|没错|沒錯|对的|正确|答案正确|はい|正しい|네|맞습니다"

ELSEWHERE = any_of(r"""
    if; unless; whether; would; might; could; some(?:one|body)?; many; may;
    (?:try|test|check)(?:ing)? \$?(?:[a-z] ?= ?)?\d+; most; people; students?; others?;
    another; common; common(?:ly)?; typical; mistakes? is; trap; tempting; at first; first; initially;
    originally; beforehand; tell me; let me know; correct me; in case; should; options?; choices?;
    alternatives?; distractors?; statements?; candidates?; suppose; assume; assuming; claim(?:s|ed)?;
    guess(?:es)?; wenn; falls; anderen?; andere; manche; viele; si; autres?; certains; otr[oa]s?; algunos;
    otherwise; instead of; why
""")
"""Words that show that a sentence is about another answer or about a condition."""
ELSEWHERE_UNSPACED = (
    r"其他|其它|其余|剩下|另外|别的|选项|選項|如果|若|的话|没有|有人|为什么|他の|残り|다른|나머지|그\s?외"
)
GOES_ON = any_of(
    r"""
    to; before; initially; at first; earlier; above; if; when; unless; at the start; in thinking; in general;
    about(?! (?:that|this|it)\b); that(?! (?:is|was)\b);
    for (?:all|any|every|each|other|some|smaller|larger|general|negative|odd|even);
    for \$?(?:\\?[a-z]+|\d+) ?(?:=|<|>|≠|≥|≤|\\[gln]eq?);
    (?:(?:in|with|at|on) [^,]{1,40})?,? ?(?:which|that|but) (?:i|is|was|has been|have been)
      (?: have| had| now| then| since)* (?:fixed|corrected)
"""
)
"""What follows "I was wrong" if it is about something before the answer."""


Standing = Literal["withdrawn", "confirmed", ""]
"""What the text after an answer makes of it."""

# A sentence and its marks. The possessive repetitions keep texts of nothing but marks linear.
_PIECE = re.compile(r"([^.!?;\n。！？；…]++)([.!?;\n。！？；…]*+)")
_MARKS = " \t\r,、，:：()[]{}*_`~\"'“”‘’«»<>$\\—–-¡¿|/"
_PIECE_CHARS = 300
"""Characters of a sentence that are looked at. Nobody takes an answer back in a longer one."""

_LEADS = re.compile(rf"(?:{LEADS})(?![^\W\d_])[\s,、，:：—–-]*+", re.IGNORECASE)
_LEADS_UNSPACED = re.compile(rf"(?:{LEADS_UNSPACED})[\s,、，:：—–-]*+")
# "No, wait.", "Nein.", "不。": a whole sentence of leads with one of these takes an answer back.
_NO = re.compile(rf"(?<![^\W\d_])(?:{NO})(?![^\W\d_])|{NO_UNSPACED}", re.IGNORECASE)
# "Scratch that, sorry", "That is wrong", "I made a mistake": nothing else may be in the sentence.
_TAKES_BACK = re.compile(rf"(?:{TAKES_BACK})(?:[\s,—–-]+(?:{TRAILS}))*", re.IGNORECASE)
# "Checking again, I made a mistake in step 2": within a longer sentence only what is certain counts.
_WITHIN = re.compile(rf"(?<![A-Za-z])(?:{WITHIN})|{WITHIN_UNSPACED}", re.IGNORECASE)
# "Yes, that is right", "It checks out": they undo a withdrawal before them.
_CONFIRMS = re.compile(rf"(?:{CONFIRMS})(?![^\W\d_])|{CONFIRMS_UNSPACED}", re.IGNORECASE)
_ELSEWHERE = re.compile(rf"(?<![A-Za-z])(?:{ELSEWHERE})(?![A-Za-z])|{ELSEWHERE_UNSPACED}", re.IGNORECASE)
_LETTER = re.compile(
    r"(?<![A-Za-z'’])(?:[B-HJ-Z]|A(?!\s+[a-zà-ÿ])|A(?=\s+(?:is|says|has|would)\b))(?![A-Za-z'’])"
)
"""A letter that names an option, not the word "A" or "I"."""
_GOES_ON = re.compile(rf"\s*(?:{GOES_ON})(?![A-Za-z])", re.IGNORECASE)
_LIST_ITEM = re.compile(r"(?:[-*•–]|\d+\)|\([a-z]\))[ \t]")
"""A line of a list, which may be the option "no"."""
_MERELY_JOINS = re.compile(r"(?:but|and|so|then|however|aber|mais|pero|ma|mas|но)\b|但", re.IGNORECASE)
# A withdrawal that begins so is about what was named last: "Some say D. That is wrong."
_PRONOUN = re.compile(
    r"(?:that|this|it|which|wrong|incorrect|not|das|stimmt|c['’]|ce|faux|eso|esto|está|no\b|es\b|questo"
    r"|isso|это)",
    re.IGNORECASE,
)
# A question about the answer itself, "Is that right? No.", is answered by what follows.
_ASKS_ITSELF = re.compile(
    r"\W*(?:or|but) (?:is|was) it(?: really)?|oder\b.{0,12}|¿?o no|ou pas", re.IGNORECASE
)
"""A question that takes an answer back: "The answer is B. Or is it?"."""
_ABOUT_IT = re.compile(
    r"\b(?:right|correct|true|ok|okay|sure|it|that|this|richtig|correcte?|correcto)\s*$", re.IGNORECASE
)


def is_withdrawn(after: str, *, spared: Collection[str] = (), about_options: bool = False) -> bool:
    """Return whether the text after an answer takes it back. The arguments are those of `standing`."""
    return standing(after, spared=spared, about_options=about_options) == "withdrawn"


def standing(after: str, *, spared: Collection[str] = (), about_options: bool = False) -> Standing:
    """Return what the text after an answer makes of it: it takes it back, confirms it, or does neither.

    The last word on it counts: "Wait, no. Let me see. Yes, that is right." takes nothing back. A denial of
    something else takes nothing back either: "Some say D, but that is wrong."

    Args:
        after: what follows the answer, from its end.
        spared: sentences in lower case that are no denial here, such as an option with the text "no".
        about_options: whether a capital letter names an option, so that a sentence with one is about that.
    """
    found: Standing = ""
    previous = ""
    for match in _PIECE.finditer(after):
        piece = match[1].strip()
        if not piece or piece.strip(_MARKS).casefold() in spared:
            continue
        if ("?" in match[2] or "？" in match[2]) and not _ASKS_ITSELF.fullmatch(piece):
            asks_about_it = _ABOUT_IT.search(piece) and not _is_elsewhere(piece, about_options=about_options)
            previous = "" if asks_about_it else f"others: {piece}"
            continue
        found = _said_by(piece[:_PIECE_CHARS], previous, about_options=about_options) or found
        previous = piece[-_PIECE_CHARS:]
    return found


def _said_by(piece: str, previous: str, *, about_options: bool) -> Standing:
    """Return what one sentence makes of the answer. `previous` is the sentence before it."""
    core = _without_leads(piece)
    elsewhere = _is_elsewhere(previous, about_options=about_options)
    if not core:
        denies = _NO.search(piece) and not elsewhere and not _LIST_ITEM.match(piece)
        return "withdrawn" if denies else ""
    elsewhere = elsewhere and not _turns(piece, core)
    if _TAKES_BACK.fullmatch(core):
        return "" if elsewhere and _PRONOUN.match(core) else "withdrawn"
    if _CONFIRMS.match(core) and not _LIST_ITEM.match(piece):
        return "confirmed"
    return _said_within(piece, elsewhere=elsewhere, about_options=about_options)


def _said_within(piece: str, *, elsewhere: bool, about_options: bool) -> Standing:
    """Return whether a longer sentence takes the answer back somewhere in it."""
    within = _WITHIN.search(piece)
    if within is None or _GOES_ON.match(piece, within.end()):
        return ""
    before = piece[: within.start()]
    if _is_elsewhere(before, about_options=about_options) or (elsewhere and not before.strip(_MARKS)):
        return ""
    return "withdrawn"


def _without_leads(piece: str) -> str:
    """Return a sentence without the words with which a change of mind begins: "Hmm, wait, sorry, …".

    A lead that belongs to a withdrawal stays: "No es correcto".
    """
    core = piece.strip(_MARKS)
    before = ""
    while core and core != before and not _TAKES_BACK.fullmatch(core):
        before = core
        lead = _LEADS.match(core) or _LEADS_UNSPACED.match(core)
        core = core[lead.end() :].strip(_MARKS) if lead else core
    return core


def _turns(piece: str, core: str) -> bool:
    """Return whether a sentence begins with words such as "wait", which speak of the answer itself."""
    begun = piece.strip(_MARKS)
    return core != begun and _MERELY_JOINS.match(begun) is None


def _is_elsewhere(text: str, *, about_options: bool) -> bool:
    """Return whether words are about another answer, a condition or what others say."""
    return _ELSEWHERE.search(text) is not None or (about_options and _LETTER.search(text) is not None)


# "The final answer is", "Corrected answer:", "最终答案：": they count more than an earlier box.
_FINAL = re.compile(
    r"(?<![A-Za-z])(?:final|correct(?:ed)?|revised|actual|right)\s+(?:answer|result|value)s?(?:\s+(?:to|of"
    r"|for)\b[^.:\n]{0,60})?"
    r"(?:\s*[*_]*\s*[:：]\s*[*_]*|\s+(?:is|are|should\s+be|must\s+be)(?:\s+(?:therefore|thus|actually"
    r"|now))?\s*:?\s*)"
    r"|(?<![A-Za-z])(?:therefore|thus|hence|so),?\s+the\s+final\s+answer\s+is\s*:?\s*|最终答案(?:是|为|：|:)\s*",
    re.IGNORECASE,
)
# Where a response begins to doubt: "Wait", "I made a mistake", "Edit:", "That is wrong".
_MARKER = re.compile(
    r"(?<![A-Za-z])(?:wait|actually|correction|oops|sorry|scratch\s+that|on\s+second\s+thought"
    r"|let\s+me\s+correct|"
    r"i\s+(?:made|see)\s+(?:a|an|my|the)\s+(?:\w+\s+)?(?:mistake|error|slip)|i\s+was\s+wrong|i\s+misread"
    r"|no,|hmm|apologies|"
    r"i\s+retract|i\s+take\s+(?:that|it)\s+back|(?:just\s+)?kidding|never\s*mind|i\s+meant|make\s+(?:that"
    r"|it)\s+(?=[-\d$\\(])|"
    r"(?:edit(?:ed)?|update|erratum|korrektur|corrección|correzione|correção)\s*:|nein,|quatsch|pardon"
    r"|perdón|"
    r"entschuldigung|ich\s+meine?|je\s+voulais\s+dire|quise\s+decir|"
    r"(?:this|that|it|which|the\s+(?:above|previous)?\s*(?:answer|result|box(?:ed)?(?:\s+\w+)?))\s*(?:is"
    r"|was|['’]s|are)\s+"
    r"(?:in\s+fact\s+|actually\s+|clearly\s+)?(?:wrong|incorrect|not\s+(?:right|correct|true|the\s+answer)"
    r"|a\s+mistake|mistaken|"
    r"false|an\s+error)|不对|错了|等等)",
    re.IGNORECASE,
)
# The value of a correction by its verb: "it should be 6", "I now get 6", "make that 6".
_REPLACED = re.compile(
    r"(?<![A-Za-z])(?:(?:it|this|that|answer|value|result|total|number|sum)\s*(?:is|['’]s"
    r"|should\s+(?:really\s+)?be|must\s+be|"
    r"equals|becomes|would\s+be)|i\s+(?:now\s+)?(?:get|mean|meant)|ich\s+meine?|je\s+voulais\s+dire"
    r"|quise\s+decir|we\s+(?:now\s+)?get|make\s+(?:it|that))\s+"
    r"(?:(?:actually|really|in\s+fact|instead|therefore|thus|exactly|equal\s+to"
    r"|just)\s+)*(?=[-\d$√π(\[{\\+−.])",
    re.IGNORECASE,
)
# The value right after the marker: "Correction: 6", "Sorry, it is 6", "No, 6".
_DIRECT = re.compile(
    r"(?<![A-Za-z])(?:wait|actually|correction|oops|sorry|scratch\s+that|no|apologies|hmm|kidding"
    r"|never\s*mind|edit(?:ed)?|update"
    r"|erratum|korrektur|corrección|correzione|correção|nein|quatsch|pardon|perdón"
    r"|entschuldigung)[\s,:.!—–-]*"
    r"(?:(?:no|wait|actually|sorry|it|is|i|mean|rather|make|that|the|answer|should|be"
    r"|['’]s)[\s,:.!—–-]+)*(?=[-\d$√π(\[{\\+−])",
    re.IGNORECASE,
)


def final_announcements(text: str) -> list[int]:
    """Return where statements begin that are announced as final: "The final answer is", "Correct answer:"."""
    return [match.end() for match in _FINAL.finditer(text)]


def correction_start(text: str) -> int | None:
    """Return where a response begins to doubt what it said before: "Wait", "Actually", "that is wrong"."""
    marker = _MARKER.search(text)
    return marker.start() if marker else None


def replacements(text: str) -> list[int]:
    """Return where new values begin in a text that corrects an answer: "it should be 5", "actually 5"."""
    found = {match.end() for pattern in (_REPLACED, _DIRECT) for match in pattern.finditer(text)}
    return sorted(found)


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
_PAUSING = compiled(PAUSING)
# At the start of a sentence only: "Paris. Wait, it's London". In "I can't wait" and "sorry for the delay"
# it is none.
_SECOND_THOUGHT = re.compile(
    r"(?:^|[.!?\n])(?:[^\S\n]|[*_])*+(?:wait|no,|no\s+wait\b|oops|correction|scratch\s+that"
    r"|on\s+second\s+thought|sorry(?!\s+(?:for|about|it|that\s+it))|hmm|apologies"
    r"|(?:just\s+)?kidding|never\s*mind(?!\s+(?:the|about|those))|(?:edit|update)\s*:\s*(?:it|the\s+answer"
    r"|that|no|actually)\b"
    r"|actually,?\s+(?:it|the\s+answer|that|this|i)\b)",
    re.IGNORECASE,
)
_JUDGED = re.compile(r"(?:\w+ ){0,2}(?:not )?(?:right|correct|wrong|incorrect|false|mistaken)", re.IGNORECASE)
"""What follows "my answer is" and is no answer, if another one is given."""
_NAMES_ANOTHER = re.compile(
    r"\b(?:it|that|this|answer)(?:['’]s|\s+(?:is|was|should\s+be|must\s+be))\s+(?!(?:right|correct|fine"
    r"|true|ok)\b)[^\W_]"
    r"|\bi\s+mean",
    re.IGNORECASE,
)
"""What gives another answer after a second thought: "it's London"."""


def pauses(text: str) -> bool:
    """Return whether a text has words such as "wait", after which another option may replace one."""
    return _PAUSING.search(text) is not None


def second_thought(text: str) -> str | None:
    """Return a text from the sentence on that thinks again: "Wait, it's London". None if there is none."""
    found = _SECOND_THOUGHT.search(text)
    return None if found is None else text[found.start() :]


def judges_only(answer: str) -> bool:
    """Return whether what follows "my answer is" only says whether it is right: "not correct"."""
    return _JUDGED.fullmatch(answer) is not None


def names_another(text: str) -> bool:
    """Return whether a text gives an answer: "it's London". "It is right" does not."""
    return _NAMES_ANOTHER.search(text) is not None


_TILDES = re.compile(
    r"(?<![^\s*_(\[{:>])~~(?=[^\s~])(?!\\(?!boxed))(?:(?!~~)[^\n]){1,300}?(?<!\s)~~(?![^\s*_)\]}.,:;!?<])"
)
"""Markdown's strikethrough. In LaTeX ``~~`` is a wide blank: ``3~~5``, ``~~\\text{or}~~``."""
_ANY_TILDES = re.compile(r"~~[^~\n]{1,200}~~")
"""What Markdown shows as crossed out, formulas and parts of words too."""
_TAGS = re.compile(r"<(s|del|strike)>(?:(?!</?\1>)[^\n]){1,300}</\1>", re.IGNORECASE)


def without_strikethrough(text: str) -> str:
    """Return the text with a blank in place of each part of a line that is crossed out."""
    if "~~" in text:
        text = _TILDES.sub(" ", text)
    return _TAGS.sub(" ", text) if "</" in text else text


def without_any_tildes(text: str) -> str:
    """Return the text also without what is crossed out in a word or a formula. For texts without LaTeX."""
    return _ANY_TILDES.sub(" ", without_strikethrough(text))
