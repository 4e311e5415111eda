"""Fixtures of tests that install genbench as a user does."""

from tests.installed import installed, wheel

__all__ = ["installed", "wheel"]
