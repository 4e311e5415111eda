"""See talk.py."""
