"""What a verifier of genbench has besides its rule: a version, a time limit, and a look at references."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, get_args

from genbench.errors import ConfigError, nearest
from genbench.types import Case, Finding

Guess = Literal["last", "off", "judge"]
"""What becomes of a reply that gives its answer in no form of the protocol (see `genbench.types.ReadBy`).

`last`: the fall-back of the verifier reads it. `off`: it has no answer. `judge`: a judge of extraction reads
it. For the verifier itself `judge` is the same as `off`: the run asks the judge (see judges/session.py).
"""


class BaseVerifier(ABC):
    """A verifier that reads a reference and compares an answer with it.

    A subclass names itself, reads its references, and verifies cases. Everything else has a default.
    """

    name: ClassVar[str]
    """The name in suites and in the version."""
    rules: ClassVar[str]
    """The version of the rules. Raise it with every change that changes a verdict: stored verdicts are then
    made again."""
    limit_s: float = 5.0
    """The wall seconds after which one answer becomes a `timeout`."""

    @property
    def version(self) -> str:
        """Return everything that can change a finding. It is part of the digest of verdicts."""
        return f"{self.name} {self.rules}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return self.limit_s

    def read(self, reference: Any) -> Any:
        """Return what a reference says, in the form in which `verify` uses it.

        Raises:
            DataError: the reference is malformed.
        """
        return reference

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: the reference is malformed.
        """
        self.read(reference)

    @abstractmethod
    def verify(self, case: Case) -> Finding:
        """Return the finding on one case."""

    def close(self) -> None:  # noqa: B027  most verifiers open nothing
        """Release what the verifier has opened."""

    @classmethod
    def require_known(cls, option: str, value: Any, known: Any) -> None:
        """Refuse a value of an option that is not in the Literal `known`.

        Raises:
            ConfigError: names the option, the value and the nearest valid one.
        """
        if value not in get_args(known):
            raise ConfigError(
                f"{cls.name} verifier: {option} is '{value}'{nearest(str(value), get_args(known))}"
            )
