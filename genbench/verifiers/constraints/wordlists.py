"""The word lists that IFBench's rules name: people, pronouns, stop words, conjunctions, marks."""

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
