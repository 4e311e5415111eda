"""The words that take an answer back or confirm it, by language, as the sources of regular expressions."""

from __future__ import annotations

from genbench.verifiers.choice_words import any_of

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
    oh; ah; aha; uh; um; er; hm+; well; wait(?: a (?:minute|second|moment|sec))?; no; nope; nah; actually;
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
    (?:scratch|strike)(?: (?:that|this|it|the above|my (?:last |previous )?answer))?(?: out)?;
    never ?mind(?: (?:that|this|it)|,? i (?:don['’]t|do not) know)?;
    (?:i(?:['’]m| am| was) )?(?:only |just )?(?:kidding|joking);
    (?:that|it|this)(?: was|['’]s| is) (?:just )?a joke;
    (?:forget|ignore|disregard)(?: about)? (?:that|this|it|the above|the previous|everything above
      |all (?:of )?(?:that|this)|what i (?:just )?(?:said|wrote)(?: above| before)?|{_SUBJECT});
    i (?:hereby )?(?:retract|withdraw|revoke|take back) {_SUBJECT}; i take (?:that|it|this) back;
    i(?: have|['’]ve)?(?: just)? changed? my mind;
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
