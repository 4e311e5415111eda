"""A service that is killed while jobs are submitted through it."""

from __future__ import annotations

import signal
import socket
import threading
from pathlib import Path

from genbench.team.queue.database import open_queue
from genbench.team.service.client import RemoteService
from genbench.team.service.tokens import add_token
from tests import warm

ROOT = Path(__file__).resolve().parents[3]
SUITE = """\
models:
  m: {path: org/model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - gsm8k
"""
PROGRAM = """
import sys
from pathlib import Path
import uvicorn
from genbench.nights.ledger.database import open_ledger
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service, suites_in
ledger, place, port = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
with open_ledger(ledger, place / "notes.jsonl") as opened, open_queue(ledger) as queue:
    own = Service(ledger=opened, queue=queue, runs=place / "runs", suites=suites_in(place / "suites"))
    uvicorn.run(make_app(own), host="127.0.0.1", port=port, log_level="critical")
"""


class KilledService:
    """A service in a process of its own, and a thread that submits jobs through it until all are accepted.

    Args:
        jobs: how many jobs are submitted.
    """

    def __init__(self, ledger: str, place: Path, jobs: int) -> None:
        (place / "suites").mkdir()
        (place / "suites" / "tiny.yaml").write_text(SUITE)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open_queue(ledger) as queue:
            token = add_token(queue, "killer", "submit", 1)
        self._command = [ledger, str(place), str(port)]
        self._log = place / "service.log"
        self._client = RemoteService(f"http://127.0.0.1:{port}", token, waits_s=(0.2,) * 3000)
        self._jobs, self.faults = jobs, list[str]()
        self._process = self._start()
        self._thread = threading.Thread(target=self._submit, daemon=True)
        self._thread.start()

    def _start(self) -> warm.Popen:
        with self._log.open("ab") as log:
            return warm.Popen(self._command, program=("-c", PROGRAM), cwd=ROOT, stdout=log, stderr=log)

    def _submit(self) -> None:
        for number in range(self._jobs):
            body = {"suite": "tiny", "track": f"t{number % 5}", "limit": number + 1}
            try:
                self._client.submit(body)
            except Exception as error:  # told as a fault of the test
                self.faults.append(str(error))

    @property
    def is_submitting(self) -> bool:
        """Whether some jobs are not accepted yet."""
        return self._thread.is_alive()

    def restart(self) -> None:
        """Start the service again if it is dead."""
        if self._process.poll() is not None:
            self._process = self._start()

    def kill(self) -> None:
        """Send SIGKILL to the service."""
        self._process.kill()
        self._process.wait()

    def stop_for(self, seconds: float) -> None:
        """Send SIGSTOP to the service, and SIGCONT after some seconds."""
        stopped = self._process
        stopped.send_signal(signal.SIGSTOP)
        threading.Timer(seconds, lambda: stopped.send_signal(signal.SIGCONT)).start()

    def close(self) -> None:
        """Wait until all jobs are submitted, and end the service."""
        self._thread.join(60)
        self._process.terminate()
        self._process.wait(30)
