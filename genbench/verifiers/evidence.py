"""Whether an answer is to blame for the deaths of the processes that verify it."""

from __future__ import annotations

from dataclasses import dataclass

from genbench.types import Finding, Status
from genbench.verifiers.process import WorkerDiedError

_OWN_DEATHS = 2
"""Deaths alone that show it if nobody else causes such deaths: a crash, or a process that says nothing."""
_KILLS = 3
"""Deaths alone that show it if somebody else can cause such deaths: a signal, an exit code."""
_UNCLEAR = 2
"""Deaths alone, each followed by that of an empty answer's process, that show that it is not to blame."""


@dataclass(slots=True)
class Evidence:
    """What was seen of a case whose worker died, in workers that it had to itself.

    After each death the same case is verified with an empty answer, for as long a time. What kills from
    outside kills both. What only the answer kills is the answer's own failure: no text of a model may exclude
    its own sample.
    """

    answer_only: int = 0
    both: int = 0

    def weigh(self, death: WorkerDiedError, *, is_fine_without_answer: bool) -> Finding | None:
        """Add a death of a worker alone. Return the finding, or None if the case must be verified again."""
        if not is_fine_without_answer:
            self.both += 1
            if self.both < _UNCLEAR:
                return None
            return Finding(
                0.0,
                "verifier_error",
                detail={"why": f"the verifier's process died: {death}; with an empty answer it also died"},
            )
        self.answer_only += 1
        if self.answer_only < (_OWN_DEATHS if death.is_own else _KILLS):
            return None
        status, what = _own_failure(death)
        why = f"the answer makes the verifier's process {what}, and an empty answer does not: {death}"
        return Finding(0.0, status, detail={"why": why})


def _own_failure(death: WorkerDiedError) -> tuple[Status, str]:
    """Return the status of an answer that its process does not survive, and what it makes the process do."""
    if death.is_silent:
        return "timeout", "say nothing"
    if death.is_fault:
        return "memory", "crash"
    return "runtime_error", "end"
