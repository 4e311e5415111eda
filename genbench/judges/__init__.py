"""Pinned LLM judges: their files, what they are asked, what their replies mean."""
