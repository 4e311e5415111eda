"""Stored runs: whether they are trusted, and how they are loaded, scored again, merged and shown."""
