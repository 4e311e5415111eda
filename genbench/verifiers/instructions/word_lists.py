"""Word lists: those that IFBench's rules name, and abbreviations for the splitter without tables."""

from __future__ import annotations

import re
import string


def words(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(listed.split())


PUNCTUATION = frozenset(string.punctuation)
"""The 32 ASCII marks. Others (dashes, curly quotes) are letters to IFBench."""
EDGE = string.punctuation + " "
_NO_MARKS = str.maketrans("", "", string.punctuation)

NAMES = re.compile(
    r"\b(?:Emma|Liam|Sophia|Jackson|Olivia|Noah|Ava|Lucas|Isabella|Mason|Mia|Ethan|Charlotte|Alexander|Amelia"
    r"|Benjamin|Harper|Leo|Zoe|Daniel|Chloe|Samuel|Lily|Matthew|Grace|Owen|Abigail|Gabriel|Ella|Jacob|Scarlett"
    r"|Nathan|Victoria|Elijah|Layla|Nicholas|Audrey|David|Hannah|Christopher|Penelope|Thomas|Nora|Andrew|Aria"
    r"|Joseph|Claire|Ryan|Stella|Jonathan)\b"
)

CONJUNCTIONS = words("and but for nor or so yet")

PRONOUNS = words(
    "i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself "
    "ourselves yourself yourselves himself herself itself themselves this that these those who whom whose "
    "which what whoever whomever whatever whichever anybody anyone anything everybody everyone everything "
    "nobody nothing somebody someone something each either neither both all some any none"
)

STOP_WORDS = words(
    "a about above after again against ain all am an and any are aren as at be because been before being "
    "below between both but by can couldn d did didn do does doesn doing don down during each few for "
    "from further had hadn has hasn have haven having he her here hers herself him himself his how i if "
    "in into is isn it its itself just ll m ma me mightn more most mustn my myself needn no nor not now o "
    "of off on once only or other our ours ourselves out over own re s same shan she should shouldn so "
    "some such t than that the their theirs them themselves then there these they this those through to "
    "too under until up ve very was wasn we were weren what when where which while who whom why will with "
    "won wouldn y you your yours yourself yourselves"
)
"""nltk's stop words without an apostrophe, which a run of word characters can equal."""


def unmarked(text: str) -> str:
    """Return `text` without the ASCII marks."""
    return text.translate(_NO_MARKS)


ABBREVIATIONS = words(
    # forms of address, ranks, degrees
    "mr mrs ms messrs mme dr drs prof rev hon sr jr st gen col maj capt cpt lt sgt cpl pvt adm cmdr gov sen "
    "rep pres supt esq ph.d m.d b.a m.a b.sc m.sc d.d.s ll.d m.b.a "
    # companies and places
    "inc corp ltd co cos bros llc plc dept dist assn univ ave blvd rd hwy mt ft "
    "u.s u.k u.n e.u u.s.a d.c n.y l.a "
    # months and days
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues thu thur thurs fri "
    # latin and editorial
    "e.g i.e cf viz vs v al ca approx "
    "fig figs vol vols pp eds trans "
    # times and measures
    "a.m p.m a.d b.c oz lb lbs ft sq hr hrs min est "
    # american states
    "ala ariz calif colo conn del fla ind kan ky md mich minn mo mont neb nev okla tenn tex va vt "
    "wis wyo"
)
"""Lower-case, without the final dot. Single letters need no entry: Punkt knows initials. Words that often
end a sentence themselves ("wed", "ill", "ore") are left out."""
