from types import SimpleNamespace
from typing import Any


class TrialConfig(SimpleNamespace):
    @classmethod
    def model_validate(cls, given: dict[str, Any]) -> "TrialConfig":
        return cls(**given)
