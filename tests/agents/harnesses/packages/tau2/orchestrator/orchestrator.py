"""See talk.py."""

from tau2.talk import Orchestrator

__all__ = ["Orchestrator"]
