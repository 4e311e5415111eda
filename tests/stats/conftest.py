"""Properties without a deadline: a busy machine must not fail a test of arithmetic."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
