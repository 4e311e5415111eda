"""Answers that are words, numbers or lists, compared as texts."""
