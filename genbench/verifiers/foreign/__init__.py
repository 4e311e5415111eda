"""Answers scored by the rules or by the code of an imported task."""
