"""Engines: what turns requests into completions, and how a suite configures it."""
