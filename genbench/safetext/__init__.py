"""Texts that are safe to show: without secrets, and without characters that a terminal obeys."""
