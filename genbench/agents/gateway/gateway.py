"""The gateway of a run: it serves the rollouts of agent tasks, and runs their harnesses.

Each rollout has an address and a key of its own on a socket of the file system. Its harness runs in a network
namespace in which that address is all that can be reached (see namespace.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import secrets
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from genbench.agents.gateway.chat import ChatError
from genbench.agents.gateway.rollout import Ask, Rollout, outcome_text
from genbench.agents.harnesses.harness import Harness, all_harnesses
from genbench.agents.harnesses.outcome import Outcome
from genbench.agents.harnesses.plan import HarnessPlan
from genbench.errors import ConfigError, EngineError, RunFolderError, UnavailableError, install_command
from genbench.sandbox import leftovers
from genbench.sandbox.inside.namespace import NO_NAMESPACE
from genbench.sandbox.namespaces import PORT, check_namespaces, handed_over, started, tail
from genbench.store.json_files import json_object, read_bytes
from genbench.types import Complete, Completion, Problem, SampleId, Split

Judge = Callable[[Outcome], Outcome]
_OF_BOXES = ("deciding", "limits_hit")
"""What of the detail of a rollout in a box is counted."""
_TRIES = 3
"""How often a rollout is begun, if each time a fault of ours ends it."""
_LOOK_S = 0.2
"""Seconds between two looks at the limits of a rollout."""
_NO_REQUEST = (
    "no request reached the gateway within {seconds:g} s: the harness does not use GENBENCH_BASE_URL, it "
    "ended before its first request, or it needs longer to start (limits.first_request_s)"
)
_KEPT = ("out.log", "err.log", "result.json", "trajectory.json")
"""What stays of the folder of a rollout."""
_RESULT_BYTES = 16 << 20
"""The largest result.json that is read."""
_LOG_BYTES = 64 << 20
"""What stays of a file that a harness has written."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the run gives to one rollout: how its requests are made, drawn and split."""

    ask: Ask
    complete: Complete
    split: Split


@dataclass(frozen=True, slots=True)
class RolloutEnd:
    """The result of a rollout as JSON text, the digest of its first prompt, and the number of its turns.

    `was_cut_off` says whether a limit ended it.
    """

    text: str
    prompt_digest: str
    turns: int
    was_cut_off: bool


_TELEMETRY_OFF: Mapping[str, str] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "DO_NOT_TRACK": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""Variables that keep packages of harnesses from calling home. There is no network for it either."""


class Gateway:
    """The rollouts of one run. Use it in `async with`.

    Args:
        plans: by task, how its rollouts are run.
        folder: where what the harnesses print is kept, by task and sample.
        model, version: the name and the identity of the model, which replies carry.
        context: tokens of the model's context, or None if unknown.
    """

    def __init__(
        self,
        plans: Mapping[str, HarnessPlan],
        folder: Path,
        *,
        model: str,
        version: str,
        context: int | None = None,
    ) -> None:
        self._plans, self._folder = plans, folder
        self._model, self._version, self._context = model, version, context
        self._secret = secrets.token_bytes(32)
        self._open: dict[str, Rollout] = {}
        self._slots = {name: asyncio.Semaphore(plan.limits.concurrent) for name, plan in plans.items()}
        self._served: Counter[str] = Counter()
        """Requests by task."""
        self._place: Path | None = None
        self._started = AsyncExitStack()
        self.refused = 0
        """Requests with a wrong, foreign or ended key."""

    def key(self, address: str) -> str:
        """Return the key of a rollout's address. It opens nothing else."""
        return hmac.new(self._secret, address.encode(), hashlib.sha256).hexdigest()

    def _box_key(self, address: str) -> str:
        """Return the key of a rollout's box. Drivers take the other one out of their environment."""
        return self.key(f"{address}/box")

    @staticmethod
    def address(sample: SampleId) -> str:
        """Return the path of a rollout, without its host. Ids of problems may have any character."""
        return f"/r/{quote(sample.task, safe='')}/{_short_id(sample.problem_id)}/{sample.sample_index}"

    @property
    def socket(self) -> Path:
        """Return the path of the socket. Known inside `async with`."""
        assert self._place is not None
        return self._place / "gateway"

    async def __aenter__(self) -> Self:
        if not self._plans:
            return self
        try:
            from genbench.agents.gateway.http import serving  # noqa: PLC0415  only runs with agents need its packages
        except ImportError as error:
            raise ConfigError(f"agent tasks need {error.name}: {install_command('agents')}") from None
        await check_namespaces([plan.command for plan in self._plans.values()])
        for plan in self._plans.values():
            if plan.images is not None:  # a run that was killed may have left some
                await asyncio.to_thread(plan.images.store.sweep)
        async with AsyncExitStack() as started:
            self._place = Path(tempfile.mkdtemp(prefix="genbench-"))
            started.callback(shutil.rmtree, self._place, ignore_errors=True)
            await started.enter_async_context(serving(self, self.socket))
            self._started = started.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._started.aclose()
        for plan in self._plans.values():
            if plan.images is not None:
                plan.images.close()

    @property
    def model_card(self) -> dict[str, Any]:
        """Return the model as /models shows it."""
        card: dict[str, Any] = {"id": self._model, "object": "model", "owned_by": "genbench", "created": 0}
        return card if self._context is None else card | {"max_model_len": self._context}

    def rollout(self, address: str, key: str) -> Rollout:
        """Return the rollout of an address.

        Raises:
            ChatError: 403, if the key is not that of the address, or the rollout is over.
        """
        found = self._open.get(address)
        if found is None or not hmac.compare_digest(key.encode(), self.key(address).encode()):
            self.refused += 1
            raise ChatError("the key does not open this rollout, or the rollout is over", status=403)
        return found

    def served(self, address: str) -> None:
        """Note that a request for the model has come."""
        self._served[address.split("/")[2]] += 1

    async def run(
        self, problem: Problem, sample: SampleId, stored: Sequence[Completion], hooks: Hooks
    ) -> RolloutEnd:
        """Run one rollout to its end.

        Faults of ours are tried again. What the model drew before is then replayed.

        Raises:
            EngineError: the engine died or the run ended, or no request of the task ever reached the gateway.
            RunFolderError: the working folder cannot be written.
        """
        plan = self._plans[sample.task]
        drawn = list(stored)

        async def complete(request: Any) -> Completion:
            completion = await hooks.complete(request)
            drawn.append(completion)
            return completion

        async with self._slots[sample.task]:
            for tries in count(1):
                rollout = Rollout(
                    plan, hooks.ask, complete, hooks.split, list(drawn), self._model, self._version
                )
                outcome, seconds = await self._once(rollout, plan, problem, sample)
                if not outcome.is_ours or tries == _TRIES:
                    break
                self._require_some_request(rollout, plan, sample, outcome)
        facts = {**rollout.record, "wall_s": round(seconds, 3), "tries": tries}
        facts |= {name: outcome.detail[name] for name in _OF_BOXES if outcome.detail.get(name)}
        facts["tools_s"] = round(max(0.0, seconds - rollout.engine_s - rollout.peers_s), 3)
        text = outcome_text(
            {
                "score": outcome.score,
                "status": outcome.status,
                "detail": dict(outcome.detail),
                "rollout": facts,
            }
        )
        return RolloutEnd(text, rollout.first_prompt or "", rollout.turns, rollout.ended_by is not None)

    def _require_some_request(
        self, rollout: Rollout, plan: HarnessPlan, sample: SampleId, outcome: Outcome
    ) -> None:
        """End the run if no request of a task has ever come: then no rollout will ever have one."""
        if "box" in outcome.detail:  # there was none, so no harness was started
            return
        if rollout.requests == 0 and not self._served[quote(sample.task, safe="")]:
            why = _NO_REQUEST.format(seconds=plan.limits.first_request_s)
            said = str(outcome.detail.get("why", ""))
            raise EngineError(f"task {sample.task}, problem {sample.problem_id}: {why}. Here {said}")

    async def _once(
        self, rollout: Rollout, plan: HarnessPlan, problem: Problem, sample: SampleId
    ) -> tuple[Outcome, float]:
        """Run the harness once. Return what it found, and its seconds."""
        address = self.address(sample)
        self._open[address] = rollout
        began = time.monotonic()
        try:
            async with (
                _working_folder(self._folder, sample) as folder,
                _boxed(plan, problem, folder, self._box_key(address)) as judge,
            ):
                (folder / "problem.json").write_text(json.dumps(_told(problem, plan), ensure_ascii=False))
                code = await self._harness(rollout, plan, address, folder)
                # A harness may have put anything into its folder, and reading may take long.
                outcome = await asyncio.to_thread(_outcome, rollout, plan, folder, code)
                if judge is not None:
                    outcome = await asyncio.to_thread(judge, outcome)
        except UnavailableError as error:
            outcome = Outcome(None, "unavailable", {"why": str(error), "box": None})
        except OSError as error:
            place = error.filename or self._folder
            raise RunFolderError(f"{place}: no rollout can work there: {error.strerror or error}") from error
        finally:
            del self._open[address]
            await rollout.close()
        if rollout.failure is not None and not isinstance(rollout.failure, asyncio.CancelledError):
            raise rollout.failure
        return outcome, time.monotonic() - began

    async def _harness(self, rollout: Rollout, plan: HarnessPlan, address: str, folder: Path) -> int | None:
        """Run the process of the harness. Return its status, or None if a limit or a failure ended it."""
        async with started(
            plan.command,
            folder,
            user=handed_over(folder),
            socket=self.socket,
            environment=self._environment(plan, address, folder),
            hidden=() if plan.images is None else (plan.images.store.kind,),
        ) as process:
            return await self._watch(process, rollout, plan)

    def _environment(self, plan: HarnessPlan, address: str, folder: Path) -> dict[str, str]:
        """Return the whole environment of a harness. Keys and settings of this process are not in it."""
        names = ("PATH", "LANG", "TZ", *plan.environment)
        kept = {name: os.environ[name] for name in names if name in os.environ}
        base_url = f"http://127.0.0.1:{PORT}{address}/v1"
        peers = {
            name: {
                "base_url": f"http://127.0.0.1:{PORT}{address}/peers/{quote(name, safe='')}/v1",
                "model": peer.model,
                "args": peer.args,
            }
            for name, peer in plan.peers.items()
        }
        ours = {
            "HOME": str(folder),
            "TMPDIR": str(folder / "tmp"),
            "GENBENCH_BASE_URL": base_url,
            "GENBENCH_KEY": self.key(address),
            "GENBENCH_MODEL": self._model,
            "GENBENCH_PROBLEM": str(folder / "problem.json"),
            "GENBENCH_OUT": str(folder),
            "GENBENCH_PEERS": json.dumps(peers),
            "OPENAI_BASE_URL": base_url,
            "OPENAI_API_KEY": self.key(address),
            "ANTHROPIC_BASE_URL": base_url.removesuffix("/v1"),  # its clients add the version
            "ANTHROPIC_API_KEY": self.key(address),
        }
        quiet = {name: value for harness in all_harnesses() for name, value in harness.variables.items()}
        boxed = {} if plan.images is None else plan.images.environment(folder)
        boxed |= {"GENBENCH_BOX_KEY": self._box_key(address)} if boxed else {}
        return {"LANG": "C.UTF-8", **kept, **quiet, **_TELEMETRY_OFF, **ours, **boxed}

    async def _watch(
        self, process: asyncio.subprocess.Process, rollout: Rollout, plan: HarnessPlan
    ) -> int | None:
        began, ended = time.monotonic(), asyncio.ensure_future(process.wait())
        failed = asyncio.ensure_future(rollout.failed.wait())
        try:
            while not ended.done() and not failed.done():
                await asyncio.wait({ended, failed}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                own = time.monotonic() - began - rollout.engine_seconds - rollout.peer_seconds
                if own > plan.limits.wall_s:
                    rollout.ended_by = "clock"
                    return None
                if rollout.requests == 0 and own > plan.limits.first_request_s:
                    return None
            return process.returncode
        finally:
            for waiting in (ended, failed):
                waiting.cancel()
            await asyncio.gather(ended, failed, return_exceptions=True)


def _told(problem: Problem, plan: HarnessPlan) -> dict[str, Any]:
    """Return what a harness is told of its problem."""
    hidden = {"reference", *(() if plan.images is None else plan.images.hidden(problem.row))}
    return {
        "id": problem.problem_id,
        **{key: value for key, value in problem.row.items() if key not in hidden},
        "settings": dict(plan.settings),
        "limits": plan.limits.model_dump(mode="json"),
    }


def _outcome(rollout: Rollout, plan: HarnessPlan, folder: Path, code: int | None) -> Outcome:
    """Return what a harness has found, or why it has found nothing."""
    if code == NO_NAMESPACE:
        return Outcome(None, "unavailable", {"why": f"no namespace: {tail(folder / 'namespace.log')}"})
    if rollout.requests == 0:
        ended = "it was ended" if code is None else f"it ended with status {code}"
        why = f"the harness asked nothing; {ended}: {tail(folder / 'err.log')}"
        return Outcome(None, "unavailable", {"why": why, "exit": code})
    path = folder / "result.json"
    if os.path.lexists(path):
        try:
            found = _read(plan.harness, path)
        except (RunFolderError, ValueError, RecursionError, MemoryError) as error:
            why = str(error).removeprefix(f"{path}: ") or type(error).__name__
            found = Outcome(None, "unavailable", {"why": f"result.json of the harness: {why}"})
        if not (found.is_ours and rollout.ended_by is not None):
            return found
    if rollout.ended_by is not None:
        return Outcome(0.0, "truncated", {"why": f"the limit of {rollout.ended_by} ended it"})
    why = f"the harness ended with status {code} and wrote no result.json: {tail(folder / 'err.log')}"
    return Outcome(None, "unavailable", {"why": why, "exit": code})


def _read(harness: Harness, path: Path) -> Outcome:
    """Return what a result.json says.

    Raises:
        RunFolderError: it is not a plain file, is too large, or is not a JSON object.
        ValueError: it says nothing that is understood.
    """
    return harness.outcome(json_object(read_bytes(path, _RESULT_BYTES) or b"", path))


@asynccontextmanager
async def _boxed(plan: HarnessPlan, problem: Problem, folder: Path, key: str) -> AsyncIterator[Judge | None]:
    """Open the box of a rollout. Yield what makes a verdict of its harness's outcome, None without an image.

    Raises:
        UnavailableError: no box can be made.
    """
    if plan.images is None:
        yield None
        return
    opened = plan.images.box(problem.row, folder, key)
    box = await asyncio.to_thread(opened.__enter__)
    try:
        yield partial(plan.images.judged, row=problem.row, box=box, folder=folder)
    finally:
        await asyncio.shield(asyncio.to_thread(opened.__exit__, None, None, None))


def _short_id(problem_id: str) -> str:
    return hashlib.sha256(problem_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@asynccontextmanager
async def _working_folder(place: Path, sample: SampleId) -> AsyncIterator[Path]:
    """Return an empty folder for one rollout. Only its logs stay afterwards, the beginning of long ones."""
    folder = (place / sample.task / f"{_short_id(sample.problem_id)}-{sample.sample_index}").resolve()
    await asyncio.to_thread(leftovers.remove, folder)
    (folder / "tmp").mkdir(parents=True)
    try:
        yield folder
    finally:
        await asyncio.shield(asyncio.to_thread(_clear, folder))


def _clear(folder: Path) -> None:
    leftovers.remove(folder, keep=_KEPT.__contains__)
    for path in (folder, *(folder / name for name in _KEPT)):
        with suppress(OSError):
            os.chown(path, os.getuid(), os.getgid(), follow_symlinks=False)
            if path.is_file() and path.stat().st_size > _LOG_BYTES:
                os.truncate(path, _LOG_BYTES)
