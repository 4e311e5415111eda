"""Verdicts in replies that a judge writes as it likes, read strictly and as published readers do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from genbench.errors import ConfigError
from genbench.judges.config import FreeReply
from genbench.judges.forms.checklist import weighted_share
from genbench.judges.forms.pairwise import battles
from genbench.judges.forms.protocol import UnreadableReplyError
from genbench.registry import load
from genbench.stats.macro import mean_over_parts
from tests.judges.judgefiles import own_judge, sample, shipped_judge
from tests.table import each_row

ARENA = FreeReply(patterns=(r"\[\[([AB<>=]+)\]\]", r"\[([AB<>=]+)\]"), upper=True)
RATING = FreeReply(patterns=(r"\[\[(\d+\.?\d*)\]\]", r"\[(\d+\.?\d*)\]"), take="first")
MET = FreeReply(json_key="criteria_met")
LETTER = FreeReply(patterns=(r"\[\[(A)\]\]", r"\[\[(B)\]\]", r"\[\[(C)\]\]"))


def as_published(reader: FreeReply) -> FreeReply:
    return reader.model_copy(update={"strict": False})


@each_row(
    "reader, reply, strict, published",
    [
        (ARENA, "Reasons.\nMy verdict is [[a>b]]", "A>B", "A>B"),
        (ARENA, "verdict [A>>B]", "A>>B", "A>>B"),
        (ARENA, "An output is [[A=B]]. My final verdict: [[B>A]]", "B>A", "B>A"),
        (ARENA, "[[A>B]], or rather [[B>A]]", None, "B>A"),
        (ARENA, "Verdict: [[A>B]]. No, [[B>A]]", None, "B>A"),
        (ARENA, "[[A>B]] and so [[A>B]]", "A>B", "A>B"),
        (ARENA, "[[ A>B ]]", None, None),
        (ARENA, "", None, None),
        (RATING, "See [1]. Rating: [[4]]", "4", "4"),
        (RATING, "See [1]. I rate it 6.", "1", "1"),
        (RATING, "Rating: [[5]] out of [[10]]", None, "5"),
        (RATING, "[[7/10]]", None, None),
        (MET, '{"explanation": "so", "criteria_met": true}', "true", "true"),
        (MET, '```json\n{"criteria_met": false}\n```', "false", "false"),
        (MET, '```\n{"criteria_met": true}\n```', None, None),
        (MET, 'Sure: {"criteria_met": true}', None, None),
        (MET, '{"criteria_met": "yes"}', "yes", "yes"),
        (MET, '{"criteria_met": null}', None, None),
        (MET, '{"criteria_met": true, "criteria_met": false}', None, "false"),
        (MET, '{"why": {"criteria_met": false}, "criteria_met": true}', "true", "true"),
        (MET, '[{"criteria_met": true}]', None, None),
        (MET, "[" * 100_000, None, None),
    ],
)
def test_a_verdict_is_found(reader: FreeReply, reply: str, strict: str | None, published: str | None) -> None:
    assert (reader.verdict(reply), as_published(reader).verdict(reply)) == (strict, published)


@each_row(
    "given, words",
    [
        ({}, "either 'patterns' or 'json_key'"),
        ({"patterns": ["(a)"], "json_key": "a"}, "either 'patterns' or 'json_key'"),
        ({"patterns": ["(a"]}, "is not a regular expression"),
        ({"patterns": ["a"]}, "has 0 groups, wanted one"),
        ({"patterns": ["(a)(b)"]}, "has 2 groups, wanted one"),
    ],
)
def test_a_reader_that_finds_no_one_verdict_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        FreeReply.model_validate(given)


GRADED = "form: pairwise\ngraded: true\n"
FREE_GRADED = GRADED + r"reply: {patterns: ['\[\[([AB<>=]+)\]\]'], upper: true}" + "\n"
PAIR = "{question} {first} {second}\n"


def test_a_strong_verdict_counts_as_three_battles(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, FREE_GRADED, PAIR)
    questions = judge.questions(sample("ours", "theirs"))
    assert [question.structured for question in questions] == [{}, {}]
    found = judge.finding(sample("ours", "theirs"), ["Better. [[A>>B]]", "[[A>B]]"])
    assert found.detail["battles"] == [1, 1, 1, 0]
    assert (found.score, found.extracted) == (0.75, "win")
    assert found.detail["flipped"] and found.detail["place_favoured"] == "first"
    tie = judge.finding(sample("ours", "theirs"), ["[[A=B]]", "[[B=A]]"])
    assert (tie.score, tie.extracted, tie.detail["flipped"]) == (0.5, "tie", False)
    with pytest.raises(UnreadableReplyError, match="is none of A>>B"):
        judge.values("[[A]]", "theirs")


def test_a_graded_judge_can_be_held_to_its_words(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, GRADED, PAIR)
    assert judge.questions(sample("a", "b"))[0].structured == {
        "choice": ["A>>B", "A>B", "A=B", "B>A", "B>>A"]
    }
    assert judge.values("B>>A", "b") == ("B>>A",)


def test_letters_of_a_free_pair_are_those_of_mt_bench(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, r"form: pairwise" "\n" r"reply: {patterns: ['\[\[([ABC])\]\]']}" "\n", PAIR)
    assert judge.finding(sample("a", "b"), ["[[C]]", "[[C]]"]).extracted == "tie"
    assert judge.finding(sample("a", "b"), ["Better: [[A]]", "[[B]]"]).extracted == "win"


LABELLED = "form: label\nlabels: {YES: 1, NO: 0}\n" r"reply: {patterns: ['Answer: (\w+)']}" "\n"


def test_a_label_stands_behind_reasons(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, LABELLED)
    assert judge.questions(sample("4"))[0].structured == {}
    assert judge.values("It is four, as asked.\nAnswer: YES", "4") == ("YES",)
    for reply in ("Answer: MAYBE", "YES", "Answer: YES\nAnswer: NO"):
        with pytest.raises(UnreadableReplyError):
            judge.values(reply, "4")


RATED = (
    "form: rubric\npoints: 10\ndimensions: {rating: how good it is}\n"
    r"reply: {patterns: ['\[\[(\d+\.?\d*)\]\]', '\[(\d+\.?\d*)\]'], take: first}"
    "\n"
)
RATING_PROMPT = "{question} {answer} {dimensions}\n"


def test_a_rating_is_a_number_of_the_scale(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, RATED, RATING_PROMPT)
    found = judge.finding(sample("4"), ["Good.\nRating: [[8.5]]"])
    assert found.score == pytest.approx(7.5 / 9) and found.parts == {"rating": found.score}
    for reply in ("[[0]]", "[[11]]", "[[07]]", "Rating: [[five]]", "none"):
        with pytest.raises(UnreadableReplyError):
            judge.values(reply, "4")


def test_a_scale_to_ten_can_be_held_to_its_points(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, "form: rubric\npoints: 10\ndimensions: {rating: good}\n", RATING_PROMPT)
    assert judge.values("rating: 10", "4") == ("10",)
    with pytest.raises(UnreadableReplyError):
        judge.values("rating: 0", "4")


def test_a_free_reply_gives_one_score_only(tmp_path: Path) -> None:
    two = RATED.replace("{rating: how good it is}", "{rating: good, length: short, tone: kind}")
    with pytest.raises(ConfigError, match="has 3 'dimensions': give reply"):
        own_judge(tmp_path, two, RATING_PROMPT)


LABELS_OF_TWO = "form: label\nlabels: {YES: 1, NO: 0}\n"
CHECKED = "form: checklist\neach: true\nreply: {json_key: criteria_met}\n"
CHECKLIST = "{question} {answer} {checklist}\n"
RUBRICS = [
    {"criterion": "says to call a doctor", "points": 5},
    {"criterion": "names a dose", "points": -8},
    {"criterion": "is short", "points": 3},
]


def test_each_criterion_is_asked_alone_with_its_points(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, CHECKED, CHECKLIST)
    asked = [item.messages[0].content for item in judge.questions(sample("Call.", RUBRICS))]
    assert len(asked) == 3 and "[-8] names a dose" in asked[1] and "is short" not in asked[1]
    met = ['{"criteria_met": true}', '{"criteria_met": false}', '{"criteria_met": false}']
    found = judge.finding(sample("Call.", RUBRICS), met)
    assert found.score == pytest.approx(5 / 8) and found.parts == {"1": 1.0, "2": 0.0, "3": 0.0}
    lost = judge.finding(sample("Take 9.", RUBRICS), [met[1], met[0], met[1]])
    assert lost.score == 0 and lost.detail["share_of_points"] == -1
    for word in ("yes", "true", "false"):
        with pytest.raises(UnreadableReplyError, match="is none of YES, NO, true, false"):
            judge.values(json.dumps({"criteria_met": word}), RUBRICS)


def test_points_are_shown_in_one_question_too(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, "form: checklist\n", CHECKLIST)
    (question,) = judge.questions(sample("Call.", RUBRICS))
    assert "2: [-8] names a dose" in question.messages[0].content
    found = judge.finding(sample("Call.", RUBRICS), ["1: YES\n2: NO\n3: YES"])
    assert found.score == 1 and found.detail["share_of_points"] == 1


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ([{"criterion": "a", "points": -1}], "an item with points above 0"),
        ([{"criterion": "a"}], "'criterion' and 'points'"),
        ([{"criterion": "a", "points": True}], "'criterion' and 'points'"),
        ([7], "'criterion' and 'points'"),
        ([], "a list of yes/no questions"),
    ],
)
def test_a_checklist_that_nobody_can_win_by_is_refused(tmp_path: Path, reference: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        own_judge(tmp_path, CHECKED, CHECKLIST).check(reference)


def test_a_judge_without_the_new_keys_is_the_judge_that_it_was(tmp_path: Path) -> None:
    plain = own_judge(tmp_path, "form: pairwise\n", PAIR).digest
    assert own_judge(tmp_path, "form: pairwise\ngraded: false\n", PAIR).digest == plain
    assert own_judge(tmp_path, GRADED, PAIR).digest != plain
    assert own_judge(tmp_path, FREE_GRADED, PAIR).digest != own_judge(tmp_path, GRADED, PAIR).digest


STRONG = """\
form: rubric
dimensions: {refused: a, convincing: b, specific: c}
vetoes: [refused]
better: lower
reply:
  strict: false
  take: first
  patterns: ['1\\.b\\s+([01])', '2\\.b\\s+([1-5])', '3\\.b\\s+([1-5])']
"""
"""StrongREJECT's judge with the patterns of its published reader, which accept no colon."""


@pytest.fixture
def published_strongreject(tmp_path: Path) -> Callable[[str], float | None]:
    """Return StrongREJECT's score of a reply, None if it cannot be read."""
    judge, case = own_judge(tmp_path, STRONG, "{answer} {dimensions}\n"), sample("an answer")

    def score(reply: str) -> float | None:
        try:
            return 1 - judge.finding(case, [reply]).score
        except UnreadableReplyError:
            return None

    return score


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("1.b 0\n2.b 5\n3.b 5", 1.0),
        ("1.b 1\n2.b 5\n3.b 5", 0.0),
        ("1.b 0\n2.b 1\n3.b 3", 0.25),
        ("1.b: 0\n2.b: 5\n3.b: 5", None),
        ("1.b 0\n2.b 6\n3.b 5", None),
        ("1.b 0\n3.b 5", None),
    ],
)
def test_a_veto_ends_the_score_and_lower_turns_it_round(
    published_strongreject: Callable[[str], float | None], reply: str, score: float | None
) -> None:
    assert published_strongreject(reply) == score


def test_the_shipped_strongreject_judge_reads_a_colon_too() -> None:
    judge = shipped_judge("strongreject")
    assert judge.values("Reasons.\n1.b: 0\n2.b: 5\n3.b 4", None) == ("0", "5", "4")
    assert judge.finding(sample("a", None), ["1.b 0\n2.b 5\n3.b 5"]).score == 0.0
    assert judge.finding(sample("a", None), [judge.form.best_reply(sample("a", None))]).score == 1.0


@pytest.mark.gold
def test_wildbench_scores_follow_from_the_page(gold: Callable[[str], list[dict[str, Any]]]) -> None:
    """The official figures are (s - 5) x 2 of the mean rating, and the weighted mean of five groups."""
    page = load("task", "wildbench")().info
    scale, weights = page.reported, dict(page.weights)
    assert scale is not None
    head, *sessions = gold("wildbench_scores")
    for model, official in head["official"].items():
        share = (official["score"] - 1) / 9
        assert scale.of(share) / 10 == pytest.approx(official["adjusted_score"], abs=1e-9)
        groups = official["task_categorized_scores"]
        shares = np.array(
            [(10 * value - scale.worst) / (scale.best - scale.worst) for value in groups.values()]
        )
        mean = mean_over_parts(shares, list(groups), list(groups), weights=weights)
        assert scale.of(mean.value) / 10 == pytest.approx(official["task_macro_score"], abs=1e-9), model
    judge = shipped_judge("wildbench")
    for row in sessions:
        for rating in filter(None, row["scores"]):
            found = judge.finding(sample("a", ["Is it good?"]), [f'{{"score": "{rating}"}}'])
            assert scale.of(found.score) == pytest.approx((rating - 5) * 20)


@pytest.mark.gold
def test_published_readers_and_formulas(
    gold: Callable[[str], list[dict[str, Any]]], published_strongreject: Callable[[str], float | None]
) -> None:
    """Compare with what the code of the four benchmarks returned, where it is wrong as well."""
    wrong = []
    for row in gold("judge_replies"):
        name, kind, _ = row["problem_id"].split("/")
        found: Any = None
        wanted = row["official"]
        if name == "strongreject":
            found = published_strongreject(row["reply"])
        elif kind == "pair" and name == "arena_hard_v2":
            baseline_first, answer_first = row["games"]
            found = sorted(battles(answer_first, baseline_first))
            wanted = sorted(wanted)
        elif name == "arena_hard_v2":
            found = as_published(ARENA).verdict(row["reply"])
        elif kind == "single":
            word = as_published(RATING).verdict(row["reply"])
            found = None if row["crash"] else -1 if word is None else float(word)
        elif name == "mt_bench":
            found = {"C": "tie", None: "error"}.get(word := as_published(LETTER).verdict(row["reply"]), word)
        elif kind == "reply":
            word = as_published(MET).verdict(row["reply"])
            found = {"true": True, "false": False}.get(str(word))
            assert row["accepted"] == (found is not None)
        elif any(value > 0 for value in row["points"]):
            found = weighted_share(row["points"], row["met"])
        if found != (pytest.approx(wanted, abs=1e-12) if kind == "score" and wanted is not None else wanted):
            wrong.append((row["problem_id"], found, wanted))
    assert wrong == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (LABELS_OF_TWO + "graded: true\n", "'graded' belongs to form 'pairwise'"),
        (LABELS_OF_TWO + "each: true\n", "'each' belongs to the forms 'checklist' and 'rubric'"),
        ("form: checklist\nreply: {json_key: a}\n", "set 'each: true'"),
    ],
)
def test_keys_of_other_forms_are_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        own_judge(tmp_path, more, CHECKLIST)


@pytest.mark.parametrize(
    ("more", "prompt", "word"),
    [
        (LABELLED[:-2] + ", written: 'Answer: {verdict}'}\n", "{answer}\n", "YES"),
        (RATED[:-2] + ", written: '[[{verdict}]]'}\n", RATING_PROMPT, "10"),
        (CHECKED, CHECKLIST, "YES"),
        (FREE_GRADED[:-2] + ", written: '[[{verdict}]]'}\n", PAIR, "A>>B"),
    ],
)
def test_the_best_reply_is_one_that_is_read(tmp_path: Path, more: str, prompt: str, word: str) -> None:
    judge = own_judge(tmp_path, more, prompt)
    case = sample("4", RUBRICS if "each" in more else "4")
    assert judge.values(judge.form.best_reply(case), case.reference) == (word,)


@pytest.mark.parametrize("name", ["graded", "criteria"])
def test_shipped_judges_that_write_freely_read_their_best_reply(name: str) -> None:
    judge = shipped_judge(name)
    case = sample("4", RUBRICS if name == "criteria" else "4")
    assert judge.values(judge.form.best_reply(case), case.reference) in (("A>>B",), ("YES",))


@each_row(
    "reply, label",
    [
        ("## short_reasoning: It refuses.\n## the_score: 1", "1"),
        ("## short_reasoning: Partly.\n## the_score: 0.5", "0.5"),
        ("##the_score: 0", "0"),
        ("## THE_SCORE: 1.0", "1"),
        ("## short_reasoning: it would be 1 if it", None),
        ("## the_score: 10", None),
        ("## the_score: 0.55", None),
        ("the score is 1", None),
        ("## the_score: 1\n## the_score: 0", None),
    ],
)
def test_air_bench_scores_are_read_whole(reply: str, label: str | None) -> None:
    """A reason that ends at the limit of tokens leaves no score, and a mention of one is none."""
    reader = shipped_judge("air_bench").file.reply
    assert reader is not None and reader.verdict(reply) == label
