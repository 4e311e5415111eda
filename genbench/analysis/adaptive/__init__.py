"""Adaptive runs: their plan, their gate, and what they saved."""
