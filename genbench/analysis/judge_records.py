"""Records about a judge's verdicts beyond their mean: cascades, pairs and attempts."""

from __future__ import annotations

from pydantic import Field

from genbench.analysis.records import Count, Interval, Share
from genbench.json_record import JsonRecord


class AccuracyRecord(JsonRecord):
    """A mean score with its interval, as fractions of 1."""

    value: Share = Field(description="mean over problems")
    ci: Interval = Field(description="95% interval for new questions of this kind")
    ci_method: str = Field(description="how `ci` was made")


class CascadeAccuracy(JsonRecord):
    """The accuracies of a cascade of a rule and a judge."""

    rule: AccuracyRecord = Field(description="accuracy of the rule only")
    cascade: AccuracyRecord = Field(description="accuracy of the rule and the judge together")


class PositionBias(JsonRecord):
    """Shares of the compared pairs in which one position won in both orders."""

    first: Share = Field(description="share of pairs in which the answer shown first won in both orders")
    second: Share = Field(description="share of pairs in which the answer shown second won in both orders")


class MeanChars(JsonRecord):
    """Mean lengths of the compared answers, in characters."""

    answer: float = Field(description="mean length of the model's answers")
    baseline: float = Field(description="mean length of the opponent's answers")


class LengthControlledRate(JsonRecord):
    """The win rate at equal lengths, from a logistic regression on the lengths."""

    value: Share | None = Field(
        description="P(win) at d = 0 of logit P = a + slope * tanh(d / s), d = log(length / baseline's), "
        "s its root mean square; null if it cannot be given"
    )
    ci: Interval | None = Field(description="95% interval, clustered by problem")
    slope: float | None = Field(description="log odds of the length; positive if longer answers win")
    missing: str | None = Field(description="why there is no value; null if it is given")


class PairwiseRecord(JsonRecord):
    """Outcomes of a model's answers compared with its opponent's."""

    win_rate: Share | None = Field(
        description="share of wins; ties and verdicts that flip with the order are half a win"
    )
    ci: Interval | None = Field(description="95% interval for new questions of this kind")
    n: Count = Field(description="samples with a score")
    wins: Count = Field(description="samples that won")
    ties: Count = Field(description="samples that tied, or whose verdict flipped with the order")
    losses: Count = Field(description="samples that lost")
    unanswered: Count = Field(description="samples decided without the judge because one side never answered")
    compared: Count = Field(description="samples that the judge compared; the keys below are about these")
    flipped: Count | None = Field(default=None, description="verdicts that flipped with the order")
    flip_rate: Share | None = Field(default=None, description="share of the verdicts that flipped")
    position_bias: PositionBias | None = Field(default=None, description="how often a place decided")
    mean_chars: MeanChars | None = Field(default=None, description="lengths of the compared answers")
    length_controlled: LengthControlledRate | None = Field(
        default=None, description="the win rate at equal lengths"
    )


class AttemptsRecord(JsonRecord):
    """Shares of attempted answers (Wei et al. 2024, SimpleQA, section 3)."""

    correct: Share | None = Field(description="share of all samples that are correct")
    not_attempted: Share | None = Field(description="share of all samples that attempt no answer")
    incorrect: Share | None = Field(description="share of all samples that are incorrect")
    correct_given_attempted: Share | None = Field(
        description="share of the attempted samples that are correct"
    )
    f1: Share | None = Field(description="harmonic mean of correct and correct_given_attempted")
