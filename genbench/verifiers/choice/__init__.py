"""Answers to multiple-choice questions: which option an answer settles on."""
