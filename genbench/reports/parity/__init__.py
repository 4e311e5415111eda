"""Parity cards, which measure again what others report: their state, texts and committed pages."""
