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
from typing import Literal

from genbench.verifiers.language import negation
from genbench.verifiers.language.negation import DENYING, SUPPOSING, doubts_value, without_certainty
from genbench.verifiers.language.word_lists import any_of, bounded, compiled, words

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
    possible; supported; consistent; reasonable; viable; ok(?:ay)?; sensible; justified; good; adequate;
    fitting;
    (?:\w+ ){0,2}(?:answer|option|choice|solution|one|pick|candidate|case|possibility)(?:s\b|\b)
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
    r"(?:\([^()]{0,80}\)\s*)?(?:[,–—]\s*(?:however|though|then|in fact|therefore|of course|clearly)\s*,?\s*)?"
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
    r"|one (?:possibility|option|candidate)|a (?:possibility|candidate|contender|possible))",
    re.IGNORECASE,
)
_ALSO = re.compile(r"(?:also|too|equally|likewise|just as|both)\b", re.IGNORECASE)
# "A would be right for the largest city", "B would be the answer to another question", "… if it were hot".
_FOR_ANOTHER = re.compile(
    r"[^.;!?\n]{0,60}?\b(?:if|had|were|when|unless|only|in \d+|for (?:the|a|an|most|other|another|large"
    r"|small)|to (?:a|an|the)"
    r" (?:\w+ )?(?:different|other|question))\b",
    re.IGNORECASE,
)
# "B is better than A", "B over A", "B rather than A", "B to A" (after "prefer"): what is before wins.
_BETTER = re.compile(
    rf"{_CLOSING}(?:(?:is|seems|fits|works|looks|would be|appears)\s+(?:(?:an?|the|far|much|slightly"
    rf"|clearly|still)\s+)*"
    r"(?:better|more|closer|likelier|superior|preferable|stronger)|beats|outperforms|trumps|wins"
    r"|over\s+(?:option\s+)?\(?(?-i:[A-Z]))\b"
    r"|[^.;!?\n]{0,12}(?:passt besser|convient mieux|va mieux|est mieux|es mejor|encaja mejor|è meglio"
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
    rf"{_CLOSING},?\s*(?:(?:only|but only|unless)\s+)?(?:if|unless|when|wenn|falls|si(?!\s+tratta)"
    rf"|se(?!\s+trata)|если)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:otherwise|else|if not|in which case|sonst|andernfalls|sinon|si no|de lo contrario|altrimenti"
    r"|senão|иначе)\b"
    r"|(?:if|when|wenn|si|se|если)\b[^.;!?\n]{1,60}\b(?:if|when|wenn|si|se|если|and|et|und|y)\b",
    re.IGNORECASE,
)

# --- Before a name: how the clause comes to it -----------------------------------------------------------

# "B is better than A", "B rather than A", "Second choice: A", "followed by C": the name that loses.
_ALTERNATIVE_BEFORE = re.compile(
    r"(?:(?<!no other )(?<!nothing other )\b(?:than|rather than|instead of|as opposed to|over|unlike"
    r"|from \(?(?-i:[A-Z])\)? to|followed by|besides|compared (?:with|to)"
    r"|prefer\w* \S{1,20} to|first,? then|so (?:is|does|would be)|as (?:is|does)|versus|vs\.?|similar to"
    r"|close to|préfère \S{1,12} à|prefier\w \S{1,12} a|preferisco \S{1,12} a"
    r"|(?:eher|besser|lieber|mehr) [^.;]{1,20} als|(?:plutôt|mieux|meilleure?) [^.;]{1,20}que|(?:mejor"
    r"|más) [^.;]{1,20}que"
    r"|vor|en vez de|en lugar de|invece di|ao invés de|чем|anstatt|statt|au lieu de)"
    r"|比起|与其选|胜过|优于|比)[\s(\"“*]*(?:option|answer|choice|la|die|l['’])?[\s(\"“*]*$",
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
    r"|\bone possibility(?:\s+is)?|\banother(?:\s+is)?"
    r"|次选|其次(?:是|选)?|第二选择是?)[\s:：(\"“*]*(?:option|choice)?[\s(\"“*]*$",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    rf"(?:^|[,;:–—(]\s*)\W*(?:(?:and|but|so|or|even|und|et|y)\s+)?(?:{bounded(words(SUPPOSING))})"
    r"|\b(?:in that case|in which case|otherwise|else|sonst|andernfalls|sinon|si no"
    r"|in this case the answer would|angenommen|nehmen wir an|wäre[n]?\b[^,;]{0,60}, wäre|supuesto que"
    r"|admettons|假设|假如|如果|要是)",
    re.IGNORECASE,
)
# "If I had to choose, B", "If we take the mass into account, the answer is B": the main clause still says it.
_REAL_IF = re.compile(
    r"^\W*(?:(?:so|and|but|now|then|also|even)\s*,?\s*)?if (?:i|we|you|one)\b(?! (?:were|are right|thought"
    r"|think))[^,;]{1,120}[,;]"
    r"|^\W*(?:as|since|because|although|though|while|whereas|even though|given|considering|after|when)\b",
    re.IGNORECASE,
)
_COUNTERFACTUAL = re.compile(
    r"\b(?:would|were|had|wäre|hätte|serait|sería|sarebbe|seria|бы)\b", re.IGNORECASE
)
_OTHERS = (
    r"friends?|teachers?|tutors?|professors?|colleagues?|classmates?|students?|users?|neighbou?rs?|brother"
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
# "My friend says the answer is B", "It is often said that", "Critics claim that": not the response's own
# word.
_REPORTED = re.compile(
    rf"\b(?:{_OTHERS})\s+(?:\w+\s+)?(?:{_SAYING})\b|\b(?:many|most|some) (?:would )?(?:say|think|believe"
    rf"|claim|argue)\b|\bit is (?:often|sometimes|commonly|widely)? ?(?:said|claimed|thought|believed"
    rf"|argued)\b"
    r"|\b(?:at first (?:glance|sight)|on the face of it|superficially)\b|(?:朋友|老师|有人|有些人|很多人"
    r"|同学)[^，。]{0,6}(?:说|认为|觉得|选|会选)"
    r"|\b(?:i|we) (?:first|initially|originally) (?:thought|said|believed|chose)|\bi thought (?:it|that"
    r"|the answer)",
    re.IGNORECASE,
)
_TURNS = re.compile(r"[,;:]\s*(?:but|yet|however|aber|mais|pero|ma|mas|но|但)|(?:但|不过)", re.IGNORECASE)
# The words of a verb group between a negation and the name: "is not going to be B", "would not choose B".
_VERB_GROUP = re.compile(
    r"(?:[\s,*\"“(]|(?:be|been|being|have|going|to|possibly|really|actually|likely|definitely|necessarily"
    r"|think|believe|say|sure|certain|that"
    r"|it|it's|is|the|this|option|answer|choice|correct|right|true|best|letter|choose|pick|select|go|with"
    r"|for|an?|said|called|named"
    r"|es|la|el|le|die|das|der|ist|est|é|è|est|wahr|dass|que|qu['’]|che|là|se|ce|soit|sea|sia|seja)\b)*$",
    re.IGNORECASE,
)
_NEGATOR = compiled(DENYING)
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
    r"(?:\b(?:only|nur|seule?|seul|sólo|solo|solamente|soltanto|apenas|только)|只有|仅)[\s(\"“*]*(?:option"
    r"|answer|statement|die|la|le|el)?[\s(\"“*]*$",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    r"(?:\b(?:all|every|each)\b[^.;!?\n]{0,60}?\b(?:except(?: for)?|but|other than|besides|apart from|save)"
    r"|\balle\b[^.;!?\n]{0,60}?\b(?:außer|bis auf)|\btou(?:te)?s\b[^.;!?\n]{0,60}?\b(?:sauf|excepté|à part"
    r"|hormis)"
    r"|\btod[ao]s\b[^.;!?\n]{0,60}?\b(?:excepto|menos|salvo)|\btutt[ei]\b[^.;!?\n]{0,60}?\b(?:tranne"
    r"|eccetto)|除了?)"
    r"[\s(\"“*]*(?:option|statement|for|la|die)?[\s(\"“*]*$",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"{_CLOSING}(?:alone|allein|seule?|sol[ao])\b", re.IGNORECASE)
_CLEFT = re.compile(
    r"(?:\bit(?: is|['’]s)|\bc['’]est|\bes ist|\bes|\bè)(?: therefore| thus| donc| also"
    r"| then)?[\s(*]*(?:option|answer|l['’]option)?[\s(*]*$",
    re.IGNORECASE,
)
_CLEFT_AFTER = re.compile(
    rf"{_CLOSING}(?:that|which|who|qui|que|die|das|der|che)\s+(?!(?:is|was)\s+(?:wrong|incorrect|false)\b)",
    re.IGNORECASE,
)
_PREDICATE_OF_ALL = re.compile(
    rf"{_CLOSING}(?:(?:is|are|was|were|have|has|do|does|can|sind|haben|ist|sont|ont|est|son|tienen|es"
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
    r"\b(?:mistake|trap|distractor|pitfall|wrong (?:answer|choice|option|guess))s?\b|\b(?:i|we|you"
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
    rf"|['’]s)\s+(?:\w+\s+)?(?:wrong|incorrect|false|not\b(?P<rest>[^.;,\n]*))",
    re.IGNORECASE,
)
# "B is false, which makes it the answer", "B does not fit and is therefore the answer".
_MAKES_ANSWER = re.compile(
    r"[^.!?\n]{3,100}?\b(?:mak(?:es|ing) (?:it|this|that)|so (?:it|this|that)(?: is|['’]s)|(?:and"
    r"|so)(?: therefore| thus| so| hence)? (?:it |this )?is(?: therefore| thus)?"
    r"|hence|therefore)\s+the\s+(?:right |correct )?(?:answer|choice|one|option|exception)\b"
    r"|[^.!?\n]{3,60}?\b(?:ist (?:also|somit|daher)|est donc|es por (?:lo )?tanto|y es) (?:die "
    r"|la )?(?:richtige |bonne )?(?:antwort|réponse|respuesta)\b",
    re.IGNORECASE,
)
_WINDOW, _PLACES = 200, 40
"""Characters on each side of a name that are read, and places of one name that are read, the last ones."""
# "it is 6", "so 6", "= 6"
_GIVES = re.compile(
    r"(?:\b(?:is|be|get|gives?|equals?|so|therefore|thus|hence|ist|est|es|è|é)"
    r"|[=:])[\s*$(\\{]*(?:boxed\{)?$",
    re.IGNORECASE,
)
_CLAUSE_BREAK = re.compile(
    r"[:;]\s(?=.*\w)|[,–—]\s*(?:but|so|therefore|hence|thus|however|aber|also|daher|mais|donc|pero|así que"
    r"|ma|quindi|mas|но|поэтому)\b|但|所以|因此",
    re.IGNORECASE,
)
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


def read_claim(before: str, after: str, *, announced: bool = False, asked: bool = False) -> Claim:
    """Return what a clause says of what it names.

    Args:
        before: what the sentence says before the name, with the heading above it if there is one.
        after: what follows the name, as far as the reader looks. Only the clause that follows is read.
        announced: whether words such as "the answer is" come right before the name.
        asked: whether the sentence is a question.
    """
    if asked:
        return _HYPOTHETICAL  # "Is it B?"
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


def _first(rules: Sequence[_Rule], clause: _Clause) -> Claim | None:
    """Return the claim of the first rule that has one."""
    return next((claim for rule in rules if (claim := rule(clause)) is not None), None)


def _main_part(before: str) -> str:
    """Return the part of a sentence from its last break on: "If it is A, …, but" does not reach "it is B"."""
    breaks = list(_CLAUSE_BREAK.finditer(before))
    return before[breaks[-1].end() :] if breaks else before


def _is_left_open(clause: _Clause) -> bool:
    """Return whether the clause of a name wonders: "perhaps B", "it might be B", "B, maybe"."""
    near = re.split(r"[,;:]", clause.before)[-1]
    cut = negation._CUT_AFTER.search(clause.after)
    tail = clause.after[: cut.start() if cut else len(clause.after)]
    return negation.leaves_open(near) or negation.leaves_open(tail)


def _sentence_of(after: str) -> str:
    return negation._SENTENCE_END.split(after)[0]


# The rules for what is before the name, in the order in which they are tried.


def _compares(clause: _Clause) -> Claim | None:
    """Read "B rather than A", "Second choice: A"."""
    if _SECOND_CHOICE.search(clause.before) or _ALTERNATIVE_BEFORE.search(clause.before):
        return _ALTERNATIVE
    return None


def _supposes(clause: _Clause) -> Claim | None:
    """Read "If it is B", "it would be B if it were hot", "B if n is even, otherwise C"."""
    main = _main_part(clause.before)
    supposed = _SUPPOSED.search(main) and not _REAL_IF.search(main)
    return _HYPOTHETICAL if supposed or _depends(clause.before, clause.after) else None


def _depends(before: str, after: str) -> bool:
    """Return whether a name hangs on a condition that follows it."""
    if _CONDITION.match(after) is None:
        return False
    counterfactual = _COUNTERFACTUAL.search(before[-60:]) is not None
    return counterfactual or "unless" in after[:12] or _OTHERWISE.search(_sentence_of(after)) is not None


def _reports(clause: _Clause) -> Claim | None:
    """Read "My friend says it is B". "As the textbook says, it is B" agrees with it."""
    main = _main_part(clause.before)
    reported = _REPORTED.search(main) and not re.match(r"\W*(?:as|like)\b", main, re.IGNORECASE)
    return _HYPOTHETICAL if reported else None


def _sets_apart(clause: _Clause) -> Claim | None:
    """Read "All but B are planets", "Only B is no planet", "It is B that is no planet"."""
    before, after = clause.before, clause.after
    all_but = _ALL_BUT.search(before)
    if all_but and (_PREDICATE_OF_ALL.match(after) or _ALL_ARE.search(all_but[0])):
        return _EXCEPTION
    if (_ONLY_BEFORE.search(before) or _ALONE.match(after)) and negation.denied_after(after):
        return _EXCEPTION
    cleft = _CLEFT.search(before) and _CLEFT_AFTER.match(after) and not negation.denies_next(before)
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
    return negation.denies_next(before) or _NEGATOR.search(_clause_before(before)) is not None


def _clause_before(before: str) -> str:
    return negation._CUT_BEFORE.split(before.rstrip(" :\"'“(["))[-1]


def _denies(clause: _Clause) -> Claim | None:
    """Read "It is not B", "we rule out B". "Since it has no moons it is B" denies something else."""
    if negation.denies_next(clause.before):
        return _PLAINLY_REJECTED_BEFORE
    near = _clause_before(clause.before)
    return _REJECTED_BEFORE if _NEGATOR.search(near) and not _REASON.match(near) else None


# The rules for what follows the name.


def _adds_relative(clause: _Clause) -> Claim | None:
    """Read "B, which is wrong". "The answer is B, which is not a planet" tells more about it."""
    if _MAKES_ANSWER.match(clause.after):
        return _EXCEPTION
    relative = _RELATIVE_AFTER.match(clause.after)
    if relative is None:
        return None
    if not relative["rest"] or _SAYS_RIGHT.match(relative["rest"].strip()):
        return Claim("rejected", "relative", plain=True)
    return _ANSWER if clause.announced else _REJECTED


def _prefers(clause: _Clause) -> Claim | None:
    """Read "B is better than A", "B is less likely"."""
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
    if not _SAYS_RIGHT.match(rest):
        denied = _NEGATOR.search(without_certainty(negation._CUT_AFTER.split(rest)[0]))
        return _REJECTED if denied else None
    possible = verb.startswith(("may", "might", "could", "can"))
    elsewhere = verb.startswith("would") and _FOR_ANOTHER.match(rest)
    return _HYPOTHETICAL if possible or elsewhere else _RIGHT


_POSITIVE = (
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
    if not negation.denied_after(after, announced=clause.announced):
        return None
    cut = negation._CUT_AFTER.search(after, 2)
    if _ECHO.search("x" + after[: cut.start() if cut else len(after)]):
        return _EXCEPTION  # "Option B ist NICHT eine Ursache"
    return _PLAINLY_REJECTED if _PLAINLY_ELSEWHERE.match(after) else _REJECTED


_RULES_BEFORE: tuple[_Rule, ...] = (
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
        yes; true; correct; right; ✓; ✔; ✅; ☑; richtig; ja; wahr; stimmt; korrekt; vrai; oui; juste; exacte?;
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
        before = negation._SENTENCE_END.split(after[begin : place.start()])[-1]
        rest = after[place.end() : place.end() + _WINDOW]
        stop = negation._SENTENCE_END.search(rest)
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
    return said is not None and said.role in ("rejected", "alternative")
