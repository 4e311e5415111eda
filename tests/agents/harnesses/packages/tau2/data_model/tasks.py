"""See talk.py."""

from tau2.talk import Task

__all__ = ["Task"]
